"""Checkpoints: what comes back, what is refused, and that a folder is whole or not there."""

import json
import shutil
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file, save_file

from deg_core.artifacts import Home, hash_tree
from deg_core.contract.errors import InputError
from deg_core.model import checkpoint
from deg_core.model import model as model_module
from deg_core.model.average import average_checkpoints
from deg_core.model.checkpoint import full_weight_names, load_network, read_meta, save_checkpoint
from deg_core.model.model import load_model, pick_dtype, pick_precision
from tests.model import tiny
from tests.model.tiny import NEEDS_INT8


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home")


@pytest.fixture(params=[0, 4], ids=["full", "lora"])
def saved(request, base, tmp_path):
    """(network, meta, folder) of a checkpoint; a full one has trained weights."""
    network, meta, folder = tiny.write_checkpoint(tmp_path / "checkpoint", base, request.param)
    with torch.no_grad():
        network.heads.temperatures.copy_(torch.tensor([1.5, 0.5, 2.0, 0.7]))
        for name in () if request.param else full_weight_names(network.backbone):
            network.backbone.weights[name].mul_(1.01)
        for pair in network.adapters.values():
            for half in pair:
                half.copy_(half.bfloat16())
    return network, meta, save_checkpoint(folder, network, meta)


def test_a_round_trip_gives_the_same_bits(saved, home):
    network, meta, folder = saved
    loaded, found = load_network(folder, home)
    assert found == meta
    for one, other in zip(loaded.heads.state_dict().items(), network.heads.state_dict().items(), strict=True):
        assert one[0] == other[0] and torch.equal(one[1], other[1])
    assert loaded.adapters.keys() == network.adapters.keys()
    for name, pair in network.adapters.items():
        assert all(torch.equal(a, b) for a, b in zip(pair, loaded.adapters[name], strict=True))
    assert loaded.backbone.weights.keys() == network.backbone.weights.keys()
    for name, weight in network.backbone.weights.items():
        assert torch.equal(weight, loaded.backbone.weights[name]), name


def test_a_loaded_network_answers_alike(saved, home):
    network, _, folder = saved
    loaded, meta = load_network(folder, home)
    network.scale = meta.lora_alpha / meta.lora_rank if meta.lora_rank else 1.0
    context = network.tokens.encode_context("Invoice 4711.").ids
    with torch.no_grad():
        one, other = (n.read([context], exact=True).around[0] for n in (network, loaded))
    assert torch.equal(one, other)


@pytest.mark.parametrize("name", ["heads.safetensors", "weights"])
@pytest.mark.parametrize("damage", ["cut", "empty", "gone", "other"])
def test_a_damaged_file_is_an_input_error(saved, home, name, damage):
    _, meta, folder = saved
    weights = "adapters.safetensors" if meta.lora_rank else "backbone.safetensors"
    path = folder / (weights if name == "weights" else name)
    data = path.read_bytes()
    if damage == "gone":
        path.unlink()
    elif damage == "other":
        shutil.copy(folder / (weights if path.name == "heads.safetensors" else "heads.safetensors"), path)
    else:
        path.write_bytes(data[: len(data) // 2] if damage == "cut" else b"")
    with pytest.raises(InputError, match="damaged"):
        load_network(folder, home)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "cannot be read"),
        ('{"base": "x"}', "cannot be read"),
        ("[1]", "cannot be read"),
        (None, "has no deg.json"),
    ],
)
def test_a_bad_description_is_an_input_error(saved, text, message):
    path = saved[2] / "deg.json"
    path.unlink()
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_meta(saved[2])


def test_a_checkpoint_of_another_format_or_base_is_refused(saved, home, tmp_path):
    _, meta, folder = saved
    described = json.loads((folder / "deg.json").read_text())
    (folder / "deg.json").write_text(json.dumps(described | {"format": "deg-checkpoint-v0"}))
    with pytest.raises(InputError, match="deg-checkpoint-v0"):
        load_network(folder, home)
    other = tmp_path / "other"
    shutil.copytree(meta.base, other)
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(config | {"rms_norm_eps": 1e-3}))
    (folder / "deg.json").write_text(json.dumps(described | {"base": str(other)}))
    with pytest.raises(InputError, match="not the one"):
        load_network(folder, home)
    (folder / "deg.json").write_text(json.dumps(described | {"base": str(tmp_path / "nowhere")}))
    with pytest.raises(InputError, match="nowhere"):
        load_network(folder, home)


def test_saving_replaces_a_folder_and_leaves_nothing_else(saved):
    network, meta, folder = saved
    meta.step = 8
    (folder / "stray").write_text("of the older one")
    save_checkpoint(folder, network, meta)
    assert read_meta(folder).step == 8 and not (folder / "stray").exists()
    assert [path.name for path in folder.parent.iterdir() if path.name.startswith(".")] == []


def test_a_save_that_dies_while_deleting_the_older_one_leaves_a_whole_folder(saved, home, monkeypatch):
    network, meta, folder = saved
    meta.step = 8

    def dies(path, ignore_errors=False):
        for file in [file for file in path.rglob("*") if file.is_file()][:1]:
            file.unlink()
            raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(checkpoint.shutil, "rmtree", dies)
        save_checkpoint(folder, network, meta)
    assert load_network(folder, home)[1].step == 8


