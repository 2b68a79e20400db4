"""A records file as bytes: its complete lines, each with its place (training specification, sections 1 and 3)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

MAX_LINE_BYTES = 64 << 20


@dataclass(frozen=True)
class RawLine:
    """One line that is not blank.

    number: counted from 1. offset, end: half-open byte range in the file, the newline included.
    data: its bytes without the line end, or None when it is longer than MAX_LINE_BYTES.
    terminated: whether a newline ends it.
    """

    number: int
    offset: int
    end: int
    data: bytes | None
    terminated: bool


def raw_lines(path: str | Path, offset: int = 0, first_number: int = 1) -> Iterator[RawLine]:
    """Read the complete lines of a file that may still be growing, from a byte offset at a line's start.

    A line is complete when a newline ends it. The last line of the file also counts without one when it is
    a whole JSON object: nothing that may follow on that line would leave it valid, so it is not half of a
    longer record. Otherwise it is left for a later read. Blank lines are numbered but not yielded. A line
    longer than MAX_LINE_BYTES is passed over without being held in memory.
    """
    with open(path, "rb") as file:
        file.seek(offset)
        number = first_number
        while (line := _next_line(file, number)) is not None:
            if line.data is None or line.data.strip():
                if not line.terminated and not _is_whole_object(line.data):
                    return
                yield line
            number += 1


def unfinished_bytes(path: str | Path) -> int:
    """Bytes after the last line that raw_lines yields, blanks aside: of a line that is still being written, or cut."""
    end = 0
    for line in raw_lines(path):
        end = line.end
    with open(path, "rb") as file:
        size = file.seek(0, 2)
        file.seek(end)
        while block := file.read(1 << 20):
            if block.strip():
                return size - end
    return 0


def _next_line(file: BinaryIO, number: int) -> RawLine | None:
    offset = file.tell()
    data = file.readline(MAX_LINE_BYTES + 1)
    if not data:
        return None
    if data.endswith(b"\n"):
        return RawLine(number, offset, file.tell(), data.rstrip(b"\r\n"), True)
    if len(data) <= MAX_LINE_BYTES:
        return RawLine(number, offset, file.tell(), data, False)
    while data and not data.endswith(b"\n"):
        data = file.readline(MAX_LINE_BYTES)
    return RawLine(number, offset, file.tell(), None, bool(data))


def _is_whole_object(data: bytes | None) -> bool:
    if data is None:
        return False
    try:
        return isinstance(json.loads(data), dict)
    except (ValueError, RecursionError):
        return False
