"""A corpus as a stream of numbered documents; a bad document is data, never a crash (design 2.8).

Every reader walks its corpus in one fixed order and holds one document (or one Parquet batch) at a time.
A document's number is its identity; `offset` is where it begins, so that a reader can start there again.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from deg_core.bulk.documents import BOM, Document, decode_text, lone_surrogate, make_document
from deg_core.contract.errors import InputError, RequestError
from deg_core.contract.request import render_context

PEEK_DOCUMENTS = 100
PARQUET_BATCH_ROWS = 64


class Reader(Protocol):
    """A corpus that can be read from any document on."""

    def documents(self, number: int = 0, offset: int = 0) -> Iterator[Document]:
        """Documents from the one with this number, which begins at this offset (both from a Document)."""


def open_corpus(path: str | os.PathLike[str], *, text_column: str = "text", id_column: str = "doc_id") -> Reader:
    """The reader of a corpus, chosen by its suffix, or a folder of text files.

    Raises InputError when it is missing, of no known kind, without documents or without the text column
    (naming the columns there are).
    """
    corpus = Path(path)
    if corpus.is_dir():
        reader: Reader = FolderReader(corpus)
    elif not corpus.exists():
        raise InputError(f"no corpus at {corpus}; give a JSON Lines, Parquet or CSV file or a folder of text files")
    else:
        make = READERS.get(corpus.suffix.lower())
        if make is None:
            known = ", ".join(READERS)
            raise InputError(
                f"{corpus}: {corpus.suffix or 'no suffix'!r} is no known kind of corpus; use {known} or a folder"
            )
        reader = make(corpus, text_column, id_column)
    if next(iter(reader.documents()), None) is None:
        raise InputError(f"{corpus} holds no documents; check that it is the right corpus")
    return reader


class JsonLinesReader:
    """One JSON object a line; blank lines are no documents. An object or array as text is rendered (contract 7)."""

    def __init__(self, path: Path, text_column: str, id_column: str):
        self._path, self._text, self._id = path, text_column, id_column
        self._check_column()

    def documents(self, number: int = 0, offset: int = 0) -> Iterator[Document]:
        for at, line in self._lines(offset):
            yield self._document(number, at, line)
            number += 1

    def _lines(self, offset: int = 0) -> Iterator[tuple[int, bytes]]:
        with _open(self._path) as file:
            file.seek(offset)
            for line in file:
                if line.removeprefix(BOM if offset == 0 else b"").strip():
                    yield offset, line
                offset += len(line)

    def _check_column(self) -> None:
        keys: dict[str, None] = {}
        for (at, line), _ in zip(self._lines(), range(PEEK_DOCUMENTS), strict=False):
            row, _error = _json_object(line, at)
            if row is not None:
                keys.update(dict.fromkeys(row))
        if keys and self._text not in keys:
            raise _missing_column(self._path, self._text, keys)

    def _document(self, number: int, offset: int, line: bytes) -> Document:
        row, error = _json_object(line, offset)
        if row is None:
            return Document(number, str(number), None, error, offset)
        if self._text not in row:
            return make_document(number, row.get(self._id), None, f"no {self._text!r} in this line", offset)
        text = row[self._text]
        if text is not None and not isinstance(text, str):
            try:
                text = render_context(text)
            except RequestError as problem:
                return make_document(number, row.get(self._id), None, f"{self._text!r}: {problem}", offset)
        return make_document(number, row.get(self._id), text, None, offset)


class CsvReader:
    """CSV with a header line (comma; tab for .tsv), quoted as RFC 4180."""

    def __init__(self, path: Path, text_column: str, id_column: str):
        self._path, self._text, self._id = path, text_column, id_column
        self._delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
        csv.field_size_limit(2**31 - 1)
        self._header, self._start = self._read_header()

    def documents(self, number: int = 0, offset: int = 0) -> Iterator[Document]:
        for at, row, error in self._rows(max(offset, self._start)):
            yield self._document(number, at, row, error)
            number += 1

    def _rows(self, offset: int) -> Iterator[tuple[int, list[str], str | None]]:
        with _open(self._path) as file:
            file.seek(offset)
            lines = _CountedLines(file, offset)
            rows = csv.reader(lines, delimiter=self._delimiter, strict=True)
            while True:
                at = lines.offset
                try:
                    row, error = next(rows), None
                except StopIteration:
                    return
                except csv.Error as problem:
                    if lines.ended:
                        raise InputError(
                            f"{self._path}: a quote of the row that begins at byte {at} is never closed, so no row "
                            "after it can be read; close it"
                        ) from problem
                    row, error = [], f"at byte {at}: not CSV ({problem})"
                if row or error:
                    yield at, row, error

    def _read_header(self) -> tuple[list[str], int]:
        with _open(self._path) as file:
            lines = _CountedLines(file, 0)
            try:
                header = next(csv.reader(lines, delimiter=self._delimiter, strict=True), [])
            except csv.Error as problem:
                raise InputError(f"{self._path}: the header line is not CSV ({problem})") from problem
        if header and self._text not in header:
            raise _missing_column(self._path, self._text, header)
        if len(set(header)) < len(header):
            raise InputError(f"{self._path}: the header names a column twice ({', '.join(header)}); rename one")
        return header, lines.offset

    def _document(self, number: int, offset: int, row: list[str], error: str | None) -> Document:
        if error is None and len(row) != len(self._header):
            error = f"{len(row)} cells where the header has {len(self._header)}"
        if error is not None:
            return Document(number, str(number), None, error, offset)
        cells = dict(zip(self._header, row, strict=True))
        return make_document(number, cells.get(self._id) or None, cells[self._text], None, offset)


class ParquetReader:
    """Rows of a Parquet file, a small batch at a time; row groups before the start are not read."""

    def __init__(self, path: Path, text_column: str, id_column: str):
        self._path, self._text, self._id = path, text_column, id_column
        with self._open() as file:
            schema = file.schema_arrow
        if text_column not in schema.names:
            raise _missing_column(path, text_column, schema.names)
        kind = schema.field(text_column).type
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        if not any(is_kind(kind) for is_kind in _TEXT_KINDS):
            raise InputError(f"{path}: column {text_column!r} is {kind}, not text; choose another with text_column")
        self._columns = [name for name in (text_column, id_column) if name in schema.names]

    def documents(self, number: int = 0, offset: int = 0) -> Iterator[Document]:
        with self._open() as file:
            groups, first = self._groups_from(file, offset)
            for batch in self._batches(file, groups, first):
                for text, doc_id in self._cells(batch):
                    if first >= offset:
                        yield make_document(number, doc_id, *decode_text(text), first)
                        number += 1
                    first += 1

    def _batches(self, file: pq.ParquetFile, groups: list[int], first: int) -> Iterator[pa.RecordBatch]:
        try:
            for batch in file.iter_batches(PARQUET_BATCH_ROWS, row_groups=groups, columns=self._columns):
                yield batch
                first += len(batch)
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"{self._path} is damaged at row {first} or after it ({error}); write it again") from error

    def _open(self) -> pq.ParquetFile:
        try:
            return pq.ParquetFile(self._path)
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(f"{self._path} is not a readable Parquet file: {error}") from error

    @staticmethod
    def _groups_from(file: pq.ParquetFile, row: int) -> tuple[list[int], int]:
        first = 0
        for group in range(file.num_row_groups):
            rows = file.metadata.row_group(group).num_rows
            if first + rows > row:
                return list(range(group, file.num_row_groups)), first
            first += rows
        return [], first

    def _cells(self, batch: pa.RecordBatch) -> Iterator[tuple[bytes | None, Any]]:
        texts = batch.column(self._text)
        if pa.types.is_dictionary(texts.type):
            texts = texts.dictionary_decode()
        texts = texts.cast(pa.large_binary()).to_pylist()
        ids = batch.column(self._id).to_pylist() if self._id in self._columns else [None] * len(texts)
        yield from zip(texts, ids, strict=True)


class FolderReader:
    """Every file below a folder, sorted by relative path, which is the id; names that begin with a dot are skipped.

    Links are followed; a folder that was seen under another name is not read again.
    """

    def __init__(self, path: Path):
        self._path = path
        self._names = sorted(self._walk(path))

    def documents(self, number: int = 0, offset: int = 0) -> Iterator[Document]:
        for at in range(offset, len(self._names)):
            yield self._document(number, at, self._names[at])
            number += 1

    def _document(self, number: int, offset: int, name: str) -> Document:
        path = self._path / name
        if path.exists() and not path.is_file():
            return Document(number, name, None, "is no regular file", offset)
        try:
            data = path.read_bytes()
        except OSError as error:
            return Document(number, name, None, f"cannot be read: {error.strerror}", offset)
        return make_document(number, name, *decode_text(data), offset)

    @staticmethod
    def _walk(root: Path) -> Iterator[str]:
        seen = {os.path.realpath(root)}
        for folder, folders, files in os.walk(root, onerror=_unlisted, followlinks=True):
            below = {name: os.path.realpath(Path(folder) / name) for name in folders if not name.startswith(".")}
            folders[:] = [name for name, real in below.items() if real not in seen]
            seen |= set(below.values())
            for file in files:
                if file.startswith("."):
                    continue
                name = (Path(folder) / file).relative_to(root).as_posix()
                if lone_surrogate(name):
                    raise InputError(f"{root}: the file name {os.fsencode(name)!r} is not UTF-8; rename it")
                yield name


READERS: dict[str, Callable[[Path, str, str], Reader]] = {
    ".jsonl": JsonLinesReader,
    ".ndjson": JsonLinesReader,
    ".parquet": ParquetReader,
    ".csv": CsvReader,
    ".tsv": CsvReader,
}

_TEXT_KINDS = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_binary,
    pa.types.is_large_binary,
)


class _CountedLines:
    """Lines as text for the csv module; bytes that are not UTF-8 become surrogates, seen again per cell."""

    def __init__(self, file: Iterable[bytes], offset: int):
        self._file, self.offset, self.ended = iter(file), offset, False

    def __iter__(self) -> _CountedLines:
        return self

    def __next__(self) -> str:
        line = next(self._file, None)
        if line is None:
            self.ended = True
            raise StopIteration
        first = self.offset == 0
        self.offset += len(line)
        return line.removeprefix(BOM if first else b"").decode("utf-8", "surrogateescape")


def _json_object(line: bytes, offset: int) -> tuple[dict[str, Any] | None, str | None]:
    """(object, error) of one line that begins at this byte."""
    text, error = decode_text(line)
    if text is None:
        return None, f"at byte {offset}: {error}"
    try:
        row = json.loads(text)
    except json.JSONDecodeError as problem:
        return None, f"at byte {offset}: not JSON ({problem.msg} at column {problem.colno})"
    except (ValueError, RecursionError) as problem:
        return None, f"at byte {offset}: not JSON ({problem})"
    if not isinstance(row, dict):
        return None, f"at byte {offset}: a JSON object is needed, this is {type(row).__name__}"
    return row, None


def _unlisted(error: OSError) -> None:
    raise InputError(f"the folder {error.filename} cannot be listed: {error.strerror}") from error


def _open(path: Path) -> Any:
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error


def _missing_column(path: Path, column: str, there: Iterable[str]) -> InputError:
    names = ", ".join(repr(name) for name in there)
    return InputError(f"{path}: no column {column!r}; there are {names}; name the right one with text_column")
