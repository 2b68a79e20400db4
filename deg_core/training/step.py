"""One optimizer step: parts, losses and gradients, and what happens when memory runs out.

Training specification, section 5. The parts' gradients add up to the gradient of the unsplit step, since
every loss term is a mean over the items of the whole step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import torch

from deg_core.model.allocator import release_heap
from deg_core.model.network import Network
from deg_core.pools.example import Example
from deg_core.training.losses import TERMS, count_items, fork_losses
from deg_core.training.memory import MemoryPlan, is_out_of_memory, measured_peak, resident_bytes
from deg_core.training.optimizer import Gradients
from deg_core.training.parts import Part, same_trunk, split
from deg_core.training.trunk import SharedTrunk, read_contexts

Observe = Callable[[Part], None]


class StepAbandoned(Exception):  # noqa: N818 - a redraw is asked for, nothing is wrong
    """A part that cannot be cut further does not fit; the step's gradients were dropped."""


@dataclass
class StepResult:
    """losses: mean of each term over its items. parts, records: done. oom_splits: parts replayed as halves.

    trunk_tokens, fork_tokens: of the step, each counted once. computed_tokens: of every pass that was needed, a
    context once for each time that it was read. shared_trunks: records whose parts read their context once together;
    unshared: those that then ran out of memory.
    """

    losses: dict[str, float]
    parts: int = 0
    records: int = 0
    trunk_tokens: int = 0
    fork_tokens: int = 0
    computed_tokens: int = 0
    oom_splits: int = 0
    shared_trunks: int = 0
    unshared: int = 0
    sums: Counter[str] = field(default_factory=Counter)


def step_counts(examples: Sequence[Example]) -> dict[str, int]:
    """Items of each loss term over a step's examples; several ranks add theirs up before the forward."""
    return count_items([fork for example in examples for fork in example.forks])


def run_part(
    network: Network,
    part: Part,
    counts: Mapping[str, int],
    weights: Mapping[str, float],
    trunk: SharedTrunk | None = None,
) -> dict[str, float]:
    """Forward and backward of one part; the loss sums of each term. Gradients are added on the parameters.

    counts: items of the whole step, over all ranks. weights: of each term. trunk: of the part's one record, where its
    other parts share it; the gradient then ends at this part's leaves of it.
    """
    reading = trunk.leaves() if trunk else read_contexts(network, [example.context for example in part.examples])
    forks = [(i, part.examples[i].forks[j]) for i, chosen in enumerate(part.forks) for j in chosen]
    outputs = network.answer(reading, forks, exact=False)
    sums: dict[str, torch.Tensor] = {}
    for (_, fork), output in zip(forks, outputs, strict=True):
        for term, loss in fork_losses(network, fork, output).items():
            sums[term] = sums[term] + loss if term in sums else loss
    total = sum(weights[term] * value / max(counts[term], 1) for term, value in sums.items() if weights[term])
    if isinstance(total, torch.Tensor):
        total.backward()
    return {term: float(value.detach()) for term, value in sums.items()}


def run_step(
    network: Network,
    examples: Sequence[Example],
    counts: Mapping[str, int],
    weights: Mapping[str, float],
    gradients: Gradients,
    plan: MemoryPlan,
    observe: Observe | None = None,
    run: Callable[..., dict[str, float]] = run_part,
) -> StepResult:
    """Gradients of a whole step, part by part; the parts of one record share its trunk.

    A part that runs out of memory is dropped and replayed as two halves, so that no example is lost.
    Raises StepAbandoned when a minimal part does not fit: the caller redraws.
    """
    step = _Step(network, counts, weights, gradients, observe, run)
    planned = plan.plan(examples)
    step.several = len(planned) > 1
    for parts in same_trunk(planned):
        if len(parts) > 1:
            step.share(parts)
        else:
            step.replay(parts)
    result = step.result
    result.records = len(examples)
    result.trunk_tokens = sum(len(example.context) for example in examples)
    result.fork_tokens = sum(len(fork.ids) for example in examples for fork in example.forks)
    result.losses = {term: result.sums[term] / counts[term] for term in TERMS if counts[term]}
    return result


class _Step:
    """A step in progress. several: whether it has more than one part, so that each one's gradient is moved away."""

    def __init__(
        self,
        network: Network,
        counts: Mapping[str, int],
        weights: Mapping[str, float],
        gradients: Gradients,
        observe: Observe | None,
        run: Callable[..., dict[str, float]],
    ):
        self.result = StepResult({})
        self.several = False
        self._network, self._counts, self._weights = network, counts, weights
        self._gradients, self._observe, self._run = gradients, observe, run

    def replay(self, parts: Sequence[Part]) -> None:
        """Run parts one by one, each with trunks of its own; one that fails runs again as two halves."""
        waiting = list(reversed(parts))
        while waiting:
            part = waiting.pop()
            if self._done(part):
                continue
            halves = split(part)
            if halves is None:
                self._abandon()
            self.several = True
            self.result.oom_splits += 1
            waiting.extend(reversed(halves))

    def share(self, parts: Sequence[Part]) -> None:
        """Run the parts of one record on one pass of its trunk; from the first that fails on, one by one."""
        (example,), done = parts[0].examples, 0
        trunks: list[SharedTrunk] = []
        if self._fits(lambda: trunks.append(SharedTrunk(self._network, example.context))):
            self.result.shared_trunks += 1
            self.result.computed_tokens += len(example.context)
            while done < len(parts) and self._done(parts[done], trunks[0]):
                done += 1
        if done:
            self._finish(trunks[0], example)
        trunks.clear()
        self.result.unshared += done < len(parts)
        self.replay(parts[done:])

    def _done(self, part: Part, trunk: SharedTrunk | None = None) -> bool:
        """Run a part; False when it ran out of memory and left no gradient."""
        result = self.result
        if not self._fits(
            lambda: result.sums.update(self._run(self._network, part, self._counts, self._weights, trunk))
        ):
            return False
        if trunk is not None:
            trunk.keep()
        if self.several:
            self._gradients.add()
        result.parts += 1
        result.computed_tokens += part.fork_tokens + (0 if trunk else part.trunk_tokens)
        if self._observe is not None:
            self._observe(part)
        return True

    def _finish(self, trunk: SharedTrunk, example: Example) -> None:
        """Take the parts' gradient through the trunk; where memory runs out, through one that is read again in pieces."""
        if not trunk.trains:
            return
        if not self._fits(trunk.backward):
            self.result.computed_tokens += len(example.context)
            if not self._fits(trunk.read_again) or not self._fits(trunk.backward):
                self._abandon()
        self._gradients.add()
        if self._observe is not None:
            self._observe(Part((example,), ((),)))

    def _fits(self, work: Callable[[], None]) -> bool:
        """Do what may run out of memory; then its gradient is dropped and the memory given back."""
        failed = False
        try:
            work()
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            failed = True
        if failed:  # outside the handler, which holds the frames of what failed
            self._gradients.drop_part()
            release_memory()
        return not failed

    def _abandon(self) -> NoReturn:
        self._gradients.clear()
        release_memory()
        raise StepAbandoned


def release_memory() -> None:
    """Give freed memory back before a replay."""
    release_heap()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def start_anew(plan: MemoryPlan, gradients: Gradients, device: torch.device) -> None:
    """Give freed memory back, measure peaks from here on, and let the plan know what stays.

    A gradient of each trained element that is absent is still to come.
    """
    release_memory()
    measured_peak(device)
    absent = sum(tensor.nbytes for tensor in gradients.tensors if tensor.grad is None)
    plan.released(resident_bytes(device) + absent)
