"""Public data sets, where they are present: nothing is lost, and values have their places."""

from __future__ import annotations

import os
from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from deg_core.config import PoolSettings, SourceSettings
from deg_core.pools.build import build_pools
from deg_core.pools.examples import build_example
from deg_core.pools.filler import Filler
from deg_core.pools.guard import Guard
from deg_core.pools.records import Reject, read_records
from deg_core.pools.store import Pool
from deg_core.progress import Silent

DATA = Path(os.environ.get("DEG_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))

# Least share of the values of extract fields that have a place; the others are not printed as they are filled.
PLACED = {"sroie": 0.96, "references": 1.0, "crossner": 1.0, "snips": 1.0, "sgd": 1.0, "muc4": 0.89, "nlupp": 1.0}
RECORDS = 200  # of each set

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the public data sets are not here")


@pytest.mark.parametrize("name", PLACED)
def test_nothing_is_lost(name, tokens):
    path = DATA / f"{name}.jsonl"
    counts: Counter[str] = Counter()
    for line in islice(read_records(path), RECORDS):
        if isinstance(line, Reject):
            counts["refused"] += 1
            assert "1 value; a choice has 2 to 255" in line.reason
            continue
        example, left_out = build_example(line, tokens)
        counts["kept"] += 1
        counts["no_span"] += left_out["no_span"]
        assert set(left_out) <= {"no_span", "count_out_of_bounds"}
        assert len(example.forks) + sum(left_out.values()) == len(line.leaves) + len(line.lengths)
        for fork in example.forks:
            counts["placed"] += fork.kind == "extract" and len(fork.spans) > 0
            assert all(0 <= first < end <= len(example.context) for first, end in fork.spans)
    assert counts["kept"] + counts["refused"] == RECORDS
    assert counts["refused"] == 0 or name == "sgd"
    assert counts["placed"] >= PLACED[name] * (counts["placed"] + counts["no_span"])


def test_evaluation_records_are_found_by_the_guard():
    path = DATA / "eval_only" / "docubench.jsonl"
    guard = Guard.read([path])
    records = [line for line in read_records(path) if not isinstance(line, Reject)]
    assert records
    assert [guard.match(f"Preface.\n{record.context.upper()}\nEnd.") for record in records] == [r.uid for r in records]


def test_records_inside_other_records_keep_their_gold(tokens, base, home, tmp_path):
    sources = []
    for name in ("sroie", "muc4", "mts_dialog"):
        path = tmp_path / f"{name}.jsonl"
        with open(DATA / f"{name}.jsonl", "rb") as file:
            path.write_bytes(b"".join(islice(file, 60)))
        sources.append(SourceSettings(records=str(path)))
    settings = PoolSettings(sources=tuple(sources), base=str(base), array_mode="anchor")
    pools = [Pool.open(manifest.path) for manifest in build_pools(settings, home, Silent())]
    filler = Filler(pools, tokens, 6000, 0.0)
    seen = 0
    for pool in pools:
        for row in range(0, len(pool), 3):
            plain = pool.example(row)
            found = filler.build(pool, plain, np.random.default_rng(row))
            if found is None:
                continue
            example, _ = found
            text, own = (tokens.decode(e.context.tolist()) for e in (example, plain))
            assert own in text and np.array_equal(tokens.encode_context(text).ids, example.context)
            for old, new in zip(plain.forks, example.forks, strict=True):
                assert [trimmed(tokens, example, span) for span in new.spans] == [
                    trimmed(tokens, plain, span) for span in old.spans
                ] or new.kind == "count"
                seen += new.kind == "extract" and len(new.spans) > 0
    assert seen > 100


def trimmed(tokens, example, span) -> str:
    return tokens.decode(example.context[span[0] : span[1]].tolist()).strip()
