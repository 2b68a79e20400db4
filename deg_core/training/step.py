"""One optimizer step: parts, losses and gradients, and what happens when memory runs out.

Training specification, section 5. The parts' gradients add up to the gradient of the unsplit step, since
every loss term is a mean over the items of the whole step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch

from deg_core.model.allocator import release_heap
from deg_core.model.network import Network
from deg_core.pools.example import Example
from deg_core.training.losses import TERMS, count_items, fork_losses
from deg_core.training.memory import MemoryPlan, is_out_of_memory
from deg_core.training.optimizer import Gradients
from deg_core.training.parts import Part, split

Observe = Callable[[Part], None]


class StepAbandoned(Exception):  # noqa: N818 - a redraw is asked for, nothing is wrong
    """A part that cannot be cut further does not fit; the step's gradients were dropped."""


@dataclass
class StepResult:
    """losses: mean of each term over its items. parts, trunk_tokens, fork_tokens: the work done.

    oom_splits: parts that ran out of memory and were replayed as halves.
    """

    losses: dict[str, float]
    parts: int = 0
    records: int = 0
    trunk_tokens: int = 0
    fork_tokens: int = 0
    oom_splits: int = 0
    sums: Counter[str] = field(default_factory=Counter)


def step_counts(examples: Sequence[Example]) -> dict[str, int]:
    """Items of each loss term over a step's examples; several ranks add theirs up before the forward."""
    return count_items([fork for example in examples for fork in example.forks])


def run_part(network: Network, part: Part, counts: Mapping[str, int], weights: Mapping[str, float]) -> dict[str, float]:
    """Forward and backward of one part; the loss sums of each term. Gradients are added on the parameters.

    counts: items of the whole step, over all ranks. weights: of each term.
    """
    reading = network.read([example.context for example in part.examples], exact=False)
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
    """Gradients of a whole step, part by part.

    A part that runs out of memory is dropped and replayed as two halves, so that no example is lost.
    Raises StepAbandoned when a minimal part does not fit: the caller redraws.
    """
    waiting = list(reversed(plan.plan(examples)))
    result = StepResult({}, records=len(examples))
    while waiting:
        part = waiting.pop()
        try:
            sums = run(network, part, counts, weights)
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            gradients.drop_part()
            halves = split(part)
            failed = halves is None
        else:
            halves, failed = None, False
        if failed:
            gradients.clear()
            release_memory()
            raise StepAbandoned
        if halves is not None:
            release_memory()
            result.oom_splits += 1
            waiting.extend(reversed(halves))
            continue
        if waiting or result.parts:
            gradients.add()
        if observe is not None:
            observe(part)
        result.parts += 1
        result.sums.update(sums)
        result.trunk_tokens += sum(len(example.context) for example in part.examples)
        result.fork_tokens += sum(
            len(e.forks[j].ids) for e, c in zip(part.examples, part.forks, strict=True) for j in c
        )
    result.losses = {term: result.sums[term] / counts[term] for term in TERMS if counts[term]}
    return result


def release_memory() -> None:
    """Give freed memory back before a replay."""
    release_heap()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
