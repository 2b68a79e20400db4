"""A network with its trainable parameters, fresh or from a checkpoint."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import load_file

from deg_core.artifacts import Home
from deg_core.config import TrainSettings
from deg_core.contract.errors import InputError
from deg_core.model.adapters import fresh_adapters
from deg_core.model.backbone import Backbone
from deg_core.model.checkpoint import check_heads, full_weight_names, load_network, read_meta
from deg_core.model.fork import first_word_token
from deg_core.model.heads import Heads
from deg_core.model.network import Network
from deg_core.model.tokens import Tokens
from deg_core.training.divergence import BaseDivergence
from deg_core.training.optimizer import ParameterGroup
from deg_core.training.step import run_part


def build_network(
    settings: TrainSettings, base: Path, init: Path | None, home: Home, device: torch.device, dtype: torch.dtype
) -> Network:
    """A network to train, its temperatures at 1.

    Raises InputError when the checkpoint to start from has other adapters than the settings ask for, or init_heads
    names none with heads for this base.
    """
    if init is not None:
        check_init(settings, init)
        network, _ = load_network(init, home, device, dtype)
        if settings.init_heads:
            network.heads = start_heads(settings, network.backbone, network.tokens).to(device)
        with torch.no_grad():
            network.heads.temperatures.fill_(1.0)
        return network
    backbone = Backbone.load(base, device, dtype)
    tokens = Tokens.load(base)
    heads = start_heads(settings, backbone, tokens).to(device)
    rank = settings.lora_rank
    adapters = fresh_adapters(backbone.family.targets(), rank, settings.seed, device, dtype) if rank else {}
    scale = settings.lora_alpha / rank if rank else 1.0
    return Network(backbone, heads, tokens, adapters, scale, settings.lora_context == "adapter")


def start_heads(settings: TrainSettings, backbone: Backbone, tokens: Tokens) -> Heads:
    """The heads that init_heads means, on the CPU. Raises InputError when it is a folder without heads for this base."""
    if settings.init_heads in ("", "readout"):
        yes_no = (first_word_token(tokens, "yes"), first_word_token(tokens, "no"))
        return Heads.fresh(backbone.weights["lm_head"].cpu(), yes_no, settings.seed)
    if settings.init_heads == "random":
        return Heads.random(backbone.shape.hidden, settings.seed)
    check_heads(settings.init_heads)
    heads = Heads(backbone.shape.hidden)
    try:
        heads.load_state_dict(load_file(Path(settings.init_heads) / "heads.safetensors"))
    except RuntimeError as error:
        raise InputError(f"the heads of {settings.init_heads} are of another base than {settings.base}") from error
    with torch.no_grad():
        heads.temperatures.fill_(1.0)
    return heads


def part_runner(network: Network, settings: TrainSettings, base: Path) -> Callable[..., dict[str, float]]:
    """What runs a part: with lm_kl_base beside the frozen base, which full fine-tuning needs a copy of."""
    if not settings.lm_kl_base:
        return run_part
    backbone = network.backbone
    return BaseDivergence(network, None if network.adapters else Backbone.load(base, backbone.device, backbone.dtype))


def check_init(settings: TrainSettings, init: Path) -> None:
    """Raise InputError when a checkpoint cannot be the start of a run with these settings."""
    meta = read_meta(init)
    asked = {"base": settings.base, "lora_rank": settings.lora_rank, "lora_context": settings.lora_context}
    if settings.lora_rank:
        asked["lora_alpha"] = settings.lora_alpha
    wrong = [
        f"{name} {getattr(meta, name)!r} (asked: {value!r})"
        for name, value in asked.items()
        if getattr(meta, name) != value
    ]
    if wrong:
        raise InputError(f"{init} has {', '.join(wrong)}; change the settings or start with init: fresh")


def trainable_groups(network: Network, settings: TrainSettings) -> list[ParameterGroup]:
    """Trunk (adapters, or every weight but the embeddings; nothing with freeze_backbone) and heads, as leaves that ask
    for gradients."""
    if network.adapters:
        trunk = {
            f"{name}.{letter}": half
            for name, pair in network.adapters.items()
            for letter, half in zip("AB", pair, strict=True)
        }
    else:
        trunk = {name: network.backbone.weights[name] for name in full_weight_names(network.backbone)}
    heads = {f"heads.{name}": parameter for name, parameter in network.heads.named_parameters()}
    if settings.freeze_backbone:
        trunk = {}
    for tensor in trunk.values():
        tensor.requires_grad_(True)
    return [
        ParameterGroup(
            tuple(trunk), tuple(trunk.values()), settings.lr_trunk, settings.weight_decay, settings.heads_only_steps
        ),
        ParameterGroup(tuple(heads), tuple(heads.values()), settings.lr_heads, settings.weight_decay),
    ]
