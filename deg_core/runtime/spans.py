"""From pointer logits to an extracted value (contract section 12.3). Pure Python and NumPy, no randomness.

T = context tokens.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from deg_core.config import FillOptions
from deg_core.contract.outcome import Extracted
from deg_core.contract.plan import FieldPlan
from deg_core.model.tokens import ContextTokens
from deg_core.values import Candidate, find_candidates, trim_span, violated

MAX_SPAN_TOKENS = 128
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
    """A possible value with its log-probability."""

    logp: float
    value: object
    span: tuple[int, int]
    assumed_offset: bool = False


def log_softmax(logits: np.ndarray, temperature: float) -> np.ndarray:
    """float64 log-probabilities of float32 logits divided by a temperature."""
    scaled = logits.astype(np.float64) / temperature
    shifted = scaled - scaled.max()
    return shifted - math.log(math.fsum(np.exp(shifted).tolist()))


def extract(
    plan: FieldPlan, document: Document, start: np.ndarray, end: np.ndarray, temperature: float, options: FillOptions
) -> Extracted:
    """The outcome of one extract leaf.

    start, end: float32 [T + 1], the null outcome last. A value that breaks a constraint is passed over;
    null wins where it is allowed and more probable than the best valid value (with options.null_margin).
    """
    log_start, log_end = log_softmax(start, temperature), log_softmax(end, temperature)
    null_logp = float(log_start[-1] + log_end[-1])
    typed = plan.mode != "extract.span" or plan.format is not None
    found = _typed(plan, document, log_start, log_end, options) if typed else _plain(document, log_start, log_end)
    best, reason = _best_valid(plan, found)
    if best is None:
        confidence = math.exp(null_logp)
        missing = "unparsable" if typed and confidence < 0.5 else "not_found"
        return Extracted(None, None, confidence, reason or missing)
    margin = options.null_margin or 0.0
    if plan.on_null != "forbid" and best.logp < null_logp + margin:
        return Extracted(None, None, math.exp(null_logp), "not_found")
    return Extracted(best.value, best.span, math.exp(best.logp), assumed_offset=best.assumed_offset)


def _best_valid(plan: FieldPlan, found: list[Scored]) -> tuple[Scored | None, str | None]:
    """The most probable valid value (the first of equals), else the keyword that the best one breaks."""
    reason = None
    for scored in sorted(found, key=lambda scored: -scored.logp):
        broken = violated(plan, scored.value)
        if broken is None:
            return scored, None
        reason = reason or broken
    return None, reason


def _typed(
    plan: FieldPlan, document: Document, log_start: np.ndarray, log_end: np.ndarray, options: FillOptions
) -> list[Scored]:
    scored = []
    for candidate in document.candidates_of(plan, options):
        covered = document.tokens.cover(candidate.start, candidate.end)
        if covered is not None:
            logp = float(log_start[covered[0]] + log_end[covered[1] - 1])
            scored.append(Scored(logp, candidate.value, (candidate.start, candidate.end), candidate.assumed_offset))
    return scored


def _plain(document: Document, log_start: np.ndarray, log_end: np.ndarray) -> list[Scored]:
    scored = []
    for logp, first, last in top_spans(log_start[:-1], log_end[:-1]):
        begin, stop = int(document.tokens.starts[first]), int(document.tokens.ends[last])
        begin, stop = trim_span(document.text, begin, stop)
        if begin < stop:
            scored.append(Scored(logp, document.text[begin:stop], (begin, stop)))
    return scored


def top_spans(log_start: np.ndarray, log_end: np.ndarray) -> list[tuple[float, int, int]]:
    """The best TOP_SPANS token spans (log-probability, first, last), first <= last < first + MAX_SPAN_TOKENS.

    log_start, log_end: float64 [T]. Computed in blocks of starts, so memory does not grow with T * T.
    """
    total = len(log_start)
    padded = np.concatenate((log_end, np.full(MAX_SPAN_TOKENS, -np.inf)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, MAX_SPAN_TOKENS)
    best: list[tuple[float, int, int]] = []
    for low in range(0, total, START_BLOCK):
        high = min(low + START_BLOCK, total)
        scores = (log_start[low:high, None] + windows[low:high]).ravel()
        kept = min(TOP_SPANS, len(scores))
        cut = np.partition(scores, len(scores) - kept)[len(scores) - kept]
        for flat in np.flatnonzero(scores >= max(cut, np.finfo(np.float64).min)).tolist():
            first, width = divmod(flat, MAX_SPAN_TOKENS)
            best.append((float(scores[flat]), low + first, low + first + width))
    best.sort(key=lambda span: (-span[0], span[1], span[2]))
    return best[:TOP_SPANS]
