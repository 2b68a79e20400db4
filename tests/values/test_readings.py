"""Readings that are easy to get wrong: the value must be what is written, or there is none."""

from __future__ import annotations

import pytest

from deg_core.config import FillOptions
from deg_core.values import (
    date_candidates,
    datetime_candidates,
    find_candidates,
    format_candidates,
    number_candidates,
    parse_date,
    parse_datetime,
    parse_number,
    trim_span,
    violated,
)
from tests.values.leaves import leaf


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (".5", 0.5),
        ("-.5", -0.5),
        ("1e-05", 1e-05),
        ("2.5E+3", 2500),
        ("12,34,567", 1234567),
        ("\u22125", -5),
        ("$-5", -5),
        ("-$5", -5),
        ("(1,234.56)", -1234.56),
        ("(5)", None),
        ("34.80RM", 34.8),
        ("£2m", 2_000_000),
        ("5m", None),
        ("$3.5bn", 3_500_000_000),
        ("two hundred and five", 205),
        ("twenty-five hundred", 2500),
        ("one thousand", 1000),
        ("hundred", None),
        ("9007199254740993", 9007199254740993),
        ("9,007,199,254,740,993.00", 9007199254740993),
        ("1.2.3", None),
        ("1234,567", 1234.567),
        ("123456789012345678901k", 123456789012345678901000),
    ],
)
def test_a_number_as_a_whole(text, value):
    assert parse_number(text) == value


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("pp. 393-397", {393, 397}),
        ("INV-2024-001", {2024, 1}),
        ("192.168.0.1", {192, 168, 0, 1}),
        ("1,2,3", {1, 2, 3}),
        (",".join(map(str, range(40))), set(range(40))),
        ("room 12 345", {12345, 12, 345}),
        ("5 of 7%", {5, 7}),
        ("5 $10", {5, 10}),
        ("two, three and four hundred", {2, 3, 400}),
        ("hundreds of two-bedroom flats", {2}),
        ("7" * 50, set()),
        ("\u0663 \uff11", set()),
    ],
)
def test_every_number_of_a_text(text, values):
    assert {c.value for c in number_candidates(text)} == values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12 mar 14:30", None),
        ("3 May 20:30", None),
        ("may 20 30", None),
        ("31/04/2026", None),
        ("3rd of May 2026", "2026-05-03"),
        ("Feb. 28, 2025", "2025-02-28"),
        ("Feb 29, 2025", None),
        ("3 de mayo de 2026", "2026-05-03"),
        ("1er août 2026", "2026-08-01"),
        ("3. Mär. 2026", "2026-03-03"),
        ("12-05-69", "2069-05-12"),
        ("12-05-70", "1970-05-12"),
        ("May 3 '26", "2026-05-03"),
        ("20260305", "2026-03-05"),
        ("2026年3月5日", "2026-03-05"),
    ],
)
def test_a_date_as_a_whole(text, value):
    assert parse_date(text, "DMY") == value


@pytest.mark.parametrize(
    ("order", "value"), [(None, None), ("DMY", "2026-05-03"), ("MDY", "2026-03-05")], ids=["none", "dmy", "mdy"]
)
def test_the_order_decides_an_ambiguous_date(order, value):
    assert parse_date("03/05/2026", order) == value
    assert parse_date("05/05/2026", order) == "2026-05-05"


def test_without_an_order_the_only_valid_reading_counts():
    assert parse_date("13/05/2026") == parse_date("05/13/2026") == "2026-05-13"
    assert parse_date("13/13/2026") is None


@pytest.mark.parametrize("text", ["1.2.2026.4", "192.168.10.12", "1-800-12-05-20", "May 3, 20260", "ID 20260305123"])
def test_a_longer_run_of_digits_holds_no_date(text):
    assert date_candidates(text, "DMY") == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-03-05T10:00:00Z", "2026-03-05T10:00:00Z"),
        ("2026-03-05T23:59:60Z", "2026-03-05T23:59:60Z"),
        ("2026-03-05T24:00:00Z", None),
        ("2026-03-05T10:00+02", "2026-03-05T10:00:00+02:00"),
        ("2026-03-05T10:00:00-0500", "2026-03-05T10:00:00-05:00"),
        ("2026-03-05 10:00:00 -0500", "2026-03-05T10:00:00-05:00"),
        ("20260305T101500Z", "2026-03-05T10:15:00Z"),
        ("2026-03-05 10:00 EST", "2026-03-05T10:00:00-05:00"),
        ("2026-03-05 10:00 UTC+2", "2026-03-05T10:00:00+02:00"),
        ("2026-03-05 12:30 am", "2026-03-05T00:30:00Z"),
        ("2026-03-05 13:00 pm", None),
        ("3 p.m., 5 May 2026", "2026-05-05T15:00:00Z"),
        ("May 3, 2026 at 12 pm", "2026-05-03T12:00:00Z"),
    ],
)
def test_a_date_time_as_a_whole(text, value):
    assert parse_datetime(text) == value


