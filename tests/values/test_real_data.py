"""Public data sets, where they are present: gold values are candidates, and trimming recovers gold spans."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from deg_core.config import FillOptions
from deg_core.contract.errors import SchemaError
from deg_core.model.tokens import Tokens
from tests.values.gold import Gold, gold_of

DATA = Path(os.environ.get("DEG_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))
STEP = 2  # every second record of a set

# Least share reached. Missing: receipts that write the month first, and a date with its brackets.
DATES = {"sroie": 0.991}
# Where the gold span of a number is a phrase ("two adults"), a candidate inside it counts. Missing in nlupp:
# values that are derived ("two couples" are 4).
NUMBERS = {"sroie": 1.0, "references": 1.0, "snips": 1.0, "nlupp": 0.97}
# Missing: addresses whose gold ends with a comma, volumes that begin with a mark, parts of words.
PLAIN = {"sroie": 0.982, "sgd": 1.0, "references": 0.999, "snips": 1.0, "muc4": 0.998, "nlupp": 1.0, "crossner": 1.0}
PLAIN |= {"mams": 0.997}
ALL_PLAIN = 0.998

WRITTEN_NUMBER = re.compile(
    r"[0-9]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b", re.IGNORECASE
)

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the public data sets are not here")


def leaves(name: str, tokens: Tokens) -> Iterator[Gold]:
    """The gold of a set; records whose schema the contract refuses are passed over."""
    with (DATA / f"{name}.jsonl").open(encoding="utf-8") as lines:
        for line in islice(lines, 0, None, STEP):
            try:
                yield from gold_of(json.loads(line), tokens)
            except SchemaError as error:
                assert "1 value; a choice has 2 to 255" in str(error)


def letters(text: str) -> str:
    """What two writings of a value share: no case, white space and punctuation."""
    return re.sub(r"[\W_]+", "", text).lower()


def options_of(name: str) -> FillOptions:
    return FillOptions(date_order="DMY") if name == "sroie" else FillOptions()


@pytest.mark.parametrize("name", DATES)
def test_dates_are_candidates(name, tokens):
    found = [
        any(gold.same_tokens(c) for c in gold.candidates(options_of(name)))
        for gold in leaves(name, tokens)
        if gold.field.mode == "extract.date"
    ]
    assert len(found) > 100 and sum(found) / len(found) >= DATES[name]


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_candidates(name, tokens):
    found = [
        any(gold.same_tokens(c) or _inside(gold, c.start, c.end) for c in gold.candidates(options_of(name)))
        for gold in leaves(name, tokens)
        if gold.field.mode == "extract.number" and WRITTEN_NUMBER.search(gold.printed)
    ]
    assert len(found) > 20 and sum(found) / len(found) >= NUMBERS[name]


def _inside(gold: Gold, start: int, end: int) -> bool:
    return gold.span[0] <= start and end <= gold.span[1]


def test_trimming_recovers_plain_spans(tokens):
    counts: Counter[tuple[str, bool]] = Counter()
    for name in PLAIN:
        for gold in leaves(name, tokens):
            if gold.plain and letters(gold.printed) == letters(gold.value):
                counts[name, gold.trimmed() == gold.span] += 1
    shares = {name: counts[name, True] / (counts[name, True] + counts[name, False]) for name in PLAIN}
    assert {name: share for name, share in shares.items() if share < PLAIN[name]} == {}
    right = sum(count for (_, same), count in counts.items() if same)
    assert right / counts.total() >= ALL_PLAIN
