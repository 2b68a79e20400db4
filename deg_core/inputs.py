"""Text and JSON files that a user names, with errors that say the place and what to do."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any, NoReturn

from deg_core.contract.errors import InputError


def read_text(path: Path) -> str:
    """A UTF-8 text file, or standard input for "-"; a byte order mark is dropped. Raises InputError."""
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 at byte {error.start}; convert it, e.g. with iconv") from error


def read_json(path: Path) -> Any:
    """A JSON file; raises InputError with the place of the error, and for a key that an object has twice."""
    text = read_text(path)
    if not text.strip():
        raise InputError(f"{path} is empty; it should hold JSON")
    try:
        return json.loads(text, object_pairs_hook=unique_keys, parse_constant=refuse_constant, parse_float=finite)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}:{error.colno}: not JSON ({error.msg})") from error
    except RecursionError as error:
        raise InputError(f"{path}: nested too deeply to be read; flatten it") from error
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error


def refuse_constant(name: str) -> NoReturn:
    """For json.loads: NaN and Infinity, which Python would read, are not JSON."""
    raise ValueError(f"{name} is not JSON")


def finite(text: str) -> float:
    """For json.loads: a number that is too large to be held is an error, not infinity."""
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text[:40]} is larger than a number can be (1.8e308)")
    return number


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """For json.loads: an object that has a key twice is an error, not the last of the two."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"an object has the key {key!r} twice; keep one")
        found[key] = value
    return found
