"""Text that remembers where its marked values stand.

A fragment is written once, from templates whose slots hold strings or other fragments; a marked value
carries the name of its fact. Places are counted while the text is laid down, never searched for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from string import Formatter

Span = tuple[int, int]


@dataclass(frozen=True)
class Mark:
    """A printed value and the key of the fact that it prints."""

    key: str
    text: str


@dataclass(frozen=True)
class Fragment:
    """A piece of text: literals and marks in order."""

    pieces: tuple[str | Mark, ...] = ()

    def __bool__(self) -> bool:
        return any(piece if isinstance(piece, str) else piece.text for piece in self.pieces)

    def __add__(self, other: Fragment | str) -> Fragment:
        return Fragment(self.pieces + as_fragment(other).pieces)

    def __radd__(self, other: str) -> Fragment:
        return as_fragment(other) + self


Part = Fragment | str


def as_fragment(part: Part) -> Fragment:
    """A string as a fragment without marks; a fragment as it is."""
    return part if isinstance(part, Fragment) else Fragment((part,))


def template(text: str, **slots: Part) -> Fragment:
    """Fill the `{slot}`s of a template. Raises KeyError for a slot without a part."""
    return Fragment(tuple(_template_pieces(text, slots)))


def _template_pieces(text: str, slots: dict[str, Part]) -> Iterator[str | Mark]:
    for literal, name, _, _ in Formatter().parse(text):
        if literal:
            yield literal
        if name is not None:
            yield from as_fragment(slots[name]).pieces


def join(separator: str, parts: Iterable[Part]) -> Fragment:
    """The non-empty parts with a separator between them."""
    pieces: list[str | Mark] = []
    for part in parts:
        fragment = as_fragment(part)
        if not fragment:
            continue
        if pieces:
            pieces.append(separator)
        pieces.extend(fragment.pieces)
    return Fragment(tuple(pieces))


def capitalised(part: Part) -> Fragment:
    """The part with a capital first letter, unless a marked value stands first."""
    pieces = as_fragment(part).pieces
    if not pieces or isinstance(pieces[0], Mark):
        return Fragment(pieces)
    return Fragment((pieces[0][:1].upper() + pieces[0][1:], *pieces[1:]))


def lay_down(fragment: Fragment) -> tuple[str, dict[str, list[Span]]]:
    """The text, and for every marked key the half-open code point spans of its values.

    The gaps that empty slots leave are closed: no space or stop after white space, at most one
    blank line.
    """
    characters: list[str] = []
    spans: dict[str, list[Span]] = {}
    for piece in fragment.pieces:
        if isinstance(piece, Mark):
            start = len(characters)
            characters.extend(piece.text)
            spans.setdefault(piece.key, []).append((start, len(characters)))
            continue
        for character in piece:
            _append(characters, character)
    while characters and characters[-1].isspace():
        characters.pop()
    return "".join(characters), spans


def _append(characters: list[str], character: str) -> None:
    if character == " " and (not characters or characters[-1] in " \n"):
        return
    if character in ".;," and (not characters or characters[-1].isspace()):
        return
    if character == "\n":
        while characters and characters[-1] == " ":
            characters.pop()
        if not characters or characters[-2:] == ["\n", "\n"]:
            return
    characters.append(character)
