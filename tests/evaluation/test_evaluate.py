"""The whole step on a tiny random model: both systems, pinned workers, tables, summary, report."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from deg_core.artifacts import Home, hash_tree
from deg_core.config.settings import EvaluateSettings
from deg_core.contract.errors import InputError
from deg_core.evaluation.evaluate import evaluate, refuse_total_failure
from deg_core.evaluation.tables import DETAIL_COLUMNS, DOCUMENTS, ROW_COLUMNS
from deg_core.evaluation.tables import documents as documents_table

SETTINGS = EvaluateSettings(
    max_records=4, baseline_records=1, baseline_max_tokens=200, determinism_records=1, workers=1, dtype="float32"
)


MAIL = {"type": "object", "properties": {"mail": {"type": "string", "format": "email"}}, "required": ["mail"]}
BAD = {"uid": "bad", "split": "val", "context": "no address", "schema": MAIL, "value": {"mail": "a@b.org"}}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Room for the one evaluation that several tests look at."""
    return {"root": tmp_path_factory.mktemp("home")}


@pytest.fixture
def finished(shared: dict[str, Any], checkpoint: Path, records_file: Any) -> dict[str, Any]:
    if "manifest" not in shared:
        shared["records"] = records_file(3, "{}", json.dumps(BAD))
        shared["manifest"] = evaluate(checkpoint, [shared["records"]], SETTINGS, Home(shared["root"]))
    return shared


def test_the_artifact_holds_tables_summary_and_report(finished: dict[str, Any], checkpoint: Path) -> None:
    manifest = finished["manifest"]
    assert manifest.kind == "eval" and manifest.path.parent.name == "evals"
    assert set(manifest.files) == {"rows.parquet", "documents.parquet", "summary.json", "report.html"}
    assert manifest.inputs["checkpoint"] == hash_tree(checkpoint)
    assert manifest.counts["read"] == 11 == manifest.counts["kept"] + manifest.counts["left_out"]
    assert {path.name for path in manifest.path.iterdir()} == {*manifest.files, "manifest.json"}
    rows = pq.read_table(manifest.path / "rows.parquet")
    assert rows.column_names == [*ROW_COLUMNS, *DETAIL_COLUMNS]
    documents = pq.read_table(manifest.path / "documents.parquet")
    assert documents.column_names == DOCUMENTS.names
    assert sorted(documents["system"].to_pylist()) == ["baseline"] * 2 + ["deg"] * 7
    assert set(rows["run"].to_pylist()) == {manifest.id}


def test_figures_agree_with_the_rows(finished: dict[str, Any]) -> None:
    manifest = finished["manifest"]
    path = manifest.path / "rows.parquet"
    ((accuracy,),) = duckdb.execute(
        f"SELECT avg(correct::INT) FROM '{path}' WHERE system = 'deg' AND mode LIKE 'decide.%'"
    ).fetchall()
    assert manifest.figures["decide_accuracy"] == pytest.approx(accuracy)
    assert set(manifest.figures) >= {"extract_exact", "count_accuracy", "ece_decide", "ece_extract", "speed_ratio"}
    assert manifest.figures["generated_ratio"] == 0
    assert set(manifest.figures["seen"]) == set(manifest.figures["held-out"])
    assert manifest.figures["deterministic"] is True
    summary = json.loads((manifest.path / "summary.json").read_text())
    checks = summary["determinism"]["checks"]
    assert checks["repeated"] == {"compared": 10, "equal": 10}
    assert checks["reordered"] == {"compared": 5, "equal": 5}
    assert set(checks) == {"repeated", "2 threads", "reordered", "in a bigger schema", "split in two", "batched"}
    assert summary["option_flips"]["asked"] == 1
    assert {row["mode"] for row in summary["paired"]} >= {"decide.choice", "extract.span", "count"}


def test_the_same_inputs_are_not_evaluated_twice(finished: dict[str, Any], checkpoint: Path) -> None:
    again = evaluate(checkpoint, [finished["records"]], SETTINGS, Home(finished["root"]))
    assert again.cached and again.id == finished["manifest"].id


def _evaluate(checkpoint: Path, records: Path, settings: EvaluateSettings, root: Path) -> None:
    evaluate(checkpoint, [records], settings, Home(root))


def test_a_killed_evaluation_continues(checkpoint: Path, records_file: Any, tmp_path: Path) -> None:
    records = records_file(6, splits=("val",))
    settings = EvaluateSettings(max_records=6, baseline_records=0, determinism_records=0, workers=1, dtype="float32")
    root = tmp_path / "home"
    process = multiprocessing.get_context("fork").Process(target=_evaluate, args=(checkpoint, records, settings, root))
    process.start()
    while not (parts := sorted(root.glob("evals/*/parts/0*.json"))) and process.is_alive():
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    kept = [json.loads(path.read_text()) for path in parts]
    assert kept and not list(root.glob("evals/*/manifest.json"))
    manifest = evaluate(checkpoint, [records], settings, Home(root))
    documents = pq.read_table(manifest.path / "documents.parquet").to_pylist()
    assert len(documents) == 6 and len({row["uid"] for row in documents}) == 6
    answered = {row["uid"]: row["ms"] for row in documents}
    for part in kept:
        (document,) = part["documents"]
        assert answered[document["uid"]] == document["ms"]


def test_a_document_that_fails_is_a_row(finished: dict[str, Any]) -> None:
    folder = finished["manifest"].path
    documents = {
        row["uid"]: row for row in pq.read_table(folder / "documents.parquet").to_pylist() if row["system"] == "deg"
    }
    failed = documents.pop("bad")
    assert failed["error"].startswith("FillError: /mail") and failed["valid"] is False
    assert all(row["error"] is None and row["valid"] for row in documents.values())
    assert finished["manifest"].figures["valid"] == pytest.approx(6 / 7)
    rows = pq.read_table(folder / "rows.parquet").to_pylist()
    assert [row["correct"] for row in rows if row["uid"] == "bad" and row["system"] == "deg"] == [False]


def test_failing_everywhere_stops_with_the_reason_and_keeps_nothing(tmp_path: Path) -> None:
    failed = {"system": "deg", "uid": "a", "error": "FillError: /mail: nothing found"}
    (tmp_path / "parts").mkdir()
    with pytest.raises(InputError, match="failed on all 2 documents; the first says: FillError: /mail"):
        refuse_total_failure(documents_table([failed, failed]), tmp_path / "parts")
    assert not (tmp_path / "parts").exists()


def test_a_folder_that_is_no_checkpoint_is_refused(tmp_path: Path, records_file: Any) -> None:
    with pytest.raises(InputError, match="no checkpoint"):
        evaluate(tmp_path, [records_file(1)], SETTINGS, Home(tmp_path / "h"))
