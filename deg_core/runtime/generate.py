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
from deg_core.model.network import Network
from deg_core.model.projection import DECODE_TILE, tiled_linear
from deg_core.model.rows import Rows
from deg_core.model.state import State
from deg_core.model.tokens import Tokens

TRIED_TOKENS = 256
INCOMPLETE = "�"
PROBES = "éж京😀"


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
    """One field being written. state: after its header; hidden: float [E], at its last token."""

    pointer: str
    rule: TextRule
    budget: int
    temperature: float
    stream: np.random.Generator | None
    state: State
    hidden: torch.Tensor
    ids: list[int] = field(default_factory=list)
    result: Generated | FillError | None = None

    @classmethod
    def of(cls, plan: FieldPlan, pointer: str, options: FillOptions, state: State, hidden: torch.Tensor) -> Writer:
        """A writer with its own random stream, seeded by (seed, pointer)."""
        stream = None
        if options.temperature > 0:
            digest = hashlib.sha256(f"{options.seed}\n{pointer}".encode()).digest()
            stream = np.random.default_rng(np.frombuffer(digest, np.uint32))
        budget = plan.max_tokens or options.max_new_tokens
        return cls(pointer, TextRule(plan), budget, options.temperature, stream, state, hidden)

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
    project = network.projector(context=False, exact=True, tile=DECODE_TILE)
    while active := [writer for writer in writers if writer.result is None]:
        hidden = torch.stack([writer.hidden for writer in active])
        padded = torch.nn.functional.pad(hidden, (0, 0, 0, -len(active) % DECODE_TILE))
        logits = tiled_linear(padded, network.backbone.weights["lm_head"], DECODE_TILE)[: len(active)].float().cpu()
        for writer, row in zip(active, logits.numpy(), strict=True):
            writer.take(row, network.tokens)
        going = [writer for writer in active if writer.result is None]
        if not going:
            return
        rows = Rows([1] * len(going), range(len(going)), [writer.state for writer in going])
        ids = torch.tensor([writer.ids[-1] for writer in going], device=network.backbone.device)
        hidden, states = network.backbone.forward(ids, rows, project, keep=True)
        for writer, row, state in zip(going, hidden, states, strict=True):
            writer.hidden, writer.state = row, state
