"""The kernels of the CPU against plain torch, at odd sizes; their bits at any place, beside anything and at any threads."""

import os
import platform
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from deg_core.kernels import rowwise
from deg_core.model.delta import DeltaInputs, delta_rule
from deg_core.model.families.rotary import Rotary
from deg_core.model.rows import Rows

TYPES = [torch.float32, torch.bfloat16]
ROUNDING = {torch.float32: 2e-6, torch.bfloat16: 2**-8}
ROWS = 37
WIDTHS = [1, 7, 48, 96, 576]
EPS = 1e-5


@pytest.fixture(autouse=True)
def no_gradient():
    with torch.inference_mode():
        yield


def normal(*shape, seed=0, dtype=torch.float32):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def close(found, plain, dtype):
    """Within one rounding of the type, of numbers around 1."""
    torch.testing.assert_close(found.double(), plain, rtol=ROUNDING[dtype], atol=ROUNDING[dtype])


def steps(rounded, scales):
    """The numbers that rounded rows stand for."""
    return (rounded.double() - rowwise.ZERO_POINT) * scales.double()[:, None]


def hadamard(turns):
    """The orthogonal matrix of +-turns ** -0.5 (Sylvester), float64."""
    matrix = torch.ones(1, 1, dtype=torch.float64)
    while len(matrix) < turns:
        matrix = torch.cat((torch.cat((matrix, matrix), 1), torch.cat((matrix, -matrix), 1)))
    return matrix * turns**-0.5


def turned(x, turns):
    """x times the Hadamard matrix over the first axis of rows seen as [turns, width]."""
    return (hadamard(turns) @ x.double().view(len(x), turns, -1)).view(x.shape)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("width", WIDTHS)
def test_norms_are_those_of_torch(width, dtype):
    x, weight = normal(ROWS, 3, width, dtype=dtype), normal(width, seed=1, dtype=dtype)
    gate = normal(ROWS, 3 * width, seed=2, dtype=dtype)
    plain = F.rms_norm(x.double(), (width,), None, EPS)
    close(rowwise.rms_norm(x, None, EPS), plain, dtype)
    close(rowwise.rms_norm(x, weight, EPS), plain * weight.double(), dtype)
    gated = plain * (1 + weight.double()) * F.silu(gate.double()).view(plain.shape)
    close(rowwise.rms_norm(x, weight, EPS, offset=1.0, gate=gate), gated, dtype)
    apart = normal(ROWS, 5, width, dtype=dtype)[:, 1:4]
    close(rowwise.rms_norm(apart, None, EPS), F.rms_norm(apart.double(), (width,), None, EPS), dtype)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_gated_activation_is_that_of_torch(width, dtype):
    gate_up = normal(ROWS, 2 * width, dtype=dtype) * 4
    gate, up = gate_up.double().chunk(2, 1)
    close(rowwise.gated_silu(gate_up), F.silu(gate) * up, dtype)


def test_the_gated_activation_holds_at_the_ends():
    gate = torch.tensor([-200.0, -88.0, -1e-30, 0.0, 1e-30, 88.0, 200.0, 1e30])
    found = rowwise.gated_silu(torch.cat((gate, torch.ones(8)))[None])[0]
    torch.testing.assert_close(found, F.silu(gate), rtol=1e-6, atol=1e-30)


@pytest.mark.parametrize("activated", [False, True])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize(("width", "taps"), [(1, 1), (7, 4), (96, 3)])
def test_filters_are_those_of_torch(width, taps, dtype, activated):
    x, weight = normal(ROWS + taps - 1, width, dtype=dtype), normal(taps, width, seed=1)
    plain = F.conv1d(x.double().t()[None], weight.double().t()[:, None], groups=width)[0].t()
    found = rowwise.convolve(x, weight, torch.arange(ROWS), torch.empty(ROWS, width), activated)
    close(found, F.silu(plain) if activated else plain, torch.float32)
    order = torch.arange(ROWS - 1, -1, -2)
    assert torch.equal(rowwise.convolve(x, weight, order, torch.empty(len(order), width), activated), found[order])


@pytest.mark.parametrize(("heads", "keys", "values"), [(1, 1, 1), (3, 7, 40), (2, 16, 32), (2, 128, 100)])
def test_the_delta_rule_is_the_one_that_trains(heads, keys, values, threads, monkeypatch):
    monkeypatch.setattr(rowwise, "PART_ELEMENTS", 1)
    unit = (F.normalize(normal(ROWS, heads, keys, seed=seed), dim=-1) for seed in (1, 2))
    inputs = DeltaInputs(
        *unit, normal(ROWS, heads, values, seed=3), -normal(ROWS, heads).abs(), normal(ROWS, heads, seed=4).sigmoid()
    )
    before = normal(heads, keys, values, seed=5)
    wide = DeltaInputs(*(part.double() for part in vars(inputs).values()))
    plain, (last,) = delta_rule(wide, Rows([ROWS]), [before.double()], grouped=True)
    for count in (1, 2):
        torch.set_num_threads(count)
        out, (after,) = delta_rule(inputs, Rows([ROWS]), [before], grouped=False)
        close(out, plain, torch.float32)
        close(after, last, torch.float32)
        first, state = delta_rule(inputs.of(slice(0, 5)), Rows([5]), [before], grouped=False)
        rest, (again,) = delta_rule(inputs.of(slice(5, ROWS)), Rows([ROWS - 5]), state, grouped=False)
        assert torch.equal(torch.cat((first, rest)), out) and torch.equal(again, after)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("heads", [1, 5])
