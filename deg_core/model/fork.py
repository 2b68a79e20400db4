"""A query in tokens: what the model reads after a context (contract section 12.1)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from deg_core.contract.query import Query
from deg_core.model.tokens import Tokens

MAX_COUNT = 64
FORK_KINDS = ("choice", "score", "noul", "count", "extract", "generate")


def empty_int() -> np.ndarray:
    """An int32 array without elements."""
    return np.zeros(0, np.int32)


@dataclass
class ForkTokens:
    """One query.

    kind: one of FORK_KINDS. field: the leaf's pointer with array indices as '*'.
    ids: int32 [n]. options: int32 [o], positions in ids of the option lines' last tokens (choice, score).
    option_tokens: int32 [o], first token of each option's text, for the readout feature.
    anchor, region_end: of the array item that the query is about, in context tokens: where the item starts,
    and where the next one does; -1 outside items and where no token can say where an item starts.
    """

    kind: str
    field: str
    ids: np.ndarray
    options: np.ndarray = dataclasses.field(default_factory=empty_int)
    option_tokens: np.ndarray = dataclasses.field(default_factory=empty_int)
    anchor: int = -1
    region_end: int = -1

    def __post_init__(self) -> None:
        if self.kind not in FORK_KINDS:
            raise ValueError(f"fork kind {self.kind!r} is none of {FORK_KINDS}")


def first_word_token(tokens: Tokens, text: str) -> int:
    """Id of the first token of an option's text that is more than white space."""
    ids = tokens.encode_line(" " + text)
    blanks = tokens.encode_line(" ")
    return next((i for i in ids if i not in blanks), ids[0])


def tokenize_query(tokens: Tokens, kind: str, field_pointer: str, query: Query) -> ForkTokens:
    """Tokenise a query line by line, so that a line's tokens never depend on its neighbours."""
    ids: list[int] = []
    ends: list[int] = []
    for line in query.lines:
        ids.extend(tokens.encode_line(line))
        ends.append(len(ids) - 1)
    return ForkTokens(
        kind=kind,
        field=field_pointer,
        ids=np.asarray(ids, np.int32),
        options=np.asarray([ends[i] for i in query.option_lines], np.int32),
        option_tokens=np.asarray([first_word_token(tokens, text) for text in query.option_texts], np.int32),
    )
