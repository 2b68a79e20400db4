"""`deg models`: the checkpoints of a home folder and which of them is champion."""

from __future__ import annotations

import typer


def register(app: typer.Typer) -> None:
    """Add the group."""
