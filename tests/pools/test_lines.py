from __future__ import annotations

import json

from deg_core.pools import lines
from deg_core.pools.lines import raw_lines


def test_lines_have_their_places(write):
    data = b'{"a": 1}\r\n\n{"b": 2}\n'
    found = list(raw_lines(write(data)))
    assert [(line.number, line.data) for line in found] == [(1, b'{"a": 1}'), (3, b'{"b": 2}')]
    assert [data[line.offset : line.end].strip() for line in found] == [b'{"a": 1}', b'{"b": 2}']


def test_reading_goes_on_from_an_offset(write):
    path = write(b"one\ntwo\nthree\n")
    first = next(raw_lines(path))
    rest = list(raw_lines(path, first.end, first.number + 1))
    assert [(line.number, line.data) for line in rest] == [(2, b"two"), (3, b"three")]


def test_a_half_written_last_line_waits(write):
    whole = json.dumps({"uid": "x", "text": "a}b"}).encode()
    for cut in range(1, len(whole)):
        assert [line.number for line in raw_lines(write(b"{}\n" + whole[:cut]))] == [1]
    last = list(raw_lines(write(b"{}\n" + whole)))[-1]
    assert last.data == whole and not last.terminated


def test_a_line_that_is_too_long_is_passed_over(write, monkeypatch):
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 8)
    data = b"123456789\n" + b"x" * 50 + b"\n" + b"short\n" + b"y" * 20
    found = list(raw_lines(write(data)))
    assert [(line.number, line.data) for line in found] == [(1, None), (2, None), (3, b"short")]
    assert data[found[2].offset : found[2].end] == b"short\n"
