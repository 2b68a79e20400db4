"""E-mail addresses, URIs and UUIDs in a text (contract section 12.3)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from deg_core.contract.formats import is_valid
from deg_core.values.candidate import Candidate, collector_paused, in_order

_LOCAL = r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]*+(?<!-))"
_EMAIL = re.compile(rf"(?<!{_LOCAL})(?P<local>{_LOCAL}++)@{_LABEL}(?:\.{_LABEL})+(?![\w-])")
# Marks that a local part may hold but that more often end what stands before the address: to=a@b.org.
_LOCAL_BREAK = re.compile(r"[!#$*/=?^`{|}]")
_UUID = re.compile(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![0-9A-Za-z])")
# A scheme with //, or one of the well-known schemes without; then the characters of RFC 3986.
_OPAQUE = "mailto|tel|sms|urn|data|geo|doi|info|magnet|news|tag|sip|sips|xmpp"
_URI = re.compile(
    r"(?:(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*+://|\b(?i:https?|ftps?)://"
    rf"|(?<![A-Za-z0-9+.-])(?i:{_OPAQUE}):(?=[^\s/]))"
    r"(?:\[[0-9A-Fa-f:.]+\])?(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*+"
    r"(?:\#(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*+)?"
)
_SENTENCE = ".,;:!?'*_"


@collector_paused()
def format_candidates(text: str, name: str) -> list[Candidate]:
    """Every email, uri or uuid of a text, as written, in document order; longer spans first at one start."""
    found = {span for span in _FINDERS[name](text) if is_valid(name, text[slice(*span)])}
    return in_order(Candidate(*span, text[slice(*span)]) for span in found)


def _emails(text: str) -> Iterator[tuple[int, int]]:
    for match in _EMAIL.finditer(text):
        local = match["local"]
        start = match.end("local") - len(local.lstrip(".'`*_-"))
        yield start, match.end()
        breaks = list(_LOCAL_BREAK.finditer(local))
        if breaks:
            yield max(start, match.start() + breaks[-1].end()), match.end()


def _uris(text: str) -> Iterator[tuple[int, int]]:
    for match in _URI.finditer(text):
        start, end = match.start(), _uri_end(match[0]) + match.start()
        if not text[match.end() : match.end() + 1].isalnum():  # else an IRI, of which this is only a part
            yield start, end


def _uri_end(uri: str) -> int:
    """The length without the punctuation of the sentence around, and without brackets that it did not open."""
    opened, closed = uri.count("("), uri.count(")")
    end = len(uri)
    while end and (uri[end - 1] in _SENTENCE or uri[end - 1] == ")" and closed > opened):
        closed -= uri[end - 1] == ")"
        end -= 1
    return end


def _uuids(text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in _UUID.finditer(text))


_FINDERS = {"email": _emails, "uri": _uris, "uuid": _uuids}
