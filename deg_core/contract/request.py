"""The request: the context as text and the options checked (contract sections 7 and 9)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from deg_core.config.settings import FillOptions
from deg_core.contract.document import unpaired_surrogate
from deg_core.contract.errors import Problem, RequestError
from deg_core.contract.pointer import join

_OFFSET = re.compile(r"Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9]")


def render_context(context: str | list[Any] | dict[str, Any]) -> str:
    """The context as the text that the model reads and spans point into.

    Strings stand verbatim; JSON has ", " and ": ", its own key order and no escapes of non-ASCII text.
    Raises RequestError for anything else.
    """
    if isinstance(context, str):
        text = context
    elif isinstance(context, list | dict):
        try:
            text = json.dumps(context, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise RequestError([Problem("/context", f"not JSON: {error}")]) from error
    else:
        raise RequestError([Problem("/context", f"is a string, an array or an object, not {type(context).__name__}")])
    offset = unpaired_surrogate(text)
    if offset is not None:
        raise RequestError([Problem("/context", f"unpaired surrogate at code point {offset}; send valid Unicode")])
    return text


def check_options(options: Mapping[str, Any] | FillOptions | None = None) -> FillOptions:
    """The options of a request; every unknown or bad one is a problem of the RequestError raised."""
    try:
        checked = (
            options if isinstance(options, FillOptions) else FillOptions.model_validate(options or {}, strict=True)
        )
    except ValidationError as error:
        raise RequestError(
            [Problem(join(("options", *problem["loc"])), _option_message(problem)) for problem in error.errors()]
        ) from error
    problems = []
    if checked.temperature > 0 and checked.seed is None:
        problems.append(Problem("/options/seed", "a temperature above 0 needs a seed"))
    for name in ("temperature", "null_margin"):
        number = getattr(checked, name)
        if number is not None and not math.isfinite(number):
            problems.append(Problem(f"/options/{name}", f"{number} is not finite"))
    if checked.default_offset is not None and not _OFFSET.fullmatch(checked.default_offset):
        problems.append(Problem("/options/default_offset", "is 'Z', an offset such as '+02:00', or null"))
    if problems:
        raise RequestError(problems)
    return checked


def _option_message(problem: Any) -> str:
    if problem["type"] == "extra_forbidden":
        return f"unknown option; the options are {', '.join(FillOptions.model_fields)}"
    return problem["msg"]
