"""Which repeats of a pattern can be split in more than one way, so that a failed match tries them all.

A pattern is looked at as the standard library parses it. An unbounded repeat is unsafe when a character that
it repeats may also begin what follows it, or its own next round.
"""

from __future__ import annotations

import re
import re._constants as op
import re._parser as parser
from typing import Any

ALPHABET = frozenset(map(chr, range(128))) | frozenset("é京\u00a0\u2212")
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
ZERO_WIDTH = (op.AT, op.ASSERT, op.ASSERT_NOT)
CATEGORIES = {
    op.CATEGORY_DIGIT: r"\d",
    op.CATEGORY_NOT_DIGIT: r"\D",
    op.CATEGORY_SPACE: r"\s",
    op.CATEGORY_NOT_SPACE: r"\S",
    op.CATEGORY_WORD: r"\w",
    op.CATEGORY_NOT_WORD: r"\W",
}
Items = list[tuple[Any, Any]]


def unsafe_repeats(pattern: str, flags: int = 0) -> list[str]:
    """What each unsafe repeat of a pattern shares with what follows it; empty when every repeat is safe."""
    found: list[str] = []
    _follow(list(parser.parse(pattern, flags & ~re.DEBUG)), frozenset(), found)
    return found


def _follow(items: Items, after: frozenset[str], found: list[str]) -> None:
    """Look at the repeats of a sequence; after: the characters that may come behind the sequence."""
    for place, (kind, argument) in enumerate(items):
        rest = items[place + 1 :]
        first, empty = _first(rest)
        following = first | after if empty else first
        if kind in REPEATS:
            _repeat(kind, argument, following, found)
        else:
            for body in _bodies(kind, argument):
                _follow(body, following, found)


def _repeat(kind: Any, argument: Any, following: frozenset[str], found: list[str]) -> None:
    least, most, body = argument[0], argument[1], list(argument[2])
    unbounded = most == op.MAXREPEAT
    single = len(body) == 1 and body[0][0] in (op.LITERAL, op.NOT_LITERAL, op.IN, op.ANY)
    first, _ = _first(body)
    if kind is not op.POSSESSIVE_REPEAT and unbounded and first & following:
        found.append(f"{{{least},}} of {''.join(sorted(first & following))!r}")
    if not single:
        _follow(body, following | first if unbounded else following, found)


def _first(items: Items) -> tuple[frozenset[str], bool]:
    """The characters that a sequence may begin with, and whether it may be empty."""
    chars: frozenset[str] = frozenset()
    for kind, argument in items:
        if kind in ZERO_WIDTH:
            continue
        own, empty = _first_of(kind, argument)
        chars |= own
        if not empty:
            return chars, False
    return chars, True


def _first_of(kind: Any, argument: Any) -> tuple[frozenset[str], bool]:
    if kind in REPEATS:
        chars, empty = _first(list(argument[2]))
        return chars, empty or argument[0] == 0
    bodies = _bodies(kind, argument)
    if bodies:
        parts = [_first(body) for body in bodies]
        return frozenset().union(*(chars for chars, _ in parts)), any(empty for _, empty in parts)
    if kind is op.GROUPREF:
        return ALPHABET, True
    return _characters(kind, argument), False


def _bodies(kind: Any, argument: Any) -> list[Items]:
    if kind is op.SUBPATTERN:
        return [list(argument[3])]
    if kind is op.BRANCH:
        return [list(branch) for branch in argument[1]]
    if kind is op.ATOMIC_GROUP:
        return [list(argument)]
    return []


def _characters(kind: Any, argument: Any) -> frozenset[str]:
    """The characters of the alphabet that one item matches, in either case."""
    if kind is op.ANY:
        return ALPHABET
    if kind is op.NOT_LITERAL:
        return ALPHABET - {chr(argument)}
    if kind is op.LITERAL:
        return frozenset({chr(argument).lower(), chr(argument).upper()})
    if kind is not op.IN:
        raise ValueError(f"an item of kind {kind} is not known here")
    members = [entry for entry in argument if entry[0] is not op.NEGATE]
    chars = frozenset(c for c in ALPHABET if any(_member(entry, c) for entry in members))
    return ALPHABET - chars if len(members) < len(argument) else chars


def _member(entry: tuple[Any, Any], character: str) -> bool:
    kind, argument = entry
    if kind is op.RANGE:
        return argument[0] <= ord(character) <= argument[1]
    if kind is op.CATEGORY:
        return re.fullmatch(CATEGORIES[argument], character) is not None
    return ord(character) == argument