@pytest.mark.parametrize("width", [2, 16, 64])
def test_heads_are_turned_as_by_torch(heads, width, dtype):
    rotary = Rotary(10000.0 ** (-torch.arange(0, width, 2) / width))
    cos, sin = rotary.table(torch.arange(ROWS) * 11, dtype)
    x = normal(ROWS, heads + 2, width, dtype=dtype)[:, 1:-1]
    low, high = x.double().chunk(2, -1)
    plain = x.double() * cos.double() + torch.cat((-high, low), -1) * sin.double()
    close(rowwise.rotate(x, cos, sin), plain, dtype)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize(("length", "keys", "repeat"), [(1, 1, 1), (1, 9, 3), (5, 5, 1), (13, 200, 3), (64, 64, 4)])
def test_a_softmax_sees_what_a_query_may_see(length, keys, repeat, dtype):
    scores = normal(2, length * repeat, keys, dtype=dtype) * 8 - 20
    later = torch.ones(length, keys, dtype=torch.bool).triu(keys - length + 1).repeat_interleave(repeat, 0)
    plain = torch.softmax(scores.double().masked_fill(later, float("-inf")), -1)
    scores[:, later] = float("nan")
    found = rowwise.causal_softmax(scores, repeat)
    close(found, plain, dtype)
    assert not found[:, later].any()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("block", [1, 7, 64])
def test_a_softmax_in_parts_is_the_softmax(block, dtype, threads):
    """The own tokens of the queries lie across parts, so that a part may hold nothing that a query sees."""
    length, keys, repeat = 13, 64, 3
    scores, values = normal(2, length * repeat, keys, dtype=dtype) * 8, normal(2, keys, 5, seed=1)
    later = torch.ones(length, keys, dtype=torch.bool).triu(keys - length + 1).repeat_interleave(repeat, 0)
    plain = torch.softmax(scores.double().masked_fill(later, float("-inf")), -1) @ values.double()
    for count in (1, 2):
        torch.set_num_threads(count)
        tops, sums = torch.full(scores.shape[:2], float("-inf")), torch.zeros(scores.shape[:2])
        mixed = torch.zeros(2, length * repeat, 5)
        for low in range(0, keys, block):
            part = scores[..., low : low + block].clone(memory_format=torch.contiguous_format)
            after = keys - low - part.shape[2]
            weights = rowwise.fold_softmax(part, tops, sums, mixed, repeat, after)
            mixed += weights.float() @ values[:, low : low + block]
        close(mixed / sums[..., None], plain, dtype)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize(("width", "turns"), [(1, 1), (6, 2), (12, 4), (24, 8), (96, 32), (576, 64), (1536, 64)])
def test_rounded_rows_are_half_a_step_away_at_most(width, turns, dtype):
    x = normal(ROWS, width, dtype=dtype) * torch.logspace(-3, 3, ROWS, dtype=dtype)[:, None]
    x[3] = 0
    rounded, scales = rowwise.round_rows(x, turns)
    off = (steps(rounded, scales) - turned(x, turns)).abs() / scales.double()[:, None]
    assert off.max() <= 0.5 + 1e-4
    assert rounded.min() >= 1
    largest = (rounded.int() - rowwise.ZERO_POINT).abs().amax(1)
    assert torch.equal(largest, torch.where(x.any(1), 127, 0).int())


@pytest.mark.parametrize(("width", "turns"), [(24, 8), (96, 32), (1536, 64)])
def test_a_rounded_activation_is_the_activation_rounded(width, turns):
    gate_up, scales_in = normal(ROWS, 2 * width), normal(ROWS, seed=1).abs() + 0.1
    gate, up = (gate_up.double() * scales_in.double()[:, None]).chunk(2, 1)
    rounded, scales = rowwise.round_gated_silu(gate_up, scales_in, turns)
    off = (steps(rounded, scales) - turned(F.silu(gate) * up, turns)).abs() / scales.double()[:, None]
    assert off.max() <= 0.5 + 1e-3


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_rows_are_scaled(dtype):
    x, scales = normal(ROWS, 96), normal(ROWS, seed=1).abs()
    close(rowwise.scale_rows(x, scales, dtype), x.double() * scales.double()[:, None], dtype)


