"""Generated documents as training examples and as texts, for the benchmarks of training."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from deg_core.artifacts import Home
from deg_core.config import PoolSettings, SourceSettings
from deg_core.contract.request import render_context
from deg_core.generator.records import make_record
from deg_core.model.bases import base_folder
from deg_core.model.tokens import Tokens
from deg_core.pools.build import build_pool
from deg_core.pools.store import Pool
from deg_core.progress import Silent

SEED = 1


@dataclass(frozen=True)
class Documents:
    """base: the backbone's folder, tokens: its tokenizer. pool: the examples. records: by uid. build_s: process seconds of the pool's build."""

    base: Path
    tokens: Tokens
    pool: Pool
    records: dict[str, dict[str, Any]]
    max_context_tokens: int
    build_s: float

    def answered(self, uid: str) -> tuple[list[int], list[int]]:
        """What a plain fine-tuning reads and writes, as tokens: the context, and the value as JSON."""
        record = self.records[uid]
        written = json.dumps(record["value"], ensure_ascii=False)
        read = self.tokens.encode_text(render_context(record["context"]) + "\n")
        return [*read], [*self.tokens.encode_text(written)]


@contextmanager
def made_documents(count: int, base: str, home: Home) -> Iterator[Documents]:
    """`count` training records of the generator, and a pool of them built in this process, in a temporary folder."""
    folder = base_folder(base, home)
    records = {record["uid"]: record for record in (make_record(SEED, "train", index) for index in range(count))}
    with TemporaryDirectory(prefix="deg-bench-") as scratch:
        path = Path(scratch) / "records.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records.values()), encoding="utf-8")
        settings = PoolSettings(sources=(SourceSettings(records=str(path)),), base=str(folder))
        begun = time.process_time()
        manifest = build_pool(settings.sources[0], settings, Home(Path(scratch) / "home"), Silent(), workers=1)
        seconds = time.process_time() - begun
        yield Documents(
            folder, Tokens.load(folder), Pool.open(manifest.path), records, settings.max_context_tokens, seconds
        )
