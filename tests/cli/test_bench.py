"""`deg bench`: figures for made schemas, for a file of schemas and for every grammar."""

import json

from typer.testing import CliRunner

from deg_core.cli import bench
from tests.cli.test_commands import deg


def test_compile_is_timed_over_a_file_of_schemas(tmp_path):
    schemas = [{"type": "object", "properties": {"a": {"type": "string"}}}, {"type": "array"}]
    file = tmp_path / "schemas.jsonl"
    file.write_text("".join(json.dumps({"schema": schema}) + "\n" for schema in schemas))
    done = deg(tmp_path, "bench", "compile", "--repeats", "1", "--schemas", str(file))
    assert done.returncode == 0, done.stderr
    assert "1 fields" in done.stdout and "refused: 2 problem" in done.stdout
    file.write_text("{}\n")
    done = deg(tmp_path, "bench", "compile", "--schemas", str(file))
    assert done.returncode == 2 and f"{file}:1" in done.stderr


def test_every_grammar_is_measured(monkeypatch):
    monkeypatch.setattr(bench, "REPEATS", 1)
    result = CliRunner().invoke(bench.group, ["values", "--kilobytes", "4"], env={"COLUMNS": "120"})
    assert result.exit_code == 0, result.output
    rows = [line for line in result.output.splitlines() if line.startswith("│")]
    assert len(rows) == len(bench.TEXTS) * 6
