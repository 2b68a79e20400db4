"""`deg bench contract`: figures for made schemas, for a file of schemas and for every grammar."""

import json

from deg_core.cli import bench_contract
from tests.cli.test_commands import deg


def test_compile_is_timed_over_a_file_of_schemas(tmp_path):
    schemas = [{"type": "object", "properties": {"a": {"type": "string"}}}, {"type": "array"}]
    file = tmp_path / "schemas.jsonl"
    file.write_text("".join(json.dumps({"schema": schema}) + "\n" for schema in schemas))
    done = deg(tmp_path, "bench", "contract", "--repeats", "1", "--schemas", str(file))
    assert done.returncode == 0, done.stderr
    assert "1 fields" in done.stdout and "refused: 2 problem" in done.stdout
    file.write_text("{}\n")
    done = deg(tmp_path, "bench", "contract", "--schemas", str(file))
    assert done.returncode == 2 and f"{file}:1" in done.stderr


def test_schemas_and_every_grammar_are_measured(tmp_path):
    done = deg(tmp_path, "bench", "contract", "--repeats", "1", "--kilobytes", "4")
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("│")]
    assert len(rows) == len(bench_contract.FIELDS) + len(bench_contract.TEXTS) * 6
    figures = json.loads(done.stdout.splitlines()[-1])
    assert set(figures) == {"compile_ms_20_fields", "parse_s_1mb", "parse_s_1mb_hostile"}
    assert all(value > 0 for value in figures.values())
