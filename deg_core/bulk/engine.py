"""Bulk fill of a corpus to Parquet: an artifact that survives being killed and ends the same (design 1, 4)."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Generator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from deg_core.artifacts import (
    Home,
    Manifest,
    build_artifact,
    fingerprint,
    generator_input,
    hash_tree,
    source_version,
    write_atomically,
)
from deg_core.bulk.filler import model_filler
from deg_core.bulk.job import Filler, FillJob, Shard, plan_shards
from deg_core.bulk.workers import WorkerPool
from deg_core.bulk.writer import PartSummary, part_path, read_summary
from deg_core.config.settings import FillSettings
from deg_core.contract import compile_schema
from deg_core.contract.errors import InputError
from deg_core.progress import Bar, Progress

SOURCES = ("contract", "values", "model", "runtime", "bulk")
SCHEMA_FILE = "schema.json"
MOST_COMMON_ERRORS = 10
RunShards = Callable[[FillJob, list[Shard], int, Bar], Generator[PartSummary, None, None]]


def fill_corpus(
    settings: FillSettings,
    home: Home,
    progress: Progress,
    *,
    corpus: Path,
    schema: Mapping[str, Any],
    checkpoint: Path,
    filler_factory: Callable[[FillJob], Filler] = model_filler,
    run_shards: RunShards | None = None,
) -> Manifest:
    """Fill a schema from every document of a corpus; home/fills/<id> holds part-*.parquet and schema.json.

    A run that was killed goes on with the shards that have no part yet and ends with the same rows, but
    for `ms`. Counts: read = filled + failed; figures: tokens, duplicate ids, the most common errors, values
    that only value_json holds. run_shards(job, shards, workers, bar) is a generator that runs the
    missing shards and yields their summaries: worker processes (run_in_workers), or a scheduler's tasks that each call
    shards.fill_shard. Raises SchemaError, and InputError for an unusable corpus or checkpoint, or when more
    than settings.max_failed_share of the documents fail.
    """
    plan = compile_schema(schema)
    checkpoint, corpus = Path(checkpoint).absolute(), Path(corpus).absolute()
    if not checkpoint.is_dir():
        raise InputError(f"no checkpoint folder at {checkpoint}; train one, or name another with model")
    job = FillJob(
        corpus=corpus,
        text_column=settings.text_column,
        id_column=settings.id_column,
        schema=schema,
        checkpoint=checkpoint,
        home=home.root,
        options=settings.options,
        dtype=settings.dtype,
        generate=settings.generate,
        batch_documents=settings.batch_documents,
        folder=Path(),
        key="",
        filler_factory=filler_factory,
    )
    job.open_corpus()
    corpus_hash = hash_tree(corpus)
    found = build_artifact(
        home,
        "fills",
        kind="fill",
        name=re.sub(r"[^a-z0-9]+", "-", corpus.stem.lower()).strip("-") or "corpus",
        code_version=source_version(*SOURCES),
        settings=settings.model_dump(mode="json", include=_CONTENT_SETTINGS),
        inputs={
            "corpus": corpus_hash,
            "schema": fingerprint({"plan": plan.fingerprint, "text": json.dumps(schema)}),
            "checkpoint": hash_tree(checkpoint),
            **generator_input(settings.generate),
        },
        build=partial(_build, job, settings, progress, run_shards or run_in_workers),
        resume=True,
    )
    _check_failures(found.counts["failed"], found.counts["read"], settings, found.path)
    return found


_CONTENT_SETTINGS = {"text_column", "id_column", "shard_documents", "dtype", "generate", "options"}


def run_in_workers(job: FillJob, shards: list[Shard], workers: int, bar: Bar) -> Generator[PartSummary, None, None]:
    """Fill shards with worker processes of this machine; workers 0 = default_workers()."""
    return WorkerPool(job, workers or default_workers(), bar).run(shards)


def default_workers() -> int:
    """One process per core that this process may use; one in all where a CUDA device does the work."""
    if os.path.exists("/dev/nvidiactl"):
        import torch

        if torch.cuda.is_available():
            return 1
    return len(os.sched_getaffinity(0))


def _build(
    job: FillJob, settings: FillSettings, progress: Progress, run_shards: RunShards, folder: Path, manifest: Manifest
) -> list[Path]:
    job = dataclasses.replace(job, folder=folder, key=manifest.key)
    manifest.settings = settings.model_dump(mode="json")
    for leftover in folder.glob(".part-*"):
        leftover.unlink()
    write_atomically(folder / SCHEMA_FILE, json.dumps(job.schema, indent=1, ensure_ascii=False).encode())
    shards = plan_shards(job.open_corpus(), settings.shard_documents)
    summaries = _fill_shards(job, shards, settings, progress, run_shards)
    if hash_tree(job.corpus) != manifest.inputs["corpus"]:
        raise InputError(f"{job.corpus} changed while it was being filled; run the fill again")
    parts = [part_path(folder, shard.index) for shard in shards]
    _describe(manifest, summaries, parts, progress)
    return [folder / SCHEMA_FILE, *parts]


def _fill_shards(
    job: FillJob, shards: list[Shard], settings: FillSettings, progress: Progress, run_shards: RunShards
) -> list[PartSummary]:
    """Summaries of all parts, in order; runs only the shards without a part."""
    found = [read_summary(job.folder, job.key, shard) for shard in shards]
    done = {summary.index: summary for summary in found if summary is not None}
    missing = [shard for shard in shards if shard.index not in done]
    total = sum(map(len, shards))
    if done:
        progress.say(f"{len(done)} of {len(shards)} parts are there already; going on with the rest")
    failed = sum(summary.failed for summary in done.values())
    _check_failures(failed, total, settings, job.folder)
    with progress.bar("documents", total) as bar:
        bar.advance(total - sum(map(len, missing)))
        with contextlib.closing(run_shards(job, missing, settings.workers, bar)) as finished:
            for summary in finished:
                done[summary.index] = summary
                failed += summary.failed
                _check_failures(failed, total, settings, job.folder)
    return [done[shard.index] for shard in shards]


def _check_failures(failed: int, total: int, settings: FillSettings, folder: Path) -> None:
    if failed > settings.max_failed_share * total:
        raise InputError(
            f"{failed} of {total} documents failed, more than max_failed_share {settings.max_failed_share}; "
            f"see the error column of {folder}/part-*.parquet, then mend the corpus or raise max_failed_share"
        )


def _describe(manifest: Manifest, summaries: list[PartSummary], parts: list[Path], progress: Progress) -> None:
    def total(name: str) -> int:
        return sum(getattr(summary, name) for summary in summaries)

    ids: Counter[int] = Counter()
    errors: Counter[str] = Counter()
    for part in parts:
        columns = pq.read_table(part, columns=["doc_id", "error"]).to_pydict()
        ids.update(hash(doc_id) for doc_id in columns["doc_id"])
        errors.update(error for error in columns["error"] if error is not None)
    duplicates = sum(count - 1 for count in ids.values())
    if duplicates:
        progress.say(f"{duplicates} documents repeat the id of another; each keeps its row")
    manifest.counts = {name: total(name) for name in ("read", "filled", "failed")}
    manifest.figures = {
        "parts": len(parts),
        "prompt_tokens": total("prompt_tokens"),
        "generated_tokens": total("generated_tokens"),
        "ms": round(total("ms"), 3),
        "duplicate_ids": duplicates,
        "untyped_values": total("untyped"),
        "errors": dict(errors.most_common(MOST_COMMON_ERRORS)),
    }
