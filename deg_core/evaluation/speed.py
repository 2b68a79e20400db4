"""How fast a fill is beside this machine's own matrix products, and how its time grows with documents together, fields and
length. One process and one core; rivals.py has the systems that it is timed beside.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import torch

from deg_core.contract import compile_schema
from deg_core.contract.walk import leaf_instances
from deg_core.generator.draw import Draw
from deg_core.generator.records import write_document
from deg_core.generator.registry import KINDS
from deg_core.model.model import Model
from deg_core.model.projection import TILE
from deg_core.model.queries import DocumentQueries
from deg_core.runtime.engine import fill, fill_many

FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["invoice", "order", "report", "complaint", "notice", "other"]},
        "urgent": {"type": "boolean", "description": "whether an answer is wanted at once"},
        "tone": {"type": "integer", "minimum": 1, "maximum": 5, "description": "1 is angry, 5 is friendly"},
        "sender": {"type": ["string", "null"], "maxLength": 48, "description": "who wrote this"},
        "place": {"type": ["string", "null"], "maxLength": 48, "description": "the town"},
        "subject": {"type": ["string", "null"], "maxLength": 48, "description": "what this is about"},
        "date": {"type": ["string", "null"], "format": "date", "description": "the day of writing"},
        "due": {"type": ["string", "null"], "format": "date", "description": "the last day to act"},
        "amount": {"type": ["number", "null"], "description": "the sum of money"},
        "reference": {"type": ["string", "null"], "maxLength": 48, "description": "the number of the case"},
    },
    "additionalProperties": False,
}
FORM["required"] = list(FORM["properties"])
PEAK_ROWS = 2048
PEAK_ROUNDS = 5


@dataclass(frozen=True)
class Row:
    """One line of a table: what was measured, and figures by name."""

    name: str
    figures: dict[str, Any]


def pin(core: int | None) -> None:
    """Keep this process on one core with one thread; None = the first it may use."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0)) if core is None else core})
    torch.set_num_threads(1)


def texts(model: Model, count: int, tokens: int = 450, tolerance: float = 0.15) -> list[str]:
    """Generated documents of about this many tokens, several in a row where one is too short."""
    found: list[str] = []
    index = 0
    while len(found) < count:
        parts, size = [], 0
        while size < tokens * (1 - tolerance):
            kind = list(KINDS.values())[index % len(KINDS)]
            parts.append(write_document(kind, Draw(1, "speed", index)).text)
            size += len(model.tokens.encode_context(parts[-1]))
            index += 1
        if size <= tokens * (1 + tolerance):
            found.append("\n\n".join(parts))
    return found


def utilisation(model: Model, repeats: int) -> list[Row]:
    """Operations a second of the trunk and of the forks of one form over the best that a product reaches here."""
    network = model.network
    (text,) = texts(model, 1)
    context = model.tokens.encode_context(text)
    plan = compile_schema(FORM)
    queries = DocumentQueries(model.tokens, plan, text, context, model.layout)
    forks = [(0, queries.leaf(field, indices)) for field, indices in leaf_instances(plan, {})]
    around = len(model.tokens.prefix_ids) + len(model.tokens.suffix_ids)
    trunk, asked = len(context) + around, [len(fork.ids) for _, fork in forks]
    with torch.inference_mode():
        reading = network.read([context.ids], exact=True)
        read = median(timed(lambda: network.read([context.ids], exact=True)) for _ in range(repeats))
        answer = median(timed(lambda: network.answer(reading, forks, exact=True)) for _ in range(repeats))
    peak = product_peak(model)
    work = {
        "trunk": (trunk, operations(model, [trunk], 0), read),
        "forks": (sum(asked), operations(model, asked, trunk), answer),
    }
    rows = [Row("product peak", {"GFLOP/s": peak / 1e9, "share": 1.0})]
    for name, (tokens, total, seconds) in work.items():
        figures = {"tokens": tokens, "ms": 1000 * seconds, "GFLOP/s": total / seconds / 1e9}
        rows.append(Row(name, {**figures, "share": total / seconds / peak}))
    return rows


def operations(model: Model, rows: Sequence[int], prefix: int) -> float:
    """Multiplications and additions that rows of these lengths after a prefix need: projections and attention."""
    backbone, shape = model.backbone, model.backbone.shape
    weights = sum(outputs * inputs for inputs, outputs in backbone.family.targets().values())
    attended = sum(length * prefix + length * (length + 1) / 2 for length in rows)
    layers = sum(name.endswith((".qkv", ".qkvg")) for name in backbone.family.targets())
    return 2 * weights * sum(rows) + 4 * layers * shape.heads * shape.head_dim * attended


