"""Text that remembers where its values stand."""

from __future__ import annotations

import pytest

from deg_core.generator.draw import Draw
from deg_core.generator.schema import Answer, group, items, json_schema, number, text
from deg_core.generator.text import Fragment, Mark, capitalised, join, lay_down, template
from deg_core.generator.vocabulary import phrases


def test_places_count_code_points_and_repeat():
    name = Fragment((Mark("name", "Björn 京"),))
    written, places = lay_down(template("Dear {n},\n\nare you {n}?", n=name))
    assert written == "Dear Björn 京,\n\nare you Björn 京?"
    assert [written[a:b] for a, b in places["name"]] == ["Björn 京"] * 2


def test_gaps_of_empty_slots_close():
    total = Fragment((Mark("t", "12.50"),))
    written, places = lay_down(template("{a}. To pay {b} {t}.\n{a}\n\n{a}\nEnd {a}", a="", b="", t=total))
    assert written == "To pay 12.50.\n\nEnd"
    assert places == {"t": [(7, 12)]}


def test_join_leaves_out_the_empty_and_capitals_spare_values():
    assert lay_down(join("; ", ["", "a", Fragment(), "b"]))[0] == "a; b"
    assert lay_down(capitalised("due now"))[0] == "Due now"
    assert lay_down(capitalised(Fragment((Mark("m", "x@y.example"),))))[0] == "x@y.example"


def test_unknown_slot_is_an_error():
    with pytest.raises(KeyError, match="missing"):
        template("{missing}")


def test_held_out_wordings():
    pool = phrases("a", "b", "c", "d", "e", "f", "g", "h")
    assert pool.of("seen") == tuple("abcdef") and pool.of("held") == ("g", "h") and len(pool.of("all")) == 8
    with pytest.raises(ValueError, match="distinct"):
        phrases("a", "a")


def test_answer_follows_the_schema():
    root = group({"who": text("name", optional=True), "rows": items("rows", group({"n": number("count", null=True)}))})
    facts = {"name": None, "rows": 2, "rows/0/count": 3, "rows/1/count": None}
    answer = Answer(root, facts, {"rows/0/count": [(4, 5)]})
    assert answer.value == {"rows": [{"n": 3}, {"n": None}]} and answer.spans == {"/rows/0/n": [(4, 5)]}
    assert json_schema(root)["required"] == ["rows"]


@pytest.mark.parametrize(
    ("facts", "message"),
    [({"n": 3}, "not printed"), ({"n": None}, "no null"), ({}, "states no fact")],
)
def test_answer_refuses_a_document_that_does_not_fit(facts, message):
    with pytest.raises(ValueError, match=message):
        Answer(group({"n": number("n")}), facts, {})


def test_a_fact_has_one_value():
    draw = Draw(1, "train", 0)
    draw.say("total", 3)
    with pytest.raises(ValueError, match="cannot also be"):
        draw.say("total", 4)
