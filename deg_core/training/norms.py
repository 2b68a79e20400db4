"""The trunk's gradient norm of each loss by itself (training specification, section 5, loss_gnorm_every)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from deg_core.training.optimizer import Gradients


def loss_norms(
    run: Callable[[Mapping[str, float]], object],
    weights: Mapping[str, float],
    counts: Mapping[str, int],
    gradients: Gradients,
    trunk_tensors: int,
) -> dict[str, float]:
    """L2 norm over the first trunk_tensors of `gradients`, for each term that has a weight and items; one run a term.

    run: leaves the gradient of a step with the given weights in `gradients`, which is empty before and after.
    Among several ranks this is the norm of a rank's own share.
    """
    norms: dict[str, float] = {}
    for term in (term for term in counts if counts[term] and weights[term]):
        run({name: weight if name == term else 0.0 for name, weight in weights.items()})
        gradients.finish()
        tensors = gradients.tensors[:trunk_tensors]
        squares = (gradients.read(i, 0, t.numel()).double().square().sum() for i, t in enumerate(tensors))
        norms[term] = math.sqrt(sum(float(square) for square in squares))
        gradients.clear()
    return norms
