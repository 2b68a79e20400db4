"""What stands between two products, on a CPU: one pass over each row, compiled by numba (contract section 12.2).

torch makes a pass over memory for every operation. Here a row stays in the nearest cache from its first operation to its
last. All is IEEE 754 arithmetic in single precision and in a fixed order, fused where that is written and nowhere else, and
without any library's exp: a row's bits depend on that row alone, and on no machine, vector width or number of threads.

All kernels stand in this one file, since numba compiles a cached kernel again only when its own file has changed.
Tensors are float32 or bfloat16, which a kernel sees as uint16; results are rounded once. There is no gradient.

N = rows, E = width of a row, H = heads, D = head width, L = queries, K = keys.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

PART_ELEMENTS = 1 << 16
"""A thread gets at least so many elements; handing less over takes longer than the work."""
ZERO_POINT = 128
"""What stands for zero in a rounded row: bytes are unsigned."""
SMALLEST = 1e-12
COLUMNS = 32
"""Of a recurrent state that are worked on together, over all tokens: 128 rows of them stay in the nearest cache."""
SHIFT = 3 * 2.0**22
"""Added to a smaller float32 it leaves no place for fractions."""


def _compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """numba's machine code of a kernel, kept on disk where there is a folder to write to."""
    try:
        return njit(nogil=True, cache=True, error_model="numpy")(function)
    except RuntimeError:  # no folder that can be written
        return njit(nogil=True, error_model="numpy")(function)


inlined = njit(inline="always", error_model="numpy")
f32, i32, u32 = np.float32, np.int32, np.uint32
ROW, U0, U1, U2, U3, U4 = (np.uintp(n) for n in (COLUMNS, 0, 1, 2, 3, 4))
"""Indices without a sign; one that may be negative is looked at each time."""


@intrinsic
def bits(context: Any, x: Any) -> Any:
    """The bits of a float32, as uint32."""
    return types.uint32(types.float32), lambda _, build, __, found: build.bitcast(found[0], ir.IntType(32))


@intrinsic
def from_bits(context: Any, x: Any) -> Any:
    """The float32 of these bits (uint32)."""
    return types.float32(types.uint32), lambda _, build, __, found: build.bitcast(found[0], ir.FloatType())


@intrinsic
def widened(context: Any, x: Any) -> Any:
    """float32 of a number as it is stored: of a float32, or of the upper half of one (bfloat16)."""

    def half(_: Any, build: Any, __: Any, found: Any) -> Any:
        whole = ir.IntType(32)
        return build.bitcast(build.shl(build.zext(found[0], whole), whole(16)), ir.FloatType())

    if x == types.float32:
        return types.float32(x), lambda _, __, ___, found: found[0]
    return types.float32(types.uint16), half


@intrinsic
def stored(context: Any, x: Any, where: Any) -> Any:
    """A float32 as an array holds it: as it is, or rounded to the nearest bfloat16, of two equally near the even one."""

    def half(_: Any, build: Any, __: Any, found: Any) -> Any:
        whole = ir.IntType(32)
        long = build.bitcast(found[0], whole)
        odd = build.and_(build.lshr(long, whole(16)), whole(1))
        return build.trunc(build.lshr(build.add(build.add(long, whole(0x7FFF)), odd), whole(16)), ir.IntType(16))

    if where.dtype == types.float32:
        return types.float32(types.float32, where), lambda _, __, ___, found: found[0]
    return types.uint16(types.float32, where), half


@intrinsic
def fused(context: Any, a: Any, b: Any, c: Any) -> Any:
    """a * b + c, rounded once."""
    one = types.float32
    return one(one, one, one), lambda _, build, __, found: build.fma(*found)


