"""The end of a night: ours beside the baseline, and where to look."""

from __future__ import annotations

import json
from typing import Any

from rich.table import Table

from deg_core.artifacts import Manifest

OURS, BASELINE = "deg", "baseline"


def scoreboard(evaluation: Manifest) -> Table:
    """Accuracy by mode, calibration error, tokens and milliseconds of both systems, from an evaluation's summary."""
    summary = json.loads((evaluation.path / "summary.json").read_text(encoding="utf-8"))
    table = Table(title="ours beside constrained decoding", title_justify="left")
    for name in ("", "ours", "baseline"):
        table.add_column(name, justify="right" if name else "left")
    accuracy = {(row["system"], row["mode"]): row["accuracy"] for row in summary["by_mode"]}
    for mode in sorted({mode for _, mode in accuracy}):
        table.add_row(f"accuracy {mode}", *(_number(accuracy.get((system, mode))) for system in (OURS, BASELINE)))
    for name in ("ece_decide", "ece_extract"):
        table.add_row(name.replace("_", " ").replace("ece", "ECE"), _number(summary["figures"][name]), "")
    for name, label in (
        ("valid", "valid answers"),
        ("prompt_tokens", "prompt tokens a document"),
        ("generated_tokens", "generated tokens a document"),
        ("sampled_tokens", "of these sampled"),
        ("ms_median", "milliseconds, median"),
    ):
        costs = [summary["costs"].get(system, {}).get(name) for system in (OURS, BASELINE)]
        table.add_row(label, *map(_number, costs))
    return table


def places(evaluation: Manifest, fill: Manifest) -> list[str]:
    """The report and the filled Parquet parts, as lines."""
    return [f"report: {evaluation.path / 'report.html'}", f"filled: {fill.path}/part-*.parquet"]


def _number(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3f}"
