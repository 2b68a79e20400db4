from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deg_core.artifacts import Home, Manifest, open_artifact
from deg_core.config import PoolSettings, SourceSettings
from deg_core.contract.errors import InputError
from deg_core.pools.build import _MODEL_SOURCES, _SOURCES, build_pool, build_pools
from deg_core.pools.guard import Guard
from deg_core.pools.store import Pool
from deg_core.progress import Silent

from .conftest import make_record, to_lines
from .test_store import assert_same

PART_BYTES = 8_000
ROOT = Path(__file__).parents[2]


@pytest.fixture
def build(base, home):
    def run(path: Path, home: Home = home, **options) -> Manifest:
        step = {key: options.pop(key) for key in ("workers", "part_bytes") if key in options}
        settings = PoolSettings(sources=(SourceSettings(records=str(path)),), base=str(base), **options)
        return build_pool(settings.sources[0], settings, home, Silent(), **{"part_bytes": PART_BYTES} | step)

    return run


def examples(manifest: Manifest):
    pool = Pool.open(manifest.path)
    return [pool.example(index) for index in range(len(pool))]


def quarantine(manifest: Manifest):
    return [json.loads(line) for line in (manifest.path / "quarantine.jsonl").read_text().splitlines()]


def assert_same_examples(left: Manifest, right: Manifest) -> None:
    for a, b in zip(examples(left), examples(right), strict=True):
        assert_same(a, b)
    assert quarantine(left) == quarantine(right)
    for name in ("counts", "figures", "inputs"):
        assert getattr(left, name) == getattr(right, name), name


def mixed_lines(count: int, seed: int = 1) -> list[bytes]:
    """Good records, broken ones, duplicates and blank lines."""
    rng = random.Random(seed)
    lines = []
    for number in range(count):
        line = to_lines([make_record(number)])
        draw = rng.random()
        if draw < 0.05:
            line = line[:-9] + b"\n"
        elif draw < 0.1:
            line = to_lines([make_record(rng.randrange(number + 1))])
        elif draw < 0.13:
            line = b"\n"
        lines.append(line)
    return lines


def data_files(manifest: Manifest) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in manifest.path.iterdir() if path.name != "manifest.json"}


def test_a_pool_and_its_manifest(write, build):
    records = [make_record(number) for number in range(20)]
    manifest = build(write(to_lines([*records, make_record(3), {"uid": "bad"}])))
    assert manifest.counts == {"read": 22, "kept": 20, "quarantined": 2, "guarded": 0}
    assert manifest.figures["split.train"] == 18 and manifest.figures["forks.count"] == 20
    assert manifest.path.name.startswith("records-")
    assert open_artifact(manifest.path, verify=True) is not None
    assert [example.uid for example in examples(manifest)] == [record["uid"] for record in records]
    duplicate, bad = quarantine(manifest)
    assert duplicate["uid"] == "case/3" and duplicate["line"] == 21 and "earlier record" in duplicate["reason"]
    assert bad["uid"] == "bad" and bad["kind"] == "bad" and bad["offset"] > duplicate["offset"]


def test_nothing_new_is_a_cache_hit(write, build):
    path = write(to_lines([make_record(1)]))
    first, second = build(path), build(path)
    assert (first.cached, second.cached) == (False, True)
    assert second.created == first.created and second.content == first.content


def test_a_growing_file_gives_what_one_build_gives(tmp_path, write, build):
    lines = mixed_lines(150)
    data = b"".join(lines)
    path = write(b"")
    rng = random.Random(2)
    cuts = sorted({0, len(data), *(rng.randrange(len(data)) for _ in range(12))})
    files: dict[str, bytes] = {}
    for cut in cuts:
        path.write_bytes(data[:cut])
        grown = build(path, max_bad_share=1.0)
        named = {name: content for name, content in data_files(grown).items() if name.endswith(".arrow")}
        whole = {name for name, content in files.items() if named.get(name) == content}
        assert len(files) - len(whole) <= 1  # at most a last part whose line had no newline is replaced
        files = named
    assert len(files) > 5
    once = build(path, home=Home(tmp_path / "other"), max_bad_share=1.0)
    assert_same_examples(grown, once)
    assert once.counts["read"] == sum(bool(line.strip()) for line in lines)
    assert once.counts["kept"] + once.counts["quarantined"] == once.counts["read"]
    assert once.counts["quarantined"] > 10


