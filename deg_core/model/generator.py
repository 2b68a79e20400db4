"""An adapter for the base that writes generated text: a folder of its own (contract section 12.7).

generator.json: format, base and its hash, rank, alpha and where it came from. lora.safetensors: <module>.lora_A [r, in]
and <module>.lora_B [out, r], named by the modules of the base's own Hugging Face weights.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save

from deg_core.artifacts import write_atomically
from deg_core.contract.errors import InputError
from deg_core.model.adapters import Adapters
from deg_core.model.checkpoint import read_meta

FORMAT = "deg-generator-lora-v1"
DESCRIPTION = "generator.json"
WEIGHTS = "lora.safetensors"
WEIGHT = ".weight"


@dataclass
class GeneratorMeta:
    """generator.json."""

    base: str
    base_hash: str
    rank: int
    alpha: float
    format: str = FORMAT
    training: dict[str, Any] = field(default_factory=dict)


def export_generator(checkpoint: Path, base: Path, family: Any, folder: Path) -> list[Path]:
    """Write a checkpoint's adapters as a generator folder; its files.

    base: the folder of its base. family: of that base.
    """
    meta = read_meta(checkpoint)
    halves = load_file(checkpoint / "adapters.safetensors")
    pairs = {name: (halves[f"{name}.lora_A"], halves[f"{name}.lora_B"]) for name in family.targets()}
    training = {"step": meta.step, **meta.provenance}
    described = GeneratorMeta(meta.base, meta.base_hash, meta.lora_rank, meta.lora_alpha, training=training)
    write_atomically(folder / WEIGHTS, save(by_module(pairs, module_rows(base, family))))
    write_atomically(folder / DESCRIPTION, json.dumps(asdict(described), indent=1, sort_keys=True).encode())
    return [folder / DESCRIPTION, folder / WEIGHTS]


def module_rows(base: Path, family: Any) -> dict[str, tuple[str, torch.Tensor]]:
    """For each module of the base that an adapter may change: the projection it is a part of, and its rows there, int64.

    Found by loading numbered rows in the place of weights, so that it holds for whatever a family fuses or reorders.
    """
    sizes: dict[str, list[int]] = {}
    for path in sorted(base.glob("*.safetensors")):
        with safe_open(path, framework="pt") as file:
            sizes |= {name: file.get_slice(name).get_shape() for name in file.keys()}  # noqa: SIM118 - no mapping
    names, counts = list(sizes), torch.tensor([shape[0] if shape else 1 for shape in sizes.values()])
    ends = counts.cumsum(0)
    rows = torch.arange(int(ends[-1])).split(counts.tolist())
    shapes = [
        [len(own), *[1] * (len(shape) - 1)] if shape else [] for own, shape in zip(rows, sizes.values(), strict=True)
    ]
    loaded = family.load({name: own.view(shape) for name, own, shape in zip(names, rows, shapes, strict=True)})
    found: dict[str, tuple[str, torch.Tensor]] = {}
    for projection in family.targets():
        placed = loaded[projection].flatten()
        owners = torch.searchsorted(ends, placed, right=True)
        for owner in owners.unique().tolist():
            at = torch.nonzero(owners == owner).flatten()
            found[names[owner].removesuffix(WEIGHT)] = (projection, at[placed[at].argsort()])
    return found


def by_module(adapters: Adapters, rows: Mapping[str, tuple[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """Adapters of fused projections as those of the base's modules; modules of one projection have the same A."""
    found: dict[str, torch.Tensor] = {}
    for module, (projection, places) in rows.items():
        down, up = adapters[projection]
        found[f"{module}.lora_A"], found[f"{module}.lora_B"] = down.clone(), up[places]
    return found


def read_generator(folder: str | Path) -> GeneratorMeta:
    """generator.json of a generator folder; raises InputError when it is missing or of another format."""
    path = Path(folder) / DESCRIPTION
    if not path.is_file():
        raise InputError(f"{folder} is no generator: it has no {DESCRIPTION}; `deg train-generator` writes one")
    try:
        meta = GeneratorMeta(**json.loads(path.read_text()))
    except (ValueError, TypeError) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    if meta.format != FORMAT:
        raise InputError(f"{path} has format {meta.format!r}; this version reads {FORMAT!r}")
    return meta


def merge_generator(tensors: Mapping[str, torch.Tensor], folder: Path) -> dict[str, torch.Tensor]:
    """A base's Hugging Face tensors with a generator's adapter added: W + alpha / r * B A in float32.

    Raises InputError when the folder is damaged, or holds a module that the base has not or in another shape.
    """
    meta = read_generator(folder)
    try:
        halves = load_file(folder / WEIGHTS)
    except (OSError, SafetensorError) as error:
        raise InputError(f"{folder / WEIGHTS} is damaged: {error}; train the generator again") from error
    merged = dict(tensors)
    modules = sorted({name.rpartition(".lora_")[0] for name in halves})
    for module in modules:
        down, up, weight = (
            halves.get(f"{module}.lora_A"),
            halves.get(f"{module}.lora_B"),
            tensors.get(module + WEIGHT),
        )
        if down is None or up is None or weight is None or weight.shape != (len(up), down.shape[-1]):
            raise InputError(f"{folder} does not fit the base at {module}; it was made for {meta.base!r}")
        merged[module + WEIGHT] = weight.float() + meta.alpha / meta.rank * (up.float() @ down.float())
    return merged
