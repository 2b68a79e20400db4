"""The heads: shapes, what they know before training, and exact span keys."""

import itertools
from dataclasses import is_dataclass

import numpy as np
import pytest
import torch

from deg_core.contract.query import Query
from deg_core.model.fork import MAX_COUNT, ForkTokens, first_word_token, tokenize_query
from deg_core.model.heads import (
    CALIBRATED_KINDS,
    COUNT_FLOOR,
    CUT_WIDTH,
    POINTER_WIDTH,
    READOUT_START,
    VIEWS,
    Heads,
    ItemCounter,
    OptionPointer,
    SpanPointer,
    exact_boundary_keys,
    log_count,
)
from deg_core.model.projection import TILE, Projector, exact_projector
from deg_core.model.rows import Rows
from tests.model import tiny
from tests.model.tiny import ORDER_TOLERANCE, relative_error

HIDDEN = 48


def forks(tokens):
    """A fork of every kind."""
    lines = ("FIELD /kind\n", "OPTIONS:\n", "- invoice\n", "- letter\n", "- order\n", "ANSWER:")
    choice = Query(lines, (2, 3, 4), ("invoice", "letter", "order"))
    kinds = {"choice": choice, "score": choice}
    return {
        kind: tokenize_query(tokens, kind, "/kind", kinds.get(kind, Query(lines)))
        for kind in ("choice", "score", "noul", "count", "extract", "generate")
    }


def parts(output):
    """The tensors of an answer."""
    return list(vars(output).values()) if is_dataclass(output) else [output]


@pytest.fixture
def network(base):
    return tiny.fresh_network(base)


@pytest.mark.parametrize("exact", [True, False])
def test_every_kind_answers_in_its_shape(network, exact):
    context = network.tokens.encode_context("Invoice 4711 of Miller & Sons.").ids
    asked = forks(network.tokens)
    with torch.no_grad():
        reading = network.read([context, context[:0]], exact=exact)
        for place, length in ((0, len(context)), (1, 0)):
            outputs = network.answer(reading, [(place, fork) for fork in asked.values()], exact=exact)
            found = dict(zip(asked, outputs, strict=True))
            assert found["choice"].shape == found["score"].shape == (3,)
            assert found["noul"].shape == (2,) and found["count"].lengths.shape == (MAX_COUNT + 1,)
            assert found["count"].anchors.shape == (length,)
            spans = found["extract"]
            assert spans.start.shape == spans.end.shape == spans.cut.shape == (length,) and spans.null.shape == ()
            assert found["generate"].shape == (len(asked["generate"].ids), network.backbone.shape.hidden)
            for output in outputs[:-1]:
                assert all(part.dtype == torch.float32 and part.isfinite().all() for part in parts(output))


def test_an_answer_does_not_depend_on_its_neighbours(network):
    context = network.tokens.encode_context("Invoice 4711 of Miller & Sons, total 12.50 EUR.").ids
    asked = [(0, fork) for fork in forks(network.tokens).values()]
    with torch.no_grad():
        reading = network.read([context], exact=True)
        together = network.answer(reading, asked, exact=True)
        for fork, expected in zip(asked, together, strict=True):
            (alone,) = network.answer(network.read([context], exact=True), [fork], exact=True)
            assert all(torch.equal(a, b) for a, b in zip(parts(alone), parts(expected), strict=True)), fork[1].kind


def test_answers_do_not_depend_on_the_number_of_threads(network, threads):
    """Options of every small number: their products are cut at other places by other numbers of threads."""
    words = tuple(f"word {i}" for i in range(9))
    asked = list(forks(network.tokens).values())
    for count in range(1, len(words) + 1):
        lines = ("OPTIONS:\n", *(f"- {word}\n" for word in words[:count]), "ANSWER:")
        query = Query(lines, tuple(range(1, count + 1)), words[:count])
        asked.append(tokenize_query(network.tokens, "choice", "/kind", query))
    context = network.tokens.encode_context("Invoice 4711 of Miller & Sons, total 12.50 EUR.").ids
    found = []
    for count in (1, 2, 3):
        torch.set_num_threads(count)
        with torch.inference_mode():
            reading = network.read([context], exact=True)
            outputs = network.answer(reading, [(0, fork) for fork in asked], exact=True)
        found.append([part for output in outputs for part in parts(output)])
    for other in found[1:]:
        assert all(torch.equal(a, b) for a, b in zip(found[0], other, strict=True))


def test_a_fresh_yes_no_head_is_the_preference_of_the_base(network):
    tokens, lm_head = network.tokens, network.backbone.weights["lm_head"]
    yes, no = (first_word_token(tokens, word) for word in ("yes", "no"))
    assert yes != no
    answer = torch.randn(lm_head.shape[1], generator=torch.Generator().manual_seed(0))
    logits = lm_head @ answer
    torch.testing.assert_close(network.heads.noul(answer)[0], logits[yes] - logits[no])


