"""Dates and date-times: the calendar, the order of day and month, the written offset."""

from __future__ import annotations

from importlib import import_module

import pytest

from deg_core.values import date_candidates, dates, datetime_candidates, parse_date, parse_datetime


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-05-03", "2026-05-03"),
        ("2026/5/3", "2026-05-03"),
        ("20260503", "2026-05-03"),
        ("03.05.2026", "2026-05-03"),
        ("3 / 5 / 2026", "2026-05-03"),
        ("12-05-69", "2069-05-12"),
        ("12-05-70", "1970-05-12"),
        ("3rd of May 2026", "2026-05-03"),
        ("3rd day of May, 2026", "2026-05-03"),
        ("May 3, 2026", "2026-05-03"),
        ("May the 3rd 2026", "2026-05-03"),
        ("May 3 '26", "2026-05-03"),
        ("Sept. 3, 2026", "2026-09-03"),
        ("05-MAR-26", "2026-03-05"),
        ("2026 May 3", "2026-05-03"),
        ("3. Mai 2026", "2026-05-03"),
        ("3 de mayo de 2026", "2026-05-03"),
        ("1er août 2026", "2026-08-01"),
        ("1º maggio 2026", "2026-05-01"),
        ("3 maart 2026", "2026-03-03"),
        ("2026年3月5日", "2026-03-05"),
        ("5 марта 2026", "2026-03-05"),
        ("5. března 2026", "2026-03-05"),
        ("5. maaliskuuta 2026", "2026-03-05"),
        ("5 listopada 2026", "2026-11-05"),
        ("5 Μαρτίου 2026", "2026-03-05"),
        ("5 d’abril de 2026", "2026-04-05"),
        ("2026. május 3", "2026-05-03"),
        ("1 aout 2026", "2026-08-01"),
        ("5 srpnja 2026", None),
        ("Feb 28, 2025", "2025-02-28"),
        ("Feb 29, 2025", None),
        ("31/04/2026", None),
        ("2026-13-01", None),
        ("12/28/2017", None),
        ("1.2.2026.4", None),
        ("03-05/2026", None),
        ("May 2026", None),
        ("May 3", None),
        ("12 mar 14:30", None),
        ("May 3, 20260", None),
    ],
)
def test_a_date_as_a_whole_day_first(text, value):
    assert parse_date(text, "DMY") == value


def test_a_month_name_means_one_month_in_every_language_that_is_read():
    meanings: dict[str, set[int]] = {}
    for language in dates.LANGUAGES:
        words = import_module(f"dateparser.data.date_translation_data.{language}").info
        for month, key in enumerate(dates._MONTH_KEYS, start=1):
            for name in words[key]:
                meanings.setdefault(name.lower().rstrip("."), set()).add(month)
    assert {name: months for name, months in meanings.items() if months != {dates.MONTHS[name]}} == {}


def test_the_order_decides_an_ambiguous_date():
    readings = {order: parse_date("03/05/2026", order) for order in (None, "DMY", "MDY")}
    assert readings == {None: None, "DMY": "2026-05-03", "MDY": "2026-03-05"}


def test_without_an_order_the_only_valid_reading_counts():
    assert parse_date("13/05/2026") == parse_date("05/13/2026") == "2026-05-13"
    assert parse_date("05/05/2026") == "2026-05-05"
    assert parse_date("13/13/2026") is None


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("from February 16, 2026: CHF 790.00", ["February 16, 2026"]),
        ("(06/12/2016), 10 May 10:30", ["06/12/2016"]),
        ("2026-03-05T10:00:00Z", ["2026-03-05"]),
        ("1 and 2 May 2026 or 2 June 2026.", ["2 May 2026", "2 June 2026"]),
        ("tel. 555-12-2018, id 20260305123", []),
    ],
)
def test_every_date_of_a_text(text, spans):
    assert [text[c.start : c.end] for c in date_candidates(text, "DMY")] == spans


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2026-03-05T10:00:00Z", "2026-03-05T10:00:00Z"),
        ("2026-03-05T10:00:00.123+02:00", "2026-03-05T10:00:00.123+02:00"),
        ("2026-03-05T10:00:00-0500", "2026-03-05T10:00:00-05:00"),
        ("20260305T101500Z", "2026-03-05T10:15:00Z"),
        ("May 3, 2026 at 3pm EST", "2026-05-03T15:00:00-05:00"),
        ("May 3, 2026, 3:15 p.m. UTC+2", "2026-05-03T15:15:00+02:00"),
        ("12:05 am, 3 May 2026", "2026-05-03T00:05:00Z"),
        ("10:00 on Sunday, 3 May 2026", "2026-05-03T10:00:00Z"),
        ("3 mai 2026 à 14h30", "2026-05-03T14:30:00Z"),
        ("3/5/2026 Time: 8:13:39 PM", "2026-05-03T20:13:39Z"),
        ("2026-03-05T23:59:60Z", "2026-03-05T23:59:60Z"),
        ("2026-03-05 13:00 PM", None),
        ("2026-03-05T24:00:00Z", None),
        ("2026-03-05", None),
    ],
)
def test_a_datetime_as_a_whole(text, value):
    assert parse_datetime(text, "DMY") == value


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("It begins October 19, 2026, 9:05 pm.", "October 19, 2026, 9:05 pm"),
        ("3 June 2026, 16:35: Nantes", "3 June 2026, 16:35"),
        ("3 June 2026, 10:00-11:00", "3 June 2026, 10:00"),
    ],
)
def test_a_datetime_ends_where_its_clock_ends(text, span):
    assert [text[c.start : c.end] for c in datetime_candidates(text)] == [span]


def test_an_assumed_offset_is_said_and_without_one_there_is_no_value():
    (assumed,) = datetime_candidates("2026-03-05 10:00", None, "+01:00")
    assert (assumed.value, assumed.assumed_offset) == ("2026-03-05T10:00:00+01:00", True)
    assert datetime_candidates("2026-03-05 10:00", None, None) == []
    (written,) = datetime_candidates("2026-03-05 10:00 CET", None, None)
    assert (written.value, written.assumed_offset) == ("2026-03-05T10:00:00+01:00", False)
