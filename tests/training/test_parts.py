"""Parts: halves until nothing is left to halve, every fork in exactly one."""

import numpy as np
import pytest

from deg_core.pools.example import Example, Fork
from deg_core.training.parts import Part, split


def example(uid: str, forks: int) -> Example:
    rows = [Fork(kind="noul", field=f"/{i}", ids=np.zeros(2, np.int32)) for i in range(forks)]
    return Example(uid, "train", uid, np.zeros(5, np.int32), rows)


def pieces(part: Part) -> list[Part]:
    """The minimal parts below a part, in order."""
    halves = split(part)
    return [part] if halves is None else [piece for half in halves for piece in pieces(half)]


def answered(part: Part) -> list[tuple[str, int]]:
    return [(e.uid, index) for e, chosen in zip(part.examples, part.forks, strict=True) for index in chosen]


def test_records_are_halved_before_forks():
    first, second = split(Part.whole([example("a", 3), example("b", 2), example("c", 4)]))
    assert (answered(first), answered(second)) == (
        [("a", 0), ("a", 1), ("a", 2)],
        [("b", 0), ("b", 1), ("c", 0), ("c", 1), ("c", 2), ("c", 3)],
    )
    assert [answered(half) for half in split(first)] == [[("a", 0)], [("a", 1), ("a", 2)]]


@pytest.mark.parametrize("counts", [[1], [7], [1, 1], [3, 1, 5], [2] * 9])
def test_minimal_parts_answer_every_fork_once_in_order(counts: list[int]):
    whole = Part.whole([example(f"r{i}", count) for i, count in enumerate(counts)])
    minimal = pieces(whole)
    assert [fork for part in minimal for fork in answered(part)] == answered(whole)
    assert all(len(answered(part)) == 1 for part in minimal)


def test_one_fork_cannot_be_split():
    assert split(Part((example("a", 3),), ((1,),))) is None


def test_a_part_needs_fork_indices_for_each_record():
    with pytest.raises(ValueError, match="fork indices"):
        Part((example("a", 1),), ())
    with pytest.raises(ValueError, match="at least one record"):
        Part((), ())
