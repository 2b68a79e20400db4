"""A training run as an artifact: found when it is there, continued when it was killed."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

from deg_core.artifacts import Home, Manifest, build_artifact, hash_tree, source_version, write_atomically
from deg_core.config import TrainSettings
from deg_core.contract.errors import DegError, InputError
from deg_core.model.bases import base_folder, base_hash
from deg_core.model.checkpoint import read_meta
from deg_core.model.model import shipped_checkpoint
from deg_core.pools.store import Pool, common_layout
from deg_core.progress import Progress
from deg_core.registry.models import champion
from deg_core.training.job import TrainJob
from deg_core.training.launch import run_guarded
from deg_core.training.resume import BEST, checkpoint_folder
from deg_core.training.setup import check_init
from deg_core.training.validation import Course

SOURCES = ("contract", "values", "model", "pools", "training")
_STEP = re.compile(r"step (\d+)/\d+ (.*)")


def start_checkpoint(settings: TrainSettings, home: Home) -> Path | None:
    """The checkpoint that `init` names; None = fresh. 'champion' without one, and 'default', mean the one that ships."""
    if settings.init == "fresh":
        return None
    if settings.init == "champion":
        return champion(home) or shipped_checkpoint()
    if settings.init == "default":
        shipped = shipped_checkpoint()
        return shipped if shipped and read_meta(shipped).base == settings.base else None
    return Path(settings.init)


def train(
    settings: TrainSettings,
    pools: list[Path],
    home: Home,
    progress: Progress,
    memory: Path | None = None,
    *,
    kind: str = "runs",
) -> Manifest:
    """Train on pools; the artifact under runs/ (or another kind's folder) holds `checkpoint/`, log.jsonl and mem.jsonl.

    A run that was killed continues from its last saved point. Raises InputError for settings that do not
    fit the base or the start checkpoint, DegError when the training process fails (with its log's place).
    """
    base = base_folder(settings.base, home)
    init = start_checkpoint(settings, home)
    if init is not None:
        check_init(settings, init)
    opened = [Pool.open(folder) for folder in pools]
    inputs = {
        f"pool:{pool.manifest.id}": f"{pool.manifest.content} x {pool_weight(pool)} to {pool_max_context(pool)}"
        + ("" if pool.takes_filler else " without filler")
        for pool in opened
    }
    inputs |= {"base": base_hash(base), "init": hash_tree(init) if init else "fresh"}

    def build(folder: Path, manifest: Manifest) -> list[Path]:
        job = TrainJob(
            settings=settings,
            folder=folder,
            home=home.root,
            base=base,
            pools=[(pool.manifest.path, pool_weight(pool)) for pool in opened],
            max_context_tokens=min(pool_max_context(pool) for pool in opened),
            layout=common_layout(opened),
            memory=memory,
            init=init,
        )
        write_atomically(folder / "job.json", job.model_dump_json(indent=1).encode())
        _run(job, progress)
        return _finish(folder, settings, manifest)

    return build_artifact(
        home,
        kind,
        kind="run",
        name=Path(settings.base).name,
        code_version=source_version(*SOURCES),
        settings=settings.model_dump(mode="json"),
        inputs=inputs,
        build=build,
        resume=True,
    )


def _run(job: TrainJob, progress: Progress) -> None:
    settings = job.settings
    errors: list[str] = []
    with progress.bar("training", settings.steps) as bar:
        done = 0

        def on_line(line: str) -> None:
            nonlocal done
            found = _STEP.match(line)
            if found:
                bar.advance(int(found[1]) - done, found[2])
                done = int(found[1])
            elif line.startswith("error: "):
                errors.append(line.removeprefix("error: "))
            elif line.startswith(("saved", "val", "ended", "continuing", "oom", "step_skipped", "memory", "another")):
                progress.say(line)

        command = [sys.executable, "-m", "deg_core.training.worker", str(job.folder / "job.json")]
        status = run_guarded(command, job.folder / "logs", on_line, nproc=settings.nproc)
    if errors:
        raise InputError(errors[0])
    if status:
        raise DegError(f"training ended with status {status}; see the ranks' logs in {job.folder / 'logs'}")


def _finish(folder: Path, settings: TrainSettings, manifest: Manifest) -> list[Path]:
    """Copy the run's result to `checkpoint/`, drop what only continuing needed, and sum up the log."""
    entries = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    steps = [entry for entry in entries if entry["event"] == "step"]
    last_point = max(int(path.name[5:]) for path in folder.glob("step-??????"))
    course = Course.of_log(folder / "log.jsonl", settings.patience)
    final = folder / "checkpoint"
    shutil.rmtree(final, ignore_errors=True)
    shutil.copytree(folder / BEST if settings.patience else checkpoint_folder(folder, last_point), final)
    last = steps[-max(1, len(steps) // 10) :]
    manifest.counts = {
        "steps": len(steps),
        "records": sum(entry["records"] for entry in steps),
        "tokens": sum(entry["tokens"] for entry in steps),
        "oom_splits": sum(entry["oom_splits"] for entry in steps),
        "skipped_steps": last_point - len(steps),
    }
    manifest.figures = {
        "loss": sum(entry["loss"] for entry in last) / len(last) if last else None,
        "tokens_per_s": manifest.counts["tokens"] / max(sum(entry["seconds"] for entry in steps), 1e-9),
    }
    if course.best is not None:
        manifest.figures |= {"val_loss": course.losses[course.best], "val_loss_step": course.best}
    for path in [*folder.glob("step-*"), folder / BEST]:
        shutil.rmtree(path, ignore_errors=True)
    return [*sorted(final.iterdir()), folder / "log.jsonl", *[p for p in [folder / "mem.jsonl"] if p.exists()]]


def pool_weight(pool: Pool) -> float:
    """The share of the draws that a pool was built with."""
    return float(pool.manifest.settings.get("weight", 1.0))


def pool_max_context(pool: Pool) -> int:
    """The context limit that a pool was built with, in tokens."""
    return int(pool.manifest.settings["max_context_tokens"])
