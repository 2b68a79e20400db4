"""A loaded checkpoint, ready to fill."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

from deg_core.artifacts import Home
from deg_core.contract.errors import InputError
from deg_core.model.backbone import Backbone
from deg_core.model.bases import base_folder
from deg_core.model.checkpoint import CheckpointMeta, load_network
from deg_core.model.generator import merge_generator, read_generator
from deg_core.model.network import Network
from deg_core.model.projection import int8_is_exact
from deg_core.model.tokens import Tokens
from deg_core.registry.models import champion

INT8 = "int8"
CHECKPOINT, BASE, BASE_LORA = "model", "base", "base+lora"
MODEL_ID = "deg-{base}-0.1"


class Model:
    """A network in inference.

    name: the id that responses carry. layout: how it is asked. path: the checkpoint folder.
    base_folder: the backbone's folder. writer: what writes generated text, itself unless load_model was told otherwise.
    """

    def __init__(self, network: Network, meta: CheckpointMeta, path: Path, base: Path, writer: Network | None = None):
        self.network = network
        self.writer = writer or network
        self.meta = meta
        self.layout = meta.layout if writer is None else replace(meta.layout, gen_layout="chat")
        self.path = path
        self.base_folder = base
        self.name = MODEL_ID.format(base=Path(meta.base).name)

    @property
    def reads_twice(self) -> bool:
        """Whether the writer reads contexts by other weights than the rest, so that they are read once more for it."""
        shared = self.writer.backbone is self.network.backbone
        return self.writer is not self.network and (not shared or self.network.context_adapted)

    @property
    def tokens(self) -> Tokens:
        return self.network.tokens

    @property
    def backbone(self) -> Backbone:
        return self.network.backbone

    @property
    def device(self) -> torch.device:
        return self.backbone.device

    @property
    def dtype(self) -> torch.dtype:
        return self.backbone.dtype


def load_model(
    path: str | Path | None = None,
    *,
    device: str | torch.device | None = None,
    dtype: str | torch.dtype | None = None,
    generate: str = CHECKPOINT,
    home: Home | None = None,
) -> Model:
    """Load a checkpoint folder, else the champion of DEG_HOME, else the checkpoint that ships.

    device: default CUDA where there is one, else the CPU. dtype: float32, bfloat16, int8 (on the CPU: most products of
    rounded weights, everything else as in training) or "auto" (default: see pick_precision). generate: who writes
    generated text: "model", the checkpoint; "base", its base as it is; "base+lora:FOLDER", the base with the adapter of a
    generator folder. Raises InputError when there is nothing to load.
    """
    home = home or Home()
    folder = Path(path) if path is not None else champion(home) or shipped_checkpoint()
    if folder is None:
        raise InputError("there is no champion and no checkpoint ships; run `deg nightly` or name a checkpoint folder")
    where = pick_device(device)
    compute, rounded = pick_precision(dtype, where)
    network, meta = load_network(folder, home, where, compute)
    network.int8 = rounded
    network.heads.requires_grad_(False)
    base = base_folder(meta.base, home)
    return Model(network, meta, folder, base, load_writer(generate, network, meta, base))


def load_writer(generate: str, network: Network, meta: CheckpointMeta, base: Path) -> Network | None:
    """What `generate` of load_model names beside a checkpoint's network; None = the checkpoint itself.

    Raises InputError when it names nothing, or a generator of another base.
    """
    if generate == CHECKPOINT:
        return None
    if generate == BASE and network.adapters:
        return network.without_adapters()
    kind, _, named = generate.partition(":")
    change = None
    if kind == BASE_LORA and named:
        folder = Path(named)
        if read_generator(folder).base_hash != meta.base_hash:
            raise InputError(f"{folder} was trained on another base than {meta.base!r} of the checkpoint")
        change = partial(merge_generator, folder=folder)
    elif generate != BASE:
        raise InputError(f"generate is {generate!r}; give '{CHECKPOINT}', '{BASE}' or '{BASE_LORA}:FOLDER'")
    backbone = Backbone.load(base, network.backbone.device, network.backbone.dtype, change)
    writer = Network(backbone, network.heads, network.tokens)
    writer.int8 = network.int8
    return writer


def pick_device(device: str | torch.device | None) -> torch.device:
    """The device of a setting: None or "auto" picks CUDA where there is one."""
    if device in (None, "auto"):
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return torch.device(device)


def pick_precision(dtype: str | torch.dtype | None, device: torch.device) -> tuple[torch.dtype, bool]:
    """The compute type of inference, and whether products are taken in int8 where that pays.

    None or "auto": int8 on a CPU with instructions for it, which was seen to be as accurate and faster. The machine's
    instructions decide and not a stopwatch, so that the same machine gives the same bits every time.
    Raises InputError for int8 where it is not exact.
    """
    automatic = dtype in (None, "auto")
    if not automatic and dtype != INT8:
        return pick_dtype(dtype, device), False
    able = device.type == "cpu" and int8_is_exact()
    if dtype == INT8 and device.type != "cpu":
        raise InputError(f"dtype int8 is for the CPU, not for {device.type}; use bfloat16 there")
    if dtype == INT8 and not able:
        raise InputError("dtype int8 is not exact on this CPU, which lacks VNNI; use float32 or auto")
    return pick_dtype(None, device), able and (dtype == INT8 or torch.cpu._is_vnni_supported())


def pick_dtype(dtype: str | torch.dtype | None, device: torch.device) -> torch.dtype:
    """The compute type of training: None or "auto" picks bfloat16 where the device multiplies it fast."""
    if isinstance(dtype, torch.dtype):
        return dtype
    if dtype in (None, "auto"):
        fast = device.type == "cuda" or torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
        return torch.bfloat16 if fast else torch.float32
    if dtype not in ("float32", "bfloat16"):
        raise InputError(f"dtype {dtype!r} is none of auto, float32, bfloat16, int8")
    return getattr(torch, dtype)


def shipped_checkpoint() -> Path | None:
    """The checkpoint that comes with the code (data/checkpoint), None where it was left out."""
    folder = Path(__file__).parents[2] / "data" / "checkpoint"
    return folder if (folder / "deg.json").is_file() else None
