"""Short records in the middle of unrelated text (training specification, section 2; contract section 12.4)."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Sequence

import numpy as np

from deg_core.model.tokens import Tokens
from deg_core.pools.example import Example
from deg_core.pools.examples import build_absent, build_example
from deg_core.pools.lines import RawLine
from deg_core.pools.records import Record, parse_line
from deg_core.pools.schemas import Schemas
from deg_core.pools.store import Pool

BLANK_LINE = "\n\n"
SEAM_TOKENS = 2
SPARE_TOKENS = 16  # of words at the ends of a piece that are left out because they are cut
LEAST_TOKENS = 64
MOST_TRIES = 64
LONGEST_WORD = 40
_SPACE = re.compile(r"\s")


class Filler:
    """Builds drawn records again with other documents' text around them, or in their place.

    The text is of training records of the same pools: never of a document that has a validation or test record, nor
    of the record's own (by doc_id and by the context itself). Pools hold no evaluation material. To be unrelated, a
    text's own record may share no field name with the record that it surrounds, for what the fields ask may be
    answered in it too. Sources of which any text may answer the questions are left out by their setting `filler`.

    most_tokens: of a built context. negative_share: of the records whose text takes the record's place.
    """

    def __init__(self, pools: Sequence[Pool], tokens: Tokens, most_tokens: int, negative_share: float):
        self._pools = pools
        self._tokens = tokens
        self._most = most_tokens
        self._negative_share = negative_share
        self._schemas = Schemas()
        self._rows = _usable(pools)

    def build(self, pool: Pool, example: Example, rng: np.random.Generator) -> tuple[Example, bool] | None:
        """The example in other text, in all log-uniform from LEAST_TOKENS more than its own to most_tokens.

        The answer says whether the text stands in the document's place. Then only the top-level arrays train that hold
        copied values and may be empty: as empty. A record without such arrays keeps its document. None where the
        context leaves no room, nothing unrelated is at hand, or what is built is too long or asks nothing.
        """
        least = len(example.context) + LEAST_TOKENS
        if not example.line or not pool.takes_filler or least > self._most or not len(self._rows):
            return None
        length = round(float(np.exp(rng.uniform(np.log(least), np.log(self._most)))))
        absent = rng.random() < self._negative_share
        record = parse_line(RawLine(1, 0, len(example.line), example.line, True), self._schemas)
        assert isinstance(record, Record)
        built = self._without(pool, record, example, length, rng) if absent else None
        absent = built is not None
        built = built or self._around(pool, record, example, length, rng)
        if built is None or not built.forks or len(built.context) > self._most:
            return None
        return built, absent

    def _without(
        self, pool: Pool, record: Record, example: Example, length: int, rng: np.random.Generator
    ) -> Example | None:
        """A text alone, None where the record has no array that can be empty, or the pool does not ask for arrays."""
        text = self._text(example, length, rng)
        if text is None or pool.forks != "all":
            return None
        built = build_absent(record, self._cut(text, 0, length)[1], self._tokens, pool.layout)
        return built if built.forks else None

    def _around(
        self, pool: Pool, record: Record, example: Example, length: int, rng: np.random.Generator
    ) -> Example | None:
        """The record at a place in the text that is drawn uniformly, between blank lines."""
        room = length - len(example.context) - SEAM_TOKENS
        text = self._text(example, room, rng)
        if text is None:
            return None
        before, after = self._cut(text, int(rng.integers(room + 1)), room)
        before, after = before and before + BLANK_LINE, after and BLANK_LINE + after
        return build_example(record, self._tokens, pool.layout, before, after, pool.forks)[0]

    def _text(self, example: Example, tokens: int, rng: np.random.Generator) -> str | None:
        """Text of at least this many tokens that is unrelated to an example; None when there is not enough of it."""
        names, own = _names(f.field for f in example.forks), _digest(example.context)
        pieces: list[str] = []
        used: set[int] = set()
        tokens += SPARE_TOKENS
        tries = 0
        while tokens > 0:
            pick = int(rng.integers(len(self._rows)))
            pool, row = self._pools[self._rows[pick, 0]], int(self._rows[pick, 1])
            context = pool.context(row)
            related = pool.doc_ids[row] == example.doc_id or _digest(context) == own
            if pick in used or related or names & _names(pool.fields(row)):
                tries += 1
                if tries == MOST_TRIES:
                    return None
                continue
            tries = 0
            used.add(pick)
            start = int(rng.integers(max(0, len(context) - tokens) + 1))
            piece = context[start : start + tokens]
            text = self._tokens.decode(piece.tolist())
            first = _first_space(text) if start else 0
            last = _last_space(text) if start + len(piece) < len(context) else len(text)
            pieces.append(text[first:last].strip().strip("\ufffd"))
            tokens -= len(piece)
        return BLANK_LINE.join(pieces)

    def _cut(self, text: str, middle: int, end: int) -> tuple[str, str]:
        """Of a text's first `end` tokens those before token `middle` and the others, cut between words."""
        starts = self._tokens.encode_context(text).starts
        half, whole = (_place_of(text, starts, token) for token in (middle, end))
        return text[:half].strip(), text[half:whole].strip()


def _place_of(text: str, starts: np.ndarray, token: int) -> int:
    """The first place from a token on where a word ends: 0 for the first token."""
    if not 0 < token < len(starts):
        return len(text) if token else 0
    return _word_end(text, int(starts[token]))


def _word_end(text: str, start: int) -> int:
    """The white space that follows a place, or the place itself where writing goes on without any."""
    found = _SPACE.search(text, start, start + LONGEST_WORD)
    return found.start() if found else start if start + LONGEST_WORD < len(text) else len(text)


def _first_space(text: str) -> int:
    found = _SPACE.search(text, 0, LONGEST_WORD)
    return found.start() if found else 0


def _last_space(text: str) -> int:
    place = text.rfind(" ", len(text) - LONGEST_WORD)
    return place if place > 0 else len(text)


def _names(pointers: Iterable[str]) -> set[str]:
    """The last property name of each field."""
    return {next((step for step in reversed(pointer.split("/")) if step != "*"), "") for pointer in pointers}


def _digest(context: np.ndarray) -> int:
    return zlib.crc32(context.tobytes())


def _usable(pools: Sequence[Pool]) -> np.ndarray:
    """int32 [n, 2]: pool and row of the training records that ask something and of which no document is held out."""
    held: set[str | int] = set()
    for pool in pools:
        for row, split in enumerate(pool.splits):
            if split != "train":
                held |= {pool.doc_ids[row], _digest(pool.context(row))}
    rows = [
        (number, row)
        for number, pool in enumerate(pools)
        for row, (split, forks) in enumerate(zip(pool.splits, pool.fork_counts, strict=True))
        if split == "train" and forks and held.isdisjoint((pool.doc_ids[row], _digest(pool.context(row))))
    ]
    return np.asarray(rows, np.int32).reshape(-1, 2)
