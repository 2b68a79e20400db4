"""The filler of the real runtime: a checkpoint behind the Filler protocol."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from deg_core.artifacts import Home
from deg_core.bulk.job import Filled, FillJob


class ModelFiller:
    """Fills one schema with one model; a batch's time is shared out evenly over its texts."""

    def __init__(self, model: Any, schema: Mapping[str, Any], options: Mapping[str, Any]):
        self._model, self._schema, self._options = model, schema, options

    def __call__(self, texts: list[str]) -> list[Filled]:
        from deg_core import fill_many

        jobs = [{"context": text, "schema": self._schema, "options": self._options} for text in texts]
        started = time.perf_counter()
        answers = fill_many(self._model, jobs)
        ms = 1000 * (time.perf_counter() - started) / max(len(texts), 1)
        return [Filled(answer, ms) for answer in answers]


def model_filler(job: FillJob) -> ModelFiller:
    """Load the job's checkpoint on one thread; the default filler factory."""
    import torch

    from deg_core import load_model

    torch.set_num_threads(1)
    model = load_model(job.checkpoint, dtype=job.dtype, generate=job.generate, home=Home(job.home))
    return ModelFiller(model, job.schema, job.options.model_dump())
