"""ZeRO-2: AdamW with masters, moments and gradient sharded over ranks (training specification, section 7).

The trainable elements form one flat vector, in the order of the groups and their tensors. It is cut into buckets
of one compute type; rank r owns the r-th of `world` pieces of each bucket. A bucket's last piece may be shorter, and
in a bucket of few elements a rank may own nothing. Everything but the compute weights and their gradient lives on the
owner only: 16 / world bytes an element.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
import torch.distributed as dist

from deg_core.contract.errors import DegError
from deg_core.training.optimizer import (
    Gradients,
    GroupClock,
    OptimizerOptions,
    ParameterGroup,
    adamw_,
    chunks,
    layout_digest,
    load_state,
)

BUCKET_ELEMENTS = 32 << 20
SHARD_BYTES = 16  # fp32 master, two moments and gradient
DIGEST_BYTES = 32


class Group:
    """What the ranks of the process group do together."""

    # the names of torch 2.13; older ones warn from there on
    _reduce_scatter = staticmethod(getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor)
    _all_gather = staticmethod(getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor)

    def __init__(self) -> None:
        self.rank, self.world = dist.get_rank(), dist.get_world_size()

    def broadcast(self, tensor: torch.Tensor) -> None:
        """Give every rank what rank 0 has."""
        dist.broadcast(tensor, 0)

    def add(self, total: torch.Tensor) -> None:
        """Add up over the ranks, in place."""
        dist.all_reduce(total)

    def scatter(self, piece: torch.Tensor, whole: torch.Tensor) -> None:
        """Sum over the ranks; each gets its piece."""
        self._reduce_scatter(piece, whole)

    def gather(self, whole: torch.Tensor, piece: torch.Tensor) -> None:
        """The pieces of the first `brings` ranks, in order."""
        self._all_gather(whole, piece)

    @property
    def brings(self) -> int:
        """How many ranks' pieces a gather brings."""
        return self.world


class AloneAsFirst(Group):
    """Rank 0 of a world whose other ranks are not there: its memory and its own work are real, what it learns is not."""

    def __init__(self, world: int):
        self.rank, self.world = 0, world

    def broadcast(self, tensor: torch.Tensor) -> None:
        """Nothing to do."""

    def add(self, total: torch.Tensor) -> None:
        """Nothing to add."""

    def scatter(self, piece: torch.Tensor, whole: torch.Tensor) -> None:
        """The first piece."""
        piece.copy_(whole[: len(piece)])

    def gather(self, whole: torch.Tensor, piece: torch.Tensor) -> None:
        """Its own piece."""
        whole[: len(piece)] = piece

    @property
    def brings(self) -> int:
        """There is no other rank."""
        return 1


class ReplicaError(DegError):
    """The ranks' copies of the weights are not the same, bit for bit."""


@dataclass(frozen=True)
class Run:
    """Neighbouring elements of one tensor: [start, stop) of tensor `index`, at `at` in a bucket or shard."""

    index: int
    start: int
    stop: int
    at: int


@dataclass(frozen=True)
class Bucket:
    """A cut of the flat vector in one compute type. runs: what it holds, `at` counted from its start.

    piece: elements of each rank's share, so that world * piece >= numel.
    """

    numel: int
    piece: int
    dtype: torch.dtype
    runs: tuple[Run, ...]

    def owned(self, rank: int) -> tuple[int, int]:
        """Half-open range of the bucket that a rank owns; empty beyond its end."""
        return min(rank * self.piece, self.numel), min((rank + 1) * self.piece, self.numel)