@inlined
def exp(x):
    """e ** x in [-87, 88], the ends beyond: 2 ** n times a polynomial of the rest (S. Moshier, Cephes: expf), to 1e-7."""
    x = f32(88) if x > f32(88) else x  # in this order no number stays none
    x = f32(-87) if x < f32(-87) else x
    shifted = fused(x, f32(1.44269504), f32(SHIFT))  # rounded to a whole number, which its last bits are
    n = shifted - f32(SHIFT)
    r = fused(n, f32(-0.693359375), x)
    r = fused(n, f32(2.12194440e-4), r)
    p = fused(f32(1.9875691500e-4), r, f32(1.3981999507e-3))
    p = fused(p, r, f32(8.3334519073e-3))
    p = fused(p, r, f32(4.1665795894e-2))
    p = fused(p, r, f32(1.6666665459e-1))
    p = fused(p, r, f32(5.0000001201e-1))
    p = fused(p, r * r, r) + f32(1)
    return from_bits(u32(bits(p) + u32(bits(shifted) << u32(23))))


@inlined
def total(row, count):
    """The sum of row[:count], in eight parts."""
    a = b = c = d = e = f = g = h = f32(0)
    whole = count - count % 8
    for start in range(0, whole, 8):
        x = row[start : start + 8]
        a, b, c, d, e, f, g, h = a + x[0], b + x[1], c + x[2], d + x[3], e + x[4], f + x[5], g + x[6], h + x[7]
    found = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for i in range(whole, count):
        found += row[i]
    return found


@inlined
def ordered(x):
    """An int32 that is larger where the number is; the number again from it by the same change of bits."""
    found = i32(x)
    return i32(found ^ i32(i32(found >> i32(31)) & i32(0x7FFFFFFF)))


@inlined
def turn(row, turns):
    """row, seen as [turns, width], times the unscaled Hadamard matrix over its first axis, in place; turns a power of 2."""
    size = row.shape[0]
    step = size // turns
    while 4 * step <= size:
        for start in range(0, size, 4 * step):
            a, b = row[start : start + step], row[start + step : start + 2 * step]
            c, d = row[start + 2 * step : start + 3 * step], row[start + 3 * step : start + 4 * step]
            for i in range(step):
                ab, ab_, cd, cd_ = a[i] + b[i], a[i] - b[i], c[i] + d[i], c[i] - d[i]
                a[i], b[i], c[i], d[i] = ab + cd, ab_ + cd_, ab - cd, ab_ - cd_
        step *= 4
    if step < size:
        a, b = row[:step], row[step:]
        for i in range(step):
            a[i], b[i] = a[i] + b[i], a[i] - b[i]


@inlined
def rounded(row, turns, out):
    """Turn a row, put it into bytes around ZERO_POINT, and return the scale of one step."""
    turn(row, turns)
    largest = u32(0)
    for i in range(row.shape[0]):
        found = u32(bits(row[i]) & u32(0x7FFFFFFF))  # of numbers without sign the larger has the larger bits
        largest = u32(found if found > largest else largest)
    norm = f32(1) / np.sqrt(f32(turns))
    scale = from_bits(largest) * norm
    scale = (f32(SMALLEST) if scale < f32(SMALLEST) else scale) / f32(127)
    steps = norm / scale
    for i in range(row.shape[0]):
        out[i] = np.uint8(i32(np.rint(row[i] * steps)) + i32(ZERO_POINT))
    return scale


@_compiled
def _round(x, out, scales, turns):
    row = np.empty(x.shape[1], f32)
    for n in range(x.shape[0]):
        for i in range(x.shape[1]):
            row[i] = widened(x[n, i])
        scales[n] = rounded(row, turns, out[n])


@_compiled
def _gated_silu(gate_up, out):
    width = out.shape[1]
    for n in range(out.shape[0]):
        gate, up, to = gate_up[n, :width], gate_up[n, width:], out[n]
        for i in range(width):
            x = widened(gate[i])
            to[i] = stored(x / (f32(1) + exp(-x)) * widened(up[i]), out)


@_compiled
def _round_gated_silu(gate_up, scales_in, out, scales, turns):
    width = out.shape[1]
    row = np.empty(width, f32)
    for n in range(out.shape[0]):
        gate, up, scale = gate_up[n, :width], gate_up[n, width:], scales_in[n]
        for i in range(width):
            x = gate[i] * scale
            row[i] = x / (f32(1) + exp(-x)) * (up[i] * scale)
        scales[n] = rounded(row, turns, out[n])


