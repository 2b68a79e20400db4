"""The systems that a fill is timed beside, each over the same texts with the same base weights and one thread.

A rival's answer is one object of FORM written under a grammar, but for the encoder, which only reads: it stands for
extractors that label the tokens of a text.
"""

from __future__ import annotations

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import torch
from llguidance import LLMatcher
from transformers import DynamicCache

from deg_core.evaluation import llamacpp
from deg_core.evaluation.baseline import Baseline
from deg_core.evaluation.grammar import plain_schema
from deg_core.evaluation.shapes import random_model
from deg_core.evaluation.speed import FORM, Row, timed
from deg_core.model.bases import embedded_gguf
from deg_core.model.model import Model
from deg_core.runtime.engine import fill

MAX_TOKENS = 400
ENCODER_TOKENS = 520
ENCODER: dict[str, Any] = {
    "vocab_size": 128100,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "relative_attention": True,
    "position_buckets": 256,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
    "max_relative_positions": -1,
    "type_vocab_size": 0,
}
"""DeBERTa-v3-base's configuration where it is not the default of its class (arXiv:2111.09543); its extractors of
GLiNER's family put schema and text together into one input."""


class Rival(ABC):
    """name: as the table shows it."""

    name: str

    @abstractmethod
    def answer(self, text: str) -> int:
        """Answer one text; how many tokens were written."""


class Constrained(Rival):
    """The baseline: transformers under an llguidance grammar.

    scripts: by text, the answer's tokens, where a model of random weights is to write what a trained one wrote.
    """

    def __init__(self, folder: Path, dtype: str, scripts: dict[str, Sequence[int]] | None = None):
        self.name = f"llguidance, {dtype}"
        self.scripts = scripts
        self.written: dict[str, Sequence[int]] = {}
        self._baseline = Baseline(folder, dtype) if scripts is None else _Scripted(folder, dtype)
        self._grammar = self._baseline.grammar(FORM, {})

    def answer(self, text: str) -> int:
        """The tokens of an answer are kept in `written`."""
        if self.scripts is not None:
            assert isinstance(self._baseline, _Scripted)
            self._baseline.follow(self.scripts[text], len(self._baseline.prompt(text, FORM)))
        self.written[text] = self._baseline.answer(text, FORM, self._grammar, MAX_TOKENS).ids
        return len(self.written[text])


class _Scripted(Baseline):
    """A baseline that does all the work of choosing a token and then takes the script's."""

    def follow(self, script: Sequence[int], prompt_tokens: int) -> None:
        """The tokens of the next answer."""
        self._script, self._place = script, -prompt_tokens

    def _next_token(self, unread: list[int], cache: DynamicCache, matcher: LLMatcher) -> int:
        super()._next_token(unread, cache, matcher)
        self._place += len(unread)
        return self._script[self._place]


class LlamaCpp(Rival):
    """llama.cpp in one of its types, under its own JSON-Schema grammar, with the prompt of the baseline."""

    def __init__(self, kind: str, prompts: Baseline, folder: Path):
        self.name = f"llama.cpp, {kind}"
        self._prompts = prompts
        self._model = llamacpp.LlamaCpp(embedded_gguf(), kind, folder)
        self._grammar = self._model.grammar(plain_schema(FORM))

    def answer(self, text: str) -> int:
        """The prompt is read from nothing, as by every other system."""
        return self._model.answer(self._prompts.prompt(text, FORM), self._grammar, MAX_TOKENS)


class Encoder(Rival):
    """One pass of an encoder of DeBERTa-v3-base's shape over ENCODER_TOKENS tokens; its weights are random."""

    def __init__(self, dtype: str):
        from transformers import DebertaV2Config, DebertaV2Model

        self.name = f"DeBERTa-v3-base's shape, {ENCODER_TOKENS} tokens, {dtype}"
        self._model: Any = DebertaV2Model(DebertaV2Config(**ENCODER)).to(getattr(torch, dtype)).eval()

    @torch.inference_mode()
    def answer(self, text: str) -> int:
        """Nothing is written; the text does not matter."""
        del text
        self._model(torch.ones(1, ENCODER_TOKENS, dtype=torch.long))
        return 0


def rivals_of(model: Model, folder: Path) -> list[Rival]:
    """The baseline in the model's type, llama.cpp where it is installed, and the encoder. folder: room for files."""
    dtype = str(model.dtype).removeprefix("torch.")
    found: list[Rival] = [Constrained(model.base_folder, dtype)]
    if llamacpp.available():
        prompts = Baseline(model.base_folder, dtype)
        found += [LlamaCpp(kind, prompts, folder) for kind in llamacpp.TYPES]
    return [*found, Encoder(dtype)]


def compare(ours: dict[str, Model], rivals: Sequence[Rival], texts: Sequence[str]) -> list[Row]:
    """Every system over every text, in turns; the first text is answered once before, by all.

    ours: by name. A row says the median milliseconds and tokens of a system and, for each of ours, the median over the
    texts of how many times faster ours was.
    """
    systems: dict[str, Any] = {name: partial(_fill, model) for name, model in ours.items()}
    systems |= {rival.name: rival.answer for rival in rivals}
    for answer in systems.values():
        answer(texts[0])
    times: dict[str, list[float]] = {name: [] for name in systems}
    written: dict[str, list[int]] = {name: [] for name in systems}
    for text in texts:
        for name, answer in systems.items():
            times[name].append(timed(lambda: written[name].append(answer(text))))  # noqa: B023 - called at once
    rows = []
    for name, taken in times.items():
        faster = {
            f"{mine} is faster": median(theirs / own for theirs, own in zip(taken, times[mine], strict=True))
            for mine in ours
        }
        rows.append(Row(name, {"ms": 1000 * median(taken), "written tokens": median(written[name]), **faster}))
    return rows


def ratios(rows: Sequence[Row]) -> dict[str, float]:
    """The figures of a comparison: the first of ours, which has the baseline's type, beside the baseline; the fastest of
    ours beside the fastest of llama.cpp, and beside the encoder.
    """
    ours = [row for row in rows if row.name.startswith("deg")]
    fastest = min(ours, key=lambda row: row.figures["ms"])
    best = f"{fastest.name} is faster"
    found: dict[str, float] = {}
    for row in rows:
        kind = row.name.partition(",")[0]
        if kind == "llguidance":
            found["ratio_llguidance"] = row.figures[f"{ours[0].name} is faster"]
            found["ratio_llguidance_fastest"] = row.figures[best]
        elif kind == "llama.cpp":
            found["ratio_llamacpp"] = min(found.get("ratio_llamacpp", float("inf")), row.figures[best])
        elif not kind.startswith("deg"):
            found["ratio_encoder"] = row.figures[best]
    return found


def _fill(model: Model, text: str) -> int:
    return int(fill(model, text, FORM)["usage"]["generated_tokens"])


def compare_shape(shape: str, dtypes: Sequence[str], scripts: dict[str, Sequence[int]], home: Any) -> list[Row]:
    """The form by models of a known shape with random weights; the baseline writes the scripts."""
    with tempfile.TemporaryDirectory() as folder:
        ours = {f"deg, {dtype}": random_model(shape, dtype, Path(folder), home) for dtype in dtypes}
        first = next(iter(ours.values()))
        rival = Constrained(Path(folder), str(first.dtype).removeprefix("torch."), scripts)
        return compare(ours, [rival], list(scripts))
