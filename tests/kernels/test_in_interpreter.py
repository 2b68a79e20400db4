"""Runs the tests of `interpreted` in a process of Triton's interpreter."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.skipif(os.environ.get("TRITON_INTERPRET") == "1", reason="this process is one of the interpreter's")
def test_the_kernels_in_the_interpreter():
    pytest.importorskip("triton", reason="Triton cannot be imported; it has wheels for Linux only")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/kernels/interpreted"],
        cwd=ROOT,
        env={**os.environ, "TRITON_INTERPRET": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    assert re.search(r"\[100%\]", done.stdout) and "skipped" not in done.stdout
