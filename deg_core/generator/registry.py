"""The kinds of documents, and which of them training never sees."""

from __future__ import annotations

from deg_core.generator.kind import Kind
from deg_core.generator.kinds.incident import INCIDENT
from deg_core.generator.kinds.invoice import INVOICE
from deg_core.generator.kinds.job_post import JOB_POST
from deg_core.generator.kinds.support import SUPPORT

KINDS: dict[str, Kind] = {kind.name: kind for kind in (INVOICE, SUPPORT, JOB_POST, INCIDENT)}
HELD_OUT_KINDS = ("delivery", "itinerary")
CORPUS_KIND = "support"
CORPUS_VARIANT = "desk"


def kinds_of(split: str) -> list[Kind]:
    """The kinds of a split, in registry order: test has the held-out ones, the others the rest."""
    return [kind for kind in KINDS.values() if (kind.name in HELD_OUT_KINDS) == (split == "test")]
