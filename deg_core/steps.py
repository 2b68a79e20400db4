"""The steps of the chain behind one calling convention: settings, home, progress and the paths of their inputs.

Imports of a step's package happen when it runs, so that a command that needs none of them starts at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from deg_core.artifacts import Home, Manifest, open_artifact, read_manifest
from deg_core.config.settings import (
    ArrayMode,
    CalibrateSettings,
    DataSettings,
    EvaluateSettings,
    FillSettings,
    GateSettings,
    GeneratorSettings,
    MemorySettings,
    PoolSettings,
    TrainSettings,
)
from deg_core.contract.errors import InputError
from deg_core.inputs import read_json
from deg_core.progress import Progress

if TYPE_CHECKING:
    from deg_core.registry.gate import Decision

OWN, CHAMPION = "own", "champion"


def build_data(settings: DataSettings, home: Home, progress: Progress) -> Manifest:
    """The generated documents."""
    from deg_core.generator.build import build_data

    return build_data(settings, home, progress)


def build_pools(settings: PoolSettings, home: Home, progress: Progress, *, data: Path | None) -> list[Manifest]:
    """One pool a source; data: the artifact that the source 'own' means."""
    from deg_core.pools.build import build_pools

    return build_pools(settings, home, progress, own_records=data / "records.jsonl" if data else None)


def pools_like(checkpoint: Path) -> PoolSettings:
    """Pool settings that fit a checkpoint: its base, and how it is asked."""
    from deg_core.model.checkpoint import read_meta

    meta = read_meta(checkpoint)
    return PoolSettings(
        base=meta.base,
        array_mode=meta.array_mode,
        anchor_min_tokens=meta.anchor_min_tokens,
        gen_layout=meta.gen_layout,
    )


def pools_for_training(settings: TrainSettings, home: Home, arrays: ArrayMode | None) -> PoolSettings:
    """Pool settings of a run: arrays as given, else as in the checkpoint that it starts from."""
    from deg_core.training.run import start_checkpoint

    start = start_checkpoint(settings, home)
    if start is None or arrays is not None:
        return PoolSettings(base=settings.base, array_mode=arrays or "index")
    return pools_like(start).model_copy(update={"base": settings.base})


def calibrate_memory(settings: MemorySettings, home: Home, progress: Progress) -> Manifest:
    """The memory plan's coefficients on this machine."""
    from deg_core.training.calibration import calibrate_memory

    return calibrate_memory(settings, home, progress)


def train(
    settings: TrainSettings, home: Home, progress: Progress, *, pools: list[Path], memory: Path | None = None
) -> Manifest:
    """A training run; memory: the artifact of calibrate_memory, None = the analytic plan."""
    from deg_core.training.run import train

    return train(settings, pools, home, progress, memory)


def written(settings: PoolSettings) -> PoolSettings:
    """The same sources as pools of a generator: generated texts alone, asked for in the base's chat."""
    return settings.model_copy(update={"forks": "generate", "gen_layout": "chat"})


def train_generator(
    settings: GeneratorSettings, home: Home, progress: Progress, *, pools: list[Path], memory: Path | None = None
) -> Manifest:
    """An adapter with which the base writes generated text; pools: of `written` settings."""
    from deg_core.training.generator import train_generator

    return train_generator(settings, pools, home, progress, memory)


def calibrate(
    settings: CalibrateSettings, home: Home, progress: Progress, *, checkpoint: Path, pools: list[Path]
) -> Manifest:
    """Temperatures of a checkpoint."""
    from deg_core.evaluation.temperatures import calibrate

    return calibrate(settings, checkpoint, pools, home, progress)


def evaluate(
    settings: EvaluateSettings, home: Home, progress: Progress, *, checkpoint: Path, records: list[Path]
) -> Manifest:
    """A checkpoint and the baseline on the same documents."""
    from deg_core.evaluation.evaluate import evaluate

    return evaluate(checkpoint, records, settings, home, progress)


