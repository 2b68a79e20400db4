"""Which documents an evaluation asks about: a seeded sample of each split of each records file."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deg_core.artifacts import canonical
from deg_core.config import EvaluateSettings
from deg_core.contract.errors import InputError
from deg_core.evaluation.grammar import ValueBounds
from deg_core.pools.records import Record, read_records


@dataclass(frozen=True)
class Case:
    """One document of the sample.

    number: its place in the sample. baseline: whether the baseline answers it too.
    limits: bounds of the baseline's texts and arrays, by folded pointer.
    """

    number: int
    source: str
    record: Record
    baseline: bool
    limits: dict[str, int]


@dataclass
class Sample:
    """cases: in the order of sources, then splits. counts: read = kept + left_out, and why left out."""

    cases: list[Case] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)


def source_names(paths: Sequence[Path]) -> list[str]:
    """A short name for each records file: its stem, with its folder where stems repeat; raises InputError on twins."""
    stems = [path.stem for path in paths]
    names = [path.stem if stems.count(path.stem) == 1 else f"{path.parent.name}/{path.stem}" for path in paths]
    twins = sorted({name for name in names if names.count(name) > 1})
    if twins:
        raise InputError(f"two records files are called {twins[0]!r}; rename one so that results can be told apart")
    return names


def draw_sample(paths: Sequence[Path], settings: EvaluateSettings) -> Sample:
    """Read the records files and draw at most max_records of each wanted split of each.

    Raises InputError when a file is missing or no record of the wanted splits is left.
    """
    sample = Sample(counts={"read": 0, "kept": 0, "left_out": 0, "bad_line": 0, "other_split": 0, "not_drawn": 0})
    for path, source in zip(paths, source_names(paths), strict=True):
        _draw_source(path, source, settings, sample)
    counts = sample.counts
    counts["kept"] = len(sample.cases)
    counts["left_out"] = counts["bad_line"] + counts["other_split"] + counts["not_drawn"]
    if not sample.cases:
        raise InputError(
            f"no record of the splits {', '.join(settings.splits)} in {', '.join(map(str, paths))} "
            f"({counts['read']} lines read, {counts['bad_line']} bad); give files that hold them"
        )
    return sample


def _draw_source(path: Path, source: str, settings: EvaluateSettings, sample: Sample) -> None:
    if not path.is_file():
        raise InputError(f"records file {path} does not exist; give a JSON Lines file of records")
    bounds = ValueBounds()
    by_split: dict[str, list[Record]] = {split: [] for split in settings.splits}
    for line in read_records(path):
        sample.counts["read"] += 1
        if not isinstance(line, Record):
            sample.counts["bad_line"] += 1
            continue
        if line.split == "train":
            bounds.add(line.plan, line.value)
        if line.split in by_split:
            by_split[line.split].append(line)
        else:
            sample.counts["other_split"] += 1
    for split, records in by_split.items():
        draw = random.Random(canonical([settings.seed, source, split]))
        records.sort(key=lambda record: record.uid)
        drawn = draw.sample(records, min(settings.max_records, len(records)))
        sample.counts["not_drawn"] += len(records) - len(drawn)
        for position, record in enumerate(drawn):
            asked = position < settings.baseline_records
            limits = bounds.limits(record.plan) if asked else {}
            sample.cases.append(Case(len(sample.cases), source, record, asked, limits))
