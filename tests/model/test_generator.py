"""Who writes generated text: the checkpoint, its base, or the base with a generator's adapter, for every family."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from deg_core.artifacts import Home
from deg_core.contract import compile_schema
from deg_core.contract.errors import InputError
from deg_core.contract.query import known_values
from deg_core.model.adapters import merge
from deg_core.model.backbone import Backbone, read_family
from deg_core.model.checkpoint import save_checkpoint
from deg_core.model.fork import tokenize_query
from deg_core.model.generator import export_generator, module_rows
from deg_core.model.model import Model, load_model
from deg_core.model.network import Network
from deg_core.model.queries import DocumentQueries, QueryLayout
from deg_core.runtime import engine
from deg_core.runtime.engine import fill, fill_many
from deg_core.runtime.generate import Writer, write_all
from tests.model import tiny

CONTEXT = "Invoice 4711 of Miller & Sons, due 2024-05-01, total 12.50 EUR. The customer is angry."
SCHEMA = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["invoice", "letter"]},
        "total": {"type": "number"},
        "note": {"type": "string", "x-generate": True, "x-max-tokens": 12, "description": "What it says."},
        "more": {"type": "string", "x-generate": True, "x-max-tokens": 6},
    },
    "required": ["kind", "total", "note", "more"],
}


@pytest.fixture(scope="module", params=["adapter", "base"])
def checkpoint(request: pytest.FixtureRequest, base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint whose contexts are read by the adapted weights, or by the base."""
    network, meta, folder = tiny.write_checkpoint(tmp_path_factory.mktemp("checkpoint") / "checkpoint", base, rank=4)
    meta.lora_context = request.param
    return save_checkpoint(folder, network, meta)


