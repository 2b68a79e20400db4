"""Backbone families: one file of layer functions each, one line here (contract section 12.8).

A family is built from a Hugging Face config and gives: `shape`, `targets()`, `load(tensors)`,
`rotary(positions, dtype)`, `layer(...)`, `grows(layer)`, `keep(...)` and `norm(...)`; see llama.py.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from deg_core.contract.errors import InputError
from deg_core.model.families.lfm2 import Lfm2
from deg_core.model.families.llama import Llama
from deg_core.model.families.qwen35 import Qwen35
from deg_core.model.families.shape import ModelShape

FAMILIES = {"lfm2": Lfm2, "llama": Llama, "qwen3_5": Qwen35, "qwen3_5_text": Qwen35}


def family_of(config: Mapping[str, Any]) -> Any:
    """The family of a Hugging Face config; raises InputError naming the near match when unknown."""
    kind = str(config.get("model_type"))
    if kind not in FAMILIES:
        near = difflib.get_close_matches(kind, FAMILIES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"model_type {kind!r} is none of {sorted(FAMILIES)}{hint}")
    return FAMILIES[kind](config)


__all__ = ["FAMILIES", "ModelShape", "family_of"]
