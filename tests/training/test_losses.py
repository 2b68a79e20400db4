"""Every loss against its formula, spelled out; and the losses beside the model's own."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from deg_core.artifacts import Home
from deg_core.model.heads import CountLogits, SpanLogits
from deg_core.model.network import Network
from deg_core.pools.example import Example, Fork
from deg_core.training.divergence import BaseDivergence
from deg_core.training.job import TrainJob
from deg_core.training.loop import Trainer
from deg_core.training.losses import KL_ROWS, LM_KL_BASE, TERMS, base_kl, fork_losses, term_items
from deg_core.training.memory import MemoryPlan
from deg_core.training.norms import loss_norms
from deg_core.training.optimizer import Gradients
from deg_core.training.parts import FEATURES, Part
from deg_core.training.setup import build_network, part_runner, trainable_groups
from deg_core.training.step import run_step, step_counts

IDS = np.arange(6, dtype=np.int32)
# float32 sums in another order
TOLERANCE = 1e-5


def fork(kind: str, **keys) -> Fork:
    return Fork(kind=kind, field="/x", ids=IDS, **keys)


def one_hot(index: int) -> np.ndarray:
    target = np.zeros(65, np.float32)
    target[index] = 1
    return target


def random(*shape: int, seed: int = 1) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.fixture
def network(settings, tiny_base: Path, tmp_path: Path) -> Network:
    return moved(build_network(settings(), tiny_base, None, Home(tmp_path), torch.device("cpu"), torch.float32))


def moved(network: Network) -> Network:
    """The network with adapters that change what it says."""
    for number, (_, up) in enumerate(network.adapters.values()):
        up.copy_(random(*up.shape, seed=number) * 0.05)
    return network


def test_decide_is_the_divergence_from_the_target_and_its_kinds_are_counted_apart(network: Network):
    target, logits = np.array([0.5, 0.25, 0.25, 0], np.float32), random(4).requires_grad_()
    for kind in ("choice", "score", "noul"):
        asked = fork(kind, target=target)
        losses = fork_losses(network, asked, logits)
        expected = sum(p * (np.log(p) - logits.log_softmax(0)[i].item()) for i, p in enumerate(target) if p)
        assert losses.keys() == term_items(asked).keys() == {"decide", kind}
        assert losses["decide"].item() == losses[kind].item() == pytest.approx(expected, rel=TOLERANCE)
        assert losses["decide"].requires_grad and not losses[kind].requires_grad


@pytest.mark.parametrize(("by_place", "term"), [(False, "count"), (True, "anchor_count")])
def test_lengths_of_arrays_named_by_place_are_a_term_of_their_own(network: Network, by_place: bool, term: str):
    output = CountLogits(random(65), random(40, seed=2))
    spans = np.array([[3, 9], [9, 40]], np.int32)
    asked = fork("count", target=one_hot(2), bounds=(1, 7), spans=spans, by_place=by_place)
    losses = fork_losses(network, asked, output)
    assert losses.keys() == term_items(asked).keys() == {term, "anchor"}
    assert losses[term].item() == pytest.approx(-output.lengths[1:8].log_softmax(0)[1].item(), rel=TOLERANCE)
    at = torch.zeros(40)
    at[[3, 9]] = 1
    chances = output.anchors.sigmoid()
    expected = -(at * chances.log() + (1 - at) * (1 - chances).log()).sum() / 3
    assert losses["anchor"].item() == pytest.approx(expected.item(), rel=TOLERANCE)


def test_the_last_length_means_that_many_or_more(network: Network):
    spans = np.stack([np.arange(70), np.arange(1, 71)], 1).astype(np.int32)
    asked = fork("count", target=one_hot(64), spans=spans, by_place=True)
    output = CountLogits(random(65), random(80, seed=2))
    losses = fork_losses(network, asked, output)
    assert losses["anchor_count"].item() == pytest.approx(-output.lengths.log_softmax(0)[64].item(), rel=TOLERANCE)
    assert term_items(fork("count", target=one_hot(64), spans=spans)) == {"count": 1}


def test_anchors_are_held_against_tokens_of_their_region_alone(network: Network):
    anchors = random(10)
    anchors[:4] = float("-inf")
    asked = fork("count", target=one_hot(0), spans=np.zeros((0, 2), np.int32), by_place=True)
    loss = fork_losses(network, asked, CountLogits(random(65), anchors))["anchor"]
    assert loss.item() == pytest.approx(-(1 - anchors[4:].sigmoid()).log().sum().item(), rel=TOLERANCE)


def outcomes(logits: SpanLogits) -> tuple[dict[tuple[int, int], float], float]:
    """The logit of every span of a short text, and the log of the sum over them and null."""
    spans = {
        (i, j): float(logits.start[i] + logits.end[j - 1] - logits.cut[i + 1 : j].sum())
        for i, j in itertools.combinations(range(len(logits.start) + 1), 2)
    }
    return spans, torch.tensor([*spans.values(), float(logits.null)]).logsumexp(0).item()


@pytest.mark.parametrize("weights", [None, [0.7, 0.0, 0.3]])
def test_spans_are_alternatives_or_a_soft_target(network: Network, weights: list[float] | None):
    logits = SpanLogits(random(9), random(9, seed=2), random(9, seed=3).abs(), torch.tensor(0.3))
    spans, total = outcomes(logits)
    gold = [(1, 3), (2, 6), (4, 9)]
    soft = np.asarray(weights or [], np.float32)
    loss = fork_losses(network, fork("extract", spans=np.array(gold, np.int32), span_weights=soft), logits)["extract"]
    scores = np.array([spans[span] - total for span in gold])
    expected = -np.log(np.exp(scores).sum()) / 2 if weights is None else -(soft * scores).sum() / 2
    assert loss.item() == pytest.approx(float(expected), rel=TOLERANCE)
    null = fork_losses(network, fork("extract"), logits)["extract"]
    assert null.item() == pytest.approx((total - 0.3) / 2, rel=TOLERANCE)


def test_text_is_scored_token_by_token(network: Network):
    hidden = random(6, network.backbone.shape.hidden)
    loss = fork_losses(network, fork("generate", lm_start=3), hidden)["lm"]
    logs = network.lm_logits(hidden).log_softmax(-1)
    assert loss.item() == pytest.approx(-sum(float(logs[i - 1, i]) for i in (3, 4, 5)), rel=TOLERANCE)
    assert term_items(fork("generate", lm_start=3)) == {"lm": 3}


@pytest.mark.parametrize("rows", [1, KL_ROWS, KL_ROWS + 3])
def test_divergence_in_blocks_is_that_of_all_rows(network: Network, rows: int):
    own, frozen = (random(rows, network.backbone.shape.hidden, seed=s) for s in (1, 2))
    first, second = own.clone().requires_grad_(), own.clone().requires_grad_()
    found = base_kl(network, first, frozen)
    base, model = (network.lm_logits(h).double().log_softmax(-1) for h in (frozen, second))
    expected = (base.exp() * (base - model)).sum()
    assert found.item() == pytest.approx(expected.item(), rel=TOLERANCE)
    found.backward()
    expected.backward()
    assert torch.allclose(first.grad, second.grad, rtol=1e-4, atol=1e-6 * float(second.grad.abs().max()))
    assert base_kl(network, own, own).item() == pytest.approx(0, abs=1e-4)


class Bench:
    """Steps of a network with a runner of parts, with or without a limit of memory."""

    def __init__(self, network: Network, settings, base: Path):
        groups = trainable_groups(network, settings)
        self.network, self.settings, self.gradients = network, settings, Gradients(groups)
        self.trunk_tensors = len(groups[0].tensors)
        self.run = part_runner(network, settings, base)
        self.plan = MemoryPlan(network.backbone.shape, 0.0, dict.fromkeys(FEATURES, 1.0), float("inf"))

    def step(self, examples: list[Example], weights: dict[str, float]):
        counts = step_counts(examples)
        counts[LM_KL_BASE] = counts["lm"]
        return run_step(self.network, examples, counts, weights, self.gradients, self.plan, run=self.run)

    def flat(self) -> torch.Tensor:
        self.gradients.finish()
        pieces = [self.gradients.read(i, 0, t.numel()).clone() for i, t in enumerate(self.gradients.tensors)]
        self.gradients.clear()
        return torch.cat(pieces)


ONLY_KL = dict.fromkeys(TERMS, 0.0) | {LM_KL_BASE: 1.0}


@pytest.fixture(params=["base", "adapter", "full"])
def bench(request: pytest.FixtureRequest, settings, tiny_base: Path, tmp_path: Path) -> Bench:
    """Adapters on the forks alone, adapters on contexts too, and every weight trained; none moved yet."""
    changes = {"lora_rank": 0} if request.param == "full" else {"lora_context": request.param}
    chosen = settings(lm_kl_base=0.5, dtype="float32", **changes)
    network = build_network(chosen, tiny_base, None, Home(tmp_path), torch.device("cpu"), torch.float32)
    return Bench(network, chosen, tiny_base)


def move(bench: Bench) -> None:
    with torch.no_grad():
        if bench.network.adapters:
            moved(bench.network)
        else:
            for number, tensor in enumerate(bench.gradients.tensors[: bench.trunk_tensors]):
                tensor.add_(random(*tensor.shape, seed=number) * 0.01)


def test_a_network_that_did_not_move_is_the_base(bench: Bench, examples: list[Example]):
    result = bench.step(examples, ONLY_KL)
    assert result.sums[LM_KL_BASE] == pytest.approx(0, abs=1e-3)
    move(bench)
    assert bench.step(examples, ONLY_KL).sums[LM_KL_BASE] > 0.05


def test_divergence_follows_its_gradient(bench: Bench, examples: list[Example]):
    """The loss falls along the gradient by as much as the gradient says (a central difference in float32)."""
    move(bench)
    bench.step(examples, ONLY_KL)
    gradient = bench.flat()
    length = float(gradient.norm())
    assert length > 0
    losses = []
    for side in (1, -2):
        step = side * 1e-3 / length
        with torch.no_grad():
            for tensor, piece in zip(
                bench.gradients.tensors, gradient.split([t.numel() for t in bench.gradients.tensors]), strict=True
            ):
                tensor.add_(piece.view_as(tensor) * step)
        losses.append(bench.step(examples, ONLY_KL).sums[LM_KL_BASE] / step_counts(examples)["lm"])
        bench.gradients.clear()
    assert (losses[0] - losses[1]) / 2e-3 == pytest.approx(length, rel=0.05)


def test_divergence_of_parts_adds_up(bench: Bench, examples: list[Example]):
    move(bench)
    weights = dict.fromkeys(TERMS, 1.0) | {LM_KL_BASE: 3.0}
    whole = bench.step(examples, weights)
    expected = bench.flat()
    bench.plan.target_bytes = bench.plan.estimate(Part.whole(examples)) / 5
    parts = bench.step(examples, weights)
    assert (
        parts.parts > 3
        and parts.shared_trunks > 0
        and parts.sums[LM_KL_BASE] == pytest.approx(whole.sums[LM_KL_BASE], rel=TOLERANCE)
    )
    assert (bench.flat() - expected).abs().max() <= TOLERANCE * expected.abs().max()


def test_without_divergence_nothing_else_runs(settings, network: Network, tiny_base: Path):
    assert not isinstance(part_runner(network, settings(), tiny_base), BaseDivergence)


def test_the_norm_of_each_loss_is_that_of_a_step_with_it_alone(bench: Bench, examples: list[Example]):
    weights = dict.fromkeys(TERMS, 0.0) | {"decide": 1.0, "lm": 0.25, "count": 0.0, LM_KL_BASE: 0.5}
    move(bench)
    counts = step_counts(examples) | {LM_KL_BASE: step_counts(examples)["lm"]}
    norms = loss_norms(lambda w: bench.step(examples, w), weights, counts, bench.gradients, bench.trunk_tensors)
    assert norms.keys() == {"decide", "lm", LM_KL_BASE}
    assert bench.gradients.parts == 0 and all(t.grad is None for t in bench.gradients.tensors)
    size = sum(t.numel() for t in bench.gradients.tensors[: bench.trunk_tensors])
    for term, norm in norms.items():
        bench.step(examples, dict.fromkeys([*TERMS, LM_KL_BASE], 0.0) | {term: weights[term]})
        assert norm == pytest.approx(float(bench.flat()[:size].double().norm()), rel=TOLERANCE) and norm > 0


def test_the_log_has_the_kinds_the_divergence_and_the_norms(job: Callable[..., TrainJob]):
    asked = job(steps=4, lm_kl_base=0.1, loss_gnorm_every=2, record_fork_tokens=150)
    Trainer(asked, say=lambda _: None).train()
    entries = [json.loads(line) for line in (asked.folder / "log.jsonl").read_text().splitlines()]
    steps = [entry for entry in entries if entry["event"] == "step"]
    norms = [entry for entry in entries if entry["event"] == "loss_gnorm"]
    assert len(steps) == 4 and [entry["step"] for entry in norms] == [2, 4]
    assert all(norm["decide"] > 0 and "choice" not in norm for norm in norms)
    seen = set().union(*steps)
    assert {"loss_decide", "loss_noul", "loss_choice", "subsampled_records", "subsampled_forks"} <= seen
    trained = ("decide", "extract", "anchor", "lm")
    for entry in steps:
        weighted = 0.5 * entry.get("loss_count", 0) + 0.1 * entry.get("loss_lm_kl_base", 0)
        weighted += sum(entry.get(f"loss_{term}", 0) for term in trained)
        assert entry["loss"] == pytest.approx(weighted, rel=TOLERANCE)
        assert (LM_KL_BASE in {k.removeprefix("loss_") for k in entry}) == ("loss_lm" in entry)
    plain = job(steps=4)
    assert plain.settings.lm_kl_base == plain.settings.loss_gnorm_every == 0


def test_norms_are_looked_at_without_changing_the_run(job: Callable[..., TrainJob], tmp_path: Path):
    found = []
    for number, every in enumerate((0, 1)):
        asked = job(steps=3, loss_gnorm_every=every)
        asked.folder = tmp_path / str(number)
        asked.folder.mkdir()
        trainer = Trainer(asked, say=lambda _: None)
        trainer.train()
        found.append([half for pair in trainer.network.adapters.values() for half in pair])
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))
