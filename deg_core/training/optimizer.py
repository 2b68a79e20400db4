"""AdamW on fp32 masters of the compute weights, in one process (training specification, section 5).

N = trainable elements in all, n = elements of one tensor. Everything here works on flat fp32 pieces of at most
CHUNK elements, so that no step needs a second fp32 copy of the gradient.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from deg_core.contract.errors import DegError, InputError

CHUNK = 1 << 18
FINAL_FACTOR = 0.1


class NonFiniteGradientError(DegError):
    """The global gradient norm is infinite or NaN; no weight and no moment was changed."""


@dataclass(frozen=True)
class ParameterGroup:
    """Weights that share a learning rate and a decay.

    names, tensors: parallel; the tensors are contiguous leaves in the compute type.
    first_step: the absolute step at which the group starts to train (heads_only_steps); before it there is
    no update, no decay and no moment, and its gradient is no part of the norm.
    """

    names: tuple[str, ...]
    tensors: tuple[torch.Tensor, ...]
    lr: float
    weight_decay: float
    first_step: int = 0

    def __post_init__(self) -> None:
        if len(self.names) != len(self.tensors):
            raise ValueError(f"{len(self.names)} names for {len(self.tensors)} tensors")
        for name, tensor in zip(self.names, self.tensors, strict=True):
            if not tensor.is_contiguous():
                raise ValueError(f"{name} is not contiguous; train a contiguous copy")


@dataclass(frozen=True)
class OptimizerOptions:
    """steps: length of the cosine. warmup_steps: after start_step, the first step of this process's run."""

    steps: int
    warmup_steps: int = 0
    start_step: int = 0
    clip_norm: float = 1.0
    betas: tuple[float, float] = (0.9, 0.98)
    eps: float = 1e-8


def schedule(step: int, steps: int, warmup: int, start: int = 0) -> float:
    """Learning-rate factor of a step (counted from 0): warm-up from `start` times the cosine over `steps`.

    The warm-up gives 1/warmup at `start` and 1 from `start + warmup - 1` on; the cosine falls from 1 at
    step 0 to 0.1 at `steps` and stays there.
    """
    warm = min(1.0, (step - start + 1) / warmup) if warmup else 1.0
    wave = 0.5 * (1.0 + math.cos(math.pi * min(step / steps, 1.0)))
    return warm * (FINAL_FACTOR + (1.0 - FINAL_FACTOR) * wave)


def chunks(start: int, stop: int, size: int = CHUNK) -> Iterator[tuple[int, int]]:
    """Half-open pieces of [start, stop), in order."""
    for low in range(start, stop, size):
        yield low, min(low + size, stop)


def layout_digest(groups: Sequence[ParameterGroup], *numbers: int) -> torch.Tensor:
    """uint8 [32]: sha256 of names, shapes, types and numbers; what a saved state must share with its reader."""
    text = [[(name, tuple(t.shape), str(t.dtype)) for name, t in zip(g.names, g.tensors, strict=True)] for g in groups]
    return torch.frombuffer(bytearray(hashlib.sha256(repr((text, numbers)).encode()).digest()), dtype=torch.uint8)


def adamw_(
    master: torch.Tensor,
    exp_avg: torch.Tensor,
    exp_avg_sq: torch.Tensor,
    grad: torch.Tensor,
    *,
    lr: float,
    weight_decay: float,
    updates: int,
    options: OptimizerOptions,
) -> None:
    """One AdamW update in place (Loshchilov and Hutter 2019); all fp32 of one shape, updates counted from 1."""
    beta1, beta2 = options.betas
    exp_avg.lerp_(grad, 1.0 - beta1)
    exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1.0 - beta2)
    root = exp_avg_sq.div(1.0 - beta2**updates).sqrt_().add_(options.eps)
    master.mul_(1.0 - lr * weight_decay)
    master.addcdiv_(exp_avg, root, value=-lr / (1.0 - beta1**updates))


