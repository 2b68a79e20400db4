"""The table of keywords that a schema may and may not use, from the rules that the compiler works by."""

from __future__ import annotations

from collections.abc import Iterator

from deg_core.contract.choices import MAX_OPTIONS
from deg_core.contract.drafts import DRAFTS
from deg_core.contract.keywords import ANNOTATIONS, BY_TYPE, COMBINATORS, EXTENSIONS, FORMATS, UNSUPPORTED
from deg_core.contract.scales import MAX_LEVELS

_ALSO = {
    "type": "one of object, array, string, number, integer, boolean; with null beside it only on a leaf",
    "enum": f"2 to {MAX_OPTIONS} different scalars: a choice",
    "anyOf": 'either [X, {"type": "null"}], or branches of const and enum: a choice',
    "oneOf": "as anyOf",
    "$ref": "local (# or #/...), not recursive; only annotations beside it",
    "x-generate": "true: the text is written, not copied; on a plain string or an array of plain strings",
    "x-max-tokens": "the token budget of an x-generate field, at least 1",
    "x-levels": f"labels of the levels of an integer scale (2 to {MAX_LEVELS} levels)",
    "format": f"one of {', '.join(FORMATS)}",
    "additionalProperties": "true or false",
    "items": "one schema, required on an array",
    "required": "names out of properties",
    "pattern": "searched; no back-references, atomic groups or possessive repeats",
}


def keyword_table() -> str:
    """The table as Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Keywords of a schema"
    yield ""
    yield "Written by `python -m deg_core.contract.table > docs/keywords.md`; a test checks that it is current."
    yield f"A keyword that stands in none of the tables is refused. Drafts (`$schema`): {', '.join(f'`{draft}`' for draft in DRAFTS)}."
    yield ""
    yield "## Used"
    yield ""
    yield "| keyword | on type | limits |"
    yield "|---|---|---|"
    owners = {keyword: [name for name in BY_TYPE if keyword in BY_TYPE[name]] for keyword in _used()}
    for keyword in _used():
        yield f"| `{keyword}` | {', '.join(owners[keyword]) or 'any'} | {_ALSO.get(keyword, '')} |"
    yield ""
    yield "## Annotations"
    yield ""
    yield f"Allowed everywhere: {', '.join(f'`{keyword}`' for keyword in sorted(ANNOTATIONS))}; in draft 4 also `id`."
    yield "`title` and `description` are a field's instructions to the model."
    yield ""
    yield "## Refused"
    yield ""
    yield "| keyword | what to write instead |"
    yield "|---|---|"
    for keyword, advice in UNSUPPORTED.items():
        yield f"| `{keyword}` | {advice} |"


def _used() -> list[str]:
    typed = [keyword for keywords in BY_TYPE.values() for keyword in sorted(keywords)]
    return list(dict.fromkeys(("type", "enum", *COMBINATORS, "$ref", *typed, *EXTENSIONS)))


if __name__ == "__main__":
    print(keyword_table(), end="")
