"""Checkpoint folders that look like real ones to the registry."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from deg_core.artifacts import Home

MakeCheckpoint = Callable[[str], Path]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def checkpoint(tmp_path: Path) -> MakeCheckpoint:
    """Make a checkpoint folder; its content follows from its name."""

    def make(name: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "deg.json").write_text(json.dumps({"name": name}))
        save_file({"w": np.arange(64, dtype=np.float32)}, folder / "heads.safetensors")
        return folder

    return make