class Gradients:
    """The gradient of one step over the parameters of some groups.

    One part: it stays on the parameters in the compute type. Several parts: `add()` after each backward moves
    it into one fp32 host vector of N elements (pinned beside a CUDA device), so that a part that ran out of
    memory can be dropped without its predecessors.
    """

    def __init__(self, groups: Sequence[ParameterGroup]):
        self.tensors = [tensor for group in groups for tensor in group.tensors]
        sizes = [tensor.numel() for tensor in self.tensors]
        self.offsets = [sum(sizes[:i]) for i in range(len(sizes))]
        self.numel = sum(sizes)
        self.parts = 0
        self._sum: torch.Tensor | None = None

    @torch.no_grad()
    def add(self) -> None:
        """Move the gradients of the part that just ran into the sum and free them."""
        if self._sum is None:
            pinned = any(tensor.is_cuda for tensor in self.tensors)
            self._sum = torch.empty(self.numel, dtype=torch.float32, pin_memory=pinned)
        if self.parts == 0:
            self._sum.zero_()
        for tensor, offset in zip(self.tensors, self.offsets, strict=True):
            if tensor.grad is not None:
                self._sum[offset : offset + tensor.numel()].add_(tensor.grad.reshape(-1).to("cpu"))
                tensor.grad = None
        self.parts += 1

    def drop_part(self) -> None:
        """Forget what is on the parameters (a part that failed); what was added stays."""
        for tensor in self.tensors:
            tensor.grad = None

    def clear(self) -> None:
        """Forget the whole step."""
        self.drop_part()
        self.parts = 0

    def finish(self) -> None:
        """Join a last part that is still on the parameters to the parts that were added."""
        if self.parts and any(tensor.grad is not None for tensor in self.tensors):
            self.add()

    @property
    def host_bytes(self) -> int:
        """Bytes of the fp32 sum; 0 while no step had several parts."""
        return 0 if self._sum is None else self._sum.nbytes

    def read(self, index: int, start: int, stop: int) -> torch.Tensor:
        """fp32 [stop - start] on the parameter's device: elements [start, stop) of tensor `index`; read only."""
        tensor = self.tensors[index]
        if self.parts:
            assert self._sum is not None
            offset = self.offsets[index]
            return self._sum[offset + start : offset + stop].to(tensor.device)
        if tensor.grad is None:
            return torch.zeros(stop - start, dtype=torch.float32, device=tensor.device)
        return tensor.grad.detach().reshape(-1)[start:stop].float()


class GroupClock:
    """Updates taken and rates of each group; what both optimizers share."""

    def __init__(self, groups: Sequence[ParameterGroup], options: OptimizerOptions):
        self.groups = tuple(groups)
        self.options = options
        self.updates = [0] * len(self.groups)
        names = [name for group in self.groups for name in group.names]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(f"parameters in two groups: {', '.join(repeated)}")

    def active(self, step: int) -> list[bool]:
        """Which groups train at an absolute step."""
        return [step >= group.first_step for group in self.groups]

    def rate(self, group: int, step: int) -> float:
        """The learning rate of a group at a step, 0 before its first step."""
        options = self.options
        factor = schedule(step, options.steps, options.warmup_steps, options.start_step)
        return self.groups[group].lr * factor if self.active(step)[group] else 0.0

    def tick(self, step: int) -> list[float]:
        """Count an update of the active groups; the learning rate of each group, 0 for one that stands still."""
        self.updates = [count + on for count, on in zip(self.updates, self.active(step), strict=True)]
        return [self.rate(group, step) for group in range(len(self.groups))]

    def clip(self, norm: float) -> float:
        """The factor that brings a gradient of this norm to the clipping norm; raises when it is not finite."""
        if not math.isfinite(norm):
            raise NonFiniteGradientError(f"the gradient norm is {norm}; lower the learning rate or look at the batch")
        return min(1.0, self.options.clip_norm / norm) if norm > 0 else 1.0


