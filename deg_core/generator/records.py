"""Records and the corpus: documents, each from its own random stream (training specification, section 1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from deg_core.config.settings import DataSettings
from deg_core.contract.errors import InputError
from deg_core.generator.draw import Draw
from deg_core.generator.kind import Kind
from deg_core.generator.registry import CORPUS_KIND, CORPUS_VARIANT, KINDS, part_of
from deg_core.generator.schema import Answer, Node, decisions, json_schema, thin_out, with_every_list
from deg_core.generator.text import Span, lay_down, template

SPLITS = ("train", "val", "test")
NOTE = "note"


@dataclass(frozen=True)
class Document:
    """A laid-down document: its text, where each fact is printed, and the wordings it used."""

    draw: Draw
    text: str
    places: dict[str, list[Span]]
    layout_id: str


def write_document(kind: Kind, draw: Draw) -> Document:
    """Draw one document of a kind."""
    slots = kind.compose(draw)
    layout = draw.wording(kind.layouts)
    text, places = lay_down(template(layout, **slots))
    return Document(draw, text, places, kind.layout_id(layout))


def write_note(kind: Kind, draw: Draw) -> Document:
    """Only the sentences of a document that name no value, in another order."""
    kind.compose(draw)
    return Document(draw, draw.one((" ", "\n")).join(draw.shuffled(draw.sentences)), {}, f"{kind.name}-{NOTE}")


def generate_records(settings: DataSettings, split: str) -> Iterator[dict[str, Any]]:
    """The records of a split, in order; record i depends on (seed, split, i) alone.

    Raises InputError for an unknown split.
    """
    if split not in SPLITS:
        raise InputError(f"split {split!r} is none of {', '.join(SPLITS)}")
    for index in range(getattr(settings, split)):
        yield make_record(settings.seed, split, index)


def make_record(seed: int, split: str, index: int) -> dict[str, Any]:
    """One record; kinds and their schema variants take turns.

    Every second training record is a note: the sentences of a document that decide something, and a schema that
    asks for nothing else; the others ask for every list. A decision and a length are learned from many texts, while
    one document shows many spans.
    """
    part, place = part_of(split, index)
    kind, turn = part.kinds[place % len(part.kinds)], place // len(part.kinds)
    draw = Draw(seed, split, index, part.wordings)
    if split == "train" and turn % 2:
        name, root = NOTE, decisions(tuple(kind.variants.values()), draw)
        document = write_note(kind, draw)
    else:
        document = write_document(kind, draw)
        turn = turn // 2 if split == "train" else turn
        name = tuple(kind.variants)[turn % len(kind.variants)]
        root = thin_out(kind.variants[name], draw)
        if split == "train":
            root = with_every_list(root, tuple(kind.variants.values()))
    meta = {"kind": kind.name, "variant": name, "layout": document.layout_id}
    return _record(document, root, split, f"own-{part.name}-{index:06}") | {"meta": meta}


def _record(document: Document, root: Node, split: str, uid: str) -> dict[str, Any]:
    answer = Answer(root, document.draw.facts, document.places)
    return {
        "uid": uid,
        "split": split,
        "doc_id": uid,
        "context": document.text,
        "schema": json_schema(root),
        "value": answer.value,
        "spans": {pointer: list(spans[0]) for pointer, spans in answer.spans.items()},
        "span_alternatives": {p: [list(span) for span in spans] for p, spans in answer.spans.items() if len(spans) > 1},
    }


def generate_corpus(settings: DataSettings) -> Iterator[dict[str, str]]:
    """The unlabelled documents to fill: doc_id and text, all of one kind."""
    for index in range(settings.corpus):
        document = write_document(KINDS[CORPUS_KIND], Draw(settings.seed, "corpus", index))
        yield {"doc_id": f"ticket-{index:06}", "text": document.text}


def corpus_schema() -> dict[str, Any]:
    """The JSON Schema that suits every document of the corpus."""
    return json_schema(KINDS[CORPUS_KIND].variants[CORPUS_VARIANT])