def test_bfloat16_is_rounded_as_torch_rounds():
    """Halves between two of its numbers, to the even one; the ends; infinities; no number."""
    pattern = torch.arange(0, 2**32, 2**15, dtype=torch.int64).to(torch.int32)
    x = torch.cat((pattern, pattern + 1, pattern - 1)).view(torch.float32)[:, None]
    found = rowwise.scale_rows(x, torch.ones(len(x)), torch.bfloat16)
    plain = x.to(torch.bfloat16)
    number = ~plain.isnan()
    assert torch.equal(found[number].view(torch.int16), plain[number].view(torch.int16))
    quiet = torch.tensor([float("nan"), -float("nan")])[:, None]
    assert rowwise.scale_rows(quiet, torch.ones(2), torch.bfloat16).isnan().all()


def every_kernel(x, dtype):
    """What each kernel makes of rows [N, 96]: a list of tensors of N rows."""
    rows = x.to(dtype)
    heads = rows.view(len(rows), 3, 32)
    cos, sin = Rotary(10000.0 ** (-torch.arange(0, 32, 2) / 32)).table(torch.full((len(rows),), 7), dtype)
    scales = torch.full((len(rows),), 0.7)
    return [
        rowwise.rms_norm(rows, rows[0] * 0 + 1.5, EPS),
        rowwise.rms_norm(heads, None, EPS, gate=rows),
        rowwise.gated_silu(rows),
        rowwise.convolve(rows, torch.full((1, 96), 1.5), torch.arange(len(x)), torch.empty(x.shape), activated=True),
        rowwise.rotate(heads, cos, sin),
        *rowwise.round_rows(rows, 32),
        *rowwise.round_gated_silu(x, scales, 16),
        rowwise.scale_rows(x, scales, dtype),
        rowwise.causal_softmax(rows.view(-1, 1, 96).clone(), 1),
    ]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("what", [float("nan"), -float("nan")])
def test_no_number_stays_none(what, dtype):
    """A row that went wrong is not made to look right."""
    x = normal(ROWS, 96)
    x[:, 40] = what
    norm, gated_norm, gated, filtered, rotated, _, scales, _, gated_scales, scaled, softmax = every_kernel(x, dtype)
    for found in (norm, gated_norm[:, 1], softmax, scaled[:, 40], gated[:, 40], filtered[:, 40], rotated[:, 1, 8]):
        assert found.isnan().all()
    assert scales.isnan().all() and gated_scales.isnan().all()


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_a_row_is_the_same_at_any_place_beside_anything_and_at_any_threads(dtype, threads, monkeypatch):
    monkeypatch.setattr(rowwise, "PART_ELEMENTS", 96)
    x = normal(ROWS, 96)
    torch.set_num_threads(1)
    expected = every_kernel(x, dtype)
    others = x.clone()
    others[1::2] = float("inf")
    for count in (1, 2, 5):
        torch.set_num_threads(count)
        order = torch.randperm(ROWS, generator=torch.Generator().manual_seed(count))
        for found, plain in zip(every_kernel(x[order], dtype), expected, strict=True):
            assert torch.equal(found, plain[order])
        for found, plain in zip(every_kernel(others, dtype), expected, strict=True):
            assert torch.equal(found[::2], plain[::2])


PROBE = """
import hashlib, torch
from tests.kernels.test_rowwise import every_kernel, normal
with torch.inference_mode():
    parts = [part.view(torch.uint8) for dtype in (torch.float32, torch.bfloat16) for part in every_kernel(normal(37, 96), dtype)]
print(hashlib.sha256(b"".join(part.contiguous().numpy().tobytes() for part in parts)).hexdigest())
"""


def probed(**variables):
    """What PROBE prints in a process with these variables."""
    command = [sys.executable, "-c", PROBE]
    return subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the processors named are of this kind")
def test_bits_depend_neither_on_vectors_nor_on_fused_instructions(tmp_path):
    """Machine code for any x86-64 (vectors of 128 bits, nothing fused) and for one with 256 bits gives this one's bits."""
    expected = probed()
    assert len(expected.strip()) == 64
    old = probed(NUMBA_CACHE_DIR=str(tmp_path), NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
    newer = probed(NUMBA_CACHE_DIR=str(tmp_path), NUMBA_CPU_NAME="haswell", NUMBA_CPU_FEATURES="+avx2,+fma")
    assert old == newer == expected


def test_kernels_run_where_nothing_can_be_written():
    """No folder for machine code: it is made anew."""
    assert probed(NUMBA_CACHE_LOCATOR_CLASSES="UserProvidedCacheLocator", NUMBA_CACHE_DIR="") == probed()


def test_a_forked_process_has_threads_of_its_own(threads, monkeypatch):
    monkeypatch.setattr(rowwise, "PART_ELEMENTS", 96)
    torch.set_num_threads(2)
    expected = rowwise.gated_silu(normal(ROWS, 96))
    child = os.fork()
    if not child:
        same = torch.equal(rowwise.gated_silu(normal(ROWS, 96)), expected)
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
