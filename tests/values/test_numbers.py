"""Numbers: what is written is what is read, and what is no number is read in its parts."""

from __future__ import annotations

import json

import pytest

from deg_core.values import number_candidates, parse_number

WHOLE = {
    "1,234": 1234,
    "1.234": 1.234,
    "1,234.56": 1234.56,
    "1.234,56": 1234.56,
    "1 234,56": 1234.56,
    "1\u00a0234\u00a0567": 1234567,
    "1\u202f234": 1234,
    "1'234.50": 1234.5,
    "1’234.50": 1234.5,
    "1,234,567": 1234567,
    "1.234.567": 1234567,
    "12,34,567": 1234567,
    "1,00,000": 100000,
    "12,5": 12.5,
    "0,125": 0.125,
    "1234,567": 1234.567,
    "007": 7,
    "5.00": 5,
    ".5": 0.5,
    "-.5": -0.5,
    "-5": -5,
    "\u22125": -5,
    "+5": 5,
    "$5": 5,
    "-$5": -5,
    "$-5": -5,
    "€ 12,50": 12.5,
    "5 €": 5,
    "S$5.00": 5,
    "USD 5": 5,
    "EUR -5": -5,
    "RM34.80": 34.8,
    "34.80RM": 34.8,
    "50¢": 50,
    "(1,234.56)": -1234.56,
    "($500)": -500,
    "15%": 15,
    "15 %": 15,
    "2.5 million": 2_500_000,
    "5-million": 5_000_000,
    "3k": 3000,
    "$4M": 4_000_000,
    "£2m": 2_000_000,
    "$3.5bn": 3_500_000_000,
    "2 Mio": 2_000_000,
    "3 lakh": 300_000,
    "1e-05": 1e-05,
    "2.5E+3": 2500,
    "1/2": 0.5,
    "-1/2": -0.5,
    "3/6": 0.5,
    "3 1/2": 3.5,
    "2½ million": 2_500_000,
    "2½": 2.5,
    "9007199254740993": 9007199254740993,
    "9,007,199,254,740,993.00": 9007199254740993,
    "-123456789012345678901234567890123": -123456789012345678901234567890123,
    "zero": 0,
    "Five": 5,
    "twenty one": 21,
    "twenty-one": 21,
    "two hundred and five": 205,
    "twenty-five hundred": 2500,
    "a hundred": 100,
    "three hundred and five thousand two hundred": 305_200,
}
NO_NUMBER = [
    "",
    "hundred",
    "(5)",
    "(12.5%)",
    "- 5",
    "5m",
    "5'10",
    "1-2",
    "1.2.3",
    "12.34.56",
    "1/3",
    "5 of",
    "1e5x",
    "x.5",
    "٣",
    "7" * 50,
]


@pytest.mark.parametrize(("text", "value"), WHOLE.items())
def test_a_number_as_a_whole(text, value):
    number = parse_number(f" {text}\n")
    assert number == value and type(number) is type(value)


@pytest.mark.parametrize("text", NO_NUMBER)
def test_no_number_as_a_whole(text):
    assert parse_number(text) is None


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("pp. 393-397", {393, 397}),
        ("INV-2024-001", {2024, 1}),
        ("12.05.2026", {12, 5, 2026}),
        ("192.168.0.1", {192, 168, 0, 1}),
        ("1.5,2.5,3.5", {1.5, 2.5, 3.5, 1, 2, 3, 5}),
        ("12.50 300 15.00", {12.5, 300, 15}),
        ("2023 450", {2023, 450}),
        ("5 $10", {5, 10}),
        ("5%-7%", {5, 7}),
        ("2.5 million", {2.5, 2_500_000}),
        ("two, three and four hundred", {2, 3, 400}),
        ("one thousand two million", {1002}),
        ("hundreds of two-bedroom flats", {2}),
        ("[0.5, -3]", {0.5, -3, 3}),
        ("one of a kind, someone", {1}),
    ],
)
def test_every_number_of_a_text(text, values):
    assert {c.value for c in number_candidates(text)} == values


@pytest.mark.parametrize("separator", [" ", ","])
def test_a_long_row_of_numbers_is_read_number_by_number(separator):
    row = [str(n) for n in range(900, 990)]
    found = {c.value for c in number_candidates(separator.join([*row, "1"]))}
    assert {int(n) for n in row} <= found


def test_more_groups_than_a_number_has_are_read_number_by_number():
    assert len(number_candidates("1 234 567 890 123")) == 15
    assert {c.value for c in number_candidates("1 234 567 890 123 456")} == {1, 234, 567, 890, 123, 456}


def test_groups_by_spaces_are_read_together_and_apart():
    found = {(c.start, c.end): c.value for c in number_candidates("1 234 567")}
    assert found == {(0, 9): 1234567, (0, 5): 1234, (0, 1): 1, (2, 9): 234567, (2, 5): 234, (6, 9): 567}


def test_values_are_json():
    values = [c.value for c in number_candidates(" ".join([*WHOLE, *NO_NUMBER, "9e99", "1e999"]))]
    assert json.loads(json.dumps(values, allow_nan=False)) == values


def test_a_minus_keeps_every_digit():
    digits = "1234567890123456789012345678901"
    assert parse_number(f"-{digits} million") == -int(digits) * 10**6
    assert parse_number(f"(${digits}.0)") == -int(digits)
