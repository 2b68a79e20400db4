"""The wiring of the chain: which result goes into which step, with steps that only say what they were given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deg_core import chain, steps
from deg_core.artifacts import Home, Manifest
from deg_core.config import FillSettings, NightlySettings, PoolSettings, SourceSettings
from deg_core.config.settings import Settings
from deg_core.registry.gate import Decision


class Recorder:
    """A Call that makes an empty manifest for each step and keeps the inputs. calls: step name and inputs."""

    def __init__(self, root: Path, promote: bool):
        self.root, self.promote = root, promote
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, step: Callable[..., Any], settings: Settings, **inputs: Any) -> Any:
        name = step.__name__
        self.calls.append((name, inputs))
        if step is steps.run_gate:
            return Decision(self.promote, ["because"], {})
        made = self._manifest(f"{name}-{len(self.calls)}")
        return [made, self._manifest("second-pool")] if step is steps.build_pools else made

    def _manifest(self, name: str) -> Manifest:
        return Manifest(kind="x", id=name, key=name, code_version="1", path=self.root / name)

    def inputs(self, name: str) -> list[dict[str, Any]]:
        return [inputs for called, inputs in self.calls if called == name]


@pytest.fixture
def holder(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path | None], None]:
    """Says who is champion; no checkpoint ships."""
    monkeypatch.setattr("deg_core.model.model.shipped_checkpoint", lambda: None)

    def hold(folder: Path | None) -> None:
        monkeypatch.setattr("deg_core.registry.models.champion", lambda home: folder)

    return hold


def test_each_result_goes_where_it_belongs(tmp_path: Path, holder):
    holder(tmp_path / "old")
    call = Recorder(tmp_path, promote=True)
    night = chain.nightly(NightlySettings(), Home(tmp_path), call)
    data, candidate = tmp_path / "build_data-1", tmp_path / "calibrate-5" / "checkpoint"
    pools = [tmp_path / "build_pools-2", tmp_path / "second-pool"]
    assert call.calls == [
        ("build_data", {}),
        ("build_pools", {"data": data}),
        ("calibrate_memory", {}),
        ("train", {"pools": pools, "memory": tmp_path / "calibrate_memory-3"}),
        ("calibrate", {"checkpoint": tmp_path / "train-4" / "checkpoint", "pools": pools}),
        ("evaluate", {"checkpoint": candidate, "records": [data / "records.jsonl"]}),
        ("evaluate", {"checkpoint": tmp_path / "old", "records": [data / "records.jsonl"]}),
        (
            "run_gate",
            {
                "checkpoint": candidate,
                "evaluation": tmp_path / "evaluate-6",
                "champion_evaluation": tmp_path / "evaluate-7",
            },
        ),
        ("fill_corpus", {"data": data}),
    ]
    assert night.decision.promote
    assert len(night.manifests) == 9


def test_a_candidate_that_is_champion_has_no_rival(tmp_path: Path, holder):
    holder(tmp_path / "calibrate-5" / "checkpoint")
    call = Recorder(tmp_path, promote=True)
    chain.nightly(NightlySettings(), Home(tmp_path), call)
    assert len(call.inputs("evaluate")) == 1
    assert call.inputs("run_gate")[0]["champion_evaluation"] is None


def test_a_first_refused_night_fills_nothing(tmp_path: Path, holder):
    holder(None)
    call = Recorder(tmp_path, promote=False)
    night = chain.nightly(NightlySettings(), Home(tmp_path), call)
    assert not call.inputs("fill_corpus")
    assert not night.decision.promote


def test_a_refused_night_fills_with_the_old_champion(tmp_path: Path, holder):
    holder(tmp_path / "old")
    call = Recorder(tmp_path, promote=False)
    chain.nightly(NightlySettings(), Home(tmp_path), call)
    assert len(call.inputs("fill_corpus")) == 1


def test_own_documents_are_made_only_where_they_are_named(tmp_path: Path, holder):
    holder(tmp_path / "old")
    call = Recorder(tmp_path, promote=True)
    settings = NightlySettings(
        pools=PoolSettings(sources=(SourceSettings(records="mine.jsonl"),)),
        fill=FillSettings(corpus="mails.csv", schema_path="mail.json"),
    )
    chain.nightly(settings, Home(tmp_path), call)
    assert not call.inputs("build_data")
    assert call.inputs("build_pools") == [{"data": None}]
    assert call.inputs("evaluate")[0]["records"] == [Path("mine.jsonl")]
