"""The loop: what was killed continues to the same bits, and what does not fit is redrawn, then skipped."""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from deg_core.artifacts import Home, Manifest
from deg_core.config import TrainSettings
from deg_core.contract.errors import DegError
from deg_core.model.checkpoint import read_meta
from deg_core.progress import Silent
from deg_core.training import loop
from deg_core.training.job import TrainJob
from deg_core.training.loop import MAX_SKIPPED_STEPS, Trainer, draw_seed
from deg_core.training.run import train
from deg_core.training.step import start_anew

STEPS = 5
WEIGHTS = ("adapters.safetensors", "heads.safetensors")


def lines(folder: Path, name: str = "log.jsonl") -> list[dict]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def children(pid: int) -> list[int]:
    """Process ids started by any thread of a process, and theirs."""
    own = [int(c) for path in Path(f"/proc/{pid}/task").glob("*/children") for c in path.read_text().split()]
    return own + [below for child in own for below in children(child)]


def workers() -> list[int]:
    """The training processes below this one, launchers apart."""
    found = []
    for pid in children(os.getpid()):
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if command[1:3] == [b"-m", b"deg_core.training.worker"]:
            found.append(pid)
    return found


class Killer(Silent):
    """Kills one training process once a step is done; the last rank, where there are several."""

    def __init__(self, step: int):
        self.step, self.killed = step, False

    @contextmanager
    def bar(self, description: str, total: float | None):
        del description, total
        done = 0.0
        killer = self

        class _Bar:
            def advance(self, n: float = 1, note: str = "") -> None:
                nonlocal done
                done += n
                if done >= killer.step and not killer.killed:
                    killer.killed = True
                    os.kill(max(workers()), signal.SIGKILL)

        yield _Bar()


class Run:
    """Trains in a home of its own."""

    def __init__(self, settings: TrainSettings, pool: Path, root: Path):
        self.settings, self.pool, self.home = settings, pool, Home(root)

    def train(self, progress: Silent | None = None) -> Manifest:
        return train(self.settings, [self.pool], self.home, progress or Silent())


@pytest.fixture
def machine_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEG_MACHINE_LOCK", str(tmp_path / "machine.lock"))


@pytest.mark.slow
@pytest.mark.parametrize("nproc", [1, 2])
def test_a_killed_run_continues_to_the_same_bits(
    nproc: int, settings: Callable[..., TrainSettings], pool: Path, tmp_path: Path, machine_lock: None
):
    chosen = settings(steps=STEPS, nproc=nproc)
    unbroken = Run(chosen, pool, tmp_path / "unbroken").train()
    step = random.randrange(1, STEPS)
    broken = Run(chosen, pool, tmp_path / "broken")
    killer = Killer(step)
    with pytest.raises(DegError, match="status"):
        broken.train(killer)
    assert killer.killed
    continued = broken.train()
    for name in WEIGHTS:
        assert (continued.path / "checkpoint" / name).read_bytes() == (
            unbroken.path / "checkpoint" / name
        ).read_bytes(), f"{name} differs after a kill at step {step}"
    for one, other in zip(lines(continued.path), lines(unbroken.path), strict=True):
        assert [one[key] for key in ("step", "loss", "records", "tokens")] == [
            other[key] for key in ("step", "loss", "records", "tokens")
        ], f"killed at step {step}"
    assert continued.counts == unbroken.counts
    assert continued.counts["steps"] == STEPS
    assert not list(continued.path.glob("step-*"))
    assert read_meta(continued.path / "checkpoint").step == STEPS
    assert Run(chosen, pool, tmp_path / "broken").train().cached


class Trained:
    """A trainer in this process whose reads can be made to run out of memory."""

    def __init__(self, job: TrainJob):
        self.said: list[str] = []
        self.trainer = Trainer(job, self.said.append)
        self.read = self.trainer.network.read
        self.drawn: list[tuple[int, int, tuple[str, ...]]] = []
        self.draw = self.trainer.drawer.draw
        self.trainer.drawer.draw = self._draw

    def _draw(self, step: int, rank: int, world: int, redraw: int):
        examples = self.draw(step, rank, world, redraw)
        self.drawn.append((step, redraw, tuple(example.uid for example in examples)))
        return examples

    def fail_on(self, wrong: Callable[[int, int], bool]) -> None:
        """Reads of a draw (step, redraw) that is wrong run out of memory."""

        def read(contexts, *, exact):
            if wrong(*self.drawn[-1][:2]):
                raise MemoryError
            return self.read(contexts, exact=exact)

        self.trainer.network.read = read

    def weights(self) -> torch.Tensor:
        return torch.cat([tensor.detach().float().flatten() for tensor in self.trainer.master.gradients.tensors])


def events(folder: Path) -> list[tuple]:
    return [(e["event"], e.get("step"), e.get("redraw")) for e in lines(folder)]


def test_a_step_that_does_not_fit_is_redrawn(job: Callable[..., TrainJob]):
    trained = Trained(job(steps=2))
    trained.fail_on(lambda step, redraw: step == 1 and redraw < 2)
    trained.trainer.train()
    assert events(trained.trainer.job.folder) == [
        ("step", 1, None),
        ("oom_skip", 1, 0),
        ("oom_skip", 1, 1),
        ("step", 2, None),
    ]
    redraws = [uids for step, _, uids in trained.drawn if step == 1]
    assert len(set(redraws)) == 3


