"""Lines to record batches, a chunk at a time: the work of one builder process."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from deg_core.config import Forks
from deg_core.contract.errors import InputError
from deg_core.model.queries import QueryLayout
from deg_core.model.tokens import Tokens
from deg_core.pools.example import Example
from deg_core.pools.examples import build_example
from deg_core.pools.guard import Guard
from deg_core.pools.lines import RawLine
from deg_core.pools.records import Reject, parse_line
from deg_core.pools.schemas import Schemas
from deg_core.pools.store import to_batch

CHUNK_LINES = 128
CHUNK_BYTES = 2 << 20


@dataclass(frozen=True)
class Entry:
    """What became of a line. kind: kept, bad or guarded. offset: of the line in bytes.

    reason: why it is not kept. figures: what a kept record adds to the pool's.
    """

    line: int
    offset: int
    uid: str | None
    kind: str
    reason: str = ""
    figures: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Chunk:
    """Consecutive lines of the source.

    entries: one a line, in order. batch: the kept ones' examples, in order, as an Arrow IPC stream.
    end: the byte after the last line; terminated: whether a newline ends it.
    """

    entries: tuple[Entry, ...]
    batch: bytes
    end: int
    terminated: bool


class ChunkBuilder:
    """Parses, validates, guards and tokenises lines.

    guards: evaluation records files; none guards nothing. layout: of the queries. forks: which of them are kept.
    """

    def __init__(self, tokenizer_folder: Path, guards: tuple[str, ...], layout: QueryLayout, forks: Forks = "all"):
        self._tokens = Tokens.load(tokenizer_folder)
        self._layout = layout
        self._forks = forks
        self._guard = Guard.read(guards)
        self._schemas = Schemas()

    def build(self, lines: list[RawLine]) -> Chunk:
        """What becomes of a chunk's lines; uniqueness of uids is not checked here."""
        examples: list[Example] = []
        entries = [self._entry(raw, examples) for raw in lines]
        return Chunk(tuple(entries), _to_bytes(to_batch(examples)), lines[-1].end, lines[-1].terminated)

    def _entry(self, raw: RawLine, examples: list[Example]) -> Entry:
        record = parse_line(raw, self._schemas)
        if isinstance(record, Reject):
            return Entry(record.line, record.offset, record.uid, "bad", record.reason)
        held = self._guard.match(record.context)
        if held is not None:
            reason = f"/context: holds the context of evaluation record {held!r}"
            return Entry(record.line, record.offset, record.uid, "guarded", reason)
        example, left_out = build_example(record, self._tokens, self._layout, kept=self._forks)
        if not example.decision:
            example.line = raw.data or b""
        examples.append(example)
        return Entry(record.line, record.offset, record.uid, "kept", figures=_figures(example, left_out))


def _figures(example: Example, left_out: Counter[str]) -> Counter[str]:
    figures = Counter({f"left_out.{reason}": count for reason, count in left_out.items()})
    figures[f"split.{example.split}"] += 1
    figures["tokens.context"] += len(example.context)
    figures["tokens.forks"] += example.tokens - len(example.context)
    for fork in example.forks:
        figures[f"forks.{fork.kind}"] += 1
        if fork.kind == "extract" and not len(fork.spans):
            figures["forks.extract_null"] += 1
    return figures


def _to_bytes(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def to_chunks(lines: Iterable[RawLine]) -> Iterator[list[RawLine]]:
    """Lines in chunks of at most CHUNK_LINES lines and about CHUNK_BYTES bytes."""
    chunk: list[RawLine] = []
    size = 0
    for line in lines:
        chunk.append(line)
        size += len(line.data or b"")
        if len(chunk) == CHUNK_LINES or size >= CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def build_chunks(
    chunks: Iterable[list[RawLine]],
    tokenizer_folder: Path,
    guards: tuple[str, ...],
    layout: QueryLayout,
    workers: int,
    forks: Forks = "all",
) -> Iterator[Chunk]:
    """Build chunks in order, in this process (workers = 1) or in several, a few of them in flight.

    Raises InputError when a worker dies, naming the lines it may have been at.
    """
    if workers == 1:
        builder = ChunkBuilder(tokenizer_folder, guards, layout, forks)
        yield from map(builder.build, chunks)
        return
    context = multiprocessing.get_context("spawn")
    executor = ProcessPoolExecutor(workers, context, _start_worker, (tokenizer_folder, guards, layout, forks))
    try:
        flying: deque = deque()
        for lines in chunks:
            flying.append((lines[0].number, lines[-1].number, executor.submit(_build_in_worker, lines)))
            if len(flying) > 2 * workers:
                yield _result(*flying.popleft())
        while flying:
            yield _result(*flying.popleft())
    finally:
        executor.shutdown(wait=True, cancel_futures=True)


def _result(first: int, last: int, future) -> Chunk:
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise InputError(
            f"a builder process died (killed, or out of memory) near lines {first} to {last}; "
            "run it again, it continues from the last whole part"
        ) from error


_worker: ChunkBuilder | None = None


def _start_worker(tokenizer_folder: Path, guards: tuple[str, ...], layout: QueryLayout, forks: Forks) -> None:
    global _worker
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _worker = ChunkBuilder(tokenizer_folder, guards, layout, forks)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _build_in_worker(lines: list[RawLine]) -> Chunk:
    assert _worker is not None
    return _worker.build(lines)
