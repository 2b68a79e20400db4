"""Bitwise equality of answers, and how far the order of options sways them (contract sections 10 and 11)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch

from deg_core.artifacts import canonical
from deg_core.contract.errors import DegError
from deg_core.contract.pointer import read_value, split
from deg_core.runtime.engine import fill, fill_many

REPEATS = 10
PERMUTATIONS = 5
THREADS = 2
EXTRA = {
    "x_deg_flag": {"type": "boolean", "description": "Whether the text names a person."},
    "x_deg_kind": {"enum": ["letter", "report", "message"]},
    "x_deg_note": {"type": ["string", "null"], "description": "A place named in the text."},
}

Ask = tuple[str, Mapping[str, Any], Mapping[str, Any]]
Outcomes = dict[str, str]


def check_determinism(model: Any, asks: Sequence[Ask], *, seed: int = 1) -> dict[str, Any]:
    """Fill each (context, schema, options) in many ways and compare values and meta exactly.

    Returns {"documents", "failed", "checks": {name: {"compared", "equal"}}, "differences": [...]}, one
    comparison a document and variation. Repeats, batching and threads compare every leaf. Reordered, bigger
    and split schemas compare every leaf but generated text, which is written after the known values and so
    may see their order. Documents that cannot be filled are counted as failed.
    """
    tally = _Tally()
    filled = []
    for ask in asks:
        whole = _answer(model, *ask)
        if "error" in whole:
            tally.failed += 1
        else:
            filled.append((ask, whole))
    for number, (ask, whole) in enumerate(filled):
        _check_one(model, ask, whole, random.Random(f"{seed}/{number}"), tally)
    jobs = [{"context": text, "schema": schema, "options": options} for (text, schema, options), _ in filled]
    batched = fill_many(model, jobs)
    for ((text, *_), whole), response in zip(filled, batched, strict=True):
        found = {"error": str(response)} if isinstance(response, Exception) else _outcomes(response)
        tally.add("batched", text, whole, found)
    return {
        "documents": len(filled),
        "failed": tally.failed,
        "checks": tally.checks,
        "differences": tally.differences,
    }


def option_flips(model: Any, asks: Iterable[Ask]) -> dict[str, Any]:
    """How many decided choices change when every list of options is reversed: {"asked", "flipped", "rate"}."""
    asked = flipped = 0
    for text, schema, options in asks:
        forward = _response(model, text, schema, options)
        backward = _response(model, text, reversed_options(schema), options)
        if forward is None or backward is None:
            continue
        for pointer, meta in forward["meta"].items():
            if meta["mode"] == "decide.choice" and pointer in backward["meta"]:
                asked += 1
                flipped += read_value(forward["value"], pointer) != read_value(backward["value"], pointer)
    return {"asked": asked, "flipped": flipped, "rate": flipped / asked if asked else None}


def reversed_options(schema: Any) -> Any:
    """A copy of a schema with the options of every choice in reverse order."""
    if isinstance(schema, list):
        return [reversed_options(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    found = {}
    for key, value in schema.items():
        value = reversed_options(value)
        found[key] = value[::-1] if key in ("enum", "oneOf", "anyOf") and isinstance(value, list) else value
    return found


class _Tally:
    def __init__(self) -> None:
        self.failed = 0
        self.checks: dict[str, dict[str, int]] = {}
        self.differences: list[dict[str, str]] = []

    def add(self, name: str, context: str, expected: Outcomes, found: Outcomes) -> None:
        check = self.checks.setdefault(name, {"compared": 0, "equal": 0})
        check["compared"] += 1
        if found == expected:
            check["equal"] += 1
            return
        pointers = sorted(p for p in expected.keys() | found.keys() if expected.get(p) != found.get(p))
        self.differences.append({"check": name, "context": context[:80], "pointers": ", ".join(pointers)})


def _check_one(model: Any, ask: Ask, whole: Outcomes, draw: random.Random, tally: _Tally) -> None:
    text, schema, options = ask

    def parallel(variant: Mapping[str, Any]) -> Outcomes:
        return _answer(model, text, variant, options, generated=False)

    for _ in range(REPEATS):
        tally.add("repeated", text, whole, _answer(model, *ask))
    tally.add(f"{THREADS} threads", text, whole, _with_threads(THREADS, lambda: _answer(model, *ask)))
    alone = parallel(schema)
    names = list(schema["properties"])
    for _ in range(PERMUTATIONS):
        draw.shuffle(names)
        tally.add("reordered", text, alone, parallel(_restricted(schema, names)))
    bigger = parallel({**schema, "properties": {**EXTRA, **schema["properties"]}})
    tally.add("in a bigger schema", text, alone, {p: o for p, o in bigger.items() if split(p)[0] not in EXTRA})
    if len(names) > 1:
        halves = [parallel(_restricted(schema, half)) for half in (names[::2], names[1::2])]
        tally.add("split in two", text, alone, halves[0] | halves[1])


def _restricted(schema: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The schema with these top-level properties, in this order."""
    required = [name for name in schema.get("required", ()) if name in names]
    return {**schema, "properties": {name: schema["properties"][name] for name in names}, "required": required}


def _answer(
    model: Any, text: str, schema: Mapping[str, Any], options: Mapping[str, Any], *, generated: bool = True
) -> Outcomes:
    try:
        return _outcomes(fill(model, text, schema, **options), generated)
    except DegError as error:
        return {"error": str(error)}


def _response(model: Any, text: str, schema: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any] | None:
    """The response, or None when a required value cannot be found."""
    try:
        return fill(model, text, schema, **options)
    except DegError:
        return None


def _outcomes(response: Mapping[str, Any], generated: bool = True) -> Outcomes:
    """Concrete pointer -> canonical JSON of its meta and value; floats keep every digit."""
    return {
        pointer: canonical([meta, read_value(response["value"], pointer, None)])
        for pointer, meta in response["meta"].items()
        if meta["mode"] != "array" and (generated or meta["mode"] != "generate")
    } | {
        pointer: canonical([meta, len(read_value(response["value"], pointer, []))])
        for pointer, meta in response["meta"].items()
        if meta["mode"] == "array"
    }


def _with_threads(threads: int, ask: Callable[[], Outcomes]) -> Outcomes:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        return ask()
    finally:
        torch.set_num_threads(before)