def test_a_step_that_never_fits_is_skipped_and_changes_nothing(job: Callable[..., TrainJob]):
    trained = Trained(job(steps=3, oom_max_redraws=1))
    trained.fail_on(lambda step, _: step > 0)
    after_first: list[torch.Tensor] = []
    log = trained.trainer._log

    def spy(step, *rest):
        if step == 0:
            after_first.append(trained.weights())
        log(step, *rest)

    before = trained.weights()
    trained.trainer._log = spy
    trained.trainer.train()
    assert not torch.equal(before, after_first[0])
    assert torch.equal(trained.weights(), after_first[0])
    skipped = [("oom_skip", 1, 0), ("oom_skip", 1, 1), ("oom_step_skipped", 1, None)]
    skipped += [("oom_skip", 2, 0), ("oom_skip", 2, 1), ("oom_step_skipped", 2, None)]
    assert events(trained.trainer.job.folder) == [("step", 1, None), *skipped]
    assert trained.trainer.master.clock.updates == [1, 1]


def test_a_run_that_skips_all_the_time_says_what_to_change(job: Callable[..., TrainJob]):
    trained = Trained(job(steps=50, oom_max_redraws=0))
    trained.fail_on(lambda *_: True)
    with pytest.raises(DegError, match=r"train\.budget_tokens.*train\.target_gib"):
        trained.trainer.train()
    assert len(trained.drawn) == MAX_SKIPPED_STEPS + 1


def test_a_step_whose_gradient_is_not_finite_is_skipped(job: Callable[..., TrainJob]):
    trained = Trained(job(steps=1))
    before = trained.weights()
    trained.trainer.network.heads.noul.bias.register_hook(lambda gradient: gradient * float("nan"))
    trained.trainer.train()
    assert [e["event"] for e in lines(trained.trainer.job.folder)] == ["step_skipped"]
    assert torch.equal(trained.weights(), before)


def test_logs_say_what_each_step_did(job: Callable[..., TrainJob]):
    trained = Trained(job(steps=3))
    trained.trainer.train()
    folder = trained.trainer.job.folder
    for entry, (_, _, uids) in zip(lines(folder), trained.drawn, strict=True):
        assert entry["records"] == len(uids)
        assert 0 < entry["tokens"] <= 700
        assert entry["utilisation"] > 0 and entry["computed_per_s"] >= entry["tokens_per_s"] * 0.99
        assert entry["planner_scale"] > 0
        terms = {name.removeprefix("loss_"): entry[name] for name in entry if name.startswith("loss_")}
        assert {"decide", "extract", "count", "lm"} <= set(terms)
        assert entry["loss"] == pytest.approx(sum(trained.trainer.weights[term] * terms[term] for term in terms))
    measured = lines(folder, "mem.jsonl")
    assert len(measured) == sum(entry["parts"] for entry in lines(folder))
    assert all(entry["peak_bytes"] > 0 and entry["estimate_bytes"] > 0 for entry in measured)
    highest = max(entry["peak_bytes"] for entry in measured) / 2**30
    assert max(entry["peak_gib"] for entry in lines(folder)) == pytest.approx(highest, abs=1e-3)


@pytest.mark.parametrize(
    ("every", "target_gib", "released"), [(2, 8.0, [2, 4]), (100, 8.0, []), (100, 0.01, [1, 2, 3, 4, 5])]
)
def test_freed_memory_is_given_back_now_and_then_and_over_the_target(
    job: Callable[..., TrainJob], monkeypatch: pytest.MonkeyPatch, every: int, target_gib: float, released: list[int]
):
    trained = Trained(job(steps=STEPS, target_gib=target_gib))
    if trained.trainer.network.backbone.device.type != "cpu":
        pytest.skip("on a CPU alone the heap keeps what it freed")
    steps: list[int] = []

    def anew(plan, gradients, device) -> None:
        steps.append(len(lines(trained.trainer.job.folder)))
        start_anew(plan, gradients, device)

    monkeypatch.setattr(loop, "RELEASE_STEPS", every)
    monkeypatch.setattr(loop, "start_anew", anew)
    trained.trainer.train()
    assert steps == released


def test_full_fine_tuning_saves_the_backbone(job: Callable[..., TrainJob]):
    trained = Trained(job(steps=2, lora_rank=0, lr_trunk=1e-4, heads_only_steps=1))
    trained.trainer.train()
    checkpoint = trained.trainer.job.folder / "step-000002"
    assert sorted(path.name for path in checkpoint.iterdir()) == [
        "backbone.safetensors",
        "deg.json",
        "heads.safetensors",
    ]
    assert trained.trainer.master.clock.updates == [1, 2]
    embed = trained.trainer.network.backbone.weights["embed"]
    assert not embed.requires_grad


def test_learning_lowers_the_loss(job: Callable[..., TrainJob]):
    trained = Trained(job(steps=12, lr_trunk=3e-3, lr_heads=3e-3, save_every=100))
    trained.trainer.train()
    losses = [entry["loss"] for entry in lines(trained.trainer.job.folder)]
    assert sum(losses[-3:]) < 0.9 * sum(losses[:3])


def test_a_run_that_goes_on_draws_other_records(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        (folder / "heads").write_text(folder.name)
    seeds = [draw_seed(1, None), draw_seed(1, first), draw_seed(1, second), draw_seed(2, first)]
    assert len(set(seeds)) == 4 and seeds[0] == 1 and draw_seed(1, first) == seeds[1]
