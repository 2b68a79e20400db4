"""`deg bench train` at a small size: every part of it runs, and the last line holds its figures."""

import json
from pathlib import Path

import pytest

from tests.cli.test_commands import deg


@pytest.mark.slow
def test_training_is_measured_and_summed_up_in_one_line(tiny_base: Path, tmp_path: Path):
    pytest.importorskip("peft")
    sizes = ["--steps", "2", "--memory-steps", "6", "--memory-tokens", "600", "--targets", "2,4"]
    sizes += ["--examples", "500", "--documents", "96", "--budget-tokens", "500", "--dtype", "float32"]
    done = deg(tmp_path, "bench", "train", "--base", str(tiny_base), *sizes)
    assert done.returncode == 0, done.stderr
    assert "peft" in done.stdout and "2 GiB" in done.stdout
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["ratio_peft"] > 0 and found["ratio_peft_context_trained"] > 0
    assert 1 <= found["computed_over_real"] < 2
    assert 0.5 < found["estimate_over_peak_min"] <= found["estimate_over_peak_median"] < 2
    assert found["peak_over_target_max"] < 1
    assert found["examples"] == 500 and found["records_per_core_s"] > 0
