"""deg: fill a JSON Schema from a text with a small language model."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PUBLIC = {
    "compile_schema": "deg_core.contract",
    "SchemaError": "deg_core.contract",
    "RequestError": "deg_core.contract",
    "FillError": "deg_core.contract",
    "load_model": "deg_core.model.model",
    "fill": "deg_core.runtime.engine",
    "fill_many": "deg_core.runtime.engine",
}

__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    """Import on first use, so that the contract alone needs no torch."""
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module 'deg_core' has no attribute {name!r}")
