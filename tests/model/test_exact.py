"""Independence, bit for bit: what stands beside a row and how many threads compute it changes nothing."""

import pytest
import torch

from deg_core.model import attention, heads, network, projection
from deg_core.model.activation import gated_silu, sigmoid, silu, softplus
from deg_core.model.backbone import Backbone
from deg_core.model.heads import VIEW_DEPTHS
from deg_core.model.projection import (
    DECODE_TILE,
    TILE,
    Int8Projector,
    Int8Weight,
    PackedProjector,
    Projector,
    pack,
    packed_linear,
    tiled_linear,
)
from deg_core.model.rows import SCAN_TOKENS, Rows
from tests.model import tiny
from tests.model.tiny import NEEDS_INT8, random_ids

QUERIES = [random_ids(length, length) for length in (5, 49, 64, 77, 1, 130, 33)]
CONTEXTS = [random_ids(length, length) for length in (201, 30)]
ORDERS = [[3], [6, 0, 2], [5, 4, 3, 2, 1, 0, 6]]


KINDS = [
    *("fp32 tiles", "bf16 tiles", "fp32 packed", "bf16 packed"),
    pytest.param("bf16 int8", marks=NEEDS_INT8),
]


@pytest.fixture(scope="module", params=KINDS)
def backbone(base, request):
    return load_exact(base, request.param)


def load_exact(base, name):
    """A backbone with exact projections, by a name of KINDS."""
    dtype, kind = name.split()
    found = Backbone.load(base, "cpu", torch.float32 if dtype == "fp32" else torch.bfloat16)
    found.exact = exact_projector(found, kind)
    return found


def exact_projector(backbone, kind):
    """Exact projections of a kind: packed, int8, or None for tiles, whose rows projector is told."""
    names = backbone.family.targets()
    if kind == "int8":
        rounded = {name: Int8Weight.of(backbone.weights[name]) for name in names}
        return Int8Projector(Projector(backbone.weights, tile=DECODE_TILE), rounded)
    if kind == "packed":
        packed = pack(backbone.weights, names)
        assert packed is not None
        return PackedProjector(backbone.weights, packed)
    return None


def projector(backbone, tile):
    """The exact projections of a backbone of the fixture."""
    return backbone.exact or Projector(backbone.weights, tile=tile)


def read(backbone, contexts):
    """Views and state of each context, read together."""
    rows = Rows([len(context) for context in contexts])
    project = projector(backbone, TILE)
    hidden, states = backbone.forward(torch.cat(contexts), rows, project, keep=True, views=VIEW_DEPTHS)
    return list(hidden.split(list(rows.lengths))), states


def ask(backbone, state, order):
    """For each query of the order: its hidden states, and those of a decoded token after it."""
    queries = [QUERIES[i] for i in order]
    rows = Rows([len(query) for query in queries], [0] * len(queries), [state])
    hidden, after = backbone.forward(torch.cat(queries), rows, projector(backbone, TILE), keep=True)
    step = Rows([1] * len(order), range(len(order)), after)
    ids = torch.tensor([10 + i for i in order])
    decoded, _ = backbone.forward(ids, step, projector(backbone, DECODE_TILE))
    return dict(zip(order, zip(hidden.split(list(rows.lengths)), decoded, strict=True), strict=True))


@torch.inference_mode()
def test_a_fork_is_the_same_alone_together_and_reordered(backbone, threads):
    torch.set_num_threads(1)
    _, (state, _) = read(backbone, CONTEXTS)
    expected = ask(backbone, state, list(range(len(QUERIES))))
    for count in (1, 2):
        torch.set_num_threads(count)
        for order in ORDERS:
            for i, parts in ask(backbone, state, order).items():
                assert all(torch.equal(a, b) for a, b in zip(parts, expected[i], strict=True)), (count, order, i)


@torch.inference_mode()
def test_a_context_is_the_same_alone_and_beside_others(backbone, threads):
    torch.set_num_threads(1)
    hidden, states = read(backbone, CONTEXTS)
    for count in (1, 2):
        torch.set_num_threads(count)
        for number, context in enumerate(CONTEXTS):
            (alone,), (state,) = read(backbone, [context])
            assert torch.equal(alone, hidden[number])
            for mine, his in zip(state.layers, states[number].layers, strict=True):
                assert all(torch.equal(a, b) for a, b in zip(mine, his, strict=True))


