"""A model that takes the kernels: its answers are those of the plain path, and each row's bits are its own."""

from types import SimpleNamespace

import pytest
import torch

from deg_core.kernels import fork_attention, fork_delta, gemm, norm, select, split_gemm
from deg_core.model import delta
from deg_core.model.backbone import Backbone
from deg_core.model.decode import DecodeRows
from deg_core.model.heads import VIEW_DEPTHS
from deg_core.model.projection import DECODE_TILE, TILE, Projector
from deg_core.model.rows import Rows
from deg_core.runtime.step import DecodeStep
from tests.model import tiny
from tests.model.test_heads import forks, parts
from tests.model.tiny import ORDER_TOLERANCE, random_ids, relative_error
from tests.model.trace import Trace

# a bfloat16 path of our own is this near to float32 as well; the interpreter cuts where torch rounds, so twice as far
CUT_FACTOR = 3.0
KERNELS = [
    *((gemm, "linear"), (split_gemm, "small_linear"), (norm, "rms_norm")),
    *((fork_attention, "fork_attention"), (fork_delta, "fork_delta")),
]
CONTEXTS = [random_ids(length, length) for length in (24, 9)]
QUERIES = [random_ids(length, length) for length in (5, 13, 1)]
MODELS = {**tiny.MODELS, "qwen3.5": lambda: tiny.qwen_model(layers=2)}


@pytest.fixture
def taken(monkeypatch):
    """Names of the kernels that were called."""
    names: set[str] = set()

    def recorded(name, function):
        return lambda *args, **options: (names.add(name), function(*args, **options))[1]

    for module, name in KERNELS:
        monkeypatch.setattr(module, name, recorded(name, getattr(module, name)))
    return names


@pytest.fixture
def plain(monkeypatch):
    """Calls a function on the path without kernels."""

    def call(function, *args):
        with monkeypatch.context() as patch:
            patch.setattr(select, "INTERPRETED", False)
            return function(*args)

    return call


@pytest.fixture(scope="module", params=sorted(MODELS))
def folder(request, tmp_path_factory):
    made = tmp_path_factory.mktemp("base")
    MODELS[request.param]().save_pretrained(made)
    return made


def ask(backbone, order):
    """Views of the contexts, and for each query its hidden states and those of a token decoded after it."""
    project = Projector(backbone.weights, tile=TILE)
    rows = Rows([len(context) for context in CONTEXTS])
    views, states = backbone.forward(torch.cat(CONTEXTS), rows, project, keep=True, views=VIEW_DEPTHS)
    rows = Rows([len(QUERIES[i]) for i in order], [i % 2 for i in order], states)
    hidden, after = backbone.forward(torch.cat([QUERIES[i] for i in order]), rows, project, keep=True)
    step = Rows([1] * len(order), range(len(order)), after)
    ids = torch.tensor([10 + i for i in order])
    decoded, _ = backbone.forward(ids, step, Projector(backbone.weights, tile=DECODE_TILE))
    return views, dict(zip(order, zip(hidden.split(list(rows.lengths)), decoded, strict=True), strict=True))


@torch.inference_mode()
def test_a_backbone_reads_forks_and_decodes(folder, taken, plain, monkeypatch):
    monkeypatch.setattr(delta, "FORK_TOKENS", 12)
    backbone = Backbone.load(folder)
    views, found = ask(backbone, [0, 1, 2])
    recurrent = {"fork_delta"} if hasattr(backbone.family, "is_linear") else set()
    assert taken == {"linear", "small_linear", "rms_norm", "fork_attention"} | recurrent
    taken.clear()
    expected_views, expected = plain(ask, backbone, [0, 1, 2])
    assert not taken and relative_error(views, expected_views) < ORDER_TOLERANCE
    for i, pair in expected.items():
        assert all(relative_error(a, b) < ORDER_TOLERANCE for a, b in zip(found[i], pair, strict=True))
    for order in ([1], [2, 0, 1]):
        for i, pair in ask(backbone, order)[1].items():
            assert all(torch.equal(a, b) for a, b in zip(pair, found[i], strict=True))


@torch.inference_mode()
def test_bfloat16_is_as_near_to_float32_as_the_plain_path(folder, plain):
    narrow = Backbone.load(folder, dtype=torch.bfloat16)
    expected, _ = plain(ask, Backbone.load(folder), [1])
    by_kernels, found = ask(narrow, [1])
    by_torch, _ = plain(ask, narrow, [1])
    assert relative_error(by_kernels.float(), expected) < CUT_FACTOR * relative_error(by_torch.float(), expected)
    together = ask(narrow, [2, 1])[1]
    assert all(torch.equal(a, b) for a, b in zip(together[1], found[1], strict=True))


@torch.inference_mode()
def test_a_network_answers_every_kind(tmp_path, taken, plain):
    tiny.llama_model().save_pretrained(tmp_path)
    tiny.write_tokenizer(tmp_path)
    network = tiny.fresh_network(tmp_path, rank=4)
    contexts = [network.tokens.encode_context(text).ids for text in ("Invoice 4711 of Miller & Sons.", "due")]
    asked = [(place, fork) for place in (0, 1) for fork in forks(network.tokens).values()]

    def answer(asked):
        return network.answer(network.read(contexts, exact=True), asked, exact=True)

    found = answer(asked)
    assert {"linear", "rms_norm", "fork_attention"} <= taken
    for mine, expected in zip(found, plain(answer, asked), strict=True):
        for a, b in zip(parts(mine), parts(expected), strict=True):
            torch.testing.assert_close(a, b, rtol=ORDER_TOLERANCE, atol=ORDER_TOLERANCE)
    for few in ([9, 2, 4], [7]):
        for i, alone in zip(few, answer([asked[i] for i in few]), strict=True):
            assert all(torch.equal(a, b) for a, b in zip(parts(alone), parts(found[i]), strict=True))


