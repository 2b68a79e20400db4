"""One temperature per head kind, by NLL on validation records (contract section 12.3, training section 8)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import torch

from deg_core.artifacts import Home, Manifest, build_artifact, hash_tree, source_version
from deg_core.config import CalibrateSettings
from deg_core.contract.errors import InputError
from deg_core.model.checkpoint import checkpoint_layout, load_network, save_checkpoint
from deg_core.model.heads import CALIBRATED_KINDS, MAX_SPAN_TOKENS, CountLogits, SpanLogits, span_ends
from deg_core.model.model import pick_device, pick_dtype
from deg_core.model.network import Network
from deg_core.pools.example import Example, Fork
from deg_core.pools.store import Pool, common_layout
from deg_core.progress import Progress

LOWEST, HIGHEST = 0.05, 20.0
SEARCH_STEPS = 30
MIN_FORKS = 8
MAX_OUTCOMES = 4096

Case = tuple[torch.Tensor, torch.Tensor]


def calibrate(
    settings: CalibrateSettings, checkpoint: Path, pools: list[Path], home: Home, progress: Progress
) -> Manifest:
    """Fit temperatures on the val records of every pool; the artifact holds the calibrated `checkpoint/`.

    Kinds with fewer than MIN_FORKS validation forks keep temperature 1 (said in the figures).
    Raises InputError when no pool has a val record, and when the pools ask otherwise than the checkpoint.
    """
    opened = [Pool.open(folder) for folder in pools]
    layout, own = common_layout(opened), checkpoint_layout(checkpoint)
    if layout != own:
        raise InputError(
            f"the pools ask by {layout}, {checkpoint} is asked by {own}; set pools.array_mode and pools.gen_layout so"
        )

    def build(folder: Path, manifest: Manifest) -> list[Path]:
        device = pick_device(None)
        network, meta = load_network(checkpoint, home, device, pick_dtype(None, device))
        network.heads.requires_grad_(False)
        examples = [example for pool in opened for example in pool.validation(settings.max_records)]
        if not examples:
            raise InputError("no val record to fit temperatures on; add records with split val to a source")
        cases = collect(network, examples, progress)
        figures = {}
        for index, kind in enumerate(CALIBRATED_KINDS):
            temperature = fit_temperature(cases[kind]) if len(cases[kind]) >= MIN_FORKS else 1.0
            network.heads.temperatures[index] = temperature
            figures[kind] = {
                "temperature": round(temperature, 4),
                "forks": len(cases[kind]),
                "nll_before": round(nll(cases[kind], 1.0), 5) if cases[kind] else None,
                "nll_after": round(nll(cases[kind], temperature), 5) if cases[kind] else None,
            }
        meta.provenance |= {"temperatures": figures, "calibrated_from": hash_tree(checkpoint)}
        manifest.counts = {"read": len(examples), "kept": len(examples)}
        manifest.figures = figures
        final = save_checkpoint(folder / "checkpoint", network, meta)
        return sorted(final.iterdir())

    return build_artifact(
        home,
        "calibrations",
        kind="calibration",
        name="temperatures",
        code_version=source_version("contract", "values", "model", "pools", "evaluation/temperatures.py"),
        settings=settings.model_dump(mode="json"),
        inputs={"checkpoint": hash_tree(checkpoint)} | {f"pool:{p.manifest.id}": p.manifest.content for p in opened},
        build=build,
    )


def collect(network: Network, examples: list[Example], progress: Progress) -> dict[str, list[Case]]:
    """For each calibrated kind, (logits float64 [o], index of the gold outcomes int64 [g]) of every fork."""
    cases: dict[str, list[Case]] = defaultdict(list)
    with progress.bar("temperatures", len(examples)) as bar, torch.inference_mode():
        for example in examples:
            forks = [fork for fork in example.forks if fork.kind in CALIBRATED_KINDS]
            if forks:
                reading = network.read([example.context], exact=True)
                outputs = network.answer(reading, [(0, fork) for fork in forks], exact=True)
                for fork, output in zip(forks, outputs, strict=True):
                    assert not isinstance(output, CountLogits)  # counts have no temperature
                    cases[fork.kind].extend(fork_cases(fork, output))
            bar.advance()
    return cases


def fork_cases(fork: Fork, output: torch.Tensor | SpanLogits) -> Iterator[Case]:
    """The hard-target case of a fork. Of an extract fork: null, the gold spans and the MAX_OUTCOMES likeliest spans."""
    if isinstance(output, SpanLogits):
        first, last = (bound.double().cpu() for bound in output.bounds())
        gold = torch.from_numpy(fork.spans).long().reshape(-1, 2)
        gold = gold[gold[:, 1] - gold[:, 0] <= MAX_SPAN_TOKENS].unique(dim=0)
        if len(fork.spans) and not len(gold):
            return
        null = output.null.double().cpu()[None]
        spans = first[:, None] + span_ends(last)
        found = spans[gold[:, 0], gold[:, 1] - 1 - gold[:, 0]]
        spans[gold[:, 0], gold[:, 1] - 1 - gold[:, 0]] = -math.inf
        others = spans.flatten().topk(min(MAX_OUTCOMES, spans.numel())).values
        right = torch.arange(1, 1 + len(gold)) if len(gold) else torch.tensor([0])
        yield torch.cat((null, found, others[others.isfinite()])), right
        return
    yield output.double().cpu(), torch.tensor([int(fork.target.argmax())])


def nll(cases: list[Case], temperature: float) -> float:
    """Mean negative log-likelihood of the gold outcomes at a temperature."""
    total = math.fsum(float(-(logits / temperature).log_softmax(0)[gold].logsumexp(0)) for logits, gold in cases)
    return total / len(cases)


def fit_temperature(cases: list[Case]) -> float:
    """The temperature in [LOWEST, HIGHEST] with the least NLL: golden-section search over its logarithm."""
    return math.exp(golden_section(lambda x: nll(cases, math.exp(x)), math.log(LOWEST), math.log(HIGHEST)))


def golden_section(function: Callable[[float], float], low: float, high: float) -> float:
    """The minimum of a unimodal function on an interval."""
    ratio = (math.sqrt(5) - 1) / 2
    left, right = high - ratio * (high - low), low + ratio * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(SEARCH_STEPS):
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - ratio * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + ratio * (high - low)
            at_right = function(right)
    return (low + high) / 2


__all__ = ["calibrate", "collect", "fit_temperature", "golden_section", "nll"]
