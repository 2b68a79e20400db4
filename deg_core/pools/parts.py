"""Parts of a pool: immutable Arrow files, each of a byte range of the source, with a description beside it.

A part exists once its description (part-NNNNN.json) is there, which is written last and atomically. So a
build that was killed goes on after the last whole part, and a file that grew only gets new parts.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, ValidationError

from deg_core.artifacts import MANIFEST, write_atomically
from deg_core.pools.chunks import Chunk, Entry
from deg_core.pools.records import duplicate_uid
from deg_core.pools.store import SCHEMA

READ_BYTES = 1 << 20


class LeftOut(BaseModel):
    """A line that is not in the pool. kind: bad or guarded. offset: of the line in bytes."""

    model_config = ConfigDict(frozen=True)

    line: int
    offset: int
    uid: str | None
    kind: str
    reason: str


class Part(BaseModel):
    """The description of one part.

    start, end: half-open byte range of the source; sha256: of those bytes. last_line: number of its last
    line; terminated: whether a newline ends that line. read = kept + len(left_out).
    figures: sums over its examples. bytes: size of the Arrow file.
    """

    model_config = ConfigDict(extra="forbid")

    start: int
    end: int
    sha256: str
    last_line: int
    terminated: bool
    read: int
    kept: int
    left_out: list[LeftOut]
    figures: dict[str, int]
    bytes: int


def data_path(folder: Path, number: int) -> Path:
    """The Arrow file of a part."""
    return folder / f"part-{number:05d}.arrow"


def description_path(folder: Path, number: int) -> Path:
    """The description of a part."""
    return folder / f"part-{number:05d}.json"


class PartWriter:
    """Writes one part: add chunks, then finish. Until then there is only a temporary file."""

    def __init__(self, folder: Path, number: int, start: int):
        self._folder = folder
        self._number = number
        self._start = start
        self._temporary = folder / f".part-{number:05d}.arrow"
        self._sink = pa.OSFile(str(self._temporary), "wb")
        self._writer = pa.ipc.new_file(self._sink, SCHEMA)
        self._left_out: list[LeftOut] = []
        self._figures: Counter[str] = Counter()
        self._read = self._kept = self._last_line = 0
        self._end = start
        self._terminated = True

    @property
    def source_bytes(self) -> int:
        """Bytes of the source that the part covers so far."""
        return self._end - self._start

    def add(self, chunk: Chunk, seen: set[str]) -> None:
        """Add a chunk; a record whose uid is in seen is a duplicate, the other uids are added to seen."""
        fresh: list[bool] = []
        for entry in chunk.entries:
            resolved = _resolved(entry, seen)
            if entry.kind == "kept":
                fresh.append(resolved.kind == "kept")
            if resolved.kind == "kept":
                self._figures.update(resolved.figures)
            else:
                self._left_out.append(
                    LeftOut(
                        line=entry.line, offset=entry.offset, uid=entry.uid, kind=resolved.kind, reason=resolved.reason
                    )
                )
        batch = pa.ipc.open_stream(chunk.batch).read_next_batch()
        if not all(fresh):
            batch = batch.filter(pa.array(fresh, pa.bool_()))
        if batch.num_rows:
            self._writer.write_batch(batch)
        self._read += len(chunk.entries)
        self._kept += batch.num_rows
        self._last_line = chunk.entries[-1].line
        self._end, self._terminated = chunk.end, chunk.terminated

    def finish(self, source: Path) -> Part:
        """Make the part durable and write its description."""
        self._writer.close()
        self._sink.close()
        with open(self._temporary, "rb") as file:
            os.fsync(file.fileno())
        target = data_path(self._folder, self._number)
        os.replace(self._temporary, target)
        part = Part(
            start=self._start,
            end=self._end,
            sha256=hash_range(source, self._start, self._end),
            last_line=self._last_line,
            terminated=self._terminated,
            read=self._read,
            kept=self._kept,
            left_out=self._left_out,
            figures=dict(sorted(self._figures.items())),
            bytes=target.stat().st_size,
        )
        write_atomically(description_path(self._folder, self._number), part.model_dump_json(indent=1).encode())
        return part


def _resolved(entry: Entry, seen: set[str]) -> Entry:
    if entry.kind == "bad" or entry.uid is None:
        return entry
    if entry.uid in seen:
        return replace(entry, kind="bad", reason=duplicate_uid(entry.uid))
    seen.add(entry.uid)
    return entry


def reusable_parts(folder: Path, source: Path) -> list[Part]:
    """The whole parts that still describe the source; everything else in the folder that a build makes is removed.

    The parts' ranges are checked by hash. When one differs the source was rewritten and no part is reused;
    a last part whose last line had no newline is dropped once the file has grown past it.
    """
    parts = _described_parts(folder)
    size = source.stat().st_size
    if parts and not parts[-1].terminated and size > parts[-1].end:
        parts.pop()
    if any(part.end > size or hash_range(source, part.start, part.end) != part.sha256 for part in parts):
        parts = []
    _remove_from(folder, len(parts))
    return parts


def _described_parts(folder: Path) -> list[Part]:
    parts: list[Part] = []
    while (path := description_path(folder, len(parts))).is_file():
        data = data_path(folder, len(parts))
        try:
            part = Part.model_validate_json(path.read_bytes())
        except ValidationError:
            break
        if not data.is_file() or data.stat().st_size != part.bytes or part.start != (parts[-1].end if parts else 0):
            break
        parts.append(part)
    return parts


def _remove_from(folder: Path, number: int) -> None:
    """Remove parts from a number on and temporary files; the manifest first when it names one of them."""
    kept = {path(folder, n).name for n in range(number) for path in (data_path, description_path)}
    stray = [path for path in folder.iterdir() if "part-" in path.name and path.name not in kept]
    if any(not path.name.startswith(".") for path in stray):
        with contextlib.suppress(FileNotFoundError):
            (folder / MANIFEST).unlink()
    for path in sorted(stray, reverse=True):
        path.unlink()


def hash_range(path: Path, start: int, end: int) -> str:
    """sha256 (64 hex digits) of a file's bytes [start, end)."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        file.seek(start)
        while start < end and (data := file.read(min(READ_BYTES, end - start))):
            digest.update(data)
            start += len(data)
    return digest.hexdigest()
