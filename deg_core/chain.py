"""The nightly chain: which result goes into which step (design section 1). Said once, for the flow and the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from deg_core import steps
from deg_core.artifacts import Home, Manifest
from deg_core.config.settings import DataSettings, NightlySettings, PoolSettings, Settings
from deg_core.progress import Progress

if TYPE_CHECKING:
    from deg_core.registry.gate import Decision


class Call(Protocol):
    """Runs one step: a plain call, or a Prefect task of the same name."""

    def __call__(self, step: Callable[..., Any], settings: Settings, **inputs: Any) -> Any: ...


@dataclass(frozen=True)
class Night:
    """What a night left: the manifests in the order of their making, and the gate's decision."""

    manifests: tuple[Manifest, ...]
    decision: Decision


def direct(home: Home, progress: Progress) -> Call:
    """Steps called in this process."""

    def call(step: Callable[..., Any], settings: Settings, **inputs: Any) -> Any:
        progress.say(f"[bold]{step.__name__}[/bold]")
        return step(settings, home, progress, **inputs)

    return call


def prepare(data: DataSettings, pools: PoolSettings, call: Call) -> tuple[Manifest, list[Manifest]]:
    """The generated documents and the pools; both are there already unless something changed."""
    documents = call(steps.build_data, data)
    return documents, call(steps.build_pools, pools, data=documents.path)


def checkpoint_of(manifest: Manifest) -> Path:
    """The checkpoint folder inside a training run or a calibration."""
    return manifest.path / "checkpoint"


def nightly(settings: NightlySettings, home: Home, call: Call) -> Night:
    """Data, pools, memory plan, training, temperatures, evaluation, gate, and the fill with the champion."""
    documents, pools = prepare(settings.data, settings.pools, call)
    memory = call(steps.calibrate_memory, settings.memory)
    folders = [pool.path for pool in pools]
    run = call(steps.train, settings.train, pools=folders, memory=memory.path)
    calibration = call(steps.calibrate, settings.calibrate, checkpoint=checkpoint_of(run), pools=folders)
    evaluation, rival, decision = judge(settings, home, call, checkpoint_of(calibration), documents.path)
    fill = call(steps.fill_corpus, settings.fill, data=documents.path)
    made = (documents, *pools, memory, run, calibration, evaluation, *([rival] if rival else []), fill)
    return Night(made, decision)


def judge(
    settings: NightlySettings, home: Home, call: Call, candidate: Path, data: Path
) -> tuple[Manifest, Manifest | None, Decision]:
    """Evaluate a candidate and, on the same documents, the champion; then the gate."""
    from deg_core.registry.models import champion

    records = steps.record_files(settings.pools, data)
    holder = champion(home)
    evaluation = call(steps.evaluate, settings.evaluate, checkpoint=candidate, records=records)
    rival = None
    if holder is not None and holder.resolve() != candidate.resolve():
        rival = call(steps.evaluate, settings.evaluate, checkpoint=holder, records=records)
    decision = call(
        steps.run_gate,
        settings.gate,
        checkpoint=candidate,
        evaluation=evaluation.path,
        champion_evaluation=rival.path if rival else None,
    )
    return evaluation, rival, decision
