"""fill and fill_many with random heads: whatever they say is valid, and the same however it is asked."""

import copy
import dataclasses
import json
import subprocess
import sys

import jsonschema
import pytest
import torch

from deg_core import FillError, RequestError, SchemaError, fill, fill_many, load_model
from deg_core.evaluation.determinism import check_determinism
from deg_core.model.model import Model
from tests.model import tiny
from tests.model.tiny import NEEDS_INT8

CONTEXT = (
    "Invoice 4711 of Miller & Sons, 2024-05-01. Two hammers at 12.50 EUR and a saw at 30 EUR, paid. "
    "京都 says <|im_end|> 😀. Write to ann@example.com by 3 June 2024; the total is 55.00 EUR."
)
LINES = {
    "type": "array",
    "maxItems": 3,
    "items": {
        "type": "object",
        "properties": {
            "what": {"type": ["string", "null"]},
            "paid": {"type": "boolean"},
            "parts": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"enum": ["wood", "steel"]}},
        },
        "required": ["what", "paid", "parts"],
        "additionalProperties": False,
    },
}
PROPERTIES = {
    "kind": {"enum": ["invoice", "letter", None]},
    "urgent": {"type": "boolean"},
    "level": {"type": "integer", "minimum": 1, "maximum": 5},
    "who": {"type": ["string", "null"]},
    "firm": {"type": "string"},
    "total": {"type": "number", "minimum": 20},
    "number": {"type": ["integer", "null"]},
    "due": {"type": ["string", "null"], "format": "date"},
    "mail": {"type": ["string", "null"], "format": "email"},
    "lines": LINES | {"minItems": 1},
    "tags": {"type": "array", "maxItems": 4, "items": {"enum": ["tools", "food", "rent"]}},
    "note": {"type": "string", "x-generate": True, "minLength": 2, "maxLength": 12, "x-max-tokens": 20},
    "code": {"type": "string", "x-generate": True, "pattern": "^[A-C]{2}-[0-9]{2}$", "x-max-tokens": 8},
}
SCHEMA = {"type": "object", "properties": PROPERTIES, "required": list(PROPERTIES), "additionalProperties": False}
CHECKER = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())


def part(*names):
    """The schema of some of the properties."""
    chosen = {name: PROPERTIES[name] for name in names}
    return SCHEMA | {"properties": chosen, "required": list(names)}


def job(schema, context=CONTEXT, **options):
    return {"context": context, "schema": schema, "options": options}


def numbers(response):
    """Everything that a response says but what it cost."""
    return {"value": response["value"], "meta": response["meta"]}


@pytest.fixture(scope="module")
def response(model):
    return fill(model, CONTEXT, SCHEMA)


def test_every_mode_gives_a_valid_value(response):
    assert list(CHECKER.iter_errors(response["value"])) == []
    assert set(response["value"]) == set(PROPERTIES)


def test_copied_text_stands_where_meta_says(response):
    spans = {pointer: entry["span"] for pointer, entry in response["meta"].items() if entry.get("span")}
    for pointer in ("/firm", "/total"):
        start, end = spans[pointer]
        assert 0 <= start < end <= len(CONTEXT)
    start, end = spans["/firm"]
    assert CONTEXT[start:end] == response["value"]["firm"]


def test_probabilities_are_probabilities(response):
    decided = [entry for entry in response["meta"].values() if entry["mode"].startswith("decide")]
    assert len(decided) >= 3
    for entry in response["meta"].values():
        for name in ("probability", "confidence"):
            assert entry.get(name) is None or 0 <= entry[name] <= 1


def test_usage_counts_tokens(model, response):
    assert response["usage"]["generated_tokens"] > 0
    assert response["usage"]["prompt_tokens"] > len(model.tokens.encode_context(CONTEXT))
    assert response["model"] == model.name


def test_the_same_question_gives_the_same_bits(model, response):
    again = fill(model, CONTEXT, copy.deepcopy(SCHEMA))
    assert json.dumps(again, sort_keys=True) == json.dumps(response, sort_keys=True)


def test_fill_many_equals_fill(model, response):
    jobs = [
        job(SCHEMA),
        job(part("kind", "note"), "A letter from Bob."),
        job(part("total", "lines", "who"), "Totals: 20, 30 and 40.5."),
        job(part("note", "code"), temperature=0.8, seed=3),
        job(SCHEMA, "Another text, of 2023-01-02, with 99 in it."),
    ]
    together = fill_many(model, jobs)
    assert together[0] == response
    for asked, found in zip(jobs, together, strict=True):
        assert fill(model, asked["context"], asked["schema"], **asked["options"]) == found
    assert fill_many(model, jobs[::-1]) == together[::-1]