def test_a_range_of_times_is_no_offset():
    assert [c.value for c in datetime_candidates("2026-03-05 10:00-11:00")] == ["2026-03-05T10:00:00Z"]


def test_a_price_after_a_date_is_no_time():
    assert datetime_candidates("2026-03-05 10.30 EUR") == []


def test_an_offset_is_assumed_only_where_none_is_written():
    assumed, written = datetime_candidates("2026-03-05 10:00, 2026-03-06 10:00Z", default_offset="+01:00")
    assert (assumed.value, assumed.assumed_offset) == ("2026-03-05T10:00:00+01:00", True)
    assert (written.value, written.assumed_offset) == ("2026-03-06T10:00:00Z", False)
    assert datetime_candidates("2026-03-05 10:00", default_offset=None) == []


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("email", "to=a.b@c.de; <x@y.com>, '*z@w.org*'.", {"a.b@c.de", "x@y.com", "z@w.org"}),
        ("email", "foo@bar..com x@-y.com @b.com a@", set()),
        ("uri", "see https://x.org/a_(b). (http://a.b/c?d=1)", {"https://x.org/a_(b)", "http://a.b/c?d=1"}),
        ("uri", "Total:5 note: this 10:30 www.x.org", set()),
        ("uri", "DATE:https://x.org", {"https://x.org"}),
        ("uri", "mailto:a@b.com urn:isbn:123", {"mailto:a@b.com", "urn:isbn:123"}),
        ("uuid", "id=123e4567-e89b-12d3-a456-426614174000.", {"123e4567-e89b-12d3-a456-426614174000"}),
        ("uuid", "123e4567-e89b-12d3-a456-4266141740001", set()),
    ],
)
def test_formats_in_a_text(name, text, found):
    candidates = format_candidates(text, name)
    assert found <= {c.value for c in candidates}
    assert all(violated(leaf(type="string", format=name), c.value) is None for c in candidates)
    if not found:
        assert candidates == []


@pytest.mark.parametrize(
    ("covered", "span"),
    [
        (" Acme Inc.", "Acme Inc."),
        (" Washington D.C.?", "Washington D.C."),
        (" 7:25 a.m..", "7:25 a.m."),
        (" calculi (summary).", "calculi (summary)"),
        (" Paris,", "Paris"),
        (" « Titre »", "« Titre »"),
        (" What now?", "What now?"),
        (" .NET", ".NET"),
        (" (fmln)", "(fmln)"),
        (" fmln)", "fmln"),
        ("  ", ""),
    ],
)
def test_borders_of_a_span(covered, span):
    start, end = trim_span(covered, 0, len(covered))
    assert covered[start:end] == span


@pytest.mark.parametrize(
    ("schema", "value", "keyword"),
    [
        ({"type": "number", "multipleOf": 0.1}, 0.3, None),
        ({"type": "number", "multipleOf": 0.01}, 10**40, None),
        ({"type": "number", "multipleOf": 0.1}, 0.35, "multipleOf"),
        ({"type": "number", "minimum": 1}, 0.5, "minimum"),
        ({"type": "number", "exclusiveMaximum": 2}, 2, "exclusiveMaximum"),
        ({"type": "integer"}, 1.5, "type"),
        ({"type": "string", "minLength": 2}, "a", "minLength"),
        ({"type": "string", "maxLength": 2}, "abc", "maxLength"),
        ({"type": "string", "pattern": "b"}, "abc", None),
        ({"type": "string", "pattern": "^b"}, "abc", "pattern"),
        ({"type": "string", "format": "email"}, "a@", "format"),
    ],
)
def test_the_keyword_that_a_value_breaks(schema, value, keyword):
    assert violated(leaf(**schema), value) == keyword


def test_whole_numbers_of_an_integer_leaf_are_ints():
    found = find_candidates(leaf(type="integer"), "5.00 and 2.5", FillOptions())
    assert [(c.value, type(c.value)) for c in found] == [(5, int), (2.5, float)]
