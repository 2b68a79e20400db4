"""llama.cpp as a rival of the benchmark: the embedded base's own GGUF file under a JSON-Schema grammar.

Needs the extra `llamacpp`, built for this machine; nothing but `deg bench fill` uses it.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

CONTEXT_TOKENS = 4096
TYPES = {"Q4_0": "LLAMA_FTYPE_MOSTLY_Q4_0", "Q8_0": "LLAMA_FTYPE_MOSTLY_Q8_0"}
"""Its types for fast products: Q4_0 is laid out anew at load for the vector units of the machine."""


def available() -> bool:
    """Whether llama-cpp-python is installed."""
    return importlib.util.find_spec("llama_cpp") is not None


class LlamaCpp:
    """A model of a GGUF file on one thread. kind: one of TYPES, what the file is rounded to first; folder: where to."""

    def __init__(self, gguf: Path, kind: str, folder: Path):
        import llama_cpp

        self._module: Any = llama_cpp
        path = self._rounded(gguf, kind, folder)
        self._model = llama_cpp.Llama(str(path), n_ctx=CONTEXT_TOKENS, n_threads=1, n_threads_batch=1, verbose=False)

    def _rounded(self, gguf: Path, kind: str, folder: Path) -> Path:
        module, path = self._module, folder / f"{kind}.gguf"
        settings = module.llama_model_quantize_default_params()
        settings.ftype = getattr(module, TYPES[kind])
        settings.allow_requantize = True
        settings.nthread = 1
        failed = module.llama_model_quantize(str(gguf).encode(), str(path).encode(), ctypes.byref(settings))
        if failed:
            raise RuntimeError(f"llama.cpp could not write {gguf} as {kind}")
        return path

    def grammar(self, schema: Mapping[str, Any]) -> Any:
        """The grammar that answers to a schema are held to."""
        return self._module.LlamaGrammar.from_json_schema(json.dumps(_with_branches(schema)), verbose=False)

    def answer(self, prompt: Sequence[int], grammar: Any, max_tokens: int) -> int:
        """Read a prompt from nothing and write greedily under the grammar; how many tokens were written."""
        self._model.reset()
        self._model._ctx.kv_cache_clear()
        written = self._model.create_completion(
            list(prompt), grammar=grammar, max_tokens=max_tokens, temperature=0.0, repeat_penalty=1.0
        )
        return int(written["usage"]["completion_tokens"])


def _with_branches(schema: Any) -> Any:
    """The schema with [X, "null"] written as branches: llama.cpp drops lengths and formats beside a list of types."""
    if not isinstance(schema, Mapping):
        return [_with_branches(item) for item in schema] if isinstance(schema, list) else schema
    types = schema.get("type")
    if isinstance(types, list):
        return {"anyOf": [{**schema, "type": kind} if kind != "null" else {"type": kind} for kind in types]}
    return {key: _with_branches(value) for key, value in schema.items()}
