"""Lines of a records file to validated records (training specification, section 1)."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from deg_core.contract.errors import Problem, RequestError
from deg_core.contract.plan import FieldPlan, FillPlan
from deg_core.contract.pointer import concrete
from deg_core.contract.request import render_context
from deg_core.contract.walk import leaf_instances, lengths_of
from deg_core.inputs import finite, refuse_constant, unique_keys
from deg_core.pools.annotations import Annotations, read_annotations
from deg_core.pools.decisions import Question, read_questions
from deg_core.pools.lines import MAX_LINE_BYTES, RawLine, raw_lines
from deg_core.pools.schemas import Schemas

SPLITS = ("train", "val", "test")
REQUIRED_KEYS = ("uid", "split", "context", "schema", "value")
KNOWN_KEYS = (
    *REQUIRED_KEYS,
    "doc_id",
    "spans",
    "span_alternatives",
    "span_probs",
    "span_counts",
    "decide_probs",
    "judge",
)
SHOWN_PROBLEMS = 8


@dataclass(frozen=True)
class Record:
    """A valid record: a context with the filled value of its schema.

    line, offset: its place in the file. context: as rendered. lengths: of every array instance, by pointer.
    leaves: every leaf of the value with its array indices, by concrete pointer, in leaf order.
    """

    line: int
    offset: int
    uid: str
    split: str
    doc_id: str
    context: str
    plan: FillPlan
    value: Mapping[str, Any]
    lengths: Mapping[str, int]
    leaves: Mapping[str, tuple[FieldPlan, tuple[int, ...]]]
    annotations: Annotations = field(default_factory=Annotations)


@dataclass(frozen=True)
class DecisionRecord:
    """A valid decision record: a state with labelled questions. skipped: questions that cannot train."""

    line: int
    offset: int
    uid: str
    split: str
    doc_id: str
    context: str
    questions: tuple[Question, ...]
    skipped: int


@dataclass(frozen=True)
class Reject:
    """A line that is no valid record, with the reason; uid is None where none could be read."""

    line: int
    offset: int
    uid: str | None
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


Line = Record | DecisionRecord | Reject


def read_records(path: str | Path, offset: int = 0, first_line: int = 1) -> Iterator[Line]:
    """Every complete line of a records file from a byte offset: a record, or a Reject with the reason.

    Which lines are complete is said at `raw_lines`. A uid that an accepted record already has is refused.
    """
    schemas = Schemas()
    seen: set[str] = set()
    for raw in raw_lines(path, offset, first_line):
        line = parse_line(raw, schemas)
        if not isinstance(line, Reject):
            if line.uid in seen:
                line = Reject(line.line, line.offset, line.uid, duplicate_uid(line.uid))
            else:
                seen.add(line.uid)
        yield line


def duplicate_uid(uid: str) -> str:
    """The reason to refuse a record whose uid an earlier record has."""
    return f"/uid: {uid!r} is the uid of an earlier record"


def parse_line(raw: RawLine, schemas: Schemas) -> Line:
    """One line to a record, or to a Reject that lists its problems; uniqueness of uids is not checked here."""
    uid: str | None = None
    try:
        body = _json_object(raw)
        uid = body["uid"] if isinstance(body.get("uid"), str) else None
        if "questions" in body and "schema" not in body:
            return _decision_record(raw, body, schemas)
        return _record(raw, body, schemas)
    except _RefusedError as refusal:
        return Reject(raw.number, raw.offset, uid, _listed(refusal.problems))


class _RefusedError(Exception):
    def __init__(self, problems: list[Problem]):
        super().__init__()
        self.problems = problems


def _refuse(loc: str, msg: str) -> NoReturn:
    raise _RefusedError([Problem(loc, msg)])


def _listed(problems: list[Problem]) -> str:
    text = "; ".join(str(problem) for problem in problems[:SHOWN_PROBLEMS])
    more = len(problems) - SHOWN_PROBLEMS
    return f"{text}; and {more} more problems" if more > 0 else text


def _json_object(raw: RawLine) -> dict[str, Any]:
    if raw.data is None:
        _refuse("", f"the line is longer than {MAX_LINE_BYTES >> 20} MiB; split the record")
    data = raw.data.removeprefix(b"\xef\xbb\xbf") if raw.number == 1 else raw.data
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        _refuse("", f"not UTF-8 at byte {raw.offset + error.start} of the file; convert the file to UTF-8")
    try:
        body = json.loads(text, object_pairs_hook=unique_keys, parse_constant=refuse_constant, parse_float=finite)
        if "\\u" in text:
            json.dumps(body, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        _refuse("", f"not JSON: {error.msg} at character {error.pos}")
    except UnicodeEncodeError:
        _refuse("", "a string holds half of a surrogate pair; write the character whole")
    except (ValueError, RecursionError) as error:
        _refuse("", f"not JSON that can be read: {error}")
    if not isinstance(body, dict):
        _refuse("", f"a record is a JSON object, not {_json_type(body)}")
    return body


def _json_type(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def _record(raw: RawLine, body: dict[str, Any], schemas: Schemas) -> Record:
    missing = [key for key in REQUIRED_KEYS if key not in body]
    if missing:
        raise _RefusedError([Problem(f"/{key}", "the key is missing") for key in missing])
    problems = _header_problems(body)
    if "grounds" in body:
        problems.append(Problem("/grounds", "media records need an embedding cache, which pools do not read"))
    context = _context(body["context"], "/context", problems)
    compiled = schemas.compile(body["schema"])
    problems += [Problem(f"/schema{p.loc}", p.msg) for p in compiled.problems]
    if not compiled.problems:
        problems += [Problem(f"/value{p.loc}", p.msg) for p in compiled.value_problems(body["value"])]
    if problems:
        raise _RefusedError(problems)
    assert compiled.plan is not None
    return _annotated(raw, body, context, compiled.plan)


def _annotated(raw: RawLine, body: dict[str, Any], context: str, plan: FillPlan) -> Record:
    value = body["value"]
    lengths = lengths_of(plan, value)
    leaves = {concrete(leaf.path, indices): (leaf, indices) for leaf, indices in leaf_instances(plan, lengths)}
    annotations, problems = read_annotations(body, value, leaves, len(context))
    if problems:
        raise _RefusedError(problems)
    return Record(
        line=raw.number,
        offset=raw.offset,
        uid=body["uid"],
        split=body["split"],
        doc_id=body.get("doc_id") or body["uid"],
        context=context,
        plan=plan,
        value=value,
        lengths=lengths,
        leaves=leaves,
        annotations=annotations,
    )


def _decision_record(raw: RawLine, body: dict[str, Any], schemas: Schemas) -> DecisionRecord:
    missing = [key for key in ("uid", "state") if key not in body]
    if missing:
        raise _RefusedError([Problem(f"/{key}", "the key is missing") for key in missing])
    body.setdefault("split", "train")
    problems = _header_problems(body)
    context = _context(body["state"], "/state", problems)
    questions, skipped, more = read_questions(body["questions"], schemas)
    problems += more
    if not problems and not questions:
        problems.append(Problem("/questions", "no question has a label that fits its options"))
    if problems:
        raise _RefusedError(problems)
    return DecisionRecord(
        line=raw.number,
        offset=raw.offset,
        uid=body["uid"],
        split=body["split"],
        doc_id=body.get("doc_id") or body["uid"],
        context=context,
        questions=questions,
        skipped=skipped,
    )


def _header_problems(body: dict[str, Any]) -> list[Problem]:
    problems = []
    if not isinstance(body["uid"], str) or not body["uid"]:
        problems.append(Problem("/uid", "must be a string that is not empty"))
    if body["split"] not in SPLITS:
        problems.append(Problem("/split", f"{body['split']!r} is none of {', '.join(SPLITS)}"))
    if not isinstance(body.get("doc_id", ""), str):
        problems.append(Problem("/doc_id", "must be a string"))
    for key in body.keys() - KNOWN_KEYS:
        if near := difflib.get_close_matches(key, KNOWN_KEYS, n=1, cutoff=0.75):
            problems.append(Problem(f"/{key}", f"is read by nothing; did you mean {near[0]}?"))
    return problems


def _context(context: Any, loc: str, problems: list[Problem]) -> str:
    try:
        text = render_context(context)
    except RequestError as error:
        problems += [Problem(f"{loc}{p.loc.removeprefix('/context')}", p.msg) for p in error.problems]
        return ""
    if not text.strip():
        problems.append(Problem(loc, "the context is empty"))
    return text
