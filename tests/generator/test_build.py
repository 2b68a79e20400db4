"""The generated data on disk, and the samples that ship."""

from __future__ import annotations

import json
from pathlib import Path

from deg_core.artifacts import Home
from deg_core.config.settings import DataSettings
from deg_core.generator.build import build_data
from deg_core.generator.samples import sample_files
from deg_core.progress import Silent

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
SETTINGS = DataSettings(seed=5, train=12, val=4, test=3, corpus=5)


def test_build_writes_records_and_corpus_once(tmp_path):
    manifest = build_data(SETTINGS, Home(tmp_path / "a"), Silent())
    assert manifest.kind == "data" and not manifest.cached
    assert manifest.counts == {"train": 12, "val": 4, "test": 3, "records": 19, "corpus": 5}
    assert set(manifest.files) == {"records.jsonl", "corpus.jsonl", "corpus_schema.json"}
    lines = (manifest.path / "records.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["split"] for line in lines] == ["train"] * 12 + ["val"] * 4 + ["test"] * 3
    assert build_data(SETTINGS, Home(tmp_path / "a"), Silent()).cached


def test_build_gives_the_same_bytes(tmp_path):
    first, second = (build_data(SETTINGS, Home(tmp_path / name), Silent()) for name in "ab")
    assert first.content == second.content
    assert build_data(SETTINGS.model_copy(update={"seed": 6}), Home(tmp_path / "a"), Silent()).content != first.content


def test_samples_are_what_the_generator_makes():
    for name, text in sample_files().items():
        assert (SAMPLES / name).read_text(encoding="utf-8") == text, f"run write_samples on {SAMPLES}"
