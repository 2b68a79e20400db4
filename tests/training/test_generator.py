"""Training a generator end to end, validation losses, early ends, and what stays frozen."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from deg_core.artifacts import Home
from deg_core.config import GeneratorSettings, PoolSettings, SourceSettings, TrainSettings
from deg_core.contract.errors import InputError
from deg_core.model.checkpoint import read_meta
from deg_core.model.heads import Heads
from deg_core.model.model import load_model
from deg_core.model.tokens import Tokens
from deg_core.pools.build import build_pools
from deg_core.pools.draw import Drawer
from deg_core.pools.store import Pool
from deg_core.progress import Silent
from deg_core.runtime.engine import fill
from deg_core.steps import written
from deg_core.training.generator import train_generator
from deg_core.training.job import TrainJob
from deg_core.training.loop import Trainer
from deg_core.training.run import train
from deg_core.training.validation import Course
from tests.model import tiny
from tests.pools.conftest import SCHEMA, make_record, to_lines

CONTEXT = make_record(1)["context"]


@pytest.fixture(autouse=True)
def machine_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEG_MACHINE_LOCK", str(tmp_path / "machine.lock"))


@pytest.fixture
def texts(tiny_base: Path, tmp_path: Path) -> Path:
    """A pool of generated texts; one record is too long for its field's budget, one was judged out."""
    longer = make_record(50)
    longer["schema"] = json.loads(json.dumps(SCHEMA))
    longer["schema"]["properties"]["summary"]["x-max-tokens"] = 2
    records = [make_record(number) for number in range(40)]
    records += [longer, make_record(60, judge={"/summary": {"faithful": 1, "responsive": 2, "kept": True}})]
    path = tmp_path / "records.jsonl"
    path.write_bytes(to_lines(records))
    settings = written(PoolSettings(sources=(SourceSettings(records=str(path)),), base=str(tiny_base)))
    (manifest,) = build_pools(settings, Home(tmp_path / "home"), Silent())
    return manifest.path


def test_a_pool_of_texts_holds_nothing_else(texts: Path):
    pool = Pool.open(texts)
    forks = [fork for index in range(len(pool)) for fork in pool.example(index).forks]
    assert {fork.kind for fork in forks} == {"generate"} and len(forks) == 40
    figures = pool.manifest.figures
    assert (figures["left_out.over_budget"], figures["left_out.judged_out"]) == (1, 1)
    assert pool.layout.gen_layout == "chat" and pool.forks == "generate"


def test_filler_around_a_pool_of_texts_asks_for_nothing_else(texts: Path, tiny_base: Path, tmp_path: Path):
    others = []
    for number in range(100, 110):
        text = {"type": "string", "x-generate": True}
        schema = {"type": "object", "properties": {"remark": text}, "required": ["remark"]}
        others.append(make_record(number, split="train", schema=schema, value={"remark": "Fine."}, spans={}))
    path = tmp_path / "others.jsonl"
    path.write_bytes(to_lines(others))
    shape = written(PoolSettings(sources=(SourceSettings(records=str(path)),), base=str(tiny_base)))
    (manifest,) = build_pools(shape, Home(tmp_path / "home"), Silent())
    settings = TrainSettings(base=str(tiny_base), init="fresh", filler_frac=1.0, filler_max_tokens=200)
    pools = [(Pool.open(texts), 1.0), (Pool.open(manifest.path), 1e-9)]
    drawer = Drawer(pools, settings, 6000, 1, Tokens.load(tiny_base))
    drawn = [example for step in range(4) for example in drawer.draw(step)]
    assert drawer.counts["filler"] > 0 and drawer.counts["filler_negative"] == 0
    assert {fork.kind for example in drawn for fork in example.forks} == {"generate"}


@pytest.mark.slow
def test_a_generator_trains_is_found_again_and_writes(texts: Path, tiny_base: Path, tmp_path: Path):
    home = Home(tmp_path / "home")
    settings = GeneratorSettings(
        base=str(tiny_base), steps=24, budget_tokens=700, lr=2e-2, lora_rank=8, save_every=6, device="cpu"
    )
    manifest = train_generator(settings, [texts], home, Silent())
    assert sorted(manifest.files) == ["generator.json", "lora.safetensors"]
    assert train_generator(settings, [texts], home, Silent()).cached
    (log,) = (home.root / "generator_runs").glob("*/log.jsonl")
    losses = [e["val_loss"] for e in map(json.loads, log.read_text().splitlines()) if e["event"] == "val"]
    assert len(losses) == 4 and losses == sorted(losses, reverse=True) and losses[-1] < losses[0] - 0.3
    _, _, checkpoint = tiny.write_checkpoint(tmp_path / "checkpoint", tiny_base, rank=4)
    found = [
        fill(load_model(checkpoint, dtype="float32", generate=who, home=home), CONTEXT, SCHEMA)["value"]
        for who in ("base", f"base+lora:{manifest.path}")
    ]
    assert found[0].pop("summary") != found[1].pop("summary")
    assert found[0] == found[1]


