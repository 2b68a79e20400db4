"""The steps (`deg generate`, `pools`, `memory`, `train`, ...) and the whole chain (`deg nightly`)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from deg_core import steps
from deg_core.artifacts import Home, Manifest
from deg_core.chain import Night, build_pools, checkpoint_of, direct, judge, nightly, own_data
from deg_core.cli.options import HomeOption, home_of, takes_settings
from deg_core.cli.outcome import NegativeAnswerError, err
from deg_core.cli.scoreboard import places, scoreboard
from deg_core.config import (
    ArrayMode,
    CalibrateSettings,
    DataSettings,
    EvaluateSettings,
    GateSettings,
    GeneratorSettings,
    MemorySettings,
    NightlySettings,
    PoolSettings,
    SourceSettings,
    TrainSettings,
)
from deg_core.contract.errors import InputError
from deg_core.progress import Terminal
from deg_core.registry.models import check_checkpoint

RecordsOption = Annotated[
    list[str] | None,
    typer.Option("--records", help="Records file with its weight, PATH or PATH:WEIGHT; repeatable (default: own)."),
]
ManifestOption = Annotated[
    Path | None,
    typer.Option("--manifest", help="JSON file that lists records files with their weights; --records are added."),
]
GuardOption = Annotated[
    list[Path] | None,
    typer.Option("--guard", help="Evaluation records file; a record that holds a text of it is left out; repeatable."),
]
CheckpointOption = Annotated[
    Path | None, typer.Option("--checkpoint", help="Checkpoint folder (default: of the newest calibration or run).")
]


def register(app: typer.Typer) -> None:
    """Add the commands, each named as its function."""
    panel = "Chain"
    for settings, command in (
        (DataSettings, generate),
        (PoolSettings, pools),
        (MemorySettings, memory),
        (TrainSettings, train),
        (GeneratorSettings, train_generator),
        (CalibrateSettings, calibrate),
        (EvaluateSettings, evaluate),
        (GateSettings, gate),
        (NightlySettings, run_nightly),
    ):
        name = "nightly" if command is run_nightly else command.__name__.replace("_", "-")
        app.command(name, rich_help_panel=panel)(takes_settings(settings)(command))


def generate(settings: DataSettings, home: HomeOption = None) -> None:
    """Write the generated documents: records, a corpus and its schema."""
    report(steps.build_data(settings, home_of(home), Terminal()))


def pools(settings: PoolSettings, records: RecordsOption = None, home: HomeOption = None) -> None:
    """Build the pools (Arrow files) of records files."""
    for manifest in _pools(home_of(home), with_records(settings, records)):
        report(manifest)


def memory(settings: MemorySettings, home: HomeOption = None) -> None:
    """Measure what a training step takes, for the memory planner."""
    report(steps.calibrate_memory(settings, home_of(home), Terminal()))


def train(
    settings: TrainSettings,
    records: RecordsOption = None,
    manifest: ManifestOption = None,
    guard: GuardOption = None,
    memory: Annotated[Path | None, typer.Option("--memory", help="Artifact of `deg memory`; none = analytic.")] = None,
    arrays: Annotated[
        ArrayMode | None,
        typer.Option("--arrays", help="How queries name array items; as the start checkpoint where not given."),
    ] = None,
    home: HomeOption = None,
) -> None:
    """Train on the pools of the records files; a run that was stopped goes on where it was."""
    place = home_of(home)
    shape = steps.pools_for_training(settings, place, arrays)
    folders = [pool.path for pool in _pools(place, with_records(shape, records, manifest, guard))]
    report(steps.train(settings, place, Terminal(), pools=folders, memory=memory))


def train_generator(
    settings: GeneratorSettings,
    records: RecordsOption = None,
    manifest: ManifestOption = None,
    guard: GuardOption = None,
    home: HomeOption = None,
) -> None:
    """Train an adapter with which the base writes generated text; `deg fill --generate base+lora:FOLDER` uses it."""
    place = home_of(home)
    shape = steps.written(with_records(PoolSettings(base=settings.base), records, manifest, guard))
    folders = [pool.path for pool in _pools(place, shape)]
    report(steps.train_generator(settings, place, Terminal(), pools=folders))


def calibrate(
    settings: CalibrateSettings,
    checkpoint: CheckpointOption = None,
    records: RecordsOption = None,
    manifest: ManifestOption = None,
    guard: GuardOption = None,
    home: HomeOption = None,
) -> None:
    """Find one temperature per head kind on validation records."""
    place = home_of(home)
    found = checkpoint or checkpoint_of(steps.newest(place, "runs", "deg train"))
    folders = [pool.path for pool in _pools(place, with_records(steps.pools_like(found), records, manifest, guard))]
    report(steps.calibrate(settings, place, Terminal(), checkpoint=found, pools=folders))


def evaluate(
    settings: EvaluateSettings,
    checkpoint: CheckpointOption = None,
    records: RecordsOption = None,
    home: HomeOption = None,
) -> None:
    """Compare a checkpoint with gold values and with the constrained-decoding baseline."""
    place = home_of(home)
    found = checkpoint or checkpoint_of(steps.newest(place, "calibrations", "deg calibrate"))
    check_checkpoint(found)
    sources = with_records(PoolSettings(), records)
    files = steps.record_files(sources, own_folder(place, sources))
    report(steps.evaluate(settings, place, Terminal(), checkpoint=found, records=files))


def gate(
    settings: GateSettings,
    checkpoint: CheckpointOption = None,
    records: RecordsOption = None,
    home: HomeOption = None,
) -> None:
    """Evaluate a checkpoint beside the champion and promote it when it is no worse. Exit code 1: not promoted."""
    place = home_of(home)
    found = checkpoint or checkpoint_of(steps.newest(place, "calibrations", "deg calibrate"))
    whole = NightlySettings(gate=settings, pools=with_records(PoolSettings(), records))
    *evaluations, decision = judge(whole, place, direct(place, Terminal()), found, own_folder(place, whole.pools))
    for manifest in filter(None, evaluations):
        report(manifest)
    _answer(decision)


def run_nightly(settings: NightlySettings, home: HomeOption = None) -> None:
    """Run the whole chain; steps whose inputs did not change are not run again. Exit code 1: not promoted."""
    place = home_of(home)
    report_night(nightly(settings, place, direct(place, Terminal())))


def report_night(night: Night) -> None:
    """Every artifact of a night, both systems side by side and the gate's answer; raises NegativeAnswerError where it is no."""
    for manifest in night.manifests:
        report(manifest)
    made = {manifest.kind: manifest for manifest in reversed(night.manifests)}
    if made.keys() >= {"eval", "fill"}:
        err.print(scoreboard(made["eval"]))
        for line in places(made["eval"], made["fill"]):
            err.print(line, soft_wrap=True)
    _answer(night.decision)


