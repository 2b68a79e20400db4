import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from deg_core.artifacts import read_manifest
from deg_core.bulk.engine import fill_corpus
from deg_core.bulk.shards import fill_shard
from deg_core.config import FillSettings
from deg_core.contract import compile_schema
from deg_core.contract.errors import DegError, InputError
from deg_core.progress import Silent
from tests.bulk.fake_filler import SCHEMA, FakeFiller, broken_factory, make_filler

TEXTS = [f"document {number} with total {number * 7}" for number in range(26)]


def in_process(job, shards, workers, bar):
    """Run shards here, last first: parts may come in any order."""
    filler = make_filler(job)
    for shard in reversed(shards):
        yield fill_shard(job, shard, filler)


def fill(home, corpus, checkpoint, run_shards=in_process, factory=make_filler, **settings):
    settings = FillSettings(**{"shard_documents": 4, "batch_documents": 3, "workers": 2, **settings})
    return fill_corpus(
        settings,
        home,
        Silent(),
        corpus=corpus,
        schema=SCHEMA,
        checkpoint=checkpoint,
        filler_factory=factory,
        run_shards=run_shards,
    )


def rows_of(manifest):
    """All rows in order, without ms."""
    return duckdb.sql(f"SELECT * EXCLUDE (ms) FROM read_parquet('{manifest.path}/part-*.parquet')").fetchall()


def test_every_document_has_its_row(home, write_corpus, checkpoint):
    corpus = write_corpus([*TEXTS[:9], b"{broken", "", "refuse this", "explode here", TEXTS[0]])
    manifest = fill(home, corpus, checkpoint)
    assert manifest.counts == {"read": 14, "filled": 10, "failed": 4}
    assert manifest.kind == "fill" and manifest.figures["parts"] == 4 and manifest.figures["duplicate_ids"] == 0
    assert manifest.figures["prompt_tokens"] == sum(len(text.split()) for text in [*TEXTS[:9], TEXTS[0]])
    rows = duckdb.sql(f"SELECT doc_id, value.total, error FROM '{manifest.path}/part-*.parquet'").fetchall()
    assert [row[0] for row in rows] == [*(f"d{number}" for number in range(9)), "9", *(f"d{n}" for n in range(10, 14))]
    assert [row[1] for row in rows[:9]] == [len(text) + 0.5 for text in TEXTS[:9]]
    errors = {row[0]: row[2] for row in rows if row[2]}
    assert "not JSON" in errors["9"] and errors["d10"] == "empty document"
    assert errors["d11"] == "/total: no number in the text"
    assert errors["d12"] == "ValueError: cannot be multiplied"
    assert sum(manifest.figures["errors"].values()) == 4


def test_an_unchanged_fill_is_not_run_again(home, write_corpus, checkpoint):
    corpus = write_corpus(TEXTS[:5])
    first = fill(home, corpus, checkpoint)
    again = fill(home, corpus, checkpoint, run_shards=None, factory=broken_factory, workers=1, batch_documents=1)
    assert again.cached and again.id == first.id
    (checkpoint / "weights").write_bytes(b"other weights")
    assert fill(home, corpus, checkpoint).id != first.id


def test_duplicate_ids_keep_their_rows(home, write_corpus, checkpoint):
    corpus = write_corpus([b'{"doc_id": "x", "text": "one two"}', b'{"doc_id": "x", "text": "three"}', "four"])
    manifest = fill(home, corpus, checkpoint)
    assert manifest.figures["duplicate_ids"] == 1
    assert [row[0] for row in rows_of(manifest)] == ["x", "x", "d2"]


def test_too_many_failures_stop_the_fill_but_keep_its_parts(home, write_corpus, checkpoint):
    corpus = write_corpus(["", "", "", *TEXTS[:5]])
    with pytest.raises(InputError, match="3 of 8 documents failed, more than max_failed_share 0.25"):
        fill(home, corpus, checkpoint, max_failed_share=0.25)
    with pytest.raises(InputError, match="3 of 8"):
        fill(home, corpus, checkpoint, run_shards=None, max_failed_share=0.3)
    assert not workers_of(os.getpid())
    assert fill(home, corpus, checkpoint, max_failed_share=0.5).counts["failed"] == 3
    with pytest.raises(InputError, match="3 of 8"):
        fill(home, corpus, checkpoint, max_failed_share=0.25)


def test_unusable_inputs(home, write_corpus, checkpoint, tmp_path):
    corpus = write_corpus(TEXTS[:2])
    with pytest.raises(InputError, match="no checkpoint folder"):
        fill(home, corpus, tmp_path / "nowhere")
    with pytest.raises(InputError, match="no column 'body'"):
        fill(home, corpus, checkpoint, text_column="body")


