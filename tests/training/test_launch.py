"""Guarded children: real processes, real signals, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deg_core.training.launch import ChildTimeoutError, rank_command, run_guarded

ROOT = Path(__file__).resolve().parents[2]

# Each process writes its id, starts a grandchild in a session of its own when asked to, and sleeps.
SLEEPER = """
import os, pathlib, subprocess, sys, time, signal
folder = pathlib.Path(sys.argv[1])
if "deaf" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "parent" in sys.argv:
    subprocess.Popen([sys.executable, __file__, sys.argv[1]], start_new_session=True)
(folder / f"pid-{os.getpid()}").touch()
print("ready", flush=True)
time.sleep(120)
"""

CALLER = """
import sys
from pathlib import Path
from deg_core.training.launch import run_guarded
folder = Path(sys.argv[1])
run_guarded([sys.executable, *sys.argv[2:]], folder / "logs", print, nproc=int("two" in sys.argv) + 1, lock=folder / "lock")
"""


@pytest.fixture
def sleeper(tmp_path: Path) -> Path:
    path = tmp_path / "sleeper.py"
    path.write_text(SLEEPER)
    return path


def pids(folder: Path) -> list[int]:
    return [int(path.name.removeprefix("pid-")) for path in folder.glob("pid-*")]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for(condition, what: str, limit_s: float = 60) -> None:
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.05)


def test_returns_status_lines_and_log(tmp_path: Path):
    lines: list[str] = []
    code = "import sys; print('one'); print('two', file=sys.stderr); sys.exit(7)"
    status = run_guarded([sys.executable, "-c", code], tmp_path / "logs", lines.append, lock=tmp_path / "lock")
    assert status == 7
    assert sorted(lines) == ["one", "two"]
    assert sorted((tmp_path / "logs/rank-0.log").read_text().split()) == ["one", "two"]


def test_status_names_the_signal(tmp_path: Path):
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    status = run_guarded([sys.executable, "-c", code], tmp_path, lambda line: None, lock=tmp_path / "lock")
    assert status == -signal.SIGKILL


def test_timeout_stops_a_deaf_child_and_its_grandchild(tmp_path: Path, sleeper: Path, monkeypatch):
    monkeypatch.setattr("deg_core.training.launch.STOP_GRACE_S", 0.3)
    with pytest.raises(ChildTimeoutError, match="raise the time limit"):
        command = [sys.executable, str(sleeper), str(tmp_path), "deaf", "parent"]
        run_guarded(command, tmp_path / "logs", lambda line: None, 2.0, lock=tmp_path / "lock")
    assert len(pids(tmp_path)) == 2
    assert not [pid for pid in pids(tmp_path) if alive(pid)]


def test_an_exception_of_the_caller_stops_the_child(tmp_path: Path, sleeper: Path):
    def refuse(line: str) -> None:
        raise RuntimeError(line)

    with pytest.raises(RuntimeError, match="ready"):
        run_guarded([sys.executable, str(sleeper), str(tmp_path)], tmp_path / "logs", refuse, lock=tmp_path / "lock")
    assert len(pids(tmp_path)) == 1
    assert not [pid for pid in pids(tmp_path) if alive(pid)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_killed_caller_leaves_nothing(tmp_path: Path, sleeper: Path, number: int):
    caller = subprocess.Popen([sys.executable, "-c", CALLER, str(tmp_path), str(sleeper), str(tmp_path)], cwd=ROOT)
    wait_for(lambda: pids(tmp_path), "the child")
    caller.send_signal(number)
    caller.wait(30)
    wait_for(lambda: not [pid for pid in pids(tmp_path) if alive(pid)], "the child's end")


def test_two_ranks_die_with_a_killed_caller(tmp_path: Path, sleeper: Path):
    arguments = [str(tmp_path), str(sleeper), str(tmp_path), "two"]
    caller = subprocess.Popen([sys.executable, "-c", CALLER, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL)
    wait_for(lambda: len(pids(tmp_path)) == 2, "two ranks")
    wait_for((tmp_path / "logs/rank-1.log").is_file, "the second rank's log")
    assert len({os.getsid(pid) for pid in pids(tmp_path)}) == 2, "torchrun no longer isolates ranks; simplify the guard"
    caller.kill()
    caller.wait(30)
    wait_for(lambda: not [pid for pid in pids(tmp_path) if alive(pid)], "the ranks' end")


def test_one_run_at_a_time(tmp_path: Path, sleeper: Path):
    arguments = [str(tmp_path), str(sleeper), str(tmp_path)]
    first = subprocess.Popen([sys.executable, "-c", CALLER, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL)
    lines: list[str] = []
    try:
        wait_for(lambda: pids(tmp_path), "the first run")

        def note(line: str) -> None:
            lines.append(line)
            first.kill()

        status = run_guarded([sys.executable, "-c", ""], tmp_path / "second", note, lock=tmp_path / "lock")
    finally:
        first.kill()
        first.wait(30)
    assert status == 0
    assert len(lines) == 1 and "another training run" in lines[0]


def test_rank_command():
    assert rank_command(["x", "y"], 1, Path("logs")) == ["x", "y"]
    command = rank_command(["x", "y"], 3, Path("logs"))
    assert command[-2:] == ["x", "y"] and "3" in command and "--no-python" in command
