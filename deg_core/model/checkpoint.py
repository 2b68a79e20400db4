"""Checkpoints: a folder with deg.json and safetensors, written whole or not at all (contract section 12.7).

deg.json names the base and its hash; adapters.safetensors holds low-rank adapters, backbone.safetensors
the weights of a full fine-tune, heads.safetensors the heads and temperatures.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file

from deg_core.artifacts import Home, sync_folder
from deg_core.config import ArrayMode, GenLayout
from deg_core.contract.errors import InputError
from deg_core.model.backbone import Backbone
from deg_core.model.bases import base_folder, base_hash
from deg_core.model.heads import Heads
from deg_core.model.network import Network
from deg_core.model.queries import QueryLayout
from deg_core.model.tokens import Tokens

FORMAT = "deg-checkpoint-v1"
HEADS, ADAPTERS, BACKBONE = "heads.safetensors", "adapters.safetensors", "backbone.safetensors"


@dataclass
class CheckpointMeta:
    """deg.json: base and its content hash, adapter settings, the step, how it is asked, and where it came from."""

    base: str
    base_hash: str
    lora_rank: int
    lora_alpha: float
    lora_context: str
    step: int
    array_mode: ArrayMode = "index"
    anchor_min_tokens: int = 0
    gen_layout: GenLayout = "deg"
    format: str = FORMAT
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def layout(self) -> QueryLayout:
        """How it is asked."""
        return QueryLayout(self.array_mode, self.anchor_min_tokens, self.gen_layout)


def save_checkpoint(folder: str | Path, network: Network, meta: CheckpointMeta) -> Path:
    """Write a network's checkpoint as write_checkpoint does."""
    files = {HEADS: {name: tensor.detach().cpu().contiguous() for name, tensor in network.heads.state_dict().items()}}
    if meta.lora_rank:
        files[ADAPTERS] = {
            f"{name}.lora_{letter}": half.detach().to("cpu", torch.bfloat16).contiguous()
            for name, pair in network.adapters.items()
            for letter, half in zip("AB", pair, strict=True)
        }
    else:
        trained = {name: network.backbone.weights[name] for name in full_weight_names(network.backbone)}
        files[BACKBONE] = {name: tensor.detach().cpu().contiguous() for name, tensor in trained.items()}
    return write_checkpoint(folder, files, meta)