@_compiled
def _scale(x, scales, out):
    for n in range(out.shape[0]):
        row, scale, to = x[n], scales[n], out[n]
        for i in range(out.shape[1]):
            to[i] = stored(row[i] * scale, out)


@_compiled
def _norm(x, gate, out, weight, eps, gated):
    width = x.shape[1]
    row, squares = np.empty(width, f32), np.empty(width, f32)
    for n in range(x.shape[0]):
        for i in range(width):
            row[i] = widened(x[n, i])
            squares[i] = row[i] * row[i]
        scale = f32(1) / np.sqrt(total(squares, width) / f32(width) + eps)
        if gated:
            for i in range(width):
                z = widened(gate[n, i])
                row[i] *= z / (f32(1) + exp(-z))
        to = out[n]
        for i in range(width):
            to[i] = stored(row[i] * scale * weight[i], out)


@_compiled
def _convolve(places, out, x, weight, activated):
    width = out.shape[1]
    row = np.empty(width, f32)
    for n in range(out.shape[0]):
        row[:] = f32(0)
        for tap in range(weight.shape[0]):
            here, share = x[places[n] + tap], weight[tap]
            for i in range(width):
                row[i] = fused(widened(here[i]), share[i], row[i])
        to = out[n]
        if activated:
            for i in range(width):
                to[i] = row[i] / (f32(1) + exp(-row[i]))
        else:
            for i in range(width):
                to[i] = row[i]


