"""Command-line options made from a settings model, so that a setting is described once."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from deg_core.artifacts import Home
from deg_core.config.read import nested_model, read_settings

HomeOption = Annotated[
    Path | None, typer.Option("--home", help="Folder of all results (default: $DEG_HOME, else ./deg-home).")
]
PANEL = "Settings"


def home_of(path: Path | None) -> Home:
    """The home that --home names."""
    return Home(path)


def takes_settings(model: type[BaseModel]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command `--config`, `--set` and one flag for each plain field of a settings model.

    The command's first parameter receives the finished settings. Fields that hold settings of their own
    are reached with `--set group.name=value`.
    """
    flags = {
        name: _flag(name, field) for name, field in model.model_fields.items() if not nested_model(field.annotation)
    }

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        first, *own = inspect.signature(command, eval_str=True).parameters.values()

        @functools.wraps(command)
        def wrapper(**arguments: Any) -> Any:
            given = {name: arguments.pop(name) for name in flags}
            config, assignments = arguments.pop("config"), arguments.pop("assignments")
            settings = read_settings(
                model, config, assignments, {k: v for k, v in given.items() if v not in (None, [])}
            )
            return command(settings, **arguments)

        parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in [*own, *_COMMON, *flags.values()]]
        del wrapper.__wrapped__  # typer would read the command's own signature through it
        wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        wrapper.__annotations__ = {p.name: p.annotation for p in parameters}
        return wrapper

    return decorate


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


_COMMON = (
    _parameter(
        "config",
        Annotated[Path | None, typer.Option("--config", help="YAML or JSON file of settings.", rich_help_panel=PANEL)],
        None,
    ),
    _parameter(
        "assignments",
        Annotated[
            list[str] | None,
            typer.Option(
                "--set", help="One setting as key=value, e.g. options.seed=1; repeatable.", rich_help_panel=PANEL
            ),
        ],
        None,
    ),
)


def _flag(name: str, field: FieldInfo) -> inspect.Parameter:
    shown = ", ".join(map(str, field.default)) if isinstance(field.default, tuple) else field.default
    option = typer.Option(
        f"--{name.replace('_', '-')}",
        help=f"{field.description or name} [dim]\\[default: {'none' if shown in (None, '') else shown}][/dim]",
        rich_help_panel=PANEL,
    )
    return _parameter(name, Annotated[_option_type(field.annotation), option], None)


def _option_type(annotation: Any) -> Any:
    """The type that typer reads: a tuple of values is a repeatable option, everything may be left out."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is tuple:
        return list[str] | None
    if origin in (typing.Union, types.UnionType):
        arguments = tuple(part for part in arguments if part is not type(None))
        return _option_type(arguments[0]) if len(arguments) == 1 else str | None
    if origin is Literal:
        return annotation | None if all(isinstance(part, str) for part in arguments) else str | None
    return annotation | None