def write_checkpoint(folder: str | Path, files: Mapping[str, dict[str, torch.Tensor]], meta: CheckpointMeta) -> Path:
    """Write a checkpoint folder whole or not at all; an older one of that name is replaced. files: name -> tensors."""
    target = Path(folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        for name, tensors in files.items():
            save_file(tensors, scratch / name)
        (scratch / "deg.json").write_text(json.dumps(asdict(meta), indent=1, sort_keys=True))
        for path in scratch.iterdir():
            with open(path, "rb") as file:
                os.fsync(file.fileno())
            path.chmod(0o644)
        scratch.chmod(0o755)
        _replace(target, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return target


def copy_checkpoint(source: Path, target: Path) -> None:
    """Copy a checkpoint folder, whole or not at all; an older one of that name is replaced."""
    scratch = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        copied = Path(shutil.copytree(source, scratch / target.name))
        _replace(target, copied)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _replace(target: Path, new: Path) -> None:
    """Give a folder its name; an older one of that name goes in one piece and is deleted under another."""
    older = None
    if target.exists():
        older = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.")) / "older"
        target.rename(older)
    new.rename(target)
    sync_folder(target.parent)
    if older is not None:
        shutil.rmtree(older.parent)


def read_meta(folder: str | Path) -> CheckpointMeta:
    """deg.json of a checkpoint; raises InputError when it is missing or of another format."""
    path = Path(folder) / "deg.json"
    if not path.is_file():
        raise InputError(f"{folder} is no checkpoint: it has no deg.json")
    try:
        meta = CheckpointMeta(**json.loads(path.read_text()))
    except (ValueError, TypeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    if meta.format != FORMAT:
        raise InputError(f"{path} has format {meta.format!r}; this version reads {FORMAT!r}")
    return meta


def checkpoint_layout(folder: str | Path) -> QueryLayout:
    """How a checkpoint is asked. Raises InputError as read_meta does."""
    return read_meta(folder).layout


def check_heads(folder: str | Path) -> None:
    """Refuse a checkpoint whose heads this version does not have, without loading it. Raises InputError."""
    read_meta(folder)
    path = Path(folder) / "heads.safetensors"
    try:
        with safe_open(path, "pt") as file:
            found = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118 - no mapping
        hidden = found["choice.query.weight"][1]
    except (OSError, SafetensorError, KeyError, IndexError) as error:
        raise InputError(f"{path} holds no heads ({error})") from error
    with torch.device("meta"):
        expected = {name: tuple(tensor.shape) for name, tensor in Heads(hidden).state_dict().items()}
    if found != expected:
        names = sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))
        raise InputError(f"{folder} has heads of another version ({', '.join(names[:3])} differ); train it again")


def load_network(
    folder: str | Path, home: Home, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
) -> tuple[Network, CheckpointMeta]:
    """Load a checkpoint with its base; raises InputError when they do not belong together."""
    folder = Path(folder)
    meta = read_meta(folder)
    base = base_folder(meta.base, home)
    if base_hash(base) != meta.base_hash:
        raise InputError(f"the base {meta.base!r} is not the one that {folder} was trained on (its content differs)")
    backbone = Backbone.load(base, device, dtype)
    heads = Heads(backbone.shape.hidden).to(device)
    adapters = {}
    try:
        heads.load_state_dict(load_file(folder / "heads.safetensors", device=str(device)))
        if meta.lora_rank:
            halves = load_file(folder / "adapters.safetensors", device=str(device))
            _check_shapes(halves, _adapter_shapes(backbone, meta.lora_rank))
            for name in backbone.family.targets():
                adapters[name] = (halves[f"{name}.lora_A"].to(dtype), halves[f"{name}.lora_B"].to(dtype))
        else:
            trained = load_file(folder / "backbone.safetensors", device=str(device))
            _check_shapes(trained, {n: tuple(backbone.weights[n].shape) for n in full_weight_names(backbone)})
            backbone.weights |= {name: tensor.to(dtype) for name, tensor in trained.items()}
    except (OSError, RuntimeError, ValueError, SafetensorError) as error:
        raise InputError(f"{folder} is damaged or of another base: {error}") from error
    scale = meta.lora_alpha / meta.lora_rank if meta.lora_rank else 1.0
    tokens = Tokens.load(base)
    return Network(backbone, heads, tokens, adapters, scale, meta.lora_context == "adapter"), meta


def _adapter_shapes(backbone: Backbone, rank: int) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {}
    for name, (inputs, outputs) in backbone.family.targets().items():
        shapes |= {f"{name}.lora_A": (rank, inputs), f"{name}.lora_B": (outputs, rank)}
    return shapes


def _check_shapes(found: Mapping[str, torch.Tensor], expected: Mapping[str, tuple[int, ...]]) -> None:
    """Raise ValueError when a file's tensors are not these, by name and shape."""
    if found.keys() != expected.keys():
        missing, extra = sorted(expected.keys() - found.keys()), sorted(found.keys() - expected.keys())
        raise ValueError(f"it lacks the tensors {missing[:3]} and has {extra[:3]} too many")
    for name, tensor in found.items():
        if tuple(tensor.shape) != expected[name]:
            raise ValueError(f"{name} has the shape {tuple(tensor.shape)}, not {expected[name]}")


def full_weight_names(backbone: Backbone) -> list[str]:
    """Weights that full fine-tuning trains: all but the embeddings and the LM head (contract 12.4)."""
    return sorted(name for name in backbone.weights if name not in ("embed", "lm_head"))
