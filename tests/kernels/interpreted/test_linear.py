"""Both matrix products against torch, amid NaN, and row by row bit for bit."""

import pytest
import torch

from deg_core.kernels.gemm import linear, plain_linear
from deg_core.kernels.split_gemm import BLOCK_K, part_inputs, plain_small_linear, small_linear
from tests.kernels.interpreted.draw import amid_nan, close, normal

DTYPES = [torch.float32, torch.bfloat16]
KINDS = [(linear, plain_linear), (small_linear, plain_small_linear)]
WIDTHS = [(70, 100), (1, 1)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("kernel", "plain"), KINDS)
@pytest.mark.parametrize(("outputs", "inputs"), WIDTHS)
@pytest.mark.parametrize("rows", [1, 7, 63, 65])
def test_it_equals_torch(kernel, plain, outputs, inputs, rows, dtype):
    x, weight = normal(rows, inputs, dtype=dtype), normal(outputs, inputs, seed=1, dtype=dtype)
    assert close(kernel(x, weight), plain(x, weight))


@pytest.mark.parametrize(("kernel", "plain"), KINDS)
@pytest.mark.parametrize(("rows", "outputs", "inputs"), [(1000, 30, 40), (7, 129, 1000)])
def test_a_thousand(kernel, plain, rows, outputs, inputs):
    x, weight = normal(rows, inputs), normal(outputs, inputs, seed=1)
    assert close(kernel(x, weight), plain(x, weight))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("kernel", "plain"), KINDS)
def test_nan_around_the_operands_stays_out(kernel, plain, dtype):
    x, weight = normal(65, 100, dtype=dtype), normal(70, 100, seed=1, dtype=dtype)
    assert torch.equal(kernel(amid_nan(x, beside=5), amid_nan(weight, beside=3)), kernel(x, weight))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(("kernel", "plain"), KINDS)
def test_a_row_is_the_same_alone_reordered_and_among_more(kernel, plain, dtype):
    x, weight = normal(70, 200, dtype=dtype), normal(70, 200, seed=1, dtype=dtype)
    expected = kernel(x, weight)
    order = torch.randperm(70, generator=torch.Generator().manual_seed(2))
    assert torch.equal(kernel(x[order], weight), expected[order])
    for few in ([0], [63], [69], [69, 3, 64, 17, 1, 0], list(range(1, 66))):
        assert torch.equal(kernel(x[few], weight), expected[few])
    poisoned = x.clone()
    poisoned[5] = float("nan")
    found = kernel(poisoned, weight)
    assert found[5].isnan().all() and torch.equal(found[:5], expected[:5]) and torch.equal(found[6:], expected[6:])


@pytest.mark.parametrize(("outputs", "inputs"), [(1024, 3584), (6144, 1024), (151936, 1024), (576, 1536), (1, 1)])
def test_parts_follow_from_the_weight(outputs, inputs):
    part = part_inputs(outputs, inputs)
    assert part % BLOCK_K == 0 and part >= min(inputs, BLOCK_K)
    assert (part >= inputs) == (outputs >= 128 * 64 or inputs <= BLOCK_K)


def test_operands_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="inputs must be as many"):
        linear(normal(3, 4), normal(3, 5))
    with pytest.raises(ValueError, match="inputs must be as many"):
        small_linear(normal(3, 4), normal(3, 4, dtype=torch.bfloat16))
    with pytest.raises(ValueError, match="must be contiguous"):
        linear(normal(4, 3).t(), normal(3, 4))
    assert linear(normal(0, 4), normal(3, 4)).shape == small_linear(normal(0, 4), normal(3, 4)).shape == (0, 3)
