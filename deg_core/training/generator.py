"""Training a generator: an adapter with which the base writes generated text (training specification, section 9)."""

from __future__ import annotations

from pathlib import Path

from deg_core.artifacts import Home, Manifest, build_artifact, source_version
from deg_core.config import GeneratorSettings
from deg_core.contract.errors import InputError
from deg_core.model.backbone import read_family
from deg_core.model.bases import base_folder
from deg_core.model.generator import export_generator
from deg_core.pools.store import Pool
from deg_core.progress import Progress
from deg_core.training.run import SOURCES, train

CHAT = "chat"
RUNS = "generator_runs"


def train_generator(
    settings: GeneratorSettings, pools: list[Path], home: Home, progress: Progress, memory: Path | None = None
) -> Manifest:
    """Train on pools of generated text in the chat's layout; the artifact under generators/ is a generator folder.

    The run behind it lies under generator_runs/, goes on where it was killed, and ends where the validation loss
    does not fall any more. Raises InputError when a pool is not of that kind, and as `train` does.
    """
    for pool in map(Pool.open, pools):
        if pool.forks != "generate" or pool.layout.gen_layout != CHAT:
            raise InputError(
                f"{pool.manifest.path} holds other queries; build it with forks: generate, gen_layout: chat"
            )
    run = train(settings.training(), pools, home, progress, memory, kind=RUNS)

    def build(folder: Path, manifest: Manifest) -> list[Path]:
        base = base_folder(settings.base, home)
        manifest.counts, manifest.figures = run.counts, run.figures
        return export_generator(run.path / "checkpoint", base, read_family(base / "config.json"), folder)

    return build_artifact(
        home,
        "generators",
        kind="generator",
        name=Path(settings.base).name,
        code_version=source_version(*SOURCES),
        settings=settings.model_dump(mode="json"),
        inputs={"run": run.key},
        build=build,
    )
