"""Strict checks of the string formats that a schema may name (contract section 5)."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from datetime import date

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?"
    r"(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_EMAIL = re.compile(rf"({_ATOM}(?:\.{_ATOM})*)@({_LABEL}(?:\.{_LABEL})*)")
_PCHAR = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
_URI = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:"
    rf"(?://(?P<authority>(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{{2}}|\[|\])*)(?:/{_PCHAR}*)*"
    rf"|/(?:{_PCHAR}+(?:/{_PCHAR}*)*)?|{_PCHAR}+(?:/{_PCHAR}*)*)?"
    rf"(?:\?(?:{_PCHAR}|[/?])*)?(?:#(?:{_PCHAR}|[/?])*)?"
)
_AUTHORITY = re.compile(
    r"(?:[^@\[\]]*@)?(?:\[(?P<literal>[0-9A-Fa-f:.]+|v[0-9A-Fa-f]+\.[^\[\]@]+)\]|[^@:\[\]]*)(?::[0-9]*)?"
)
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


def is_date(text: str) -> bool:
    """An RFC 3339 full-date of the calendar."""
    if not _DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_date_time(text: str) -> bool:
    """An RFC 3339 date-time with an offset; a leap second only at 23:59:60 UTC."""
    match = _DATE_TIME.fullmatch(text)
    if not match or not is_date(match[1]):
        return False
    hour, minute, second = int(match[2]), int(match[3]), int(match[4])
    offset_hour, offset_minute = int(match[6] or 0), int(match[7] or 0)
    if hour > 23 or minute > 59 or second > 60 or offset_hour > 23 or offset_minute > 59:
        return False
    offset = (offset_hour * 60 + offset_minute) * (-1 if match[5] == "-" else 1)
    return second < 60 or (hour * 60 + minute - offset) % 1440 == 1439


def is_email(text: str) -> bool:
    """A dot-atom address of RFC 5321: local part up to 64, domain up to 255 characters."""
    match = _EMAIL.fullmatch(text)
    return match is not None and len(match[1]) <= 64 and len(match[2]) <= 255


def is_uri(text: str) -> bool:
    """A URI of RFC 3986 with its scheme."""
    match = _URI.fullmatch(text)
    if not match:
        return False
    if match["authority"] is None:
        return True
    authority = _AUTHORITY.fullmatch(match["authority"])
    if not authority:
        return False
    literal = authority["literal"]
    if literal is None or literal.startswith("v"):
        return True
    try:
        ipaddress.IPv6Address(literal)
    except ValueError:
        return False
    return True


def is_uuid(text: str) -> bool:
    """A UUID of RFC 4122 in its text form."""
    return bool(_UUID.fullmatch(text))


CHECKS: dict[str, Callable[[str], bool]] = {
    "date": is_date,
    "date-time": is_date_time,
    "email": is_email,
    "uri": is_uri,
    "uuid": is_uuid,
}


def is_valid(format_name: str, text: str) -> bool:
    """Whether a text has a format; raises KeyError for a format that no schema may name."""
    return CHECKS[format_name](text)
