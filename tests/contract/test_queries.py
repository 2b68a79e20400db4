"""Query text, pointers, the walk, the request and the formats."""

import math
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deg_core.config import FillOptions
from deg_core.contract import (
    ITEM,
    FillError,
    RequestError,
    check_options,
    compile_schema,
    formats,
    pointer,
    query,
    walk,
)
from deg_core.contract.outcome import outcome_index
from deg_core.contract.request import render_context

PLAN = compile_schema(
    {
        "type": "object",
        "properties": {
            "kind": {
                "title": "Kind",
                "description": "What it is",
                "oneOf": [{"const": "a", "description": "the\nfirst"}, {"const": True}, {"const": "true"}],
            },
            "mood": {"type": ["integer", "null"], "minimum": 1, "maximum": 3, "x-levels": {"1": "bad"}},
            "ok": {"type": "boolean"},
            "rows": {
                "type": "array",
                "description": "The rows",
                "items": {
                    "type": "object",
                    "properties": {
                        "price": {"type": "number", "minimum": 0, "multipleOf": 0.5},
                        "cells": {"type": "array", "items": {"type": "string", "format": "email"}},
                        "note": {"type": "string", "x-generate": True, "maxLength": 40, "x-max-tokens": 9},
                    },
                },
            },
            "last": {"type": "string", "pattern": "^x"},
        },
    }
)
FIELDS = {pointer.folded(field.path): field for field in PLAN.fields}


def test_choice_query_lists_every_outcome_on_its_own_line():
    built = query.leaf_query(FIELDS["/kind"], ())
    assert built.text == (
        "FIELD /kind\nTITLE: Kind\nDESCRIPTION: What it is\nKIND: choice\nOPTIONS:\n"
        '- a: the first\n- true\n- "true"\nANSWER:'
    )
    assert [built.lines[line] for line in built.option_lines] == [f"- {text}\n" for text in built.option_texts]


def test_order_permutes_the_lines_and_option_lines_follow():
    plain = query.leaf_query(FIELDS["/kind"], ())
    mixed = query.leaf_query(FIELDS["/kind"], (), order=(2, 0, 1))
    assert [mixed.lines[i] for i in mixed.option_lines] == [plain.lines[i] for i in plain.option_lines]
    assert sorted(mixed.lines) == sorted(plain.lines) and mixed.lines != plain.lines
    with pytest.raises(ValueError, match="permutation"):
        query.leaf_query(FIELDS["/kind"], (), order=(0, 0, 1))


def test_score_noul_and_extract_queries():
    assert query.leaf_query(FIELDS["/mood"], ()).option_texts == ("1: bad", "2", "3", "null")
    assert query.leaf_query(FIELDS["/ok"], ()).text == "FIELD /ok\nKIND: yes or no\nANSWER:"
    assert query.leaf_query(FIELDS["/rows/*/price"], (4,)).text == (
        "FIELD /rows/4/price\nITEM 4 of /rows\nKIND: number\nCONSTRAINTS: at least 0, multiple of 0.5\nANSWER:"
    )
    nested = query.leaf_query(FIELDS["/rows/*/cells/*"], (4, 1)).lines
    assert nested[:4] == ("FIELD /rows/4/cells/1\n", "ITEM 4 of /rows\n", "ITEM 1 of /rows/4/cells\n", "KIND: email\n")


def test_items_named_by_the_text_where_they_start():
    nested = query.leaf_query(FIELDS["/rows/*/cells/*"], ('12 "red" lamps', "a@b.c")).lines
    assert nested[:3] == (
        "FIELD /rows/*/cells/*\n",
        'ITEM /rows AT: "12 \\"red\\" lamps"\n',
        'ITEM /rows/*/cells AT: "a@b.c"\n',
    )
    mixed = query.leaf_query(FIELDS["/rows/*/cells/*"], ("é", 1)).lines
    assert mixed[:3] == ("FIELD /rows/*/cells/1\n", 'ITEM /rows AT: "é"\n', "ITEM 1 of /rows/*/cells\n")
    _, cells = PLAN.arrays
    assert query.count_query(cells, ("é",)).lines[:2] == ("ARRAY /rows/*/cells\n", 'ITEM /rows AT: "é"\n')
    note = query.generate_query(FIELDS["/rows/*/note"], ("é",)).lines
    assert note[:2] == ("WRITE /rows/*/note\n", 'ITEM /rows AT: "é"\n')