def cut_buckets(tensors: Sequence[torch.Tensor], world: int, size: int = BUCKET_ELEMENTS) -> list[Bucket]:
    """Every element of the tensors in exactly one bucket of at most `size` elements."""
    buckets: list[Bucket] = []
    runs: list[Run] = []
    filled = 0

    def close() -> None:
        nonlocal filled
        if runs:
            buckets.append(Bucket(filled, -(-filled // world), tensors[runs[0].index].dtype, tuple(runs)))
        runs.clear()
        filled = 0

    for index, tensor in enumerate(tensors):
        if runs and tensors[runs[0].index].dtype != tensor.dtype:
            close()
        start = 0
        while start < tensor.numel():
            stop = min(tensor.numel(), start + size - filled)
            runs.append(Run(index, start, stop, filled))
            filled += stop - start
            start = stop
            if filled == size:
                close()
    close()
    return buckets


def clipped(runs: Sequence[Run], low: int, high: int) -> Iterator[Run]:
    """The parts of runs within [low, high), `at` counted from low."""
    for run in runs:
        first, last = max(run.at, low), min(run.at + run.stop - run.start, high)
        if first < last:
            yield Run(run.index, run.start + first - run.at, run.start + last - run.at, first - low)


def sharded_static_bytes(elements: int, world: int, compute_bytes: int) -> float:
    """Bytes that a rank keeps for trainable elements beside their compute weights: gradient and shard."""
    return elements * (compute_bytes + SHARD_BYTES / world)


def digest(tensors: Sequence[torch.Tensor]) -> bytes:
    """sha256 (32 bytes) over the bits of tensors, in order."""
    found = hashlib.sha256()
    for tensor in tensors:
        flat = _bits(tensor.detach().reshape(-1))
        for low, high in chunks(0, flat.numel(), BUCKET_ELEMENTS):
            found.update(flat[low:high].cpu().numpy().tobytes())
    return found.digest()


def _bits(flat: torch.Tensor) -> torch.Tensor:
    """uint8 view: a collective on it moves the bits as they are, in any type."""
    return flat.view(torch.uint8)


class ZeroMaster:
    """The sharded twin of `optimizer.Master`: the same arithmetic on the summed gradient of all ranks.

    Needs a process group, or `group`. Construction broadcasts rank 0's weights; every call is collective.
    state() and load() concern this rank's shard and continue a killed run exactly at the same world size.
    """

    @torch.no_grad()
    def __init__(
        self,
        groups: Sequence[ParameterGroup],
        options: OptimizerOptions,
        bucket_elements: int = BUCKET_ELEMENTS,
        group: Group | None = None,
    ):
        self._group = group or Group()
        self.rank, self.world = self._group.rank, self._group.world
        self.clock = GroupClock(groups, options)
        self.gradients = Gradients(groups)
        self._weights = [tensor.detach().view(-1) for group in groups for tensor in group.tensors]
        self._group_of = [i for i, group in enumerate(groups) for _ in group.tensors]
        self._device = self._weights[0].device
        self._buckets = cut_buckets(self._weights, self.world, bucket_elements)
        self._bounds = self._shard_bounds()
        self._numbers = (self.world, self.rank, bucket_elements)
        for weight in self._weights:
            self._group.broadcast(_bits(weight))
        self._master = self._empty_shard()
        for bucket, (low, _) in zip(self._buckets, self._bounds, strict=True):
            for run in clipped(bucket.runs, *bucket.owned(self.rank)):
                into = self._master[low + run.at : low + run.at + run.stop - run.start]
                into.copy_(self._weights[run.index][run.start : run.stop])
        self._exp_avg, self._exp_avg_sq = torch.zeros_like(self._master), torch.zeros_like(self._master)
        self._grad = torch.zeros_like(self._master)

    def _shard_bounds(self) -> list[tuple[int, int]]:
        """Where each bucket's own piece lies in the shard."""
        bounds, filled = [], 0
        for bucket in self._buckets:
            first, last = bucket.owned(self.rank)
            bounds.append((filled, filled + last - first))
            filled += last - first
        return bounds

    def _empty_shard(self) -> torch.Tensor:
        return torch.empty(self._bounds[-1][1], dtype=torch.float32, device=self._device)

    def _shard_runs(self) -> Iterator[Run]:
        """What this rank owns, `at` counted in the shard."""
        for bucket, (low, _) in zip(self._buckets, self._bounds, strict=True):
            for run in clipped(bucket.runs, *bucket.owned(self.rank)):
                yield Run(run.index, run.start, run.stop, low + run.at)

    @property
    def shard_bytes(self) -> int:
        """Bytes of this rank's master, moments and gradient."""
        return sum(t.nbytes for t in (self._master, self._exp_avg, self._exp_avg_sq, self._grad))

    @torch.no_grad()
    def step(self, grads: Gradients, step: int) -> float:
        """Update the weights of every rank at an absolute step (from 0), clear grads; the global norm before clipping.

        grads: this rank's gradient; the ranks' gradients are summed. Raises NonFiniteGradientError on every rank and
        changes nothing when the norm is not finite.
        """
        grads.finish()
        self._scatter(grads)
        active = self.clock.active(step)
        scale = self.clock.clip(norm := self._norm(active))
        rates = self.clock.tick(step)
        for run in self._shard_runs():
            group = self._group_of[run.index]
            if not active[group]:
                continue
            for low, high in chunks(run.at, run.at + run.stop - run.start):
                adamw_(
                    self._master[low:high],
                    self._exp_avg[low:high],
                    self._exp_avg_sq[low:high],
                    self._grad[low:high] * scale,
                    lr=rates[group],
                    weight_decay=self.clock.groups[group].weight_decay,
                    updates=self.clock.updates[group],
                    options=self.clock.options,
                )
        grads.clear()
        self._refresh()
        return norm

    def _scatter(self, grads: Gradients) -> None:
        """Sum the ranks' gradients in fp32, bucket by bucket; this rank's pieces go to its shard.

        The compute-type gradient of a bucket is read piece by piece, so the only second copy is one fp32 bucket.
        """
        for bucket, (low, high) in zip(self._buckets, self._bounds, strict=True):
            whole = torch.zeros(bucket.piece * self.world, dtype=torch.float32, device=self._device)
            for run in bucket.runs:
                for first, last in chunks(run.start, run.stop):
                    at = run.at + first - run.start
                    whole[at : at + last - first] = grads.read(run.index, first, last)
            piece = torch.empty(bucket.piece, dtype=torch.float32, device=self._device)
            self._group.scatter(piece, whole)
            self._grad[low:high] = piece[: high - low]

    def _norm(self, active: list[bool]) -> float:
        total = torch.zeros((), dtype=torch.float64, device=self._device)
        for run in self._shard_runs():
            if active[self._group_of[run.index]]:
                for low, high in chunks(run.at, run.at + run.stop - run.start):
                    total += self._grad[low:high].double().square().sum()
        self._group.add(total)
        return math.sqrt(total)

    def _refresh(self) -> None:
        """Round the shard to the compute types and give every rank all of it, bit for bit."""
        for bucket, (low, high) in zip(self._buckets, self._bounds, strict=True):
            piece = torch.zeros(bucket.piece, dtype=bucket.dtype, device=self._device)
            piece[: high - low] = self._master[low:high]
            whole = torch.empty(bucket.piece * self.world, dtype=bucket.dtype, device=self._device)
            self._group.gather(_bits(whole), _bits(piece))
            for run in clipped(bucket.runs, 0, self._group.brings * bucket.piece):
                self._weights[run.index][run.start : run.stop] = whole[run.at : run.at + run.stop - run.start]

    def check_replicas(self) -> None:
        """Raise ReplicaError on every rank unless all ranks' trainable weights are the same bits."""
        own = torch.frombuffer(bytearray(digest(self._weights)), dtype=torch.uint8).to(self._device)
        found = torch.empty(self.world * DIGEST_BYTES, dtype=torch.uint8, device=self._device)
        self._group.gather(found, own)
        first, *others = found.view(self.world, DIGEST_BYTES)[: self._group.brings].cpu()
        wrong = [rank for rank, other in enumerate(others, 1) if not torch.equal(first, other)]
        if wrong:
            raise ReplicaError(
                f"the weights of ranks {wrong} differ from rank 0's; the run cannot be trusted since its last saved "
                "point: start it again (it continues from there) and check the memory of these devices"
            )

    def state(self) -> dict[str, torch.Tensor]:
        """This rank's masters, moments and update counts; the live tensors: write them before the next step."""
        return {
            "layout": layout_digest(self.clock.groups, *self._numbers),
            "updates": torch.tensor(self.clock.updates, dtype=torch.int64),
            "master": self._master,
            "exp_avg": self._exp_avg,
            "exp_avg_sq": self._exp_avg_sq,
        }

    @torch.no_grad()
    def load(self, state: dict[str, torch.Tensor]) -> None:
        """Continue from state() of the same rank of the same world; sets every rank's compute weights too.

        Raises InputError for another layout.
        """
        load_state(self, state)
        self._refresh()
