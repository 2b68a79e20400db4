"""Schemas of others under the shared data, and what becomes of each: compiled, or refused for which keywords.

`python -m tests.contract.public_schemas` writes the expected outcomes anew.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

from deg_core.contract import SchemaError, compile_schema
from deg_core.contract.pointer import split

SHARED = Path(os.environ.get("DEG_SHARED_DATA", Path(__file__).parents[2].parent / "shared" / "data")) / "jsonschema"
EXPECTED = Path(__file__).with_name("public_schemas.json")
COMPILED = "compiled"
_MAPS = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")


def records(name):
    """The records of a file, each with an id."""
    seen = Counter()
    for line in (SHARED / f"{name}.jsonl").read_text().splitlines():
        record = json.loads(line)
        file = record.get("uid") or f"{record['draft']}/{record['file'].removesuffix('.json')}"
        seen[file] += 1
        yield record.get("uid") or f"{file}/{seen[file]}", record


def keyword_of(loc):
    """The keyword that a problem is about; "schema" when it is about a whole schema."""
    steps = split(loc)
    while steps and steps[-1].isdigit():
        steps = steps[:-1]
    return "schema" if not steps or steps[-2:-1] and steps[-2] in _MAPS else steps[-1]


def outcome(schema):
    """COMPILED, or the keywords that a schema is refused for."""
    try:
        compile_schema(schema)
    except SchemaError as error:
        return sorted({keyword_of(problem.loc) for problem in error.problems})
    return COMPILED


def outcomes():
    """The outcome of every public schema, by id."""
    return {
        uid: outcome(record["schema"]) for name in ("test_suite", "maskbench_sample") for uid, record in records(name)
    }


if __name__ == "__main__":
    lines = (f"{json.dumps(uid)}: {json.dumps(found)}" for uid, found in outcomes().items())
    EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
