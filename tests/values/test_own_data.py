"""Every value of the generated documents is a candidate with its exact span, and every plain one survives trimming."""

from __future__ import annotations

from collections import Counter

import pytest

from deg_core.config import DataSettings, FillOptions
from deg_core.generator.records import generate_records
from tests.values.gold import gold_of


@pytest.mark.parametrize("split", ["train", "val", "test"])
def test_every_value_is_found(split, tokens):
    seen: Counter[str] = Counter()
    for record in generate_records(DataSettings(train=120, val=80, test=80), split):
        for gold in gold_of(record, tokens):
            spans = [gold.trimmed()] if gold.plain else [(c.start, c.end) for c in gold.candidates(FillOptions())]
            assert gold.span in spans, f"{record['uid']} {gold.pointer}: {gold.printed!r} is not among {spans}"
            seen[gold.field.mode] += 1
    assert min(seen[mode] for mode in ("extract.number", "extract.date", "extract.span")) >= 20
