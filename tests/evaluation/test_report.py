"""The report renders, holds what it should and needs nothing from outside."""

from __future__ import annotations

import random
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from deg_core.evaluation.metrics import summarise
from deg_core.evaluation.report import render_report
from deg_core.evaluation.tables import documents as documents_table
from deg_core.evaluation.tables import full_rows

MODES = {
    "decide.choice": "/kind",
    "decide.noul": "/urgent",
    "decide.score": "/level",
    "extract.span": "/items/*/name",
    "extract.number": "/total",
    "extract.date": "/due",
    "count": "/items",
}
ACCURACY = {"deg": 0.85, "baseline": 0.55}


def made_up(n: int = 40, systems: tuple[str, ...] = ("deg", "baseline")) -> tuple[list[dict], list[dict]]:
    """Rows and documents drawn with a seed: ours is right more often and knows how sure it is."""
    draw = random.Random(4)
    rows, documents = [], []
    for number in range(n):
        for system in systems:
            place = {"run": "eval-1", "system": system, "source": "forms", "uid": f"d{number}"}
            place |= {"split": "val" if number % 2 else "test"}
            ours = system == "deg"
            tokens = {"generated_tokens": 0 if ours else 90 + number, "sampled_tokens": 0 if ours else 40}
            ms = draw.lognormvariate(6.2 if ours else 8.0, 0.3)
            error = "FillError: /total: <b>nothing</b> found" if ours and number == 7 else None
            costs = {"prompt_tokens": 400, "ms": ms, "valid": error is None, "capped": not ours and number % 9 == 0}
            documents.append(place | tokens | costs | {"error": error})
            for mode, field in MODES.items():
                p = draw.betavariate(5, 1)
                correct = error is None and draw.random() < (p if ours else ACCURACY[system])
                row = place | {"pointer": field.replace("*", "0"), "field": field, "mode": mode, "correct": correct}
                row |= {"gold": '"<script>alert(1)</script>"', "predicted": '"x"', "gold_null": False}
                row |= {"predicted_null": False, "score": draw.random() if mode in ("extract.span", "count") else None}
                if ours and mode.startswith("decide"):
                    row |= {"probability": p, "gold_probability": p if correct else 1 - p, "brier": 2 * (1 - p) ** 2}
                elif ours and mode.startswith("extract"):
                    row |= {"confidence": p}
                rows.append(row)
    return rows, documents


def rendered(rows: list[dict], documents: list[dict], **more: Any) -> str:
    tables = full_rows(rows), documents_table(documents)
    checks = {"repeated": {"compared": 40, "equal": 40}, "reordered": {"compared": 20, "equal": 19}}
    summary = {
        "run": "eval-1",
        "checkpoint": "runs/one/final",
        "counts": {"read": 99, "kept": 40},
        "baseline_dtype": "bfloat16",
        "determinism": {"documents": 4, "failed": 0, "checks": checks, "differences": []},
        "option_flips": {"asked": 10, "flipped": 1, "rate": 0.1},
        **summarise(*tables),
        **more,
    }
    return render_report(*tables, summary)


class _Checker(HTMLParser):
    """Collects tags and checks that they close in order."""

    VOID = frozenset({"meta", "br", "link", "img", "path", "use", "rect", "circle", "line"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag


@pytest.fixture(scope="module")
def page() -> str:
    return rendered(*made_up())


def test_the_page_is_well_formed_and_self_contained(page: str) -> None:
    checker = _Checker()
    checker.feed(page)
    assert checker.open == [] and checker.seen.count("svg") == 4
    assert "script" not in checker.seen
    assert not re.search(r'(?:src|href)="(?!#)', page)
    assert "prefers-color-scheme: dark" in page and "#123457" not in page


def test_the_page_says_the_numbers(page: str) -> None:
    assert "Accuracy by mode" in page and "95 % interval" in page
    assert "seen 0." in page and "held-out 0." in page
    assert page.count("<details") == 12
    assert "FillError: /total: &lt;b&gt;nothing&lt;/b&gt; found" in page
    assert "decide.noul: ECE 0." in page and "extract.date: ECE 0." in page
    assert "Reversing the options" in page and "1 of 10" in " ".join(page.split())


def test_equal_data_give_equal_pages(page: str) -> None:
    assert rendered(*made_up()) == page


def test_without_a_baseline_and_determinism_the_page_still_renders() -> None:
    rows, documents = made_up(4, ("deg",))
    page = rendered(rows, documents, determinism=None, option_flips=None, baseline_dtype=None)
    assert "Bitwise equality" not in page and "Speed" not in page


def test_an_evaluation_without_probabilities_or_errors_renders() -> None:
    rows, documents = made_up(3, ("deg",))
    plain = [row | {"probability": None, "confidence": None, "brier": None, "correct": True} for row in rows]
    page = rendered(plain, documents, determinism=None, option_flips=None)
    assert "Every judged leaf is correct" in page and "Calibration" not in page
