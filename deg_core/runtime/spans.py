"""From pointer logits to an extracted value (contract section 12.3). Pure Python and NumPy, no randomness.

T = context tokens.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from deg_core.config import FillOptions
from deg_core.contract.outcome import Extracted
from deg_core.contract.plan import FieldPlan
from deg_core.model.heads import MAX_SPAN_TOKENS, SpanLogits
from deg_core.model.tokens import ContextTokens
from deg_core.values import Candidate, find_candidates, trim_span, violated

TOP_SPANS = 32
START_BLOCK = 4096


@dataclass
class Document:
    """A context as text and tokens, with the candidates that grammars found in it."""

    text: str
    tokens: ContextTokens
    candidates: dict[tuple, list[Candidate]] = field(default_factory=dict)

    def candidates_of(self, plan: FieldPlan, options: FillOptions) -> list[Candidate]:
        """Every candidate of a typed leaf's grammar, found once for each grammar."""
        key = (plan.mode, plan.json_type, plan.format, options.date_order, options.default_offset)
        if key not in self.candidates:
            self.candidates[key] = find_candidates(plan, self.text, options)
        return self.candidates[key]


@dataclass(frozen=True)
class Scored:
    """A possible value with the log of its probability among all outcomes."""

    logp: float
    value: object
    span: tuple[int, int]
    assumed_offset: bool = False


def log_softmax(logits: np.ndarray, temperature: float) -> np.ndarray:
    """float64 log-probabilities of float32 logits divided by a temperature."""
    scaled = logits.astype(np.float64) / temperature
    shifted = scaled - scaled.max()
    return shifted - math.log(math.fsum(np.exp(shifted).tolist()))


@dataclass(frozen=True)
class SpanScores:
    """Log-probabilities of spans, float64: first [T], last [T], null. A span i..j has first[i] + last[j]."""

    first: np.ndarray
    last: np.ndarray
    null: float

    @classmethod
    def of(cls, logits: SpanLogits, temperature: float) -> SpanScores:
        """From raw logits divided by a temperature; they add up to 1 over every span and null."""
        start, end, cut, null = (
            part.double().cpu().numpy() / temperature for part in (logits.start, logits.end, logits.cut, logits.null)
        )
        crossed = np.cumsum(cut)
        first, last = start + crossed, end - crossed
        rows = [log_sum(first[low:high, None] + ends) for low, high, ends in _windows(last)]
        total = log_sum(np.array([*rows, float(null)]))
        return cls(first - total, last, float(null) - total)


def _windows(last: np.ndarray) -> Iterator[tuple[int, int, np.ndarray]]:
    """Blocks low..high of starts with the ends of each start's spans [high - low, MAX_SPAN_TOKENS], -inf past the text.

    In blocks, so that memory does not grow with T.
    """
    padded = np.concatenate((last, np.full(MAX_SPAN_TOKENS - 1, -np.inf)))
    for low in range(0, len(last), START_BLOCK):
        high = min(low + START_BLOCK, len(last))
        part = padded[low : high + MAX_SPAN_TOKENS - 1]
        yield low, high, np.lib.stride_tricks.sliding_window_view(part, MAX_SPAN_TOKENS)


def log_sum(values: np.ndarray) -> float:
    """log(sum(exp(values))), in one fixed order."""
    top = values.max(initial=-np.inf)
    return float(top + np.log(np.exp(values - top).sum())) if np.isfinite(top) else -math.inf


def extract(
    plan: FieldPlan, document: Document, logits: SpanLogits, temperature: float, options: FillOptions
) -> Extracted:
    """The outcome of one extract leaf.

    The probability of a value is that of all its spans together: one that stands in two places is not less sure
    for it; its place is the likelier of them. A value that breaks a constraint is passed over; null wins where it
    is allowed and more probable than the best valid value (with options.null_margin). The confidence of a typed
    leaf is its share among null and what the grammar found, since nothing else can be answered.
    """
    scores = SpanScores.of(logits, temperature)
    typed = plan.mode != "extract.span" or plan.format is not None
    values = _by_value(_typed(plan, document, scores, options) if typed else _plain(document, scores))
    possible = log_sum(np.array([scores.null, *(scored.logp for scored in values)])) if typed else 0.0
    best, reason = _best_valid(plan, values)
    if best is None:
        missing = "unparsable" if typed and math.exp(scores.null) < 0.5 else "not_found"
        return Extracted(None, None, math.exp(scores.null), reason or missing)
    margin = options.null_margin or 0.0
    if plan.on_null != "forbid" and best.logp < scores.null + margin:
        return Extracted(None, None, math.exp(scores.null - possible), "not_found")
    confidence = min(1.0, math.exp(best.logp - possible))
    return Extracted(best.value, best.span, confidence, assumed_offset=best.assumed_offset)


def _by_value(found: list[Scored]) -> list[Scored]:
    """One for each different value: its spans' probabilities added, at the likeliest of the spans."""
    groups: dict[str, list[Scored]] = {}
    for scored in found:
        groups.setdefault(repr(scored.value), []).append(scored)
    return [
        replace(max(same, key=lambda scored: scored.logp), logp=log_sum(np.array([scored.logp for scored in same])))
        for same in groups.values()
    ]


def _best_valid(plan: FieldPlan, found: list[Scored]) -> tuple[Scored | None, str | None]:
    """The most probable valid value (the first of equals), else the keyword that the best one breaks."""
    reason = None
    for scored in sorted(found, key=lambda scored: -scored.logp):
        broken = violated(plan, scored.value)
        if broken is None:
            return scored, None
        reason = reason or broken
    return None, reason


def _typed(plan: FieldPlan, document: Document, scores: SpanScores, options: FillOptions) -> list[Scored]:
    scored = []
    for candidate in document.candidates_of(plan, options):
        covered = document.tokens.cover(candidate.start, candidate.end)
        if covered is not None:
            logp = float(scores.first[covered[0]] + scores.last[covered[1] - 1])
            scored.append(Scored(logp, candidate.value, (candidate.start, candidate.end), candidate.assumed_offset))
    return scored


def _plain(document: Document, scores: SpanScores) -> list[Scored]:
    scored = []
    for logp, first, last in top_spans(scores.first, scores.last):
        begin, stop = int(document.tokens.starts[first]), int(document.tokens.ends[last])
        begin, stop = trim_span(document.text, begin, stop)
        if begin < stop:
            scored.append(Scored(logp, document.text[begin:stop], (begin, stop)))
    return scored


def top_spans(first: np.ndarray, last: np.ndarray) -> list[tuple[float, int, int]]:
    """The best TOP_SPANS token spans (log-probability, i, j), i <= j < i + MAX_SPAN_TOKENS. first, last: float64 [T]."""
    best: list[tuple[float, int, int]] = []
    for low, _, ends in _windows(last):
        scores = (first[low : low + len(ends), None] + ends).ravel()
        kept = min(TOP_SPANS, len(scores))
        cut = np.partition(scores, len(scores) - kept)[len(scores) - kept]
        for flat in np.flatnonzero(scores >= max(cut, np.finfo(np.float64).min)).tolist():
            row, width = divmod(flat, MAX_SPAN_TOKENS)
            best.append((float(scores[flat]), low + row, low + row + width))
    best.sort(key=lambda span: (-span[0], span[1], span[2]))
    return best[:TOP_SPANS]
