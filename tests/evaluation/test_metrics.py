"""Figures against values worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deg_core.evaluation import metrics
from deg_core.evaluation.tables import documents, full_rows


def row(**given: Any) -> dict[str, Any]:
    base = {"run": "r", "system": "deg", "source": "s", "split": "val", "uid": "a", "pointer": "/x", "field": "/x"}
    return base | {"mode": "decide.choice", "correct": True, "gold_null": False, "predicted_null": False} | given


def document(**given: Any) -> dict[str, Any]:
    base = {"run": "r", "system": "deg", "source": "s", "split": "val", "uid": "a", "prompt_tokens": 10}
    costs = {"generated_tokens": 0, "sampled_tokens": 0, "ms": 10.0, "valid": True, "capped": False, "error": None}
    return base | costs | given


def test_ece_by_hand() -> None:
    # bins of width 1/15: .95 and .99 share the last one, .50 falls into the eighth, .20 on the edge of the fourth
    p = np.array([0.95, 0.99, 0.5, 0.2, 1.0])
    correct = np.array([True, False, True, False, True])
    bins = metrics.reliability(p, correct)
    assert [part["n"] for part in bins] == [1, 1, 3]
    assert bins[0]["low"] == pytest.approx(3 / 15) and bins[2]["high"] == 1.0
    by_hand = (1 * abs(0 - 0.2) + 1 * abs(1 - 0.5) + 3 * abs(2 / 3 - (0.95 + 0.99 + 1.0) / 3)) / 5
    assert metrics.ece(bins) == pytest.approx(by_hand)
    assert metrics.ece([]) is None


def test_a_perfectly_calibrated_set_has_no_error() -> None:
    p = np.full(10, 0.7)
    correct = np.arange(10) < 7
    assert metrics.ece(metrics.reliability(p, correct)) == pytest.approx(0)


def test_coverage_at_risk() -> None:
    p = np.linspace(1, 0.6, 40)
    correct = np.ones(40, bool)
    correct[[19, 30]] = False  # 2 of 40 are exactly the risk
    assert metrics.coverage_at_risk(p, correct) == 40 / 40
    correct[0] = False
    assert metrics.coverage_at_risk(p, correct) == 0.0
    ties = metrics.coverage_at_risk(np.array([0.9, 0.9, 0.5]), np.array([True, False, True]))
    assert ties == 0.0
    assert metrics.coverage_at_risk(np.array([]), np.array([], bool)) is None


def test_accuracy_groups_and_leaves_out_the_unjudged() -> None:
    rows = full_rows([row(), row(correct=False), row(correct=None), row(mode="count", correct=True, score=0.0)])
    found = {entry["mode"]: entry for entry in metrics.accuracy(rows, ("mode",))}
    assert found["decide.choice"]["accuracy"] == 0.5 and found["decide.choice"]["n"] == 2
    assert found["count"]["score"] == 0.0


def test_null_precision_and_recall() -> None:
    flags = [(True, True), (True, True), (True, False), (False, True), (False, False)]  # predicted, gold
    rows = full_rows([row(mode="extract.span", predicted_null=p, gold_null=g) for p, g in flags])
    found = metrics.null_scores(rows)["deg"]
    assert found["precision"] == pytest.approx(2 / 3) and found["recall"] == pytest.approx(2 / 3)
    assert metrics.null_scores(full_rows([row(mode="extract.span")]))["deg"]["precision"] is None


def test_likelihood() -> None:
    rows = full_rows([row(gold_probability=0.5, brier=0.5), row(gold_probability=0.25, brier=1.0), row()])
    found = metrics.likelihood(rows)
    assert found["nll"] == pytest.approx((np.log(2) + np.log(4)) / 2)
    assert found["brier"] == pytest.approx(0.75) and found["n"] == 2


def test_costs_and_ratios_use_common_documents_only() -> None:
    table = documents(
        [
            document(uid="a", ms=100.0, generated_tokens=5),
            document(uid="b", ms=300.0, generated_tokens=5),
            document(uid="a", system="baseline", ms=400.0, generated_tokens=50, sampled_tokens=20, capped=True),
            document(uid="c", system="baseline", ms=9.0, generated_tokens=9, valid=False, error="x"),
        ]
    )
    costs = metrics.costs(table)
    assert costs["deg"]["ms_mean"] == 200 and costs["deg"]["ms_median"] == 200
    assert costs["baseline"]["valid"] == 0.5 and costs["baseline"]["failed"] == 1 and costs["baseline"]["capped"] == 0.5
    assert metrics.ratios(table) == {"documents": 1, "generated": pytest.approx(0.1), "speed": pytest.approx(4.0)}
    alone = metrics.ratios(documents([document()]))
    assert alone["documents"] == 0 and alone["speed"] is None


def paired_rows(ours: list[bool], theirs: list[bool]) -> Any:
    pairs = [
        (f"d{i}", system, ok)
        for i, both in enumerate(zip(ours, theirs, strict=True))
        for system, ok in zip(("deg", "baseline"), both, strict=True)
    ]
    return full_rows(
        [row(uid=uid, system=system, correct=ok) for uid, system, ok in pairs] + [row(uid="alone", correct=False)]
    )


def test_paired_bootstrap_is_seeded_and_holds_the_difference() -> None:
    rows = paired_rows([True] * 18 + [False] * 2, [True] * 10 + [False] * 10)
    (found,) = metrics.paired_differences(rows, seed=3)
    assert found == metrics.paired_differences(rows, seed=3)[0]
    assert found["documents"] == 20 and found["ours"] == 0.9 and found["baseline"] == 0.5
    assert found["difference"] == pytest.approx(0.4)
    assert 0.1 < found["low"] < 0.4 < found["high"] < 0.7


def test_paired_bootstrap_without_any_variation_has_no_width() -> None:
    (found,) = metrics.paired_differences(paired_rows([True] * 6, [False] * 6))
    assert found["low"] == found["high"] == 1.0


def test_paired_bootstrap_resamples_documents_not_leaves() -> None:
    # one document of 100 leaves: resampling documents cannot vary, resampling leaves would
    leaves = [row(uid="a", pointer=f"/{i}", correct=i % 2 == 0) for i in range(100)]
    theirs = [entry | {"system": "baseline", "correct": True} for entry in leaves]
    (found,) = metrics.paired_differences(full_rows(leaves + theirs))
    assert found["low"] == found["high"] == pytest.approx(-0.5)


def test_item_figures_are_of_copied_values_inside_arrays() -> None:
    def item(correct: bool, aligned: bool, **given: Any) -> dict[str, Any]:
        return row(**{"mode": "extract.span", "field": "/a/*"} | given, correct=correct, aligned=aligned)

    inside = [item(False, True), item(False, True), item(True, True), item(False, False)]
    others = [item(True, True, field="/a"), item(True, True, mode="decide.noul")]
    found = metrics.figures(full_rows(inside + others), documents([document()]))
    assert (found["item_exact"], found["item_exact_aligned"]) == (1 / 4, 3 / 4)
    assert (found["extract_exact"], found["extract_exact_aligned"]) == (2 / 5, 4 / 5)


def test_figures_by_split() -> None:
    rows = full_rows([row(probability=0.9), row(split="test", uid="b", correct=False, probability=0.6)])
    table = documents([document(), document(split="test", uid="b", valid=False)])
    found = metrics.summarise(rows, table)
    assert found["splits"]["seen"]["decide_accuracy"] == 1.0 and found["splits"]["held-out"]["decide_accuracy"] == 0.0
    assert found["figures"]["decide_accuracy"] == 0.5 and found["figures"]["extract_exact"] is None
    assert found["figures"]["valid"] == 0.5
    assert found["calibration"]["decide"]["n"] == 2
    assert found["figures"]["ece_decide"] == pytest.approx((0.1 + 0.6) / 2)
