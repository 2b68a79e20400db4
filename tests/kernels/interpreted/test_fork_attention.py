"""Attention of packed rows over prefixes by reference: against torch, amid NaN, and row by row bit for bit."""

from dataclasses import dataclass

import pytest
import torch

from deg_core.kernels.fork_attention import fork_attention, plain_fork_attention
from deg_core.kernels.table import RowTable
from tests.kernels.interpreted.draw import amid_nan, close, normal

DTYPES = [torch.float32, torch.bfloat16]
HEADS = [(6, 2, 24), (2, 2, 16), (9, 3, 64)]
ALIKE = {torch.float32: (2, 1, 24), torch.bfloat16: (6, 2, 24)}
"""Heads with which both dtypes take the interpreter about as long."""


@dataclass
class Case:
    """Rows of their own queries, keys and values; prefix: an index into `prefixes`, or -1."""

    lengths: list[int]
    prefix: list[int]
    prefixes: list[tuple[torch.Tensor, torch.Tensor]]
    parts: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]

    @classmethod
    def draw(cls, lengths, prefix, prefixes, heads, dtype):
        query, group, width = heads
        kept = [
            tuple(normal(group, length, width, seed=10 * i + j, dtype=dtype) for j in range(2))
            for i, length in enumerate(prefixes)
        ]
        parts = [
            tuple(normal(n, h, width, seed=100 * i + j, dtype=dtype) for j, h in enumerate((query, group, group)))
            for i, n in enumerate(lengths)
        ]
        return cls(lengths, prefix, kept, parts)

    def run(self, order=None, poisoned=False, plain=False):
        """Each row's output, computed together in the order."""
        order = list(range(len(self.lengths))) if order is None else order
        q, k, v = (torch.cat([self.parts[i][j] for i in order]) for j in range(3))
        if poisoned:
            q, k, v = (amid_nan(x, before=0, after=5, beside=8) for x in (q, k, v))
        lengths = [self.lengths[i] for i in order]
        ends = torch.tensor(lengths).cumsum(0).tolist()
        starts = [end - length for end, length in zip(ends, lengths, strict=True)]
        prefix = [self.prefix[i] for i in order]
        if plain:
            kept = [self.prefixes[i] if i >= 0 else None for i in prefix]
            found = plain_fork_attention(q, k, v, list(zip(starts, ends, strict=True)), kept)
        else:
            kept = [tuple(amid_nan(x, 8, 8) for x in pair) if poisoned else pair for pair in self.prefixes]
            states = [(pair[0].shape[1], [(), pair]) for pair in kept]
            states = [(length, [pair, pair]) for length, (_, pair) in states]
            found = fork_attention(q, k, v, RowTable.of(starts, lengths, prefix, states, q.device), 1)
        return dict(zip(order, found.split(lengths), strict=False))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("heads", HEADS, ids=str)
def test_it_equals_torch(heads, dtype):
    case = Case.draw([1, 7, 63, 33], [0, 1, 1, -1], [65, 7], heads, dtype)
    found, expected = case.run(), case.run(plain=True)
    assert all(close(found[row], expected[row]) for row in expected)


@pytest.mark.parametrize("lengths", [[1], [63], [1000]], ids=str)
def test_a_context_is_read_causally(lengths):
    case = Case.draw(lengths, [-1], [], (1, 1, 16), torch.bfloat16)
    assert close(case.run()[0], case.run(plain=True)[0])


@pytest.mark.parametrize("length", [1, 63, 64, 1000])
def test_a_decoded_token_sees_its_prefix(length):
    case = Case.draw([1, 1], [0, 0], [length], (6, 2, 24), torch.bfloat16)
    found, expected = case.run(), case.run(plain=True)
    assert all(close(found[row], expected[row]) for row in expected)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_nan_beyond_rows_and_prefixes_stays_out(dtype):
    case = Case.draw([5, 40], [0, -1], [33], (6, 2, 24), dtype)
    clean, poisoned = case.run(), case.run(poisoned=True)
    assert all(torch.equal(poisoned[row], clean[row]) for row in clean)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_row_is_the_same_alone_reordered_and_among_more(dtype):
    case = Case.draw([30, 1, 65, 7, 22], [0, 0, 1, -1, 1], [70, 33], ALIKE[dtype], dtype)
    expected = case.run()
    for order in ([4, 2, 0, 3, 1], [3], [1], [0], [2, 4]):
        assert all(torch.equal(out, expected[row]) for row, out in case.run(order).items())
    case.parts[2][2].fill_(float("nan"))
    case.prefixes[1][0].fill_(float("nan"))
    found = case.run()
    assert all(torch.equal(found[row], expected[row]) for row in (0, 1, 3))
    assert found[2].isnan().all() and found[4].isnan().all()


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_pieces_give_the_bits_of_the_whole(dtype):
    heads, length, cut = ALIKE[dtype], 100, 64
    whole = Case.draw([length], [-1], [], heads, dtype)
    q, k, v = whole.parts[0]
    pieces = Case.draw([length - cut], [0], [cut], heads, dtype)
    pieces.prefixes[0] = tuple(x[:cut].transpose(0, 1).contiguous() for x in (k, v))
    pieces.parts[0] = (q[cut:], k[cut:], v[cut:])
    assert torch.equal(pieces.run()[0], whole.run()[0][cut:])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_own_keys_may_lie_in_a_buffer(dtype):
    """A row's last token alone, its keys in the second of two places amid NaN: the bits of the row read whole."""
    length, room = 40, 50
    case = Case.draw([length], [0], [33], ALIKE[dtype], dtype)
    q, k, v = case.parts[0]
    k, v = (amid_nan(x, before=room, after=room - length) for x in (k, v))
    buffers = [x.as_strided((2 * room, *x.shape[1:]), x.stride(), 0) for x in (k, v)]
    own = torch.tensor([(room, length - 1)])
    table = RowTable.of([0], [1], [0], [(33, [case.prefixes[0]])], q.device, own)
    assert torch.equal(fork_attention(q[-1:], *buffers, table, 0)[0], case.run()[0][-1])


def test_rows_beyond_the_table_are_zero():
    q, k, v = normal(9, 6, 24), normal(9, 2, 24, seed=1), normal(9, 2, 24, seed=2)
    out = fork_attention(q, k, v, RowTable.of([0], [5], [-1], [], q.device), 0)
    assert out[:5].all() and not out[5:].any()


def test_what_does_not_fit_is_refused():
    q, table = normal(9, 6, 24), RowTable.of([0], [5], [-1], [], torch.device("cpu"))
    with pytest.raises(ValueError, match="query heads over"):
        fork_attention(q, q[:, :4], q[:, :4], table, 0)
    with pytest.raises(ValueError, match="query heads over"):
        fork_attention(q, q.bfloat16(), q, table, 0)
    with pytest.raises(ValueError, match="more than"):
        fork_attention(normal(1, 17, 8), normal(1, 1, 8), normal(1, 1, 8), table, 0)
    turned = q.transpose(1, 2).contiguous().transpose(1, 2)
    with pytest.raises(ValueError, match="must be contiguous"):
        fork_attention(turned, q, q, table, 0)
    for tensor in (normal(2, 4, 3).transpose(0, 1), normal(9)[1:]):
        with pytest.raises(ValueError, match="contiguous"):
            RowTable.of([0], [5], [0], [(4, [(tensor, tensor)])], torch.device("cpu"))
