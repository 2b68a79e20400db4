"""`deg validate`: every problem of a schema or of a records file, each with its place."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deg_core.cli.outcome import NegativeAnswerError, err
from deg_core.contract.errors import InputError, SchemaError
from deg_core.inputs import read_json

RECORDS_SUFFIXES = (".jsonl", ".ndjson")


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("validate")(validate)


def validate(
    file: Annotated[Path, typer.Argument(help="A JSON Schema, or a records file (.jsonl).")],
    records: Annotated[bool, typer.Option("--records", help="Read it as a records file whatever its name.")] = False,
) -> None:
    """List every problem of a schema or a records file. Exit code 1: there are problems."""
    if file.is_dir():
        raise InputError(f"{file} is a folder; name a file in it")
    if not file.exists():
        raise InputError(f"there is no file {file}")
    if records or file.suffix.lower() in RECORDS_SUFFIXES:
        validate_records(file)
    else:
        validate_schema(file)


def validate_schema(file: Path) -> None:
    """Print the schema's problems as `file: pointer: message`, or what its fields are."""
    from deg_core.contract import compile_schema

    try:
        plan = compile_schema(read_json(file))
    except SchemaError as error:
        for problem in error.problems:
            typer.echo(f"{file}: {problem}")
        raise NegativeAnswerError(f"{counted(len(error.problems), 'problem')} in {file}") from error
    err.print(
        f"{file}: {counted(len(plan.fields), 'field')}, {counted(len(plan.arrays), 'array')}, plan {plan.fingerprint[:12]}"
    )


def validate_records(file: Path) -> None:
    """Print the lines that are no valid record as `file: line n: reasons`."""
    from deg_core.pools.lines import unfinished_bytes
    from deg_core.pools.records import Reject, read_records

    read = refused = 0
    try:
        for line in read_records(file):
            read += 1
            if isinstance(line, Reject):
                refused += 1
                typer.echo(f"{file}: {line}")
        if cut := unfinished_bytes(file):
            read, refused = read + 1, refused + 1
            typer.echo(f"{file}: the last line ({cut} bytes) has no end and is no whole record; finish or delete it")
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from error
    err.print(f"{file}: {counted(read, 'record')} read, {read - refused} valid, {refused} refused")
    if refused:
        raise NegativeAnswerError(f"{refused} of {counted(read, 'record')} in {file} refused")
    if not read:
        raise NegativeAnswerError(f"{file} holds no record")


def counted(number: int, noun: str) -> str:
    """A number with its noun in the right form."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
