"""How far generated text has moved from the frozen base model (training specification, section 4; contract 12.7)."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from deg_core.model.backbone import Backbone
from deg_core.model.network import Network, Reading
from deg_core.training.losses import LM_KL_BASE, base_kl
from deg_core.training.parts import Part
from deg_core.training.step import run_part
from deg_core.training.trunk import SharedTrunk, read_contexts


class BaseDivergence:
    """Runs parts with a further loss: KL(base || model) on the tokens of generated text, given the same tokens.

    frozen: a copy of the base's weights, where training changes the network's own; None where adapters do, since the
    network without them is the base.
    """

    def __init__(self, network: Network, frozen: Backbone | None = None):
        self._base = Network(frozen or network.backbone, network.heads, network.tokens)
        self._same_reading = frozen is None and not network.context_adapted

    def __call__(
        self,
        network: Network,
        part: Part,
        counts: Mapping[str, int],
        weights: Mapping[str, float],
        trunk: SharedTrunk | None = None,
    ) -> dict[str, float]:
        """As `run_part`; counts and weights hold LM_KL_BASE too. Its pass follows the other losses' and frees them."""
        sums = run_part(network, part, counts, weights, trunk)
        chosen = [
            (example, [example.forks[i] for i in picked if example.forks[i].kind == "generate"])
            for example, picked in zip(part.examples, part.forks, strict=True)
        ]
        chosen = [(example, forks) for example, forks in chosen if forks]
        if not chosen or not weights[LM_KL_BASE]:
            return sums
        asked = [(index, fork) for index, (_, forks) in enumerate(chosen) for fork in forks]
        contexts = [example.context for example, _ in chosen]
        reading = trunk.leaves() if trunk else read_contexts(network, contexts)
        with torch.no_grad():
            base_reading: Reading = reading if self._same_reading else read_contexts(self._base, contexts)
            base = self._base.answer(base_reading, asked, exact=False)
        own = network.answer(reading, asked, exact=False)
        losses = []
        for (_, fork), hidden, frozen in zip(asked, own, base, strict=True):
            assert isinstance(hidden, torch.Tensor) and isinstance(frozen, torch.Tensor)
            losses.append(base_kl(network, hidden[fork.lm_start - 1 : -1], frozen[fork.lm_start - 1 : -1]))
        total = torch.stack(losses).sum()
        (weights[LM_KL_BASE] / max(counts[LM_KL_BASE], 1) * total).backward()
        return sums | {LM_KL_BASE: float(total.detach())}
