"""Prefect on this machine: server, set-up, deployments, worker. `make prefect`; Ctrl-C stops all of it."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType

from tasks.environment import PROJECT, load_environment

load_environment()

from deg_core.artifacts import Home  # noqa: E402
from deg_core.training import guard  # noqa: E402
from deg_core.training.launch import stop_tree  # noqa: E402

START_LIMIT_S = 600  # the first start makes the database: 10 s, minutes where the machine is busy
PREFECT = [sys.executable, "-m", "prefect"]


class UnavailableError(Exception):
    """A part of the platform did not start, or ended; the message says where its log is."""


def main() -> int:
    """Start everything, print the page's address, stay until Ctrl-C or until a part ends."""
    for number in (signal.SIGINT, signal.SIGTERM):  # SIGINT too: a shell starts background jobs with it ignored
        signal.signal(number, _interrupt)
    port = os.environ.get("PREFECT_SERVER_API_PORT", "4200")
    api = os.environ.setdefault("PREFECT_API_URL", f"http://127.0.0.1:{port}/api")
    logs = Home().folder("logs")
    try:
        with ExitStack() as stack:
            parts = []
            if not answers(api):
                parts.append(stack.enter_context(running("server", ["server", "start", "--port", port], logs)))
                wait_until_answers(api, parts[0], logs)
            set_up(api)
            parts.append(stack.enter_context(running("worker", worker_arguments(), logs)))
            print(f"Prefect is ready: {api.removesuffix('/api')}  (logs in {logs}; Ctrl-C stops it)", flush=True)
            watch(parts, logs)
    except KeyboardInterrupt:
        print("stopped", flush=True)
        return 0
    except UnavailableError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 3
    return 0


def worker_arguments() -> list[str]:
    """Arguments of the worker: every queue of the pool."""
    from flows.setup import POOL

    return ["worker", "start", "--pool", POOL, "--name", "deg-local"]


def set_up(api: str) -> None:
    """Pool, queues, limits, automations, deployments; the same again when they are there."""
    from flows.setup import apply

    apply(api)
    deployed = subprocess.run([*PREFECT, "--no-prompt", "deploy", "--all"], cwd=PROJECT, capture_output=True, text=True)
    if deployed.returncode:
        raise UnavailableError(f"prefect deploy failed:\n{deployed.stdout}{deployed.stderr}")


@contextmanager
def running(name: str, arguments: list[str], logs: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A Prefect process that ends with this one, by whatever signal."""
    with open(logs / f"prefect-{name}.log", "ab") as log:
        process = subprocess.Popen(
            [sys.executable, guard.__file__, str(os.getpid()), str(logs), "--", *PREFECT, *arguments],
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        stop_tree(process)


def answers(api: str) -> bool:
    """Whether a server answers at this address."""
    try:
        with urllib.request.urlopen(f"{api}/health", timeout=5) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


def wait_until_answers(api: str, server: subprocess.Popen[bytes], logs: Path) -> None:
    """Wait for a server that was just started."""
    end = time.monotonic() + START_LIMIT_S
    while not answers(api):
        if server.poll() is not None or time.monotonic() > end:
            raise UnavailableError(f"the server did not start; see {logs / 'prefect-server.log'}")
        time.sleep(0.5)


def watch(parts: list[subprocess.Popen[bytes]], logs: Path) -> None:
    """Stay until a part ends by itself."""
    while all(part.poll() is None for part in parts):
        time.sleep(1)
    raise UnavailableError(f"a part of Prefect ended by itself; see the logs in {logs}")


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
