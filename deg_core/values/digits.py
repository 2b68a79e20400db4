"""How digits with marks are read (contract section 3).

* `.` and `,` together: the last one is the decimal mark, the other one groups.
* a mark that comes several times groups, by threes (1,234,567) or as in India (12,34,567).
* one comma before exactly three digits groups (1,234); any other comma is a decimal mark (12,5; 0,125).
* one point is a decimal mark (1.234 is a little over one).
* an apostrophe only groups.
"""

from __future__ import annotations

import re
from decimal import Decimal

MAX_LENGTH = 40
_GROUPED = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,3}(?:\.[0-9]{3})+|[0-9]{1,3}(?:'[0-9]{3})+")
_INDIAN = re.compile(r"[0-9]{1,2}(?:,[0-9]{2}){1,12},[0-9]{3}")
_THOUSAND = re.compile(r"[1-9][0-9]{0,2},[0-9]{3}")


def read_digits(core: str) -> int | Decimal | None:
    """The value of digits and marks such as "1,234.50"; None when the marks make no number or it is too long.

    core: digits, with one of . , ' ’ between any two runs of them.
    """
    if len(core) > MAX_LENGTH:
        return None
    if core.isdigit():
        return int(core)
    whole, _, fraction = core.partition(".")
    if whole.isdigit() and fraction.isdigit():
        return Decimal(core)
    core = core.replace("’", "'")
    whole, fraction = _split(core)
    if not whole.isdigit():
        if not (_GROUPED.fullmatch(whole) or _INDIAN.fullmatch(whole)):
            return None
        whole = whole.replace(",", "").replace(".", "").replace("'", "")
    return Decimal(f"{whole}.{fraction}") if fraction else int(whole)


def _split(core: str) -> tuple[str, str]:
    """The whole part with its grouping marks, and the digits after the decimal mark."""
    last = max(core.rfind(mark) for mark in ".,'")
    mark, alone = core[last], core.count(core[last]) == 1
    decimal = mark != "'" and alone and not _THOUSAND.fullmatch(core)
    return (core[:last], core[last + 1 :]) if decimal else (core, "")
