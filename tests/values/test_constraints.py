"""The keyword that a value breaks is the first one named, and numbers are compared exactly."""

from __future__ import annotations

import pytest

from deg_core.values import violated
from tests.values.leaves import leaf


@pytest.mark.parametrize(
    ("schema", "value", "keyword"),
    [
        ({"type": "number", "minimum": 2}, 2, None),
        ({"type": "number", "minimum": 2}, 1.99, "minimum"),
        ({"type": "number", "maximum": 2}, 2.01, "maximum"),
        ({"type": "number", "exclusiveMinimum": 2}, 2, "exclusiveMinimum"),
        ({"type": "number", "exclusiveMaximum": 2}, 2, "exclusiveMaximum"),
        ({"type": "number", "multipleOf": 0.1}, 0.3, None),
        ({"type": "number", "multipleOf": 0.01}, 1.005, "multipleOf"),
        ({"type": "number", "maximum": 9007199254740992}, 9007199254740993, "maximum"),
        ({"type": "integer"}, 2, None),
        ({"type": "integer"}, 2.5, "type"),
        ({"type": "string", "minLength": 3}, "ab", "minLength"),
        ({"type": "string", "maxLength": 3}, "abcd", "maxLength"),
        ({"type": "string", "maxLength": 1}, "\U0001f600", None),
        ({"type": "string", "pattern": "[0-9]{2}"}, "a12b", None),
        ({"type": "string", "pattern": "^[0-9]{2}$"}, "a12b", "pattern"),
        ({"type": "string", "format": "email"}, "a@b", None),
        ({"type": "string", "format": "email"}, "a@", "format"),
        ({"type": "string", "minLength": 3, "pattern": "x"}, "ab", "minLength"),
    ],
)
def test_the_keyword_that_a_value_breaks(schema, value, keyword):
    assert violated(leaf(**schema), value) == keyword
