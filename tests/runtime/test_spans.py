"""From span logits to a value: the distribution, what adds up, what the cuts are for, and the loss that trains it."""

import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from deg_core.config import FillOptions
from deg_core.contract import compile_schema
from deg_core.evaluation.temperatures import fork_cases, nll
from deg_core.model.heads import MAX_SPAN_TOKENS, SpanLogits
from deg_core.model.tokens import ContextTokens
from deg_core.runtime import spans
from deg_core.runtime.spans import Document, SpanScores, extract, top_spans
from deg_core.training.losses import span_loss

SURE = 12.0


def logits(tokens, seed=0):
    """Random logits of a context."""
    draw = torch.Generator().manual_seed(seed)
    start, end, cut = (torch.randn(tokens, generator=draw) for _ in range(3))
    return SpanLogits(start, end, cut.abs(), torch.randn((), generator=draw))


def every_span(given):
    """The logit of every span, (first, last) -> float, term by term."""
    start, end, cut = (part.double().tolist() for part in (given.start, given.end, given.cut))
    return {
        (i, j): start[i] + end[j] - math.fsum(cut[i + 1 : j + 1])
        for i in range(len(start))
        for j in range(i, min(len(start), i + MAX_SPAN_TOKENS))
    }


def document(text):
    """A document with a token for each run of letters or digits and each other character but spaces."""
    places = [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]
    starts, ends = (np.array(side, dtype=np.int64) for side in zip(*places, strict=True))
    return Document(text, ContextTokens(np.zeros(len(places), dtype=np.int32), starts, ends))


def pointing(doc, *chosen, null=0.0):
    """Logits that are sure of the given (text, times SURE) and of nothing else."""
    start, end = torch.zeros(len(doc.tokens)), torch.zeros(len(doc.tokens))
    for (begin, stop), weight in chosen:
        first, after = doc.tokens.cover(begin, stop)
        start[first] += weight * SURE / 2
        end[after - 1] += weight * SURE / 2
    return SpanLogits(start, end, torch.full_like(start, 0.5), torch.tensor(null))


def field(schema):
    return compile_schema({"type": "object", "properties": {"x": schema}, "required": ["x"]}).fields[0]


@pytest.mark.parametrize("tokens", [0, 1, 7, MAX_SPAN_TOKENS + 40])
@pytest.mark.parametrize("temperature", [1.0, 0.4, 3.0])
def test_spans_and_null_add_up_to_one(tokens, temperature, monkeypatch):
    given = logits(tokens)
    monkeypatch.setattr(spans, "START_BLOCK", 50)
    scores = SpanScores.of(given, temperature)
    each = {place: scores.first[place[0]] + scores.last[place[1]] for place in every_span(given)}
    assert math.fsum(math.exp(logp) for logp in (*each.values(), scores.null)) == pytest.approx(1.0, abs=1e-9)
    for place, logit in every_span(given).items():
        assert each[place] - scores.null == pytest.approx((logit - float(given.null)) / temperature, abs=1e-4)
    if temperature == 1.0:
        every = torch.tensor([*every_span(given).values(), float(given.null)])
        assert float(given.log_total()) == pytest.approx(float(every.logsumexp(0)), abs=1e-4)


def test_the_best_spans_are_the_best_of_all(monkeypatch):
    monkeypatch.setattr(spans, "START_BLOCK", 50)
    given = logits(MAX_SPAN_TOKENS + 40)
    scores = SpanScores.of(given, 1.0)
    found = [(i, j) for _, i, j in top_spans(scores.first, scores.last)]
    ranked = sorted(every_span(given).items(), key=lambda item: -item[1])
    assert found == [place for place, _ in ranked[: spans.TOP_SPANS]]


def test_a_start_and_an_end_of_two_places_are_not_one_span():
    doc = document("Doctor: Ann Lee. Patient: Bo Ray. Clerk: Cy Fox.")
    given = pointing(doc, ((8, 15), 1.0), ((26, 32), 1.0))
    found = extract(field({"type": "string"}), doc, given, 1.0, FillOptions())
    assert found.value in ("Ann Lee", "Bo Ray") and found.confidence == pytest.approx(0.5, abs=0.1)
    no_cuts = SpanLogits(given.start, given.end, torch.zeros_like(given.cut), given.null)
    assert extract(field({"type": "string"}), doc, no_cuts, 1.0, FillOptions()).confidence < 0.35


