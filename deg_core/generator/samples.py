"""The small samples that ship in data/samples, made by the generator."""

from __future__ import annotations

import json
from pathlib import Path

from deg_core.config.settings import DataSettings
from deg_core.generator.build import json_line
from deg_core.generator.records import corpus_schema, generate_corpus, generate_records
from deg_core.generator.registry import SEEN_KINDS, TEST, TEST_KINDS

RECORDS_PER_KIND = 2
DOCUMENTS = 10
SHOWN_DOCUMENT = 3


def sample_files() -> dict[str, str]:
    """File name -> text.

    A form and a note of every kind that trains, some test records, ten documents to fill, one of them with its schema.
    """
    settings = DataSettings(
        seed=7,
        train=RECORDS_PER_KIND * len(SEEN_KINDS),
        val=0,
        test=len(TEST) * RECORDS_PER_KIND * len(TEST_KINDS),
        corpus=DOCUMENTS,
    )
    documents = list(generate_corpus(settings))
    records = [record for split in ("train", "test") for record in generate_records(settings, split)]
    return {
        "records.jsonl": "".join(map(json_line, records)),
        "corpus.jsonl": "".join(map(json_line, documents)),
        "schema.json": json.dumps(corpus_schema(), indent=2, ensure_ascii=False) + "\n",
        "document.txt": documents[SHOWN_DOCUMENT]["text"] + "\n",
    }


def write_samples(folder: Path) -> list[Path]:
    """Write the samples into a folder; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, text in sample_files().items():
        paths.append(folder / name)
        paths[-1].write_text(text, encoding="utf-8", newline="\n")
    return paths