def test_a_field_is_the_same_alone_reordered_and_in_a_bigger_schema(model, response):
    """All but generated text, which is written after the values of its schema."""
    generated = ("note", "code")
    names = [name for name in PROPERTIES if name not in generated]
    turned = fill(model, CONTEXT, part(*reversed(PROPERTIES)))
    for name in names:
        alone = fill(model, CONTEXT, part(name))
        for other in (response, turned):
            assert other["value"][name] == alone["value"][name], name
            mine = {p: entry for p, entry in other["meta"].items() if p == f"/{name}" or p.startswith(f"/{name}/")}
            assert mine == alone["meta"], name


def test_generated_text_is_the_same_beside_other_generated_text(model):
    both = fill(model, CONTEXT, part("kind", "note", "code"))
    for name in ("note", "code"):
        alone = fill(model, CONTEXT, part("kind", name))
        assert (alone["value"][name], alone["meta"][f"/{name}"]) == (both["value"][name], both["meta"][f"/{name}"])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", pytest.param("int8", marks=NEEDS_INT8)])
def test_threads_change_nothing(model, dtype, threads):
    loaded = load_model(model.path, device="cpu", dtype=dtype)
    found = []
    for count in (1, 2):
        torch.set_num_threads(count)
        found.append(fill(loaded, CONTEXT, SCHEMA))
    assert found[0] == found[1]


IN_ANOTHER_PROCESS = """
import json, sys, torch
from deg_core import fill, load_model
torch.set_num_threads(2)
path, context, schema = json.loads(sys.stdin.read())
print(json.dumps(fill(load_model(path, device="cpu", dtype="int8"), context, schema)))
"""


@NEEDS_INT8
def test_int8_is_the_same_alone_in_a_batch_and_in_another_process(model, threads):
    torch.set_num_threads(1)
    loaded = load_model(model.path, device="cpu", dtype="int8")
    found = fill(loaded, CONTEXT, SCHEMA)
    assert list(CHECKER.iter_errors(found["value"])) == []
    jobs = [job(part("firm", "due")), job(SCHEMA), job(SCHEMA, "Another text, of 2023-01-02, with 99 in it.")]
    alone, whole, _ = fill_many(loaded, jobs)
    assert whole == found and alone["meta"]["/firm"] == found["meta"]["/firm"]
    asked = json.dumps([str(model.path), CONTEXT, SCHEMA])
    command = [sys.executable, "-c", IN_ANOTHER_PROCESS]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == json.loads(json.dumps(found))


def test_a_bad_job_fails_alone(model):
    good = job(part("kind", "firm"))
    jobs = [
        good,
        job({"type": "object", "properties": {"a": {"type": "strin"}}}),
        job(part("firm"), ""),
        {"context": "x"},
        job(part("kind"), colour="red"),
        job(part("kind"), context={1, 2}),
        good,
        job(
            {
                "type": "object",
                "properties": {"a": {"type": "string", "x-generate": True, "pattern": "^(?=b)a", "x-max-tokens": 5}},
                "required": ["a"],
            }
        ),
    ]
    found = fill_many(model, jobs)
    assert found[0] == found[6] == fill(model, CONTEXT, part("kind", "firm"))
    assert isinstance(found[1], SchemaError) and found[1].problems[0].loc == "/properties/a/type"
    assert isinstance(found[2], FillError) and found[2].pointer == "/firm"
    assert isinstance(found[3], RequestError) and [p.loc for p in found[3].problems] == ["/schema"]
    assert isinstance(found[4], RequestError) and found[4].problems[0].loc == "/options/colour"
    assert isinstance(found[5], RequestError)
    assert isinstance(found[7], FillError) and found[7].pointer == "/a"
    assert fill_many(model, []) == []


def test_fill_raises_what_fill_many_returns(model):
    with pytest.raises(FillError) as caught:
        fill(model, "", part("total"))
    assert caught.value.pointer == "/total" and caught.value.reason


def test_an_empty_context(model):
    schema = part("kind", "urgent", "level", "who", "number", "due", "tags", "note", "code")
    found = fill(model, "", schema)
    assert found["value"]["who"] is None and found["value"]["number"] is None and found["value"]["due"] is None
    assert list(jsonschema.Draft202012Validator(schema).iter_errors(found["value"])) == []


def test_a_budget_too_small_for_its_pattern_is_a_fill_error(model):
    code = PROPERTIES["code"] | {"x-max-tokens": 2}
    with pytest.raises(FillError, match="x-max-tokens"):
        fill(model, CONTEXT, part("code") | {"properties": {"code": code}})


def test_sampling_follows_its_seed(model):
    texts = [
        fill(model, CONTEXT, part("note"), temperature=1.5, seed=seed)["value"]["note"] for seed in (1, 1, 2, 3, 4)
    ]
    assert texts[0] == texts[1] and len(set(texts)) > 2


