"""Questions of decision records as one-field schemas (training specification, section 1; contract section 9.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deg_core.contract.errors import Problem
from deg_core.contract.plan import FillPlan
from deg_core.pools.annotations import normalised, probability_problem
from deg_core.pools.schemas import Schemas

QUESTION_TYPES = ("noul", "choice", "score")


@dataclass(frozen=True)
class Question:
    """A labelled question: the plan of its one field, /answer, and the target over the field's outcomes."""

    plan: FillPlan
    target: tuple[float, ...]


def read_questions(questions: Any, schemas: Schemas) -> tuple[tuple[Question, ...], int, list[Problem]]:
    """The questions that can train, how many cannot, and the problems of malformed ones.

    A question is skipped when it has no label, when its label does not fit its options, and when it has
    fewer than two options, since there is nothing to decide then.
    """
    if not isinstance(questions, list):
        return (), 0, [Problem("/questions", "must be a list of questions")]
    kept: list[Question] = []
    problems: list[Problem] = []
    for index, question in enumerate(questions):
        loc = f"/questions/{index}"
        msg = _shape_problem(question)
        if msg:
            problems.append(Problem(loc, msg))
            continue
        target = _target(question)
        if target is None:
            continue
        compiled = schemas.compile({"type": "object", "properties": {"answer": _answer_schema(question)}})
        problems += [Problem(loc, f"as a field: {problem}") for problem in compiled.problems]
        if compiled.plan is not None:
            kept.append(Question(compiled.plan, target))
    return tuple(kept), len(questions) - len(kept), problems


def _shape_problem(question: Any) -> str | None:
    if not isinstance(question, Mapping) or question.get("type") not in QUESTION_TYPES:
        return f"a question is an object whose type is one of {', '.join(QUESTION_TYPES)}"
    if not isinstance(question.get("instructions"), str):
        return "instructions must be a string"
    if not isinstance(question.get("label", {}), Mapping | None):
        return "a label is an object with probs or hard"
    criteria = question.get("criteria")
    if question["type"] == "score":
        return None if _are_strings(criteria) else "criteria of a score is the list of its level texts"
    if question["type"] == "noul" and criteria is None:
        return None
    if not isinstance(criteria, Mapping) or not all(isinstance(v, str | None) for v in criteria.values()):
        return f"criteria of a {question['type']} is an object of texts"
    return None


def _are_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _target(question: Mapping[str, Any]) -> tuple[float, ...] | None:
    """Probabilities over the outcomes (noul: true, false); None when the question cannot train."""
    outcomes = 2 if question["type"] == "noul" else len(question["criteria"])
    label = question.get("label") or {}
    if outcomes < 2:
        return None
    if label.get("probs") is not None:
        fits = probability_problem(label["probs"], outcomes) is None
        return normalised(label["probs"]) if fits else None
    hard = label.get("hard")
    if isinstance(hard, bool):
        hard = (0 if hard else 1) if question["type"] == "noul" else None
    if not isinstance(hard, int) or not 0 <= hard < outcomes:
        return None
    return tuple(float(index == hard) for index in range(outcomes))


def _answer_schema(question: Mapping[str, Any]) -> dict[str, Any]:
    description = question["instructions"]
    criteria = question.get("criteria") or {}
    if question["type"] == "noul":
        lines = [description]
        lines += [
            f"{name} means: {criteria[key]}" for key, name in (("true", "Yes"), ("false", "No")) if criteria.get(key)
        ]
        return {"type": "boolean", "description": "\n".join(lines)}
    if question["type"] == "score":
        levels = {str(level): text for level, text in enumerate(criteria) if text}
        scale: dict[str, Any] = {"type": "integer", "minimum": 0, "maximum": len(criteria) - 1}
        return scale | {"description": description} | ({"x-levels": levels} if levels else {})
    if not any(criteria.values()):
        return {"enum": list(criteria), "description": description}
    branches = [{"const": name} | ({"description": text} if text else {}) for name, text in criteria.items()]
    return {"oneOf": branches, "description": description}
