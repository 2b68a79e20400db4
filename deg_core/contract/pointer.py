"""JSON Pointers (RFC 6901) and the paths of a plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from deg_core.contract.plan import ITEM, Path

MISSING: Final = object()


def escape(step: str) -> str:
    """One reference token: "~" and "/" escaped."""
    return step.replace("~", "~0").replace("/", "~1")


def join(steps: Iterable[str | int]) -> str:
    """The pointer of these steps; "" for none."""
    return "".join(f"/{escape(str(step))}" for step in steps)


def split(pointer: str) -> tuple[str, ...]:
    """The unescaped steps of a pointer; raises ValueError when it is not one."""
    if not pointer:
        return ()
    if not pointer.startswith("/"):
        raise ValueError(f"{pointer!r} is not a JSON Pointer: it must be empty or start with '/'")
    steps = pointer[1:].split("/")
    for step in steps:
        if "~" in step.replace("~0", "").replace("~1", ""):
            raise ValueError(f"{pointer!r} is not a JSON Pointer: write '~' as '~0' and '/' as '~1'")
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in steps)


def depth(path: Path) -> int:
    """How many array indices a path needs."""
    return sum(step is ITEM for step in path)


def concrete(path: Path, indices: Sequence[int | str] = ()) -> str:
    """The pointer of a path whose items are these indices, outermost first ("*" = any item)."""
    if depth(path) != len(indices):
        raise ValueError(f"{folded(path)} needs {depth(path)} array indices, got {len(indices)}")
    remaining = iter(indices)
    return join(next(remaining) if step is ITEM else step for step in path)  # type: ignore[misc]


def folded(path: Path) -> str:
    """The pointer of a path with "*" for every array item: "/items/*/price"."""
    return join("*" if step is ITEM else step for step in path)  # type: ignore[misc]


def read_value(value: Any, pointer: str, *default: Any) -> Any:
    """The part of a JSON value at a pointer; where there is none, the default if one is given, else KeyError."""
    for step in split(pointer):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isascii() and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        elif default:
            return default[0]
        else:
            raise KeyError(pointer)
    return value
