"""`deg bench train` at a small size: every part of it runs, and the last line holds its figures."""

import json
from pathlib import Path

import pytest

from tests.cli.test_commands import deg
from tests.model.tiny import write_checkpoint
from tests.pools.conftest import make_record, to_lines


@pytest.mark.slow
def test_training_is_measured_and_summed_up_in_one_line(tiny_base: Path, tmp_path: Path):
    sizes = ["--steps", "2", "--memory-steps", "6", "--memory-tokens", "600", "--targets", "2,4"]
    sizes += [
        "--examples",
        "500",
        "--documents",
        "96",
        "--budget-tokens",
        "500",
        "--dtype",
        "float32",
        "--zero-sim-world",
        "4",
    ]
    done = deg(tmp_path, "bench", "train", "--base", str(tiny_base), *sizes)
    assert done.returncode == 0, done.stderr
    assert "peft" in done.stdout and "2 GiB" in done.stdout
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["ratio_peft"] > 0 and found["ratio_peft_context_trained"] > 0
    assert 1 <= found["computed_over_real"] < 2
    assert 0.5 < found["estimate_over_peak_min"] <= found["estimate_over_peak_median"] < 2
    assert found["peak_over_target_max"] < 1
    assert found["zero_shard_bytes_an_element"] == pytest.approx(16 / 4, rel=0.01) and found["zero_step_s"] > 0
    assert found["examples"] == 500 and found["records_per_core_s"] > 0


@pytest.mark.slow
def test_a_rival_trains_and_takes_the_baselines_place(tiny_base: Path, tmp_path: Path):
    """It learns the JSON of its training records, so well that constrained decoding writes it on unseen ones."""
    records = tmp_path / "records.jsonl"
    records.write_bytes(to_lines([make_record(number) for number in range(40)]))
    held = tmp_path / "held.jsonl"
    held.write_bytes(to_lines([make_record(number) for number in range(8)]))
    out = tmp_path / "rival"
    asked = ["bench", "rival", "--out", str(out), "--minutes", "0.2", "--records", f"{records}:2", "--guard", str(held)]
    asked += ["--base", str(tiny_base), "--lr", "0.01", "--budget-tokens", "900"]
    done = deg(tmp_path, *asked)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["seconds"] >= 12 and found["tokens"] <= found["computed"]
    steps = [json.loads(line) for line in (out / "training.jsonl").read_text().splitlines()]
    assert len(steps) == found["steps"] and sum(step["documents"] for step in steps) == found["documents"]
    assert steps[-1]["loss"] < 0.95 * steps[0]["loss"]
    _, _, checkpoint = write_checkpoint(tmp_path / "checkpoint", tiny_base, rank=4)
    evaluated = deg(
        tmp_path, "evaluate", "--checkpoint", str(checkpoint), "--records", str(records), "--baseline", str(out),
        "--set", "splits=[val]", "--set", "baseline_records=2", "--set", "determinism_records=0", "--workers", "1",
    )  # fmt: skip
    assert evaluated.returncode == 0, evaluated.stderr
    summary = json.loads((Path(evaluated.stdout.strip()) / "summary.json").read_text())
    assert summary["settings"]["baseline"] == str(out) and summary["costs"]["baseline"]["documents"] == 2
    again = deg(tmp_path, *asked)
    assert again.returncode == 2 and "name a new folder" in again.stderr
