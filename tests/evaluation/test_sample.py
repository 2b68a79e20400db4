"""Which documents are evaluated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deg_core.config.settings import EvaluateSettings
from deg_core.contract.errors import InputError
from deg_core.evaluation.sample import draw_sample, source_names


def test_the_sample_is_seeded_and_every_line_is_accounted_for(records_file: Any) -> None:
    path = records_file(10, "not json")
    settings = EvaluateSettings(max_records=4, baseline_records=3, seed=5)
    sample = draw_sample([path], settings)
    assert [case.number for case in sample.cases] == list(range(8))
    assert {case.record.split for case in sample.cases} == {"val", "test"}
    assert sum(case.baseline for case in sample.cases) == 6
    assert sample.counts == {
        "read": 31, "kept": 8, "left_out": 23, "bad_line": 1, "other_split": 10, "not_drawn": 12,
    }  # fmt: skip
    uids = [case.record.uid for case in sample.cases]
    assert uids == [case.record.uid for case in draw_sample([path], settings).cases]
    assert uids != [case.record.uid for case in draw_sample([path], settings.model_copy(update={"seed": 6})).cases]


def test_baseline_limits_come_from_the_training_split(records_file: Any) -> None:
    sample = draw_sample([records_file(4)], EvaluateSettings(max_records=2, baseline_records=1))
    limits = {case.number: case.limits for case in sample.cases}
    assert limits[0] == {"/firm": 18, "/people/*": 5, "/people": 2}
    assert limits[1] == {}


def test_nothing_to_evaluate_is_said(records_file: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no record of the splits val, test"):
        draw_sample([records_file(2, splits=("train",))], EvaluateSettings())
    with pytest.raises(InputError, match="does not exist"):
        draw_sample([tmp_path / "none.jsonl"], EvaluateSettings())


def test_sources_are_told_apart_by_their_folder_when_stems_repeat() -> None:
    assert source_names([Path("a/x.jsonl"), Path("b/x.jsonl"), Path("y.jsonl")]) == ["a/x", "b/x", "y"]
    with pytest.raises(InputError, match="two records files"):
        source_names([Path("q/a/x.jsonl"), Path("r/a/x.jsonl")])
