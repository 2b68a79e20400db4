"""The command line as a user meets it: real processes, exit codes, what goes to which stream."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from deg_core.artifacts import Home, Manifest, write_manifest
from deg_core.cli import outcome
from deg_core.contract.errors import DegError, FillError, InputError
from deg_core.inputs import read_json

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}


def deg(home: Path, *arguments: str, **options) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DEG_HOME": str(home), "COLUMNS": "200", "NO_COLOR": "1"}
    command = [sys.executable, "-m", "deg_core.cli.main", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, **options)


def record(**changes) -> str:
    body = {
        "uid": "a",
        "split": "train",
        "context": "Total 5",
        "schema": SCHEMA,
        "value": {"total": 5},
        "spans": {"/total": [6, 7]},
    }
    return json.dumps({**body, **changes})


def test_valid_schema_is_0(tmp_path: Path):
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA))
    done = deg(tmp_path, "validate", str(tmp_path / "s.json"))
    assert (done.returncode, done.stdout) == (0, "")
    assert "1 field, 0 arrays" in done.stderr


def test_every_problem_of_a_schema_is_printed_and_is_1(tmp_path: Path):
    bad = {"type": "object", "properties": {"a": {"type": "string", "x-genrate": True}, "b": {"const": 1}}}
    (tmp_path / "s.json").write_text(json.dumps(bad))
    done = deg(tmp_path, "validate", str(tmp_path / "s.json"))
    assert done.returncode == 1
    assert "/properties/a/x-genrate" in done.stdout and "/properties/b" in done.stdout
    assert "2 problems" in done.stderr


def test_bad_records_are_1_with_their_lines(tmp_path: Path):
    (tmp_path / "r.jsonl").write_text(f"{record()}\n{{broken\n{record(uid='b', spans={'/total': [6, 70]})}\n")
    done = deg(tmp_path, "validate", str(tmp_path / "r.jsonl"))
    assert done.returncode == 1
    assert "line 2:" in done.stdout and "line 3: /spans/~1total" in done.stdout
    assert "3 records read, 1 valid, 2 refused" in done.stderr


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (record(sapns={}), "/sapns is read by nothing; did you mean spans?"),
        (record().replace('{"uid"', '{"split": "val", "uid"'), "an object has the key 'split' twice"),
    ],
)
def test_a_misspelt_or_repeated_key_is_told(tmp_path: Path, line: str, told: str):
    (tmp_path / "r.jsonl").write_text(line + "\n")
    done = deg(tmp_path, "validate", str(tmp_path / "r.jsonl"))
    assert done.returncode == 1 and told in done.stdout.replace(":", "")


def test_a_cut_last_record_is_told(tmp_path: Path):
    (tmp_path / "r.jsonl").write_text(f"{record()}\n{record(uid='b')[:-9]}")
    done = deg(tmp_path, "validate", str(tmp_path / "r.jsonl"))
    assert done.returncode == 1 and "the last line (" in done.stdout
    assert "2 records read, 1 valid, 1 refused" in done.stderr


def test_a_number_that_cannot_be_held_is_told(tmp_path: Path):
    (tmp_path / "r.jsonl").write_text(record().replace('"total": 5', '"total": 1e999') + "\n")
    done = deg(tmp_path, "validate", str(tmp_path / "r.jsonl"))
    assert done.returncode == 1 and "line 1: " in done.stdout and "larger than a number can be" in done.stdout


def test_a_schema_problem_names_the_schema_file(tmp_path: Path):
    (tmp_path / "s.json").write_text('{"type": "object", "properties": {"b": {"const": 1}}}')
    (tmp_path / "t.txt").write_text("b")
    done = deg(tmp_path, "fill", "--schema", str(tmp_path / "s.json"), "--text", str(tmp_path / "t.txt"))
    assert done.returncode == 2 and f"{tmp_path / 's.json'}: /properties/b" in done.stderr


def test_records_behind_a_loop_of_links_are_told(tmp_path: Path):
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "a.jsonl")
    done = deg(tmp_path, "pools", "--records", str(tmp_path / "a.jsonl"))
    assert done.returncode == 2 and "does not exist" in done.stderr


def test_the_average_of_a_checkpoint_with_itself_is_the_checkpoint(tmp_path: Path):
    shipped = ROOT / "data" / "checkpoint"
    done = deg(tmp_path, "models", "average", str(shipped), str(shipped), str(tmp_path / "made"), "--share", "0.3")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(tmp_path / "made")
    for name in ("heads.safetensors", "adapters.safetensors"):
        one, other = load_file(shipped / name), load_file(tmp_path / "made" / name)
        assert one.keys() == other.keys()
        assert all(torch.equal(one[part], other[part]) for part in one)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["validate", "absent.json"], "no file absent.json"),
        (["validate"], "Missing argument"),
        (["nothing"], "No such command"),
        (["train", "--stesp", "3"], "No such option"),
        (["train", "--steps", "three"], "--steps"),
        (["train", "--set", "stesp=3"], "did you mean steps?"),
        (["nightly", "--config", "absent.yaml"], "cannot read absent.yaml"),
        (["fill", "--text", "absent.txt"], "give --schema"),
        (["fill", "--schema", "absent.json", "--text", "absent.txt"], "absent.json"),
        (["sql", "selct 1"], "DuckDB"),
        (["sql", "field-acuracy"], "did you mean field-accuracy?"),
        (["models", "promote", "absent"], "absent"),
        (["calibrate", "--records", "absent.jsonl"], "run `deg train` first"),
        (["validate", "."], ". is a folder"),
        (["pools", "--records", "tests"], "tests is a folder; give a JSON Lines file"),
        (["pools", "--records", "a.jsonl:0"], "--records a.jsonl:0: '0' is no weight above 0"),
        (["pools", "--records", "a.jsonl:x:"], "--records a.jsonl:x:: '' is no weight"),
        (["pools", "--records", "a.jsonl:inf"], "'inf' is no weight"),
        (["train", "--device", "tpu"], "--device"),
        (["train", "--set", "lr_heads=.inf"], "lr_heads: Input should be a finite number"),
        (["fill", "--corpus", "", "--schema", "data/samples/schema.json"], "corpus"),
        (["fill", "--schema", "pyproject.toml", "--text", "README.md"], "pyproject.toml:1:2: not JSON"),
        (["evaluate", "--checkpoint", "absent"], "checkpoint absent does not exist"),
        (["models", "promote", "tests"], "tests is no checkpoint"),
        (["models", "average", "data/checkpoint", "tests", "absent"], "tests is no checkpoint"),
        (["sql", "SELECT 1", "--home", "README.md"], "--home README.md is no folder"),
        (["sql", "SELECT 1; SELECT 2"], "2 statements are given"),
        (["sql", "SELECT 1 AS a, 2 AS a", "--format", "json"], "two columns are named 'a'"),
        (["fill", "--corpus", "data/samples"], "give the schema of its values with --schema"),
    ],
)
def test_wrong_usage_and_unreadable_input_are_2(tmp_path: Path, arguments: list[str], told: str):
    done = deg(tmp_path, *arguments)
    assert done.returncode == 2, done.stderr
    assert told in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is empty"),
        (b"{a: 1}", ":1:2: not JSON"),
        (b"\x00\xff", "is not UTF-8 at byte 1"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"type": "object", "type": "object"}', "the key 'type' twice"),
        (b'{"minimum": NaN}', "NaN is not JSON"),
        (b'{"maximum": 1e999}', "1e999 is larger than a number can be"),
    ],
)
def test_a_file_that_is_no_json_is_told_with_its_place(tmp_path: Path, content: bytes, told: str):
    (tmp_path / "s.json").write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_json(tmp_path / "s.json")
    assert str(tmp_path / "s.json") in str(caught.value) and told in str(caught.value)


def test_a_byte_order_mark_is_no_part_of_json(tmp_path: Path):
    (tmp_path / "s.json").write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert read_json(tmp_path / "s.json") == {"a": 1}


@pytest.mark.parametrize(("content", "told"), [(b" \n", "empty document"), (b"a\0b", "binary data, not text")])
def test_a_text_that_is_none_is_2(tmp_path: Path, content: bytes, told: str):
    (tmp_path / "s.json").write_text(json.dumps(SCHEMA))
    (tmp_path / "t.txt").write_bytes(content)
    done = deg(tmp_path, "fill", "--schema", str(tmp_path / "s.json"), "--text", str(tmp_path / "t.txt"))
    assert done.returncode == 2
    assert f"{tmp_path / 't.txt'}: {told}" in done.stderr


def test_sql_prints_rows_on_standard_output(tmp_path: Path):
    done = deg(tmp_path, "sql", "select 1 as one, 'x' as two", "--format", "json")
    assert done.returncode == 0
    assert json.loads(done.stdout) == [{"one": 1, "two": "x"}]
    assert deg(tmp_path, "sql", "select 1 as one", "--format", "csv").stdout == "one\n1\n"


def test_generate_prints_the_folder_and_is_reused(tmp_path: Path):
    sizes = ["--train", "3", "--val", "1", "--test", "1", "--corpus", "2"]
    first, second = deg(tmp_path, "generate", *sizes), deg(tmp_path, "generate", *sizes)
    folder = Path(first.stdout.strip())
    assert (folder / "manifest.json").is_file() and folder.is_relative_to(tmp_path)
    assert second.stdout == first.stdout
    assert "was there already" in second.stderr and "was there already" not in first.stderr


def test_a_home_that_cannot_be_made_is_2(tmp_path: Path):
    (tmp_path / "file").write_text("")
    done = deg(tmp_path / "file", "generate")
    assert done.returncode == 2
    assert f"cannot make {tmp_path / 'file' / 'data'}" in done.stderr and "set DEG_HOME" in done.stderr


def test_doctor_says_what_to_do(tmp_path: Path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    done = deg(blocked / "home", "doctor", "--json")
    assert done.returncode == 1
    checks = {check["name"]: check for check in json.loads(done.stdout)}
    assert checks["home"]["state"] == "fail" and "DEG_HOME" in checks["home"]["advice"]
    assert checks["torch"]["state"] == "ok"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InputError("x"), 2),
        (FillError("/a", "x"), 1),
        (outcome.NegativeAnswerError("x"), 1),
        (DegError("x"), 3),
        (RuntimeError("x"), 3),
        (KeyboardInterrupt(), 130),
    ],
)
def test_error_to_exit_code(error: BaseException, code: int, tmp_path: Path, monkeypatch, capsys):
    monkeypatch.setenv("DEG_HOME", str(tmp_path))

    def command() -> None:
        raise error

    assert outcome.exit_code(command) == code
    logs = list(tmp_path.glob("logs/*.log"))
    assert len(logs) == (code == 3)
    if logs:
        assert "Traceback" in logs[0].read_text()
        assert str(logs[0]) in capsys.readouterr().err


def test_sigterm_unwinds_the_stack(tmp_path: Path):
    program = (
        "import time, typer\n"
        "from deg_core.cli.outcome import run\n"
        "def command():\n"
        "    try:\n        print('ready', flush=True); time.sleep(60)\n"
        "    finally:\n        print('cleaned', flush=True)\n"
        "app = typer.Typer()\n"
        "app.command()(command)\n"
        "run(app)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.stdout.read() == "cleaned\n"
    assert process.wait(30) == 130


def test_newest_picks_the_last_finished_artifact(tmp_path: Path):
    from deg_core.steps import newest

    home = Home(tmp_path)
    for name, created in (("a", "2026-01-02"), ("b", "2026-01-03"), ("unfinished", None)):
        folder = home.folder("runs") / name
        folder.mkdir()
        if created:
            manifest = write_manifest(folder, Manifest(kind="run", id=name, key=name, code_version="1"), [])
            manifest.created = created
            (folder / "manifest.json").write_text(manifest.model_dump_json())
    assert newest(home, "runs", "deg train").id == "b"
    with pytest.raises(InputError, match="run `deg evaluate` first"):
        newest(home, "evals", "deg evaluate")
