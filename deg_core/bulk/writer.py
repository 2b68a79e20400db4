"""Parquet parts of a fill: one a shard, written atomically, self-describing (columns: design 6)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from deg_core.artifacts import write_atomically
from deg_core.bulk.job import Shard
from deg_core.bulk.typed import META_TYPE, ValueColumn, meta_column
from deg_core.contract.plan import FillPlan

FOOTER_KEY = b"deg.part"
COMMON_COLUMNS = pa.schema(
    [
        ("doc_id", pa.string()),
        ("value_json", pa.string()),
        ("meta", META_TYPE),
        ("error", pa.string()),
        ("prompt_tokens", pa.int64()),
        ("generated_tokens", pa.int64()),
        ("ms", pa.float64()),
        ("model", pa.string()),
        ("plan", pa.string()),
    ]
)


@dataclass(frozen=True)
class Row:
    """One document's outcome: a response (contract 8) or an error. ms: None where nothing was computed."""

    doc_id: str
    response: dict[str, Any] | None
    error: str | None
    ms: float | None


@dataclass(frozen=True)
class PartSummary:
    """Counts of one part; untyped = values that only value_json holds (see typed.NotTyped)."""

    index: int
    read: int
    filled: int
    failed: int
    untyped: int
    prompt_tokens: int
    generated_tokens: int
    ms: float


def part_path(folder: Path, index: int) -> Path:
    """Where the part of the shard with this index lies."""
    return folder / f"part-{index:05d}.parquet"


class PartWriter:
    """Writes the parts of one fill.

    Columns: COMMON_COLUMNS, with the typed `value` (typed.ValueColumn) after doc_id. A failed document's row
    has its doc_id, error, ms and plan.
    """

    def __init__(self, folder: Path, key: str, plan: FillPlan):
        self._folder, self._key, self._plan = folder, key, plan
        self._value = ValueColumn(plan)
        self.schema = COMMON_COLUMNS.insert(1, pa.field("value", self._value.type))

    def write(self, shard: Shard, rows: Sequence[Row]) -> PartSummary:
        """Write a shard's part from the rows of all its documents, in order."""
        if len(rows) != len(shard):
            raise ValueError(f"shard {shard.index} has {len(shard)} documents, not {len(rows)}")
        columns, untyped = [], 0
        for row in rows:
            column, lost = self._columns(row)
            columns.append(column)
            untyped += lost
        failed = sum(row.error is not None for row in rows)
        summary = PartSummary(
            index=shard.index,
            read=len(rows),
            filled=len(rows) - failed,
            failed=failed,
            untyped=untyped,
            prompt_tokens=sum(column["prompt_tokens"] or 0 for column in columns),
            generated_tokens=sum(column["generated_tokens"] or 0 for column in columns),
            ms=sum(row.ms or 0.0 for row in rows),
        )
        footer = {"key": self._key, "start": shard.start, "stop": shard.stop, "summary": asdict(summary)}
        table = pa.Table.from_pylist(columns, self.schema.with_metadata({FOOTER_KEY: json.dumps(footer).encode()}))
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, compression="zstd")
        write_atomically(part_path(self._folder, shard.index), sink.getvalue())
        return summary

    def _columns(self, row: Row) -> tuple[dict[str, Any], int]:
        base = {"doc_id": row.doc_id, "error": row.error, "ms": row.ms, "plan": self._plan.fingerprint}
        if row.response is None:
            return {**base, "prompt_tokens": None, "generated_tokens": None}, 0
        value, untyped = self._value.convert(row.response["value"])
        return {
            **base,
            "value": value,
            "value_json": json.dumps(row.response["value"], ensure_ascii=False),
            "meta": meta_column(row.response["meta"]),
            "prompt_tokens": row.response["usage"]["prompt_tokens"],
            "generated_tokens": row.response["usage"]["generated_tokens"],
            "model": row.response["model"],
        }, untyped


def read_summary(folder: Path, key: str, shard: Shard) -> PartSummary | None:
    """The summary of a shard's finished part; None when it is absent, unreadable or another fill's."""
    try:
        metadata = pq.read_metadata(part_path(folder, shard.index))
    except (FileNotFoundError, pa.ArrowInvalid):
        return None
    footer = json.loads((metadata.metadata or {}).get(FOOTER_KEY, b"{}"))
    if (footer.get("key"), footer.get("start"), footer.get("stop")) != (key, shard.start, shard.stop):
        return None
    if metadata.num_rows != len(shard):
        return None
    return PartSummary(**footer["summary"])