def product_peak(model: Model) -> float:
    """The best operations a second of this model's products of PEAK_ROWS rows, on this core and in its type."""
    best = 0.0
    for name in model.backbone.family.targets():
        if not name.startswith("layers.0."):
            continue
        weight = model.backbone.weights[name]
        x = torch.randn(PEAK_ROWS, weight.shape[1]).to(weight.dtype)
        seconds = min(timed(partial(torch.mm, x, weight.t())) for _ in range(PEAK_ROUNDS))
        best = max(best, 2 * PEAK_ROWS * weight.numel() / seconds)
    return best


def together(model: Model, sizes: Sequence[int], documents: int) -> Iterator[Row]:
    """Documents a second when this many are filled together, and computed over real tokens."""
    jobs = [{"context": text, "schema": FORM} for text in texts(model, documents)]
    for size in sizes:
        with _TokenCount(model) as tokens:
            begun = time.perf_counter()
            for low in range(0, len(jobs), size):
                fill_many(model, jobs[low : low + size])
            seconds = time.perf_counter() - begun
        figures: dict[str, float | str] = {
            "documents/s": len(jobs) / seconds,
            "computed / real tokens": tokens.computed / tokens.real,
        }
        yield Row(f"{size} together", figures)


class _TokenCount:
    """Counts the tokens of every forward pass of a model, and those that are computed with the last tile's padding."""

    def __init__(self, model: Model):
        self._backbone = model.backbone
        self.real = self.computed = 0

    def __enter__(self) -> _TokenCount:
        inner = self._backbone.forward

        def forward(ids: torch.Tensor, rows: Any, project: Any = None, **options: Any) -> Any:
            tile = project.tile if project else TILE
            self.real += len(ids)
            self.computed += -(-len(ids) // tile) * tile
            return inner(ids, rows, project, **options)

        self._backbone.forward = forward  # type: ignore[method-assign]
        return self

    def __exit__(self, *error: object) -> None:
        del self._backbone.forward


def by_fields(model: Model, counts: Sequence[int], repeats: int) -> Iterator[Row]:
    """Seconds of a fill with this many fields, after one of the form."""
    (text,) = texts(model, 1)
    fill(model, text, FORM)
    leaves = list(FORM["properties"].items())
    for count in counts:
        properties = {f"{leaves[n % len(leaves)][0]}_{n}": leaves[n % len(leaves)][1] for n in range(count)}
        schema = {"type": "object", "properties": properties, "required": list(properties)}
        seconds = median(timed(partial(fill, model, text, schema)) for _ in range(repeats))
        yield Row(f"{count:,} fields", {"s": seconds, "ms / field": 1000 * seconds / count})


def by_length(model: Model, lengths: Sequence[int], peak: float) -> Iterator[Row]:
    """Seconds of the form over one text of this many tokens, after one over a short text.

    attention: the seconds spent in it, the one part that grows with the square; at peak: those that its products would
    take at the product peak; rest: what is not attention, for 1,000 tokens.
    """
    around = len(model.tokens.prefix_ids) + len(model.tokens.suffix_ids)
    weights = sum(outputs * inputs for inputs, outputs in model.backbone.family.targets().values())
    fill(model, texts(model, 1)[0], FORM)
    for length in lengths:
        (text,) = texts(model, 1, length, 0.1)
        tokens = len(model.tokens.encode_context(text)) + around
        with _AttentionTime(model) as attention:
            seconds = timed(partial(fill, model, text, FORM))
        figures = {
            "s": seconds,
            "attention s": attention.seconds,
            "at peak s": (operations(model, [tokens], 0) - 2 * weights * tokens) / peak,
            "rest ms / 1,000 tokens": 1e6 * (seconds - attention.seconds) / tokens,
        }
        yield Row(f"{tokens:,} tokens", {**figures, "peak GiB": _peak_gib()})


class _AttentionTime:
    """Seconds that a model's layers spend in attention."""

    def __init__(self, model: Model):
        self._module: Any = sys.modules[type(model.backbone.family).__module__]
        self.seconds = 0.0

    def __enter__(self) -> _AttentionTime:
        inner = self._inner = self._module.attend

        def attend(*arguments: Any) -> Any:
            begun = time.perf_counter()
            found = inner(*arguments)
            self.seconds += time.perf_counter() - begun
            return found

        self._module.attend = attend
        return self

    def __exit__(self, *error: object) -> None:
        self._module.attend = self._inner


def _peak_gib() -> float:
    """The most memory that this process has held since the last call."""
    from deg_core.training.memory import measured_peak

    return measured_peak(torch.device("cpu")) / 2**30


def timed(work: Callable[[], Any]) -> float:
    """Wall seconds of a call."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


__all__ = [
    "FORM",
    "Row",
    "by_fields",
    "by_length",
    "operations",
    "pin",
    "product_peak",
    "timed",
    "texts",
    "together",
    "utilisation",
]