def test_a_last_line_without_newline(write, build):
    path = write(to_lines([make_record(1)]) + to_lines([make_record(2)]).rstrip())
    assert build(path).counts["kept"] == 2
    path.write_bytes(path.read_bytes() + b"  junk\n" + to_lines([make_record(3), make_record(4)]))
    grown = build(path, max_bad_share=1.0)
    assert grown.counts == {"read": 4, "kept": 3, "quarantined": 1, "guarded": 0}
    assert [row["line"] for row in quarantine(grown)] == [2]


def test_a_half_written_line_is_left_and_told(write, build, base, home):
    class Listener(Silent):
        said: list[str] = []

        def say(self, line: str) -> None:
            self.said.append(line)

    path = write(to_lines([make_record(1)]) + b'{"uid": "half')
    settings = PoolSettings(sources=(SourceSettings(records=str(path)),), base=str(base))
    manifest = build_pool(settings.sources[0], settings, home, Listener())
    assert manifest.counts["read"] == 1 and manifest.figures["unread_bytes"] == 13
    assert any("line 2" in line and "not whole yet" in line for line in Listener.said)


def test_a_rewritten_file_is_built_anew(write, build):
    path = write(to_lines([make_record(number) for number in range(60)]))
    build(path)
    path.write_bytes(to_lines([make_record(number) for number in range(60, 90)]))
    manifest = build(path)
    assert [example.uid for example in examples(manifest)] == [f"case/{number}" for number in range(60, 90)]
    assert set(manifest.files) == {path.name for path in manifest.path.iterdir()} - {"manifest.json"}


def test_a_damaged_part_is_built_again(write, build):
    path = write(to_lines([make_record(number) for number in range(60)]))
    before = build(path)
    clean = data_files(before)
    (before.path / "part-00001.arrow").write_bytes(b"short")
    after = build(path)
    assert not after.cached and data_files(after) == clean


@pytest.mark.parametrize("data", [b"", b"\n\n", b'{"uid"'])
def test_a_file_without_records(write, build, data):
    manifest = build(write(data))
    assert manifest.counts == {"read": 0, "kept": 0, "quarantined": 0, "guarded": 0}
    assert len(Pool.open(manifest.path)) == 0


def test_too_many_bad_records_stop_the_build(write, build, home):
    path = write(os.urandom(20_000) + b"\n" + to_lines([make_record(1)]))
    with pytest.raises(InputError, match=r"of \d+ records of .* are bad") as caught:
        build(path)
    (found,) = (home.root / "pools").glob("*/quarantine.jsonl")
    assert str(found) in str(caught.value) and "line 1: " in str(caught.value)
    assert not (found.parent / "manifest.json").exists()
    assert build(path, max_bad_share=1.0).counts["kept"] == 1


def test_workers_build_the_same_bytes(tmp_path, write, build):
    path = write(b"".join(mixed_lines(300)))
    alone = build(path, max_bad_share=1.0)
    many = build(path, home=Home(tmp_path / "other"), max_bad_share=1.0, workers=2)
    assert data_files(alone) == data_files(many)


def test_sources_that_cannot_be_used(tmp_path, write, build, base, home):
    with pytest.raises(InputError, match=r"does not exist; give a JSON Lines file"):
        build(tmp_path / "none.jsonl")
    (tmp_path / "eval_only").mkdir()
    with pytest.raises(InputError, match="evaluation-only material"):
        build(write(to_lines([make_record(1)]), "eval_only/records.jsonl"))
    link = tmp_path / "innocent.jsonl"
    link.symlink_to(tmp_path / "eval_only" / "records.jsonl")
    with pytest.raises(InputError, match="evaluation-only material"):
        build(link)
    with pytest.raises(InputError, match="run the data step first"):
        build_pools(PoolSettings(base=str(base)), home, Silent())


def test_own_records_and_weights(write, base, home):
    own = write(to_lines([make_record(1)]))
    other = write(to_lines([make_record(2)]), "other.jsonl")
    sources = (SourceSettings(records="own", weight=2.0), SourceSettings(records=str(other)))
    first, second = build_pools(PoolSettings(sources=sources, base=str(base)), home, Silent(), own)
    assert first.path.name.startswith("own-") and first.settings["weight"] == 2.0
    assert second.path.name.startswith("other-") and second.settings["weight"] == 1.0
    sources = (SourceSettings(records="own", weight=5.0),)
    (again,) = build_pools(PoolSettings(sources=sources, base=str(base)), home, Silent(), own.parent)
    assert again.path == first.path and again.settings["weight"] == 5.0


