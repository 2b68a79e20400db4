"""No text and no option makes a grammar fail: what is not found is not there, and only our own errors are raised."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deg_core.config import FillOptions
from deg_core.values import (
    find_candidates,
    parse_date,
    parse_datetime,
    parse_number,
    trim_span,
    violated,
)
from tests.values.leaves import leaf

LEAVES = [
    leaf(type="number", multipleOf=0.01, minimum=-1e9),
    leaf(type="integer", exclusiveMaximum=10**6),
    *(leaf(type="string", format=name) for name in ("date", "date-time", "email", "uri", "uuid")),
    leaf(type="string", minLength=1, maxLength=9, pattern="[a-z]+[0-9]"),
]
MARKS = string.digits + string.punctuation + " \n\t\u00a0\u202f’−–½⅛年月日€£¢"
WORDS = ["May", "mar", "Mai", "de", "million", "hundred and", "pm", "UTC", "T", "Z", "@", "http://", "e-9", "EUR"]
written = st.lists(st.one_of(st.text(MARKS, max_size=6), st.sampled_from(WORDS), st.text(max_size=2)), max_size=20)
texts = st.one_of(st.text(max_size=80), st.text(MARKS, max_size=80), written.map("".join))
options = st.builds(
    FillOptions,
    date_order=st.sampled_from([None, "MDY", "DMY"]),
    default_offset=st.sampled_from([None, "Z", "+05:30"]),
)


@pytest.mark.parametrize("field", LEAVES, ids=lambda field: f"{field.json_type}-{field.format}")
@given(text=texts, options=options)
@settings(max_examples=200, deadline=None)
def test_a_leaf_reads_any_text(field, text, options):
    typed = field.mode != "extract.span" or field.format is not None
    found = find_candidates(field, text, options) if typed else []
    values = [candidate.value for candidate in found] if typed else [text]
    assert all(0 <= c.start < c.end <= len(text) for c in found)
    assert {violated(field, value) for value in values} <= {None, "type", "format", *field.constraints}
    if field.mode == "extract.span":
        assert all(c.value == text[c.start : c.end] for c in found)


@given(text=texts, options=options)
@settings(max_examples=200, deadline=None)
def test_a_whole_text_is_read_or_is_nothing(text, options):
    assert isinstance(parse_number(text), int | float | None)
    assert isinstance(parse_date(text, options.date_order), str | None)
    assert isinstance(parse_datetime(text, options.date_order, options.default_offset), str | None)
    start, end = trim_span(text, 0, len(text))
    assert 0 <= start <= end <= len(text)
