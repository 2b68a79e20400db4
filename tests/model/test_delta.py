"""The chunked delta rule and the short convolution against plain loops over tokens."""

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from deg_core.model.convolution import convolve
from deg_core.model.delta import DeltaInputs, delta_rule
from deg_core.model.rows import SCAN_TOKENS, Rows

# float32 against a loop in float64
DELTA_TOLERANCE = 1e-5


def draw(tokens, heads=3, keys=8, values=5, seed=0):
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape):
        return torch.randn(shape, generator=generator)

    return DeltaInputs(
        q=F.normalize(normal(tokens, heads, keys), dim=-1),
        k=F.normalize(normal(tokens, heads, keys), dim=-1),
        v=normal(tokens, heads, values),
        decay=-torch.rand(tokens, heads, generator=generator) * 3,
        beta=torch.rand(tokens, heads, generator=generator),
    )


def loop(inputs, start, length, state):
    """The rule as it is defined, in float64."""
    state, outputs = state.double(), []
    for t in range(start, start + length):
        q, k, v = inputs.q[t].double(), inputs.k[t].double(), inputs.v[t].double()
        state = state * inputs.decay[t].double().exp()[:, None, None]
        change = (v - (k[:, :, None] * state).sum(1)) * inputs.beta[t].double()[:, None]
        state = state + k[:, :, None] * change[:, None, :]
        outputs.append((q[:, :, None] * state).sum(1))
    return torch.stack(outputs), state


def close(found, expected):
    return (found.double() - expected).norm() <= DELTA_TOLERANCE * expected.norm()


LENGTHS = [(1,), (1, 1, 1), (15,), (63,), (64,), (65,), (1000,), (3, 130, 64, 1, 200)]


@pytest.mark.parametrize("grouped", [True, False])
@pytest.mark.parametrize("lengths", LENGTHS, ids=str)
def test_chunks_equal_the_loop(lengths, grouped):
    inputs, rows = draw(sum(lengths)), Rows(lengths)
    initial = [torch.randn(3, 8, 5, generator=torch.Generator().manual_seed(i)) for i in range(len(lengths))]
    initial[-1] = None
    out, states = delta_rule(inputs, rows, initial, grouped)
    for row, (start, length) in enumerate(zip(rows.starts, lengths, strict=True)):
        before = torch.zeros(3, 8, 5) if initial[row] is None else initial[row]
        expected, after = loop(inputs, start, length, before)
        assert close(out[start : start + length], expected) and close(states[row], after)


def test_a_row_longer_than_a_scan():
    length = SCAN_TOKENS + 10
    inputs = draw(length, heads=1, keys=4, values=2)
    out, (state,) = delta_rule(inputs, Rows([length]), [None], grouped=False)
    expected, after = loop(inputs, 0, length, torch.zeros(1, 4, 2))
    assert close(out, expected) and close(state, after)


def test_gradients_equal_those_of_the_loop():
    lengths = (70, 1, 20)
    inputs, rows = draw(sum(lengths)), Rows(lengths)
    first = torch.randn(3, 8, 5, generator=torch.Generator().manual_seed(9))
    leaves = [inputs.q, inputs.k, inputs.v, inputs.decay, inputs.beta, first]
    for leaf in leaves:
        leaf.requires_grad_(True)
    out, states = delta_rule(inputs, rows, [first, None, first], grouped=True)
    found = torch.autograd.grad(out.sin().sum() + sum(state.cos().sum() for state in states), leaves)
    loss = 0.0
    for start, length, state in zip(rows.starts, lengths, (first, torch.zeros(3, 8, 5), first), strict=True):
        part, after = loop(inputs, start, length, state)
        loss = loss + part.sin().sum() + after.cos().sum()
    for one, other in zip(found, torch.autograd.grad(loss, leaves), strict=True):
        assert close(one, other.double())


def test_strong_decay_neither_overflows_nor_makes_nan():
    inputs = draw(64)
    inputs.decay.fill_(-60.0)
    inputs.decay.requires_grad_(True)
    out, _ = delta_rule(inputs, Rows([64]), [None], grouped=True)
    (gradient,) = torch.autograd.grad(out.sum(), inputs.decay)
    assert out.isfinite().all() and gradient.isfinite().all()


@pytest.mark.parametrize("grouped", [True, False])
def test_a_poisoned_row_stays_alone(grouped):
    rows = Rows([40, 30, 70])
    clean = draw(140)
    expected, _ = delta_rule(clean, rows, [None] * 3, grouped)
    for tensor in (clean.q, clean.k, clean.v, clean.decay, clean.beta):
        tensor[40:70] = float("nan")
    found, states = delta_rule(clean, rows, [None] * 3, grouped)
    assert torch.equal(found[:40], expected[:40]) and torch.equal(found[70:], expected[70:])
    assert found[40:70].isnan().all() and states[0].isfinite().all() and states[2].isfinite().all()


def test_the_convolution_is_causal_within_each_row():
    lengths, taps = (1, 5, 2), 4
    x = torch.randn(10, 6, generator=torch.Generator().manual_seed(0))
    weight = torch.randn(6, taps, generator=torch.Generator().manual_seed(1))
    tail = torch.randn(taps - 1, 6, generator=torch.Generator().manual_seed(2))
    found, tails = convolve(x, weight, Rows(lengths), [tail, None, tail])
    start = 0
    for row, length in enumerate(lengths):
        before = torch.zeros(taps - 1, 6) if row == 1 else tail
        inputs = torch.cat((before, x[start : start + length]))
        expected = F.conv1d(inputs.t()[None], weight[:, None], groups=6)[0].t()
        torch.testing.assert_close(found[start : start + length], expected)
        assert torch.equal(tails[row], inputs[-(taps - 1) :])
        start += length
    assert found.shape == x.shape and not found[8:].any()
