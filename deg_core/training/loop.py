"""The training loop of one process or one rank (training specification, sections 5 and 7)."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from deg_core.artifacts import Home, fingerprint, hash_tree
from deg_core.contract.errors import DegError, InputError
from deg_core.model.bases import base_hash
from deg_core.model.checkpoint import CheckpointMeta, copy_checkpoint, read_meta, save_checkpoint
from deg_core.model.model import pick_device, pick_dtype
from deg_core.pools.draw import COUNTS, Drawer
from deg_core.pools.example import Example
from deg_core.pools.store import Pool
from deg_core.training.job import TrainJob
from deg_core.training.losses import LM_KL_BASE, MONITORED
from deg_core.training.memory import GIB, MemoryPlan, lasting_bytes, measured_peak, training_plan
from deg_core.training.norms import loss_norms
from deg_core.training.optimizer import Master, NonFiniteGradientError, Optimizer, OptimizerOptions, ParameterGroup
from deg_core.training.parts import Part
from deg_core.training.resume import BEST, Point, checkpoint_folder, complete, last_point, load_rank_state, save_state
from deg_core.training.setup import build_network, part_runner, trainable_groups
from deg_core.training.step import StepAbandoned, StepResult, release_memory, run_step, start_anew, step_counts
from deg_core.training.validation import EVENT, Course, validation_sums, weighted
from deg_core.training.zero import ZeroMaster

GROUP_TIMEOUT = timedelta(hours=4)
LOGS = ("log.jsonl", "mem.jsonl")
MAX_SKIPPED_STEPS = 10
RELEASE_STEPS = 32
"""Sizes that change from step to step leave holes in the heap; giving it back costs a seventh of a step's time."""
PLANNER_SCALE = "planner_scale"
FINITE_FAILURE = "the gradient is not finite"


def draw_seed(seed: int, init: Path | None) -> int:
    """The seed of the draws. A run that goes on from a checkpoint draws otherwise than the run that made it."""
    return seed if init is None else int(fingerprint([seed, hash_tree(init)]), 16) % 2**63


class Ranks:
    """This process among the ranks of a run; a run of one process has no process group."""

    def __init__(self, device: torch.device):
        self.rank = int(os.environ.get("RANK", "0"))
        self.world = int(os.environ.get("WORLD_SIZE", "1"))
        if self.world > 1 and not dist.is_initialized():
            backends = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
            dist.init_process_group(backends, timeout=GROUP_TIMEOUT)

    def summed(self, numbers: list[float]) -> list[float]:
        """Numbers added up over all ranks."""
        if self.world == 1:
            return numbers
        tensor = torch.tensor(numbers, dtype=torch.float64)
        dist.all_reduce(tensor)
        return tensor.tolist()

    def barrier(self) -> None:
        """Wait for every rank."""
        self.summed([0.0])


class Busy:
    """How busy the device is while a step runs."""

    def __init__(self, device: torch.device):
        self._cuda = device.type == "cuda"
        self._begun = 0.0

    def start(self) -> None:
        """A step begins."""
        self._begun = time.process_time()

    def share(self, seconds: float) -> float | None:
        """Of a CPU: this process's time over `seconds` of its threads. Of CUDA: as the driver says; None without pynvml."""
        if not self._cuda:
            return round((time.process_time() - self._begun) / (seconds * torch.get_num_threads()), 3)
        try:
            return torch.cuda.utilization() / 100
        except ModuleNotFoundError:
            return None


