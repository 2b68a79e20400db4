"""One trunk pass for the parts of a record, and long trunks in pieces: the gradient of the dense, unsplit step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from deg_core.pools.example import Example
from deg_core.training import trunk
from deg_core.training.losses import TERMS
from deg_core.training.measure import Design
from deg_core.training.parts import Part
from deg_core.training.step import StepAbandoned
from tests.model import tiny
from tests.training import tolerances
from tests.training.families import Trained, distance, records, write_bases

ROWS = 5
ERROR = "[enforce fail] . DefaultCPUAllocator: can't allocate memory: you tried to allocate 1 bytes."


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_bases(tmp_path_factory.mktemp("bases"))


@pytest.fixture(params=[(family, rank) for family in sorted(tiny.MODELS) for rank in (0, 4)], ids=str)
def trained(request: pytest.FixtureRequest, bases: dict[str, Path]) -> Trained:
    family, rank = request.param
    return Trained(bases[family], rank)


@pytest.fixture
def llama(bases: dict[str, Path]) -> Trained:
    return Trained(bases["llama"], 4)


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Lengths of the contexts that were read."""
    seen: list[int] = []
    inner = trunk.read_contexts

    def read(network, contexts, **options):
        seen.extend(map(len, contexts))
        return inner(network, contexts, **options)

    monkeypatch.setattr(trunk, "read_contexts", read)
    return seen


def answered(parts: list[Part]) -> list[tuple[str, int]]:
    return sorted((e.uid, j) for part in parts for e, c in zip(part.examples, part.forks, strict=True) for j in c)


def unsplit(trained: Trained, examples: list[Example]) -> tuple[list[torch.Tensor], dict[str, float]]:
    result = trained.step(examples)
    assert (result.parts, result.shared_trunks) == (1, 0)
    gradient = trained.taken()
    assert all(tensor.isfinite().all() for tensor in gradient)
    return gradient, result.losses


def test_parts_of_a_record_share_its_trunk_and_give_the_whole_gradient(trained: Trained, reads: list[int]):
    examples = records()
    expected, losses = unsplit(trained, examples)
    trained.fit_rows(ROWS)
    seen: list[Part] = []
    result = trained.step(examples, seen)
    shared = [example for example in examples if len(example.forks) > ROWS]
    assert result.shared_trunks == len(shared) >= 2
    assert result.parts > 2 * len(shared)
    assert answered(seen) == answered([Part.whole(examples)])
    assert reads == [len(example.context) for example in shared]
    assert result.computed_tokens == result.trunk_tokens + result.fork_tokens == sum(e.tokens for e in examples)
    assert result.losses == pytest.approx(losses, rel=tolerances.GRADIENT)
    assert distance(trained.taken(), expected) < tolerances.LAYERS


def test_a_trunk_that_does_not_train_is_shared_as_well(bases: dict[str, Path], reads: list[int]):
    trained = Trained(bases["llama"], 4)
    trained.network.context_adapted = False
    examples = records()
    expected, losses = unsplit(trained, examples)
    trained.fit_rows(ROWS)
    seen: list[Part] = []
    result = trained.step(examples, seen)
    assert len(seen) == result.parts
    assert reads == [len(example.context) for example in examples if len(example.forks) > ROWS]
    assert result.losses == pytest.approx(losses, rel=tolerances.GRADIENT)
    assert distance(trained.taken(), expected) < tolerances.GRADIENT


class Failing:
    """Calls of a function by number; those in `wrong` run out of memory after their work."""

    def __init__(self, inner: Callable, wrong: set[int]):
        self.inner, self.wrong, self.calls = inner, wrong, 0

    def __call__(self, *arguments, **options):
        found = self.inner(*arguments, **options)
        self.calls += 1
        if self.calls in self.wrong:
            raise RuntimeError(ERROR)
        return found


@pytest.mark.parametrize("wrong", [{1}, {2}, {3, 4}, {2, 3, 4}], ids=str)
def test_a_part_without_memory_ends_the_sharing(
    llama: Trained, reads: list[int], wrong: set[int], monkeypatch: pytest.MonkeyPatch
):
    """The parts before it count, it and those after it run one by one, and as halves where that fails too."""
    (example,) = records()[:1]
    expected, losses = unsplit(llama, [example])
    llama.fit_rows(ROWS)
    failing = Failing(llama.network.answer, wrong)
    monkeypatch.setattr(llama.network, "answer", failing)
    seen: list[Part] = []
    result = llama.step([example], seen)
    first = min(wrong)
    assert (result.shared_trunks, result.unshared, result.oom_splits) == (1, 1, len(wrong) - 1)
    assert reads == [len(example.context)]
    assert result.computed_tokens == example.tokens + (result.parts - first + 1) * len(example.context)
    assert answered(seen) == answered([Part.whole([example])])
    assert result.losses == pytest.approx(losses, rel=tolerances.GRADIENT)
    assert distance(llama.taken(), expected) < tolerances.GRADIENT


