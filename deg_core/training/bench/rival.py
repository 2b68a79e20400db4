"""The harder rival: the same base, fine-tuned on the same records for the same time to write the whole JSON object.

It reads what the constrained-decoding baseline reads (instruction, schema, text) and writes compact JSON as the
baseline's grammar spells it, so that `deg evaluate --baseline FOLDER` decodes it under the schema like the base itself.
"""

from __future__ import annotations

import itertools
import json
import random
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TextIO

import torch

from deg_core.artifacts import Home
from deg_core.config import PoolSettings, TrainSettings
from deg_core.contract.errors import InputError
from deg_core.evaluation.baseline import Prompts
from deg_core.model.bases import base_folder
from deg_core.pools.build import records_file
from deg_core.pools.guard import Guard
from deg_core.pools.records import Record, read_records
from deg_core.pools.sets import all_sources
from deg_core.training.bench.peft import Answered, PeftTraining
from deg_core.training.optimizer import schedule
from deg_core.training.step import release_memory

WARM_SHARE = 0.02
CANDIDATES = 32
LOG = "training.jsonl"


Source = tuple[list[Record], float]
"""Training records of one file, and its weight."""


def read_sources(settings: PoolSettings, own_records: Path | None) -> list[Source]:
    """The training records of the settings' sources that the guard lets through; own_records: of the source 'own'.

    Decision records, which ask for no JSON, are no part of them. Raises InputError when a file cannot be used, and when
    no record is left.
    """
    guard = Guard.read(settings.guard)
    sources = []
    for source in all_sources(settings):
        lines = read_records(records_file(source, own_records))
        records = [line for line in lines if isinstance(line, Record) and line.split == "train"]
        sources.append(([record for record in records if guard.match(record.context) is None], source.weight))
    if not any(records for records, _ in sources):
        raise InputError("the sources hold no training record")
    return [source for source in sources if source[0]]


def train_rival(
    sources: Sequence[Source], settings: TrainSettings, seconds: float, out: Path, home: Home, dtype: torch.dtype
) -> dict[str, float]:
    """Train for so many seconds and write the merged model to `out`, with a line for each step in training.jsonl.

    The rate warms up and falls along a cosine over the time, to a tenth. Figures: steps, tokens, computed, documents,
    seconds and loss (mean of the last tenth). Raises InputError when `out` exists.
    """
    if out.exists():
        raise InputError(f"{out} is there already; name a new folder")
    base = base_folder(settings.base, home)
    training = PeftTraining(base, settings, dtype, with_care=True)
    write = Writer(base)
    batches = draw(sources, write, settings)
    building = out.with_name(f".{out.name}.building")
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(parents=True)
    with (building / LOG).open("w") as log:
        figures = _train(training, batches, seconds, log)
    training.save(building)
    write.save(building)
    building.rename(out)
    return figures


def _train(training: PeftTraining, batches: Iterator[list[Answered]], seconds: float, log: TextIO) -> dict[str, float]:
    figures = dict.fromkeys(("steps", "tokens", "computed", "documents", "seconds"), 0.0)
    losses: list[float] = []
    begun = time.perf_counter()
    while figures["seconds"] < seconds:
        batch = next(batches)
        real, computed, loss = training.step(
            batch, schedule(round(figures["seconds"]), round(seconds), round(WARM_SHARE * seconds))
        )
        for name, grown in (("steps", 1), ("tokens", real), ("computed", computed), ("documents", len(batch))):
            figures[name] += grown
        figures["seconds"] = time.perf_counter() - begun
        losses.append(loss)
        release_memory()
        line = {"step": len(losses), "loss": loss, "documents": len(batch), "tokens": real}
        log.write(json.dumps(line | {"seconds": figures["seconds"]}) + "\n")
        log.flush()
    last = losses[-max(1, len(losses) // 10) :]
    return figures | {"loss": sum(last) / len(last)}


class Writer:
    """A record as the tokens that are read and written. save: writes the tokenizer to a folder."""

    def __init__(self, base: Path):
        self._prompts = Prompts(base)
        self._end = [self._prompts.tokenizer.eos_token_id]
        self.save = self._prompts.tokenizer.save_pretrained

    def __call__(self, record: Record) -> Answered:
        text = json.dumps(record.value, ensure_ascii=False, separators=(",", ":"))
        read = self._prompts.prompt(record.context, record.plan.schema)
        return read, [*self._prompts.tokens.encode_text(text), *self._end]


def draw(sources: Sequence[Source], write: Writer, settings: TrainSettings) -> Iterator[list[Answered]]:
    """Batches of one source each, picked by weight, of at most budget_tokens with their padding; one document at least.

    A step's documents are of like length, neighbours of a random one among the source's next few. These come in a random
    order, each record once before any comes again.
    """
    picks = random.Random(settings.seed)
    orders = [map(write, _endless(records, picks.randrange(2**32))) for records, _ in sources]
    waiting: list[list[Answered]] = [[] for _ in sources]
    while True:
        number = picks.choices(range(len(sources)), [weight for _, weight in sources])[0]
        alike = waiting[number]
        alike += itertools.islice(orders[number], CANDIDATES - len(alike))
        alike.sort(key=_width)
        first = end = picks.randrange(len(alike))
        while end < len(alike) and end - first < settings.max_records:
            if end > first and _width(alike[end]) * (end + 1 - first) > settings.budget_tokens:
                break
            end += 1
        yield alike[first:end]
        del alike[first:end]


def _width(document: Answered) -> int:
    return len(document[0]) + len(document[1])


def _endless(records: Sequence[Record], seed: int) -> Iterator[Record]:
    order = random.Random(seed)
    while True:
        yield from order.sample(records, len(records))
