"""The pools step: records files to Arrow pools, again only for what is new (training specification, section 3)."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from pathlib import Path

from deg_core.artifacts import (
    Home,
    Manifest,
    fingerprint,
    hash_file,
    locked,
    open_artifact,
    source_version,
    write_atomically,
    write_manifest,
)
from deg_core.config import PoolSettings, SourceSettings
from deg_core.contract.errors import InputError
from deg_core.model.bases import base_folder
from deg_core.model.queries import QueryLayout
from deg_core.pools.chunks import build_chunks, to_chunks
from deg_core.pools.guard import refuse_evaluation_only
from deg_core.pools.lines import raw_lines
from deg_core.pools.parts import Part, PartWriter, data_path, description_path, hash_range, reusable_parts
from deg_core.pools.sets import all_sources
from deg_core.pools.store import read_uids
from deg_core.progress import Progress

OWN = "own"
PART_BYTES = 16 << 20
PARALLEL_BYTES = 8 << 20
QUARANTINE = "quarantine.jsonl"
SHOWN_REASONS = 3
_NAMES = "anchors annotations chunks decisions example examples guard lines parts places records schemas store"
_SOURCES = [f"pools/{name}.py" for name in _NAMES.split()]
_MODEL_SOURCES = [f"model/{name}.py" for name in ("fork", "queries", "tokens")]


def build_pools(
    settings: PoolSettings, home: Home, progress: Progress, own_records: Path | None = None
) -> list[Manifest]:
    """One pool a source, in the order of `all_sources`; own_records: the records file that 'own' means.

    Every process of a run reads the same memory-mapped files and draws the records that it owns by uid, so there is no
    pool of one rank to be built ahead; this step needs no accelerator itself. A run trains on the pools as they were
    when it started: records that are appended meanwhile are read by the next build, so that a run can be repeated.
    """
    return [build_pool(source, settings, home, progress, own_records) for source in all_sources(settings)]


def build_pool(
    source: SourceSettings,
    settings: PoolSettings,
    home: Home,
    progress: Progress,
    own_records: Path | None = None,
    *,
    workers: int = 0,
    part_bytes: int = PART_BYTES,
) -> Manifest:
    """Build the pool of a records file, or what is new in it, below home/pools.

    The folder's name is the source's and a fingerprint of all that an example depends on but the records:
    code, tokenizer, guards, the layout of the queries and which are kept. The file may have grown since the last build: the part already read is checked by
    hash and only the rest is read; when it was rewritten the pool is built anew. A killed build continues.
    Both end with the same examples in the same order as a build in one go.

    counts: read = kept + quarantined + guarded. The manifest's settings also hold what draws need (weight,
    filler and max_context_tokens) and what the checkpoint keeps (array_mode, anchor_min_tokens and gen_layout).
    workers: builder processes, 0 = by the size of the work. part_bytes: source bytes after which a part ends.

    Raises InputError when the source cannot be used, and when more than max_bad_share of its records are
    quarantined; the quarantine file is there then.
    """
    records = records_file(source, own_records)
    build = _Build(source, records, settings, home, workers, part_bytes)
    with locked(build.folder.parent / f".{build.folder.name}.lock"):
        return build.run(progress)


class _Build:
    """One build of one pool, its lock held."""

    def __init__(
        self,
        source: SourceSettings,
        records: Path,
        settings: PoolSettings,
        home: Home,
        workers: int,
        part_bytes: int,
    ):
        self._records = records
        self._settings = settings
        self._workers = workers
        self._part_bytes = part_bytes
        self._tokenizer_folder = base_folder(settings.base, home)
        self._shaping = {
            "records": _identity(records, home),
            "weight": source.weight,
            "filler": source.filler,
            "base": settings.base,
            "max_context_tokens": settings.max_context_tokens,
            "guard": list(settings.guard),
            "array_mode": settings.array_mode,
            "anchor_min_tokens": settings.anchor_min_tokens,
            "gen_layout": settings.gen_layout,
            "forks": settings.forks,
        }
        # a window's document is longer than any window, so its items are named by place
        least = min(settings.anchor_min_tokens, settings.max_context_tokens + 1)
        self._layout = QueryLayout(
            settings.array_mode, least if settings.array_mode == "anchor" else 0, settings.gen_layout
        )
        self._inputs = {"tokenizer": hash_file(self._tokenizer_folder / "tokenizer.json")}
        self._inputs |= {f"guard {number}": _hash_guard(path) for number, path in enumerate(settings.guard)}
        self._code = source_version("contract", "values", *_MODEL_SOURCES, *_SOURCES)
        shape = {"records": self._shaping["records"], "layout": vars(self._layout), "forks": settings.forks}
        key = fingerprint(shape | {"code": self._code, "inputs": self._inputs})
        name = OWN if source.records == OWN else re.sub(r"[^A-Za-z0-9._-]+", "-", records.stem)
        self.folder = home.folder("pools") / f"{name}-{key[:12]}"

    def run(self, progress: Progress) -> Manifest:
        started = time.monotonic()
        self.folder.mkdir(exist_ok=True)
        parts = reusable_parts(self.folder, self._records)
        parts += self._append(parts, progress)
        manifest = self._manifest(parts)
        self._check_share(parts, manifest.counts)
        found = open_artifact(self.folder)
        if found is not None and found.key == manifest.key and found.settings == manifest.settings:
            found.cached = True
            return found
        manifest.seconds = round(time.monotonic() - started, 3)
        files = [path(self.folder, n) for n in range(len(parts)) for path in (data_path, description_path)]
        self._report(parts, manifest, progress)
        return write_manifest(self.folder, manifest, [*files, self._write_quarantine(parts)])

    def _append(self, parts: list[Part], progress: Progress) -> list[Part]:
        """Build the complete lines after the parts into new parts."""
        start = parts[-1].end if parts else 0
        number = parts[-1].last_line + 1 if parts else 1
        remaining = self._records.stat().st_size - start
        lines = raw_lines(self._records, start, number)
        workers = self._workers or (1 if remaining < PARALLEL_BYTES else min(8, len(os.sched_getaffinity(0))))
        seen = self._seen(parts) if remaining else set()
        new: list[Part] = []
        writer: PartWriter | None = None
        with progress.bar(f"pool {self.folder.name}", remaining) as bar:
            chunks = build_chunks(
                to_chunks(lines),
                self._tokenizer_folder,
                self._settings.guard,
                self._layout,
                workers,
                self._settings.forks,
            )
            for chunk in chunks:
                if writer is None:
                    writer = PartWriter(self.folder, len(parts) + len(new), new[-1].end if new else start)
                before = writer.source_bytes
                writer.add(chunk, seen)
                bar.advance(writer.source_bytes - before)
                if writer.source_bytes >= self._part_bytes:
                    new.append(writer.finish(self._records))
                    writer = None
        return [*new, writer.finish(self._records)] if writer else new

    def _seen(self, parts: list[Part]) -> set[str]:
        """The uids of accepted records: those in the pool and those that the guard left out."""
        seen = {entry.uid for part in parts for entry in part.left_out if entry.kind == "guarded" and entry.uid}
        return seen.union(*(read_uids(data_path(self.folder, number)) for number in range(len(parts))))

    def _manifest(self, parts: list[Part]) -> Manifest:
        kinds = Counter(entry.kind for part in parts for entry in part.left_out)
        figures: Counter[str] = Counter()
        for part in parts:
            figures.update(part.figures)
        end = parts[-1].end if parts else 0
        inputs = {"records": hash_range(self._records, 0, end), **self._inputs}
        return Manifest(
            kind="pool",
            id=self.folder.name,
            key=fingerprint({"folder": self.folder.name, "inputs": inputs}),
            code_version=self._code,
            settings=self._shaping,
            inputs=inputs,
            counts={
                "read": sum(part.read for part in parts),
                "kept": sum(part.kept for part in parts),
                "quarantined": kinds["bad"],
                "guarded": kinds["guarded"],
            },
            figures={**dict(sorted(figures.items())), "source_bytes": end},
        )

    def _check_share(self, parts: list[Part], counts: dict[str, int]) -> None:
        if counts["quarantined"] <= self._settings.max_bad_share * counts["read"]:
            return
        path = self._write_quarantine(parts)
        bad = [entry for part in parts for entry in part.left_out if entry.kind == "bad"]
        reasons = "\n".join(f"  line {entry.line}: {entry.reason}" for entry in bad[:SHOWN_REASONS])
        raise InputError(
            f"{counts['quarantined']} of {counts['read']} records of {self._records} are bad, more than "
            f"max_bad_share = {self._settings.max_bad_share:g} allows:\n{reasons}\n"
            f"all reasons are in {path}; correct the records or raise max_bad_share"
        )

    def _write_quarantine(self, parts: list[Part]) -> Path:
        path = self.folder / QUARANTINE
        lines = [entry.model_dump_json() + "\n" for part in parts for entry in part.left_out]
        write_atomically(path, "".join(lines).encode())
        return path

    def _report(self, parts: list[Part], manifest: Manifest, progress: Progress) -> None:
        counts = manifest.counts
        text = ", ".join(f"{number} {name}" for name, number in counts.items())
        progress.say(f"pool {manifest.id}: {text}")
        if not counts["kept"]:
            progress.say(f"pool {manifest.id} is empty: no record of {self._records} is kept")
        with open(self._records, "rb") as file:
            file.seek(manifest.figures["source_bytes"])
            tail = file.read().strip()
        manifest.figures["unread_bytes"] = len(tail)
        if tail:
            line = parts[-1].last_line + 1 if parts else 1
            progress.say(f"{self._records}: line {line} or a later one is not whole yet; the next build reads it")


def records_file(source: SourceSettings, own_records: Path | None) -> Path:
    """The file of a source, checked; 'own' is the generated documents' (a records.jsonl folder will do)."""
    if source.records == OWN:
        if own_records is None:
            raise InputError("the source 'own' needs the generated documents; run the data step first")
        path = own_records / "records.jsonl" if own_records.is_dir() else own_records
    else:
        path = Path(source.records)
    refuse_evaluation_only(path)
    if not path.is_file():
        wrong = "is a folder" if path.is_dir() else "does not exist"
        raise InputError(f"the records file {path} {wrong}; give a JSON Lines file")
    return path.absolute()


def _identity(records: Path, home: Home) -> str:
    """The records file as a pool is named by it: inside the home by its place there, so that a home can move."""
    resolved = records.resolve()
    inside = resolved.is_relative_to(home.root.resolve())
    return resolved.relative_to(home.root.resolve()).as_posix() if inside else resolved.as_posix()


def _hash_guard(path: str) -> str:
    if not Path(path).is_file():
        raise InputError(f"the guard file {path} does not exist")
    return hash_file(path)
