"""One document through our fill and through the baseline, timed, to rows (contract section 11)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from deg_core.artifacts import Home
from deg_core.config.settings import FillOptions
from deg_core.evaluation.baseline import Baseline, BaselineAnswer
from deg_core.evaluation.compare import Answer, compare
from deg_core.evaluation.metrics import BASELINE, OURS
from deg_core.evaluation.sample import Case
from deg_core.model.model import Model, load_model
from deg_core.pools.schemas import Schemas
from deg_core.runtime.engine import fill

WARM_UP_TOKENS = 8


@dataclass(frozen=True)
class Job:
    """What every worker of an evaluation needs to know.

    run: the evaluation's id. home: root of the home directory. dtype: compute type of ours, "auto" = its own
    choice. baseline_dtype: of the baseline. options: of every fill of ours. generate: who writes in it.
    baseline: folder of the baseline's model.
    """

    run: str
    home: Path
    checkpoint: Path
    dtype: str
    baseline_dtype: str
    baseline_max_tokens: int
    options: FillOptions
    generate: str
    baseline: Path

    def load(self) -> Model:
        """The checkpoint's model."""
        return load_model(self.checkpoint, dtype=self.dtype, generate=self.generate, home=Home(self.home))


@dataclass(frozen=True)
class _Outcome:
    """An answer with its document's figures; error: why there is no answer."""

    answer: Answer
    prompt_tokens: int | None = None
    capped: bool = False
    error: str | None = None


class Systems:
    """The model and, once it is asked, the baseline, in this process."""

    def __init__(self, job: Job):
        self._job = job
        self._model = job.load()
        self._baseline: Baseline | None = None
        self._warm: set[str] = set()
        self._schemas = Schemas()

    def answer(self, case: Case) -> dict[str, list[dict[str, Any]]]:
        """rows and documents of one case; which system goes first alternates from document to document."""
        asked: list[tuple[str, Callable[[Case], _Outcome]]] = [(OURS, self._ours)]
        if case.baseline:
            self._load_baseline()
            asked.append((BASELINE, self._theirs))
        if case.number % 2:
            asked.reverse()
        found: dict[str, list[dict[str, Any]]] = {"rows": [], "documents": []}
        for system, ask in asked:
            outcome = self._guarded(system, ask, case)
            place = {"run": self._job.run, "system": system, "source": case.source}
            found["rows"] += compare(case.record, outcome.answer, **place)
            found["documents"].append({**place, **self._document(case, outcome)})
        return found

    def _load_baseline(self) -> Baseline:
        """The baseline; loaded outside any document, so that a failure ends the run instead of being an answer."""
        if self._baseline is None:
            self._baseline = Baseline(self._job.baseline, self._job.baseline_dtype)
        return self._baseline

    def _guarded(self, system: str, ask: Callable[[Case], _Outcome], case: Case) -> _Outcome:
        """A document that fails is a result, whatever the reason: the run goes on with the others."""
        started = time.perf_counter()
        try:
            if system not in self._warm:
                self._warm_up(system, case)
            started = time.perf_counter()
            return ask(case)
        except Exception as error:
            ms = (time.perf_counter() - started) * 1000
            return _Outcome(Answer(None, {}, ms=ms), error=f"{type(error).__name__}: {error}")

    def _warm_up(self, system: str, case: Case) -> None:
        """The first document once untimed, so that lazy set-up is nobody's latency."""
        self._warm.add(system)
        if system == OURS:
            fill(self._model, case.record.context, case.record.plan.schema, **self._job.options.model_dump())
        else:
            self._baseline_answer(case, WARM_UP_TOKENS)

    def _baseline_answer(self, case: Case, max_tokens: int) -> BaselineAnswer:
        schema, baseline = case.record.plan.schema, self._load_baseline()
        return baseline.answer(case.record.context, schema, baseline.grammar(schema, case.limits), max_tokens)

    def _ours(self, case: Case) -> _Outcome:
        started = time.perf_counter()
        response = fill(self._model, case.record.context, case.record.plan.schema, **self._job.options.model_dump())
        ms = (time.perf_counter() - started) * 1000
        usage = response["usage"]
        tokens = usage["generated_tokens"]
        answer = Answer(response["value"], response["meta"], tokens, tokens, ms, per_leaf_tokens=True)
        return _Outcome(answer, usage["prompt_tokens"])

    def _theirs(self, case: Case) -> _Outcome:
        started = time.perf_counter()
        found = self._baseline_answer(case, self._job.baseline_max_tokens)
        ms = (time.perf_counter() - started) * 1000
        answer = Answer(found.value, {}, found.generated_tokens, found.sampled_tokens, ms)
        return _Outcome(answer, found.prompt_tokens, found.capped)

    def _document(self, case: Case, outcome: _Outcome) -> dict[str, Any]:
        answer = outcome.answer
        return {
            "split": case.record.split,
            "uid": case.record.uid,
            "prompt_tokens": outcome.prompt_tokens,
            "generated_tokens": answer.generated_tokens,
            "sampled_tokens": answer.sampled_tokens,
            "ms": answer.ms,
            "valid": self._valid(case, answer.value),
            "capped": outcome.capped,
            "error": outcome.error,
        }

    def _valid(self, case: Case, value: Any) -> bool:
        """Whether the value keeps to the whole schema; the same check for both systems."""
        return value is not None and not self._schemas.compile(case.record.plan.schema).value_problems(value)


@lru_cache(maxsize=1)
def systems(job: Job) -> Systems:
    """The systems of this process, loaded once."""
    return Systems(job)
