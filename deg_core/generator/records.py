"""Records and the corpus: documents, each from its own random stream (training specification, section 1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from deg_core.config.settings import DataSettings
from deg_core.contract.errors import InputError
from deg_core.generator.draw import Draw
from deg_core.generator.kind import Kind
from deg_core.generator.registry import CORPUS_KIND, CORPUS_VARIANT, KINDS, kinds_of
from deg_core.generator.schema import Answer, Node, json_schema, thin_out
from deg_core.generator.text import Span, lay_down, template

SPLITS = ("train", "val", "test")


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


def generate_records(settings: DataSettings, split: str) -> Iterator[dict[str, Any]]:
    """The records of a split, in order; record i depends on (seed, split, i) alone.

    Raises InputError for an unknown split.
    """
    if split not in SPLITS:
        raise InputError(f"split {split!r} is none of {', '.join(SPLITS)}")
    for index in range(getattr(settings, split)):
        yield make_record(settings.seed, split, index)


def make_record(seed: int, split: str, index: int) -> dict[str, Any]:
    """One record; kinds and their schema variants take turns."""
    kinds = kinds_of(split)
    kind = kinds[index % len(kinds)]
    variants = tuple(kind.variants)
    name = variants[index // len(kinds) % len(variants)]
    draw = Draw(seed, split, index)
    document = write_document(kind, draw)
    root = thin_out(kind.variants[name], draw)
    return _record(document, root, split, index) | {
        "meta": {"kind": kind.name, "variant": name, "layout": document.layout_id}
    }


def _record(document: Document, root: Node, split: str, index: int) -> dict[str, Any]:
    answer = Answer(root, document.draw.facts, document.places)
    return {
        "uid": f"own-{split}-{index:06}",
        "split": split,
        "doc_id": f"own-{split}-{index:06}",
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
