"""Fill one shard: read its documents, answer them in batches, write its part."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator

from deg_core.bulk.documents import Document
from deg_core.bulk.job import Filled, Filler, FillJob, Shard
from deg_core.bulk.writer import PartSummary, PartWriter, Row, read_summary
from deg_core.contract import compile_schema
from deg_core.contract.errors import DegError


class ShardFiller:
    """Fills shards of one job in this process; the filler is made once."""

    def __init__(self, job: FillJob, filler: Filler | None = None):
        self._job = job
        self._reader = job.open_corpus()
        self._writer = PartWriter(job.folder, job.key, compile_schema(job.schema))
        self._filler = filler or job.filler_factory(job)

    def fill(self, shard: Shard, advance: Callable[[int], None] = lambda n: None) -> PartSummary:
        """Write the shard's part, or return its summary when it is there already.

        advance: told how many more documents are done, after each batch.
        """
        found = read_summary(self._job.folder, self._job.key, shard)
        if found is not None:
            advance(len(shard))
            return found
        rows: list[Row] = []
        documents = self._documents(shard)
        while batch := list(itertools.islice(documents, self._job.batch_documents)):
            rows += fill_documents(self._filler, batch)
            advance(len(batch))
        return self._writer.write(shard, rows)

    def fill_one(self, shard: Shard, number: int) -> Row:
        """The row of one document of a shard, alone; nothing is written."""
        documents = itertools.islice(self._documents(shard), number - shard.start, None)
        return fill_documents(self._filler, [next(documents)])[0]

    def _documents(self, shard: Shard) -> Iterator[Document]:
        return itertools.islice(self._reader.documents(shard.start, shard.offset), len(shard))


def fill_shard(job: FillJob, shard: Shard, filler: Filler | None = None) -> PartSummary:
    """Fill one shard in this process and write its part, unless it is there: the unit of a scheduler's task.

    filler: one made before, so that several shards share a loaded model; None makes one for this call.
    """
    found = read_summary(job.folder, job.key, shard)
    return found or ShardFiller(job, filler).fill(shard)


def fill_documents(filler: Filler, documents: list[Document]) -> list[Row]:
    """One row a document, in order; a document without text, or whose fill fails, has an error row."""
    texts = [document.text for document in documents if document.text is not None]
    answers = iter(_answer(filler, texts))
    rows = []
    for document in documents:
        if document.text is None:
            rows.append(Row(document.doc_id, None, document.error, None))
            continue
        filled = next(answers)
        if isinstance(filled.response, Exception):
            rows.append(Row(document.doc_id, None, error_text(filled.response), filled.ms))
        else:
            rows.append(Row(document.doc_id, filled.response, None, filled.ms))
    return rows


def _answer(filler: Filler, texts: list[str]) -> list[Filled]:
    """Answers of all texts; a batch that raises as a whole is asked again text by text, to find the one."""
    if not texts:
        return []
    started = time.perf_counter()
    try:
        answers = filler(texts)
    except Exception as error:
        if len(texts) == 1:
            return [Filled(error, 1000 * (time.perf_counter() - started))]
        return [answer for text in texts for answer in _answer(filler, [text])]
    if len(answers) != len(texts):
        raise RuntimeError(f"the filler gave {len(answers)} answers for {len(texts)} texts")
    return answers


def error_text(error: Exception) -> str:
    """What stands in the error column: errors of our own in their words, others with their type."""
    return str(error) if isinstance(error, DegError) else f"{type(error).__name__}: {error}"
