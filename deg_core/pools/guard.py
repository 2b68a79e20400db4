"""The contamination guard: evaluation contexts are kept out of training (training specification, section 2)."""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from deg_core.contract.errors import InputError, RequestError
from deg_core.contract.request import render_context

EVALUATION_ONLY = "eval_only"
ANCHOR = 16  # letters and digits; a shorter context says too little to be found inside another text


class Guard:
    """Finds evaluation contexts inside a text, whatever its case, white space and punctuation.

    A context of fewer than ANCHOR letters and digits is found only where it is the whole text.
    """

    def __init__(self, contexts: Iterable[tuple[str, str]]):
        """contexts: (uid, rendered context) of each evaluation record."""
        self._by_anchor: dict[str, list[tuple[str, str]]] = {}
        self._short: dict[str, str] = {}
        for uid, context in contexts:
            text = normalise(context)
            if len(text) < ANCHOR:
                self._short.setdefault(text, uid)
            else:
                self._by_anchor.setdefault(text[:ANCHOR], []).append((text, uid))

    @classmethod
    def read(cls, paths: Iterable[str | Path]) -> Guard:
        """The guard of evaluation records files; raises InputError for a line without a context."""
        return cls(pair for path in paths for pair in _contexts(Path(path)))

    def match(self, context: str) -> str | None:
        """The uid of an evaluation record whose context the text holds; None when there is none."""
        text = normalise(context)
        if text in self._short:
            return self._short[text]
        if not self._by_anchor:
            return None
        for start in range(len(text) - ANCHOR + 1):
            for held, uid in self._by_anchor.get(text[start : start + ANCHOR], ()):
                if text.startswith(held, start):
                    return uid
        return None


def normalise(text: str) -> str:
    """Letters and digits only, compatibility forms and case folded."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def refuse_evaluation_only(path: Path) -> None:
    """Raise InputError when a source lies under a name that is kept for evaluation."""
    names = (*path.parts, *Path(os.path.realpath(path)).parts)
    if any(EVALUATION_ONLY in name for name in names):
        raise InputError(f"{path} is evaluation-only material ({EVALUATION_ONLY} in its path) and never trains")


def _contexts(path: Path) -> Iterable[tuple[str, str]]:
    if not path.is_file():
        raise InputError(f"the guard file {path} does not exist")
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
                yield str(record.get("uid", number)), render_context(record["context"])
            except (ValueError, KeyError, AttributeError, TypeError, RecursionError, RequestError) as error:
                raise InputError(f"the guard file {path}, line {number}: no record with a context ({error})") from error
