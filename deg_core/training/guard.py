"""Become another program that dies with its parent (Linux).

Run as a script: `python guard.py PARENT_PID LOG_DIR -- program argument ...`. It asks the kernel to
kill this process when its parent dies, then replaces itself with the program, which keeps that
request. PARENT_PID 0 means "whoever the parent is now". Under torchrun a rank other than 0 writes its
output to LOG_DIR/rank-<RANK>.log; rank 0 keeps the launcher's. Imports only the standard library, so that
the request is made before anything slow.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def die_with_parent(expected_parent: int = 0) -> None:
    """Ask the kernel to kill this process when the thread that started it ends.

    expected_parent: its process id; when it is gone already this process ends at once. 0 = not checked.
    Raises OSError where the kernel refuses.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    if expected_parent and os.getppid() != expected_parent:
        os.kill(os.getpid(), signal.SIGKILL)


def _redirect_rank(log_dir: str) -> None:
    rank = os.environ.get("RANK", "0")
    if rank == "0":
        return
    log = os.open(os.path.join(log_dir, f"rank-{rank}.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)


def main(argv: list[str]) -> None:
    """Guard, redirect, exec; does not return."""
    parent, log_dir, dashes, *command = argv
    if dashes != "--" or not command:
        raise SystemExit("usage: guard.py PARENT_PID LOG_DIR -- program argument ...")
    die_with_parent(int(parent))
    _redirect_rank(log_dir)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
