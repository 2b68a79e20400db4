"""`deg bench`: how fast a fill is, how long the parts without a model take, and how that grows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from deg_core.cli.bench_contract import contract
from deg_core.cli.chain import GuardOption, ManifestOption, RecordsOption, own_folder, with_records
from deg_core.cli.options import HomeOption, home_of

if TYPE_CHECKING:
    from deg_core.evaluation.speed import Row

group = typer.Typer(help="How fast a fill and its parts are, and how their time grows.", no_args_is_help=True)
REPEATS = 3


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group.command("contract")(contract)
    app.add_typer(group, name="bench", rich_help_panel="Results")


@group.command("fill")
def fill_command(
    checkpoint: Annotated[
        Path | None, typer.Option("--checkpoint", help="Checkpoint folder (default: the champion, else as shipped).")
    ] = None,
    documents: Annotated[int, typer.Option(min=1, help="Texts that every system fills.")] = 8,
    core: Annotated[int | None, typer.Option(help="The core to stay on (default: the first).")] = None,
    shape: Annotated[
        str | None, typer.Option(help="Also time a model of this shape with random weights, e.g. qwen3.5-0.8b.")
    ] = None,
    home: HomeOption = None,
) -> None:
    """Time a form of ten fields over about 450 tokens, on one core of an idle machine.

    Beside the constrained-decoding baseline in the same type, llama.cpp where llama-cpp-python is installed, and an
    encoder; beside the machine's own matrix products; for documents together, in int8. The last line is one JSON object of
    figures.
    """
    import tempfile

    import torch

    from deg_core.evaluation import rivals, speed
    from deg_core.model.model import INT8, load_model, pick_dtype

    speed.pin(core)
    place = home_of(home)
    types = (str(pick_dtype(None, torch.device("cpu"))).removeprefix("torch."), INT8)
    ours = {f"deg, {dtype}": load_model(checkpoint, device="cpu", dtype=dtype, home=place) for dtype in types}
    model = ours[f"deg, {types[0]}"]
    with tempfile.TemporaryDirectory() as folder:
        systems = rivals.rivals_of(model, Path(folder))
        rows = rivals.compare(ours, systems, speed.texts(model, documents))
    print_rows("a form of 10 fields", rows)
    figures = rivals.ratios(rows)
    if shape is not None:
        baseline = systems[0]
        assert isinstance(baseline, rivals.Constrained)
        shaped = rivals.compare_shape(shape, types, baseline.written, place)
        print_rows(f"the shape of {shape}", shaped)
        figures |= {f"{name}_{shape}": value for name, value in rivals.ratios(shaped).items()}
    used = speed.utilisation(model, REPEATS)
    print_rows("share of the product peak", used)
    figures |= {f"utilisation_{row.name}": row.figures["share"] for row in used[1:]}
    batches = list(speed.together(ours[f"deg, {INT8}"], (1, 8, 32), 32))
    print_rows("documents together", batches)
    figures["computed_over_real"] = max(float(row.figures["computed / real tokens"]) for row in batches)
    print(json.dumps({name: round(float(value), 4) for name, value in figures.items()}))


@group.command("growth")
def growth_command(
    checkpoint: Annotated[
        Path | None, typer.Option("--checkpoint", help="Checkpoint folder (default: the champion, else as shipped).")
    ] = None,
    longest: Annotated[int, typer.Option(min=512, help="Tokens of the longest text; each is twice as long.")] = 65536,
    most_fields: Annotated[
        int, typer.Option(min=10, help="Fields of the biggest form; each is ten times as big.")
    ] = 1000,
    core: Annotated[int | None, typer.Option(help="The core to stay on (default: the first).")] = None,
    dtype: Annotated[str, typer.Option(help="Compute type: auto, float32, bfloat16 or int8.")] = "auto",
    shape: Annotated[
        str | None, typer.Option(help="A model of this shape with random weights instead, e.g. qwen3.5-tiny.")
    ] = None,
    home: HomeOption = None,
) -> None:
    """How the time of a fill grows with fields and with length, and its memory with length; one core."""
    import tempfile

    from deg_core.evaluation import speed
    from deg_core.evaluation.shapes import random_model
    from deg_core.model.model import load_model

    speed.pin(core)
    place = home_of(home)
    with tempfile.TemporaryDirectory() as folder:
        if shape is None:
            model = load_model(checkpoint, device="cpu", dtype=dtype, home=place)
        else:
            model = random_model(shape, dtype, Path(folder), place)
        print_rows("fields", speed.by_fields(model, [10 * 10**n for n in range(len(str(most_fields // 10)))], 1))
        lengths = [512 * 2**n for n in range((longest // 512).bit_length())]
        print_rows("length", speed.by_length(model, lengths, speed.product_peak(model)))


def print_rows(title: str, rows: Iterable[Row]) -> None:
    """A table of measured rows, with the columns of all of them."""
    found = list(rows)
    columns = list(dict.fromkeys(name for row in found for name in row.figures))
    table = Table(title, *columns)
    for row in found:
        cells = [row.figures.get(name, "") for name in columns]
        table.add_row(row.name, *(f"{cell:,.4g}" if isinstance(cell, float) else str(cell) for cell in cells))
    Console(emoji=False).print(table)


@group.command("train")
def train_command(
    steps: Annotated[int, typer.Option(min=1, help="Steps that are timed beside peft.")] = 8,
    memory_steps: Annotated[int, typer.Option(min=0, help="Steps whose peak is compared with the plan.")] = 200,
    memory_tokens: Annotated[int, typer.Option(min=256, help="Tokens of the largest of these.")] = 4096,
    targets: Annotated[str, typer.Option(help="Targets in GiB that they are planned for, in turn.")] = "4,6,8",
    examples: Annotated[int, typer.Option(min=1, help="Examples of the pool that is opened.")] = 100_000,
    documents: Annotated[int, typer.Option(min=96, help="Generated documents to train on.")] = 256,
    budget_tokens: Annotated[int, typer.Option(min=128, help="Context and fork tokens of a timed step.")] = 1500,
    memory: Annotated[
        Path | None, typer.Option(help="Artifact of `deg memory` for the plan (default: sizes of tensors).")
    ] = None,
    zero_sim_world: Annotated[
        int, typer.Option(min=1, help="Also measure rank 0 of a ZeRO-2 run of so many ranks, the others left out.")
    ] = 1,
    base: Annotated[str, typer.Option(help="Backbone: a name or a local directory.")] = "smollm2-135m",
    dtype: Annotated[str, typer.Option(help="Compute type: auto, float32 or bfloat16.")] = "auto",
    core: Annotated[int | None, typer.Option(help="The core to stay on (default: the first).")] = None,
    home: HomeOption = None,
) -> None:
    """Time training steps beside transformers with peft, check the memory plan, and time pools; on one core.

    The last line is a JSON object of the main figures.
    """
    import torch

    from deg_core.config import TrainSettings
    from deg_core.evaluation import speed
    from deg_core.model.allocator import limit_kernels
    from deg_core.model.model import pick_dtype
    from deg_core.training.bench import planner, pools
    from deg_core.training.bench.documents import made_documents
    from deg_core.training.bench.own import OwnTraining
    from deg_core.training.bench.sharded import measure_sharded
    from deg_core.training.bench.speed import against_peft

    limit_kernels()
    speed.pin(core)
    place = home_of(home)
    compute = pick_dtype(dtype, torch.device("cpu"))
    settings = TrainSettings(base=base, init="fresh", budget_tokens=budget_tokens)
    found: dict[str, float] = {}
    with made_documents(documents, base, place) as made:
        if memory_steps:
            training = OwnTraining(made, settings, place, compute, memory)
            sizes = [float(target) for target in targets.split(",")]
            measured = list(planner.measure_steps(training, memory_steps, memory_tokens, sizes))
            found |= planner.summary(measured)
            print_rows(f"steps by {training.plan.source}", _target_rows(measured))
            del training
        tallies = against_peft(made, settings, place, compute, steps)
        print_rows(f"training, {str(compute).removeprefix('torch.')}", map(_tally_row, tallies.items()))
        ours, trained, theirs = tallies.values()
        found["ratio_peft"] = ours.figures["tokens/s"] / theirs.figures["tokens/s"]
        found["ratio_peft_context_trained"] = trained.figures["tokens/s"] / theirs.figures["tokens/s"]
        found["computed_over_real"] = ours.computed / ours.real
        found |= pools.measure_pools(made, settings, examples)
        if zero_sim_world > 1:
            alone = OwnTraining(made, settings, place, compute, memory, zero_sim_world)
            found |= measure_sharded(alone, steps)
    print(json.dumps({name: round(value, 4) for name, value in found.items()}))


@group.command("rival")
def rival_command(
    out: Annotated[Path, typer.Option(help="Folder to write the trained model to.")],
    minutes: Annotated[float, typer.Option(min=0.01, help="How long to train.")] = 60.0,
    records: RecordsOption = None,
    manifest: ManifestOption = None,
    guard: GuardOption = None,
    base: Annotated[str, typer.Option(help="Backbone: a name or a local directory.")] = "smollm2-135m",
    budget_tokens: Annotated[int, typer.Option(min=128, help="Tokens of a step, padding included.")] = 2200,
    lr: Annotated[float, typer.Option(help="Peak learning rate of the adapters.")] = 5e-4,
    seed: Annotated[int, typer.Option(help="Seed of draws and fresh weights.")] = 1,
    dtype: Annotated[str, typer.Option(help="Compute type: auto, float32 or bfloat16.")] = "auto",
    core: Annotated[int | None, typer.Option(help="The core to stay on (default: the first).")] = None,
    home: HomeOption = None,
) -> None:
    """Fine-tune the base to write the JSON itself (transformers with peft), for `deg evaluate --baseline FOLDER`.

    On one core; the last line is a JSON object of figures.
    """
    import torch

    from deg_core.config import PoolSettings, TrainSettings
    from deg_core.evaluation import speed
    from deg_core.model.allocator import limit_kernels
    from deg_core.model.model import pick_dtype
    from deg_core.training.bench.rival import read_sources, train_rival

    limit_kernels()
    speed.pin(core)
    place = home_of(home)
    wanted = with_records(PoolSettings(base=base), records, manifest, guard)
    sources = read_sources(wanted, own_folder(place, wanted))
    settings = TrainSettings(base=base, budget_tokens=budget_tokens, lr_trunk=lr, clip_norm=1.0, seed=seed)
    compute = pick_dtype(dtype, torch.device("cpu"))
    found = train_rival(sources, settings, minutes * 60, out, place, compute)
    typer.echo(json.dumps({name: round(value, 4) for name, value in found.items()}))


def _tally_row(item: tuple[str, Any]) -> Row:
    from deg_core.evaluation.speed import Row

    return Row(item[0], dict(item[1].figures))


def _target_rows(measured: list[Any]) -> Iterator[Row]:
    """A row for each target: how far the estimates were off, and the highest peak."""
    from deg_core.evaluation.speed import Row
    from deg_core.training.bench.planner import summary

    for target in sorted({one.target_bytes for one in measured}):
        here = [one for one in measured if one.target_bytes == target]
        figures: dict[str, float | str] = {"steps": float(len(here)), "parts": float(sum(one.parts for one in here))}
        figures["highest peak GiB"] = max(one.peak_bytes for one in here) / 2**30
        yield Row(f"{target / 2**30:g} GiB", figures | dict(summary(here)))
