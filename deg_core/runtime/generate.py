"""Writing x-generate text: constrained decoding of independent rows in one batch (contract section 12.3)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from deg_core.config import FillOptions
from deg_core.contract.errors import FillError
from deg_core.contract.outcome import Generated
from deg_core.contract.patterns import pattern_of
from deg_core.contract.plan import FieldPlan
from deg_core.model.decode import DecodeRows
from deg_core.model.network import Network
from deg_core.model.state import State
from deg_core.model.tokens import Tokens
from deg_core.runtime.step import DecodeStep, next_logits

TRIED_TOKENS = 256
INCOMPLETE = "�"
PROBES = "éж京😀"
FIRST_ROOM = 512
"""Tokens that rows get room for at first, their headers among them; it doubles when one needs more."""


class TextRule:
    """What a text may become: minLength, maxLength and pattern of a leaf, checked while it grows."""

    def __init__(self, plan: FieldPlan):
        self._least = plan.constraints.get("minLength", 0)
        self._most = plan.constraints.get("maxLength")
        pattern = plan.constraints.get("pattern")
        self._pattern = pattern_of(pattern) if pattern is not None else None

    def may_continue(self, text: str) -> bool:
        """Whether some continuation of this text is valid.

        A character whose bytes are not all there decodes to one INCOMPLETE at the end; which character it will
        be is not known, so it is taken only where the pattern takes any.
        """
        whole = text.removesuffix(INCOMPLETE)
        if INCOMPLETE in whole or (self._most is not None and len(text) > self._most):
            return False
        return all(
            self._partial(candidate) for candidate in ((whole + c for c in PROBES) if whole != text else (text,))
        )

    def _partial(self, text: str) -> bool:
        return self._pattern is None or self._pattern.may_be_found_in(text)

    def may_end(self, text: str) -> bool:
        """Whether the text is valid as it is."""
        if INCOMPLETE in text or len(text) < self._least or (self._most is not None and len(text) > self._most):
            return False
        return self._pattern is None or self._pattern.found_in(text)


@dataclass
class Writer:
    """One field being written.

    prefix: the state that its header continues; own: the header's, apart from it; hidden: float [E], at its last token.
    """

    pointer: str
    rule: TextRule
    budget: int
    temperature: float
    stream: np.random.Generator | None
    prefix: State
    own: State
    hidden: torch.Tensor
    ids: list[int] = field(default_factory=list)
    result: Generated | FillError | None = None

    @classmethod
    def of(
        cls, plan: FieldPlan, pointer: str, options: FillOptions, prefix: State, own: State, hidden: torch.Tensor
    ) -> Writer:
        """A writer with its own random stream, seeded by (seed, pointer)."""
        stream = None
        if options.temperature > 0:
            digest = hashlib.sha256(f"{options.seed}\n{pointer}".encode()).digest()
            stream = np.random.default_rng(np.frombuffer(digest, np.uint32))
        budget = plan.max_tokens or options.max_new_tokens
        return cls(pointer, TextRule(plan), budget, options.temperature, stream, prefix, own, hidden)

    def order(self, logits: np.ndarray) -> np.ndarray:
        """Token ids to try: by logit, or in the order of a draw without replacement (Gumbel keys)."""
        if self.stream is not None:
            logits = logits / self.temperature + self.stream.gumbel(size=logits.shape)
        return np.argsort(-logits, kind="stable")

    def _may_take(self, token: int, tokens: Tokens) -> bool:
        ids = [*self.ids, token]
        text = tokens.decode(ids)
        return self.rule.may_continue(text) and (text[-1:] != INCOMPLETE or tokens.ends_within_character(ids))

    def take(self, logits: np.ndarray, tokens: Tokens) -> None:
        """Choose the next token from float32 [V] logits, or end; V may be more than the tokenizer has."""
        order = self.order(logits[: tokens.vocabulary])
        for token in (*order[:TRIED_TOKENS].tolist(), tokens.end_id, *order[TRIED_TOKENS:].tolist()):
            if token == tokens.end_id:
                text = tokens.decode(self.ids)
                if self.rule.may_end(text):
                    self.result = Generated(self._trimmed(text), len(self.ids) + 1)
                    return
            elif token not in tokens.special_ids and self._may_take(token, tokens):
                self.ids.append(token)
                break
        else:
            self.result = FillError(self.pointer, "no token can continue the text within its constraints")
            return
        if len(self.ids) >= self.budget:
            text = tokens.decode(self.ids).removesuffix(INCOMPLETE)
            valid = self.rule.may_end(text)
            reason = f"the {self.budget} tokens of its budget end before its constraints are met; raise x-max-tokens"
            written = Generated(self._trimmed(text), len(self.ids))
            self.result = written if valid else FillError(self.pointer, reason)

    def _trimmed(self, text: str) -> str:
        """The text without the space around it, where it is valid so: a word's token begins with its space."""
        bare = text.strip()
        return bare if self.rule.may_end(bare) else text


def write_all(network: Network, writers: Sequence[Writer]) -> None:
    """Decode every writer to its result, one token a step for all of them together."""
    if not writers:
        return
    _take(writers, next_logits(network.backbone, torch.stack([writer.hidden for writer in writers])), network.tokens)
    writing = [writer for writer in writers if writer.result is None]
    step = DecodeStep(network, _rows(network, writing)) if writing else None
    while step and (going := [row for row, writer in enumerate(writing) if writer.result is None]):
        if step.is_spent(going):
            writing = [writing[row] for row in going]
            used = [step.rows.used[row] for row in going]
            step = DecodeStep(network, step.rows.moved(going, _room(writing, used)))
            going = list(range(len(writing)))
        _take(writing, step.run({row: writing[row].ids[-1] for row in going}), network.tokens)


def _rows(network: Network, writers: Sequence[Writer]) -> DecodeRows:
    own = [writer.own for writer in writers]
    room = _room(writers, [state.length for state in own])
    return DecodeRows(network.backbone.family, [writer.prefix for writer in writers], own, room)


def _room(writers: Sequence[Writer], used: Sequence[int]) -> int:
    """Tokens that rows which used so many get room for: at most what the longest one may need."""
    most = max(writer.own.length + writer.budget for writer in writers)
    return min(most, max(FIRST_ROOM, 2 * max(used)))


def _take(writers: Sequence[Writer], logits: torch.Tensor, tokens: Tokens) -> None:
    for writer, row in zip(writers, logits.float().cpu().numpy(), strict=True):
        if writer.result is None:
            writer.take(row, tokens)
