"""Addresses and the borders of plain spans."""

from __future__ import annotations

import gc

import pytest

from deg_core.config import FillOptions
from deg_core.values import Candidate, find_candidates, format_candidates, trim_span
from tests.values.leaves import leaf


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("email", "mail a.b@c.de, or <x+y@z.co.uk>.", ["a.b@c.de", "x+y@z.co.uk"]),
        ("email", "**a@b.org** 'c@d.org' mailto:e@f.org", ["a@b.org", "c@d.org", "e@f.org"]),
        ("email", "a@b foo@bar..com x@-y.com @z.de", []),
        ("email", "a" * 65 + "@b.org", []),
        ("uri", "see https://x.org/a_(b). (http://a.b/c?d=1,e)", ["https://x.org/a_(b)", "http://a.b/c?d=1,e"]),
        ("uri", '<https://a.b/c> "ftp://d.e" **http://f.g/**', ["https://a.b/c", "ftp://d.e", "http://f.g/"]),
        (
            "uri",
            "[t](https://x.y/z), https://[::1]/x, urn:isbn:123",
            ["https://x.y/z", "https://[::1]/x", "urn:isbn:123"],
        ),
        ("uri", "Total:5, time 10:30, note: this, https://a.b/ü", []),
        ("uuid", "id=6F1AB9D2-1b7c-4c1e-9d61-0242ac120002;", ["6F1AB9D2-1b7c-4c1e-9d61-0242ac120002"]),
        ("uuid", "a6f1ab9d2-1b7c-4c1e-9d61-0242ac120002", []),
    ],
)
def test_every_value_of_a_format(name, text, found):
    assert [c.value for c in format_candidates(text, name)] == found
    assert all(text[c.start : c.end] == c.value for c in format_candidates(text, name))


def test_a_leaf_chooses_its_grammar():
    text = "5 on 3 May 2026 10:00 by a@b.org"
    first = {
        name: find_candidates(field, text, FillOptions())[0].value
        for name, field in {
            "number": leaf(type="number"),
            "date": leaf(type="string", format="date"),
            "date-time": leaf(type="string", format="date-time"),
            "email": leaf(type="string", format="email"),
        }.items()
    }
    assert first == {"number": 5, "date": "2026-05-03", "date-time": "2026-05-03T10:00:00Z", "email": "a@b.org"}


def test_a_leaf_without_a_grammar_is_an_error():
    with pytest.raises(ValueError, match=r"extract\.span without a format"):
        find_candidates(leaf(type="string"), "text", FillOptions())


@pytest.mark.parametrize("running", [True, False])
def test_the_collector_is_left_as_it_was(running):
    before = gc.isenabled()
    try:
        (gc.enable if running else gc.disable)()
        assert find_candidates(leaf(type="number"), "5", FillOptions())
        assert gc.isenabled() == running
        with pytest.raises(KeyError):
            format_candidates("text", "unknown")
        assert gc.isenabled() == running
    finally:
        (gc.enable if before else gc.disable)()


@pytest.mark.parametrize(("start", "end"), [(-1, 2), (2, 2), (3, 2)])
def test_a_candidate_has_a_span(start, end):
    with pytest.raises(ValueError, match="empty or out of range"):
        Candidate(start, end, "x")


@pytest.mark.parametrize(
    ("span", "kept"),
    [
        (" word,", "word"),
        ("\n(see): ", "(see)"),
        ("Foo Inc.", "Foo Inc."),
        (" .NET", ".NET"),
        ("$400", "$400"),
        ("(Editors).", "(Editors)"),
        ("(word", "word"),
        ("word),", "word"),
        ("f(x)", "f(x)"),
        ('"word', "word"),
        ('"word"', '"word"'),
        ("a title.”", "a title."),
        ("« Titre »,", "« Titre »"),
        ("10:37 P.M..", "10:37 P.M."),
        ("two a.m.?", "two a.m."),
        ("Boney M.'", "Boney M."),
        ("dogs'", "dogs'"),
        ("‘Doubt Sets In…’", "‘Doubt Sets In…’"),
        ("to be continued...", "to be continued..."),
        ("What?!", "What?!"),
        ("Say what?.", "Say what?"),
        (" ,; ", ""),
        ("", ""),
    ],
)
def test_the_borders_of_a_span(span, kept):
    text = f"before{span}after"
    start, end = trim_span(text, 6, 6 + len(span))
    assert text[start:end] == kept and 6 <= start <= end <= 6 + len(span)
