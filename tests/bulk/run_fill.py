"""Run a bulk fill as a program, so that a test can kill it: run_fill.py HOME CORPUS CHECKPOINT WORKERS."""

import sys
from pathlib import Path

from fake_filler import SCHEMA, make_filler

from deg_core.artifacts import Home
from deg_core.bulk.engine import fill_corpus
from deg_core.config import FillSettings
from deg_core.progress import Silent

if __name__ == "__main__":
    home, corpus, checkpoint, workers = sys.argv[1:]
    manifest = fill_corpus(
        FillSettings(shard_documents=4, batch_documents=3, workers=int(workers)),
        Home(home),
        Silent(),
        corpus=Path(corpus),
        schema=SCHEMA,
        checkpoint=Path(checkpoint),
        filler_factory=make_filler,
    )
    print(manifest.id)