def test_the_guard_leaves_evaluation_contexts_out(write, build):
    held = "The meeting of the board,\nheld on 3 May, was short."
    guard = write(to_lines([{"uid": "eval/7", "context": held}, {"uid": "eval/8", "context": "Yes!"}]), "guard.jsonl")
    contexts = [
        f"Minutes. {held} End.",
        "Minutes: THE MEETING of the board held on  3 May was  short",
        "the meeting of the board held on 4 May was short",
        "yes",
        "yes and no",
    ]
    records = [make_record(n, context=context, spans={}) for n, context in enumerate(contexts)]
    manifest = build(write(to_lines([*records, records[0]])), guard=(str(guard),), max_bad_share=1.0)
    assert manifest.counts == {"read": 6, "kept": 2, "quarantined": 1, "guarded": 3}
    assert [example.uid for example in examples(manifest)] == ["case/2", "case/4"]
    rows = quarantine(manifest)
    assert [row["kind"] for row in rows] == ["guarded", "guarded", "guarded", "bad"]
    assert "'eval/7'" in rows[0]["reason"]
    assert build(write(to_lines(records))).path != manifest.path


def test_a_guard_file_is_read_whole_or_refused(write):
    with pytest.raises(InputError, match="line 2: no record with a context"):
        Guard.read([write(to_lines([{"context": "a"}, {"uid": "b"}]))])
    with pytest.raises(InputError, match="does not exist"):
        Guard.read(["/nowhere/eval.jsonl"])
    binary = write(b"\xff\xfe\x00\n", "guard.bin")
    with pytest.raises(InputError, match="line 1: no record with a context"):
        Guard.read([binary])


def start(records: Path, base: Path, home: Path, workers: int) -> subprocess.Popen:
    script = str(Path(__file__).with_name("build_until_killed.py"))
    arguments = [sys.executable, script, str(records), str(base), str(home), str(workers), str(40_000)]
    search = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(arguments, cwd=ROOT, env=os.environ | {"PYTHONPATH": search})


def wait_for_parts(home: Path, parts: int, process: subprocess.Popen) -> None:
    while process.poll() is None and len(list(home.glob("pools/*/part-*.json"))) < parts:
        time.sleep(0.002)


def state_of(pid: int) -> tuple[str, int]:
    """State letter and parent of a process; ("X", 0) when there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return "X", 0
    return fields[0], int(fields[1])


def children_of(parent: int) -> list[int]:
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [pid for pid in pids if state_of(pid)[1] == parent]


def is_running(pid: int) -> bool:
    return state_of(pid)[0] not in "XZ"


def test_a_killed_build_ends_the_same(tmp_path, write, build, base):
    path = write(b"".join(mixed_lines(1500)))
    clean = build(path, home=Home(tmp_path / "clean"), part_bytes=40_000, max_bad_share=0.2)
    killed = tmp_path / "killed"
    workers = []
    for parts, count in ((1, 1), (4, 2), (9, 1)):
        process = start(path, base, killed, count)
        wait_for_parts(killed, parts, process)
        workers += children_of(process.pid)
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert not list(killed.glob("pools/*/manifest.json"))
    assert start(path, base, killed, 1).wait() == 0
    (folder,) = (path for path in (killed / "pools").iterdir() if path.is_dir())
    manifest = open_artifact(folder, verify=True)
    assert data_files(manifest) == data_files(clean)
    assert manifest.counts == clean.counts and manifest.key == clean.key
    deadline = time.monotonic() + 20
    while any(map(is_running, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert workers and not any(map(is_running, workers))


def test_every_source_that_shapes_an_example_is_in_the_key():
    """A change of one of these files must build the pools anew."""
    script = "import sys, deg_core.pools.chunks; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    used = [name for name in loaded.split() if name.startswith(("deg_core.pools.", "deg_core.model."))]
    files = {f"{name.removeprefix('deg_core.').replace('.', '/')}.py" for name in used}
    assert "pools/examples.py" in files and files <= {*_SOURCES, *_MODEL_SOURCES}
