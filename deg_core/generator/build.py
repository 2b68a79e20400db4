"""The generated documents as an artifact on disk (kind "data")."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from deg_core.artifacts import Home, Manifest, build_artifact
from deg_core.config.settings import DataSettings
from deg_core.generator.records import SPLITS, corpus_schema, generate_corpus, generate_records
from deg_core.progress import Bar, Progress

CODE_VERSION = "generator-3"
RECORDS, CORPUS, CORPUS_SCHEMA = "records.jsonl", "corpus.jsonl", "corpus_schema.json"


def build_data(settings: DataSettings, home: Home, progress: Progress) -> Manifest:
    """Write records.jsonl (all splits), corpus.jsonl and corpus_schema.json below home/data.

    counts: train, val, test, records, corpus. The same settings give the same bytes.
    """

    def build(folder: Path, manifest: Manifest) -> list[Path]:
        counts = {split: getattr(settings, split) for split in SPLITS}
        manifest.counts = {**counts, "records": sum(counts.values()), "corpus": settings.corpus}
        with progress.bar("documents", manifest.counts["records"] + settings.corpus) as bar:
            records = (record for split in SPLITS for record in generate_records(settings, split))
            write_lines(folder / RECORDS, records, bar)
            write_lines(folder / CORPUS, generate_corpus(settings), bar)
        (folder / CORPUS_SCHEMA).write_text(json.dumps(corpus_schema(), indent=1) + "\n", encoding="utf-8")
        return [folder / name for name in (RECORDS, CORPUS, CORPUS_SCHEMA)]

    return build_artifact(
        home,
        "data",
        kind="data",
        name="own",
        code_version=CODE_VERSION,
        settings=settings.model_dump(mode="json"),
        inputs={},
        build=build,
    )


def json_line(value: Any) -> str:
    """One line of JSON Lines, keys in their own order."""
    return json.dumps(value, ensure_ascii=False) + "\n"


def write_lines(path: Path, rows: Iterable[Any], bar: Bar) -> None:
    """Write rows as JSON Lines in UTF-8, one step of the bar a row."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json_line(row))
            bar.advance()
