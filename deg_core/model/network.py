"""Backbone, adapters and heads together: read contexts once, answer forks (contract section 12).

E = hidden width, X = width of a context token's views (heads.py), T = context tokens, N = flat tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from deg_core.model.adapters import Adapters, merge
from deg_core.model.backbone import Backbone
from deg_core.model.fork import ForkTokens
from deg_core.model.heads import VIEW_DEPTHS, CountLogits, Heads, SpanLogits, exact_boundary_keys
from deg_core.model.projection import ROUNDED, TILE, Int8Projector, Int8Weight, Projector, exact_projector
from deg_core.model.rows import Rows
from deg_core.model.state import State
from deg_core.model.tokens import Tokens

EXACT_FORK_TOKENS = 4096
READ_TOKENS = 4096
"""A longer context is read in pieces of this many tokens, so that what a reading takes beside its result stays the same.
A multiple of a tile, of a query block and of a scan: then the pieces give the bits of one reading of the whole."""
Output = torch.Tensor | SpanLogits | CountLogits


@dataclass
class Reading:
    """Contexts that were read.

    states: the trunk state of each. around: for each, the views of its tokens, [T + 2, X] in the compute dtype, from
    the token before the context to the one after it. keys: boundary keys of (head, context), made when first asked for.
    """

    states: list[State]
    around: list[torch.Tensor]
    keys: dict[tuple[str, int], torch.Tensor] = field(default_factory=dict)


class Network:
    """The model as a function of tokens.

    adapters: trained low-rank adapters ({} in full fine-tuning). scale: alpha / rank.
    context_adapted: whether the adapted weights read the context too (lora_context).
    int8: whether exact projections are computed in int8 where that pays, see projection.ROUNDED.
    exact=True computes from merged weights, without gradient.
    """

    def __init__(
        self,
        backbone: Backbone,
        heads: Heads,
        tokens: Tokens,
        adapters: Adapters | None = None,
        scale: float = 1.0,
        context_adapted: bool = True,
    ):
        self.backbone = backbone
        self.heads = heads
        self.tokens = tokens
        self.adapters = adapters or {}
        self.scale = scale
        self.context_adapted = context_adapted
        self.int8 = False
        self._exact: dict[bool, Projector] = {}
        self._keys: Projector | None = None

    def projector(self, *, context: bool, exact: bool, tile: int = TILE) -> Projector:
        """The projections that read contexts (context=True) or forks. tile: where exact ones need tiles, their rows."""
        adapted = (self.context_adapted or not context) and bool(self.adapters)
        if not exact:
            return Projector(self.backbone.weights, self.adapters if adapted else None, self.scale)
        if adapted not in self._exact:
            self._exact[adapted] = self._exact_projector(adapted)
        made = self._exact[adapted]
        return Projector(made.weights, tile=tile) if type(made) is Projector else made

    def _exact_projector(self, adapted: bool) -> Projector:
        weights: Mapping[str, torch.Tensor] = self.backbone.weights
        names = list(self.backbone.family.targets())
        if adapted:
            with torch.no_grad():
                weights = merge(weights, self.adapters, self.scale)
        int8: dict[str, Int8Weight] = {}
        if self.int8:
            int8 = {name: Int8Weight.of(weights[name]) for name in names if name.endswith(ROUNDED)}
        plain = exact_projector(weights, [name for name in names if name not in int8], self.backbone.weights)
        return Int8Projector(plain, int8) if int8 else plain

    def _exact_keys(self, head: str, around_BX: torch.Tensor) -> torch.Tensor:
        if self._keys is None:
            weights = self.heads.key_weights(self.backbone.dtype)
            self._keys = exact_projector(weights, weights, {})
        return exact_boundary_keys(self._keys, head, around_BX)

    def without_adapters(self) -> Network:
        """The base as it is, with weights and what was made of them shared."""
        plain = Network(self.backbone, self.heads, self.tokens)
        plain.int8, plain._exact, plain._keys = self.int8, self._exact, self._keys
        return plain

    def weights_changed(self) -> None:
        """Forget what was made of the weights, after an optimizer step."""
        self._exact.clear()
        self._keys = None

    def read(self, contexts: Sequence[np.ndarray], *, exact: bool) -> Reading:
        """Read each context once. contexts: int32 [T] ids, without the trunk's prefix and suffix."""
        before, after = self.tokens.prefix_ids, self.tokens.suffix_ids
        trunks = [self._ids(np.concatenate((before, context, after))) for context in contexts]
        trainable = self.context_adapted or not self.adapters
        with torch.set_grad_enabled(torch.is_grad_enabled() and trainable):
            hidden, states = self._read_trunks(trunks, self.projector(context=True, exact=exact))
        around = [part[len(before) - 1 : len(part) - len(after) + 1] for part in hidden]
        return Reading(states, around)

    def _read_trunks(
        self, trunks: Sequence[torch.Tensor], project: Projector
    ) -> tuple[Sequence[torch.Tensor], list[State]]:
        """Views [n, X] and state of each trunk; exact ones that are long are read alone and in pieces."""
        if project.exact and max(map(len, trunks)) > READ_TOKENS:
            read = [self._read_pieces(trunk.split(READ_TOKENS), project) for trunk in trunks]
            return [views for views, _ in read], [state for _, state in read]
        rows = Rows([len(trunk) for trunk in trunks])
        views, states = self.backbone.forward(torch.cat(list(trunks)), rows, project, keep=True, views=VIEW_DEPTHS)
        return views.split(list(rows.lengths)), states

    def _read_pieces(self, pieces: Sequence[torch.Tensor], project: Projector) -> tuple[torch.Tensor, State]:
        views: list[torch.Tensor] = []
        states: list[State] = []
        for piece in pieces:
            rows = Rows([len(piece)], [0] if states else None, states)
            part, states = self.backbone.forward(piece, rows, project, keep=True, views=VIEW_DEPTHS)
            views.append(part)
        return torch.cat(views), states[0]

    def answer(self, reading: Reading, forks: Sequence[tuple[int, ForkTokens]], *, exact: bool) -> list[Output]:
        """The raw logits of each fork (before temperatures), float32.

        forks: (index of the context, query), grouped by context for speed. Per kind: choice, score [O];
        noul [2] for true and false; count CountLogits; extract SpanLogits; generate: the hidden
        states [n, E] of its own tokens, in the compute dtype.
        """
        outputs: list[Output] = []
        for batch in _batches(forks, EXACT_FORK_TOKENS if exact else 0):
            rows = Rows([len(fork.ids) for _, fork in batch], [context for context, _ in batch], reading.states)
            ids = self._ids(np.concatenate([fork.ids for _, fork in batch]))
            hidden, _ = self.backbone.forward(ids, rows, self.projector(context=False, exact=exact))
            for start, length, (context, fork) in zip(rows.starts, rows.lengths, batch, strict=True):
                outputs.append(self._head(reading, context, fork, hidden[start : start + length], exact))
        return outputs

    def _head(self, reading: Reading, context: int, fork: ForkTokens, hidden: torch.Tensor, exact: bool) -> Output:
        heads = self.heads
        if fork.kind == "generate":
            return hidden
        answer = hidden[-1].float()
        if fork.kind in ("choice", "score"):
            options = hidden[torch.from_numpy(fork.options).long().to(hidden.device)].float()
            embed = self.backbone.weights["lm_head"]
            words = embed[torch.from_numpy(fork.option_tokens).long().to(embed.device)].float()
            readout = (words * answer).sum(-1)
            return getattr(heads, fork.kind)(answer, options, readout)
        if fork.kind == "noul":
            logit = (heads.noul.weight[0] * answer).sum() + heads.noul.bias[0]
            return torch.stack((logit, torch.zeros_like(logit)))
        head, place = getattr(heads, fork.kind), (fork.kind, context)
        if place not in reading.keys:
            around = reading.around[context]
            reading.keys[place] = self._exact_keys(fork.kind, around) if exact else head.keys(around)
        return head(answer, reading.keys[place], fork.anchor, fork.region_end)

    def lm_logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Next-token logits [N, V] of hidden states [N, E], in the compute dtype."""
        return torch.nn.functional.linear(hidden, self.backbone.weights["lm_head"])

    def _ids(self, ids: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(ids.astype(np.int64)).to(self.backbone.device)


def _batches(forks: Sequence[tuple[int, ForkTokens]], limit: int) -> Sequence[Sequence[tuple[int, ForkTokens]]]:
    """Runs of forks of at most `limit` tokens each (at least one fork); limit 0 = one run."""
    if not limit:
        return [forks] if forks else []
    batches: list[list[tuple[int, ForkTokens]]] = []
    room = 0
    for fork in forks:
        need = len(fork[1].ids)
        if not batches or need > room:
            batches.append([])
            room = limit
        batches[-1].append(fork)
        room -= need
    return batches