def test_a_corpus_that_changes_meanwhile_is_noticed(home, write_corpus, checkpoint):
    corpus = write_corpus(TEXTS[:8])

    def append(job, shards, workers, bar):
        yield from in_process(job, shards, workers, bar)
        with corpus.open("a") as file:
            file.write('{"text": "late"}\n')

    with pytest.raises(InputError, match="changed while it was being filled"):
        fill(home, corpus, checkpoint, run_shards=append)


def test_workers_equal_one_process_and_isolate_a_deadly_document(home, tmp_path, write_corpus, checkpoint):
    mark = tmp_path / "stumbled"
    texts = [*TEXTS[:5], "die always", *TEXTS[5:9], f"stumble {mark}", *TEXTS[9:12]]
    corpus = write_corpus(texts)
    manifest = fill(home, corpus, checkpoint, run_shards=None)
    assert mark.exists()
    assert manifest.counts == {"read": 14, "filled": 13, "failed": 1}
    rows = rows_of(manifest)
    assert [row[0] for row in rows] == [f"d{number}" for number in range(14)]
    assert rows[5][4] == "its fill worker died each time (exit code 7)"
    plan = compile_schema(SCHEMA).fingerprint
    other = fill(home, write_corpus([*TEXTS[:5], "dull document", *texts[6:]], "other.jsonl"), checkpoint)
    whole = rows_of(other)
    assert rows[:5] == whole[:5] and rows[6:] == whole[6:] and rows[0][-1] == plan
    assert not workers_of(os.getpid())


def test_a_factory_that_fails_stops_the_fill(home, write_corpus, checkpoint):
    with pytest.raises(DegError, match="holds no weights"):
        fill(home, write_corpus(TEXTS[:3]), checkpoint, run_shards=None, factory=broken_factory, workers=1)
    assert not workers_of(os.getpid())


def test_a_filler_with_too_few_answers_is_an_error(home, write_corpus, checkpoint):
    class Lossy(FakeFiller):
        def __call__(self, texts):
            return super().__call__(texts)[1:]

    def lossy(job, shards, workers, bar):
        yield fill_shard(job, shards[0], Lossy("p"))

    with pytest.raises(RuntimeError, match="2 answers for 3 texts"):
        fill(home, write_corpus(TEXTS[:3]), checkpoint, run_shards=lossy)


def test_killed_at_random_moments_it_ends_with_the_same_rows(home, tmp_path, write_corpus, checkpoint):
    corpus = write_corpus([*TEXTS, "", "refuse"])
    draws = random.Random(20)
    whole = fill(home, corpus, checkpoint)
    for round_ in range(3):
        other = tmp_path / f"home{round_}"
        for _ in range(2):
            run = start(other, corpus, checkpoint)
            wait_until(lambda run=run: workers_of(run.pid))
            time.sleep(draws.uniform(0.0, 0.75))
            workers = workers_of(run.pid)
            assert run.poll() is None
            run.kill()
            run.wait()
            wait_until(lambda workers=workers: not any(alive(pid) for pid in workers))
        check_parts(other)
        finished = finish(start(other, corpus, checkpoint, sleep_s=0))
        assert rows_of(read_manifest(other / "fills" / finished)) == rows_of(whole)


def test_killed_workers_are_replaced(home, tmp_path, write_corpus, checkpoint):
    corpus = write_corpus([*TEXTS, "", "refuse"])
    whole = fill(home, corpus, checkpoint)
    other = tmp_path / "other"
    run = start(other, corpus, checkpoint, sleep_s=0.15)
    killed = set()
    wait_until(lambda: list((other / "fills").glob("*/part-*.parquet")))
    for _ in range(2):
        wait_until(lambda: workers_of(run.pid) - killed)
        victim = min(workers_of(run.pid) - killed)
        os.kill(victim, signal.SIGKILL)
        killed.add(victim)
        time.sleep(0.3)
    assert rows_of(read_manifest(other / "fills" / finish(run))) == rows_of(whole)


def start(home, corpus, checkpoint, sleep_s=0.12):
    script = Path(__file__).with_name("run_fill.py")
    environment = {**os.environ, "DEG_TEST_SLEEP_S": str(sleep_s), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, script, home, corpus, checkpoint, "2"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def finish(run):
    out, _ = run.communicate(timeout=120)
    assert run.returncode == 0
    assert not workers_of(run.pid)
    return out.strip()


def check_parts(home):
    """No manifest yet, and every part that is there is whole."""
    for folder in (home / "fills").glob("*/"):
        assert read_manifest(folder) is None
        for part in folder.glob("part-*.parquet"):
            assert len(duckdb.sql(f"SELECT doc_id FROM '{part}'").fetchall()) == 4


def workers_of(parent):
    """Process ids of a process's fill workers."""
    found = set()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            ppid = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            command = (entry / "cmdline").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if ppid == parent and "spawn_main" in command:
            found.add(int(entry.name))
    return found


def alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def wait_until(condition, timeout_s=60):
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
