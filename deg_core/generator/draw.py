"""One document's random stream, its print style and the facts that it states."""

from __future__ import annotations

import random
import unicodedata
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, TypeVar

from deg_core.generator import vocabulary as words
from deg_core.generator.text import Fragment, Mark, Part, template
from deg_core.generator.vocabulary import Phrases

T = TypeVar("T")
DATE_STYLES = ("day month year", "month day, year", "iso", "day mon year", "us slashes", "eu dots", "eu slashes")
CURRENCIES = ("USD", "GBP", "EUR", "CAD", "SEK", "CHF")
PREFIX_SYMBOLS = {"USD": "$", "GBP": "£", "CAD": "CA$"}
LAST_UNAMBIGUOUS_MONTH_NUMBER = 12


@dataclass(frozen=True)
class Person:
    """A name and the address made from it."""

    first: str
    last: str
    email: str

    @property
    def full(self) -> str:
        return f"{self.first} {self.last}"


class Draw:
    """Random choices of one document, keyed by (seed, split, index) alone.

    wordings: the part of every wording that may be used: seen in training, held out of it, or all.
    facts: key -> gold value (JSON); None = the text does not say. used: wordings drawn so far. sentences: those
    of them that name no value, in order: what a reader judges the decided facts from.
    """

    def __init__(self, seed: int, split: str, index: int, wordings: str = "all"):
        self.rng = random.Random(f"{seed}/{split}/{index}")
        self.wordings = wordings
        self.facts: dict[str, Any] = {}
        self.used: list[str] = []
        self.sentences: list[str] = []
        self._taken: set[str] = set()
        self.currency = self.rng.choice(CURRENCIES)
        self.date_style = self.rng.choice(DATE_STYLES)
        self.decimal_comma = self.currency in ("EUR", "SEK") and self.chance(0.6)
        self.symbol = self.chance(0.4)
        self.today = date(2025, 1, 6) + timedelta(days=self.rng.randrange(900))

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.rng.random() < probability

    def one(self, options: Sequence[T]) -> T:
        """A uniform choice that is the same in every split."""
        return self.rng.choice(options)

    def wording(self, pool: Phrases) -> str:
        """An alternative that this split may see."""
        text = self.rng.choice(pool.of(self.wordings))
        self.used.append(text)
        return text

    def fresh(self, pool: Phrases) -> str:
        """An alternative that this document has not used yet; for names that must differ."""
        free = [text for text in pool.of(self.wordings) if text not in self._taken]
        text = self.rng.choice(free)
        self._taken.add(text)
        return text

    def several(self, pool: Phrases, count: int) -> list[str]:
        """Distinct alternatives, none used before in this document."""
        return [self.fresh(pool) for _ in range(count)]

    def phrase(self, pool: Phrases, **slots: Part) -> Fragment:
        """A wording with its slots filled."""
        text = self.wording(pool)
        if not slots:
            self.sentences.append(text)
        return template(text, **slots)

    def shuffled(self, parts: Sequence[T]) -> list[T]:
        """The parts in random order."""
        return self.rng.sample(list(parts), len(parts))

    def say(self, key: str, value: Any, printed: str | None = None) -> Fragment:
        """State a fact and print it; printed defaults to the value itself.

        Raises ValueError when the fact was stated with another value.
        """
        self.know(key, value)
        return Fragment((Mark(key, str(value) if printed is None else printed),))

    def know(self, key: str, value: Any) -> None:
        """State a fact that is judged from the text, or (None) that the text does not give."""
        if key in self.facts and self.facts[key] != value:
            raise ValueError(f"fact {key!r} is {self.facts[key]!r}; it cannot also be {value!r}")
        self.facts[key] = value

    def maybe(self, probability: float, key: str, write: Callable[[], Part], otherwise: Part = "") -> Part:
        """With this probability what `write` states about the fact; else the fact is absent."""
        if self.chance(probability):
            return write()
        self.know(key, None)
        return otherwise

    def person(self) -> Person:
        """A person whose first and last name nobody else in the document has."""
        first, last = self.fresh(words.FIRST_NAMES), self.fresh(words.LAST_NAMES)
        style = self.one(("{f}.{l}", "{l}.{f}", "{i}{l}"))
        local = style.format(f=_plain(first), l=_plain(last), i=_plain(first)[0])
        return Person(first, last, f"{local}@{self.wording(words.MAIL_HOSTS)}")

    def company(self) -> str:
        """A company name with its legal form."""
        stem = self.fresh(words.COMPANY_STEMS)
        trade = f" {self.fresh(words.TRADES)}" if self.chance(0.5) else ""
        return f"{stem}{trade} {self.wording(words.COMPANY_FORMS)}"

    def address(self) -> str:
        """A street address with its city."""
        return f"{self.rng.randrange(2, 190)} {self.fresh(words.STREETS)}, {self.fresh(words.CITIES)}"

    def several_codes(self, prefix: str, count: int, digits: int = 5) -> list[str]:
        """Distinct ids of one shape."""
        numbers = self.rng.sample(range(10 ** (digits - 1), 10**digits), count)
        return [f"{prefix}{number}" for number in numbers]

    def uuid(self) -> str:
        """A random UUID (version 4)."""
        return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))

    def day(self, earliest: int, latest: int) -> date:
        """A day that many days after (or, negative, before) the document's today."""
        return self.today + timedelta(days=self.rng.randint(earliest, latest))

    def cents(self, low: int, high: int) -> int:
        """An amount between low and high whole units, in hundredths and seldom round."""
        return self.rng.randrange(low * 100, high * 100)

    def print_day(self, day: date) -> str:
        """A day in the document's style; digits alone only where one reading is possible."""
        style = self.date_style if self.chance(0.85) else self.one(DATE_STYLES)
        month = words.MONTHS[day.month - 1]
        numeric = day.day > LAST_UNAMBIGUOUS_MONTH_NUMBER
        if style == "iso":
            return day.isoformat()
        if style == "us slashes" and numeric:
            return f"{day.month:02}/{day.day:02}/{day.year}"
        if style == "eu dots" and numeric:
            return f"{day.day:02}.{day.month:02}.{day.year}"
        if style == "eu slashes" and numeric:
            return f"{day.day:02}/{day.month:02}/{day.year}"
        if style in ("month day, year", "us slashes"):
            return f"{month} {day.day}, {day.year}"
        return f"{day.day} {month[:3] if style == 'day mon year' else month} {day.year}"

    def say_day(self, key: str, day: date) -> Fragment:
        """State and print a date fact (gold: ISO 8601)."""
        return self.say(key, day.isoformat(), self.print_day(day))

    def moment(self, day: date) -> datetime:
        """A time on that day, on a five-minute mark."""
        return datetime(day.year, day.month, day.day, self.rng.randrange(6, 22), self.rng.randrange(0, 60, 5))

    def print_moment(self, moment: datetime) -> str:
        """A date and time without offset."""
        if self.chance(0.25):
            return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
        clock = f"{moment:%H:%M}"
        if self.date_style in ("month day, year", "us slashes"):
            clock = f"{(moment.hour - 1) % 12 + 1}:{moment:%M} {'am' if moment.hour < 12 else 'pm'}"
        return f"{self.print_day(moment.date())}{self.one((' ', ', ', ' at '))}{clock}"

    def say_moment(self, key: str, moment: datetime) -> Fragment:
        """State and print a date-time fact (gold: RFC 3339; a time without offset is UTC, contract section 9)."""
        return self.say(key, moment.strftime("%Y-%m-%dT%H:%M:%SZ"), self.print_moment(moment))

    def print_cents(self, cents: int) -> str:
        """Digits of an amount: 1,234.50, or 1.234,50 in a document with decimal commas."""
        text = f"{cents // 100:,}.{cents % 100:02}"
        return text.translate(str.maketrans(",.", ".,")) if self.decimal_comma else text

    def print_whole(self, number: int) -> str:
        """A whole number; with thousands commas only in a document with decimal points."""
        return str(number) if self.decimal_comma else f"{number:,}"

    def print_tenths(self, tenths: int) -> str:
        """A measurement with one decimal, such as 38.4 or 38,4."""
        return f"{tenths // 10}{',' if self.decimal_comma else '.'}{tenths % 10}"

    def say_tenths(self, key: str, tenths: int) -> Fragment:
        """State and print a measurement (gold: number)."""
        return self.say(key, tenths // 10 if tenths % 10 == 0 else tenths / 10, self.print_tenths(tenths))

    def say_whole(self, key: str, number: int) -> Fragment:
        """State and print a whole number (gold: integer)."""
        return self.say(key, number, self.print_whole(number))

    def with_currency(self, amount: Part) -> Fragment:
        """An amount with the document's currency before or after it."""
        if self.symbol and self.currency in PREFIX_SYMBOLS:
            return PREFIX_SYMBOLS[self.currency] + template("{a}", a=amount)
        if self.symbol and self.currency == "EUR":
            return template("{a} €" if self.decimal_comma else "€{a}", a=amount)
        return template("{a} {c}" if self.decimal_comma else "{c} {a}", a=amount, c=self.currency)

    def money(self, cents: int) -> Fragment:
        """An amount that no fact states."""
        return self.with_currency(self.print_cents(cents))

    def say_money(self, key: str, cents: int) -> Fragment:
        """State and print an amount (gold: number); the mark covers the digits."""
        return self.with_currency(self.say(key, as_number(cents), self.print_cents(cents)))


def as_number(cents: int) -> int | float:
    """Hundredths as a JSON number: whole where it is whole."""
    return cents // 100 if cents % 100 == 0 else cents / 100


def _plain(name: str) -> str:
    """A name as it may stand in an address: ASCII letters, lower case."""
    folded = unicodedata.normalize("NFKD", name)
    return "".join(c for c in folded if c.isascii() and c.isalpha()).lower()
