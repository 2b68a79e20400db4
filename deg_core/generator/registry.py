"""The kinds of documents, and which of them training never sees."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True)
class Part:
    """Records of one sort, named in their uids. wordings: which of the kinds' wordings they may use."""

    name: str
    kinds: tuple[Kind, ...]
    wordings: str


TRAIN = Part("train", SEEN_KINDS, "seen")
VAL = Part("val", SEEN_KINDS, "all")
NEW_WORDINGS = Part("test-wordings", SEEN_KINDS, "held")
NEW_KINDS = Part("test-kinds", TEST_KINDS, "all")
TEST = (NEW_KINDS, NEW_WORDINGS)


def part_of(split: str, index: int) -> tuple[Part, int]:
    """The part of a split's record and its place there.

    val is new documents of the kinds seen in training, a quarter of the wordings unseen. test takes turns: kinds
    that training never sees, and kinds that it sees in unseen wordings alone.
    """
    if split == "test":
        return TEST[index % len(TEST)], index // len(TEST)
    return {"train": TRAIN, "val": VAL}[split], index