class Trainer:
    """A run in progress. say: where milestone lines go (rank 0 only)."""

    def __init__(self, job: TrainJob, say: Callable[[str], None]):
        settings = job.settings
        self.job, self.settings, self.say = job, settings, say
        device = pick_device(settings.device)
        if device.type == "cuda":
            if not torch.cuda.is_available():
                raise InputError("device is cuda, but torch sees no CUDA device here; set device to cpu or auto")
            device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
            torch.cuda.set_device(device)
        self.ranks = Ranks(device)
        self.home = Home(job.home)
        self.point = last_point(job.folder)
        start = checkpoint_folder(job.folder, self.point.step) if self.point else job.init
        self.network = build_network(settings, job.base, start, self.home, device, pick_dtype(settings.dtype, device))
        pools = [(Pool.open(folder), weight) for folder, weight in job.pools]
        self.drawer = Drawer(
            pools,
            settings,
            job.max_context_tokens,
            draw_seed(settings.seed, job.init),
            self.network.tokens,
            lambda example: len(self.plan.plan([example])),
        )
        self.run_part = part_runner(self.network, settings, job.base)
        release_memory()
        self.plan: MemoryPlan = training_plan(job.memory, self.network, settings, self.ranks.world)
        groups = trainable_groups(self.network, settings)
        self.trunk_tensors = len(groups[0].tensors)
        options = OptimizerOptions(settings.steps, settings.warmup_steps, clip_norm=settings.clip_norm)
        self.master = self._optimizer(groups, options)
        most = settings.val_records
        checked = [example for pool, _ in pools for example in pool.validation(most, job.max_context_tokens)]
        if settings.val_records and not checked:
            raise InputError("train.val_records asks for a validation loss, but no source has a record of split val")
        self.checked = checked[self.ranks.rank :: self.ranks.world]
        self.course = Course(settings.patience, {})
        self.busy, self.peak = Busy(device), 0.0
        self.weights = {
            "decide": 1.0,
            "extract": 1.0,
            "count": settings.count_weight,
            "anchor": settings.anchor_weight,
            "anchor_count": settings.anchor_count_weight,
            "lm": settings.lm_weight,
            LM_KL_BASE: settings.lm_kl_base,
            **dict.fromkeys(MONITORED, 0.0),
        }
        self.meta = CheckpointMeta(
            base=settings.base,
            base_hash=base_hash(job.base),
            lora_rank=settings.lora_rank,
            lora_alpha=settings.lora_alpha,
            lora_context=settings.lora_context,
            step=0,
            array_mode=job.layout.mode,
            anchor_min_tokens=job.layout.min_tokens,
            gen_layout=job.layout.gen_layout,
            provenance={
                "init": hash_tree(job.init) if job.init else None,
                "pools": {pool.manifest.id: pool.manifest.content for pool, _ in pools},
                "world": self.ranks.world,
            },
        )

    def _optimizer(self, groups: list[ParameterGroup], options: OptimizerOptions) -> Optimizer:
        return Master(groups, options) if self.ranks.world == 1 else ZeroMaster(groups, options)

    def train(self) -> None:
        """Run from the last saved point to the end; saves every `save_every` steps and at the end."""
        first, skipped = 0, 0
        if self.point is not None:
            first, skipped = self.point.step, self.point.skipped
            state = load_rank_state(self.job.folder, first, self.ranks.rank)
            self.plan.scale = float(state.pop(PLANNER_SCALE))
            self.master.load(state)
            self.say(f"continuing after step {first} of {self.settings.steps}")
        if self.point is not None:
            log = self.point.log_bytes.get("log.jsonl", 0)
            self.course = Course.of_log(self.job.folder / "log.jsonl", self.settings.patience, log)
        if self.ranks.rank == 0:
            self._cut_logs(self.point.log_bytes if self.point else {})
            self._keep_best()
            self.say(f"memory plan: {self.plan.source}, {self.plan.static_bytes / GIB:.2f} GiB static")
        device = self.network.backbone.device
        measured_peak(device)
        lasting = lasting_bytes(device)
        for step in range(first, self.settings.steps):
            if self.course.over:
                self.say(f"ended after step {step}: no lower validation loss since step {self.course.best}")
                break
            started = time.monotonic()
            self.busy.start()
            self.peak = 0.0
            lasting, before = lasting_bytes(device), lasting
            self.plan.static_bytes += lasting - before
            result, norm = self._step(step)
            skipped += result is None
            if skipped > MAX_SKIPPED_STEPS:
                raise DegError(
                    f"{skipped} steps were skipped (see log.jsonl); where memory ran out, lower train.budget_tokens or "
                    "train.record_fork_tokens or raise train.target_gib; where the gradient was not finite, lower "
                    "train.lr_trunk and train.lr_heads"
                )
            self._log(step, result, norm, time.monotonic() - started)
            done = step + 1
            if self.plan.memory_stays and (done % RELEASE_STEPS == 0 or self.peak > self.plan.target_bytes):
                start_anew(self.plan, self.master.gradients, device)
            if done % self.settings.save_every == 0 or done == self.settings.steps:
                self._save(done, skipped)

    def _step(self, step: int) -> tuple[StepResult | None, float]:
        """One optimizer step, redrawn while its smallest part does not fit; None when it was skipped."""
        for redraw in range(self.settings.oom_max_redraws + 1):
            examples = self.drawer.draw(step, self.ranks.rank, self.ranks.world, redraw)
            own = step_counts(examples)
            own |= {LM_KL_BASE: own["lm"]} if self.settings.lm_kl_base else {}
            counts = dict(zip(own, map(int, self.ranks.summed(list(own.values()))), strict=True))
            every = self.settings.loss_gnorm_every
            norms = self._norms(examples, counts) if every and (step + 1) % every == 0 else {}
            result = self._gradients(examples, counts, self.weights)
            failed = self.ranks.summed([float(result is None)])[0]
            if not failed:
                assert result is not None
                if norms:
                    self._event("loss_gnorm", step=step + 1, **norms)
                return self._update(step, result, counts)
            self.master.gradients.clear()
            self._event("oom_skip", step=step, redraw=redraw)
        self._event("oom_step_skipped", step=step)
        return None, 0.0

    def _norms(self, examples: list[Example], counts: dict[str, int]) -> dict[str, float]:
        def run(weights: Mapping[str, float]) -> None:
            self._gradients(examples, counts, weights)

        return loss_norms(run, self.weights, counts, self.master.gradients, self.trunk_tensors)

    def _gradients(
        self, examples: list[Example], counts: dict[str, int], weights: Mapping[str, float]
    ) -> StepResult | None:
        master = self.master
        try:
            return run_step(
                self.network, examples, counts, weights, master.gradients, self.plan, self._observe, self.run_part
            )
        except StepAbandoned:
            return None

    def _update(self, step: int, result: StepResult, counts: dict[str, int]) -> tuple[StepResult | None, float]:
        try:
            norm = self.master.step(self.master.gradients, step)
        except NonFiniteGradientError:
            self.master.gradients.clear()
            self._event("step_skipped", step=step, reason=FINITE_FAILURE)
            return None, 0.0
        self.network.weights_changed()
        terms = list(counts)
        sums = self.ranks.summed([result.sums[term] for term in terms])
        result.losses = {term: total / counts[term] for term, total in zip(terms, sums, strict=True) if counts[term]}
        return result, norm

    def _observe(self, part: Part) -> None:
        peak = measured_peak(self.network.backbone.device)
        self.peak = max(self.peak, peak)
        estimate = self.plan.expected_peak(part)
        self.plan.observe(part, peak)
        if self.ranks.rank == 0:
            entry = {"peak_bytes": peak, "estimate_bytes": estimate}
            self._append("mem.jsonl", entry | {"scale": self.plan.scale, **self.plan.features(part)})

    def _log(self, step: int, result: StepResult | None, norm: float, seconds: float) -> None:
        if result is None:
            return
        tokens, computed, records, splits = self.ranks.summed(
            [result.trunk_tokens + result.fork_tokens, result.computed_tokens, result.records, result.oom_splits]
        )
        drawn = self.ranks.summed([float(self.drawer.counts[name]) for name in COUNTS])
        self.drawer.counts.clear()
        if self.ranks.rank:
            return
        total = sum(self.weights[term] * loss for term, loss in result.losses.items())
        entry = {
            "event": "step",
            "step": step + 1,
            "loss": total,
            **{f"loss_{term}": loss for term, loss in result.losses.items()},
            "gradient_norm": norm,
            "lr_trunk": self.master.clock.rate(0, step),
            "records": int(records),
            "tokens": int(tokens),
            "computed_tokens": int(computed),
            "parts": result.parts,
            "shared_trunks": result.shared_trunks,
            "unshared": result.unshared,
            "oom_splits": int(splits),
            "seconds": round(seconds, 3),
            "tokens_per_s": round(tokens / seconds, 1),
            "computed_per_s": round(computed / seconds, 1),
            "peak_gib": round(self.peak / GIB, 3),
            "planner_scale": round(self.plan.scale, 4),
            "utilisation": self.busy.share(seconds),
            **{name: int(count) for name, count in zip(COUNTS, drawn, strict=True) if count},
        }
        self._append("log.jsonl", entry)
        self.say(f"step {step + 1}/{self.settings.steps} loss {total:.3f} {tokens / seconds:.0f} tokens/s")

    def _event(self, event: str, **fields: Any) -> None:
        if self.ranks.rank == 0:
            self._append("log.jsonl", {"event": event, **fields})
            self.say(f"{event} {fields}")

    def _save(self, step: int, skipped: int) -> None:
        """A saved point; the ranks' replicas must be bitwise equal."""
        run = self.job.folder
        if isinstance(self.master, ZeroMaster):
            self.master.check_replicas()
        scale = torch.tensor(self.plan.scale, dtype=torch.float64)
        save_state(run, step, self.ranks.rank, self.master.state() | {PLANNER_SCALE: scale})
        if self.ranks.rank == 0:
            self.meta.step = step
            save_checkpoint(checkpoint_folder(run, step), self.network, self.meta)
        self._validate(step)
        if self.ranks.rank == 0:
            sizes = {name: (run / name).stat().st_size for name in LOGS if (run / name).exists()}
            complete(run, Point(step, sizes, skipped))
            self.say(f"saved step {step}")
            self._keep_best()

    def _validate(self, step: int) -> None:
        """Log the loss on validation records, each rank on its share of them; the ranks wait for each other."""
        sums, counts = validation_sums(self.network, self.checked)
        terms = list(self.weights)
        totals = self.ranks.summed([sums.get(term, 0.0) for term in terms] + [float(counts.get(t, 0)) for t in terms])
        items = dict(zip(terms, map(int, totals[len(terms) :]), strict=True))
        found = {term: total for term, total in zip(terms, totals[: len(terms)], strict=True) if items[term]}
        measured_peak(self.network.backbone.device)  # the next step's peak is its own
        if not found:
            return
        loss = weighted(found, items, self.weights)
        self.course.losses[step] = loss
        means = {f"val_loss_{term}": total / items[term] for term, total in found.items()}
        self._event(EVENT, step=step, val_loss=loss, **means)

    def _keep_best(self) -> None:
        """Copy the checkpoint with the lowest validation loss, where a run may end on it, before its point is dropped."""
        if not self.settings.patience or self.course.best is None:
            return
        kept, newest = self.job.folder / BEST, checkpoint_folder(self.job.folder, self.course.best)
        if newest.is_dir() and not (kept.is_dir() and read_meta(kept).step == self.course.best):
            copy_checkpoint(newest, kept)

    def _append(self, name: str, entry: dict[str, Any]) -> None:
        with open(self.job.folder / name, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def _cut_logs(self, sizes: dict[str, int]) -> None:
        for name in LOGS:
            path: Path = self.job.folder / name
            if path.exists():
                os.truncate(path, sizes.get(name, 0))
