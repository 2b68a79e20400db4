"""Schemas that nobody here wrote: their outcomes, their valid instances and random values of theirs."""

import json
from itertools import islice
from random import Random

import pytest

from deg_core.contract import Decided, Extracted, FillError, assemble, compile_schema, outcome_index
from deg_core.contract.drafts import DRAFTS, draft_of, metaschema_problems
from deg_core.contract.pointer import MISSING, concrete, join, read_value
from deg_core.contract.walk import leaf_instances, lengths_of, open_arrays
from deg_core.values import violated
from tests.contract.public_schemas import COMPILED, EXPECTED, SHARED, outcomes, records

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="no shared data")
NOTHING = Extracted(None, None, 0.5, "not_found")
CASES_PER_SCHEMA = 20
TEXTS = ("a", "Ab 1", "", "12:30", "2024-02-29", "2024-02-29T10:00:00Z", "a@b.org", "https://a.org/x", "a/b.xml")
TEXTS += ("0f0e0d0c-0b0a-0908-0706-050403020100", "1", "10x20", "AB123456C", "a:b", "12345", "x" * 40)
NUMBERS = (0, 1, 2, 5, 12, 30, 100, 1000, -1, 0.5, 2.25)


def test_every_outcome_is_as_expected():
    expected, found = json.loads(EXPECTED.read_text()), outcomes()
    assert len(found) == len(expected) == 993
    assert {uid: result for uid, result in found.items() if result != expected[uid]} == {}


@pytest.mark.parametrize("draft", list(DRAFTS.values())[-2:])
def test_a_flat_metaschema_finds_what_the_whole_one_finds(draft):
    whole = draft(draft.META_SCHEMA)
    for name in ("test_suite", "maskbench_sample"):
        for _, record in islice(records(name), 0, None, 5):
            found = {join(error.absolute_path) for error in whole.iter_errors(record["schema"])}
            assert found == {problem.loc for problem in metaschema_problems(record["schema"], draft)}


def compiled_maskbench():
    expected = json.loads(EXPECTED.read_text())
    for uid, record in records("maskbench_sample"):
        if expected[uid] == COMPILED:
            yield uid, record, compile_schema(record["schema"])


def certain(field, value):
    """The outcome of a decide field that is a value; the first outcome when the value is not there."""
    chosen = 0 if value is MISSING else outcome_index(field, value)
    assert chosen is not None, f"{value!r} is no outcome of {field.path}"
    return Decided(tuple(float(position == chosen) for position in range(len(field.outcomes))))


def outcome_of(field, value):
    if field.kind in ("choice", "score", "noul"):
        return certain(field, value)
    if value is MISSING or value is None:
        return NOTHING
    assert violated(field, value) is None, f"{value!r} breaks {violated(field, value)} of {field.path}"
    return Extracted(value, (0, 1), 0.5)


def declared(plan, value, path=()):
    """Whether an instance uses declared keys only."""
    if isinstance(value, list):
        return all(declared(plan, item, (*path, "*")) for item in value)
    if not isinstance(value, dict):
        return True
    known = {tuple("*" if not isinstance(step, str) else step for step in known) for known in plan.order}
    return all((*path, key) in known and declared(plan, item, (*path, key)) for key, item in value.items())


def contains(filled, value):
    """Whether a filled value says all that an instance says; what it may add are decided and empty values."""
    if isinstance(value, dict):
        return isinstance(filled, dict) and all(key in filled and contains(filled[key], value[key]) for key in value)
    if isinstance(value, list):
        return isinstance(filled, list) and len(filled) == len(value) and all(map(contains, filled, value))
    return type(filled) is type(value) and filled == value


def test_every_valid_instance_can_be_represented():
    represented = 0
    for uid, record, plan in compiled_maskbench():
        for test in record["tests"]:
            value = test["data"]
            if test["valid"] and declared(plan, value):
                lengths = lengths_of(plan, value)
                found = {
                    concrete(field.path, indices): outcome_of(
                        field, read_value(value, concrete(field.path, indices), MISSING)
                    )
                    for field, indices in leaf_instances(plan, lengths)
                }
                filled = assemble(plan, found, lengths, model="m", prompt_tokens=1)["value"]
                assert contains(filled, value), uid
                represented += 1
    assert represented > 100


def random_outcome(random, field):
    if field.kind in ("choice", "score", "noul"):
        weights = [random.random() + 0.01 for _ in field.outcomes]
        return Decided(tuple(weight / sum(weights) for weight in weights))
    pool = NUMBERS if field.mode == "extract.number" else TEXTS
    values = [value for value in pool if violated(field, value) is None]
    return Extracted(random.choice(values), (0, 1), 0.5) if values and random.random() < 0.9 else NOTHING


def test_random_outcomes_assemble_to_valid_values():
    random, filled = Random(3), 0
    for uid, record, plan in compiled_maskbench():
        validator = draft_of(record["schema"])(record["schema"])
        for _ in range(CASES_PER_SCHEMA):
            lengths = {}
            while level := open_arrays(plan, lengths):
                for array, indices in level:
                    most = array.min_items + 2 if array.max_items is None else array.max_items
                    lengths[concrete(array.path, indices)] = random.randint(
                        array.min_items, min(most, array.min_items + 2)
                    )
            found = {
                concrete(field.path, indices): random_outcome(random, field)
                for field, indices in leaf_instances(plan, lengths)
            }
            try:
                value = assemble(plan, found, lengths, model="m", prompt_tokens=1)["value"]
            except FillError as error:
                assert any(word in error.reason for word in ("no valid value", "minItems", "uniqueItems")), uid
                continue
            validator.validate(value)
            filled += 1
    assert filled >= 2000
