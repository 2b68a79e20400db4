"""A leaf's schema to its FieldPlan: the table of contract section 3 and the rules of section 4."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from jsonschema.protocols import Validator

from deg_core.contract import choices, scales
from deg_core.contract.fingerprints import field_fingerprint
from deg_core.contract.keywords import ANNOTATIONS, BY_TYPE, EXTENSIONS, FORMATS, STRING_KEYWORDS, refusal
from deg_core.contract.patterns import PatternError, pattern_of
from deg_core.contract.plan import FieldPlan, Mode, OnNull, Path
from deg_core.contract.pointer import escape
from deg_core.contract.validation import validator_of

Report = Callable[[str, str], None]


@dataclass(frozen=True)
class Leaf:
    """A leaf before it is a field.

    schema: references followed. loc: where it lies. json_type: string, number, integer or boolean; ""
    for an enum without type. nullable: its types include null. null_branch: null is a branch beside it.
    ignored: keywords that say
    nothing about the value. annotations: title and description that hold. generate, max_tokens: what the array around it says.
    """

    path: Path
    schema: Mapping[str, Any]
    loc: str
    json_type: str
    draft: type[Validator]
    ignored: frozenset[str] = ANNOTATIONS
    nullable: bool = False
    null_branch: bool = False
    required: bool = True
    omit_path: Path = ()
    annotations: Mapping[str, str] = field(default_factory=dict)
    generate: bool = False
    max_tokens: int | None = None


def compile_leaf(leaf: Leaf, report: Report) -> FieldPlan:
    """The field of a leaf; its problems go to report(loc, msg) and make the field void."""
    generate = leaf.generate or leaf.schema.get("x-generate") is True
    _check_keywords(leaf, report)
    _check_extensions(leaf, generate, report)
    if "enum" in leaf.schema:
        built = _enumerated(leaf, report)
    elif leaf.json_type == "string":
        built = _string(leaf, generate, report)
    elif leaf.json_type == "boolean":
        built = _boolean(leaf)
    else:
        built = _number(leaf, report)
    return finished(built)


def choice_field(leaf: Leaf, options: list[tuple[Any, str | None]]) -> FieldPlan:
    """The field of a choice between (value, description) pairs."""
    values = tuple(value for value, _ in options)
    descriptions = tuple(description for _, description in options)
    nullable = replace(leaf, nullable=None in values)
    return finished(_field(nullable, "decide.choice", "enum", options=values, option_descriptions=descriptions))


def finished(built: FieldPlan) -> FieldPlan:
    """The field with its fingerprint."""
    return replace(built, fingerprint=field_fingerprint(built))


def check_max_tokens(value: Any, loc: str, generate: bool, report: Report) -> None:
    """Report what is wrong with an x-max-tokens."""
    if not generate:
        report(loc, "x-max-tokens applies only beside x-generate: true")
    elif isinstance(value, bool) or not isinstance(value, int) or value < 1:
        report(loc, f"x-max-tokens is an integer of at least 1, not {choices.show(value)}")


def check_generate_flag(value: Any, loc: str, report: Report) -> None:
    """Report an x-generate that is no boolean."""
    if not isinstance(value, bool):
        report(loc, f"x-generate is true or false, not {choices.show(value)}")


def _field(leaf: Leaf, mode: Mode, json_type: str, **details: Any) -> FieldPlan:
    nullable = leaf.nullable or leaf.null_branch
    on_null: OnNull = "null" if nullable else ("forbid" if leaf.required else "omit")
    return FieldPlan(
        path=leaf.path,
        mode=mode,
        json_type=json_type,
        required=leaf.required,
        nullable=nullable,
        on_null=on_null,
        title=leaf.annotations.get("title"),
        description=leaf.annotations.get("description"),
        omit_path=leaf.omit_path or leaf.path,
        **details,
    )


def _check_keywords(leaf: Leaf, report: Report) -> None:
    own = BY_TYPE.get(leaf.json_type, frozenset())
    place = f"type {leaf.json_type}" if leaf.json_type else "an enum without type"
    for keyword in leaf.schema:
        if keyword not in leaf.ignored and keyword not in own and keyword not in ("type", "enum", *EXTENSIONS):
            report(f"{leaf.loc}/{escape(keyword)}", refusal(keyword, place))


def _check_extensions(leaf: Leaf, generate: bool, report: Report) -> None:
    own, loc = leaf.schema, f"{leaf.loc}/x-generate"
    is_enum = "enum" in own
    check_generate_flag(own.get("x-generate", False), loc, report)
    if generate and (leaf.json_type != "string" or is_enum):
        kind = "an enum" if is_enum else f"type {leaf.json_type}"
        report(loc, f"x-generate applies to a plain string or an array of plain strings, not to {kind}")
    elif generate and (leaf.nullable or leaf.null_branch):
        report(loc, "a generated text is never null: write type: string")
    if "x-max-tokens" in own:
        check_max_tokens(own["x-max-tokens"], f"{leaf.loc}/x-max-tokens", generate, report)
    if "x-levels" in own and (leaf.json_type != "integer" or is_enum):
        report(f"{leaf.loc}/x-levels", "x-levels applies to an integer scale of 2 to 11 levels only")


def _enumerated(leaf: Leaf, report: Report) -> FieldPlan:
    loc, values = f"{leaf.loc}/enum", list(leaf.schema["enum"])
    for position, value in enumerate(values):
        if leaf.json_type and not choices.has_type(value, leaf.json_type, leaf.nullable):
            report(f"{loc}/{position}", f"{choices.show(value)} is not of type {leaf.json_type}")
    constraints = {key: leaf.schema[key] for key in BY_TYPE.get(leaf.json_type, ()) if key in leaf.schema}
    _check_pattern(leaf, report)
    if constraints and len(values) <= choices.MAX_OPTIONS and not _pattern_problem(constraints.get("pattern", "")):
        validator = validator_of(constraints, leaf.draft)
        for position, value in enumerate(values):
            broken = next(validator.iter_errors(value), None)
            if broken is not None:
                report(f"{loc}/{position}", f"{choices.show(value)} violates {broken.validator}; remove one of the two")
    if leaf.null_branch and None not in values:
        values.append(None)
    choices.check_options(values, loc, report)
    typed = replace(leaf, nullable=None in values, null_branch=False)
    return _field(typed, "decide.choice", "enum", options=tuple(values), option_descriptions=(None,) * len(values))


def _boolean(leaf: Leaf) -> FieldPlan:
    if leaf.nullable or leaf.null_branch:
        return _field(leaf, "decide.choice", "enum", options=(True, False, None), option_descriptions=(None,) * 3)
    return _field(leaf, "decide.noul", "boolean")


def _number(leaf: Leaf, report: Report) -> FieldPlan:
    bounds = scales.bounds_of(leaf.schema)
    admitted = scales.integer_count(bounds) if leaf.json_type == "integer" else None
    if admitted is not None and admitted < 2:
        report(leaf.loc, f"the bounds admit {admitted} integer{'s' * (admitted != 1)}; widen them")
    elif leaf.json_type == "number" and not scales.admits_number(bounds):
        report(leaf.loc, "the bounds admit no number; widen them")
    elif admitted is not None and admitted <= scales.MAX_LEVELS:
        return _score(leaf, bounds, report)
    if "x-levels" in leaf.schema and leaf.json_type == "integer":
        report(f"{leaf.loc}/x-levels", "x-levels applies only where the bounds admit 2 to 11 integers")
    return _field(leaf, "extract.number", leaf.json_type, constraints=bounds)


def _score(leaf: Leaf, bounds: Mapping[str, Any], report: Report) -> FieldPlan:
    levels = scales.levels_of(bounds)
    labels = leaf.schema.get("x-levels", {})
    loc = f"{leaf.loc}/x-levels"
    if not isinstance(labels, Mapping):
        report(loc, f"x-levels is an object of level to label, not {choices.show(labels)}")
        labels = {}
    names = {str(level) for level in levels}
    for key, label in labels.items():
        if key not in names:
            report(f"{loc}/{escape(key)}", f"{key[:40]!r} is none of the levels {', '.join(map(str, levels))}")
        if not isinstance(label, str) or not label.strip():
            report(f"{loc}/{escape(key)}", "a level's label is a non-empty string")
    return _field(
        leaf,
        "decide.score",
        "integer",
        levels=levels,
        level_labels=tuple(labels.get(str(level)) for level in levels),
        null_outcome=leaf.nullable or leaf.null_branch,
        constraints=bounds,
    )


def _string(leaf: Leaf, generate: bool, report: Report) -> FieldPlan:
    constraints = {key: leaf.schema[key] for key in STRING_KEYWORDS if key in leaf.schema}
    for key in ("minLength", "maxLength"):
        if key in constraints:
            constraints[key] = int(constraints[key])
    if constraints.get("minLength", 0) > constraints.get("maxLength", float("inf")):
        report(leaf.loc, "minLength is larger than maxLength; no text can meet both")
    _check_pattern(leaf, report)
    name = leaf.schema.get("format")
    if name is not None and name not in FORMATS:
        report(f"{leaf.loc}/format", f"format {choices.show(name)} is not supported; use {', '.join(FORMATS)} or none")
    if generate:
        if name is not None:
            report(f"{leaf.loc}/format", "a generated text has no format; remove it, or remove x-generate to extract")
        max_tokens = leaf.schema.get("x-max-tokens", leaf.max_tokens)
        return _field(leaf, "generate", "string", constraints=constraints, max_tokens=max_tokens)
    mode: Mode = "extract.date" if name in ("date", "date-time") else "extract.span"
    return _field(leaf, mode, "string", constraints=constraints, format=name)


def _check_pattern(leaf: Leaf, report: Report) -> None:
    problem = _pattern_problem(leaf.schema.get("pattern", ""))
    if problem:
        report(f"{leaf.loc}/pattern", f"invalid pattern: {problem}")


def _pattern_problem(pattern: str) -> str | None:
    """Why a pattern is not searched."""
    try:
        pattern_of(pattern)
    except PatternError as error:
        return str(error)
    return None