def test_a_save_that_fails_leaves_the_older_one(saved, home, monkeypatch):
    network, meta, folder = saved
    expected = {path.name: path.read_bytes() for path in folder.iterdir()}

    def full_disk(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoint.json, "dumps", full_disk)
    with pytest.raises(OSError, match="No space"):
        save_checkpoint(folder, network, meta)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == expected
    assert [path.name for path in folder.parent.iterdir() if path.name.startswith(".")] == []


def test_a_model_without_a_checkpoint_is_an_input_error(home, monkeypatch):
    monkeypatch.setattr("deg_core.model.model.shipped_checkpoint", lambda: None)
    with pytest.raises(InputError, match="no champion"):
        load_model(home=home)
    with pytest.raises(InputError, match=r"no deg\.json"):
        load_model(home.root / "nothing", home=home)


def test_compute_types_are_named():
    cpu = torch.device("cpu")
    assert pick_dtype("float32", cpu) is torch.float32 and pick_dtype(torch.bfloat16, cpu) is torch.bfloat16
    assert pick_dtype(None, cpu) is pick_dtype("auto", cpu)
    with pytest.raises(InputError, match="float8"):
        pick_dtype("float8", cpu)


@NEEDS_INT8
def test_auto_takes_int8_where_the_machine_has_it(monkeypatch):
    cpu = torch.device("cpu")
    trained = pick_dtype(None, cpu)
    assert pick_precision("float32", cpu) == (torch.float32, False)
    assert pick_precision("int8", cpu) == (trained, True)
    for vnni in (True, False):
        monkeypatch.setattr(torch.cpu, "_is_vnni_supported", lambda vnni=vnni: vnni)
        assert pick_precision(None, cpu) == pick_precision("auto", cpu) == (trained, vnni)
    monkeypatch.setattr(model_module, "int8_is_exact", lambda: False)
    assert pick_precision("auto", cpu) == (trained, False)
    with pytest.raises(InputError, match="lacks VNNI"):
        pick_precision("int8", cpu)
    with pytest.raises(InputError, match="int8 is for the CPU"):
        pick_precision("int8", torch.device("meta"))


@pytest.fixture
def later(saved, tmp_path):
    """A checkpoint that was trained on from the saved one."""
    network, meta, _ = saved
    with torch.no_grad():
        for tensor in (*network.heads.parameters(), *(half for pair in network.adapters.values() for half in pair)):
            tensor.add_(0.5)
        for name in () if network.adapters else full_weight_names(network.backbone):
            network.backbone.weights[name].add_(0.5)
    return save_checkpoint(tmp_path / "later", network, replace(meta, step=meta.step + 7, provenance={"world": 1}))


def tensors_of(folder):
    return {
        f"{path.name} {name}": tensor
        for path in folder.glob("*.safetensors")
        for name, tensor in load_file(path).items()
    }


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_an_average_lies_between_two_checkpoints(saved, later, tmp_path, home, share):
    _, meta, first = saved
    made = average_checkpoints(first, later, share, tmp_path / "made")
    one, other, found = tensors_of(first), tensors_of(later), tensors_of(made)
    assert found.keys() == one.keys() == other.keys()
    for name, tensor in found.items():
        assert tensor.dtype == other[name].dtype
        expected = (1 - share) * one[name].double() + share * other[name].double()
        assert torch.equal(tensor, expected.to(tensor.dtype)) or torch.allclose(tensor.double(), expected, rtol=1e-7)
    loaded, about = load_network(made, home)
    assert about.step == meta.step + 7 and about.provenance["world"] == 1
    assert about.provenance["average"] == {"first": hash_tree(first), "second": hash_tree(later), "share": share}
    assert loaded.heads.temperatures.isfinite().all()


@pytest.mark.parametrize(
    ("name", "value"), [("lora_alpha", 3.0), ("lora_context", "adapter"), ("array_mode", "anchor")]
)
def test_checkpoints_that_are_made_for_other_things_are_not_averaged(saved, tmp_path, name, value):
    network, meta, first = saved
    changed = {"base": "adapter", "adapter": "base"}.get(meta.lora_context) if name == "lora_context" else value
    other = save_checkpoint(tmp_path / "other", network, replace(meta, **{name: changed}))
    with pytest.raises(InputError, match=name if name != "array_mode" else "layout"):
        average_checkpoints(first, other, 0.5, tmp_path / "made")
    assert not (tmp_path / "made").exists()


def test_averages_of_nothing_sensible_are_refused(saved, later, tmp_path):
    _, _, first = saved
    with pytest.raises(InputError, match="not within 0 to 1"):
        average_checkpoints(first, later, 1.5, tmp_path / "made")
    with pytest.raises(InputError, match="name a new folder"):
        average_checkpoints(first, later, 0.5, later)
    with pytest.raises(InputError, match="no checkpoint"):
        average_checkpoints(first, tmp_path / "nowhere", 0.5, tmp_path / "made")
    (name,) = [path.name for path in later.glob("*.safetensors") if path.name != "heads.safetensors"]
    save_file({"other": torch.zeros(1)}, later / name)
    with pytest.raises(InputError, match="hold other tensors: "):
        average_checkpoints(first, later, 0.5, tmp_path / "made")
    (later / name).write_bytes(b"no tensors")
    with pytest.raises(InputError, match="cannot be read"):
        average_checkpoints(first, later, 0.5, tmp_path / "made")
    assert not (tmp_path / "made").exists()