WRITTEN = [[20, 21, 22], [30, 31, 32], [40, 41, 42], [50, 51, 52]]
LAUNCHED = [
    *((gemm, "gemm_kernel"), (split_gemm, "part_kernel"), (split_gemm, "sum_kernel"), (norm, "norm_kernel")),
    *((fork_attention, "attention_kernel"), (fork_delta, "delta_kernel")),
]


def step_of(backbone, rows):
    project = Projector(backbone.weights, tile=DECODE_TILE)
    return DecodeStep(SimpleNamespace(backbone=backbone, projector=lambda **_: project), rows)


def decoding_of(backbone, order, room=20):
    """A step of the queries of the order, after their contexts; each context's state."""
    project = Projector(backbone.weights, tile=DECODE_TILE)
    _, states = backbone.forward(torch.cat(CONTEXTS), Rows([len(x) for x in CONTEXTS]), project, keep=True)
    rows = Rows([len(QUERIES[i]) for i in order], [i % 2 for i in order], states)
    _, own = backbone.forward(torch.cat([QUERIES[i] for i in order]), rows, project, keep=True, apart=True)
    rows = DecodeRows(backbone.family, [states[i % 2] for i in order], own, room)
    for layer, buffers in enumerate(rows._buffers):
        for row, used in enumerate(rows.used if backbone.family.grows(layer) else ()):
            for buffer in buffers:
                buffer[row, used:] = float("nan")
    return step_of(backbone, rows), states


def decode(backbone, order):
    """For each query of the order the logits after each written token."""
    decoding, _ = decoding_of(backbone, order)
    found = [decoding.run({row: tokens[i] for row, i in enumerate(order)}).clone() for tokens in WRITTEN]
    return dict(zip(order, torch.stack(found, 1), strict=True))


def read_at_once(backbone, i):
    """The logits after a query's written tokens, all read together with it."""
    project = Projector(backbone.weights, tile=DECODE_TILE)
    _, states = backbone.forward(torch.cat(CONTEXTS), Rows([len(x) for x in CONTEXTS]), project, keep=True)
    ids = torch.cat((QUERIES[i], torch.tensor([tokens[i] for tokens in WRITTEN])))
    hidden, _ = backbone.forward(ids, Rows([len(ids)], [i % 2], states), project)
    return split_gemm.small_linear(hidden[-len(WRITTEN) :], backbone.weights["lm_head"])


@torch.inference_mode()
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_decoding_in_buffers_gives_the_bits_of_one_reading(folder, plain, dtype):
    """Kernels take own keys from buffers in the same blocks as from tokens read together."""
    backbone = Backbone.load(folder, dtype=dtype)
    found = decode(backbone, [0, 1, 2])
    for i, logits in found.items():
        assert torch.equal(logits, read_at_once(backbone, i).float())
    for order in ([1], [2, 0]):
        assert all(torch.equal(logits, found[i]) for i, logits in decode(backbone, order).items())
    if dtype == torch.float32:
        for i, logits in plain(decode, backbone, [0, 1, 2]).items():
            assert relative_error(found[i], logits) < ORDER_TOLERANCE


@torch.inference_mode()
def test_idle_rows_and_new_buffers_change_nothing(folder):
    backbone = Backbone.load(folder)
    expected = decode(backbone, [0, 1, 2])
    decoding, _ = decoding_of(backbone, [0, 1, 2])
    decoding.run(dict(enumerate(WRITTEN[0])))
    for place in (1, 2):
        logits = decoding.run({1: WRITTEN[place][1]})
        assert torch.equal(logits[1], expected[1][place])
    moved = step_of(backbone, decoding.rows.moved([1], 30))
    assert torch.equal(moved.run({0: WRITTEN[3][1]})[0], expected[1][3])


@torch.inference_mode()
def test_every_step_is_the_same_work_on_the_same_memory(folder, monkeypatch):
    """So a captured step can stand for all others: what changes is in tensors; none is made of numbers, nor read."""
    backbone = Backbone.load(folder)
    decoding, states = decoding_of(backbone, [0, 1, 2])
    held = [tensor for state in states for layer in state.layers for tensor in layer]
    copies = [tensor.clone() for tensor in held]
    decoding.run(dict(enumerate(WRITTEN[0])))
    traces = []
    for tokens in WRITTEN[1:]:
        decoding.rows.feed(dict(enumerate(tokens)))
        with monkeypatch.context() as patch, Trace() as trace:
            for module, name in LAUNCHED:
                patch.setattr(module, name, trace.launched(getattr(module, name)))
            decoding.step()
        traces.append(trace)
    names = {call[0] for call in traces[0].calls}
    assert {"part_kernel", "sum_kernel", "norm_kernel", "attention_kernel"} <= names
    assert not any(part in name for name in names for part in ("_local_scalar_dense", "lift_fresh", "nonzero"))
    assert all(trace.calls == traces[0].calls and trace.outside == traces[0].outside for trace in traces)
    assert all(torch.equal(tensor, copy) for tensor, copy in zip(held, copies, strict=True))
