"""What holds for every text."""

from __future__ import annotations

import re
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from deg_core.contract.formats import is_valid
from deg_core.values import (
    date_candidates,
    datetime_candidates,
    format_candidates,
    number_candidates,
    parse_date,
    parse_datetime,
    parse_number,
    trim_span,
)

_PIECES = [
    "0",
    "1",
    "7",
    "12",
    "31",
    "123",
    "1234",
    "2026",
    "05",
    "999999",
    ".",
    ",",
    "'",
    "’",
    "-",
    "–",
    "+",
    "−",
    "/",
    ":",
    ";",
    "(",
    ")",
    "[",
    "]",
    "«",
    "»",
    "“",
    "”",
    '"',
    "$",
    "€",
    "EUR",
    "kr",
    "%",
    "k",
    "M",
    "e",
    "million",
    "hundred",
    "two",
    "twenty",
    "and",
    "a",
    "of",
    "th",
    "st",
    "T",
    "Z",
    "May",
    "mar",
    "de",
    "Mai",
    "@",
    "x.y",
    "http://",
    "urn:",
    "6f1ab9d2",
    "pm",
    "a.m.",
    "UTC",
    "½",
    "年",
    "月",
    "日",
    "é",
    "京",
]
_WRITTEN = st.lists(st.sampled_from([*_PIECES, " ", " ", "\u00a0", "\n"]), max_size=25).map("".join)
texts = st.one_of(st.text(max_size=60), _WRITTEN)
_MULTIPLIER = re.compile(r"[kKmMB]|hundred|thousand|million|[eE][-+]?[0-9]|[a-z]{3,}|[¼-¾⅐-⅞/]", re.IGNORECASE)


def _digits(number: int | float) -> str:
    """The digits of a number in positional notation, without zeros at its ends."""
    return re.sub(r"\D", "", f"{abs(Decimal(str(number))):f}").strip("0")


@given(texts)
@settings(max_examples=300, deadline=None)
def test_candidates_are_in_range_in_order_and_once(text):
    found = [number_candidates(text), date_candidates(text), date_candidates(text, "DMY"), datetime_candidates(text)]
    found += [format_candidates(text, name) for name in ("email", "uri", "uuid")]
    for candidates in found:
        keys = [(c.start, -c.end) for c in candidates]
        assert keys == sorted(set(keys))
        assert all(0 <= c.start < c.end <= len(text) for c in candidates)


@given(_WRITTEN, _WRITTEN)
@settings(max_examples=300, deadline=None)
def test_a_line_is_read_as_if_it_stood_alone(one, other):
    """Equal writing is read once for a whole text, so what came before must not change what a line holds."""
    first, second = f"{one}\n", f"\n{other}"
    moved = [(len(one) + c.start, len(one) + c.end, c.value) for c in number_candidates(second)]
    alone = [(c.start, c.end, c.value) for c in number_candidates(first)]
    assert [(c.start, c.end, c.value) for c in number_candidates(f"{one}\n{other}")] == alone + moved


@given(texts)
@settings(max_examples=300, deadline=None)
def test_a_number_has_the_digits_that_are_written(text):
    for c in number_candidates(text):
        written = text[c.start : c.end]
        if not _MULTIPLIER.search(written):
            shown = re.sub(r"[^0-9]", "", written).strip("0")
            assert _digits(c.value) == shown or len(shown) > 15  # a double has some 15 digits


@given(texts)
@settings(max_examples=300, deadline=None)
def test_a_date_has_its_day_and_year_written(text):
    for c in date_candidates(text, "DMY") + datetime_candidates(text, "MDY"):
        written = text[c.start : c.end]
        year, day = c.value[2:4], int(c.value[8:10])
        assert year in written and str(day) in written
        assert is_valid("date" if len(c.value) == 10 else "date-time", c.value)


@given(texts)
@settings(max_examples=200, deadline=None)
def test_a_span_read_alone_has_the_same_value(text):
    for c in number_candidates(text):
        assert parse_number(text[c.start : c.end]) == c.value
    for c in date_candidates(text, "MDY"):
        assert parse_date(text[c.start : c.end], "MDY") == c.value
    for c in datetime_candidates(text, "MDY"):
        assert parse_datetime(text[c.start : c.end], "MDY") == c.value


@given(st.integers(1 - 10**15, 10**15 - 1), st.sampled_from(["", " ", ",", "'", "."]), st.integers(0, 99))
@settings(deadline=None)
def test_a_formatted_number_is_read_back(number, separator, cents):
    plain = f"{number:,}".replace(",", separator)
    mark = "," if separator == "." else "."
    assert parse_number(f"{plain}{mark}{cents:02}") == float(f"{number}.{cents:02}")


@given(st.dates(), st.sampled_from(["%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%d.%m.%Y", "%Y/%m/%d", "%d-%b-%Y"]))
@settings(deadline=None)
def test_a_formatted_date_is_read_back(day, form):
    text = day.strftime(form.replace("%Y", f"{day.year:04}"))
    assert parse_date(text, "DMY") == day.isoformat()


@given(texts, st.integers(0, 60), st.integers(0, 60))
@settings(max_examples=300, deadline=None)
def test_trimming_stays_inside_and_is_done_at_once(text, one, other):
    start, end = sorted((min(one, len(text)), min(other, len(text))))
    first, last = trim_span(text, start, end)
    assert start <= first <= last <= end
    assert trim_span(text, first, last) == (first, last)
