"""One document of a corpus, and what makes its text unusable (design 2.8)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Document:
    """One document of a corpus.

    number: its place, from 0. doc_id: its id, or the number as text; ids may repeat.
    text: the rendered context, None when error says why it cannot be read.
    offset: where it begins: a byte (JSON Lines, CSV), a row (Parquet) or a place in the sorted list (folder).
    """

    number: int
    doc_id: str
    text: str | None
    error: str | None
    offset: int


def make_document(number: int, doc_id: Any, text: str | None, error: str | None, offset: int) -> Document:
    """A Document whose text has passed the checks that every kind of corpus shares."""
    if doc_id is None:
        name = str(number)
    else:
        name = doc_id if isinstance(doc_id, str) else json.dumps(doc_id, ensure_ascii=False, default=str)
    if lone_surrogate(name):
        return Document(number, str(number), None, "its id is not Unicode text", offset)
    if error is None:
        error = _fault(text)
    return Document(number, name, None if error else text, error, offset)


def _fault(text: str | None) -> str | None:
    if text is None:
        return "no text (null)"
    if not text.strip():
        return "empty document"
    at = text.find("\0")
    if at >= 0:
        return f"binary data, not text (a zero byte at character {at})"
    at = lone_surrogate(text)
    return f"not UTF-8 (at character {at - 1}); convert it to UTF-8" if at else None


def decode_text(data: bytes | None) -> tuple[str | None, str | None]:
    """(text, None) or (None, why not) of a document's bytes; a byte order mark is dropped."""
    if data is None:
        return None, None
    try:
        return data.removeprefix(BOM).decode("utf-8"), None
    except UnicodeDecodeError as error:
        if b"\0" in data:
            return None, f"binary data, not text (a zero byte at {data.find(0)})"
        return (
            None,
            f"not UTF-8 (byte 0x{data.removeprefix(BOM)[error.start]:02x} at {error.start}); convert it to UTF-8",
        )


def lone_surrogate(text: str) -> int:
    """1 + the place of the first code point that UTF-8 cannot hold; 0 when there is none."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return error.start + 1
    return 0
