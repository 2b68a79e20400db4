"""What importing costs and pulls in: the command line starts without torch, the library knows no Prefect."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "module",
    ["deg_core.contract", "deg_core.values", "deg_core.cli.main", "deg_core.chain", "deg_core.training.launch"],
)
def test_light_modules_import_neither_torch_nor_prefect(module: str):
    program = (
        f"import sys, {module}; print([name for name in ('torch', 'prefect', 'transformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def imported(path: Path) -> set[str]:
    """Top-level packages that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


def test_the_library_knows_neither_prefect_nor_the_flows():
    files = list((ROOT / "deg_core").rglob("*.py"))
    assert len(files) > 50
    wrong = {str(path): found for path in files if (found := imported(path) & {"prefect", "tasks", "flows"})}
    assert not wrong


def test_tasks_do_not_know_the_flows():
    assert not {str(path) for path in (ROOT / "tasks").rglob("*.py") if "flows" in imported(path)}


def test_a_model_needs_no_triton_on_the_cpu():
    program = "import sys, deg_core.model.model; print([name for name in ('triton', 'fla') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


LAYERS = (
    ("contract",),
    ("values",),
    ("kernels",),
    ("model",),
    ("runtime",),
    ("pools", "training", "evaluation", "bulk"),
)


def test_imports_of_the_library_go_one_way():
    layer_of = {name: layer for layer, names in enumerate(LAYERS) for name in names}
    for name, layer in layer_of.items():
        files = list((ROOT / "deg_core" / name).rglob("*.py"))
        assert files
        for path in files:
            above = {other for other in own_packages(path) if layer_of.get(other, layer) > layer}
            assert not above, f"{path} imports {above}"


def own_packages(path: Path) -> set[str]:
    """Packages of deg_core that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "deg_core":
            names |= {f"deg_core.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return {name.split(".")[1] for name in names if name.startswith("deg_core.")}
