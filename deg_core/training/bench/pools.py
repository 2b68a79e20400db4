"""How fast pools are built and opened, and what a large one takes in memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import torch

from deg_core.artifacts import Manifest, write_manifest
from deg_core.config import TrainSettings
from deg_core.contract.errors import InputError
from deg_core.pools.chunks import CHUNK_LINES, Chunk, Entry
from deg_core.pools.draw import Drawer
from deg_core.pools.parts import PartWriter, data_path, description_path
from deg_core.pools.store import Pool, to_batch
from deg_core.training.bench.documents import Documents
from deg_core.training.memory import measured_peak, resident_bytes
from deg_core.training.step import release_memory

PART_EXAMPLES = 16 * CHUNK_LINES
DRAWS = 20


def synthetic_chunks(pool: Pool, count: int) -> Iterator[Chunk]:
    """The examples of a pool over and over under new uids, as a builder hands them to its writer."""
    source = [pool.example(index) for index in range(min(len(pool), CHUNK_LINES))]
    for first in range(0, count, CHUNK_LINES):
        numbers = range(first, min(first + CHUNK_LINES, count))
        examples = [replace(source[number % len(source)], uid=f"synthetic/{number}") for number in numbers]
        entries = tuple(Entry(number + 1, number, f"synthetic/{number}", "kept") for number in numbers)
        batch = to_batch(examples)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield Chunk(entries, sink.getvalue().to_pybytes(), 0, True)


def write_pool(folder: Path, like: Pool, count: int) -> Manifest:
    """A pool of `count` examples."""
    seen: set[str] = set()
    files: list[Path] = []
    writer: PartWriter | None = None
    nothing = folder / "records.jsonl"
    nothing.touch()
    for chunk in synthetic_chunks(like, count):
        number = len(files) // 2
        writer = writer or PartWriter(folder, number, 0)
        writer.add(chunk, seen)
        if chunk.entries[-1].line % PART_EXAMPLES == 0 or chunk.entries[-1].line == count:
            writer.finish(nothing)
            files += [data_path(folder, number), description_path(folder, number)]
            writer = None
    manifest = like.manifest.model_copy(update={"id": folder.name, "files": {}})
    return write_manifest(folder, manifest, files)


def measure_pools(documents: Documents, settings: TrainSettings, count: int) -> dict[str, float]:
    """records_per_core_s of a build; of a pool of `count` examples: open_s, first_draw_s and memory in MiB."""
    device = torch.device("cpu")
    records = len(documents.records)
    with TemporaryDirectory(prefix="deg-pool-") as scratch:
        folder = Path(scratch) / "synthetic"
        folder.mkdir()
        release_memory()
        measured_peak(device)
        before = resident_bytes(device)
        manifest = write_pool(folder, documents.pool, count)
        writing = measured_peak(device) - before
        begun = time.perf_counter()
        pool = Pool.open(manifest.path)
        opened = time.perf_counter() - begun
        begun = time.perf_counter()
        drawer = Drawer([(pool, 1.0)], settings, documents.max_context_tokens, 1)
        drawer.draw(0)
        first = time.perf_counter() - begun
        release_memory()
        held = private_bytes()
        for step in range(1, DRAWS + 1):
            drawer.draw(step)
        release_memory()
        grown = private_bytes() - held
        assert len(pool) == count
        size = sum(entry["bytes"] for entry in manifest.files.values())
    return {
        "records_per_core_s": records / documents.build_s,
        "examples": count,
        "pool_mib": size / 2**20,
        "writing_mib": writing / 2**20,
        "open_s": opened,
        "first_draw_s": first,
        f"grown_in_{DRAWS}_draws_mib": grown / 2**20,
    }


def private_bytes() -> float:
    """Resident bytes of this process that belong to no file."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024.0
    raise InputError("/proc/self/status has no RssAnon; this benchmark needs Linux")
