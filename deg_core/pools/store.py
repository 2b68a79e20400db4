"""Examples in Arrow IPC files, memory-mapped: opening one costs no scan and reading one no copy of the rest."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from deg_core.artifacts import Manifest, open_artifact
from deg_core.config import Forks
from deg_core.contract.errors import InputError
from deg_core.model.queries import QueryLayout
from deg_core.pools.example import Example, Fork

_INTS = pa.list_(pa.int32())
_FLOATS = pa.list_(pa.float32())

FORK_TYPE = pa.struct(
    [
        ("kind", pa.string()),
        ("field", pa.string()),
        ("ids", _INTS),
        ("options", _INTS),
        ("option_tokens", _INTS),
        ("anchor", pa.int32()),
        ("region_end", pa.int32()),
        ("options_start", pa.int32()),
        ("target", _FLOATS),
        ("low", pa.int32()),
        ("high", pa.int32()),
        ("spans", _INTS),
        ("span_weights", _FLOATS),
        ("lm_start", pa.int32()),
        ("by_place", pa.bool_()),
    ]
)
SCHEMA = pa.schema(
    [
        ("uid", pa.string()),
        ("split", pa.string()),
        ("doc_id", pa.string()),
        ("tokens", pa.int32()),
        ("context_tokens", pa.int32()),
        ("fork_count", pa.int32()),
        ("decision", pa.bool_()),
        ("line", pa.binary()),
        ("context", _INTS),
        ("forks", pa.list_(FORK_TYPE)),
    ]
)


def to_batch(examples: Sequence[Example]) -> pa.RecordBatch:
    """Examples as one record batch of SCHEMA; spans are laid flat, start and end in turn."""
    forks = [fork for example in examples for fork in example.forks]
    fork_columns = [
        pa.array([fork.kind for fork in forks], pa.string()),
        pa.array([fork.field for fork in forks], pa.string()),
        _lists([fork.ids for fork in forks], np.int32),
        _lists([fork.options for fork in forks], np.int32),
        _lists([fork.option_tokens for fork in forks], np.int32),
        pa.array([fork.anchor for fork in forks], pa.int32()),
        pa.array([fork.region_end for fork in forks], pa.int32()),
        pa.array([fork.options_start for fork in forks], pa.int32()),
        _lists([fork.target for fork in forks], np.float32),
        pa.array([fork.bounds[0] for fork in forks], pa.int32()),
        pa.array([fork.bounds[1] for fork in forks], pa.int32()),
        _lists([fork.spans.reshape(-1) for fork in forks], np.int32),
        _lists([fork.span_weights for fork in forks], np.float32),
        pa.array([fork.lm_start for fork in forks], pa.int32()),
        pa.array([fork.by_place for fork in forks], pa.bool_()),
    ]
    structs = pa.StructArray.from_arrays(fork_columns, fields=list(FORK_TYPE))
    columns = [
        pa.array([example.uid for example in examples], pa.string()),
        pa.array([example.split for example in examples], pa.string()),
        pa.array([example.doc_id for example in examples], pa.string()),
        pa.array([example.tokens for example in examples], pa.int32()),
        pa.array([len(example.context) for example in examples], pa.int32()),
        pa.array([len(example.forks) for example in examples], pa.int32()),
        pa.array([example.decision for example in examples], pa.bool_()),
        pa.array([example.line for example in examples], pa.binary()),
        _lists([example.context for example in examples], np.int32),
        pa.ListArray.from_arrays(_offsets([len(example.forks) for example in examples]), structs),
    ]
    return pa.record_batch(columns, schema=SCHEMA)


def _offsets(lengths: Sequence[int]) -> pa.Array:
    return pa.array(np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int32))


def _lists(arrays: Sequence[np.ndarray], dtype: type) -> pa.ListArray:
    values: np.ndarray = np.concatenate(arrays).astype(dtype, copy=False) if arrays else np.zeros(0, dtype)
    return pa.ListArray.from_arrays(_offsets([len(array) for array in arrays]), pa.array(values))


class _ListColumn:
    """A list column as numpy views: row i is values[offsets[i]:offsets[i + 1]], without a copy."""

    def __init__(self, column: pa.ListArray):
        self.offsets = column.offsets.to_numpy()
        self.values = column.values.to_numpy(zero_copy_only=True)

    def row(self, index: int) -> np.ndarray:
        return self.values[self.offsets[index] : self.offsets[index + 1]]


class _Batch:
    """One record batch whose rows become examples."""

    def __init__(self, batch: pa.RecordBatch):
        self._uid, self._split, self._doc_id = (batch.column(name) for name in ("uid", "split", "doc_id"))
        self._decision, self._line = batch.column("decision"), batch.column("line")
        self._context = _ListColumn(batch.column("context"))
        forks = batch.column("forks")
        self._fork_offsets = forks.offsets.to_numpy()
        names = [field.name for field in FORK_TYPE]
        self._fork: dict[str, Any] = dict(zip(names, forks.values.flatten(), strict=True))
        self._lists = {name: _ListColumn(self._fork[name]) for name in names if pa.types.is_list(self._fork[name].type)}

    def example(self, row: int) -> Example:
        return Example(
            uid=self._uid[row].as_py(),
            split=self._split[row].as_py(),
            doc_id=self._doc_id[row].as_py(),
            context=self._context.row(row).copy(),
            forks=[self._read_fork(i) for i in range(self._fork_offsets[row], self._fork_offsets[row + 1])],
            decision=self._decision[row].as_py(),
            line=self._line[row].as_py(),
        )

    def context(self, row: int) -> np.ndarray:
        return self._context.row(row)

    def fields(self, row: int) -> list[str]:
        first, end = int(self._fork_offsets[row]), int(self._fork_offsets[row + 1])
        return self._fork["field"].slice(first, end - first).unique().to_pylist()

    def _read_fork(self, index: int) -> Fork:
        scalar = {name: self._fork[name][index].as_py() for name in self._fork if name not in self._lists}
        arrays = {name: column.row(index).copy() for name, column in self._lists.items()}
        return Fork(
            **arrays | {"spans": arrays["spans"].reshape(-1, 2)},
            kind=scalar["kind"],
            field=scalar["field"],
            anchor=scalar["anchor"],
            region_end=scalar["region_end"],
            options_start=scalar["options_start"],
            bounds=(scalar["low"], scalar["high"]),
            lm_start=scalar["lm_start"],
            by_place=scalar["by_place"],
        )


class _Part:
    """One memory-mapped file of record batches."""

    def __init__(self, path: Path):
        self._reader = pa.ipc.open_file(pa.memory_map(str(path)))
        if self._reader.schema != SCHEMA:
            raise InputError(f"{path} holds other columns than this version reads; build the pool again")
        self.batches = [self._reader.get_batch(i) for i in range(self._reader.num_record_batches)]


class Pool:
    """A finished pool: examples in the order of their source file, read one at a time.

    manifest: as written by the builder. lengths: int32 [n], context and fork tokens of each example.
    context_lengths: int32 [n]. fork_counts: int32 [n]. decisions: bool [n], which are decision records.
    splits, uids, doc_ids: str, length n.
    """

    def __init__(self, manifest: Manifest):
        self.manifest = manifest
        names = sorted(name for name in manifest.files if name.endswith(".arrow"))
        self._batches = [batch for name in names for batch in _Part(manifest.path / name).batches]
        self._first_rows = np.concatenate([[0], np.cumsum([b.num_rows for b in self._batches], dtype=np.int64)])
        self._readers: dict[int, _Batch] = {}

    @classmethod
    def open(cls, folder: str | Path) -> Pool:
        """Open a pool's folder; raises InputError when it is not there or not whole."""
        manifest = open_artifact(folder)
        if manifest is None or manifest.kind != "pool":
            raise InputError(f"{folder} is no finished pool; run the pools step")
        return cls(manifest)

    def __len__(self) -> int:
        return int(self._first_rows[-1])

    @property
    def layout(self) -> QueryLayout:
        """How its examples ask."""
        settings = self.manifest.settings
        return QueryLayout(settings["array_mode"], settings["anchor_min_tokens"], settings["gen_layout"])

    @property
    def forks(self) -> Forks:
        """Which queries it holds."""
        return self.manifest.settings["forks"]

    @property
    def takes_filler(self) -> bool:
        """Whether its records may train inside unrelated text."""
        return bool(self.manifest.settings.get("filler", True))

    def example(self, index: int) -> Example:
        """The example at an index, in arrays of its own; raises IndexError out of range."""
        batch, row = self._at(index)
        return batch.example(row)

    def context(self, index: int) -> np.ndarray:
        """Its context alone, int32 [T], a view of the file."""
        batch, row = self._at(index)
        return batch.context(row)

    def fields(self, index: int) -> list[str]:
        """The pointers of the fields that it asks about, array indices as '*', each once."""
        batch, row = self._at(index)
        return batch.fields(row)

    def validation(self, most: int, max_context_tokens: int | None = None) -> list[Example]:
        """The first val examples that ask something and fit the context limit, at most `most`."""
        fits = self.fork_counts > 0
        if max_context_tokens is not None:
            fits &= self.context_lengths <= max_context_tokens
        places = [index for index, split in enumerate(self.splits) if split == "val" and fits[index]]
        return [self.example(index) for index in places[:most]]

    def _at(self, index: int) -> tuple[_Batch, int]:
        if not 0 <= index < len(self):
            raise IndexError(f"example {index} of a pool of {len(self)}")
        at = bisect_right(self._first_rows, index) - 1
        if at not in self._readers:
            self._readers[at] = _Batch(self._batches[at])
        return self._readers[at], index - int(self._first_rows[at])

    @cached_property
    def lengths(self) -> np.ndarray:
        return self._numbers("tokens")

    @cached_property
    def context_lengths(self) -> np.ndarray:
        return self._numbers("context_tokens")

    @cached_property
    def fork_counts(self) -> np.ndarray:
        return self._numbers("fork_count")

    @cached_property
    def decisions(self) -> np.ndarray:
        columns = [batch.column("decision").to_numpy(zero_copy_only=False) for batch in self._batches]
        return np.concatenate(columns) if columns else np.zeros(0, bool)

    @cached_property
    def splits(self) -> list[str]:
        return self._texts("split")

    @cached_property
    def uids(self) -> list[str]:
        return self._texts("uid")

    @cached_property
    def doc_ids(self) -> list[str]:
        return self._texts("doc_id")

    def _numbers(self, name: str) -> np.ndarray:
        columns = [batch.column(name).to_numpy() for batch in self._batches]
        return np.concatenate(columns) if columns else np.zeros(0, np.int32)

    def _texts(self, name: str) -> list[str]:
        return [text for batch in self._batches for text in batch.column(name).to_pylist()]


def common_layout(pools: Sequence[Pool]) -> QueryLayout:
    """How pools that go together ask; raises InputError when they do not all do it alike."""
    found = {pool.layout for pool in pools}
    if len(found) > 1:
        named = " and ".join(sorted(map(str, found)))
        raise InputError(
            f"the pools ask differently ({named}); build them with one pools.array_mode and pools.gen_layout"
        )
    return found.pop() if found else QueryLayout()


def read_uids(path: Path) -> list[str]:
    """The uids of one Arrow file."""
    return [uid for batch in _Part(path).batches for uid in batch.column("uid").to_pylist()]
