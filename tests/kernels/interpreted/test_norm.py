"""The RMS norm in its forms against torch, amid NaN, and row by row bit for bit."""

import pytest
import torch

from deg_core.kernels.norm import plain_rms_norm, rms_norm
from tests.kernels.interpreted.draw import amid_nan, close, normal

EPS = 1e-6


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("form", ["bare", "weighed", "offset", "gated"])
@pytest.mark.parametrize("rows", [1, 7, 63, 65])
@pytest.mark.parametrize("width", [1, 8, 63, 1000])
def test_it_equals_torch(width, rows, form, dtype):
    x = normal(rows, 3, width, dtype=dtype) * 4
    weight = None if form == "bare" else normal(width, seed=1, dtype=dtype)
    gate = normal(rows, 3 * width, seed=2, dtype=dtype) if form == "gated" else None
    offset = 1.0 if form == "offset" else 0.0
    found = rms_norm(x, weight, EPS, offset, gate)
    assert found.shape == x.shape and close(found, plain_rms_norm(x, weight, EPS, offset, gate))


def test_nan_around_the_rows_stays_out():
    x, weight, gate = normal(65, 63), normal(63, seed=1), normal(65, 63, seed=2)
    found = rms_norm(amid_nan(x, beside=9), amid_nan(weight[None], beside=4)[0], EPS, gate=amid_nan(gate, beside=2))
    assert torch.equal(found, rms_norm(x, weight, EPS, gate=gate))


@pytest.mark.parametrize("width", [8, 63, 1000])
def test_a_row_is_the_same_alone_reordered_and_among_more(width):
    x, weight = normal(100, width), normal(width, seed=1)
    expected = rms_norm(x, weight, EPS)
    order = torch.randperm(100, generator=torch.Generator().manual_seed(2))
    assert torch.equal(rms_norm(x[order], weight, EPS), expected[order])
    for few in ([0], [99], [99, 3, 70]):
        assert torch.equal(rms_norm(x[few], weight, EPS), expected[few])


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="does not fit"):
        rms_norm(normal(4, 8), normal(8), EPS, gate=normal(3, 8))
    with pytest.raises(ValueError, match="does not fit"):
        rms_norm(normal(4, 8), normal(7), EPS)
