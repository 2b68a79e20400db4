"""The evaluation step: a checkpoint and the constrained-decoding baseline on the same documents (contract section 11)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from deg_core.artifacts import (
    Home,
    Manifest,
    build_artifact,
    fingerprint,
    generator_input,
    hash_file,
    hash_tree,
    source_version,
    write_atomically,
)
from deg_core.config.settings import EvaluateSettings
from deg_core.contract.errors import InputError
from deg_core.evaluation.answering import Job
from deg_core.evaluation.metrics import OURS, summarise
from deg_core.evaluation.report import render_report
from deg_core.evaluation.sample import Case, draw_sample
from deg_core.evaluation.tables import documents as documents_table
from deg_core.evaluation.tables import full_rows
from deg_core.evaluation.workers import answer_cases, check_stability, pick_baseline_dtype
from deg_core.model.bases import base_folder, base_hash
from deg_core.model.checkpoint import read_meta
from deg_core.progress import Progress, Silent

PARTS = "parts"
SOURCES = ("contract", "values", "model", "runtime", "evaluation", "pools/records.py", "pools/annotations.py")


def evaluate(
    checkpoint: Path,
    records: Sequence[Path],
    settings: EvaluateSettings,
    home: Home,
    progress: Progress | None = None,
) -> Manifest:
    """Evaluate a checkpoint folder on a seeded sample of records files; the artifact lies under evals/.

    It holds rows.parquet, documents.parquet, summary.json and report.html. A document that fails is a row with
    its error. An evaluation that was killed continues with what was answered. Raises InputError when an input
    cannot be read, nothing is left to evaluate, or our fill failed on every document.
    """
    checkpoint, paths = Path(checkpoint), [Path(path) for path in records]
    read_meta(checkpoint)
    missing = [path for path in paths if not path.is_file()]
    if missing:
        raise InputError(f"records file {missing[0]} does not exist; give a JSON Lines file of records")
    manifest = build_artifact(
        home,
        "evals",
        kind="eval",
        name="eval",
        code_version=source_version(*SOURCES),
        settings=settings.model_dump(mode="json"),
        inputs={
            "checkpoint": hash_tree(checkpoint),
            "records": fingerprint([[path.stem, hash_file(path)] for path in paths]),
            **generator_input(settings.generate),
            **({"baseline": base_hash(base_folder(settings.baseline, home))} if settings.baseline else {}),
        },
        build=partial(_build, checkpoint.absolute(), paths, settings, home, progress or Silent()),
        resume=True,
    )
    shutil.rmtree(manifest.path / PARTS, ignore_errors=True)
    return manifest


def _build(
    checkpoint: Path,
    paths: list[Path],
    settings: EvaluateSettings,
    home: Home,
    progress: Progress,
    folder: Path,
    manifest: Manifest,
) -> list[Path]:
    sample = draw_sample(paths, settings)
    progress.say(f"{len(sample.cases)} documents of {sample.counts['read']} records")
    parts = folder / PARTS
    parts.mkdir(exist_ok=True)
    job = _job(manifest.id, checkpoint, settings, home, sample.cases, parts)
    answers = answer_cases(job, sample.cases, parts, settings.workers, progress)
    documents = documents_table(row for part in answers for row in part["documents"])
    refuse_total_failure(documents, parts)
    rows = full_rows(row for part in answers for row in part["rows"])
    stability = _stability(job, sample.cases, settings, parts, progress)
    summary = {
        "run": manifest.id,
        "checkpoint": str(checkpoint),
        "settings": manifest.settings,
        "counts": sample.counts,
        "baseline_dtype": job.baseline_dtype if any(case.baseline for case in sample.cases) else None,
        **summarise(rows, documents, seed=settings.seed),
        **stability,
    }
    manifest.counts = sample.counts
    manifest.figures = _manifest_figures(summary)
    progress.say(_headline(manifest.figures))
    return _write(folder, rows, documents, summary)


def _job(run: str, checkpoint: Path, settings: EvaluateSettings, home: Home, cases: Sequence[Case], parts: Path) -> Job:
    base = base_folder(settings.baseline or read_meta(checkpoint).base, home)
    dtype: str = settings.dtype
    if dtype == "auto" and any(case.baseline for case in cases):
        dtype = pick_baseline_dtype(base, parts / "baseline_dtype")
    return Job(
        run,
        home.root,
        checkpoint,
        settings.dtype,
        dtype,
        settings.baseline_max_tokens,
        settings.options,
        settings.generate,
        base,
    )


def refuse_total_failure(documents: pa.Table, parts: Path) -> None:
    """Raise InputError when no document was filled, and forget the parts: such a run has nothing to continue."""
    errors = [row["error"] for row in documents.to_pylist() if row["system"] == OURS]
    if all(errors):
        shutil.rmtree(parts)
        raise InputError(f"our fill failed on all {len(errors)} documents; the first says: {errors[0]}")


def _stability(
    job: Job, cases: Sequence[Case], settings: EvaluateSettings, parts: Path, progress: Progress
) -> dict[str, Any]:
    """Determinism and option order on the first cases of each source in turn; nothing when none are asked for."""
    if not settings.determinism_records:
        return {"determinism": None, "option_flips": None}
    by_source: dict[str, list[Case]] = {}
    for case in cases:
        by_source.setdefault(case.source, []).append(case)
    turns = max(map(len, by_source.values()))
    chosen = [group[turn] for turn in range(turns) for group in by_source.values() if turn < len(group)]
    progress.say("checking bitwise equality")
    return check_stability(job, chosen[: settings.determinism_records], settings.seed, parts / "stability.json")


def _manifest_figures(summary: dict[str, Any]) -> dict[str, Any]:
    checks = (summary["determinism"] or {}).get("checks", {})
    return {
        **summary["figures"],
        "generated_ratio": summary["ratios"]["generated"],
        "speed_ratio": summary["ratios"]["speed"],
        "ms_median": summary["costs"][OURS]["ms_median"],
        "deterministic": all(c["equal"] == c["compared"] for c in checks.values()) if checks else None,
        "option_flip_rate": (summary["option_flips"] or {}).get("rate"),
        **summary["splits"],
    }


def _headline(figures: dict[str, Any]) -> str:
    names = ("decide_accuracy", "extract_exact", "count_accuracy", "ece_decide", "ece_extract", "speed_ratio")
    return ", ".join(f"{name} {figures[name]:.3f}" for name in names if figures[name] is not None)


def _write(folder: Path, rows: pa.Table, documents: pa.Table, summary: dict[str, Any]) -> list[Path]:
    files = [folder / name for name in ("rows.parquet", "documents.parquet", "summary.json", "report.html")]
    pq.write_table(rows, files[0])
    pq.write_table(documents, files[1])
    write_atomically(files[2], json.dumps(summary, indent=1, ensure_ascii=False).encode())
    write_atomically(files[3], render_report(rows, documents, summary).encode())
    return files
