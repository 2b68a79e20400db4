"""Records inside unrelated text: the tokens are those of the joined text, and gold stays where it was."""

from __future__ import annotations

import json

import numpy as np
import pytest

from deg_core.config import PoolSettings, SourceSettings, TrainSettings
from deg_core.pools.build import build_pools
from deg_core.pools.draw import Drawer
from deg_core.pools.example import Example
from deg_core.pools.filler import BLANK_LINE, LEAST_TOKENS, Filler
from deg_core.pools.store import Pool
from deg_core.progress import Silent

from .conftest import make_record, place, to_lines
from .test_examples import build, text_of

NOTE = {"type": "object", "properties": {"topic": {"type": "string"}}, "required": ["topic"]}
LIMIT = 900


def note(number: int, **changes) -> dict:
    """A record that asks for nothing that a case asks for; its text names values of a case all the same."""
    context = f"Note {number} on été, the red lamp of Ada Byron and {number} owls.\n\nIt ends here: {number * 7}. " * 3
    return {
        "uid": f"note/{number}",
        "split": "train",
        "context": context.strip(),
        "schema": NOTE,
        "value": {"topic": "owls"},
        "spans": {"/topic": place(context, "owls")},
    } | changes


@pytest.fixture
def open_pools(base, home, tmp_path):
    """Pools of some lists of records."""

    def build(*sources: list[dict], **settings) -> list[Pool]:
        names = [tmp_path / f"source-{number}.jsonl" for number in range(len(sources))]
        for name, records in zip(names, sources, strict=True):
            name.write_bytes(to_lines(records))
        chosen = PoolSettings(
            sources=tuple(SourceSettings(records=str(name)) for name in names), base=str(base), **settings
        )
        return [Pool.open(manifest.path) for manifest in build_pools(chosen, home, Silent())]

    return build


CASES = [make_record(number, split="train") for number in range(6)]
NOTES = [note(number) for number in range(40)]


def built(pool: Pool, filler: Filler, row: int, seed: int) -> tuple[Example, bool]:
    found = filler.build(pool, pool.example(row), np.random.default_rng(seed))
    assert found is not None
    return found


def joined_record(record: dict, text: str) -> dict:
    """The record with this text as its context, its spans moved with its own."""
    offset = text.index(record["context"])
    spans = {pointer: [start + offset, end + offset] for pointer, (start, end) in record["spans"].items()}
    return record | {"context": text, "spans": spans}


@pytest.mark.parametrize("mode", ["index", "anchor"])
def test_a_built_example_is_that_of_the_joined_text(tokens, open_pools, mode):
    cases, notes = open_pools(CASES, NOTES, array_mode=mode)
    filler = Filler([cases, notes], tokens, LIMIT, 0.0)
    places = []
    for seed in range(60):
        row = seed % len(CASES)
        example, absent = built(cases, filler, row, seed)
        text = text_of(tokens, example.context)
        assert not absent and np.array_equal(tokens.encode_context(text).ids, example.context)
        before, own, after = text.partition(CASES[row]["context"])
        assert own and before.endswith(BLANK_LINE) >= bool(before) and after.startswith(BLANK_LINE) >= bool(after)
        places.append(len(before) / (len(before) + len(after)))
        same, left_out, _ = build(joined_record(CASES[row], text), tokens, cases.layout)
        assert left_out == {} and (example.uid, example.doc_id) == (same.uid, same.doc_id)
        assert len(example.forks) == len(same.forks)
        for fork, expected in zip(example.forks, same.forks, strict=True):
            for name, value in vars(fork).items():
                assert np.array_equal(value, getattr(expected, name)), (fork.field, name)
    assert min(places) < 0.1 and max(places) > 0.9


def test_gold_spans_decode_to_the_same_text(tokens, open_pools):
    cases, notes = open_pools(CASES, NOTES, array_mode="anchor")
    filler = Filler([cases, notes], tokens, LIMIT, 0.0)
    for seed in range(30):
        plain, (example, _) = cases.example(0), built(cases, filler, 0, seed)
        for old, new in zip(plain.forks, example.forks, strict=True):
            if old.kind == "extract":
                texts = [
                    [text_of(tokens, e.context[a:b]) for a, b in f.spans] for e, f in ((plain, old), (example, new))
                ]
                assert texts[0] == texts[1] and texts[0]


