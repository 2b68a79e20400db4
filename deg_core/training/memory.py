"""The memory planner: what a part will take, what fits, and what was measured (training specification, section 6).

Memory on the CPU means the process's resident memory. The heap keeps what it freed (`model.allocator`), so a peak
there is the highest of all parts so far, whichever part ran last.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from deg_core.config import TrainSettings
from deg_core.contract.errors import InputError
from deg_core.model.checkpoint import full_weight_names
from deg_core.model.families.shape import ModelShape
from deg_core.model.heads import POINTER_WIDTH, VIEWS
from deg_core.model.network import Network
from deg_core.pools.example import Example
from deg_core.training.parts import Part, features, split
from deg_core.training.zero import sharded_static_bytes

GIB = 1 << 30
FALLING = 0.97
FALLING_STAYS = 0.7
"""How much of a scale that was too high is kept: where memory stays few peaks say so, and those say it of the largest part."""
COEFFICIENTS = "coefficients.json"
_OOM_TEXT = re.compile(r"can't allocate memory|out of memory|Cannot allocate memory", re.IGNORECASE)


@dataclass
class MemoryPlan:
    """Estimates the peak of a part: static bytes + scale * (coefficients . features).

    coefficients: bytes per unit of each feature. scale: correction from what was measured.
    target_bytes: what the process may take, static bytes included. memory_stays: peaks are those of all parts
    so far (the CPU's heap), not of the last part alone. accumulation_bytes: what a step of several parts takes
    besides. source: where the coefficients are from, in words.
    """

    shape: ModelShape
    static_bytes: float
    coefficients: Mapping[str, float]
    target_bytes: float
    scale: float = 1.0
    memory_stays: bool = False
    accumulation_bytes: float = 0.0
    source: str = ""
    _largest: float = 0.0

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

    def expected_peak(self, part: Part) -> float:
        """The estimate to compare the next measured peak with, when this part runs now."""
        variable = self.variable(part)
        return self.static_bytes + self.scale * (max(variable, self._largest) if self.memory_stays else variable)

    def fits(self, part: Part, beside: float = 0.0) -> bool:
        """Whether the estimate and `beside` bytes stay within the target."""
        return self.estimate(part) + beside <= self.target_bytes

    def plan(self, examples: Sequence[Example]) -> list[Part]:
        """Cut a batch into parts that fit, each fork in exactly one; a part that cannot be cut further stays."""
        whole = Part.whole(examples)
        if self.fits(whole):
            return [whole]
        waiting, planned = [whole], []
        while waiting:
            part = waiting.pop()
            halves = None if self.fits(part, self.accumulation_bytes) else split(part)
            if halves is None:
                planned.append(part)
            else:
                waiting.extend(reversed(halves))
        return planned

    def observe(self, part: Part, peak_bytes: float) -> None:
        """Correct the scale: at once where the estimate was too low, slowly where it was too high.

        The slower, the smaller the part beside the largest so far, of which it says little. Where memory stays, a peak
        belongs to that largest part; only a part that is the largest itself shows that the estimate is too high.
        """
        variable = self.variable(part)
        self._largest = max(self._largest, variable)
        measured = self._largest if self.memory_stays else variable
        if measured <= 0:
            return
        seen = max(peak_bytes - self.static_bytes, 0.0) / measured
        if seen > self.scale:
            self.scale = seen
        elif variable == measured:
            kept = FALLING_STAYS if self.memory_stays else FALLING
            self.scale -= (1 - kept) * variable / self._largest * (self.scale - seen)

    def released(self, static_bytes: float) -> None:
        """Free memory was given back and so much stays: where memory stays, the next peak is that of the parts to come."""
        self.static_bytes = static_bytes
        if self.memory_stays:
            self._largest = 0.0


def analytic_coefficients(shape: ModelShape, compute_bytes: int, context_trains: bool) -> dict[str, float]:
    """Bytes per feature from the sizes of the tensors that a backward keeps."""
    widths = 6 * shape.hidden + 3 * shape.intermediate + 4 * (shape.heads + 2 * shape.kv_heads) * shape.head_dim
    kept = shape.layers * widths * compute_bytes
    state = 2 * shape.layers * shape.kv_heads * shape.head_dim * compute_bytes
    views = VIEWS * shape.hidden * (4 + compute_bytes)  # in float32 for the heads, and as they were read
    return {
        "parts": 16.0 * 2**20,
        "rows": 0.0,
        "trunk_tokens": views + (kept + state if context_trains else 2 * state + widths * compute_bytes),
        "long_tokens": views + 2 * state + (shape.layers * shape.hidden * compute_bytes if context_trains else 0),
        "fork_tokens": kept + state,
        "trunk_pairs": shape.layers * 2.0 * compute_bytes if context_trains else 0.0,
        "fork_pairs": shape.layers * float(compute_bytes),
        "largest_pairs": shape.layers * float(compute_bytes),
        "head_logits": 2 * 4.0 * POINTER_WIDTH,
        "lm_logits": 3 * 4.0,
    }


def training_plan(memory: Path | None, network: Network, settings: TrainSettings, world: int) -> MemoryPlan:
    """The plan of a run, made before its optimizer: coefficients of a memory artifact, or analytic ones.

    Raises InputError when the artifact is none or was made for a base of another shape.
    """
    backbone = network.backbone
    trains = network.context_adapted or not network.adapters
    coefficients = analytic_coefficients(backbone.shape, backbone.dtype.itemsize, trains)
    source = "analytic coefficients"
    if memory is not None:
        own = plan_key(network, settings.lora_rank)
        saved = read_coefficients(memory)
        if saved["key"]["shape"] != own["shape"]:
            raise InputError(
                f"{memory} was measured on another base than {settings.base}; run `deg memory` for this one"
            )
        differing = [
            f"{name} {saved['key'][name]} (now {own[name]})" for name in own if saved["key"][name] != own[name]
        ]
        if set(saved["coefficients"]) != set(coefficients):
            differing.append("other features")
        if differing:
            source += f", since {memory.name} was measured with {', '.join(differing)}"
        else:
            coefficients, source = saved["coefficients"], f"coefficients of {memory.name}"
    on_cpu = backbone.device.type == "cpu"
    frozen = settings.freeze_backbone
    static = resident_bytes(backbone.device) + optimizer_bytes(network, world, frozen)
    return MemoryPlan(
        backbone.shape,
        static,
        coefficients,
        settings.target_gib * GIB,
        memory_stays=on_cpu,
        accumulation_bytes=4.0 * sum(count for count, _ in trainable_sizes(network, frozen)) if on_cpu else 0.0,
        source=source,
    )


def read_coefficients(memory: Path) -> dict[str, Any]:
    """key and coefficients of a memory artifact; raises InputError when they are not there."""
    path = memory / COEFFICIENTS
    if not path.is_file():
        raise InputError(f"{memory} is no memory plan: it has no {COEFFICIENTS}; run `deg memory`")
    return json.loads(path.read_text())


def plan_key(network: Network, lora_rank: int) -> dict[str, Any]:
    """What coefficients hold for."""
    backbone = network.backbone
    return {
        "shape": asdict(backbone.shape),
        "device": backbone.device.type,
        "dtype": str(backbone.dtype).removeprefix("torch."),
        "lora_rank": lora_rank,
        "context_trains": network.context_adapted or not network.adapters,
    }


def trainable_sizes(network: Network, frozen: bool = False) -> list[tuple[int, int]]:
    """(elements, bytes of one) of the trainable trunk, none where frozen, in the compute type, and of the heads, float32."""
    weights = network.backbone.weights
    halves = [half for pair in network.adapters.values() for half in pair]
    trunk = [] if frozen else halves or [weights[name] for name in full_weight_names(network.backbone)]
    heads = list(network.heads.parameters())
    return [
        (sum(tensor.numel() for tensor in tensors), tensors[0].element_size()) for tensors in (trunk, heads) if tensors
    ]


def optimizer_bytes(network: Network, world: int, frozen: bool = False) -> float:
    """Bytes of gradients, masters and moments: a rank's share, or in one process, where float32 weights are masters."""
    sizes = trainable_sizes(network, frozen)
    if world > 1:
        return sum(sharded_static_bytes(count, world, width) for count, width in sizes)
    return sum(count * (width + 8 + (4 if width < 4 else 0)) for count, width in sizes)


def resident_bytes(device: torch.device) -> float:
    """Bytes that this process holds now: device memory on CUDA, resident memory on the CPU."""
    if device.type == "cuda":
        return float(torch.cuda.memory_allocated(device))
    return float(_status("VmRSS"))


def lasting_bytes(device: torch.device) -> float:
    """What of the resident bytes says how the static ones change from step to step.

    Device memory on CUDA; on the CPU the pages of mapped files (pools), since the heap keeps what it freed.
    """
    if device.type == "cuda":
        return resident_bytes(device)
    return float(_status("RssFile") + _status("RssShmem"))


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
