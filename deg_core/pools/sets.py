"""A manifest of records files as sources of pools (training specification, section 2, guards)."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from deg_core.config import PoolSettings, SourceSettings
from deg_core.contract.errors import InputError
from deg_core.inputs import read_json

FORBIDDEN = "eval_only_never_train"


class RecordSet(BaseModel):
    """One records file; path: relative to the manifest's folder, or absolute. filler: as of SourceSettings."""

    model_config = ConfigDict(allow_inf_nan=False)

    path: str = Field(min_length=1)
    group: str = ""
    proposed_weight: float = Field(1.0, ge=0)
    filler: bool = True


class SetManifest(BaseModel):
    """eval_only_never_train: parts of paths, with the wildcards of fnmatch, of files that never train."""

    sets: list[RecordSet]
    eval_only_never_train: list[str] = []


def all_sources(settings: PoolSettings) -> tuple[SourceSettings, ...]:
    """The settings' own sources, and after them the sets of their manifest; weights times the factor of the group.

    Raises InputError when the manifest cannot be read, a factor is of no group of it, a source of either kind lies
    under a pattern that never trains (a set that is left out as well), or nothing is left.
    """
    if not settings.manifest:
        return settings.sources
    path = Path(settings.manifest)
    manifest = _read(path)
    factors = _factors(settings, manifest)
    sets = {entry.path: str(path.parent / entry.path) for entry in manifest.sets}
    named = [*sets.values(), *(source.records for source in settings.sources)]
    for records in named:
        _refuse_forbidden(records, manifest, path)
    weighted = [(entry, entry.proposed_weight * factors.get(entry.group, 1.0)) for entry in manifest.sets]
    chosen = [
        SourceSettings(records=sets[entry.path], weight=weight, filler=entry.filler)
        for entry, weight in weighted
        if weight > 0
    ]
    if not settings.sources and not chosen:
        raise InputError(f"{path}: no set has a weight above 0, and there is no other source")
    return (*settings.sources, *chosen)


def _read(path: Path) -> SetManifest:
    try:
        manifest = SetManifest.model_validate(read_json(path))
    except ValidationError as error:
        lines = [f"{path}: {'.'.join(map(str, e['loc'])) or 'the manifest'}: {e['msg']}" for e in error.errors()]
        raise InputError("\n".join(lines)) from error
    paths = [os.path.realpath(path.parent / entry.path) for entry in manifest.sets]
    twice = sorted({str(entry) for entry in paths if paths.count(entry) > 1})
    if twice:
        raise InputError(f"{path}: {', '.join(twice)} is listed more than once; give it one weight")
    return manifest


def _factors(settings: PoolSettings, manifest: SetManifest) -> Mapping[str, float]:
    known = sorted({entry.group for entry in manifest.sets})
    for entry in settings.groups:
        if entry.group not in known:
            near = difflib.get_close_matches(entry.group, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise InputError(f"pools.groups: {settings.manifest} has no group {entry.group}; {hint}")
    return {entry.group: entry.factor for entry in settings.groups}


def _refuse_forbidden(records: str, manifest: SetManifest, path: Path) -> None:
    for name in (records, os.path.realpath(records)):
        for pattern in manifest.eval_only_never_train:
            if fnmatchcase(Path(name).as_posix(), f"*{pattern}*"):
                raise InputError(f"{records} never trains: {path} has {pattern!r} in {FORBIDDEN}; take the source out")