def test_values_are_looked_for_in_the_document_alone(tokens, open_pools):
    """The notes print the customer and the item too; a place there would be a wrong answer."""
    record = make_record(
        1, spans={"/items/0/name": CASES[1]["spans"]["/items/0/name"]}, span_counts={"/items/0/name": 2}
    )
    cases, notes = open_pools([record], NOTES)
    filler = Filler([cases, notes], tokens, LIMIT, 0.0)
    for seed in range(20):
        plain, (example, _) = cases.example(0), built(cases, filler, 0, seed)
        assert [len(f.spans) for f in example.forks] == [len(f.spans) for f in plain.forks]


def test_short_documents_in_long_texts_are_named_by_place(tokens, open_pools):
    cases, notes = open_pools(CASES, NOTES, array_mode="anchor", anchor_min_tokens=300)
    filler = Filler([cases, notes], tokens, LIMIT, 0.0)
    seen = set()
    for seed in range(40):
        example, _ = built(cases, filler, 0, seed)
        by_place = {f.by_place for f in example.forks if f.field == "/items/*/name"}
        assert by_place == {len(example.context) >= 300}
        seen |= by_place
    assert seen == {True, False}


@pytest.mark.parametrize("mode", ["index", "anchor"])
def test_without_the_document_arrays_train_empty_and_nothing_else(tokens, open_pools, mode):
    bounded = json.loads(json.dumps(CASES[0]["schema"]))
    bounded["properties"]["items"]["minItems"] = 1
    cases, notes = open_pools([*CASES[:5], CASES[5] | {"schema": bounded}], NOTES, array_mode=mode)
    filler = Filler([cases, notes], tokens, LIMIT, 1.0)
    for seed in range(30):
        example, absent = built(cases, filler, seed % 5, seed)
        assert absent and "Case" not in text_of(tokens, example.context)
        (fork,) = example.forks
        assert (fork.kind, fork.field, fork.by_place) == ("count", "/items", mode == "anchor")
        assert np.flatnonzero(fork.target).tolist() == [0] and fork.spans.shape == (0, 2)
        assert np.array_equal(fork.ids, cases.example(seed % 5).forks[0].ids)
    example, absent = built(cases, filler, 5, 1)
    assert not absent and CASES[5]["context"] in text_of(tokens, example.context)


def test_lengths_are_log_uniform_up_to_the_limit(tokens, open_pools):
    cases, notes = open_pools(CASES, NOTES)
    filler = Filler([cases, notes], tokens, 1500, 0.0)
    own = len(cases.example(0).context)
    lengths = []
    for seed in range(800):
        found = filler.build(cases, cases.example(0), np.random.default_rng(seed))
        lengths += [len(found[0].context)] if found else []
    assert len(lengths) > 760  # the longest may come out over the limit, and train plain
    assert own + LEAST_TOKENS - 4 <= min(lengths) < own + LEAST_TOKENS + 30 and 1400 < max(lengths) <= 1500
    middle = np.sqrt((own + LEAST_TOKENS) * 1500)
    assert abs(np.log(np.median(lengths) / middle)) < 0.13  # three standard deviations of the median of 800


def test_text_is_never_of_a_held_out_or_related_document(tokens, open_pools):
    held = [
        note(100, split="val", doc_id="shared", context="Held owls one."),
        note(101, doc_id="shared", context="Held owls two."),
        note(102, split="test", context="Held owls three."),
        note(103, context="Held owls three."),
    ]
    own = note(104, doc_id="case/0", context="Held owls of the case itself.")
    again = note(105, context=CASES[0]["context"] + " owls") | {"context": CASES[0]["context"], "spans": {}}
    for record in (*held, own):
        record["spans"] = {"/topic": place(record["context"], "owls")}
    cases, notes = open_pools(CASES, [*NOTES, *held, own, again])
    filler = Filler([cases, notes], tokens, 4000, 0.0)
    for seed in range(40):
        text = text_of(tokens, built(cases, filler, 0, seed)[0].context)
        assert "Held" not in text and text.count("Case") == 1