@torch.inference_mode()
def test_a_poisoned_row_stays_alone(base):
    """One row's embedding is NaN; the others' bits stay."""
    backbone = Backbone.load(base)
    backbone.exact = exact_projector(backbone, "packed")
    _, (state, _) = read(backbone, CONTEXTS)
    expected = ask(backbone, state, [0, 1, 2])
    backbone.weights["embed"] = backbone.weights["embed"].clone()
    only = next(
        token for token in QUERIES[1].tolist() if token not in (*QUERIES[0].tolist(), *QUERIES[2].tolist(), 10, 12)
    )
    backbone.weights["embed"][only] = float("nan")
    found = ask(backbone, state, [0, 1, 2])
    assert found[1][0].isnan().any()
    for i in (0, 2):
        assert all(torch.equal(a, b) for a, b in zip(found[i], expected[i], strict=True))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["fp32", "bf16"])
@pytest.mark.parametrize("tile", [DECODE_TILE, TILE])
def test_a_tiled_row_is_the_same_at_any_place(dtype, tile, threads):
    generator = torch.Generator().manual_seed(0)
    x, weight = (torch.randn(n, 96, generator=generator).to(dtype) for n in (4 * tile, 72))
    torch.set_num_threads(1)
    expected = tiled_linear(x, weight, tile)
    for count in (1, 2, 3):
        torch.set_num_threads(count)
        order = torch.randperm(len(x), generator=generator)
        assert torch.equal(tiled_linear(x[order], weight, tile), expected[order])
    with pytest.raises(ValueError, match="not a multiple of the tile"):
        tiled_linear(x[1:], weight, tile)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["fp32", "bf16"])
@pytest.mark.parametrize("shape", [(72, 96), (576, 1536)], ids=str)
def test_a_packed_row_is_the_same_at_any_place(dtype, shape, threads):
    generator = torch.Generator().manual_seed(0)
    weight, x = (torch.randn(n, shape[1], generator=generator).to(dtype) for n in (shape[0], 512))
    packed = pack({"w": weight}, ["w"])
    assert packed is not None
    torch.set_num_threads(1)
    expected = packed_linear(x, packed["w"])
    assert tiny.relative_error(expected, x.float() @ weight.float().t()) < (0.01 if dtype == torch.bfloat16 else 1e-5)
    for count in (1, 2, 5, 16):
        torch.set_num_threads(count)
        for rows in (torch.randperm(512, generator=generator), torch.arange(8), torch.arange(7, 63), torch.arange(480)):
            assert torch.equal(packed_linear(x[rows], packed["w"]), expected[rows])


def test_a_product_that_sees_its_neighbours_is_not_used(monkeypatch):
    inner = projection.packed_linear
    monkeypatch.setattr(projection, "packed_linear", lambda x, packed: inner(x, packed) * (1 + len(x) / 2**20))
    assert projection.pack({"w": torch.randn(72, 96)}, ["w"]) is None


@NEEDS_INT8
def test_an_int8_row_is_the_same_beside_any_others(threads):
    generator = torch.Generator().manual_seed(0)
    x, weight = (torch.randn(n, 96, generator=generator) for n in (300, 72))
    project = Int8Projector(Projector({}, tile=DECODE_TILE), {"w": Int8Weight.of(weight)})
    torch.set_num_threads(1)
    expected = project("w", x)
    assert tiny.relative_error(expected, x @ weight.t()) < 0.02
    for count in (1, 2, 3):
        torch.set_num_threads(count)
        for rows in (torch.randperm(300, generator=generator), torch.arange(1), torch.arange(7, 50)):
            assert torch.equal(project("w", x[rows]), expected[rows])
    assert torch.equal(project("w", torch.zeros(2, 96)), torch.zeros(2, 72))


