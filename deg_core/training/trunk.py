"""Trunks in training: one pass shared by several parts, and long contexts in pieces (training specification, section 5).

E = hidden width, X = width of a context token's views, T = context tokens.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch.utils.checkpoint import checkpoint

from deg_core.model.backbone import VIEW_EPS
from deg_core.model.heads import VIEW_DEPTHS
from deg_core.model.network import READ_TOKENS, Network, Reading
from deg_core.model.projection import Projector
from deg_core.model.rows import Rows
from deg_core.model.state import LayerState, State

LONG_TOKENS = 8192
"""A trunk of more tokens is read in pieces of PIECE_TOKENS, each layer of each piece checkpointed."""
PIECE_TOKENS = READ_TOKENS


def is_long(context: int) -> bool:
    """Whether a context of this many tokens is read in pieces."""
    return context > LONG_TOKENS


def read_contexts(network: Network, contexts: Sequence[np.ndarray], *, in_pieces: bool = False) -> Reading:
    """Network.read with a gradient whose memory stays bounded where contexts are long.

    contexts: int32 [T]. in_pieces: whatever their lengths.
    """
    long = [index for index, context in enumerate(contexts) if in_pieces or is_long(len(context))]
    short = [index for index in range(len(contexts)) if index not in long]
    read = {index: _read_long(network, contexts[index]) for index in long}
    if short:
        reading = network.read([contexts[index] for index in short], exact=False)
        read |= dict(zip(short, zip(reading.states, reading.around, strict=True), strict=True))
    ordered = [read[index] for index in range(len(contexts))]
    return Reading([state for state, _ in ordered], [around for _, around in ordered])


def _read_long(network: Network, context: np.ndarray) -> tuple[State, torch.Tensor]:
    """State and views [T + 2, X] of one context, piece by piece.

    A backward keeps the hidden states between the layers and each layer's own keys and values; what is inside a layer
    is computed again.
    """
    before, after = network.tokens.prefix_ids, network.tokens.suffix_ids
    ids = torch.from_numpy(np.concatenate((before, context, after)).astype(np.int64)).to(network.backbone.device)
    trains = network.context_adapted or not network.adapters
    with torch.set_grad_enabled(torch.is_grad_enabled() and trains):
        walk = _LongRead(network, network.projector(context=True, exact=False))
        views = torch.cat([walk.piece(piece) for piece in ids.split(PIECE_TOKENS)])
        return walk.state(), views[len(before) - 1 : len(views) - len(after) + 1]


class _LongRead:
    """A trunk being read. pieces: of every layer, what each piece left behind."""

    def __init__(self, network: Network, project: Projector):
        self._family, self._project = network.backbone.family, project
        self._layers = network.backbone.shape.layers
        self._depths = [round(depth * self._layers) for depth in VIEW_DEPTHS]
        self._pieces: list[list[LayerState]] = [[] for _ in range(self._layers)]
        self._length = 0

    def piece(self, ids: torch.Tensor) -> torch.Tensor:
        """Views [n, X] of the next tokens, int64 [n]."""
        family, weights = self._family, self._project.weights
        x = torch.nn.functional.embedding(ids, weights["embed"])
        positions = torch.arange(self._length, self._length + len(ids), device=ids.device)
        rotary = family.rotary(positions, x.dtype)
        seen: dict[int, torch.Tensor] = {}
        for index in range(self._layers):
            if index in self._depths:
                seen[index] = torch.nn.functional.rms_norm(x, (x.shape[-1],), eps=VIEW_EPS)
            before = tuple(self._pieces[index])
            x, own = checkpoint(
                self._layer, index, x, rotary, before, self._length, use_reentrant=False, preserve_rng_state=False
            )
            self._pieces[index].append(own)
        self._length += len(ids)
        return torch.cat((family.norm(x, weights["norm"]), *(seen[depth] for depth in self._depths)), -1)

    def _layer(
        self,
        index: int,
        x_NE: torch.Tensor,
        rotary: tuple[torch.Tensor, torch.Tensor],
        before: tuple[LayerState, ...],
        length: int,
    ) -> tuple[torch.Tensor, LayerState]:
        """One layer of one piece after the pieces before it, which are put together here, to be freed again."""
        if not before:
            rows = Rows([len(x_NE)])
        else:
            here = self._joined(index, before)
            layers = tuple(here if layer == index else () for layer in range(self._layers))
            rows = Rows([len(x_NE)], [0], [State(length, layers)])
        x_NE, (own,) = self._family.layer(index, x_NE, self._project, rotary, rows, grouped=True)
        return x_NE, own

    def _joined(self, index: int, pieces: Sequence[LayerState]) -> LayerState:
        joined: LayerState | None = None
        for piece in pieces:
            joined = self._family.keep(index, joined, piece)
        assert joined is not None
        return joined

    def state(self) -> State:
        """What all pieces left behind."""
        return State(self._length, tuple(self._joined(index, pieces) for index, pieces in enumerate(self._pieces)))


class SharedTrunk:
    """One record's context, read once for several parts.

    Each part gets leaves of its own, which alias the trunk's outputs: a part that fails is dropped without a trace,
    and only the gradient of a part that is done is kept. `backward` then takes the sum through the trunk.
    """

    def __init__(self, network: Network, context: np.ndarray):
        self._network, self._context = network, context
        self._reading: Reading | None = read_contexts(network, [context])
        self._outputs = _tensors(self._reading)
        self.trains = any(output.requires_grad for output in self._outputs)
        self._leaves: list[list[torch.Tensor]] = []
        self._gradients: list[torch.Tensor | None] = [None] * len(self._outputs)

    def leaves(self) -> Reading:
        """A reading for the next part, which may ask for several; its gradients end here."""
        assert self._reading is not None
        (state,), (around,) = self._reading.states, self._reading.around
        leaves = [output.detach().requires_grad_(output.requires_grad) for output in self._outputs]
        self._leaves.append(leaves)
        waiting = iter(leaves)
        first = next(waiting)
        layers = tuple(tuple(next(waiting) for _ in layer) for layer in state.layers)
        assert first.shape == around.shape
        return Reading([State(state.length, layers)], [first])

    def keep(self) -> None:
        """Add the gradient of the part that was done."""
        for index, leaf in (pair for leaves in self._leaves for pair in enumerate(leaves)):
            if leaf.grad is not None:
                kept = self._gradients[index]
                self._gradients[index] = leaf.grad if kept is None else kept.add_(leaf.grad)
        self._leaves = []

    def backward(self) -> None:
        """Backpropagate what the parts left; the trunk's graph is gone then, the kept gradients stay."""
        reached = [(out, grad) for out, grad in zip(self._outputs, self._gradients, strict=True) if grad is not None]
        self._reading, self._outputs = None, []
        if reached:
            torch.autograd.backward([out for out, _ in reached], [grad for _, grad in reached])

    def read_again(self) -> None:
        """Read the context once more in pieces, whatever its length: the least that `backward` can take."""
        self._reading = read_contexts(self._network, [self._context], in_pieces=True)
        self._outputs = _tensors(self._reading)


def _tensors(reading: Reading) -> list[torch.Tensor]:
    (state,), (around,) = reading.states, reading.around
    return [around, *(tensor for layer in state.layers for tensor in layer)]