def test_arrays_with_copied_values_have_places():
    assert walk.placed_arrays(PLAN) == {("rows",), ("rows", ITEM, "cells")}
    decided = compile_schema({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "boolean"}}}})
    assert walk.placed_arrays(decided) == frozenset()
    path = ("rows", ITEM, "cells", ITEM)
    assert walk.enclosing_items(path, (4, 1)) == [(("rows",), "/rows", 4), (path[:3], "/rows/4/cells", 1)]


def test_count_generate_and_known_values():
    rows, cells = PLAN.arrays
    assert query.count_query(rows, ()).text == (
        "ARRAY /rows\nDESCRIPTION: The rows\nITEM FIELDS: price, cells/*, note\nKIND: count\nANSWER:"
    )
    assert query.count_query(cells, (2,)).text == "ARRAY /rows/2/cells\nITEM 2 of /rows\nKIND: count\nANSWER:"
    assert query.generate_query(FIELDS["/rows/*/note"], (1,)).text == (
        "WRITE /rows/1/note\nLIMITS: max length 40, max tokens 9\nVALUE:"
    )
    assert query.known_values([("/a", "é"), ("/b", None)]).text == 'KNOWN VALUES:\n/a = "é"\n/b = null\n'


def test_every_line_but_the_last_ends_in_a_newline():
    for field in PLAN.fields:
        indices = (0,) * pointer.depth(field.path)
        make = query.generate_query if field.mode == "generate" else query.leaf_query
        lines = make(field, indices).lines
        assert all(line.endswith("\n") for line in lines[:-1]) and not lines[-1].endswith("\n")


def test_a_query_depends_on_nothing_but_its_leaf():
    alone = compile_schema({"type": "object", "properties": {"last": {"type": "string", "pattern": "^x"}}})
    assert query.leaf_query(alone.fields[0], ()) == query.leaf_query(FIELDS["/last"], ())


def test_walk_level_by_level():
    names = [(pointer.folded(array.path), indices) for array, indices in walk.open_arrays(PLAN, {})]
    assert names == [("/rows", ())]
    lengths = {"/rows": 2}
    names = [(pointer.folded(array.path), indices) for array, indices in walk.open_arrays(PLAN, lengths)]
    assert names == [("/rows/*/cells", (0,)), ("/rows/*/cells", (1,))]
    lengths |= {"/rows/0/cells": 0, "/rows/1/cells": 2}
    assert walk.open_arrays(PLAN, lengths) == []
    leaves = [pointer.concrete(field.path, indices) for field, indices in walk.leaf_instances(PLAN, lengths)]
    assert leaves == [
        *("/kind", "/mood", "/ok", "/rows/0/price", "/rows/0/note"),
        *("/rows/1/price", "/rows/1/cells/0", "/rows/1/cells/1", "/rows/1/note", "/last"),
    ]


def test_lengths_and_known_values_of_a_gold_value():
    value = {"kind": "a", "mood": None, "rows": [{"cells": ["x"]}, {"price": 2, "note": "n"}]}
    assert walk.lengths_of(PLAN, value) == {"/rows": 2, "/rows/0/cells": 1, "/rows/1/cells": 0}
    assert walk.lengths_of(PLAN, {}) == {"/rows": 0}
    assert walk.known_of(PLAN, value) == [
        ("/kind", "a"),
        ("/mood", None),
        ("/rows/0/cells/0", "x"),
        ("/rows/1/price", 2),
    ]
    with pytest.raises(ValueError, match="/rows is no array"):
        walk.lengths_of(PLAN, {"rows": None})


def test_array_bounds():
    array = compile_schema(
        {"type": "object", "properties": {"a": {"type": "array", "minItems": 2, "items": {"type": "string"}}}}
    ).arrays[0]
    assert walk.array_bounds(array, None, 64) == (2, 32)
    assert walk.array_bounds(array, 100, 64) == (2, 64)
    assert walk.array_bounds(array, 5, 64) == (2, 5)
    with pytest.raises(FillError, match="minItems 2"):
        walk.array_bounds(array, 1, 64)


@given(st.lists(st.text(max_size=4) | st.integers(0, 99), max_size=5))
def test_pointers_round_trip(steps):
    assert pointer.split(pointer.join(steps)) == tuple(map(str, steps))