@pytest.mark.parametrize("number", [1, 2, 4])
def test_a_backward_of_a_part_without_memory_ends_the_sharing(llama: Trained, number: int):
    """The error comes from inside autograd, when the leaves and later layers hold gradients already."""
    (example,) = records()[:1]
    expected, _ = unsplit(llama, [example])
    llama.fit_rows(ROWS)
    first_layer = llama.groups[0].tensors[0]
    handle = first_layer.register_hook(Failing(lambda gradient: gradient, {number}))
    seen: list[Part] = []
    result = llama.step([example], seen)
    handle.remove()
    assert (result.shared_trunks, result.unshared, result.oom_splits) == (1, 1, 0)
    assert answered(seen) == answered([Part.whole([example])])
    assert distance(llama.taken(), expected) < tolerances.GRADIENT


def fail_trunks(monkeypatch: pytest.MonkeyPatch, network, times: int) -> list[int]:
    """The backward through a trunk's first layer runs out of memory so many times; how often it ran."""
    calls = [0]
    inner = trunk.SharedTrunk.backward

    def backward(shared) -> None:
        def hook(gradient: torch.Tensor) -> torch.Tensor:
            raise RuntimeError(ERROR)

        calls[0] += 1
        handle = next(iter(network.adapters.values()))[0].register_hook(hook) if calls[0] <= times else None
        try:
            inner(shared)
        finally:
            if handle is not None:
                handle.remove()

    monkeypatch.setattr(trunk.SharedTrunk, "backward", backward)
    return calls


def test_a_trunks_backward_without_memory_reads_it_again_in_pieces(
    llama: Trained, reads: list[int], monkeypatch: pytest.MonkeyPatch
):
    (example,) = records()[:1]
    expected, losses = unsplit(llama, [example])
    llama.fit_rows(ROWS)
    calls = fail_trunks(monkeypatch, llama.network, 1)
    seen: list[Part] = []
    result = llama.step([example], seen)
    assert calls == [2]
    assert reads == [len(example.context)] * 2
    assert result.losses == pytest.approx(losses, rel=tolerances.GRADIENT)
    assert answered(seen) == answered([Part.whole([example])])
    assert distance(llama.taken(), expected) < tolerances.GRADIENT


def test_a_trunk_that_never_fits_abandons_the_step_without_gradients(llama: Trained, monkeypatch: pytest.MonkeyPatch):
    (example,) = records()[:1]
    llama.fit_rows(ROWS)
    fail_trunks(monkeypatch, llama.network, 2)
    with pytest.raises(StepAbandoned):
        llama.step([example])
    assert llama.gradients.parts == 0
    assert all(tensor.grad is None for tensor in llama.gradients.tensors)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Contexts over 100 tokens are long, and read 48 tokens at a time."""
    monkeypatch.setattr(trunk, "LONG_TOKENS", 100)
    monkeypatch.setattr(trunk, "PIECE_TOKENS", 48)


LONG = (Design(170, 128, 48, 9, row=16), Design(60, 32, 16, row=16))


def test_pieces_give_the_outputs_of_the_dense_read(trained: Trained, small_pieces: None):
    contexts = [example.context for example in records(LONG)]
    dense = trained.network.read(contexts, exact=False)
    pieces = trunk.read_contexts(trained.network, contexts)
    for found, expected in zip(pieces.around, dense.around, strict=True):
        assert tiny.relative_error(found, expected) < tolerances.LAYERS
    for state, expected in zip(pieces.states, dense.states, strict=True):
        assert state.length == expected.length
        for layer, other in zip(state.layers, expected.layers, strict=True):
            for found, tensor in zip(layer, other, strict=True):
                assert found.shape == tensor.shape
                assert tiny.relative_error(found, tensor) < tolerances.LAYERS


@pytest.mark.parametrize("rows", [0, ROWS])
def test_pieces_give_the_gradient_of_the_dense_read(trained: Trained, rows: int, monkeypatch: pytest.MonkeyPatch):
    """Alone, and as a shared trunk of parts."""
    examples = records(LONG)
    expected, losses = unsplit(trained, examples)
    monkeypatch.setattr(trunk, "LONG_TOKENS", 100)
    monkeypatch.setattr(trunk, "PIECE_TOKENS", 48)
    if rows:
        trained.fit_rows(rows)
    result = trained.step(examples)
    assert bool(result.shared_trunks) == bool(rows)
    assert result.losses == pytest.approx(losses, rel=tolerances.LAYERS)
    assert distance(trained.taken(), expected) < tolerances.LAYERS


def kept_bytes(work: Callable[[], object]) -> int:
    """Bytes of the different tensors that a forward keeps for its backward, weights apart."""
    kept: dict[int, int] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        if not tensor.is_leaf:
            kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = work()
    del result
    return sum(kept.values())


def test_pieces_keep_nothing_from_inside_a_layer(trained: Trained, small_pieces: None):
    contexts = [example.context for example in records(LONG)[:1]]
    dense = kept_bytes(lambda: trained.network.read(contexts, exact=False))
    pieces = kept_bytes(lambda: trunk.read_contexts(trained.network, contexts))
    assert pieces < dense / 3


def test_every_term_was_in_these_steps(llama: Trained):
    losses = llama.step(records()).losses
    assert set(losses) == set(TERMS) and all(loss > 0 for loss in losses.values())
