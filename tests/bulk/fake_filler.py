"""A deterministic filler for the tests: every answer is a pure function of its text."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from deg_core.bulk.job import Filled, FillJob
from deg_core.contract import compile_schema
from deg_core.contract.errors import FillError

SCHEMA = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["invoice", "letter"]},
        "urgent": {"type": "boolean"},
        "total": {"type": "number"},
        "due": {"type": ["string", "null"], "format": "date"},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "count": {"type": "integer", "minimum": 0}},
                "required": ["name", "count"],
            },
        },
    },
    "required": ["kind", "urgent", "total", "due", "items"],
}


def respond(text: str, plan: str) -> dict:
    """A response in the shape of contract section 8."""
    words = text.split()
    items = [{"name": word, "count": len(word)} for word in words[:2]]
    sure = (len(text) % 10) / 10
    meta = {
        "/kind": {"mode": "decide.choice", "probability": sure, "confidence": sure, "probabilities": [sure, 1 - sure]},
        "/urgent": {"mode": "decide.noul", "probability": 0.25},
        "/total": {"mode": "extract.number", "confidence": 0.5, "span": [0, len(words[0])]},
        "/due": {"mode": "extract.date", "confidence": 0.9, "span": None, "null_reason": "not_found"},
        "/items": {"mode": "array", "items": len(items)},
    }
    for index, item in enumerate(items):
        start = text.index(item["name"])
        span = [start, start + len(item["name"])]
        meta[f"/items/{index}/name"] = {"mode": "extract.span", "confidence": 0.8, "span": span}
        meta[f"/items/{index}/count"] = {"mode": "extract.number", "confidence": 0.7, "span": span}
    return {
        "model": "fake",
        "value": {
            "kind": "invoice" if len(text) % 2 else "letter",
            "urgent": False,
            "total": len(text) + 0.5,
            "due": None,
            "items": items,
        },
        "meta": meta,
        "usage": {"prompt_tokens": len(words), "generated_tokens": 0},
        "plan": plan,
    }


class FakeFiller:
    """Answers after DEG_TEST_SLEEP_S seconds a text. Some texts misbehave, by their first word.

    refuse: a FillError of that text. explode: the whole batch raises. die: its process ends, each time.
    stumble PATH: its process is killed the first time (PATH remembers).
    """

    def __init__(self, plan: str):
        self._plan = plan

    def __call__(self, texts: list[str]) -> list[Filled]:
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> Filled:
        started = time.perf_counter()
        time.sleep(float(os.environ.get("DEG_TEST_SLEEP_S", "0")))
        word = text.split()[0]
        if word == "die":
            os._exit(7)
        if word == "stumble" and not Path(text.split()[1]).exists():
            Path(text.split()[1]).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if word == "explode":
            raise ValueError("cannot be multiplied")
        answer = FillError("/total", "no number in the text") if word == "refuse" else respond(text, self._plan)
        return Filled(answer, 1000 * (time.perf_counter() - started))


def make_filler(job: FillJob) -> FakeFiller:
    return FakeFiller(compile_schema(job.schema).fingerprint)


def broken_factory(job: FillJob) -> FakeFiller:
    raise OSError(f"{job.checkpoint} holds no weights")
