"""`make prefect` for real: server, process worker, deployments; a cancelled two-rank run leaves no process."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.slow


class Platform:
    """The running platform. processes(word): ids of its processes, by their DEG_HOME, whose command has the word."""

    def __init__(self, home: Path, port: int):
        self.home = home
        self.api = httpx.Client(base_url=f"http://127.0.0.1:{port}/api", timeout=30)
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")},
            "DEG_HOME": str(home),
            "DEG_MACHINE_LOCK": str(home / "machine.lock"),
            "PREFECT_SERVER_API_PORT": str(port),
            "OMP_NUM_THREADS": "1",
        }
        command = [sys.executable, "-m", "flows.local_server"]
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)

    def processes(self, word: str = "") -> list[int]:
        mark = f"DEG_HOME={self.home}".encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    if word in command and command:
                        found.append(int(folder.name))
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
        return found

    def get(self, path: str) -> Any:
        return self.api.get(path).raise_for_status().json()

    def post(self, path: str, body: Any) -> Any:
        return self.api.post(path, json=body).raise_for_status().json()

    def logs(self) -> str:
        return "\n".join(f"== {path}\n{path.read_text()[-3000:]}" for path in self.home.glob("logs/*.log"))


def wait_for(condition: Callable[[], Any], what: str, platform: Platform, limit_s: float = 90) -> Any:
    end = time.monotonic() + limit_s
    while not (found := condition()):
        assert time.monotonic() < end, f"waited in vain for {what}\n{platform.logs()}"
        time.sleep(0.25)
    return found


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    started = Platform(tmp_path_factory.mktemp("platform"), port)
    try:
        assert started.process.stdout is not None
        line = started.process.stdout.readline()
        assert line.startswith("Prefect is ready: http://127.0.0.1"), started.logs()
        yield started
    finally:
        started.process.send_signal(signal.SIGINT)
        started.process.wait(60)
        started.api.close()
    assert started.processes() == [], "Ctrl-C stops everything"


def test_set_up_is_complete_and_can_be_repeated(platform: Platform):
    from flows.setup import apply

    apply(str(platform.api.base_url).rstrip("/"))
    deployed = platform.post("/deployments/filter", {})
    names = {"data", "pools", "memory", "train", "train-generator", "calibrate", "evaluate", "fill", "nightly"}
    flows = {flow["id"]: flow["name"] for flow in platform.post("/flows/filter", {})}
    assert {flows[entry["flow_id"]] for entry in deployed} == names
    assert {
        entry["pull_steps"][0]["prefect.deployments.steps.set_working_directory"]["directory"] for entry in deployed
    } == {str(ROOT)}
    assert platform.get("/work_pools/deg-process/queues/gpu")["concurrency_limit"] == 1
    automations = [entry["name"] for entry in platform.post("/automations/filter", {})]
    assert sorted(automations) == ["deg-late-runs", "deg-zombie-runs"]
    assert platform.get("/v2/concurrency_limits/gpu")["limit"] == 1


def test_a_cancelled_two_rank_run_leaves_no_process(platform: Platform, tiny_base: Path):
    deployment = platform.get("/deployments/name/train/train-checkpoint")["id"]
    data = {"train": 12, "val": 4, "test": 3, "corpus": 2}
    settings = {
        "base": str(tiny_base),
        "init": "fresh",
        "steps": 1_000_000,
        "nproc": 2,
        "budget_tokens": 400,
        "max_records": 2,
        "lora_rank": 2,
    }
    parameters = {"settings": settings, "pools": {"base": str(tiny_base)}, "data": data, "memory": None}
    run = platform.post(f"/deployments/{deployment}/create_flow_run", {"parameters": parameters})["id"]

    def ended() -> str:
        state = platform.get(f"/flow_runs/{run}")["state"]
        return state["type"] if state["type"] in ("COMPLETED", "FAILED", "CRASHED", "CANCELLED") else ""

    def trains() -> bool:
        assert not ended(), platform.logs()
        return bool(list(platform.home.glob("runs/*/log.jsonl")))

    wait_for(trains, "two ranks that train", platform)
    ranks = platform.processes("deg_core.training.worker")
    assert len({os.getsid(pid) for pid in ranks}) >= 2
    platform.post(f"/flow_runs/{run}/set_state", {"state": {"type": "CANCELLING"}})
    assert wait_for(ended, "the cancellation", platform) == "CANCELLED"
    wait_for(lambda: not platform.processes("deg_core.training.worker"), "the end of the ranks", platform, 30)
    assert platform.processes("torch.distributed.run") == []
