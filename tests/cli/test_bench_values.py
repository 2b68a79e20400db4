"""`deg bench values` measures every grammar on every text."""

from __future__ import annotations

import typer
from typer.testing import CliRunner

from deg_core.cli import bench_values


def test_every_grammar_is_measured(monkeypatch):
    monkeypatch.setattr(bench_values, "REPEATS", 1)
    app = typer.Typer()
    bench_values.register(app)
    app.callback()(lambda: None)
    result = CliRunner().invoke(app, ["values", "--kilobytes", "4"], env={"COLUMNS": "120"})
    assert result.exit_code == 0, result.output
    rows = [line for line in result.output.splitlines() if line.startswith("│")]
    assert len(rows) == len(bench_values.TEXTS) * 6