@pytest.mark.parametrize("function", [silu, sigmoid, softplus])
def test_exact_activations_do_not_see_threads_or_places(function, threads):
    x = torch.randn(6 * 64, 1536, generator=torch.Generator().manual_seed(0)) * 4
    torch.set_num_threads(1)
    expected = function(x, True)
    torch.testing.assert_close(expected, function(x, False), rtol=1e-5, atol=1e-6)
    for count in (2, 5, 7):
        torch.set_num_threads(count)
        assert torch.equal(function(x, True), expected)
    torch.set_num_threads(1)
    few = x[:3].reshape(-1)
    assert torch.equal(torch.cat([function(part, True) for part in few.split(7)]).view(3, -1), expected[:3])


@pytest.mark.parametrize("function", [silu, sigmoid, softplus])
def test_exact_activations_hold_at_the_ends(function):
    x = torch.tensor([-1e30, -200.0, -1e-30, 0.0, 1e-30, 200.0, 1e30])
    torch.testing.assert_close(function(x, True), function(x, False), rtol=1e-6, atol=0)


def test_the_gated_activation_is_the_same_exactly():
    x = torch.randn(128, 96, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(gated_silu(x, True), gated_silu(x, False), rtol=1e-5, atol=1e-6)


def test_the_gated_activation_that_trains_keeps_its_type():
    """In float32 on the way it would keep more memory for the backward."""
    x = torch.randn(8, 96, generator=torch.Generator().manual_seed(0)).to(torch.bfloat16).requires_grad_()
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda saved: kept.append(saved.dtype) or saved, lambda saved: saved):
        y = gated_silu(x, False)
    gate, up = x.chunk(2, -1)
    assert torch.equal(y, torch.nn.functional.silu(gate) * up)
    assert set(kept) == {torch.bfloat16}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["fp32", "bf16"])
@torch.inference_mode()
def test_a_context_read_in_pieces_gives_the_bits_of_one_reading(base, dtype, monkeypatch):
    loaded = tiny.fresh_network(base, rank=4, dtype=dtype)
    contexts = [random_ids(length, length).numpy() for length in (2 * SCAN_TOKENS + 70, 30)]
    whole = loaded.read(contexts, exact=True)
    monkeypatch.setattr(network, "READ_TOKENS", SCAN_TOKENS)
    pieces = loaded.read(contexts, exact=True)
    for place in range(2):
        assert torch.equal(pieces.around[place], whole.around[place])
        assert pieces.states[place].length == whole.states[place].length
        for mine, his in zip(pieces.states[place].layers, whole.states[place].layers, strict=True):
            assert all(torch.equal(a, b) for a, b in zip(mine, his, strict=True))


@torch.inference_mode()
def test_keys_made_in_blocks_have_the_same_bits(monkeypatch):
    counter, around = heads.ItemCounter(40), torch.randn(300, 40 * heads.VIEWS)
    weights = {"count.left": counter.left.weight, "count.right": counter.right.weight}
    for project in (Projector(weights, tile=TILE), projection.exact_projector(weights, weights, {})):
        whole = heads.exact_boundary_keys(project, "count", around)
        with monkeypatch.context() as patch:
            patch.setattr(heads, "KEY_TOKENS", TILE)
            assert torch.equal(heads.exact_boundary_keys(project, "count", around), whole)
        assert torch.allclose(whole, counter.keys(around), atol=1e-5)


@torch.inference_mode()
def test_keys_in_blocks_are_keys_at_once(backbone, monkeypatch, threads):
    torch.set_num_threads(1)
    once, _ = read(backbone, CONTEXTS)
    for name in ("KEY_BLOCK", "CACHED_KEYS"):
        monkeypatch.setattr(attention, name, 48)
    together, (state, _) = read(backbone, CONTEXTS)
    if not isinstance(backbone.exact, Int8Projector):  # whose rounding makes steps of small differences
        tolerance = 2**-6 if backbone.dtype == torch.bfloat16 else tiny.ORDER_TOLERANCE
        assert all(tiny.relative_error(a, b) < tolerance for a, b in zip(together, once, strict=True))
    expected = ask(backbone, state, [0, 5, 3])
    for count in (1, 2):
        torch.set_num_threads(count)
        for number, context in enumerate(CONTEXTS):
            assert torch.equal(read(backbone, [context])[0][0], together[number])
        for i, parts in ask(backbone, state, [5, 0]).items():
            assert all(torch.equal(a, b) for a, b in zip(parts, expected[i], strict=True))
