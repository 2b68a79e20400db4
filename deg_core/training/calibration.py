"""Memory-plan calibration: measure parts of many shapes, fit bytes per feature (training specification, section 6)."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from deg_core.artifacts import Home, Manifest, build_artifact, source_version, write_atomically
from deg_core.config import MemorySettings
from deg_core.contract.errors import DegError, InputError
from deg_core.model.bases import base_folder, base_hash
from deg_core.model.model import pick_device, pick_dtype
from deg_core.progress import Progress
from deg_core.training.fit import upper_fit
from deg_core.training.launch import run_guarded
from deg_core.training.measure import MeasureJob, designs
from deg_core.training.memory import COEFFICIENTS
from deg_core.training.parts import FEATURES

SOURCES = ("model", "training", "artifacts.py")
FIT = "fit.jsonl"
LOWEST_VARIABLE_BYTES = 1 << 20
_PART = re.compile(r"part (\d+)/\d+ (.*)")


def calibrate_memory(settings: MemorySettings, home: Home, progress: Progress) -> Manifest:
    """Coefficients of the memory plan on this machine; the artifact under memory/ holds them and fit.jsonl.

    Each part's estimate is at least its measured peak. figures: how far above (estimate over peak: lowest, median,
    highest). Raises InputError when too few parts fit the target, DegError when the measuring process fails.
    """
    base = base_folder(settings.base, home)
    device = pick_device(None)
    inputs = {
        "base": base_hash(base),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "dtype": str(pick_dtype(None, device)).removeprefix("torch."),
    }

    def build(folder: Path, manifest: Manifest) -> list[Path]:
        job = MeasureJob(settings=settings, home=home.root, base=base, output=folder / "measured.json")
        return _finish(folder, manifest, _measured(job, progress), settings)

    return build_artifact(
        home,
        "memory",
        kind="memory",
        name=Path(settings.base).name,
        code_version=source_version(*SOURCES),
        settings=settings.model_dump(mode="json"),
        inputs=inputs,
        build=build,
    )


def _measured(job: MeasureJob, progress: Progress) -> dict[str, Any]:
    """What a measuring process found, see `measure.measure_all`."""
    folder = job.output.parent
    path = folder / "job.json"
    write_atomically(path, job.model_dump_json(indent=1).encode())
    errors: list[str] = []
    with progress.bar("measuring parts", len(designs(job.settings.max_part_tokens))) as bar:
        done = 0

        def on_line(line: str) -> None:
            nonlocal done
            if found := _PART.match(line):
                bar.advance(int(found[1]) - done, found[2])
                done = int(found[1])
            elif line.startswith("error: "):
                errors.append(line.removeprefix("error: "))
            elif line.startswith("another"):
                progress.say(line)

        command = [sys.executable, "-m", "deg_core.training.measure", str(path)]
        status = run_guarded(command, folder / "logs", on_line)
    if errors:
        raise InputError(errors[0])
    if status:
        raise DegError(
            f"measuring ended with status {status}; see {folder / 'logs' / 'rank-0.log'}. "
            "Where the system ended it (-9), lower memory.target_gib or memory.max_part_tokens"
        )
    measured = json.loads(job.output.read_text())
    job.output.unlink()
    return measured


def fit_parts(parts: list[dict[str, float]]) -> tuple[dict[str, float], list[dict[str, float]]]:
    """Coefficients, and each part with its estimate_bytes beside peak_bytes; no estimate is below its peak."""
    features = np.array([[part[name] for name in FEATURES] for part in parts])
    variable = np.array([part["peak_bytes"] - part["static_bytes"] for part in parts])
    fitted = upper_fit(features, np.maximum(variable, LOWEST_VARIABLE_BYTES))
    estimates = features @ fitted
    entries = [
        {"estimate_bytes": part["static_bytes"] + float(estimate), **part}
        for part, estimate in zip(parts, estimates, strict=True)
    ]
    return dict(zip(FEATURES, map(float, fitted), strict=True)), entries


def _finish(folder: Path, manifest: Manifest, measured: dict[str, Any], settings: MemorySettings) -> list[Path]:
    parts = measured["parts"]
    if len(parts) < len(FEATURES):
        raise InputError(
            f"only {len(parts)} of {measured['designed']} parts stayed under {settings.target_gib:g} GiB, too few to "
            f"fit {len(FEATURES)} coefficients; raise memory.target_gib or lower memory.max_part_tokens"
        )
    coefficients, entries = fit_parts(parts)
    unseen = [name for name in FEATURES if not any(part[name] for part in parts)]
    coefficients |= {name: measured["analytic"][name] for name in unseen}
    saved = {"key": measured["key"], "coefficients": coefficients}
    write_atomically(folder / COEFFICIENTS, json.dumps(saved, indent=1).encode())
    write_atomically(folder / FIT, "".join(json.dumps(entry) + "\n" for entry in entries).encode())
    ratios = [entry["estimate_bytes"] / entry["peak_bytes"] for entry in entries]
    manifest.counts = {
        "read": measured["designed"],
        "kept": len(parts),
        "left_out": measured["designed"] - len(parts),
    }
    manifest.figures = {
        "estimate_over_peak_min": round(min(ratios), 4),
        "estimate_over_peak_median": round(median(ratios), 4),
        "estimate_over_peak_max": round(max(ratios), 4),
        "largest_peak_bytes": max(entry["peak_bytes"] for entry in entries),
        "coefficients": coefficients,
    }
    return [folder / COEFFICIENTS, folder / FIT]
