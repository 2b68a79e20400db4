"""Decoding in fixed buffers: the bits of plain steps; nothing moves, and what others hold stays as it is."""

from types import SimpleNamespace

import pytest
import torch

from deg_core.contract import FillError
from deg_core.kernels import select
from deg_core.model.backbone import Backbone
from deg_core.model.decode import DecodeRows
from deg_core.model.projection import DECODE_TILE, TILE, Projector
from deg_core.model.rows import Rows
from deg_core.runtime import generate, step
from deg_core.runtime.generate import TextRule, Writer, write_all
from deg_core.runtime.step import DecodeStep, Graph, next_logits
from tests.model import tiny
from tests.model.test_exact import KINDS, load_exact, projector
from tests.model.tiny import random_ids
from tests.model.trace import Trace

PREFIXES = [random_ids(length, length) for length in (40, 7)]
HEADERS = [(0, random_ids(5, 5)), (0, random_ids(1, 1)), (1, random_ids(9, 9))]
WRITTEN = random_ids(6 * len(HEADERS), 3).view(6, len(HEADERS)).tolist()
ROOM = 16


@pytest.fixture(scope="module", params=KINDS)
def backbone(base, request):
    return load_exact(base, request.param)


def read(backbone, apart):
    """For each header: its prefix's state, its own, and the hidden state of its last token."""
    rows = Rows([len(prefix) for prefix in PREFIXES])
    project = projector(backbone, TILE)
    _, states = backbone.forward(torch.cat(PREFIXES), rows, project, keep=True)
    rows = Rows([len(header) for _, header in HEADERS], [prefix for prefix, _ in HEADERS], states)
    ids = torch.cat([header for _, header in HEADERS])
    hidden, own = backbone.forward(ids, rows, project, keep=True, apart=apart)
    last = [part[-1] for part in hidden.split(list(rows.lengths))]
    return [states[prefix] for prefix, _ in HEADERS], own, last


def plain_steps(backbone):
    """The hidden states of every step, with new states made at each."""
    _, states, _ = read(backbone, apart=False)
    found = []
    for tokens in WRITTEN:
        rows = Rows([1] * len(states), range(len(states)), states)
        hidden, states = backbone.forward(torch.tensor(tokens), rows, projector(backbone, DECODE_TILE), keep=True)
        found.append(hidden)
    return found


def rows_of(backbone, which, room=ROOM):
    """Some of the rows; their buffers are NaN where nothing was read yet."""
    prefixes, own, _ = read(backbone, apart=True)
    rows = DecodeRows(backbone.family, [prefixes[i] for i in which], [own[i] for i in which], room)
    poison(backbone, rows)
    return rows


def poison(backbone, rows):
    for layer, buffers in enumerate(rows._buffers):
        for row, used in enumerate(rows.used if backbone.family.grows(layer) else ()):
            for buffer in buffers:
                buffer[row, used:] = float("nan")


def decode(backbone, rows, tokens):
    """The hidden states after these tokens: row -> id."""
    rows.feed(tokens)
    return backbone.forward(rows.ids, rows, projector(backbone, DECODE_TILE))[0]


@torch.inference_mode()
def test_buffers_give_the_bits_of_plain_steps(backbone, threads):
    torch.set_num_threads(1)
    expected = plain_steps(backbone)
    for which in ([0, 1, 2], [2], [1, 0]):
        rows = rows_of(backbone, which)
        for tokens, hidden in zip(WRITTEN, expected, strict=True):
            found = decode(backbone, rows, {row: tokens[i] for row, i in enumerate(which)})
            assert torch.equal(found, hidden[which])


@torch.inference_mode()
def test_idle_rows_and_new_buffers_change_nothing(backbone, threads):
    torch.set_num_threads(1)
    expected = plain_steps(backbone)
    rows = rows_of(backbone, [0, 1, 2], room=11)
    for place in range(2):
        decode(backbone, rows, dict(enumerate(WRITTEN[place])))
    for place in (2, 3):
        found = decode(backbone, rows, {0: WRITTEN[place][0], 1: WRITTEN[place][1]})
        assert torch.equal(found[:2], expected[place][:2])
    rows = rows.moved([1, 0], ROOM)
    poison(backbone, rows)
    for place in (4, 5):
        found = decode(backbone, rows, {0: WRITTEN[place][1], 1: WRITTEN[place][0]})
        assert torch.equal(found, expected[place][[1, 0]])


@torch.inference_mode()
def test_rows_say_what_they_cannot_hold(base):
    backbone = Backbone.load(base)
    backbone.exact = None
    with pytest.raises(ValueError, match="9 own tokens in the room of 8"):
        rows_of(backbone, [0, 2], room=8)
    rows = rows_of(backbone, [0, 2], room=9)
    with pytest.raises(ValueError, match="row 1 has no room for more than 9 tokens"):
        rows.feed({0: 5, 1: 5})