class Optimizer(Protocol):
    """What the loop trains with: `Master`, or `zero.ZeroMaster` among several ranks."""

    clock: GroupClock
    gradients: Gradients

    def step(self, grads: Gradients, step: int) -> float:
        """Update the weights; the gradient norm before clipping."""

    def state(self) -> dict[str, torch.Tensor]:
        """What an exact continuation needs."""

    def load(self, state: dict[str, torch.Tensor]) -> None:
        """Continue from state()."""


class Master:
    """Whole fp32 masters and AdamW moments in one process; the compute weights are their rounding.

    An fp32 compute weight is its own master. state() and load() continue a killed run exactly.
    """

    def __init__(self, groups: Sequence[ParameterGroup], options: OptimizerOptions):
        self.clock = GroupClock(groups, options)
        self.gradients = Gradients(groups)
        self._names = [name for group in groups for name in group.names]
        self._weights = [tensor.detach().view(-1) for group in groups for tensor in group.tensors]
        self._group_of = [i for i, group in enumerate(groups) for _ in group.tensors]
        self._masters = [w if w.dtype == torch.float32 else w.float() for w in self._weights]
        self._exp_avg = [torch.zeros_like(m) for m in self._masters]
        self._exp_avg_sq = [torch.zeros_like(m) for m in self._masters]

    @torch.no_grad()
    def step(self, grads: Gradients, step: int) -> float:
        """Update the weights at an absolute step (from 0) and clear grads; the norm before clipping.

        Raises NonFiniteGradientError and changes nothing when the norm is not finite.
        """
        grads.finish()
        norm = self._norm(grads, self.clock.active(step))
        scale = self.clock.clip(norm)
        rates = self.clock.tick(step)
        active = self.clock.active(step)
        for index, master in enumerate(self._masters):
            group = self._group_of[index]
            if not active[group]:
                continue
            for low, high in chunks(0, master.numel()):
                adamw_(
                    master[low:high],
                    self._exp_avg[index][low:high],
                    self._exp_avg_sq[index][low:high],
                    grads.read(index, low, high) * scale,
                    lr=rates[group],
                    weight_decay=self.clock.groups[group].weight_decay,
                    updates=self.clock.updates[group],
                    options=self.clock.options,
                )
        grads.clear()
        self._round()
        return norm

    def _norm(self, grads: Gradients, active: list[bool]) -> float:
        total = 0.0
        for index, master in enumerate(self._masters):
            if active[self._group_of[index]]:
                pieces = [grads.read(index, *bounds).double().square().sum() for bounds in chunks(0, master.numel())]
                total += float(sum(pieces))
        return math.sqrt(total)

    def _round(self) -> None:
        for weight, master in zip(self._weights, self._masters, strict=True):
            if weight is not master:
                weight.copy_(master)

    def state(self) -> dict[str, torch.Tensor]:
        """Masters, moments and update counts, by name; tensors are the live ones: write them before the next step."""
        state = {
            "layout": layout_digest(self.clock.groups),
            "updates": torch.tensor(self.clock.updates, dtype=torch.int64),
        }
        for index, name in enumerate(self._names):
            state[f"{name}:master"] = self._masters[index]
            state[f"{name}:exp_avg"] = self._exp_avg[index]
            state[f"{name}:exp_avg_sq"] = self._exp_avg_sq[index]
        return state

    @torch.no_grad()
    def load(self, state: dict[str, torch.Tensor]) -> None:
        """Continue from state(); sets the compute weights too. Raises InputError for other parameters' state."""
        load_state(self, state)
        self._round()


def load_state(optimizer: Optimizer, state: dict[str, torch.Tensor]) -> None:
    """Copy a saved state into an optimizer's live tensors, all or nothing.

    Raises InputError when the parameters, the types or the number of processes are not those it was saved with.
    """
    own = optimizer.state()
    if set(own) != set(state) or not torch.equal(own["layout"], state["layout"].cpu()):
        raise InputError(
            "the optimizer state belongs to other parameters or another number of processes; "
            "continue with the run's own settings, or start from its checkpoint with fresh moments"
        )
    for name, tensor in own.items():
        if name not in ("layout", "updates"):
            tensor.copy_(state[name])
    optimizer.clock.updates = state["updates"].tolist()
