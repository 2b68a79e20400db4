"""Start a training process, or a torchrun of several, so that it never outlives its caller.

torchrun gives each rank a session of its own, so that killing its process group misses the ranks.
Three things together leave no process: the group and every descendant are stopped in `finally`, each
process asks the kernel to kill it when its parent dies (`guard`), and the machine lock is held by
the training process itself, so that "the lock is free" means "nobody trains".
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, BinaryIO

from deg_core.artifacts import locked
from deg_core.contract.errors import DegError, InputError
from deg_core.training import guard

STOP_GRACE_S = 10.0
POLL_S = 0.25


class ChildTimeoutError(DegError):
    """The child ran longer than it was allowed; it was stopped."""


def machine_lock() -> Path:
    """The lock file of the machine's one training run (`DEG_MACHINE_LOCK`, else one a user in the temporary folder)."""
    named = os.environ.get("DEG_MACHINE_LOCK")
    return Path(named) if named else Path(tempfile.gettempdir()) / f"deg-{os.getuid()}-train.lock"


def rank_command(command: list[str], nproc: int, log_dir: Path) -> list[str]:
    """The command that runs `command` once (nproc 1) or as nproc guarded ranks under torchrun."""
    if nproc == 1:
        return list(command)
    ranks = [sys.executable, guard.__file__, "0", str(log_dir), "--", *command]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(nproc)]
    return [*torchrun, "--no-python", *ranks]


def run_guarded(
    command: list[str],
    log_dir: Path,
    on_line: Callable[[str], None],
    timeout_s: float | None = None,
    *,
    nproc: int = 1,
    env: dict[str, str] | None = None,
    lock: Path | None = None,
) -> int:
    """Run a program to its end and return its exit status (negative: the signal that killed it).

    command: program and arguments, e.g. [sys.executable, "-m", "deg_core.training.worker", "job.json"].
    log_dir: rank-<r>.log of every rank; rank-0.log also holds the launcher's lines. on_line is called in
    this thread with each line of rank 0. env: the whole environment, else this process's. lock: held while the
    program lives (default `machine_lock()`); a second run waits for it and says so through on_line.
    Raises ChildTimeoutError after timeout_s. Whatever ends this call, no process of the program is left.
    """
    log_dir.mkdir(parents=True, exist_ok=True)
    with _exclusive(lock or machine_lock(), on_line) as held, open(log_dir / "rank-0.log", "ab") as log:
        process = subprocess.Popen(
            [
                sys.executable,
                guard.__file__,
                str(os.getpid()),
                str(log_dir),
                "--",
                *rank_command(command, nproc, log_dir),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=(held.fileno(),),
            env=env,
        )
        try:
            _pump(process, log, on_line, None if timeout_s is None else time.monotonic() + timeout_s, timeout_s)
            return process.wait()
        finally:
            stop_tree(process)


@contextlib.contextmanager
def _exclusive(path: Path, on_line: Callable[[str], None]) -> Iterator[IO[str]]:
    with contextlib.ExitStack() as stack:
        try:
            held = stack.enter_context(locked(path, wait=False))
        except InputError:
            on_line(f"another training run holds {path}; waiting for it to end")
            held = stack.enter_context(locked(path))
        yield held


def _pump(
    process: subprocess.Popen[bytes],
    log: BinaryIO,
    on_line: Callable[[str], None],
    deadline: float | None,
    timeout_s: float | None,
) -> None:
    """Copy the child's output to its log and hand on its lines, until it ends or closes it."""
    assert process.stdout is not None
    pending = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            if deadline is not None and time.monotonic() > deadline:
                raise ChildTimeoutError(
                    f"stopped after {timeout_s:g} s (see {log.name}); raise the time limit or do less"
                )
            if not selector.select(POLL_S):
                if process.poll() is not None:
                    break
                continue
            chunk = os.read(process.stdout.fileno(), 65536)
            if not chunk:
                break
            log.write(chunk)
            log.flush()
            *lines, pending = (pending + chunk).split(b"\n")
            for line in lines:
                on_line(line.decode("utf-8", "replace"))
    if pending:
        on_line(pending.decode("utf-8", "replace"))


def stop_tree(process: subprocess.Popen[bytes]) -> None:
    """End a child that leads a group of its own, and every descendant: SIGTERM, STOP_GRACE_S, SIGKILL."""
    descendants = [handle for pid in _descendants(process.pid) if (handle := _open_process(pid)) is not None]
    try:
        _signal_group(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_GRACE_S)
        _signal_group(process.pid, signal.SIGKILL)
        process.wait()
        for handle in descendants:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        _wait_ended(descendants)
    finally:
        for handle in descendants:
            os.close(handle)
        if process.stdout is not None:
            process.stdout.close()


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)


def _descendants(root: int) -> list[int]:
    """Process ids below root, in whatever session or group they are."""
    found: list[int] = []
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        children = [int(child) for path in Path(f"/proc/{pid}/task").glob("*/children") for child in _words(path)]
        found += children
        waiting += children
    return found


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except (FileNotFoundError, ProcessLookupError):  # the thread ended meanwhile
        return []


def _open_process(pid: int) -> int | None:
    """A handle that means this very process even after its id is used again; None when it has ended."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None


def _wait_ended(handles: list[int]) -> None:
    """Wait until every process has ended (each was sent SIGKILL)."""
    with selectors.DefaultSelector() as selector:
        for handle in handles:
            selector.register(handle, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                selector.unregister(key.fileobj)
