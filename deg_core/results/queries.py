"""Questions to the results: SQL or the name of a query that is worth asking again."""

from __future__ import annotations

import csv
import difflib
import io
import json
import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import duckdb
from rich.table import Table
from rich.text import Text

from deg_core.artifacts import Home
from deg_core.contract.errors import InputError
from deg_core.results.views import connect

Format = Literal["table", "json", "csv"]
FORMATS: tuple[Format, ...] = ("table", "json", "csv")


@dataclass(frozen=True)
class NamedQuery:
    """A query with a name: what it answers, and its SQL over the views."""

    about: str
    sql: str


_LATEST = "eval = (SELECT max_by(eval, created) FROM eval_rows)"

NAMED = {
    "confident-errors": NamedQuery(
        "Wrong answers of ours that were given with .9 or more, in the latest evaluation.",
        f"""
        SELECT field, mode, round(coalesce(probability, confidence), 3) AS certainty, gold, predicted,
               source, uid, pointer, "start", "end", gold_start, gold_end
        FROM eval_rows
        WHERE {_LATEST} AND system = 'deg' AND NOT correct AND coalesce(probability, confidence) >= 0.9
        ORDER BY certainty DESC, source, uid, pointer
        """,
    ),
    "field-accuracy": NamedQuery(
        "Accuracy of every field and system in the latest evaluation, and how far the stated certainty is from it.",
        f"""
        SELECT system, mode, field, count(*) AS answers, round(avg(correct::INT), 3) AS accuracy,
               round(avg(coalesce(probability, confidence)), 3) AS mean_certainty,
               round(abs(avg(coalesce(probability, confidence)) - avg(correct::INT)), 3) AS calibration_gap,
               count(*) FILTER (predicted_null AND NOT gold_null) AS missed,
               count(*) FILTER (gold_null AND NOT predicted_null) AS made_up
        FROM eval_rows
        WHERE {_LATEST}
        GROUP BY ALL ORDER BY system, mode, field
        """,
    ),
    "drift": NamedQuery(
        "The last two evaluations side by side: accuracy by system and mode, and the change.",
        """
        WITH recent AS (
            SELECT eval, row_number() OVER (ORDER BY max(created) DESC, eval DESC) AS age FROM eval_rows GROUP BY eval
        ), figures AS (
            SELECT system, mode, age, count(*) AS answers, avg(correct::INT) AS accuracy
            FROM eval_rows JOIN recent USING (eval) WHERE age <= 2 GROUP BY ALL
        )
        SELECT system, mode, before.answers AS answers_before, latest.answers AS answers,
               round(before.accuracy, 3) AS accuracy_before, round(latest.accuracy, 3) AS accuracy,
               round(latest.accuracy - before.accuracy, 3) AS change
        FROM (FROM figures WHERE age = 1) AS latest
        FULL JOIN (FROM figures WHERE age = 2) AS before USING (system, mode)
        ORDER BY change NULLS LAST, system, mode
        """,
    ),
    "review-queue": NamedQuery(
        "Values of the latest fill that are less certain than .6, least certain first, with their place in the text.",
        """
        SELECT doc_id, pointer, value, round(coalesce(probability, confidence), 3) AS certainty,
               "start", "end", null_reason, mode
        FROM fill_cells
        WHERE fill = (SELECT max_by(fill, created) FROM fills) AND coalesce(probability, confidence) < 0.6
        ORDER BY coalesce(probability, confidence), doc_id, pointer
        """,
    ),
    "fill-errors": NamedQuery(
        "Why documents could not be filled, by fill.",
        """
        SELECT fill, created, error, count(*) AS documents, min(doc_id) AS for_example
        FROM fills WHERE error IS NOT NULL
        GROUP BY ALL ORDER BY created DESC, documents DESC, error
        """,
    ),
    "cost": NamedQuery(
        "Tokens and milliseconds a document, by system, in the latest evaluation.",
        """
        SELECT system, count(*) AS documents, round(avg(prompt_tokens), 1) AS prompt_tokens,
               round(avg(generated_tokens), 1) AS generated_tokens, round(avg(sampled_tokens), 1) AS sampled_tokens,
               round(median(ms), 1) AS ms_median, round(quantile_cont(ms, 0.9), 1) AS ms_p90,
               round(avg(valid::INT), 3) AS valid
        FROM eval_documents WHERE eval = (SELECT max_by(eval, created) FROM eval_documents)
        GROUP BY ALL ORDER BY system
        """,
    ),
}


