"""The measuring process of memory-plan calibration: `python -m deg_core.training.measure JOB.json`.

It runs made-up parts of many shapes through the real forward and backward and writes what each took. A process of its
own, since the CPU's peak is the whole process's, and a part too large for the machine must not take others with it.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import BaseModel

from deg_core.artifacts import Home, write_atomically
from deg_core.config import MemorySettings, TrainSettings
from deg_core.contract.errors import DegError
from deg_core.model.allocator import limit_kernels
from deg_core.model.fork import MAX_COUNT
from deg_core.model.model import pick_device, pick_dtype
from deg_core.model.network import Network
from deg_core.pools.example import Example, Fork
from deg_core.training.losses import TERMS
from deg_core.training.memory import (
    GIB,
    MemoryPlan,
    analytic_coefficients,
    is_out_of_memory,
    measured_peak,
    plan_key,
    resident_bytes,
)
from deg_core.training.optimizer import Gradients
from deg_core.training.parts import Part
from deg_core.training.setup import build_network, trainable_groups
from deg_core.training.step import release_memory, run_part, step_counts

EXIT_REFUSED = 2
PROMPT_TOKENS = 32
OPTIONS = 4


class MeasureJob(BaseModel):
    """settings: of the calibration. home: the home directory. base: the backbone's folder. output: file to write."""

    settings: MemorySettings
    home: Path
    base: Path
    output: Path


@dataclass(frozen=True)
class Design:
    """One made-up part: records alike, each with a context and forks of every sort, in tokens.

    decided, extracted: tokens of such forks, in rows of `row` tokens. generated: target tokens of one generate fork
    after PROMPT_TOKENS, 0 = none.
    """

    context: int
    decided: int = 0
    extracted: int = 0
    generated: int = 0
    row: int = 32
    records: int = 1

    @property
    def tokens(self) -> int:
        """Context and fork tokens of the part."""
        written = PROMPT_TOKENS + self.generated if self.generated else 0
        return self.records * (self.context + self.decided + self.extracted + written)


def designs(most: int) -> list[Design]:
    """Parts of up to `most` tokens that tell the features apart: each grows alone, then together with the others.

    Rows are short, usual and long, so that a row's cost and a token's are not taken for each other.
    """
    tiny, small, medium, large, half = (most // share for share in (32, 16, 8, 4, 2))
    wide, long = min(64, medium), min(128, large)
    every = [
        Design(tiny, decided=32),
        Design(large, decided=32),
        Design(half, decided=32),
        Design(most - 32, decided=32),
        Design(tiny, decided=large, row=long),
        Design(tiny, decided=large, row=16),
        Design(medium, decided=half),
        Design(medium, decided=half, row=long),
        Design(half, decided=large, row=wide),
        Design(large, extracted=medium),
        Design(large, extracted=medium, row=16),
        Design(half, extracted=large, row=wide),
        Design(tiny, generated=small),
        Design(tiny, generated=medium),
        Design(medium, generated=medium),
        Design(large, decided=small, extracted=small, generated=tiny, row=16),
        Design(medium, decided=medium, extracted=medium, generated=small, row=wide),
        Design(small, decided=64, extracted=64, records=6),
        Design(small, decided=medium, row=min(32, medium), records=3),
        Design(tiny, decided=large // 2, row=min(32, medium), records=5),
        Design(medium, decided=64, extracted=64, generated=most // 128, row=16, records=4),
        Design(most // 64, decided=32, generated=most // 128, records=12),
    ]
    return [design for design in every if design.tokens <= most]


def made_up_part(design: Design, vocabulary: int, rng: np.random.Generator) -> Part:
    """Random tokens in the shape of a design."""
    row = design.row

    def ids(length: int) -> np.ndarray:
        return rng.integers(0, vocabulary, length).astype(np.int32)

    def decide() -> Fork:
        ends = np.linspace(row // 2, row - 2, OPTIONS).astype(np.int32)
        target = np.full(OPTIONS, 1 / OPTIONS, np.float32)
        return Fork("choice", "/d", ids(row), options=ends, option_tokens=ids(OPTIONS), target=target)

    def count() -> Fork:
        one = np.eye(MAX_COUNT + 1, dtype=np.float32)[1]
        return Fork("count", "/n", ids(row), target=one, spans=np.array([[0, 1]], np.int32))

    def extract() -> Fork:
        return Fork("extract", "/e", ids(row), spans=np.array([[0, design.context // 2 + 1]], np.int32))

    def record(number: int) -> Example:
        forks = [count() if index % 8 == 7 else decide() for index in range(design.decided // row)]
        forks += [extract() for _ in range(design.extracted // row)]
        if design.generated:
            forks.append(Fork("generate", "/g", ids(PROMPT_TOKENS + design.generated), lm_start=PROMPT_TOKENS))
        return Example(f"r{number}", "train", "", ids(design.context), forks)

    return Part.whole([record(number) for number in range(design.records)])


class Meter:
    """Runs parts on a network and measures what each takes beyond weights and gradients."""

    def __init__(self, network: Network, gradients: Gradients):
        self._network = network
        self._gradients = gradients
        self._gradient_bytes = sum(tensor.nbytes for tensor in gradients.tensors)

    def measure(self, part: Part) -> dict[str, float] | None:
        """peak_bytes, static_bytes (resident before, and gradients); None when memory ran out."""
        device = self._network.backbone.device
        self._gradients.drop_part()
        release_memory()
        measured_peak(device)
        static = resident_bytes(device) + self._gradient_bytes
        try:
            run_part(self._network, part, step_counts(part.examples), dict.fromkeys(TERMS, 1.0))
        except Exception as error:
            if not is_out_of_memory(error):
                raise
            return None
        return {"peak_bytes": measured_peak(device), "static_bytes": static}


def measure_all(job: MeasureJob) -> None:
    """Measure every designed part that is expected to stay under the target; writes key and parts to job.output."""
    settings = job.settings
    device = pick_device(None)
    dtype = pick_dtype(None, device)
    training = TrainSettings(
        base=settings.base, init="fresh", lora_rank=settings.lora_rank, lora_context=settings.lora_context
    )
    network = build_network(training, job.base, None, Home(job.home), device, dtype)
    meter = Meter(network, Gradients(trainable_groups(network, training)))
    key = plan_key(network, settings.lora_rank)
    shape = network.backbone.shape
    coefficients = analytic_coefficients(shape, dtype.itemsize, bool(key["context_trains"]))
    plan = MemoryPlan(shape, resident_bytes(device), coefficients, settings.target_gib * GIB)
    rng = np.random.default_rng(0)
    meter.measure(made_up_part(Design(64, 64, 64, 8), shape.vocab, rng))  # libraries take their own memory at first use
    planned = designs(settings.max_part_tokens)
    found = []
    for number, design in enumerate(planned, 1):
        part = made_up_part(design, shape.vocab, rng)
        measured = meter.measure(part) if plan.fits(part) else None
        if measured is not None:
            found.append({**measured, **plan.features(part)})
        print(f"part {number}/{len(planned)} {design.tokens} tokens", flush=True)
    result = {"key": key, "designed": len(planned), "parts": found, "analytic": coefficients}
    write_atomically(job.output, json.dumps(result).encode())


def main(path: str) -> int:
    """Measure a job; progress goes to standard output, one part a line. Returns the exit status."""
    limit_kernels()
    try:
        measure_all(MeasureJob.model_validate_json(Path(path).read_text()))
    except DegError as error:
        print(f"error: {error}", flush=True)
        return EXIT_REFUSED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
