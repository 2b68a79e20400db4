"""The checkpoint between two others: their weights averaged (arXiv:2109.01903, arXiv:2203.05482).

Where one was trained on from the other, what lies between them was seen to keep what the first knew beside what the
second learned; of two that began apart nothing of the kind is to be expected.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from deg_core.artifacts import hash_tree
from deg_core.contract.errors import InputError
from deg_core.model.checkpoint import ADAPTERS, BACKBONE, HEADS, check_heads, read_meta, write_checkpoint

ALIKE = ("base_hash", "lora_rank", "lora_alpha", "lora_context", "layout")


def average_checkpoints(first: Path, second: Path, share: float, target: Path) -> Path:
    """Write (1 - share) first + share second, number by number and each in the type of the second.

    The temperatures are averaged too; `deg calibrate` fits them anew. Raises InputError when share is not within 0 to 1,
    target exists, or the two differ in what they are made for or in the tensors that they hold.
    """
    if not 0 <= share <= 1:
        raise InputError(f"share {share} is not within 0 to 1")
    if target.exists():
        raise InputError(f"{target} is there already; name a new folder")
    one, other = read_meta(first), read_meta(second)
    for name in ALIKE:
        if getattr(one, name) != getattr(other, name):
            raise InputError(
                f"{first} and {second} cannot be averaged: {name} is {getattr(one, name)} and {getattr(other, name)}"
            )
    check_heads(first)
    check_heads(second)
    files = {
        name: _between(first / name, second / name, share)
        for name in (HEADS, ADAPTERS if other.lora_rank else BACKBONE)
    }
    made_of = {"first": hash_tree(first), "second": hash_tree(second), "share": share}
    meta = replace(other, provenance={**other.provenance, "average": made_of})
    return write_checkpoint(target, files, meta)


def _between(first: Path, second: Path, share: float) -> dict[str, torch.Tensor]:
    try:
        one, other = load_file(first), load_file(second)
    except (OSError, SafetensorError) as error:
        raise InputError(f"{first.name} of the two cannot be read: {error}") from error
    differing = [
        name
        for name in sorted(one.keys() | other.keys())
        if name not in one or name not in other or one[name].shape != other[name].shape
    ]
    if differing:
        raise InputError(f"{first} and {second} hold other tensors: {', '.join(differing[:3])}")
    return {
        name: torch.lerp(one[name].double(), tensor.double(), share).to(tensor.dtype) for name, tensor in other.items()
    }
