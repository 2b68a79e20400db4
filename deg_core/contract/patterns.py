"""`pattern`: searched as `re.search` would, in time that grows with the text alone (contract section 4).

A backtracking engine can take a time exponential in the text. Here a pattern is an automaton, so that none can;
what no automaton holds is refused.
"""

from __future__ import annotations

import re
import re._constants as op
import re._parser as parser
import warnings
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

from deg_core.contract.automaton import END_STATE, Automaton, Ending, Look, State

MAX_LENGTH: Final = 10_000
MAX_STATES: Final = 4_000

_REFUSED: Final = {
    op.GROUPREF: "a back-reference cannot be matched in linear time; write the alternatives out",
    op.GROUPREF_EXISTS: "a conditional group cannot be matched in linear time; write the alternatives out",
    op.ATOMIC_GROUP: "an atomic group is no regular expression of JSON Schema; write (?:...)",
    op.POSSESSIVE_REPEAT: "a possessive repeat is no regular expression of JSON Schema; leave its second + out",
}
_ANCHORS: Final = {
    op.AT_BEGINNING: "^",
    op.AT_BEGINNING_STRING: r"\A",
    op.AT_BOUNDARY: r"\b",
    op.AT_NON_BOUNDARY: r"\B",
    op.AT_END: "$",
    op.AT_END_STRING: r"\Z",
}
_CATEGORIES: Final = {
    op.CATEGORY_DIGIT: r"\d",
    op.CATEGORY_NOT_DIGIT: r"\D",
    op.CATEGORY_SPACE: r"\s",
    op.CATEGORY_NOT_SPACE: r"\S",
    op.CATEGORY_WORD: r"\w",
    op.CATEGORY_NOT_WORD: r"\W",
}


class PatternError(ValueError):
    """A pattern that is invalid or cannot be searched; the message says why."""


class Pattern:
    """A pattern ready to be searched. Raises PatternError when it is invalid, too large or not regular."""

    def __init__(self, source: str):
        if len(source) > MAX_LENGTH:
            raise PatternError(f"longer than {MAX_LENGTH:,} characters; shorten it")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                flags = re.compile(source).flags & ~re.VERBOSE
                self._automaton = _Builder().build(parser.parse(source), flags)
            except (re.error, OverflowError, RecursionError) as error:
                raise PatternError(str(error) or "nested too deeply") from error

    def found_in(self, text: str) -> bool:
        """Whether a part of the text matches."""
        return any(step.matched for step in self._automaton.search(text, Ending.CLOSED))

    def may_be_found_in(self, text: str) -> bool:
        """Whether a part of some continuation of the text may match; False is certain."""
        steps = list(self._automaton.search(text, Ending.MAY))
        return self._automaton.may_begin_later or steps[-1].waiting or any(step.matched for step in steps)


@lru_cache(maxsize=256)
def pattern_of(source: str) -> Pattern:
    """The pattern of a source that is known to be valid, made once."""
    return Pattern(source)


class _Builder:
    """Parsed items to states, each built before what precedes it."""

    def __init__(self, budget: list[int] | None = None):
        self._budget = [MAX_STATES] if budget is None else budget
        self._states = [State()]

    def build(self, items: Iterable[Any], flags: int) -> Automaton:
        return Automaton(self._states, self._sequence(items, END_STATE, flags))

    def _add(self, state: State) -> int:
        self._budget[0] -= 1
        if self._budget[0] < 0:
            raise PatternError(f"more than {MAX_STATES:,} characters once its repeats are written out; shorten it")
        self._states.append(state)
        return len(self._states) - 1

    def _sequence(self, items: Iterable[Any], after: int, flags: int) -> int:
        for kind, argument in reversed(list(items)):
            after = self._item(kind, argument, after, flags)
        return after

    def _item(self, kind: Any, argument: Any, after: int, flags: int) -> int:
        if kind in _REFUSED:
            raise PatternError(_REFUSED[kind])
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            least, most, items = argument
            return self._repeat(least, most, items, after, flags)
        if kind is op.SUBPATTERN:
            _, added, removed, items = argument
            return self._sequence(items, after, _scoped(flags, added, removed))
        if kind is op.BRANCH:
            return self._add(State(tuple(self._sequence(branch, after, flags) for branch in argument[1])))
        if kind in (op.ASSERT, op.ASSERT_NOT):
            direction, items = argument
            body = _Builder(self._budget).build(items, flags)
            return self._add(State((after,), look=Look(body, direction < 0, kind is op.ASSERT_NOT)))
        if kind is op.FAILURE:
            return self._add(State())
        if kind is op.AT:
            return self._add(State((after,), anchor=re.compile(_ANCHORS[argument], flags)))
        return self._add(State((after,), character=re.compile(_character(kind, argument), flags)))

    def _repeat(self, least: int, most: int, items: Any, after: int, flags: int) -> int:
        if most is op.MAXREPEAT:
            entry = self._add(State())
            self._states[entry].after = (self._sequence(items, entry, flags), after)
        else:
            entry = after
            for _ in range(most - least):
                begun = self._sequence(items, entry, flags)
                if begun == entry:
                    break
                entry = self._add(State((begun, after)))
        for _ in range(least):
            begun = self._sequence(items, entry, flags)
            if begun == entry:
                break
            entry = begun
        return entry


def _scoped(flags: int, added: int, removed: int) -> int:
    if added & (re.ASCII | re.UNICODE):
        flags &= ~(re.ASCII | re.UNICODE)
    return (flags | added) & ~removed & ~re.VERBOSE


def _character(kind: Any, argument: Any) -> str:
    """The source of an item that reads one character."""
    if kind is op.ANY:
        return "."
    if kind is op.LITERAL:
        return re.escape(chr(argument))
    if kind is op.NOT_LITERAL:
        return f"[^{_code_point(argument)}]"
    if kind is op.IN:
        return f"[{''.join(_member(*member) for member in argument)}]"
    raise PatternError(f"{kind} is not supported")


def _member(kind: Any, argument: Any) -> str:
    if kind is op.NEGATE:
        return "^"
    if kind is op.CATEGORY:
        return _CATEGORIES[argument]
    if kind is op.RANGE:
        return f"{_code_point(argument[0])}-{_code_point(argument[1])}"
    return _code_point(argument)


def _code_point(code: int) -> str:
    return f"\\U{code:08x}"