def test_a_text_is_not_used_twice_and_nothing_is_made_up(tokens, open_pools):
    cases, notes = open_pools(CASES, NOTES[:3])
    filler = Filler([cases, notes], tokens, 4000, 0.5)
    found = [filler.build(cases, cases.example(0), np.random.default_rng(seed)) for seed in range(40)]
    texts = [text_of(tokens, answer[0].context) for answer in found if answer]
    assert 0 < len(texts) < 40
    assert all(text.count(f"Note {number}") <= 3 for text in texts for number in range(3))
    alone = Filler([cases], tokens, 4000, 0.0)
    assert all(alone.build(cases, cases.example(0), np.random.default_rng(seed)) is None for seed in range(5))


def test_sources_can_be_kept_out(tokens, base, home, tmp_path):
    """Their records train as they are; their text may surround others."""
    sources = []
    for name, records, filler in (("cases", CASES, False), ("notes", NOTES, True)):
        (tmp_path / name).write_bytes(to_lines(records))
        sources.append(SourceSettings(records=str(tmp_path / name), filler=filler))
    built_pools = build_pools(PoolSettings(sources=sources, base=str(base)), home, Silent())
    cases, notes = (Pool.open(manifest.path) for manifest in built_pools)
    filler = Filler([cases, notes], tokens, LIMIT, 0.0)
    assert all(filler.build(cases, cases.example(n), np.random.default_rng(n)) is None for n in range(5))
    found = [filler.build(notes, notes.example(n), np.random.default_rng(n)) for n in range(20)]
    assert any(answer and "Case" in text_of(tokens, answer[0].context) for answer in found)


def test_words_stay_whole(tokens, open_pools):
    cases, notes = open_pools(CASES, NOTES)
    filler = Filler([cases, notes], tokens, LIMIT, 0.0)
    words = {word for record in (*CASES, *NOTES) for word in record["context"].split()}
    for seed in range(40):
        assert set(text_of(tokens, built(cases, filler, 0, seed)[0].context).split()) <= words


def test_writing_without_spaces_is_cut_between_characters(tokens, open_pools):
    text = "".join(chr(0x4E00 + number * 37 % 2000) for number in range(400))
    sources = [CASES, [note(n, context=text[n:] + "owls", spans={"/topic": [400 - n, 404 - n]}) for n in range(5)]]
    cases, notes = open_pools(*sources)
    filler = Filler([cases, notes], tokens, LIMIT, 0.0)
    for seed in range(30):
        before, own, after = text_of(tokens, built(cases, filler, 0, seed)[0].context).partition(CASES[0]["context"])
        around = (before + after).replace("owls", "").split()
        assert own and around and all(piece in text for piece in around)


def test_draws_with_filler_are_pure_and_counted(tokens, open_pools):
    cases, notes = open_pools(CASES, NOTES)
    settings = TrainSettings(budget_tokens=3000, filler_frac=0.5, filler_max_tokens=600, source_min_train=0)

    def drawn(drawer: Drawer, step: int) -> list[list[int]]:
        return [[*example.context, *(i for f in example.forks for i in f.ids)] for example in drawer.draw(step)]

    first, second = (Drawer([(cases, 1.0), (notes, 1.0)], settings, 6000, 5, tokens) for _ in range(2))
    steps = [drawn(first, step) for step in range(12)]
    assert [drawn(second, step) for step in reversed(range(12))] == steps[::-1]
    counts = first.counts
    assert 0.3 < counts["filler"] / counts["records"] < 0.7
    assert 0 < counts["filler_negative"] < counts["filler"] and counts["filler_tokens"] > 64 * counts["filler"]
    assert counts["records"] == sum(map(len, steps))
    plain = Drawer([(cases, 1.0), (notes, 1.0)], settings.model_copy(update={"filler_frac": 0.0}), 6000, 5)
    plain.draw(0)
    assert not plain.counts["filler"] and not plain.counts["filler_skipped"]
