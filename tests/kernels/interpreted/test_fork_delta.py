"""The gated delta rule over rows that continue prefixes: against its definition, amid NaN, and bit for bit."""

import pytest
import torch

from deg_core.kernels.fork_delta import fork_delta, plain_fork_delta
from deg_core.kernels.table import RowTable
from deg_core.model.delta import DeltaInputs
from tests.kernels.interpreted.draw import close, normal

HEADS, KEYS, VALUES = 2, 8, 13


def draw(tokens):
    q, k = (torch.nn.functional.normalize(normal(tokens, HEADS, KEYS, seed=i), dim=-1) for i in range(2))
    decay, beta = -normal(tokens, HEADS, seed=3).abs(), normal(tokens, HEADS, seed=4).sigmoid()
    return DeltaInputs(q, k, normal(tokens, HEADS, VALUES, seed=2), decay, beta)


def prefixes(count):
    return [normal(HEADS, KEYS, VALUES, seed=20 + i) for i in range(count)]


def run(inputs, spans, prefix, states):
    """o amid NaN, and the states after the rows."""
    starts, lengths = [start for start, _ in spans], [end - start for start, end in spans]
    table = RowTable.of(starts, lengths, prefix, [(1, [(state, state)]) for state in states], inputs.q.device)
    out = torch.full_like(inputs.v, float("nan"))
    after = fork_delta(*(inputs.q, inputs.k, inputs.v, inputs.decay, inputs.beta), table.rows, table.prefix(0), out)
    return out, after


@pytest.mark.parametrize("lengths", [(1,), (7, 1), (63,), (65, 3)], ids=str)
def test_it_equals_its_definition(lengths):
    inputs, states = draw(sum(lengths)), prefixes(2)
    ends = torch.tensor(lengths).cumsum(0).tolist()
    spans = [(end - length, end) for end, length in zip(ends, lengths, strict=True)]
    prefix = [1, -1][: len(lengths)]
    kept = [state.clone() for state in states]
    found, after = run(inputs, spans, prefix, states)
    parts = (inputs.q, inputs.k, inputs.v, inputs.decay, inputs.beta)
    expected, last = plain_fork_delta(*parts, spans, [states[i] if i >= 0 else None for i in prefix])
    assert close(found, expected) and close(after, last)
    assert all(torch.equal(state, before) for state, before in zip(states, kept, strict=True))


def test_other_rows_and_places_between_them_neither_leak_nor_change():
    inputs, states = draw(20), prefixes(2)
    expected, after = run(inputs, [(0, 6), (9, 14)], [0, 1], states)
    assert expected[6:9].isnan().all() and expected[14:].isnan().all()
    for tensor in (inputs.q, inputs.k, inputs.v, inputs.decay, inputs.beta):
        tensor[6:] = float("nan")
    states[1].fill_(float("nan"))
    found, states = run(inputs, [(0, 6), (9, 14)], [0, 1], states)
    assert torch.equal(found[:6], expected[:6]) and torch.equal(states[0], after[0])
    assert found[9:14].isnan().all()


def test_a_row_is_the_same_alone_reordered_and_among_more():
    inputs, states = draw(20), prefixes(2)
    spans, prefix = [(0, 6), (6, 7), (7, 20)], [1, -1, 0]
    expected, after = run(inputs, spans, prefix, states)
    for order in ([2, 0, 1], [1], [0]):
        found, last = run(inputs, [spans[i] for i in order], [prefix[i] for i in order], states)
        for rank, i in enumerate(order):
            assert torch.equal(found[slice(*spans[i])], expected[slice(*spans[i])]) and torch.equal(
                last[rank], after[i]
            )


def test_strides_are_read():
    inputs, states = draw(7), prefixes(1)
    wide = normal(7, HEADS * VALUES + 5)
    wide[:, 3:-2] = inputs.v.flatten(1)
    strided = DeltaInputs(inputs.q, inputs.k, wide[:, 3:-2].unflatten(1, (HEADS, VALUES)), inputs.decay, inputs.beta)
    assert torch.equal(run(strided, [(0, 7)], [0], states)[0], run(inputs, [(0, 7)], [0], states)[0])
    with pytest.raises(ValueError, match="takes float32"):
        run(DeltaInputs(inputs.q.bfloat16(), inputs.k, inputs.v, inputs.decay, inputs.beta), [(0, 7)], [0], states)