def test_a_value_in_two_places_is_as_sure_as_one():
    doc = document("Total 42. To pay: 42. Paid: 17.")
    both = pointing(doc, ((6, 8), 1.0), ((18, 20), 1.05), null=SURE)
    found = extract(field({"type": ["number", "null"]}), doc, both, 1.0, FillOptions())
    assert found.value == 42 and found.span == (18, 20) and found.confidence > 0.6
    one = pointing(doc, ((6, 8), 1.0), null=SURE)
    assert extract(field({"type": ["number", "null"]}), doc, one, 1.0, FillOptions()).confidence == pytest.approx(
        0.5, abs=0.02
    )


def test_a_typed_confidence_is_a_share_of_what_can_be_answered():
    doc = document("Order 17 of the mill, total 42 pounds")
    given = pointing(doc, ((28, 30), 0.5), ((17, 21), 1.0), null=-5.0)
    found = extract(field({"type": "integer"}), doc, given, 1.0, FillOptions())
    assert found.value == 42 and found.confidence > 0.95


def test_null_and_what_forbids_it():
    doc = document("Order 17 of the mill")
    sure = pointing(doc, null=SURE)
    assert extract(field({"type": ["integer", "null"]}), doc, sure, 1.0, FillOptions()).value is None
    assert extract(field({"type": "integer"}), doc, sure, 1.0, FillOptions()).value == 17
    nothing = extract(field({"type": ["string", "null"], "format": "email"}), doc, sure, 1.0, FillOptions())
    assert nothing.value is None and nothing.null_reason == "not_found"


def fork(gold, weights=()):
    return SimpleNamespace(
        spans=np.array(gold, dtype=np.int64).reshape(-1, 2), span_weights=np.array(weights, dtype=np.float32)
    )


def test_the_loss_is_half_the_cross_entropy_of_the_whole_span():
    given = logits(30)
    every = every_span(given)
    total = math.log(math.fsum(math.exp(logit) for logit in (*every.values(), float(given.null))))
    one = -(every[3, 5] - total) / 2
    assert float(span_loss(given, fork([[3, 6]]))) == pytest.approx(one, abs=1e-4)
    assert float(span_loss(given, fork([]))) == pytest.approx((total - float(given.null)) / 2, abs=1e-4)
    either = -(math.log(math.exp(every[3, 5]) + math.exp(every[9, 9])) - total) / 2
    assert float(span_loss(given, fork([[3, 6], [9, 10]]))) == pytest.approx(either, abs=1e-4)
    soft = -(0.25 * (every[3, 5] - total) + 0.75 * (every[9, 9] - total)) / 2
    assert float(span_loss(given, fork([[3, 6], [9, 10]], [1.0, 3.0]))) == pytest.approx(soft, abs=1e-4)


def test_a_span_that_cannot_be_answered_teaches_nothing():
    given = logits(MAX_SPAN_TOKENS + 5)
    long = fork([[0, MAX_SPAN_TOKENS + 1]])
    assert float(span_loss(given, long)) == 0.0
    assert list(fork_cases(SimpleNamespace(**vars(long), kind="extract"), given)) == []


def test_training_moves_the_cuts():
    start, end, null = torch.zeros(6), torch.zeros(6), torch.zeros(())
    cut = torch.full((6,), 0.5, requires_grad=True)
    span_loss(SpanLogits(start, end, cut, null), fork([[2, 5]])).backward()
    assert cut.grad is not None and cut.grad[3] > 0 > cut.grad[2]


def test_a_temperature_is_fitted_on_whole_spans():
    given = logits(20)
    every = every_span(given)
    (case,) = fork_cases(fork([[3, 6]]), given)
    expected = -(every[3, 5] - math.log(math.fsum(math.exp(v) for v in (*every.values(), float(given.null)))))
    assert nll([case], 1.0) == pytest.approx(expected, abs=1e-4)
    (absent,) = fork_cases(fork([]), given)
    assert nll([absent], 1.0) == pytest.approx(expected + every[3, 5] - float(given.null), abs=1e-4)
