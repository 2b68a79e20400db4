"""The nightly chain: which result goes into which step (design section 1). Said once, for the flow and the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from deg_core import steps
from deg_core.artifacts import Home, Manifest
from deg_core.config.settings import DataSettings, FillSettings, NightlySettings, PoolSettings, Settings
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
        progress.say(step.__name__.replace("_", " "))
        return step(settings, home, progress, **inputs)

    return call


def own_data(data: DataSettings, call: Call, *users: PoolSettings | FillSettings) -> Manifest | None:
    """The generated documents where one of the settings names them, else None."""
    return call(steps.build_data, data) if any(map(steps.uses_own, users)) else None


def build_pools(data: DataSettings, pools: PoolSettings, call: Call) -> list[Manifest]:
    """The pools, and before them what they are built from; all is there already unless something changed."""
    return call(steps.build_pools, pools, data=_path(own_data(data, call, pools)))


def checkpoint_of(manifest: Manifest) -> Path:
    """The checkpoint folder inside a training run or a calibration."""
    return manifest.path / "checkpoint"


def nightly(settings: NightlySettings, home: Home, call: Call) -> Night:
    """Data, pools, memory plan, training, temperatures, evaluation, gate, and the fill with the champion.

    A first night whose checkpoint is refused has no champion, and where no checkpoint ships it fills nothing.
    """
    documents = own_data(settings.data, call, settings.pools, settings.fill)
    data = _path(documents)
    pools = call(steps.build_pools, settings.pools, data=data)
    memory = call(steps.calibrate_memory, settings.memory)
    folders = [pool.path for pool in pools]
    run = call(steps.train, settings.train, pools=folders, memory=memory.path)
    calibration = call(steps.calibrate, settings.calibrate, checkpoint=checkpoint_of(run), pools=folders)
    *evaluations, decision = judge(settings, home, call, checkpoint_of(calibration), data)
    fill = (
        call(steps.fill_corpus, settings.fill, data=data) if steps.has_checkpoint(settings.fill.model, home) else None
    )
    made = (documents, *pools, memory, run, calibration, *evaluations, fill)
    return Night(tuple(manifest for manifest in made if manifest is not None), decision)


def judge(
    settings: NightlySettings, home: Home, call: Call, candidate: Path, data: Path | None
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


def _path(manifest: Manifest | None) -> Path | None:
    return manifest.path if manifest else None
