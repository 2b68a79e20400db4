"""Kernels run on the CPU in Triton's interpreter, which a process must choose before it imports Triton.

So the tests in `interpreted` are collected only with TRITON_INTERPRET=1; test_in_interpreter.py runs them in a process
that has it, and the rest of the suite stays as it is.
"""

import os

if os.environ.get("TRITON_INTERPRET") != "1":
    collect_ignore = ["interpreted"]
