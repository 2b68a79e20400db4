"""The gate's decisions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deg_core.artifacts import Home, Manifest, hash_tree
from deg_core.config.settings import GateSettings
from deg_core.contract.errors import InputError
from deg_core.registry.gate import decide, run_gate
from deg_core.registry.models import champion, history, promote

FIGURES = {"decide_accuracy": 0.8, "extract_exact": 0.7, "count_accuracy": 0.9, "ece_decide": 0.1}
SETTINGS = GateSettings(tolerance=0.01, max_ece=0.2)


def evaluation(checkpoint: Path, records: str = "r", **figures: float | None) -> Manifest:
    return Manifest(
        kind="eval",
        id=f"eval-{checkpoint.name}",
        key="k",
        code_version="1",
        inputs={"checkpoint": hash_tree(checkpoint), "records": records},
        figures=FIGURES | figures,
    )


@pytest.mark.parametrize(
    ("candidate", "rival", "promoted", "reason"),
    [
        ({}, None, True, "the first champion"),
        ({}, {}, True, "no metric fell"),
        ({"extract_exact": 0.691}, {}, True, "no metric fell"),
        ({"extract_exact": 0.68}, {}, False, "extract_exact fell from 0.7000 to 0.6800"),
        ({"decide_accuracy": 0.99, "count_accuracy": 0.5}, {}, False, "count_accuracy fell"),
        ({"ece_decide": 0.21}, {}, False, "ece_decide is 0.2100, above 0.2"),
        ({"ece_decide": 0.21}, None, False, "ece_decide is 0.2100"),
        ({"ece_decide": None}, {}, True, "no metric fell"),
        ({"count_accuracy": None}, {}, False, "count_accuracy was not measured"),
        ({"count_accuracy": None}, {"count_accuracy": None}, True, "no metric fell"),
        (dict.fromkeys(SETTINGS.metrics), None, False, "none of decide_accuracy"),
    ],
)
def test_decide(candidate: dict, rival: dict | None, promoted: bool, reason: str) -> None:
    decision = decide(FIGURES | candidate, None if rival is None else FIGURES | rival, SETTINGS)
    assert decision.promote is promoted
    assert reason in "; ".join(decision.reasons)


def test_the_numbers_say_what_was_compared() -> None:
    numbers = decide(FIGURES | {"extract_exact": 0.75}, FIGURES, SETTINGS).numbers
    assert numbers["extract_exact"] == {"candidate": 0.75, "champion": 0.7, "change": pytest.approx(0.05)}
    assert set(numbers) == {*SETTINGS.metrics, "ece_decide"}


def test_a_yes_promotes_and_a_no_is_logged(home: Home, checkpoint: Any) -> None:
    a, b, c = (checkpoint(name) for name in "abc")
    assert run_gate(a, evaluation(a), None, SETTINGS, home).promote
    assert champion(home) == a
    refused = run_gate(b, evaluation(b, extract_exact=0.1), evaluation(a), SETTINGS, home)
    assert not refused.promote and champion(home) == a
    assert run_gate(c, evaluation(c, extract_exact=0.9), evaluation(a), SETTINGS, home).promote
    assert champion(home) == c
    log = history(home)
    assert [entry["event"] for entry in log] == ["promote", "refuse", "promote"]
    assert log[1]["decision"]["reasons"] == refused.reasons
    assert log[1]["decision"]["evaluation"] == "eval-b" and log[1]["decision"]["champion_evaluation"] == "eval-a"
    assert log[2]["decision"]["numbers"]["extract_exact"]["candidate"] == 0.9


def test_the_champion_itself_changes_nothing(home: Home, checkpoint: Any) -> None:
    a = checkpoint("a")
    promote(home, a, {}, "user")
    decision = run_gate(a, evaluation(a, extract_exact=0.0), None, SETTINGS, home)
    assert decision.promote and "champion already" in decision.reasons[0]
    assert [entry["event"] for entry in history(home)] == ["promote", "unchanged"]


def test_what_cannot_be_compared_is_refused(home: Home, checkpoint: Any) -> None:
    a, b = checkpoint("a"), checkpoint("b")
    with pytest.raises(InputError, match="is not of"):
        run_gate(a, evaluation(b), None, SETTINGS, home)
    promote(home, a, {}, "user")
    with pytest.raises(InputError, match="no evaluation to compare with"):
        run_gate(b, evaluation(b), None, SETTINGS, home)
    with pytest.raises(InputError, match="other records or settings"):
        run_gate(b, evaluation(b), evaluation(a, records="others"), SETTINGS, home)
    with pytest.raises(InputError, match="is not of"):
        run_gate(b, evaluation(b), evaluation(b), SETTINGS, home)
    assert champion(home) == a
