"""The gate: whether a checkpoint becomes champion, by its figures beside the champion's (design section 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from deg_core.artifacts import Home, Manifest, hash_tree
from deg_core.config.settings import GateSettings
from deg_core.contract.errors import InputError
from deg_core.registry.models import champion, check_checkpoint, log_refusal, promote

ECE = "ece_decide"


@dataclass(frozen=True)
class Decision:
    """promote: the answer. reasons: why, one sentence each. numbers: metric -> candidate, champion and change."""

    promote: bool
    reasons: list[str]
    numbers: dict[str, Any] = field(default_factory=dict)


def decide(candidate: Mapping[str, Any], champion: Mapping[str, Any] | None, settings: GateSettings) -> Decision:
    """Compare the figures of two evaluations; champion None = there is none yet.

    A metric may fall by settings.tolerance; the calibration error of decided fields may not pass
    settings.max_ece. A metric that neither side has is left out; one that only the champion has, or a candidate
    without any metric, is a refusal.
    """
    numbers = {name: _beside(candidate.get(name), (champion or {}).get(name)) for name in (*settings.metrics, ECE)}
    reasons = []
    for name in settings.metrics:
        mine, theirs = numbers[name]["candidate"], numbers[name]["champion"]
        if mine is None and theirs is not None:
            reasons.append(f"{name} was not measured, the champion has {theirs:.4f}")
        elif mine is not None and theirs is not None and mine < theirs - settings.tolerance:
            reasons.append(f"{name} fell from {theirs:.4f} to {mine:.4f}, by more than {settings.tolerance:g}")
    if all(numbers[name]["candidate"] is None for name in settings.metrics):
        reasons.append(f"none of {', '.join(settings.metrics)} was measured; evaluate on records that have them")
    error = numbers[ECE]["candidate"]
    if error is not None and error > settings.max_ece:
        reasons.append(f"{ECE} is {error:.4f}, above {settings.max_ece:g}")
    if reasons:
        return Decision(False, reasons, numbers)
    return Decision(True, [_approval(numbers, settings, champion is None)], numbers)


def run_gate(
    checkpoint: Path, evaluation: Manifest, champion_evaluation: Manifest | None, settings: GateSettings, home: Home
) -> Decision:
    """Decide on a checkpoint and log it; promotes when the answer is yes.

    evaluation, champion_evaluation: manifests of `evaluate` on the same records with the same settings; the
    latter may be missing when there is no champion or the candidate is it already. Raises InputError when an
    evaluation is not of that checkpoint or the two cannot be compared.
    """
    check_checkpoint(Path(checkpoint))
    content = hash_tree(checkpoint)
    _check_subject(evaluation, content, checkpoint)
    holder = champion(home)
    holder_content = hash_tree(holder) if holder is not None else None
    if holder is not None and holder_content == content:
        decision = Decision(True, ["it is the champion already; nothing changes"], {})
        promote(home, holder, _logged(decision, evaluation, None, settings), "gate")
        return decision
    if holder is not None:
        if champion_evaluation is None:
            raise InputError(
                f"the champion {holder} has no evaluation to compare with; evaluate it on the same records"
            )
        _check_subject(champion_evaluation, holder_content, holder)
        _check_comparable(evaluation, champion_evaluation)
    else:
        champion_evaluation = None
    decision = decide(evaluation.figures, champion_evaluation.figures if champion_evaluation else None, settings)
    logged = _logged(decision, evaluation, champion_evaluation, settings)
    if decision.promote:
        promote(home, checkpoint, logged, "gate")
    else:
        log_refusal(home, checkpoint, logged)
    return decision


def _beside(candidate: float | None, champion: float | None) -> dict[str, float | None]:
    change = None if candidate is None or champion is None else candidate - champion
    return {"candidate": candidate, "champion": champion, "change": change}


def _approval(numbers: Mapping[str, Any], settings: GateSettings, first: bool) -> str:
    measured = [name for name in settings.metrics if numbers[name]["candidate"] is not None]
    shown = ", ".join(f"{name} {numbers[name]['candidate']:.4f}" for name in measured)
    return f"the first champion: {shown}" if first else f"no metric fell by more than {settings.tolerance:g}: {shown}"


def _logged(
    decision: Decision, evaluation: Manifest, champion_evaluation: Manifest | None, settings: GateSettings
) -> dict[str, Any]:
    return {
        **asdict(decision),
        "evaluation": evaluation.id,
        "champion_evaluation": champion_evaluation.id if champion_evaluation else None,
        "settings": settings.model_dump(mode="json"),
    }


def _check_subject(evaluation: Manifest, content: str | None, checkpoint: Path) -> None:
    if evaluation.inputs.get("checkpoint") != content:
        raise InputError(
            f"evaluation {evaluation.id} is not of {checkpoint} as it is now; evaluate that checkpoint again"
        )


def _check_comparable(mine: Manifest, theirs: Manifest) -> None:
    if mine.inputs.get("records") != theirs.inputs.get("records") or mine.settings != theirs.settings:
        raise InputError(
            f"evaluations {mine.id} and {theirs.id} used other records or settings; evaluate both checkpoints alike"
        )