def test_other_pools_make_no_generator(pool: Path, tiny_base: Path, tmp_path: Path):
    with pytest.raises(InputError, match="forks: generate, gen_layout: chat"):
        train_generator(GeneratorSettings(base=str(tiny_base)), [pool], Home(tmp_path / "home"), Silent())


def test_a_course_ends_when_it_was_patient_enough():
    losses = {2: 3.0, 4: 2.0, 6: 2.5, 8: 2.0}
    assert Course(2, losses).best == 4 and Course(2, losses).over
    assert not Course(3, losses).over and not Course(0, losses).over and not Course(2, {}).over
    assert Course(1, {}).best is None


@pytest.mark.slow
def test_a_run_ends_early_on_its_best_checkpoint(settings: Callable[..., TrainSettings], pool: Path, tmp_path: Path):
    """A rate that is far too high: no save is better than the first."""
    chosen = settings(steps=40, save_every=2, lr_trunk=0.5, lr_heads=0.5, val_records=4, patience=3)
    home = Home(tmp_path / "home")
    run = train(chosen, [pool], home, Silent())
    entries = [json.loads(line) for line in (run.path / "log.jsonl").read_text().splitlines()]
    losses = {entry["step"]: entry["val_loss"] for entry in entries if entry["event"] == "val"}
    best = min(losses, key=losses.__getitem__)
    assert run.counts["steps"] == best + 6 < 40 and run.counts["skipped_steps"] == 0
    assert read_meta(run.path / "checkpoint").step == best
    assert run.figures["val_loss"] == losses[best] and run.figures["val_loss_step"] == best
    assert not (run.path / "best").exists()


def test_validation_is_the_loss_of_training(job: Callable[..., TrainJob]):
    """With a rate of almost nothing the validation loss is that of a step over the same records."""
    trainer = Trainer(job(steps=2, lr_trunk=1e-12, lr_heads=1e-12, val_records=4), lambda line: None)
    trainer.drawer.draw = lambda *_: trainer.checked
    trainer.train()
    entries = [json.loads(line) for line in (trainer.job.folder / "log.jsonl").read_text().splitlines()]
    step, checked = entries[-2], entries[-1]
    assert checked["event"] == "val" and step["event"] == "step"
    for name in ("loss", "loss_decide", "loss_extract", "loss_count", "loss_lm"):
        assert checked[f"val_{name}"] == pytest.approx(step[name], rel=1e-5)


def test_a_course_is_read_up_to_the_last_whole_point(tmp_path: Path):
    """What was written after a saved point, a torn line above all, is not part of it."""
    log = tmp_path / "log.jsonl"
    point = b'{"event": "step", "step": 2, "loss": 1.0}\n{"event": "val", "step": 2, "val_loss": 3.0}\n'
    log.write_bytes(point + b'{"event": "val", "step": 4, "val_loss": 2.0}\n{"event": "val", "step"')
    assert Course.of_log(log, 1, len(point)).losses == {2: 3.0}
    assert Course.of_log(tmp_path / "absent", 1).losses == {}


def test_patience_needs_validation(settings: Callable[..., TrainSettings]):
    with pytest.raises(ValueError, match=r"set train\.val_records"):
        settings(patience=2)


@pytest.mark.parametrize("rank", [0, 4])
def test_a_frozen_backbone_stays_as_it_is(rank: int, job: Callable[..., TrainJob]):
    trainer = Trainer(job(steps=2, lora_rank=rank, freeze_backbone=True, lr_heads=1e-2), lambda line: None)
    network = trainer.network
    halves = [half for pair in network.adapters.values() for half in pair]
    trunk = [*network.backbone.weights.values(), *halves]
    before, heads = [tensor.clone() for tensor in trunk], [p.clone() for p in network.heads.parameters()]
    trainer.train()
    assert all(torch.equal(one, other) for one, other in zip(before, trunk, strict=True))
    assert not any(tensor.requires_grad for tensor in trunk)
    assert not all(torch.equal(one, other) for one, other in zip(heads, network.heads.parameters(), strict=True))


def test_heads_start_where_they_are_told(job: Callable[..., TrainJob], tiny_base: Path, tmp_path: Path):
    def heads(**changes) -> Heads:
        return Trainer(job(**changes), lambda line: None).network.heads

    assert float(heads().choice.readout_scale) > 0
    random = heads(init_heads="random")
    assert float(random.choice.readout_scale) == float(random.score.readout_scale) == 0
    assert not torch.equal(random.noul.weight, heads(init_heads="readout").noul.weight)
    network, _, checkpoint = tiny.write_checkpoint(tmp_path / "given", tiny_base, rank=4)
    assert torch.equal(heads(init_heads=str(checkpoint)).extract.left.weight, network.heads.extract.left.weight)
    with pytest.raises(InputError, match="no checkpoint"):
        heads(init_heads=str(tmp_path / "nothing"))
