"""What a finished step shows on the Prefect page: its manifest as tables, its report and its plots."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

from prefect.artifacts import create_image_artifact, create_markdown_artifact, create_table_artifact

from deg_core.artifacts import Manifest
from tasks.progress import artifact_key

if TYPE_CHECKING:
    from deg_core.registry.gate import Decision

MAX_IMAGES = 6


def publish_manifest(manifest: Manifest) -> None:
    """Artifacts of a manifest: its numbers as a table, where it lies, and every PNG among its files."""
    numbers = {**manifest.counts, **manifest.figures, "seconds": round(manifest.seconds, 1)}
    rows = [{"figure": name, "value": _shown(value)} for name, value in numbers.items()]
    create_table_artifact(rows, key=artifact_key(f"{manifest.kind}-figures"), description=f"Numbers of {manifest.id}")
    create_markdown_artifact(_summary(manifest), key=artifact_key(manifest.kind), description=manifest.id)
    for name in sorted(name for name in manifest.files if name.endswith(".png"))[:MAX_IMAGES]:
        data = base64.b64encode((manifest.path / name).read_bytes()).decode()
        create_image_artifact(
            f"data:image/png;base64,{data}", key=artifact_key(f"{manifest.kind}-{name[:-4]}"), description=name
        )


def publish_decision(decision: Decision) -> None:
    """The gate's decision with its reasons."""
    verdict = "promoted" if decision.promote else "not promoted"
    lines = [f"# {verdict}", "", *(f"- {reason}" for reason in decision.reasons)]
    create_markdown_artifact("\n".join(lines), key="gate", description=f"The checkpoint was {verdict}")


def _summary(manifest: Manifest) -> str:
    state = "was there already; nothing was run" if manifest.cached else "made by this run"
    files = [f"| `{name}` | {entry['bytes']:,} |" for name, entry in sorted(manifest.files.items())]
    settings = json.dumps(manifest.settings, indent=1, ensure_ascii=False)
    return "\n".join(
        [
            f"# {manifest.id}",
            f"In `{manifest.path}`, {state}.",
            "| file | bytes |",
            "|---|---:|",
            *files,
            "",
            f"```json\n{settings}\n```",
        ]
    ).replace("\n| file", "\n\n| file", 1)


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