@torch.inference_mode()
def test_nothing_that_a_step_reads_or_writes_moves(base, monkeypatch):
    monkeypatch.setattr(select, "ROWWISE", ())  # as where steps are captured, which is not on a CPU
    backbone = Backbone.load(base)
    project = Projector(backbone.weights, tile=DECODE_TILE)
    backbone.exact = None
    rows = rows_of(backbone, [0, 1, 2])
    decoding = DecodeStep(SimpleNamespace(backbone=backbone, projector=lambda **_: project), rows)
    decoding.run(dict(enumerate(WRITTEN[0])))
    traces = []
    for tokens in WRITTEN[1:]:
        rows.feed(dict(enumerate(tokens)))
        with Trace() as trace:
            decoding.step()
        traces.append(trace)
        own = {buffer.untyped_storage().data_ptr() for buffers in rows._buffers for buffer in buffers}
        assert own | {decoding.logits.data_ptr(), rows.ids.data_ptr()} <= trace.outside
        assert not any("_local_scalar_dense" in call[0] for call in trace.calls)
    assert all(trace.outside == traces[0].outside for trace in traces)
    assert all([call[0] for call in trace.calls] == [call[0] for call in traces[0].calls] for trace in traces)


def test_a_graph_runs_once_as_it_is_and_is_captured_once(monkeypatch):
    done = []

    class Captured:
        def replay(self):
            done.append("replay")

    class Capture:
        def __init__(self, graph, capture_error_mode):
            assert isinstance(graph, Captured) and capture_error_mode == "thread_local"

        def __enter__(self):
            done.append("capture")

        def __exit__(self, *error):
            done.append("captured")

    monkeypatch.setattr(torch.cuda, "CUDAGraph", Captured)
    monkeypatch.setattr(torch.cuda, "graph", Capture)
    graph = Graph()
    for _ in range(4):
        graph.run(lambda: done.append("run"))
    assert done == ["run", "capture", "run", "captured", "replay", "replay", "replay"]


@pytest.fixture(scope="module")
def network(base):
    return tiny.fresh_network(base)


def writers_of(network, budgets, **constraints):
    """A writer for each header, and its state with the prefix in it. Without constraints none ends before its budget."""
    backbone = network.backbone
    backbone.exact = network.projector(context=False, exact=True)
    prefixes, own, hidden = read(backbone, apart=True)
    _, whole, _ = read(backbone, apart=False)
    rule = TextRule(SimpleNamespace(constraints=constraints or {"minLength": 10**6}))
    writers = [
        Writer(f"/{i}", rule, budget, 0.0, None, prefixes[i], own[i], hidden[i]) for i, budget in enumerate(budgets)
    ]
    return writers, whole


def write_plainly(network, writers, states):
    """As write_all, with new states made at every step."""
    project = network.projector(context=False, exact=True, tile=DECODE_TILE)
    going = list(zip(writers, states, [writer.hidden for writer in writers], strict=False))
    while going:
        logits = next_logits(network.backbone, torch.stack([hidden for _, _, hidden in going])).float()
        for (writer, _, _), row in zip(going, logits.numpy(), strict=True):
            writer.take(row, network.tokens)
        left = [(writer, state) for writer, state, _ in going if writer.result is None]
        if not left:
            return
        rows = Rows([1] * len(left), range(len(left)), [state for _, state in left])
        ids = torch.tensor([writer.ids[-1] for writer, _ in left])
        hidden, after = network.backbone.forward(ids, rows, project, keep=True)
        going = [(writer, state, row) for (writer, _), state, row in zip(left, after, hidden, strict=True)]


@pytest.fixture
def steps(monkeypatch):
    """The (rows, room) of every step that was made."""
    made = []

    class Recorded(DecodeStep):
        def __init__(self, network, rows):
            made.append((len(rows), rows.room))
            super().__init__(network, rows)

    monkeypatch.setattr(generate, "DecodeStep", Recorded)
    return made


@torch.inference_mode()
@pytest.mark.parametrize("idle", [False, True])
def test_writers_write_what_plain_steps_write(network, steps, monkeypatch, idle):
    """Room doubles, rows that are done leave, at once or when half are done; states that others hold stay."""
    if idle:
        monkeypatch.setattr(step, "is_captured", lambda weight: True)
        monkeypatch.setattr(step, "Graph", lambda: SimpleNamespace(run=lambda function: function()))
    monkeypatch.setattr(generate, "FIRST_ROOM", 4)
    budgets = [30, 8, 5]
    expected, whole = writers_of(network, budgets)
    write_plainly(network, expected, whole)
    found, _ = writers_of(network, budgets)
    held = [layer for writer in found for state in (writer.prefix, writer.own) for layer in state.layers]
    copies = [tuple(tensor.clone() for tensor in layer) for layer in held]
    write_all(network, found)
    assert [writer.ids for writer in found] == [writer.ids for writer in expected]
    assert [len(writer.ids) for writer in found] == budgets
    assert all(isinstance(writer.result, FillError) for writer in found)
    assert steps == ([(3, 18), (1, 24), (1, 35)] if idle else [(3, 18), (2, 18), (1, 24), (1, 35)])
    assert all(
        torch.equal(a, b) for mine, copy in zip(held, copies, strict=True) for a, b in zip(mine, copy, strict=True)
    )
    (short, _, alone), _ = writers_of(network, [1, 1, 5])
    write_all(network, [alone])
    assert alone.ids == expected[2].ids
    steps.clear()
    write_all(network, [short])
    assert short.ids == expected[0].ids[:1] and not steps


@torch.inference_mode()
def test_a_long_budget_takes_no_memory_before_it_is_used(network, steps):
    writers, _ = writers_of(network, [100_000] * 3, maxLength=2)
    write_all(network, writers)
    assert all(writer.result for writer in writers)
    assert {room for _, room in steps} == {generate.FIRST_ROOM}
    write_all(network, [])
