"""Fingerprints of leaves and plans (contract section 6)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from deg_core.contract.plan import ArrayPlan, FieldPlan
from deg_core.contract.pointer import folded


def sha256(value: Any) -> str:
    """sha256 (64 hex digits) of the canonical JSON of plain data."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def field_fingerprint(field: FieldPlan) -> str:
    """The leaf's own specification; neither its place nor its siblings enter."""
    return sha256(
        {
            "mode": field.mode,
            "type": field.json_type,
            "options": list(field.options),
            "option_descriptions": list(field.option_descriptions),
            "levels": list(field.levels),
            "level_labels": list(field.level_labels),
            "null_outcome": field.null_outcome,
            "format": field.format,
            "constraints": dict(field.constraints),
            "nullable": field.nullable,
            "on_null": field.on_null if field.kind == "extract" else None,
            "title": field.title,
            "description": field.description,
            "max_tokens": field.max_tokens,
        }
    )


def plan_fingerprint(fields: Iterable[FieldPlan], arrays: Iterable[ArrayPlan]) -> str:
    """The set of decide and extract leaves and of arrays, and the list of generate leaves in order."""
    leaves = [(folded(field.path), field.fingerprint, field.kind) for field in fields]
    return sha256(
        {
            "parallel": sorted(leaf[:2] for leaf in leaves if leaf[2] != "generate"),
            "generate": [leaf[:2] for leaf in leaves if leaf[2] == "generate"],
            "arrays": sorted(
                [folded(array.path), array.min_items, -1 if array.max_items is None else array.max_items]
                + [array.unique_items, array.title or "", array.description or ""]
                for array in arrays
            ),
        }
    )
