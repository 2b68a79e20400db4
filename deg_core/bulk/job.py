"""What a bulk fill is: the job that every worker gets, its shards, and the filler that answers texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from deg_core.bulk.readers import Reader, open_corpus
from deg_core.config.settings import FillOptions


@dataclass(frozen=True)
class Filled:
    """The answer for one text: the response (contract 8) or the error of that text alone, and its milliseconds."""

    response: dict[str, Any] | Exception
    ms: float


class Filler(Protocol):
    """Fills one schema from texts: one Filled a text, in order. An answer depends on its own text only."""

    def __call__(self, texts: list[str]) -> list[Filled]: ...


@dataclass(frozen=True)
class FillJob:
    """Everything that a worker needs to fill shards of one corpus; it is pickled to each of them.

    home: root of the home directory, for the checkpoint's base. folder: where the parts lie.
    key: the artifact's key, written into every part. filler_factory: importable, called once in each worker with this job.
    """

    corpus: Path
    text_column: str
    id_column: str
    schema: Mapping[str, Any]
    checkpoint: Path
    home: Path
    options: FillOptions
    dtype: str
    generate: str
    batch_documents: int
    folder: Path
    key: str
    filler_factory: Callable[[FillJob], Filler]

    def open_corpus(self) -> Reader:
        """The corpus reader; raises InputError."""
        return open_corpus(self.corpus, text_column=self.text_column, id_column=self.id_column)


@dataclass(frozen=True)
class Shard:
    """Documents [start, stop) of a corpus, by number; the first begins at offset (see Document)."""

    index: int
    start: int
    stop: int
    offset: int

    def __len__(self) -> int:
        return self.stop - self.start


def plan_shards(reader: Reader, shard_documents: int) -> list[Shard]:
    """Cut a corpus into shards of consecutive documents, in one streaming pass."""
    shards: list[Shard] = []
    start = offset = stop = 0
    for document in reader.documents():
        if document.number == start:
            offset = document.offset
        stop = document.number + 1
        if stop - start == shard_documents:
            shards.append(Shard(len(shards), start, stop, offset))
            start = stop
    if stop > start:
        shards.append(Shard(len(shards), start, stop, offset))
    return shards
