"""DuckDB over everything that a home directory holds: one view for each kind of result (design 4).

A view has its columns whether or not there is data; what files hold beyond them comes after. Only
finished artifacts are seen, except for the logs of runs, which can be watched as they grow. The database is
in memory: nothing is written below the home directory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

import duckdb
import pyarrow as pa

from deg_core.artifacts import MANIFEST, Home, Manifest, open_artifact
from deg_core.bulk.writer import COMMON_COLUMNS
from deg_core.contract.errors import InputError
from deg_core.evaluation.tables import DOCUMENTS, FULL_ROWS

TRAIN_LOG = {"run": "VARCHAR", "step": "BIGINT", "loss": "DOUBLE"}
MEMORY = {"source": "VARCHAR", "id": "VARCHAR"}
PROMOTIONS = {
    "id": "VARCHAR",
    "logged_at": "TIMESTAMPTZ",
    "event": "VARCHAR",
    "checkpoint": "VARCHAR",
    "content": "VARCHAR",
    "author": "VARCHAR",
    "decision": "JSON",
}
QUARANTINE = {"pool": "VARCHAR", "line": "BIGINT", "offset": "BIGINT", "uid": "VARCHAR", "reason": "VARCHAR"}
ARTIFACTS = {
    "kind": "VARCHAR",
    "id": "VARCHAR",
    "created": "TIMESTAMP",
    "seconds": "DOUBLE",
    "counts": "JSON",
    "figures": "JSON",
    "settings": "JSON",
    "inputs": "JSON",
    "code_version": "VARCHAR",
    "path": "VARCHAR",
}
KINDS = ("data", "pools", "memory", "runs", "calibrations", "evals", "fills", "generators", "models", "bases")

CELLS = """
SELECT fill, created, doc_id, entry.pointer AS pointer,
       array_to_string(
         list_transform(string_split(entry.pointer, '/'), lambda step: if(regexp_full_match(step, '[0-9]+'), '*', step)),
         '/'
       ) AS field,
       entry.mode AS mode, json_extract_string(value_json, entry.pointer) AS value,
       if(entry.mode = 'decide.noul', greatest(entry.probability, 1 - entry.probability), entry.probability) AS probability, entry.confidence AS confidence,
       entry."start" AS "start", entry."end" AS "end", entry.null_reason AS null_reason
