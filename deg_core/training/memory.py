"""The memory planner: what a part will take, what fits, and what was measured (training specification, section 6)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from deg_core.config import TrainSettings
from deg_core.contract.errors import InputError
from deg_core.model.families.shape import ModelShape
from deg_core.model.network import Network
from deg_core.pools.example import Example
from deg_core.training.parts import Part, features, split

GIB = 1 << 30
FALLING = 0.9
COEFFICIENTS = "coefficients.json"
_OOM_TEXT = re.compile(r"can't allocate memory|out of memory|Cannot allocate memory", re.IGNORECASE)


@dataclass
class MemoryPlan:
    """Estimates the peak of a part: static bytes + scale * (coefficients . features).

    coefficients: bytes per unit of each feature. scale: correction from what was measured.
    target_bytes: what the process may take, static bytes included.
    """

    shape: ModelShape
    static_bytes: float
    coefficients: Mapping[str, float]
    target_bytes: float
    scale: float = 1.0

    def features(self, part: Part) -> dict[str, float]:
        """The features that the coefficients multiply."""
        return features(part, self.shape)

    def variable(self, part: Part) -> float:
        """Bytes beyond the static ones, before the running correction."""
        found = self.features(part)
        return sum(self.coefficients[name] * found[name] for name in found)

    def estimate(self, part: Part) -> float:
        """Expected peak in bytes."""
        return self.static_bytes + self.scale * self.variable(part)

    def fits(self, part: Part) -> bool:
        """Whether the estimate stays within the target."""
        return self.estimate(part) <= self.target_bytes

    def plan(self, examples: Sequence[Example]) -> list[Part]:
        """Cut a batch into parts that fit, each fork in exactly one; a part that cannot be cut further stays."""
        waiting, planned = [Part.whole(examples)], []
        while waiting:
            part = waiting.pop()
            halves = None if self.fits(part) else split(part)
            if halves is None:
                planned.append(part)
            else:
                waiting.extend(reversed(halves))
        return planned

    def observe(self, part: Part, peak_bytes: float) -> None:
        """Correct the scale: at once where the estimate was too low, slowly where it was too high."""
        variable = self.variable(part)
        if variable <= 0:
            return
        seen = max(peak_bytes - self.static_bytes, 0.0) / variable
        self.scale = seen if seen > self.scale else FALLING * self.scale + (1 - FALLING) * seen


def analytic_coefficients(shape: ModelShape, compute_bytes: int, context_trains: bool) -> dict[str, float]:
    """Bytes per feature from the sizes of the tensors that a backward keeps."""
    widths = 6 * shape.hidden + 3 * shape.intermediate + 4 * (shape.heads + 2 * shape.kv_heads) * shape.head_dim
    kept = shape.layers * widths * compute_bytes
    state = 2 * shape.layers * shape.kv_heads * shape.head_dim * compute_bytes
    return {
        "trunk_tokens": kept if context_trains else state + widths * compute_bytes,
        "fork_tokens": kept,
        "attention_pairs": shape.layers * 2 * compute_bytes,
        "head_logits": 16.0,
        "lm_logits": 3 * 4.0,
    }


def training_plan(memory: Path | None, network: Network, settings: TrainSettings, world: int) -> MemoryPlan:
    """The plan of a run: coefficients of a memory artifact, or analytic ones; static bytes as they are now.

    Raises InputError when the artifact was made for another base, device or type.
    """
    backbone = network.backbone
    trains = network.context_adapted or not network.adapters
    coefficients = analytic_coefficients(backbone.shape, backbone.dtype.itemsize, trains)
    if memory is not None:
        saved = json.loads((memory / COEFFICIENTS).read_text())
        own = plan_key(settings.base, backbone.device, backbone.dtype, settings.lora_rank, trains)
        if saved["key"] == own:
            coefficients = saved["coefficients"]
        elif saved["key"]["base"] != own["base"]:
            raise InputError(f"{memory} was made for {saved['key']['base']}, not {own['base']}; calibrate it again")
    static = resident_bytes(backbone.device) + optimizer_growth(network, world)
    return MemoryPlan(backbone.shape, static, coefficients, settings.target_gib * GIB)


def plan_key(base: str, device: torch.device, dtype: torch.dtype, rank: int, context_trains: bool) -> dict[str, object]:
    """What coefficients hold for."""
    return {
        "base": Path(base).name,
        "device": device.type,
        "dtype": str(dtype),
        "lora": rank > 0,
        "context_trains": context_trains,
    }


def optimizer_growth(network: Network, world: int) -> float:
    """Bytes of gradients, masters and moments: 2 to 4 bytes for a gradient and 16 / world for the rest (section 7)."""
    trunk = [half for pair in network.adapters.values() for half in pair] or list(network.backbone.weights.values())
    count = sum(tensor.numel() for tensor in trunk)
    heads = sum(parameter.numel() for parameter in network.heads.parameters())
    return count * (network.backbone.dtype.itemsize + 16 / world) + heads * (4 + 12 / world)


def resident_bytes(device: torch.device) -> float:
    """Bytes that this process holds now: device memory on CUDA, resident memory on the CPU."""
    if device.type == "cuda":
        return float(torch.cuda.memory_allocated(device))
    return float(_status("VmRSS"))


def measured_peak(device: torch.device) -> float:
    """Peak bytes since the last call; starts a new measurement.

    On the CPU this is the process's high-water mark, reset through /proc/self/clear_refs.
    """
    if device.type == "cuda":
        peak = float(torch.cuda.max_memory_allocated(device))
        torch.cuda.reset_peak_memory_stats(device)
        return peak
    peak = float(_status("VmHWM"))
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")
    return peak


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise InputError(f"/proc/self/status has no {name}; the memory planner needs Linux or CUDA")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an exception means that memory ran out, on any device."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and _OOM_TEXT.search(str(error)) is not None
