"""The real flows on tiny settings, against Prefect's test server."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.theme import Theme

from deg_core.artifacts import Home, Manifest
from deg_core.config import (
    DataSettings,
    EvaluateSettings,
    FillOptions,
    FillSettings,
    GateSettings,
    MemorySettings,
    NightlySettings,
    PoolSettings,
    TrainSettings,
)
from deg_core.contract.errors import InputError

pytestmark = [pytest.mark.usefixtures("prefect_server"), pytest.mark.slow]
DATA = DataSettings(train=12, val=4, test=3, corpus=3)


def tiny_night(base: Path) -> NightlySettings:
    name = str(base)
    return NightlySettings(
        data=DATA,
        pools=PoolSettings(base=name),
        memory=MemorySettings(base=name, max_part_tokens=256, lora_rank=2),
        train=TrainSettings(
            base=name,
            init="fresh",
            steps=2,
            warmup_steps=1,
            budget_tokens=400,
            max_records=2,
            lora_rank=2,
            save_every=1,
        ),
        evaluate=EvaluateSettings(
            splits=("val",), max_records=2, baseline_records=1, baseline_max_tokens=16, determinism_records=0, workers=1
        ),
        gate=GateSettings(max_ece=1.0),
        fill=FillSettings(shard_documents=2, workers=1, max_failed_share=1.0, options=FillOptions(max_new_tokens=4)),
    )


def artifacts_of(run_id: Any) -> dict[str, list[Any]]:
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterFlowRunId

    with get_client(sync_client=True) as client:
        wanted = ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[run_id]))
        found: dict[str, list[Any]] = {}
        for artifact in client.read_artifacts(artifact_filter=wanted, limit=200):
            found.setdefault(artifact.key, []).append(artifact)
        return found


def task_runs_of(run_id: Any) -> list[Any]:
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.filters import FlowRunFilter, FlowRunFilterId

    with get_client(sync_client=True) as client:
        return client.read_task_runs(flow_run_filter=FlowRunFilter(id=FlowRunFilterId(any_=[run_id])), limit=200)


def test_data_flow_shows_what_it_made_and_makes_it_once(home: Path):
    from flows.data_flow import data

    first = data(DATA, return_state=True)
    made, again = first.result(), data(DATA)
    assert (made.cached, again.cached) == (False, True)
    assert made.path == again.path and made.path.is_relative_to(home)
    shown = artifacts_of(first.state_details.flow_run_id)
    assert shown["documents"][0].type == "progress" and shown["documents"][0].data == 100.0
    assert '"records"' in shown["data-figures"][0].data
    assert str(made.path) in shown["data"][0].data


@pytest.mark.parametrize("by_worker", [False, True])
def test_bars_are_drawn_in_the_terminal_of_a_flow_started_by_hand(
    home: Path, monkeypatch: pytest.MonkeyPatch, by_worker: bool
):
    from flows.data_flow import data

    console = Console(file=io.StringIO(), theme=Theme(inherit=False), width=100)
    monkeypatch.setattr("tasks.progress._log_console", lambda: console)
    monkeypatch.setattr("tasks.progress.started_by_worker", lambda: by_worker)
    state = data(DATA, return_state=True)
    assert ("22/22" in console.file.getvalue()) is not by_worker
    assert artifacts_of(state.state_details.flow_run_id)["documents"][0].data == 100.0


def test_an_error_of_the_user_is_not_tried_again(home: Path):
    from flows.fill import fill

    settings = FillSettings(corpus=str(home / "absent.jsonl"), schema_path=str(home / "absent.json"))
    state = fill(settings, return_state=True)
    assert state.is_failed()
    with pytest.raises(InputError, match=r"absent\.json"):
        state.result()
    (run,) = task_runs_of(state.state_details.flow_run_id)
    assert run.run_count == 1


def test_a_night_promotes_fills_and_is_all_there_the_second_time(home: Path, tiny_base: Path):
    from deg_core.registry.models import champion
    from flows.nightly import nightly

    settings = tiny_night(tiny_base)
    state = nightly(settings, return_state=True)
    assert (state.type.value, state.name) == ("COMPLETED", "Promoted"), state.message
    held = champion(Home(home))
    assert held is not None and held.parent.parent == home / "calibrations"
    assert len(list(home.glob("fills/*/part-*.parquet"))) == 2
    run_id = state.state_details.flow_run_id
    names = {run.name.rpartition("-")[0] for run in task_runs_of(run_id)}
    steps = {"build-data", "build-pools", "calibrate-memory", "train", "calibrate", "evaluate", "gate", "fill-corpus"}
    assert steps | {"part"} == names
    shown = artifacts_of(run_id)
    assert {"data", "pool", "memory", "run", "calibration", "eval", "gate", "fill"} <= set(shown)

    before = {path: path.stat().st_mtime_ns for path in home.glob("*/*/manifest.json")}
    again = nightly(settings, return_state=True)
    assert again.name == "Promoted"
    assert "already" in again.message
    assert {path: path.stat().st_mtime_ns for path in home.glob("*/*/manifest.json")} == before


def test_a_refused_night_is_complete_and_says_why(home: Path, monkeypatch: pytest.MonkeyPatch):
    from deg_core.chain import Night
    from deg_core.registry.gate import Decision
    from flows.nightly import nightly

    refused = Night((), Decision(False, ["extract_exact fell"], {}))
    monkeypatch.setattr("flows.nightly.chain.nightly", lambda settings, place, call: refused)
    state = nightly(NightlySettings(), return_state=True)
    assert (state.type.value, state.name, state.message) == ("COMPLETED", "NotPromoted", "extract_exact fell")


def test_the_flow_from_a_shell_prints_its_artifacts_and_answers(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    from deg_core.chain import Night
    from deg_core.cli.outcome import NegativeAnswerError
    from deg_core.registry.gate import Decision
    from flows.nightly import run_here

    made = Manifest(kind="run", id="run-1", key="k", code_version="c", figures={"loss": 0.25}, path=home / "run-1")
    given = []

    def refused(settings: NightlySettings, place: Home, call: Any) -> Night:
        given.append(settings)
        return Night((made,), Decision(False, ["extract_exact fell"], {}))

    monkeypatch.setattr("flows.nightly.chain.nightly", refused)
    config = home / "night.yaml"
    config.write_text("gate: { tolerance: 0.5 }\n")
    with pytest.raises(NegativeAnswerError, match="extract_exact fell"):
        run_here(config=config, assignments=["train.steps=20"])
    assert (given[0].gate.tolerance, given[0].train.steps) == (0.5, 20)
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1] == str(made.path)
    assert "loss" in printed.err and "0.25" in printed.err
