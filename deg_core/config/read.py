"""Settings from a file and from `key=value` assignments, with errors that say what to write instead."""

from __future__ import annotations

import difflib
import types
import typing
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from deg_core.contract.errors import InputError
from deg_core.inputs import read_text

Model = TypeVar("Model", bound=BaseModel)


def read_settings(
    model: type[Model],
    config: Path | None = None,
    assignments: Iterable[str] | None = None,
    flags: Mapping[str, Any] | None = None,
) -> Model:
    """The settings of a step.

    config: a YAML or JSON file of the model. assignments: "train.steps=50", values read as YAML. flags: top-level
    fields. Later ones win, in this order. Raises InputError that lists every problem with its key.
    """
    values = _read_file(config) if config else {}
    for assignment in assignments or ():
        key, equals, text = assignment.partition("=")
        if not equals:
            raise InputError(f"--set {assignment!r}: write it as key=value, for example {_example_key(model)}=1")
        _assign(model, values, key.strip(), _parse_value(assignment, text))
    values.update(flags or {})
    try:
        return model.model_validate(values)
    except ValidationError as error:
        where = f"{config}: " if config else ""
        raise InputError("\n".join(where + line for line in _problems(model, error))) from error


def nested_model(annotation: Any) -> type[BaseModel] | None:
    """The settings model that an annotation holds (X, X | None, tuple[X, ...]), else None."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if typing.get_origin(annotation) in (typing.Union, types.UnionType, tuple, list):
        return next((found for part in typing.get_args(annotation) if (found := nested_model(part))), None)
    return None


def _read_file(path: Path) -> dict[str, Any]:
    text = read_text(path)
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"{path} is neither YAML nor JSON: {error}") from error
    except RecursionError as error:
        raise InputError(f"{path}: nested too deeply to be read; flatten it") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise InputError(f"{path}: expected a mapping of settings, found {type(values).__name__}")
    return values


def _parse_value(assignment: str, text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"--set {assignment!r}: the value is not YAML; quote it ({error})") from error


def _assign(model: type[BaseModel], values: dict[str, Any], key: str, value: Any) -> None:
    *groups, last = key.split(".")
    place: Any = values
    inner: type[BaseModel] | None = model
    for depth, name in enumerate(groups):
        inner = nested_model(_field(inner, name, ".".join(groups[:depth])))
        if inner is None:
            raise InputError(f"--set {key}: {'.'.join(groups[: depth + 1])} has no settings inside it")
        place = place.setdefault(name, {})
        if not isinstance(place, dict):
            raise InputError(f"--set {key}: {'.'.join(groups[: depth + 1])} is a list; give the whole list instead")
    _field(inner, last, ".".join(groups))
    place[last] = value


def _field(model: type[BaseModel] | None, name: str, prefix: str) -> Any:
    assert model is not None
    if name not in model.model_fields:
        raise InputError(_unknown(model, name, prefix))
    return model.model_fields[name].annotation


def _unknown(model: type[BaseModel], name: str, prefix: str) -> str:
    names = list(model.model_fields)
    full = f"{prefix}.{name}" if prefix else name
    close = difflib.get_close_matches(name, names, 1, 0.5)
    advice = f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"
    return f"no setting {full}; {advice}"


def _problems(model: type[BaseModel], error: ValidationError) -> list[str]:
    lines = []
    for problem in error.errors(include_url=False):
        *parents, last = problem["loc"] or ("(settings)",)
        prefix = ".".join(str(part) for part in parents)
        if problem["type"] == "extra_forbidden":
            lines.append(_unknown(_model_at(model, parents), str(last), prefix))
        else:
            full = f"{prefix}.{last}" if prefix else str(last)
            lines.append(f"{full}: {_told(problem)}")
    return lines


def _told(problem: Mapping[str, Any]) -> str:
    if problem["type"] == "value_error":  # a rule of ours, which says it all
        return problem["msg"].removeprefix("Value error, ")
    return f"{problem['msg']}, not {problem['input']!r}"


def _model_at(model: type[BaseModel], path: Iterable[str | int]) -> type[BaseModel]:
    for part in path:
        if isinstance(part, str):
            model = nested_model(model.model_fields[part].annotation) or model
    return model


def _example_key(model: type[BaseModel]) -> str:
    name, field = next(iter(model.model_fields.items()))
    inner = nested_model(field.annotation)
    return f"{name}.{_example_key(inner)}" if inner else name