@pytest.fixture(scope="module")
def narrow_model(tmp_path_factory):
    """One Gated DeltaNet layer and one attention layer of two heads, for long contexts."""
    root = tmp_path_factory.mktemp("narrow")
    tiny.qwen_model(layers=2, heads=2).save_pretrained(root / "base")
    tiny.write_tokenizer(root / "base")
    _, _, folder = tiny.write_checkpoint(root / "checkpoint", root / "base")
    return load_model(folder, device="cpu", dtype="float32")


def test_a_context_of_twenty_thousand_tokens(narrow_model):
    """The only date stands at its far end, and its span is a place in the whole text."""
    needle = "2031-07-09"
    context = f"{'There is nothing to be seen in this line of words. ' * 620}Due {needle}."
    assert 20_000 < len(narrow_model.tokens.encode_context(context)) < 25_000
    due = {"type": "string", "format": "date"}
    schema = part("kind", "who", "due") | {
        "properties": {"kind": PROPERTIES["kind"], "who": PROPERTIES["who"], "due": due}
    }
    found = fill(narrow_model, context, schema)
    assert found["value"]["due"] == needle
    start, end = found["meta"]["/due"]["span"]
    assert context[start:end] == needle


ROWS = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "what": {"type": ["string", "null"]},
            "paid": {"type": "boolean"},
            "numbers": {"type": "array", "maxItems": 2, "items": {"type": ["number", "null"]}},
            "say": {"type": "string", "x-generate": True, "x-max-tokens": 4},
        },
        "required": ["what", "paid", "numbers", "say"],
        "additionalProperties": False,
    },
}


def anchored(model, least=0):
    """The same network as a checkpoint that names items by their text."""
    meta = dataclasses.replace(model.meta, array_mode="anchor", anchor_min_tokens=least)
    return Model(model.network, meta, model.path, model.base_folder)


def rows(**keys):
    return SCHEMA | {"properties": PROPERTIES | {"rows": ROWS | keys}, "required": [*PROPERTIES, "rows"]}


@pytest.mark.parametrize("decode", ["threshold", "count_peaks", "hybrid"])
def test_anchored_items_are_the_same_however_they_are_asked_for(model, decode):
    by_place, options = anchored(model), {"array_decode": decode, "max_items": 4}
    whole = fill(by_place, CONTEXT, rows(minItems=3), **options)
    assert list(jsonschema.Draft202012Validator(rows(minItems=3)).iter_errors(whole["value"])) == []
    assert 3 <= len(whole["value"]["rows"]) <= 4
    only = {"type": "object", "properties": {"rows": ROWS | {"minItems": 3}}, "required": ["rows"]}
    alone = fill(by_place, CONTEXT, only, **options)
    parts = [job(rows(minItems=3), **options), job(only, **options), job(SCHEMA, "Other text 5", **options)]
    assert fill_many(by_place, parts)[0] == whole and fill_many(by_place, parts[::-1])[1] == alone
    spoken = ("/say",)
    mine = {p: entry for p, entry in whole["meta"].items() if p.startswith("/rows") and not p.endswith(spoken)}
    assert mine == {p: entry for p, entry in alone["meta"].items() if not p.endswith(spoken)}


def test_short_documents_are_filled_by_number(model):
    schema = rows(minItems=2, maxItems=2)
    assert fill(anchored(model, 10_000), CONTEXT, schema) == fill(model, CONTEXT, schema)
    first = [fill(each, CONTEXT, schema)["meta"]["/rows/0/paid"] for each in (anchored(model), model)]
    assert first[0] != first[1]


def test_more_anchored_items_than_there_are_places(model):
    with pytest.raises(FillError, match="^/rows: minItems 900: only [0-9]+ items"):
        fill(anchored(model), CONTEXT, rows(minItems=900))


def test_anchored_items_whose_values_are_nowhere_are_dropped(model):
    items = {"type": "object", "properties": {"mail": {"type": "string", "format": "email"}}, "required": ["mail"]}
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": items}}, "required": ["a"]}
    found = fill(anchored(model), "No address here at all.", schema, max_items=3, array_decode="count_peaks")
    assert found["value"] == {"a": []} and found["meta"]["/a"]["items"] == 0


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", pytest.param("int8", marks=NEEDS_INT8)])
def test_no_way_of_asking_changes_a_bit(model, dtype, threads):
    """Ten repeats, five permutations, bigger, split and batched, two threads: contract section 10."""
    torch.set_num_threads(1)
    loaded = load_model(model.path, device="cpu", dtype=dtype)
    found = check_determinism(loaded, [(CONTEXT, part("kind", "level", "firm", "due", "lines", "note"), {})])
    assert (found["documents"], found["failed"], found["differences"]) == (1, 0, [])
    assert all(check["compared"] == check["equal"] > 0 for check in found["checks"].values())