FROM (SELECT fill, created, doc_id, value_json, unnest(meta) AS entry FROM fills)
"""


def connect(home: Home) -> duckdb.DuckDBPyConnection:
    """A DuckDB connection with the views of a home directory, as it is now.

    eval_rows, eval_documents: evaluations (columns of design 6), with `eval` and `created`.
    fills: every bulk fill, values as JSON, with `fill` and `created`; fill_<id>: one fill with its typed
    `value`; fill_latest: the newest of them; fill_cells: one row a filled value, `probability` being that of the value,
    `field` its pointer with array indices (all-digit steps) as *.
    train_log, memory: the runs' logs and the memory plans' measurements. promotions, quarantine: the logs.
    artifacts: every manifest. Raises InputError when a manifest or a result file is broken.
    """
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    try:
        manifests = _finished(home)
        _artifacts(connection, manifests)
        _evaluations(connection, manifests)
        _fills(connection, manifests)
        _logs(connection, home)
    except duckdb.Error as error:
        connection.close()
        raise InputError(f"a result below {home.root} cannot be read: {error}") from error
    return connection


def _finished(home: Home) -> list[Manifest]:
    """Manifests of the finished artifacts, oldest first."""
    found = []
    for kind in KINDS:
        for path in sorted((home.root / kind).glob(f"*/{MANIFEST}")):
            manifest = open_artifact(path.parent)
            if manifest is not None:
                found.append((manifest.created, path.stat().st_mtime_ns, manifest))
    return [manifest for *_, manifest in sorted(found, key=lambda entry: entry[:2])]


def _artifacts(connection: duckdb.DuckDBPyConnection, manifests: list[Manifest]) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in ARTIFACTS.items())
    connection.execute(f"CREATE TABLE artifacts ({columns})")
    for manifest in manifests:
        connection.execute(
            f"INSERT INTO artifacts VALUES ({', '.join('?' * len(ARTIFACTS))})",
            [
                manifest.kind,
                manifest.id,
                _utc(manifest),
                manifest.seconds,
                json.dumps(manifest.counts),
                json.dumps(manifest.figures),
                json.dumps(manifest.settings),
                json.dumps(manifest.inputs),
                manifest.code_version,
                str(manifest.path),
            ],
        )


def _evaluations(connection: duckdb.DuckDBPyConnection, manifests: list[Manifest]) -> None:
    evals = [manifest for manifest in manifests if manifest.kind == "eval"]
    for view, schema in (("eval_rows", FULL_ROWS), ("eval_documents", DOCUMENTS)):
        file = view.removeprefix("eval_") + ".parquet"
        selects = [
            f"SELECT {_text(manifest.id)} AS eval, {_stamp(manifest)} AS created, * FROM {_parquet([manifest.path / file])}"
            for manifest in evals
            if file in manifest.files
        ]
        columns = {"eval": "VARCHAR", "created": "TIMESTAMP", **_columns(connection, schema)}
        _view(connection, view, columns, selects)


def _fills(connection: duckdb.DuckDBPyConnection, manifests: list[Manifest]) -> None:
    common = ", ".join(f'"{name}"' for name in COMMON_COLUMNS.names)
    selects, typed = [], None
    for manifest in manifests:
        parts = sorted(name for name in manifest.files if name.endswith(".parquet"))
        if manifest.kind != "fill" or not parts:
            continue
        source = _parquet([manifest.path / name for name in parts])
        labels = f"{_text(manifest.id)} AS fill, {_stamp(manifest)} AS created"
        typed = "fill_" + re.sub(r"[^0-9A-Za-z]+", "_", manifest.id)
        connection.execute(f'CREATE OR REPLACE VIEW "{typed}" AS SELECT {labels}, * FROM {source}')
        selects.append(f"SELECT {labels}, {common} FROM {source}")
    columns = {"fill": "VARCHAR", "created": "TIMESTAMP", **_columns(connection, COMMON_COLUMNS)}
    _view(connection, "fills", columns, selects)
    if typed is None:
        _view(connection, "fill_latest", {**columns, "value": "VARCHAR"}, [])
    else:
        connection.execute(f'CREATE VIEW fill_latest AS SELECT * FROM "{typed}"')
    connection.execute(f"CREATE VIEW fill_cells AS {CELLS}")


def _logs(connection: duckdb.DuckDBPyConnection, home: Home) -> None:
    root = home.root
    runs = sorted([*root.glob("runs/*/log.jsonl"), *root.glob("generator_runs/*/log.jsonl")])
    _view(connection, "train_log", TRAIN_LOG, _json(runs, "parse_path(filename)[-2] AS run", guard="step"))
    measured = sorted([*root.glob("runs/*/mem.jsonl"), *root.glob("memory/*/*.jsonl")])
    origin = "parse_path(filename)[-3] AS source, parse_path(filename)[-2] AS id"
    _view(connection, "memory", MEMORY, _json(measured, origin))
    decided = '"at" AS logged_at, "by" AS author, to_json(decision) AS decision'
    promotions = _json(sorted(root.glob("models/promotions.jsonl")), decided, "id", exclude=("at", "by", "decision"))
    _view(connection, "promotions", PROMOTIONS, promotions)
    rejects = sorted(root.glob("pools/*/quarantine.jsonl"))
    _view(connection, "quarantine", QUARANTINE, _json(rejects, "parse_path(filename)[-2] AS pool", "line"))


def _view(connection: duckdb.DuckDBPyConnection, name: str, columns: dict[str, str], selects: Iterable[str]) -> None:
    """A view that has these columns first, then whatever else its selects have."""
    empty = ", ".join(f'NULL::{kind} AS "{column}"' for column, kind in columns.items())
    body = " UNION ALL BY NAME ".join([f"(SELECT {empty} WHERE false)", *(f"({select})" for select in selects)])
    connection.execute(f"CREATE VIEW {name} AS {body}")


def _columns(connection: duckdb.DuckDBPyConnection, schema: pa.Schema) -> dict[str, str]:
    """The names and DuckDB types of an Arrow schema."""
    relation = connection.from_arrow(schema.empty_table())
    return dict(zip(relation.columns, map(str, relation.types), strict=True))


def _parquet(paths: list[Path]) -> str:
    return f"read_parquet([{', '.join(_text(str(path)) for path in paths)}])"


def _begins_whole(path: Path) -> bool:
    """Whether a JSON Lines file has a first line that is whole, so that its columns can be known."""
    with open(path, "rb") as file:
        first = file.readline()
    try:
        return isinstance(json.loads(first), dict)
    except ValueError:
        return False


def _json(paths: list[Path], labels: str = "", guard: str = "", exclude: Iterable[str] = ()) -> list[str]:
    """Selects over JSON Lines files with a whole line: labels, then the keys that are not excluded.

    guard: a key that every whole line has; a line being written just now has none.
    """
    paths = [path for path in paths if _begins_whole(path)]
    if not paths:
        return []
    files = ", ".join(_text(str(path)) for path in paths)
    source = (
        f"read_json([{files}], format = 'newline_delimited', union_by_name = true, filename = true, "
        "maximum_depth = 2, sample_size = -1, ignore_errors = true)"
    )
    hidden = ", ".join(f'"{key}"' for key in ("filename", *exclude))
    columns = ", ".join(filter(None, [labels, f"* EXCLUDE ({hidden})"]))
    return [f"SELECT {columns} FROM {source} {f'WHERE {guard} IS NOT NULL' if guard else ''}"]


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _utc(manifest: Manifest) -> str:
    return manifest.created.removesuffix("+00:00").replace("T", " ")


def _stamp(manifest: Manifest) -> str:
    return f"TIMESTAMP {_text(_utc(manifest))}"
