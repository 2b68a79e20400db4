"""Records: reproducible, valid against their schema, with exact spans."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import jsonschema
import pytest
from dateutil import parser as date_parser

from deg_core.config.settings import DataSettings
from deg_core.contract.errors import InputError
from deg_core.contract.plan import ITEM
from deg_core.contract.schema import compile_schema
from deg_core.generator.draw import Draw
from deg_core.generator.records import (
    NOTE,
    SPLITS,
    corpus_schema,
    generate_corpus,
    generate_records,
    make_record,
    write_document,
)
from deg_core.generator.registry import KINDS, NEW_WORDINGS, SEEN_KINDS, TEST_KINDS, TRAIN, VAL, Part

SETTINGS = DataSettings(seed=11, train=1800, val=400, test=200, corpus=60)
CONNECTED = ("/legs/", "/stops/")  # the city where a leg ends is printed again where the next one starts
NUMBER = re.compile(r"(?<![\w.,])\d[\d.,]*\d|(?<![\w.,])\d(?!\w)")
MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
DATE = re.compile(rf"\d{{4}}-\d\d-\d\d|\d\d[/.]\d\d[/.]\d{{4}}|\d{{1,2}} {MONTH} \d{{4}}|{MONTH} \d{{1,2}}, \d{{4}}")


@pytest.fixture(scope="module")
def records() -> dict[str, list[dict[str, Any]]]:
    return {split: list(generate_records(SETTINGS, split)) for split in SPLITS}


def leaves(schema: dict[str, Any], value: Any, pointer: str = "") -> Iterator[tuple[str, dict[str, Any], Any]]:
    """(pointer, leaf schema, value) of every leaf; the value of an omitted one is None."""
    if schema.get("type") == "object":
        for name, child in schema["properties"].items():
            yield from leaves(child, value.get(name), f"{pointer}/{name}")
    elif schema.get("type") == "array":
        for i, item in enumerate(value):
            yield from leaves(schema["items"], item, f"{pointer}/{i}")
    else:
        yield pointer, schema, value


def mode(schema: dict[str, Any]) -> str:
    """The mode of a leaf, as contract section 3 names it, with null and format."""
    if "enum" in schema or "oneOf" in schema:
        null = None in schema.get("enum", ()) or any(b["const"] is None for b in schema.get("oneOf", ()))
        return ("described " if "oneOf" in schema else "") + "choice" + (" or null" if null else "")
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if schema.get("x-generate"):
        return "generate"
    if types[0] == "integer" and "maximum" in schema:
        return "score with levels" if "x-levels" in schema else "score"
    return schema.get("format", types[0]) + (" or null" if "null" in types else "")


def is_copied(schema: dict[str, Any]) -> bool:
    return mode(schema).removesuffix(" or null") in {
        "number", "integer", "string", "date", "date-time", "email", "uri", "uuid",
    }  # fmt: skip


def as_number(printed: str) -> float:
    """Read 1,234.50 or 1.234,50: the last separator before other than three digits is the decimal one."""
    decimal = re.search(r"[.,](?=\d{1,2}$)", printed)
    whole, part = (printed[: decimal.start()], printed[decimal.end() :]) if decimal else (printed, "0")
    return float(re.sub(r"[.,]", "", whole) + "." + part)


def as_day(printed: str) -> datetime:
    """Read a date; where both orders are possible the test must not decide, so they have to agree."""
    if re.match(r"\d{4}-", printed):
        return date_parser.parse(printed.replace(" at ", " "))
    readings = {date_parser.parse(printed.replace(" at ", " "), dayfirst=first) for first in (True, False)}
    assert len(readings) == 1, f"{printed} can be read in two ways"
    return readings.pop()


def test_every_kind_and_variant_appears(records):
    seen = {(r["meta"]["kind"], r["meta"]["variant"]) for split in SPLITS for r in records[split]}
    own = {(kind.name, name) for kind in KINDS.values() for name in kind.variants}
    assert seen == own | {(kind.name, NOTE) for kind in SEEN_KINDS}
    assert len(SEEN_KINDS) >= 10 and len(TEST_KINDS) == 2


def test_values_are_valid(records):
    for split in SPLITS:
        for record in records[split]:
            jsonschema.Draft202012Validator.check_schema(record["schema"])
            jsonschema.Draft202012Validator(record["schema"]).validate(record["value"])


def test_schemas_compile_and_null_rules_hold(records):
    """Every schema is one of the contract, and a value is only absent where its field may lack one."""
    for split in SPLITS:
        for record in records[split][:120]:
            for field in compile_schema(record["schema"]).fields:
                if field.kind == "extract" and field.on_null == "forbid" and ITEM not in field.path:
                    assert "/" + "/".join(field.path) in record["spans"], (record["uid"], field.path)


def test_spans_hold_exactly_the_copied_values(records):
    for split in SPLITS:
        for record in records[split]:
            expected = {
                p: (s, v) for p, s, v in leaves(record["schema"], record["value"]) if is_copied(s) and v is not None
            }
            assert set(record["spans"]) == set(expected), record["uid"]
            for pointer, (schema, value) in expected.items():
                places = record["span_alternatives"].get(pointer, [record["spans"][pointer]])
                assert record["spans"][pointer] in places
                for start, end in places:
                    check_printed(mode(schema).removesuffix(" or null"), value, record["context"][start:end])


def check_printed(kind: str, value: Any, printed: str) -> None:
    if kind in ("number", "integer"):
        assert as_number(printed) == value, printed
    elif kind == "date":
        assert as_day(printed) == datetime.fromisoformat(value), printed
    elif kind == "date-time":
        assert as_day(printed.removesuffix("Z")) == datetime.fromisoformat(value.removesuffix("Z")), printed
    else:
        assert printed == value


def test_strings_stand_nowhere_unmarked(records):
    """A copied string of some length has no second place that the record does not call equally right."""
    for split in SPLITS:
        for record in records[split]:
            strings = {p: v for p, s, v in leaves(record["schema"], record["value"]) if is_text(s) and v is not None}
            for pointer, value in strings.items():
                places = record["span_alternatives"].get(pointer, [record["spans"][pointer]])
                found = {m.start() for m in re.finditer(rf"(?<![\w-]){re.escape(value)}(?![\w-])", record["context"])}
                if not pointer.startswith(CONNECTED):
                    assert found == {start for start, _ in places}, (record["uid"], pointer, value)


def is_text(schema: dict[str, Any]) -> bool:
    return mode(schema).removesuffix(" or null") in {"string", "email", "uri", "uuid"}


def test_same_bytes_in_another_process_and_for_other_counts():
    code = (
        "import json; from deg_core.generator.records import make_record, generate_corpus;"
        "from deg_core.config.settings import DataSettings;"
        "print(json.dumps([make_record(11, s, i) for s in ('train','val','test') for i in (0, 17, 63)]"
        " + list(generate_corpus(DataSettings(seed=11, corpus=3)))))"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    assert outputs[0] == outputs[1]
    few = list(generate_records(DataSettings(seed=11, train=64, val=0, test=0, corpus=0), "train"))
    assert few[63] == make_record(11, "train", 63) == json.loads(outputs[0])[2]
    assert make_record(12, "train", 63)["context"] != few[63]["context"]


def test_unknown_split_is_refused():
    with pytest.raises(InputError, match="dev"):
        list(generate_records(SETTINGS, "dev"))


def test_unseen_wordings_are_unseen():
    train, val, new = (wordings_of(part) for part in (TRAIN, VAL, NEW_WORDINGS))
    assert len(train) > 1500 and len(new) > 600 and not train & new
    assert 0.15 < len(val - train) / len(val) < 0.45


def wordings_of(part: Part) -> set[str]:
    used: set[str] = set()
    for index in range(400):
        draw = Draw(SETTINGS.seed, part.name, index, part.wordings)
        write_document(part.kinds[index % len(part.kinds)], draw)
        used.update(draw.used)
    return used


def test_the_halves_of_test_hold_out_kinds_or_wordings(records):
    parts = {name: [r for r in records["test"] if r["uid"].startswith(f"own-{name}-")] for name in
             ("test-kinds", "test-wordings")}  # fmt: skip
    assert len(parts["test-kinds"]) == len(parts["test-wordings"]) == len(records["test"]) / 2
    assert {r["meta"]["kind"] for r in parts["test-kinds"]} == {kind.name for kind in TEST_KINDS}
    assert {r["meta"]["kind"] for r in parts["test-wordings"]} == {kind.name for kind in SEEN_KINDS}
    seen = {r["meta"]["layout"] for r in records["train"]}
    assert not seen & {r["meta"]["layout"] for r in records["test"]}
    people = {name: people_of(rows) for name, rows in {"train": records["train"], **parts}.items()}
    assert len(people["train"]) > 150 and len(people["test-wordings"]) > 20
    assert not people["train"] & people["test-wordings"]


def people_of(records: list[dict[str, Any]]) -> set[str]:
    names = ("reviewer", "customer_name", "patient", "chair", "reporter", "tenant", "physician")
    return {r["value"][name] for r in records for name in names if name in r["value"]}


def test_every_mode_appears_often(records):
    counts = Counter(mode(s) for r in records["train"] for _, s, _ in leaves(r["schema"], r["value"]))
    for name in (
        "choice", "described choice", "choice or null", "boolean", "boolean or null", "score", "score with levels",
        "number", "number or null", "integer", "integer or null", "date", "date or null", "date-time",
        "date-time or null", "email", "uri", "uri or null", "uuid", "string", "string or null", "generate",
    ):  # fmt: skip
        assert counts[name] >= 25, (name, counts[name])
    whole = whole_forms(records["train"])
    share = sum("x-generate" in json.dumps(r["schema"]) for r in whole) / len(whole)
    assert 0.25 < share < 0.45


def whole_forms(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [record for record in records if record["meta"]["variant"] != NOTE]


def test_arrays_and_sizes(records):
    lengths, forks, words = Counter(), {"train": [], "val": []}, []
    for split, counts in forks.items():
        for record in whole_forms(records[split]):
            properties = record["schema"]["properties"].items()
            arrays = [record["value"][name] for name, schema in properties if schema.get("type") == "array"]
            lengths.update(map(len, arrays))
            counts.append(len(arrays) + len(list(leaves(record["schema"], record["value"]))))
            words.append(len(record["context"].split()))
    assert lengths[0] > 50 and set(lengths) >= {0, 1, 2, 3}
    assert 11 < sum(forks["val"]) / len(forks["val"]) < 16 < sum(forks["train"]) / len(forks["train"]) < 30
    assert 80 < sum(words) / len(words) < 140 and min(words) > 40 and max(words) < 260


def test_labels_are_balanced():
    """No yes/no or choice is answered well by always giving one label."""
    settings = DataSettings(seed=3, train=24000, val=0, test=600, corpus=0)
    labels: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for split in ("train", "test"):
        for record in generate_records(settings, split):
            for pointer, schema, value in leaves(record["schema"], record["value"]):
                if not is_copied(schema) and mode(schema) != "generate":
                    labels[record["meta"]["kind"], record["meta"]["variant"], pointer][str(value)] += 1
    assert len(labels) > 60
    for place, counts in labels.items():
        assert max(counts.values()) / counts.total() < 0.72, (place, counts)


def test_absent_values_are_common(records):
    absent, present = 0, 0
    for record in records["train"]:
        for pointer, schema, value in leaves(record["schema"], record["value"]):
            if is_copied(schema) and not re.search(r"/\d+(/|$)", pointer):
                absent, present = absent + (value is None), present + (value is not None)
    assert 0.08 < absent / (absent + present) < 0.4


def test_the_first_number_or_date_is_seldom_right(records):
    """Copying the first candidate of the right type, or nothing where there is none, fails on most fields."""
    right: dict[str, list[bool]] = {"number": [], "date": []}
    for split in SPLITS:
        for record in records[split]:
            dates = [m for m in DATE.finditer(record["context"])]
            taken = [m.span() for m in dates]
            numbers = [m for m in NUMBER.finditer(record["context"]) if not any(a <= m.start() < b for a, b in taken)]
            for _, schema, value in leaves(record["schema"], record["value"]):
                kind = {"number": "number", "integer": "number", "date": "date"}.get(
                    mode(schema).removesuffix(" or null")
                )
                if kind is None:
                    continue
                candidates = numbers if kind == "number" else dates
                read = as_number if kind == "number" else lambda text: as_day(text).date().isoformat()
                right[kind].append(bool(candidates) and read(candidates[0].group()) == value)
    for kind, hits in right.items():
        assert len(hits) > 1000 and sum(hits) / len(hits) < 0.5, (kind, sum(hits) / len(hits))


def test_summaries_are_short_and_follow_from_the_document(records):
    for record in records["train"]:
        for _, schema, value in leaves(record["schema"], record["value"]):
            if mode(schema) != "generate":
                continue
            assert 8 <= len(value.split()) <= 20 and ".." not in value
            names = re.findall(r"[A-ZÅÖ]\w+ [A-ZÅÖ][\w'áéćü]+", value)
            assert all(name in record["context"] for name in names if not name.startswith("The "))


def test_corpus_suits_its_schema():
    jsonschema.Draft202012Validator.check_schema(corpus_schema())
    documents = list(generate_corpus(SETTINGS))
    assert len({d["doc_id"] for d in documents}) == len({d["text"] for d in documents}) == SETTINGS.corpus
    assert 10 <= len(corpus_schema()["properties"]) <= 12
    assert all("@" in document["text"] for document in documents)


def test_every_second_training_record_of_a_kind_is_a_note_with_all_that_it_decides():
    records = [make_record(3, "train", index) for index in range(4 * len(SEEN_KINDS))]
    turns = [record["meta"]["variant"] == NOTE for record in records[:: len(SEEN_KINDS)]]
    assert turns == [False, True, False, True]
    for record in records:
        if record["meta"]["variant"] == NOTE:
            assert record["spans"] == {} and len(record["value"]) >= 4
            plan = compile_schema(record["schema"])
            assert {field.kind for field in plan.fields} <= {"choice", "noul", "score"} and not plan.arrays
    assert all(make_record(3, "val", index)["meta"]["variant"] != NOTE for index in range(40))
