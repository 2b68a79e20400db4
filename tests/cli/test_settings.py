"""Settings from files, assignments and flags: what wins, and what a mistake is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from deg_core.cli.options import takes_settings
from deg_core.config import EvaluateSettings, FillSettings, NightlySettings, PoolSettings, TrainSettings
from deg_core.config.read import nested_model, read_settings
from deg_core.contract.errors import InputError


def test_later_sources_win(tmp_path: Path):
    config = tmp_path / "train.yaml"
    config.write_text("steps: 11\nseed: 5\nlr_heads: 0.5\n")
    settings = read_settings(TrainSettings, config, ["seed=6", "lr_heads=1e-2"], {"lr_heads": 0.25})
    assert (settings.steps, settings.seed, settings.lr_heads) == (11, 6, 0.25)


def test_json_is_read_as_well(tmp_path: Path):
    config = tmp_path / "train.json"
    config.write_text(json.dumps({"steps": 12}))
    assert read_settings(TrainSettings, config).steps == 12


def test_nested_assignments_and_lists():
    assignments = ["train.steps=20", "fill.options.null_margin=2.5", "pools.sources=[{records: a.jsonl, weight: 2}]"]
    settings = read_settings(NightlySettings, None, assignments)
    assert settings.train.steps == 20
    assert settings.fill.options.null_margin == 2.5
    assert settings.pools.sources[0].records == "a.jsonl"


@pytest.mark.parametrize(
    ("assignment", "told"),
    [
        ("train.stpes=3", "no setting train.stpes; did you mean steps?"),
        ("trian.steps=3", "no setting trian; did you mean train?"),
        ("train.steps.more=3", "train.steps has no settings inside it"),
        ("train.steps=0", "train.steps: Input should be greater than or equal to 1, not 0"),
        ("train.steps=three", "train.steps"),
        ("train.steps", "write it as key=value"),
        ("train.steps=[1", "not YAML"),
        ("train.base=other", "set all three alike"),
        ("train.steps=5", "train: train.warmup_steps is larger than train.steps; lower it"),
        ("zzz=1", "there are data, pools"),
    ],
)
def test_mistakes_name_the_key(assignment: str, told: str):
    with pytest.raises(InputError) as caught:
        read_settings(NightlySettings, None, [assignment])
    assert told in str(caught.value)


def test_every_problem_of_a_file_is_listed(tmp_path: Path):
    config = tmp_path / "bad.yaml"
    config.write_text("train: {steps: 0, sed: 1}\nfill: {options: {seeed: 1}}\n")
    with pytest.raises(InputError) as caught:
        read_settings(NightlySettings, config)
    text = str(caught.value)
    assert "train.steps" in text
    assert "train.sed; did you mean seed?" in text
    assert "fill.options.seeed; did you mean seed?" in text
    assert str(config) in text


@pytest.mark.parametrize("content", [b"- a\n- b\n", b"a: [1\n", b"\xff\xfe\x00", b"a: " + b"[" * 3000])
def test_unusable_files(tmp_path: Path, content: bytes):
    config = tmp_path / "bad.yaml"
    config.write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.yaml"):
        read_settings(TrainSettings, config)


def test_missing_file(tmp_path: Path):
    with pytest.raises(InputError, match=r"cannot read .*absent\.yaml"):
        read_settings(TrainSettings, tmp_path / "absent.yaml")


@pytest.mark.parametrize("model", [TrainSettings, PoolSettings, EvaluateSettings, FillSettings, NightlySettings])
def test_every_plain_field_is_a_flag_and_described(model):
    app = typer.Typer()
    app.command()(takes_settings(model)(lambda settings: None))
    shown = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "400", "NO_COLOR": "1"})
    assert shown.exit_code == 0
    for name, field in model.model_fields.items():
        if nested_model(field.annotation) is None:
            assert f"--{name.replace('_', '-')}" in shown.output
            assert field.description


def test_flags_reach_the_settings():
    got: list[EvaluateSettings] = []
    app = typer.Typer()
    app.command()(takes_settings(EvaluateSettings)(lambda settings: got.append(settings)))
    arguments = ["--splits", "val", "--seed", "0", "--dtype", "float32", "--set", "workers=2"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    assert got == [EvaluateSettings(splits=("val",), seed=0, dtype="float32", workers=2)]
