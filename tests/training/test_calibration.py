"""Memory-plan calibration: the fit recovers what made the numbers, and real parts are never estimated too low."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from deg_core.artifacts import Home, Manifest
from deg_core.config import MemorySettings, TrainSettings
from deg_core.contract.errors import InputError
from deg_core.model.families.shape import ModelShape
from deg_core.model.network import Network
from deg_core.progress import Silent
from deg_core.training.calibration import calibrate_memory, fit_parts
from deg_core.training.fit import nnls, upper_fit
from deg_core.training.measure import Design, designs, made_up_part
from deg_core.training.memory import COEFFICIENTS, training_plan
from deg_core.training.parts import FEATURES, features
from deg_core.training.setup import build_network
from deg_core.training.step import step_counts

SEEN = [name for name in FEATURES if name != "long_tokens"]  # no design is as long as a context in pieces
SHAPE = ModelShape(hidden=8, layers=2, intermediate=16, vocab=100, heads=4, kv_heads=2, head_dim=2)


@pytest.fixture
def numbers() -> np.random.Generator:
    return np.random.default_rng(4)


def test_nnls_recovers_known_coefficients(numbers: np.random.Generator):
    matrix = numbers.random((40, 6))
    known = np.array([3.0, 0.0, 0.5, 7.0, 0.0, 1.0])
    np.testing.assert_allclose(nnls(matrix, matrix @ known), known, atol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_nnls_satisfies_the_optimality_conditions(seed: int):
    """No coefficient below zero; no slope where one is positive; none that would fall where one is zero."""
    random = np.random.default_rng(seed)
    matrix, target = random.normal(size=(15, 7)), random.normal(size=15)
    x = nnls(matrix, target)
    slope = matrix.T @ (target - matrix @ x)
    assert (x >= 0).all() and (x > 0).any() and (x == 0).any()
    assert np.abs(slope[x > 0]).max() < 1e-9
    assert slope[x == 0].max() < 1e-9


def test_nnls_is_zero_where_nothing_positive_helps():
    assert nnls(np.eye(3), -np.ones(3)).tolist() == [0, 0, 0]
    assert nnls(np.ones((4, 2)), np.full(4, 6.0)).sum() == pytest.approx(6.0)


def test_the_upper_fit_lies_above_every_measurement_and_near_them(numbers: np.random.Generator):
    matrix = numbers.random((60, 5)) * np.array([1, 1e6, 1e3, 0, 1e9])
    known = np.array([5e6, 20.0, 300.0, 4.0, 0.02])
    measured = (matrix @ known) * numbers.uniform(0.9, 1.1, 60)
    found = upper_fit(matrix, measured)
    ratio = matrix @ found / measured
    assert (found >= 0).all()
    assert found[3] == 0
    assert 1 - 1e-12 <= ratio.min() < 1.001
    assert np.median(ratio) < 1.2
    exact = upper_fit(matrix, matrix @ known)
    np.testing.assert_allclose(exact[[0, 1, 2, 4]], known[[0, 1, 2, 4]], rtol=1e-6)


@pytest.mark.parametrize("most", [256, 1024, 4096])
def test_designs_stay_within_the_limit_and_tell_features_apart(most: int, numbers: np.random.Generator):
    planned = designs(most)
    assert len(planned) > len(FEATURES)
    rows = []
    for design in planned:
        part = made_up_part(design, SHAPE.vocab, numbers)
        assert sum(example.tokens for example in part.examples) == design.tokens <= most
        assert sum(step_counts(part.examples).values()) > 0
        found = features(part, SHAPE)
        assert not found["long_tokens"]
        rows.append([found[name] for name in SEEN])
    matrix = np.array(rows)
    assert np.linalg.matrix_rank(matrix / matrix.max(0), tol=1e-3) == len(SEEN)


def test_fit_parts_recovers_a_planted_cost(numbers: np.random.Generator):
    planted = dict(zip(FEATURES, (2e6, 1e4, 3e3, 0.0, 5e4, 0.0, 8.0, 4.0, 16.0, 12.0), strict=True))
    parts = []
    for design in designs(1024):
        found = features(made_up_part(design, SHAPE.vocab, numbers), SHAPE)
        cost = sum(planted[name] * found[name] for name in FEATURES)
        parts.append({"peak_bytes": 5e8 + cost, "static_bytes": 5e8, **found})
    coefficients, entries = fit_parts(parts)
    assert coefficients == pytest.approx(planted, rel=1e-3, abs=1e-2)
    assert all(entry["estimate_bytes"] >= entry["peak_bytes"] * (1 - 1e-12) for entry in entries)


def test_a_design_says_its_tokens():
    assert Design(100, decided=64, extracted=32, generated=8, records=2).tokens == 2 * (100 + 64 + 32 + 32 + 8)


@pytest.fixture(scope="module")
def memory_settings(tiny_base: Path) -> MemorySettings:
    return MemorySettings(base=str(tiny_base), max_part_tokens=2048, lora_rank=4)


@pytest.fixture(scope="module")
def calibrated(memory_settings: MemorySettings, tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    home = tmp_path_factory.mktemp("memory")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DEG_MACHINE_LOCK", str(home / "lock"))
        made = calibrate_memory(memory_settings, Home(home), Silent())
    assert calibrate_memory(memory_settings, Home(home), Silent()).cached
    return made


@pytest.fixture
def network_of(tiny_base: Path, tmp_path: Path) -> Callable[[TrainSettings, torch.dtype], Network]:
    def make(settings: TrainSettings, dtype: torch.dtype) -> Network:
        return build_network(settings, tiny_base, None, Home(tmp_path), torch.device("cpu"), dtype)

    return make


@pytest.mark.slow
def test_calibration_measures_and_never_estimates_too_low(calibrated: Manifest):
    entries = [json.loads(line) for line in (calibrated.path / "fit.jsonl").read_text().splitlines()]
    assert calibrated.counts == {"read": len(designs(2048)), "kept": len(entries), "left_out": 0}
    assert calibrated.figures["estimate_over_peak_min"] >= 1.0
    for entry in entries:
        assert entry["estimate_bytes"] >= entry["peak_bytes"] * (1 - 1e-12)
        assert entry["peak_bytes"] > 100 << 20  # a process with torch in it
    coefficients = json.loads((calibrated.path / COEFFICIENTS).read_text())["coefficients"]
    assert coefficients["long_tokens"] > 0  # of no measured part, so from the sizes of tensors
    assert coefficients["lm_logits"] > 4  # logits are kept in float32 at least
    assert coefficients["fork_tokens"] + coefficients["fork_pairs"] + coefficients["rows"] > 0
    assert set(calibrated.files) == {"coefficients.json", "fit.jsonl"}


@pytest.mark.slow
def test_a_run_uses_what_was_measured_for_its_settings_only(
    calibrated: Manifest, settings: Callable[..., TrainSettings], network_of: Callable, tmp_path: Path
):
    saved = json.loads((calibrated.path / COEFFICIENTS).read_text())
    dtype = getattr(torch, saved["key"]["dtype"])
    network = network_of(settings(), dtype)
    plan = training_plan(calibrated.path, network, settings(), 1)
    assert plan.coefficients == saved["coefficients"]
    assert plan.source == f"coefficients of {calibrated.id}"

    other = settings(lora_rank=8)
    plan = training_plan(calibrated.path, network_of(other, dtype), other, 1)
    assert plan.coefficients != saved["coefficients"]
    assert "measured with lora_rank 4 (now 8)" in plan.source

    saved["key"]["shape"]["layers"] += 1
    (tmp_path / COEFFICIENTS).write_text(json.dumps(saved))
    with pytest.raises(InputError, match="another base"):
        training_plan(tmp_path, network, settings(), 1)


def test_static_bytes_follow_ranks_and_types(settings: Callable[..., TrainSettings], network_of: Callable):
    from deg_core.training.memory import optimizer_bytes, trainable_sizes

    network = network_of(settings(), torch.bfloat16)
    (trunk, width), (heads, head_width) = trainable_sizes(network)
    assert (width, head_width) == (2, 4)
    assert trunk == sum(half.numel() for pair in network.adapters.values() for half in pair)
    assert optimizer_bytes(network, 1) == trunk * (2 + 4 + 8) + heads * (4 + 8)
    assert optimizer_bytes(network, 4) == trunk * (2 + 4) + heads * (4 + 4)


def test_too_low_a_target_says_what_to_change(memory_settings: MemorySettings, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("DEG_MACHINE_LOCK", str(tmp_path / "lock"))
    low = memory_settings.model_copy(update={"target_gib": 0.01})
    with pytest.raises(InputError, match=r"raise memory\.target_gib"):
        calibrate_memory(low, Home(tmp_path), Silent())
