"""A step in parts: whatever is cut, replayed or spread over ranks, the gradient is that of the whole step."""

from pathlib import Path

import pytest
import torch

from deg_core.artifacts import Home
from deg_core.model.network import Network
from deg_core.pools.example import Example
from deg_core.training.losses import TERMS
from deg_core.training.memory import MemoryPlan
from deg_core.training.optimizer import Gradients
from deg_core.training.parts import FEATURES, Part, split
from deg_core.training.setup import build_network, trainable_groups
from deg_core.training.step import StepAbandoned, run_part, run_step, step_counts
from tests.training import tolerances

WEIGHTS = dict.fromkeys(TERMS, 1.0) | {"count": 0.5}
CPU_ERROR = "[enforce fail] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes."


class Bench:
    """A network, its gradients and a plan without limit."""

    def __init__(self, network: Network, gradients: Gradients):
        self.network, self.gradients = network, gradients
        self.plan = MemoryPlan(network.backbone.shape, 0.0, dict.fromkeys(FEATURES, 1.0), float("inf"))

    def flat(self) -> torch.Tensor:
        """The whole gradient, float32; clears it."""
        self.gradients.finish()
        pieces = [self.gradients.read(i, 0, t.numel()).clone() for i, t in enumerate(self.gradients.tensors)]
        self.gradients.clear()
        return torch.cat(pieces)

    def step(self, examples: list[Example], seen: list[Part], **options):
        counts = options.pop("counts", step_counts(examples))
        return run_step(
            self.network, examples, counts, WEIGHTS, self.gradients, self.plan, observe=seen.append, **options
        )


@pytest.fixture(params=["base", "adapter"])
def bench(request: pytest.FixtureRequest, settings, tiny_base: Path, tmp_path: Path) -> Bench:
    """Adapters that read the forks only, and adapters that read contexts too, so that trunks have a gradient."""
    chosen = settings(lora_context=request.param, dtype="float32")
    network = build_network(chosen, tiny_base, None, Home(tmp_path), torch.device("cpu"), torch.float32)
    with torch.no_grad():
        random = torch.Generator().manual_seed(5)
        for _, up in network.adapters.values():
            up.copy_(torch.randn(up.shape, generator=random) * 0.02)
    return Bench(network, Gradients(trainable_groups(network, chosen)))


def same(found: torch.Tensor, expected: torch.Tensor) -> bool:
    return bool((found - expected).abs().max() <= tolerances.GRADIENT * expected.abs().max())


def answered(parts: list[Part]) -> list[tuple[str, int]]:
    return sorted((e.uid, j) for part in parts for e, c in zip(part.examples, part.forks, strict=True) for j in c)


def unsplit(bench: Bench, examples: list[Example]) -> tuple[torch.Tensor, dict[str, float]]:
    seen: list[Part] = []
    result = bench.step(examples, seen)
    assert (len(seen), result.oom_splits) == (1, 0)
    gradient = bench.flat()
    assert gradient.abs().max() > 0
    return gradient, result.losses


def test_planned_parts_add_up_to_the_whole(bench: Bench, examples: list[Example]):
    expected, losses = unsplit(bench, examples)
    bench.plan.target_bytes = bench.plan.estimate(Part.whole(examples)) / 9
    seen: list[Part] = []
    result = bench.step(examples, seen)
    assert result.parts == sum(any(part.forks) for part in seen) > 5
    assert result.losses == pytest.approx(losses, rel=tolerances.GRADIENT)
    assert same(bench.flat(), expected)


class FailingForward:
    """Forwards of more than `most` forks run out of memory."""

    def __init__(self, network: Network, most: int, error: Exception):
        self.calls, self.failures = 0, 0
        self._answer, self._most, self._error = network.answer, most, error

    def __call__(self, reading, forks, *, exact):
        self.calls += 1
        outputs = self._answer(reading, forks, exact=exact)
        if len(forks) > self._most:
            self.failures += 1
            raise self._error
        return outputs


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("CUDA out of memory."), RuntimeError(CPU_ERROR), MemoryError()]
)
def test_a_forward_without_memory_is_replayed_in_halves(
    bench: Bench, examples: list[Example], error: Exception, monkeypatch: pytest.MonkeyPatch
):
    expected, losses = unsplit(bench, examples)
    failing = FailingForward(bench.network, 3, error)
    monkeypatch.setattr(bench.network, "answer", failing)
    seen: list[Part] = []
    result = bench.step(examples, seen)
    assert result.oom_splits == failing.failures > 4
    assert answered(seen) == answered([Part.whole(examples)])
    assert result.losses == pytest.approx(losses, rel=tolerances.GRADIENT)
    assert same(bench.flat(), expected)


@pytest.mark.parametrize("failures", [1, 3])
def test_a_backward_without_memory_leaves_no_partial_gradient(bench: Bench, examples: list[Example], failures: int):
    """The error comes from inside autograd when later layers already hold gradients; also in later parts of a step."""
    expected, _ = unsplit(bench, examples)
    first_layer = next(iter(bench.network.adapters.values()))[0]
    left = failures

    def hook(gradient: torch.Tensor) -> torch.Tensor:
        nonlocal left
        left -= 1
        if left >= 0:
            raise RuntimeError(CPU_ERROR)
        return gradient

    handle = first_layer.register_hook(hook)
    seen: list[Part] = []
    result = bench.step(examples, seen)
    handle.remove()
    assert result.oom_splits == failures
    assert answered(seen) == answered([Part.whole(examples)])
    assert same(bench.flat(), expected)


def test_a_part_that_never_fits_abandons_the_step_without_gradients(
    bench: Bench, examples: list[Example], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(bench.network, "answer", FailingForward(bench.network, 0, MemoryError()))
    with pytest.raises(StepAbandoned):
        bench.step(examples, [])
    assert bench.gradients.parts == 0
    assert all(tensor.grad is None for tensor in bench.gradients.tensors)


def test_other_errors_are_not_taken_for_memory(bench: Bench, examples: list[Example]):
    def broken(*_):
        raise RuntimeError("shapes cannot be multiplied")

    with pytest.raises(RuntimeError, match="multiplied"):
        bench.step(examples, [], run=broken)


def test_ranks_with_common_counts_sum_to_one_batch(bench: Bench, examples: list[Example]):
    expected, losses = unsplit(bench, examples)
    counts = step_counts(examples)
    first = bench.step(examples[:2], [], counts=counts)
    gradient = bench.flat()
    second = bench.step(examples[2:], [], counts=counts)
    assert same(gradient + bench.flat(), expected)
    for term, loss in losses.items():
        assert first.losses[term] + second.losses[term] == pytest.approx(loss, rel=tolerances.GRADIENT)


def test_halves_of_one_record_add_up(bench: Bench, examples: list[Example]):
    counts = step_counts(examples[:1])
    whole = Part.whole(examples[:1])
    sums = run_part(bench.network, whole, counts, WEIGHTS)
    expected = bench.flat()
    halves = split(whole)
    found = [run_part(bench.network, half, counts, WEIGHTS) for half in halves]
    assert same(bench.flat(), expected)
    for term, value in sums.items():
        assert sum(half.get(term, 0.0) for half in found) == pytest.approx(value, rel=tolerances.GRADIENT)