@pytest.fixture(scope="module")
def generator(checkpoint: Path, base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint's adapters as a generator."""
    folder = tmp_path_factory.mktemp("generator")
    export_generator(checkpoint, base, read_family(base / "config.json"), folder)
    return folder


def load(checkpoint: Path, generate: str) -> Model:
    return load_model(checkpoint, device="cpu", dtype="float32", generate=generate, home=Home(checkpoint / "home"))


def logits_of_transformers(folder: Path, model: Model, response: dict, leaf: int) -> torch.Tensor:
    """Next-token logits [V] of the Hugging Face model of a folder after the chat's prompt for a generated leaf."""
    plan = compile_schema(SCHEMA)
    context = model.tokens.encode_context(CONTEXT)
    queries = DocumentQueries(model.tokens, plan, CONTEXT, context, QueryLayout(gen_layout="chat"))
    known = [(f"/{name}", response["value"][name]) for name in ("kind", "total")]
    prompt = [*model.tokens.prefix_ids, *context.ids.tolist(), *model.tokens.suffix_ids]
    prompt += tokenize_query(model.tokens, "generate", "", known_values(known)).ids.tolist()
    prompt += queries.generate(plan.fields[leaf], (), ()).ids.tolist()
    assert model.tokens.decode(prompt).endswith("Answer with the value alone.\nassistant\n")
    network = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.no_grad():
        return network(torch.tensor([prompt])).logits[0, -1]


def test_the_base_writes_after_its_own_chat(checkpoint: Path, base: Path, monkeypatch: pytest.MonkeyPatch):
    """Where decoding begins, the logits are those that transformers computes from the base and the whole prompt."""
    model = load(checkpoint, "base")
    began: list[torch.Tensor] = []

    def write(network: Network, writers: list[Writer]) -> None:
        began.extend(network.lm_logits(writer.hidden) for writer in writers)
        write_all(network, writers)

    monkeypatch.setattr(engine, "write_all", write)
    response = engine.fill(model, CONTEXT, SCHEMA)
    own = fill(load(checkpoint, "model"), CONTEXT, SCHEMA)
    assert [response["value"][name] for name in ("kind", "total")] == [own["value"][name] for name in ("kind", "total")]
    assert response["meta"]["/kind"] == own["meta"]["/kind"]
    for leaf, logits in zip((2, 3), began[:2], strict=True):
        expected = logits_of_transformers(base, model, response, leaf)
        assert tiny.relative_error(logits, expected) < tiny.REFERENCE_TOLERANCE


def test_a_generator_is_the_merged_base(checkpoint: Path, generator: Path, base: Path):
    """Every module of the base, in the family's own layout, gets just what the fused adapter would add."""
    network = tiny.fresh_network(base, 4)
    stored = {n: (a.to(torch.bfloat16).float(), b.to(torch.bfloat16).float()) for n, (a, b) in network.adapters.items()}
    expected = merge(network.backbone.weights, stored, network.scale)
    model = load(checkpoint, f"base+lora:{generator}")
    for name in network.backbone.family.targets():
        torch.testing.assert_close(model.writer.backbone.weights[name], expected[name], rtol=0, atol=1e-6)
    assert torch.equal(model.writer.backbone.weights["embed"], network.backbone.weights["embed"])
    names = {name.rpartition(".lora_")[0] + ".weight" for name in load_file(generator / "lora.safetensors")}
    assert names <= set(AutoModelForCausalLM.from_pretrained(base).state_dict())
    covered = module_rows(base, network.backbone.family)
    for projection, (_, outputs) in network.backbone.family.targets().items():
        rows = torch.cat([rows for of, rows in covered.values() if of == projection])
        assert rows.sort().values.tolist() == list(range(outputs))


def test_a_generator_that_changes_nothing_writes_what_the_base_writes(
    checkpoint: Path, generator: Path, tmp_path: Path
):
    tensors = {
        n: torch.zeros_like(t) if n.endswith("B") else t for n, t in load_file(generator / "lora.safetensors").items()
    }
    save_file(tensors, tmp_path / "lora.safetensors")
    (tmp_path / "generator.json").write_text((generator / "generator.json").read_text())
    zero = fill(load(checkpoint, f"base+lora:{tmp_path}"), CONTEXT, SCHEMA)
    plain = fill(load(checkpoint, "base"), CONTEXT, SCHEMA)
    assert zero["value"] == plain["value"] and zero["meta"] == plain["meta"]


@pytest.mark.parametrize("kind", ["base", "base+lora"])
def test_a_writer_reads_again_only_what_it_must(kind: str, checkpoint: Path, generator: Path):
    model = load(checkpoint, kind if kind == "base" else f"{kind}:{generator}")
    adapted = json.loads((checkpoint / "deg.json").read_text())["lora_context"] == "adapter"
    assert model.reads_twice == (adapted or kind == "base+lora")
    without = {"type": "object", "properties": {"kind": SCHEMA["properties"]["kind"]}, "required": ["kind"]}
    read: list[int] = []
    inner = model.writer.read
    model.writer.read = lambda contexts, *, exact: read.append(len(contexts)) or inner(contexts, exact=exact)
    jobs = [{"context": CONTEXT, "schema": SCHEMA}, {"context": CONTEXT, "schema": without}]
    many = fill_many(model, jobs)
    assert read == ([1] if model.reads_twice else [])
    alone = [fill(model, job["context"], job["schema"]) for job in jobs]
    assert [(r["value"], r["meta"]) for r in many] == [(r["value"], r["meta"]) for r in alone]


def test_what_cannot_write_is_refused(checkpoint: Path, generator: Path, tmp_path: Path):
    for wrong in ("champion", "base+lora:", "base+lora"):
        with pytest.raises(InputError, match="'model', 'base' or 'base.lora:FOLDER'"):
            load(checkpoint, wrong)
    with pytest.raises(InputError, match=r"no generator.*train-generator"):
        load(checkpoint, f"base+lora:{tmp_path}")
    described = json.loads((generator / "generator.json").read_text())
    (tmp_path / "generator.json").write_text(json.dumps(described | {"base_hash": "0" * 64}))
    with pytest.raises(InputError, match="another base"):
        load(checkpoint, f"base+lora:{tmp_path}")
    (tmp_path / "generator.json").write_text(json.dumps(described))
    (tmp_path / "lora.safetensors").write_bytes(b"torn")
    with pytest.raises(InputError, match=r"lora\.safetensors is damaged"):
        load(checkpoint, f"base+lora:{tmp_path}")
    save_file({"model.nowhere.lora_A": torch.zeros(4, 2)}, tmp_path / "lora.safetensors")
    with pytest.raises(InputError, match=r"does not fit the base at model\.nowhere"):
        load(checkpoint, f"base+lora:{tmp_path}")
    (tmp_path / "generator.json").write_text(json.dumps(described | {"format": "other"}))
    with pytest.raises(InputError, match="format 'other'"):
        load(checkpoint, f"base+lora:{tmp_path}")


def test_a_full_fine_tune_keeps_its_base_to_write(base: Path, tmp_path: Path):
    network, meta, folder = tiny.write_checkpoint(tmp_path / "full", base)
    with torch.no_grad():
        for name in network.backbone.family.targets():
            network.backbone.weights[name] = network.backbone.weights[name] * 1.5
    save_checkpoint(folder, network, meta)
    model = load(folder, "base")
    assert model.reads_twice
    plain = Backbone.load(base)
    assert all(torch.equal(model.writer.backbone.weights[name], plain.weights[name]) for name in plain.weights)
    assert set(fill(model, CONTEXT, SCHEMA)["value"]) == set(SCHEMA["properties"])