def test_options_start_from_the_base_models_own_words(network):
    """With a zero pointer the logits are the base model's logits of the options' first words, scaled."""
    fork = forks(network.tokens)["choice"]
    for part in (network.heads.choice.query, network.heads.choice.key):
        torch.nn.init.zeros_(part.weight)
    context = network.tokens.encode_context("A letter.").ids
    with torch.no_grad():
        reading = network.read([context], exact=False)
        (logits,) = network.answer(reading, [(0, fork)], exact=False)
        whole = np.concatenate((network.tokens.prefix_ids, context, network.tokens.suffix_ids, fork.ids))
        hidden, _ = network.backbone.forward(torch.from_numpy(whole).long(), Rows([len(whole)]))
    words = [first_word_token(network.tokens, word) for word in ("invoice", "letter", "order")]
    assert len(set(words)) == 3
    torch.testing.assert_close(logits, READOUT_START * network.lm_logits(hidden[-1])[words], rtol=1e-4, atol=1e-5)


def test_the_option_pointer_scores_each_option_alone():
    torch.manual_seed(0)
    head, answer, options = OptionPointer(HIDDEN), torch.randn(HIDDEN), torch.randn(4, HIDDEN)
    readout = torch.randn(4)
    scores = head(answer, options, readout)
    order = torch.tensor([2, 0, 3, 1])
    torch.testing.assert_close(head(answer, options[order], readout[order]), scores[order])
    shifted = head(answer, options, readout + torch.tensor([1.0, 0, 0, 0]))
    torch.testing.assert_close(shifted - scores, torch.tensor([READOUT_START, 0, 0, 0]), rtol=0, atol=1e-5)


@pytest.mark.parametrize("length", [0, 1, 62, 63, 200])
def test_exact_span_keys_are_the_plain_ones(length, threads):
    heads, around = Heads.random(HIDDEN, 0), torch.randn(length + 2, VIEWS * HIDDEN)
    weights = heads.key_weights(torch.float32)
    with torch.inference_mode():
        plain = heads.extract.keys(around)
        assert plain.shape == (length + 1, 2 * POINTER_WIDTH + CUT_WIDTH)
        for project in (Projector(weights, tile=TILE), exact_projector(weights, weights, {})):
            torch.set_num_threads(1)
            exact = exact_boundary_keys(project, "extract", around)
            assert exact.shape == plain.shape
            assert relative_error(exact, plain) < ORDER_TOLERANCE
            torch.set_num_threads(2)
            assert torch.equal(exact_boundary_keys(project, "extract", around), exact)


def test_a_span_key_sees_both_sides_of_its_boundary():
    torch.manual_seed(0)
    head, around = SpanPointer(HIDDEN), torch.randn(6, VIEWS * HIDDEN)
    before = head.keys(around)
    around[3] += 1
    changed = (head.keys(around) != before).any(1)
    assert changed.tolist() == [False, False, True, True, False]


def test_heads_of_a_seed_are_the_same_and_leave_the_generator_alone():
    embed = torch.randn(10, HIDDEN)
    torch.manual_seed(1)
    expected = torch.randn(1)
    torch.manual_seed(1)
    one, other = Heads.fresh(embed, (3, 4), 5), Heads.fresh(embed, (3, 4), 5)
    assert torch.equal(torch.randn(1), expected)
    assert all(torch.equal(a, b) for a, b in zip(one.state_dict().values(), other.state_dict().values(), strict=True))
    assert not torch.equal(one.choice.key.weight, Heads.fresh(embed, (3, 4), 6).choice.key.weight)


def test_temperatures_belong_to_calibrated_kinds():
    heads = Heads(HIDDEN)
    heads.temperatures.copy_(torch.arange(2.0, 2 + len(CALIBRATED_KINDS)))
    assert [heads.temperature(kind) for kind in CALIBRATED_KINDS] == [2.0, 3.0, 4.0, 5.0]
    assert heads.temperature("count") == heads.temperature("generate") == 1.0


def test_an_unknown_fork_kind_is_refused():
    with pytest.raises(ValueError, match="'guess'"):
        ForkTokens("guess", "/a", np.zeros(1, np.int32))


def test_the_number_of_anchors_is_distributed_as_the_sum_of_independent_events():
    chances = torch.tensor([0.9, 0.2, 0.5, 0.0, 0.7])
    expected = torch.zeros(MAX_COUNT + 1, dtype=torch.float64)
    for happens in itertools.product((0, 1), repeat=len(chances)):
        of_each = [c if h else 1 - c for h, c in zip(happens, chances.double(), strict=True)]
        expected[sum(happens)] += torch.stack(of_each).prod()
    found = log_count(chances).exp().double()
    assert torch.allclose(found, expected + COUNT_FLOOR, atol=1e-6)
    assert log_count(chances[:0]).argmax() == 0
    many = torch.full((500,), 0.99)
    assert log_count(many).argmax() == MAX_COUNT  # more than can be counted


def test_counts_do_not_need_the_linear_reading():
    torch.manual_seed(0)
    head = ItemCounter(HIDDEN)
    keys = torch.zeros(41, POINTER_WIDTH)
    answer = torch.randn(HIDDEN)
    with torch.no_grad():
        keys[[3, 9, 30]] = 8 * head.query(answer) / head.query(answer).norm() * POINTER_WIDTH**0.5
        assert int(head(answer, keys).lengths.argmax()) == 3
        assert int(head(answer, keys, 5, 20).lengths.argmax()) == 1
