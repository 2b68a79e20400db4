"""The kinds of documents, and which of them training never sees."""

from __future__ import annotations

from deg_core.generator.kind import Kind
from deg_core.generator.kinds.clinical import CLINICAL
from deg_core.generator.kinds.delivery import DELIVERY
from deg_core.generator.kinds.event import EVENT
from deg_core.generator.kinds.incident import INCIDENT
from deg_core.generator.kinds.invoice import INVOICE
from deg_core.generator.kinds.itinerary import ITINERARY
from deg_core.generator.kinds.job_post import JOB_POST
from deg_core.generator.kinds.lease import LEASE
from deg_core.generator.kinds.minutes import MINUTES
from deg_core.generator.kinds.property import PROPERTY
from deg_core.generator.kinds.review import REVIEW
from deg_core.generator.kinds.support import SUPPORT

SEEN_KINDS = (INVOICE, SUPPORT, JOB_POST, INCIDENT, LEASE, CLINICAL, MINUTES, EVENT, REVIEW, PROPERTY)
TEST_KINDS = (DELIVERY, ITINERARY)
KINDS: dict[str, Kind] = {kind.name: kind for kind in SEEN_KINDS + TEST_KINDS}
CORPUS_KIND = "support"
CORPUS_VARIANT = "desk"


def kinds_of(split: str) -> tuple[Kind, ...]:
    """The kinds of a split: test has those that training never sees, the others the rest."""
    return TEST_KINDS if split == "test" else SEEN_KINDS