@dataclass(frozen=True)
class Result:
    """Rows of an answer, in order; values as Python objects."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]

    def table(self, title: str | None = None) -> Table:
        """For a rich console; numbers right-aligned."""
        table = Table(title=title, title_justify="left", header_style="bold")
        for place, column in enumerate(self.columns):
            numeric = any(isinstance(row[place], int | float | Decimal) for row in self.rows)
            table.add_column(Text(column), justify="right" if numeric else "left", overflow="fold")
        for row in self.rows:
            table.add_row(*(Text("" if value is None else _cell(value)) for value in row))
        return table

    def json(self) -> str:
        """An array of objects; NaN and infinities become null, dates ISO text, decimals numbers."""
        twice = sorted({name for name in self.columns if self.columns.count(name) > 1})
        if twice:
            raise InputError(
                f"two columns are named {twice[0]!r}, which an object cannot hold; name them apart with AS"
            )
        rows = [{name: _plain(value) for name, value in zip(self.columns, row, strict=True)} for row in self.rows]
        return json.dumps(rows, ensure_ascii=False, indent=1)

    def csv(self) -> str:
        """With a header line; nested values as JSON."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([["" if value is None else _cell(value) for value in row] for row in self.rows])
        return out.getvalue()


def run_sql(home: Home, text_or_name: str) -> Result:
    """Answer SQL, or the named query of this name, over the views of a home directory.

    Only statements that read are run. Raises InputError with DuckDB's message for bad SQL, and with the
    names there are for an unknown name.
    """
    sql = _sql(text_or_name)
    with connect(home) as connection:
        try:
            statements = connection.extract_statements(sql)
            _check_reading(statements)
            for statement in statements:
                cursor = connection.execute(statement)
            columns = tuple(column[0] for column in cursor.description)
            return Result(columns, cursor.fetchall())
        except duckdb.Error as error:
            raise InputError(f"DuckDB cannot run this: {error}") from error


def _sql(text: str) -> str:
    name = text.strip()
    if name in NAMED:
        return NAMED[name].sql
    if not name:
        raise InputError(f"give SQL or one of {', '.join(NAMED)}")
    if len(name.split()) == 1 and name.replace("-", "").isalnum():
        near = difflib.get_close_matches(name, NAMED, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(NAMED)}; or give SQL"
        raise InputError(f"no query is named {name!r}; {hint}")
    return text


def _check_reading(statements: list[duckdb.Statement]) -> None:
    if not statements:
        raise InputError("there is no SQL statement in this text")
    reading = (duckdb.StatementType.SELECT, duckdb.StatementType.MULTI)
    for statement in statements:
        if statement.type not in reading:
            raise InputError(
                f"{statement.type.name} statements are not run here, only those that read; "
                "for a file of the result use --format csv or json and redirect it"
            )
    asked = sum(statement.type is duckdb.StatementType.SELECT for statement in statements)
    if asked > 1:
        raise InputError(f"{asked} statements are given, one is answered at a time; run them one by one")


def _plain(value: Any) -> Any:
    """A value as JSON data."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Decimal):
        return float(value)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _cell(value: Any) -> str:
    """A value as text, numbers with all their digits."""
    if isinstance(value, str | Decimal):
        return str(value)
    plain = value if isinstance(value, float) else _plain(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