def report(manifest: Manifest) -> None:
    """The artifact's folder on standard output; its counts and figures as a table on standard error."""
    table = Table(title=f"{manifest.id}{' (was there already)' if manifest.cached else ''}", title_justify="left")
    table.add_column("figure")
    table.add_column("value", justify="right")
    for name, value in {**manifest.counts, **manifest.figures}.items():
        if isinstance(value, int | float | str):
            table.add_row(name, f"{value:.4g}" if isinstance(value, float) else str(value))
    table.add_row("seconds", f"{manifest.seconds:.1f}")
    err.print(table)
    typer.echo(manifest.path)


def with_records(
    settings: PoolSettings,
    records: list[str] | None,
    manifest: Path | None = None,
    guard: list[Path] | None = None,
) -> PoolSettings:
    """Pool settings whose sources are the --records options and the manifest's sets, where there are any."""
    if guard:
        settings = settings.model_copy(update={"guard": tuple(map(str, guard))})
    if manifest:
        settings = settings.model_copy(update={"sources": (), "manifest": str(manifest)})
    if not records:
        return settings
    return settings.model_copy(update={"sources": tuple(_source(text) for text in records)})


def _source(text: str) -> SourceSettings:
    path, colon, weight = text.rpartition(":")
    if not colon:
        return SourceSettings(records=text)
    try:
        return SourceSettings(records=path, weight=float(weight))
    except ValueError as error:
        raise InputError(f"--records {text}: {weight!r} is no weight above 0; write PATH or PATH:WEIGHT") from error


def _pools(home: Home, settings: PoolSettings) -> list[Manifest]:
    return build_pools(DataSettings(), settings, direct(home, Terminal()))


def own_folder(home: Home, settings: PoolSettings) -> Path | None:
    """The generated documents where the settings name them."""
    data = own_data(DataSettings(), direct(home, Terminal()), settings)
    return data.path if data else None


def _answer(decision: Any) -> None:
    if not decision.promote:
        raise NegativeAnswerError(f"not promoted: {'; '.join(decision.reasons)}")
