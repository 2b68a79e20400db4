"""What a training process is told: plain data in a file, since it runs in a process of its own."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel

from deg_core.config import TrainSettings
from deg_core.model.queries import QueryLayout


class TrainJob(BaseModel):
    """settings: of the run. folder: its artifact. home: the home directory. base: the backbone's folder.

    pools: folder and weight of each. max_context_tokens: of the pools. layout: how they
    ask. memory: the memory artifact or None.
    init: the checkpoint that adapters and heads start from, None = fresh.
    """

    settings: TrainSettings
    folder: Path
    home: Path
    base: Path
    pools: list[tuple[Path, float]]
    max_context_tokens: int
    layout: QueryLayout = QueryLayout()
    memory: Path | None = None
    init: Path | None = None
