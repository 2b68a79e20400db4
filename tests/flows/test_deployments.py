"""prefect.yaml against the code, without a server."""

from __future__ import annotations

import inspect
import os
import select
import subprocess
import sys
import time
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
CONFIG = yaml.safe_load((ROOT / "prefect.yaml").read_text())
DEPLOYMENTS = {entry["entrypoint"]: entry for entry in CONFIG["deployments"]}
FLOW_FILES = {path.name for path in (ROOT / "flows").glob("*.py")} - {"__init__.py", "local_server.py", "setup.py"}


def load(entrypoint: str):
    from prefect.flows import load_flow_from_entrypoint

    import tasks  # noqa: F401  before Prefect reads its settings

    return load_flow_from_entrypoint(str(ROOT / entrypoint))


def test_the_list_of_deployments_tells_them_apart():
    assert len({entry["name"] for entry in CONFIG["deployments"]}) == len(CONFIG["deployments"])


def test_every_flow_is_deployed_and_every_deployment_is_a_flow():
    assert {Path(entrypoint.split(":")[0]).name for entrypoint in DEPLOYMENTS} == FLOW_FILES


@pytest.mark.parametrize("entrypoint", DEPLOYMENTS)
def test_entrypoint_loads_and_its_parameters_validate(entrypoint: str):
    flow = load(entrypoint)
    parameters = DEPLOYMENTS[entrypoint]["parameters"]
    assert set(parameters) == set(inspect.signature(flow.fn).parameters), "a default for every parameter"
    validated = flow.validate_parameters(parameters)
    assert set(validated) == set(parameters)
    assert not isinstance(validated["settings"], dict), "settings arrive as their model"


@pytest.mark.parametrize("entrypoint", DEPLOYMENTS)
def test_a_wrong_key_is_refused(entrypoint: str):
    from prefect.exceptions import ParameterTypeError

    parameters = {**DEPLOYMENTS[entrypoint]["parameters"], "settings": {"no_such_setting": 1}}
    with pytest.raises(ParameterTypeError, match="no_such_setting"):
        load(entrypoint).validate_parameters(parameters)


@pytest.mark.parametrize("entrypoint", DEPLOYMENTS)
def test_the_form_describes_every_setting(entrypoint: str):
    schema = load(entrypoint).parameters.model_dump()
    assert not schema["required"]
    for name, definition in schema["definitions"].items():
        for key, field in definition.get("properties", {}).items():
            assert "$ref" in field or "description" in field or "allOf" in field, f"{name}.{key} says not what it is"


@pytest.mark.parametrize("entry", DEPLOYMENTS.values(), ids=DEPLOYMENTS)
def test_each_runs_alone_in_the_right_queue(entry: dict):
    assert entry["concurrency_limit"] == {"limit": 1, "collision_strategy": "ENQUEUE"}
    assert entry["description"]
    assert entry["work_pool"]["name"] == "deg-process"
    assert entry["work_pool"]["work_queue_name"] == ("gpu" if "gpu" in entry["tags"] else "default")


def test_the_nightly_has_an_explicit_zone_and_an_hour_that_summer_time_does_not_move():
    (schedule,) = DEPLOYMENTS["flows/nightly.py:nightly"]["schedules"]
    assert schedule["cron"] == "0 4 * * *"
    assert schedule["active"] is True
    ZoneInfo(schedule["timezone"])


def test_set_up_names_the_pool_of_the_deployments():
    from flows.setup import GPU, POOL

    assert {entry["work_pool"]["name"] for entry in DEPLOYMENTS.values()} == {POOL}
    assert GPU in {entry["work_pool"]["work_queue_name"] for entry in DEPLOYMENTS.values()}


def test_environment_file_is_loaded_and_gives_way(monkeypatch, tmp_path):
    from tasks.environment import load_environment

    monkeypatch.setenv("DEG_HOME", str(tmp_path))
    monkeypatch.delenv("PREFECT_HOME", raising=False)
    monkeypatch.delenv("DO_NOT_TRACK", raising=False)
    monkeypatch.setenv("PREFECT_FLOWS_HEARTBEAT_FREQUENCY", "45")
    load_environment()

    assert os.environ["PREFECT_HOME"] == f"{tmp_path}/prefect"
    assert os.environ["DO_NOT_TRACK"] == "1"
    assert os.environ["PREFECT_FLOWS_HEARTBEAT_FREQUENCY"] == "45"


def test_a_flow_started_by_hand_has_the_environment_file(tmp_path: Path):
    shown = "from flows.data_flow import data; from prefect.settings import PREFECT_HOME; print(PREFECT_HOME.value())"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    environment["DEG_HOME"] = str(tmp_path / "new")
    done = subprocess.run(
        [sys.executable, "-c", shown], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == f"{tmp_path}/new/prefect"
    assert (tmp_path / "new" / "prefect").is_dir()


def test_a_flow_run_ends_with_its_worker(tmp_path: Path):
    run = f"import os, pathlib, time, tasks; pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid())); time.sleep(60)"
    worker = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {run!r}])"
    environment = {**os.environ, "PREFECT__FLOW_RUN_ID": "1", "DEG_HOME": str(tmp_path)}
    process = subprocess.Popen([sys.executable, "-c", worker], cwd=ROOT, env=environment)
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert process.poll() is None
        time.sleep(0.05)
    ended = os.pidfd_open(int((tmp_path / "pid").read_text()))
    process.kill()
    process.wait()
    assert select.select([ended], [], [], 30)[0], "the flow run outlives its worker"
    os.close(ended)