def test_pointers_of_paths_and_values():
    path = ("a/b", ITEM, "c~", ITEM)
    assert pointer.concrete(path, (0, 12)) == "/a~1b/0/c~0/12"
    assert pointer.folded(path) == "/a~1b/*/c~0/*"
    assert pointer.read_value({"a/b": [{"c~": [1, 2]}]}, "/a~1b/0/c~0/1") == 2
    assert pointer.read_value([1], "/1", None) is None
    for wrong in ("/0/x", "/-1", "/01x"):
        with pytest.raises(KeyError):
            pointer.read_value([[1]], wrong)
    for wrong in ("a", "/~", "/~2"):
        with pytest.raises(ValueError, match="not a JSON Pointer"):
            pointer.split(wrong)
    with pytest.raises(ValueError, match="2 array indices"):
        pointer.concrete(path, (0,))


def test_context_rendering():
    assert render_context(" as\nis ") == " as\nis "
    assert render_context({"b": [1, "é"], "a": None}) == '{"b": [1, "é"], "a": null}'
    for wrong in (5, None, b"x", {"a": math.nan}, ["\ud800"], "\udfff", {"a": {1}}):
        with pytest.raises(RequestError, match="^/context: "):
            render_context(wrong)


def test_options():
    assert check_options({}) == check_options(None) == FillOptions()
    assert check_options({"temperature": 1, "seed": 3}).temperature == 1.0
    wrong = {"max_new_tokens": 0, "max_tokens": 3, "date_order": "YMD", "seed": "1"}
    with pytest.raises(RequestError) as caught:
        check_options(wrong)
    assert {problem.loc for problem in caught.value.problems} == {f"/options/{name}" for name in wrong}
    for single, loc in (
        ({"temperature": 0.5}, "/options/seed"),
        ({"null_margin": math.inf}, "/options/null_margin"),
        ({"default_offset": "UTC"}, "/options/default_offset"),
    ):
        with pytest.raises(RequestError, match=loc):
            check_options(single)


def test_outcome_index_tells_true_from_one():
    field = compile_schema({"type": "object", "properties": {"f": {"enum": [1, True, None, "1"]}}}).fields[0]
    assert [outcome_index(field, value) for value in (1.0, True, None, "1", False, [1])] == [0, 1, 2, 3, None, None]


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        (
            "date",
            ["2024-02-29", "0001-01-01"],
            ["2023-02-29", "2024-2-9", "20240229", "2024-02-29T00:00:00Z", "٢٠٢٤-٠١-٠١"],
        ),
        (
            "date-time",
            [
                "2024-02-29T10:00:00Z",
                "2024-02-29t10:00:00.125+05:30",
                "1998-12-31T23:59:60Z",
                "1998-12-31T15:59:60-08:00",
            ],
            [
                "2024-02-29T10:00:00",
                "2024-02-29 10:00:00Z",
                "2024-02-29T24:00:00Z",
                "1998-12-31T22:59:60Z",
                "2024-13-01T00:00:00Z",
            ],
        ),
        (
            "email",
            ["a.b+c@d-e.org", "x@localhost"],
            ["a@", "@b", "a..b@c.d", "a b@c.d", "a@-b.c", "a@b.c\n", "x" * 65 + "@a.b"],
        ),
        (
            "uri",
            ["https://a.b/c?d=e#f", "mailto:x@y.z", "urn:isbn:12", "http://[::1]:80/", "file:///x%20y", "a:"],
            ["//a.b", "a.b/c", "http://a b", "http://[::g]/", "http://a/%zz", "http://a\n"],
        ),
        (
            "uuid",
            ["2EB8AA08-aa98-11ea-b4aa-73b441d16380"],
            [
                "2eb8aa08aa9811eab4aa73b441d16380",
                "2eb8aa08-aa98-11ea-b4aa-73b441d1638",
                "2eb8aa08-aa98-11ea-b4aa-73b441d1638g",
            ],
        ),
    ],
)
def test_formats_are_strict(name, good, bad):
    assert [text for text in good if not formats.is_valid(name, text)] == []
    assert [text for text in bad if formats.is_valid(name, text)] == []


def test_the_contract_imports_without_torch():
    code = (
        "import sys, pkgutil, importlib, deg_core.contract as c\n"
        "for m in pkgutil.iter_modules(c.__path__): importlib.import_module(f'deg_core.contract.{m.name}')\n"
        "assert 'torch' not in sys.modules and 'prefect' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
