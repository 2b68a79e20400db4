"""What a step leaves on disk: a directory that exists only once its manifest is written.

A manifest is written last and atomically. It names the inputs by content hash, the settings, the
counts and the files, so that a step can tell by itself whether its output is there and whole.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import IO, Any

from pydantic import BaseModel, ConfigDict, Field

from deg_core.contract.errors import InputError

MANIFEST = "manifest.json"


class Manifest(BaseModel):
    """The description of a finished artifact.

    kind: data, pool, memory, run, calibration, eval or fill. id: directory name.
    key: the fingerprint of kind, code version, settings and inputs.
    inputs: name -> content hash. counts: read, kept, left_out, ...; where `read` is present
    it equals kept + left out. files: relative path -> {"bytes": n, "sha256": "..."}.
    figures: the numbers worth a table.
    """

    model_config = ConfigDict(extra="forbid")

    kind: str
    id: str
    key: str
    created: str = ""
    code_version: str
    settings: dict[str, Any] = Field(default_factory=dict)
    inputs: dict[str, str] = Field(default_factory=dict)
    counts: dict[str, int] = Field(default_factory=dict)
    figures: dict[str, Any] = Field(default_factory=dict)
    files: dict[str, dict[str, Any]] = Field(default_factory=dict)
    seconds: float = 0.0
    path: Path = Field(default=Path(), exclude=True)
    cached: bool = Field(default=False, exclude=True)

    @property
    def content(self) -> str:
        """A hash of the files' hashes: what a step downstream names as its input."""
        return fingerprint({name: entry["sha256"] for name, entry in self.files.items()})


class Home:
    """The one directory that holds everything (`DEG_HOME`, default ./deg-home)."""

    def __init__(self, root: str | os.PathLike[str] | None = None):
        self.root = Path(root or os.environ.get("DEG_HOME") or "deg-home").absolute()

    def folder(self, kind: str) -> Path:
        """The folder of one kind of artifact: data pools memory runs calibrations evals fills generators generator_runs
        models bases logs.

        Raises InputError when it cannot be made.
        """
        path = self.root / kind
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"cannot make {path} ({error.strerror}); set DEG_HOME to a folder that can be written"
            ) from error
        return path


def canonical(value: Any) -> str:
    """Canonical JSON text of plain data: sorted keys, no spaces; NaN is refused."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def fingerprint(value: Any) -> str:
    """sha256 (64 hex digits) of the canonical JSON of plain data."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def hash_file(path: str | os.PathLike[str]) -> str:
    """sha256 (64 hex digits) of a file's bytes."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hash_tree(path: str | os.PathLike[str]) -> str:
    """sha256 over the relative names and bytes of every file below a folder, or of one file."""
    root = Path(path)
    if root.is_file():
        return hash_file(root)
    files = sorted(p for p in root.rglob("*") if p.is_file())
    return fingerprint({p.relative_to(root).as_posix(): hash_file(p) for p in files})


def generator_input(generate: str) -> dict[str, str]:
    """What a fill depends on besides its settings where `generate` (FillSettings) names a generator's folder."""
    folder = generate.partition(":")[2]
    return {"generator": hash_tree(folder)} if folder and Path(folder).is_dir() else {}


@cache
def source_version(*names: str) -> str:
    """The code version of a step: a hash (16 hex digits) of the sources of these packages or files of deg_core."""
    root = Path(__file__).parent
    files = sorted(path for name in names for path in _sources(root / name))
    return fingerprint({path.relative_to(root).as_posix(): hash_file(path) for path in files})[:16]


def _sources(path: Path) -> list[Path]:
    if not path.exists():
        raise ValueError(f"{path} does not exist; a code version must name real sources")
    return [path] if path.is_file() else [found for found in path.rglob("*") if found.suffix in (".py", ".j2")]


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file so that it is either absent (or old) or whole: temporary name, fsync, rename."""
    target = Path(path)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    sync_folder(target.parent)


def sync_folder(path: str | os.PathLike[str]) -> None:
    """Make renames inside a folder durable."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_manifest(folder: str | os.PathLike[str]) -> Manifest | None:
    """The manifest of a finished artifact; None when there is none.

    Raises InputError when the file is there but is not a manifest.
    """
    path = Path(folder) / MANIFEST
    if not path.is_file():
        return None
    try:
        manifest = Manifest.model_validate_json(path.read_text())
    except ValueError as error:
        raise InputError(f"{path} is not a manifest ({error}); delete its folder to build it again") from error
    manifest.path = Path(folder)
    return manifest


def open_artifact(folder: str | os.PathLike[str], key: str | None = None, *, verify: bool = False) -> Manifest | None:
    """A finished artifact whose files are all there (sizes checked; hashes too with verify), else None."""
    manifest = read_manifest(folder)
    if manifest is None or (key is not None and manifest.key != key):
        return None
    for name, entry in manifest.files.items():
        path = manifest.path / name
        if not path.is_file() or path.stat().st_size != entry["bytes"]:
            return None
        if verify and hash_file(path) != entry["sha256"]:
            return None
    return manifest


def write_manifest(folder: str | os.PathLike[str], manifest: Manifest, files: list[Path]) -> Manifest:
    """Finish an artifact: hash and sync its files, then write its manifest, last."""
    root = Path(folder)
    for path in files:
        with open(path, "rb") as file:
            os.fsync(file.fileno())
        manifest.files[path.relative_to(root).as_posix()] = {"bytes": path.stat().st_size, "sha256": hash_file(path)}
    manifest.created = datetime.now(UTC).isoformat(timespec="seconds")
    write_atomically(root / MANIFEST, manifest.model_dump_json(indent=1).encode())
    manifest.path = root
    return manifest


def build_artifact(
    home: Home,
    folder_kind: str,
    *,
    kind: str,
    name: str,
    code_version: str,
    settings: dict[str, Any],
    inputs: dict[str, str],
    build: Callable[[Path, Manifest], list[Path]],
    resume: bool = False,
) -> Manifest:
    """Return the artifact of these settings and inputs, building it when it is not there and whole.

    build(folder, manifest) fills folder, sets the manifest's counts and figures and returns the files
    that belong to it. With resume=False a half-built folder is emptied first; with resume=True it is
    handed to build as it is. One process builds an artifact at a time (an OS lock, free when its
    holder dies). The returned manifest has cached=True when nothing was built.
    """
    import time

    key = fingerprint({"kind": kind, "code": code_version, "settings": settings, "inputs": inputs})
    folder = home.folder(folder_kind) / f"{name}-{key[:12]}"
    with locked(folder.parent / f".{folder.name}.lock"):
        found = open_artifact(folder, key)
        if found is not None:
            found.cached = True
            return found
        if folder.exists() and not resume:
            shutil.rmtree(folder)
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            (folder / MANIFEST).unlink()
        manifest = Manifest(
            kind=kind, id=folder.name, key=key, code_version=code_version, settings=settings, inputs=inputs
        )
        started = time.monotonic()
        files = build(folder, manifest)
        manifest.seconds = round(time.monotonic() - started, 3)
        return write_manifest(folder, manifest, files)


@contextlib.contextmanager
def locked(path: str | os.PathLike[str], *, wait: bool = True) -> Iterator[IO[str]]:
    """Hold an exclusive OS lock on a file; the kernel frees it when the process dies.

    Yields the open file: a child that inherits it holds the lock too, until both are gone. With wait=False raises InputError when another process holds it.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError as error:
            raise InputError(f"another process holds {path}; wait for it or stop it") from error
        yield file
