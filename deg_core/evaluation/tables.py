"""The Parquet tables of an evaluation: their columns, and rows to Arrow.

ROWS are the columns that design section 6 names; DETAIL comes after them in rows.parquet: the split, whether a leaf is
correct once array items stand beside their partners (align.py), and for decided leaves the probability of the gold
outcome and the Brier score (sum of squares over the outcomes, 0 to 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

ROWS = pa.schema(
    [
        ("run", pa.string()),
        ("system", pa.string()),
        ("source", pa.string()),
        ("uid", pa.string()),
        ("pointer", pa.string()),
        ("field", pa.string()),
        ("mode", pa.string()),
        ("gold", pa.string()),
        ("predicted", pa.string()),
        ("correct", pa.bool_()),
        ("score", pa.float64()),
        ("probability", pa.float64()),
        ("confidence", pa.float64()),
        ("gold_null", pa.bool_()),
        ("predicted_null", pa.bool_()),
        ("gold_start", pa.int64()),
        ("gold_end", pa.int64()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("generated_tokens", pa.int64()),
        ("sampled_tokens", pa.int64()),
        ("ms", pa.float64()),
    ]
)
DETAIL = pa.schema(
    [
        ("split", pa.string()),
        ("aligned", pa.bool_()),
        ("gold_probability", pa.float64()),
        ("brier", pa.float64()),
    ]
)
FULL_ROWS = pa.schema([*ROWS, *DETAIL])
DOCUMENTS = pa.schema(
    [
        ("run", pa.string()),
        ("system", pa.string()),
        ("source", pa.string()),
        ("split", pa.string()),
        ("uid", pa.string()),
        ("prompt_tokens", pa.int64()),
        ("generated_tokens", pa.int64()),
        ("sampled_tokens", pa.int64()),
        ("ms", pa.float64()),
        ("valid", pa.bool_()),
        ("capped", pa.bool_()),
        ("error", pa.string()),
    ]
)
ROW_COLUMNS = tuple(ROWS.names)
DETAIL_COLUMNS = tuple(DETAIL.names)


def full_rows(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Rows of `compare` as a table with ROW_COLUMNS, then DETAIL_COLUMNS."""
    return pa.Table.from_pylist(list(rows), schema=FULL_ROWS)


def documents(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """One row per system and document."""
    return pa.Table.from_pylist(list(rows), schema=DOCUMENTS)