def run_gate(
    settings: GateSettings,
    home: Home,
    progress: Progress,
    *,
    checkpoint: Path,
    evaluation: Path,
    champion_evaluation: Path | None,
) -> Decision:
    """Promote the checkpoint, or say why not."""
    from deg_core.registry.gate import run_gate

    numbers = finished(evaluation)
    against = finished(champion_evaluation) if champion_evaluation else None
    decision = run_gate(checkpoint, numbers, against, settings, home)
    progress.say(f"{'promoted' if decision.promote else 'not promoted'}: {'; '.join(decision.reasons)}")
    return decision


def fill_corpus(
    settings: FillSettings,
    home: Home,
    progress: Progress,
    *,
    data: Path | None = None,
    run_shards: Any = None,
) -> Manifest:
    """Fill the corpus that the settings name; data: the artifact that 'own' means."""
    from deg_core.bulk.engine import fill_corpus

    corpus, schema = fill_inputs(settings, data)
    checkpoint = filling_checkpoint(settings.model, home)
    return fill_corpus(
        settings, home, progress, corpus=corpus, schema=schema, checkpoint=checkpoint, run_shards=run_shards
    )


def fill_inputs(settings: FillSettings, data: Path | None) -> tuple[Path, dict[str, Any]]:
    """The corpus and the schema of a bulk fill; raises InputError when one cannot be read."""
    if data is None and uses_own(settings):
        raise InputError("the generated corpus is not there; run `deg generate`, or name corpus and schema_path")
    corpus = data / "corpus.jsonl" if data and settings.corpus == OWN else Path(settings.corpus)
    path = data / "corpus_schema.json" if data and settings.schema_path == OWN else Path(settings.schema_path)
    return corpus, read_schema(path)


def read_schema(path: Path) -> dict[str, Any]:
    """A JSON Schema that compiles; raises InputError that names the file with every problem of it."""
    from deg_core.contract import SchemaError, compile_schema

    schema = read_json(path)
    try:
        compile_schema(schema)
    except SchemaError as error:
        raise InputError("\n".join(f"{path}: {problem}" for problem in error.problems)) from error
    return schema


def filling_checkpoint(name: str, home: Home) -> Path:
    """A checkpoint folder: by path, or the champion of the home, else the one that ships."""
    found = _champion_or_shipped(home) if name == CHAMPION else Path(name)
    if found is None:
        raise InputError("there is no champion and no checkpoint ships; run `deg nightly`, or name a checkpoint")
    return found


def has_checkpoint(name: str, home: Home) -> bool:
    """Whether filling_checkpoint finds one."""
    return name != CHAMPION or _champion_or_shipped(home) is not None


def _champion_or_shipped(home: Home) -> Path | None:
    from deg_core.model.model import shipped_checkpoint
    from deg_core.registry.models import champion

    return champion(home) or shipped_checkpoint()


def record_files(settings: PoolSettings, data: Path | None) -> list[Path]:
    """The records files of the pools' sources; data: the artifact that 'own' means, needed where one is."""
    from deg_core.pools.sets import all_sources

    own = data / "records.jsonl" if data else Path(OWN)
    return [own if source.records == OWN else Path(source.records) for source in all_sources(settings)]


def uses_own(settings: PoolSettings | FillSettings) -> bool:
    """Whether the settings name the generated documents."""
    if isinstance(settings, FillSettings):
        return OWN in (settings.corpus, settings.schema_path)
    return any(source.records == OWN for source in settings.sources)


def finished(folder: Path) -> Manifest:
    """The manifest of a finished artifact; raises InputError when it is not there and whole."""
    manifest = open_artifact(folder)
    if manifest is None:
        raise InputError(f"{folder} is not a finished artifact; run the step that makes it")
    return manifest


def newest(home: Home, kind: str, made_by: str) -> Manifest:
    """The newest finished artifact of a kind; made_by: the command that makes one. Raises InputError without one."""
    folders = [path.parent for path in home.folder(kind).glob("*/manifest.json")]
    found = [manifest for folder in folders if (manifest := read_manifest(folder)) is not None]
    if not found:
        raise InputError(f"{home.folder(kind)} holds nothing finished; run `{made_by}` first")
    return max(found, key=lambda manifest: (manifest.created, manifest.id))