@_compiled
def _delta(heads, state, q, k, v, decay, beta, out):
    keys, values = state.shape[1], state.shape[2]
    padded = np.uintp((keys + 3) // 4 * 4)
    s, key, query = np.zeros(padded * ROW, f32), np.zeros(padded, f32), np.zeros(padded, f32)
    read, new, found = np.empty(COLUMNS, f32), np.zeros(COLUMNS, f32), np.empty(COLUMNS, f32)
    for h in range(heads.shape[0]):
        head = heads[h]
        for low in range(0, values, COLUMNS):
            here = min(COLUMNS, values - low)
            first = head * values + low
            for j in range(keys):
                s[j * COLUMNS : j * COLUMNS + here] = state[h, j, low : low + here]
            for n in range(q.shape[0]):
                kept, share = exp(decay[n, head]), beta[n, head]
                own_k, own_q = k[n, head * keys : (head + 1) * keys], q[n, head * keys : (head + 1) * keys]
                written, to = v[n, first : first + here], out[n, first : first + here]
                for j in range(keys):
                    key[j], query[j] = own_k[j], own_q[j]
                read[:] = f32(0)
                for j in range(U0, padded, U4):
                    ka, kb, kc, kd = key[j], key[j + U1], key[j + U2], key[j + U3]
                    at = j * ROW
                    for i in range(ROW):
                        ab = fused(kb, s[at + i + ROW], ka * s[at + i])
                        cd = fused(kd, s[at + i + U3 * ROW], kc * s[at + i + U2 * ROW])
                        read[i] += ab + cd
                for i in range(here):
                    new[i] = share * (written[i] - kept * read[i])
                found[:] = f32(0)
                for j in range(U0, padded, U4):
                    ka, kb, kc, kd = key[j], key[j + U1], key[j + U2], key[j + U3]
                    qa, qb, qc, qd = query[j], query[j + U1], query[j + U2], query[j + U3]
                    at = j * ROW
                    for i in range(ROW):
                        a, b = fused(ka, new[i], kept * s[at + i]), fused(kb, new[i], kept * s[at + i + ROW])
                        c = fused(kc, new[i], kept * s[at + i + U2 * ROW])
                        d = fused(kd, new[i], kept * s[at + i + U3 * ROW])
                        s[at + i], s[at + i + ROW], s[at + i + U2 * ROW], s[at + i + U3 * ROW] = a, b, c, d
                        found[i] += fused(qb, b, qa * a) + fused(qd, d, qc * c)
                for i in range(here):
                    to[i] = found[i]
            for j in range(keys):
                state[h, j, low : low + here] = s[j * COLUMNS : j * COLUMNS + here]


@_compiled
def _rotate(x, cos, sin, out):
    heads, width = x.shape[1], x.shape[2]
    half = np.uintp(width // 2)
    c, s = np.empty(width, f32), np.empty(width, f32)
    for n in range(x.shape[0]):
        for i in range(width):
            c[i], s[i] = widened(cos[n, i]), widened(sin[n, i])
        for head in range(heads):
            here, to = x[n, head], out[n, head]
            for i in range(half):
                low, high = widened(here[i]), widened(here[i + half])
                to[i] = stored(low * c[i] - high * s[i], out)
                to[i + half] = stored(high * c[i + half] + low * s[i + half], out)


@inlined
def exponents(scores, seen, before, row):
    """exp(score - largest) of the scores seen, to row; returns the largest of them and the one before."""
    largest = ordered(bits(before))
    for i in range(seen):
        row[i] = widened(scores[i])
        found = ordered(bits(row[i]))
        largest = i32(found if found > largest else largest)
    top = from_bits(u32(ordered(largest)))
    for i in range(seen):
        row[i] = exp(row[i] - top)
    return top


@_compiled
def _causal_softmax(scores, repeat):
    length, keys = scores.shape[1] // repeat, scores.shape[2]
    row = np.empty(keys, f32)
    for head in range(scores.shape[0]):
        for m in range(scores.shape[1]):
            seen = keys - length + m // repeat + 1
            here = scores[head, m]
            exponents(here, seen, f32(-np.inf), row)
            share = f32(1) / total(row, seen)
            for i in range(seen):
                here[i] = stored(row[i] * share, scores)
            for i in range(seen, keys):
                here[i] = stored(f32(0), scores)


@_compiled
def _fold_softmax(scores, tops, sums, mixed, repeat, later):
    length, keys = scores.shape[1] // repeat, scores.shape[2]
    row = np.empty(keys, f32)
    for head in range(scores.shape[0]):
        for m in range(scores.shape[1]):
            seen = max(0, min(keys, keys + later - length + m // repeat + 1))
            here, so_far = scores[head, m], mixed[head, m]
            top = exponents(here, seen, tops[head, m], row)
            for i in range(seen):
                here[i] = stored(row[i], scores)
            for i in range(seen, keys):
                here[i] = stored(f32(0), scores)
            kept = exp(tops[head, m] - top)
            tops[head, m], sums[head, m] = top, sums[head, m] * kept + total(row, seen)
            for i in range(so_far.shape[0]):
                so_far[i] *= kept


def round_rows(x: torch.Tensor, turns: int) -> tuple[torch.Tensor, torch.Tensor]:
    """x [N, E] turned (see turn) and rounded to uint8 [N, E] around ZERO_POINT, and each row's scale, float32 [N]."""
    out, scales = _bytes(*x.shape)
    _by_rows(_round, (_array(x), out.numpy(), scales.numpy()), turns)
    return out, scales


def round_gated_silu(gate_up: torch.Tensor, scales: torch.Tensor, turns: int) -> tuple[torch.Tensor, torch.Tensor]:
    """gated_silu of float32 gate_up [N, 2 E] times scales [N], as round_rows gives it."""
    out, found = _bytes(gate_up.shape[0], gate_up.shape[1] // 2)
    _by_rows(_round_gated_silu, (_array(gate_up), _array(scales), out.numpy(), found.numpy()), turns)
    return out, found


def gated_silu(gate_up: torch.Tensor) -> torch.Tensor:
    """silu(gate) * up of a fused [N, 2 E], to [N, E]."""
    out = gate_up.new_empty(gate_up.shape[0], gate_up.shape[1] // 2)
    _by_rows(_gated_silu, (_array(gate_up), _array(out)))
    return out


def scale_rows(x: torch.Tensor, scales: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """float32 x [N, E] times scales [N], in a dtype."""
    out = torch.empty(x.shape, dtype=dtype)
    _by_rows(_scale, (_array(x), _array(scales), _array(out)))
    return out


def rms_norm(
    x: torch.Tensor, weight_E: torch.Tensor | None, eps: float, offset: float = 0.0, gate: torch.Tensor | None = None
) -> torch.Tensor:
    """x / sqrt(mean(x^2) + eps) * (offset + weight) * silu(gate) over the last dimension, in the dtype of x.

    x: [..., E]; gate: as many elements in the same order. Without weight or gate that factor is left out.
    """
    width = x.shape[-1]
    rows, out = x.reshape(-1, width), torch.empty(x.shape, dtype=x.dtype)
    gates = rows if gate is None else gate.reshape(-1, width)
    weight = torch.ones(width) if weight_E is None else weight_E.float() + offset
    arrays = (_array(rows), _array(gates), _array(out.view(-1, width)))
    _by_rows(_norm, arrays, _array(weight), np.float32(eps), gate is not None)
    return out


def convolve(
    x: torch.Tensor, weight_JE: torch.Tensor, places: torch.Tensor, out: torch.Tensor, activated: bool
) -> torch.Tensor:
    """The sum over j of x[places + j] * weight[j], or its silu, to float32 out [N, E]; x [N', E]; places int64 [N]."""
    weights = _array(weight_JE.float())
    _by_rows(_convolve, (places.numpy(), out.numpy()), _array(x), weights, activated)
    return out


def delta_rule(
    state: torch.Tensor,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    decay: torch.Tensor,
    beta: torch.Tensor,
    out: torch.Tensor,
) -> None:
    """The gated delta rule token by token over one row, all float32 (model/delta.py says what it computes).

    state: [H, K, V], rewritten. q, k: [N, H, K]. v: [N, H, V]. decay, beta: [N, H]. out: [N, H, V].
    """
    flat = (_array(x.flatten(1)) for x in (q, k, v, decay, beta))
    heads = np.arange(state.shape[0])
    _by_rows(_delta, (heads, state.numpy()), *flat, out.flatten(1).numpy())


def rotate(x_NHD: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Every head turned by its token's angles; cos, sin [N, 1, D]."""
    out = torch.empty(x_NHD.shape, dtype=x_NHD.dtype)
    _by_rows(_rotate, (_array(x_NHD), _array(cos.squeeze(1)), _array(sin.squeeze(1)), _array(out)))
    return out


def causal_softmax(scores: torch.Tensor, repeat: int) -> torch.Tensor:
    """Softmax over the keys that a query may see, zero for the others, in place.

    scores: [H, L * repeat, K], of the last L of K tokens, each `repeat` times in a row.
    """
    _by_rows(_causal_softmax, (_array(scores),), repeat)
    return scores


def fold_softmax(
    scores: torch.Tensor, tops: torch.Tensor, sums: torch.Tensor, mixed: torch.Tensor, repeat: int, later: int
) -> torch.Tensor:
    """As causal_softmax for some of the keys, of which `later` ones follow, but for the division by the sum.

    tops, sums: float32 [H, L * repeat], the largest score so far and the sum of exp(score - largest), brought up to date.
    mixed: float32 [H, L * repeat, D], what was made with the weights before, rescaled (arXiv:1805.02867).
    """
    arrays = (_array(scores), tops.numpy(), sums.numpy(), mixed.numpy())
    _by_rows(_fold_softmax, arrays, repeat, later)
    return scores


def _bytes(rows: int, width: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.empty(rows, width, dtype=torch.uint8), torch.empty(rows)


def _array(x: torch.Tensor) -> np.ndarray:
    """A contiguous tensor's numbers, without a copy; of another the numbers of a copy."""
    x = x.detach().contiguous()
    return (x.view(torch.uint16) if x.dtype == torch.bfloat16 else x).numpy()


def _by_rows(kernel: Callable[..., Any], arrays: tuple[np.ndarray, ...], *shared: Any) -> None:
    """Run a kernel over arrays of the same rows, cut among torch's threads; rows never see each other."""
    rows = len(arrays[0])
    parts = min(torch.get_num_threads(), rows, arrays[-1].size // PART_ELEMENTS)
    if parts < 2:
        kernel(*arrays, *shared)
        return
    edges = [rows * part // parts for part in range(parts + 1)]
    jobs = [_threads().submit(kernel, *(a[low:high] for a in arrays), *shared) for low, high in pairwise(edges)]
    for job in jobs:
        job.result()


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), "rowwise")


os.register_at_fork(after_in_child=_threads.cache_clear)
