"""A model that takes the kernels: its answers are those of the plain path, and each row's bits are its own."""

import pytest
import torch

from deg_core.kernels import fork_attention, fork_delta, gemm, norm, select, split_gemm
from deg_core.model import delta
from deg_core.model.backbone import Backbone
from deg_core.model.heads import VIEW_DEPTHS
from deg_core.model.projection import DECODE_TILE, TILE, Projector
from deg_core.model.rows import Rows
from tests.model import tiny
from tests.model.test_heads import forks, parts
from tests.model.tiny import ORDER_TOLERANCE, random_ids, relative_error

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
