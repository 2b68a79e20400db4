"""fill and fill_many: read once, ask every field, write what is to be generated (contract section 7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from deg_core.artifacts import canonical
from deg_core.config import FillOptions
from deg_core.contract import (
    Counted,
    DegError,
    FieldPlan,
    FillError,
    FillPlan,
    Outcome,
    RequestError,
    Resolved,
    assemble,
    check_options,
    compile_schema,
    render_context,
    resolve,
)
from deg_core.contract.errors import Problem
from deg_core.contract.outcome import Decided
from deg_core.contract.plan import ArrayPlan
from deg_core.contract.pointer import concrete
from deg_core.contract.query import known_values
from deg_core.contract.walk import array_bounds, item_regions, leaf_instances, open_arrays
from deg_core.model.fork import MAX_COUNT, ForkTokens, tokenize_query
from deg_core.model.heads import CountLogits, SpanLogits
from deg_core.model.model import Model
from deg_core.model.network import Network, Output, Reading
from deg_core.model.queries import DocumentQueries
from deg_core.model.rows import Rows
from deg_core.runtime.anchors import find_items, pick_anchors
from deg_core.runtime.generate import Writer, write_all
from deg_core.runtime.spans import Document, extract, log_softmax

READ_TOKENS = 8192
JOB_KEYS = ("context", "schema", "options")
Places = tuple[int, ...]


@dataclass
class Task:
    """One job on its way.

    queries: makes its forks. reading, context: where its trunk is. lengths, outcomes: what was found so far, by
    pointer.
    """

    plan: FillPlan
    options: FillOptions
    document: Document
    queries: DocumentQueries
    reading: Reading | None = None
    context: int = 0
    prompt_tokens: int = 0
    lengths: dict[str, int] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    resolved: Resolved | None = None


@dataclass(frozen=True)
class Question:
    """A fork of a task and what its answer is for."""

    task: Task
    plan: FieldPlan | ArrayPlan
    indices: Places
    pointer: str
    fork: ForkTokens


def fill(model: Model, context: Any, schema: Mapping[str, Any], **options: Any) -> dict[str, Any]:
    """Fill a schema from a context: the response of contract section 8.

    context: a string, list or dict. options: as in section 9 (date_order, seed, ...).
    Raises SchemaError, RequestError or FillError.
    """
    result = fill_many(model, [{"context": context, "schema": schema, "options": options}])[0]
    if isinstance(result, Exception):
        raise result
    return result


def fill_many(model: Model, jobs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any] | Exception]:
    """One entry a job, in order: its response, or the error of that job alone.

    jobs: mappings with context, schema and, if wanted, options. A job's result is bitwise the same as alone.
    """
    plans: dict[str, FillPlan | DegError] = {}
    results: list[Any] = [_prepare(model, job, plans) for job in jobs]
    tasks = [task for task in results if isinstance(task, Task)]
    with torch.inference_mode():
        outcomes = {id(task): outcome for task, outcome in zip(tasks, _run(model, tasks), strict=True)}
    return [outcomes[id(result)] if isinstance(result, Task) else result for result in results]


def _prepare(model: Model, job: Mapping[str, Any], plans: dict[str, FillPlan | DegError]) -> Task | DegError:
    unknown = [
        Problem(f"/{key}", f"unknown key; a job has {', '.join(JOB_KEYS)}") for key in job if key not in JOB_KEYS
    ]
    missing = [Problem(f"/{key}", "is missing") for key in JOB_KEYS[:2] if key not in job]
    if unknown or missing:
        return RequestError(unknown + missing)
    try:
        options = check_options(job.get("options") or {})
        text = render_context(job["context"])
        plan = _compiled(job["schema"], plans)
    except DegError as error:
        return error
    document = Document(text, model.tokens.encode_context(text))
    return Task(plan, options, document, DocumentQueries(model.tokens, plan, text, document.tokens, model.layout))


def _compiled(schema: Any, plans: dict[str, FillPlan | DegError]) -> FillPlan:
    try:
        key = canonical(schema)
    except (TypeError, ValueError, RecursionError):
        return compile_schema(schema)
    if key not in plans:
        try:
            plans[key] = compile_schema(schema)
        except DegError as error:
            plans[key] = error
    plan = plans[key]
    if isinstance(plan, DegError):
        raise plan
    return plan


def _run(model: Model, tasks: list[Task]) -> list[dict[str, Any] | Exception]:
    """Run tasks together; one that fails leaves the others as they are."""
    errors: dict[int, Exception] = {}
    _read(model.network, tasks)
    going = tasks
    while going:
        questions = []
        for task in going:
            with _Catch(task, errors):
                questions += list(_next_questions(task))
        if not questions:
            break
        _answer(model, questions, errors)
        going = [task for task in going if id(task) not in errors]
    for task in tasks:
        if id(task) not in errors:
            with _Catch(task, errors):
                task.resolved = resolve(task.plan, task.outcomes, task.lengths)
    _generate(model, [task for task in tasks if id(task) not in errors], errors)
    results: list[dict[str, Any] | Exception] = []
    for task in tasks:
        response = None
        if id(task) not in errors:
            with _Catch(task, errors):
                response = assemble(
                    task.plan, task.outcomes, task.lengths, model=model.name, prompt_tokens=task.prompt_tokens
                )
        results.append(errors[id(task)] if response is None else response)
    return results


class _Catch:
    """Keeps a FillError as the outcome of its task."""

    def __init__(self, task: Task, errors: dict[int, Exception]):
        self._task, self._errors = task, errors

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type | None, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, FillError):
            self._errors[id(self._task)] = error
            return True
        return False


def _read(network: Network, tasks: list[Task]) -> None:
    """Read every different context once, several in one batch."""
    places: dict[str, tuple[Reading, int]] = {}
    different = list({task.document.text: task.document for task in tasks}.values())
    for batch in _context_batches(different):
        reading = network.read([document.tokens.ids for document in batch], exact=True)
        places |= {document.text: (reading, index) for index, document in enumerate(batch)}
    template = len(network.tokens.prefix_ids) + len(network.tokens.suffix_ids)
    for task in tasks:
        task.reading, task.context = places[task.document.text]
        task.prompt_tokens += len(task.document.tokens) + template


def _context_batches(documents: list[Document]) -> Iterator[list[Document]]:
    batch: list[Document] = []
    size = 0
    for document in documents:
        if batch and size + len(document.tokens) > READ_TOKENS:
            yield batch
            batch, size = [], 0
        batch.append(document)
        size += len(document.tokens)
    if batch:
        yield batch


def _next_questions(task: Task) -> Iterator[Question]:
    """Every query that can be asked now and was not: arrays of known place, leaves of known items."""
    for array, indices in open_arrays(task.plan, task.lengths):
        if not task.queries.by_place(array.path):
            array_bounds(array, task.options.max_items, MAX_COUNT)  # refused before anything is asked
        yield Question(task, array, indices, concrete(array.path, indices), task.queries.count(array, indices))
    for plan, indices in leaf_instances(task.plan, task.lengths):
        pointer = concrete(plan.path, indices)
        if plan.mode != "generate" and pointer not in task.outcomes:
            yield Question(task, plan, indices, pointer, task.queries.leaf(plan, indices))


def _answer(model: Model, questions: list[Question], errors: dict[int, Exception]) -> None:
    by_reading: dict[int, list[Question]] = {}
    for question in questions:
        by_reading.setdefault(id(question.task.reading), []).append(question)
    for group in by_reading.values():
        reading = group[0].task.reading
        assert reading is not None
        outputs = model.network.answer(reading, [(q.task.context, q.fork) for q in group], exact=True)
        for question, output in zip(group, outputs, strict=True):
            question.task.prompt_tokens += len(question.fork.ids)
            with _Catch(question.task, errors):
                _settle(model, question, output)


def _settle(model: Model, question: Question, output: Output) -> None:
    """Turn raw logits into an outcome of the task."""
    task, plan = question.task, question.plan
    if isinstance(plan, ArrayPlan):
        assert isinstance(output, CountLogits)
        _settle_array(question, plan, output)
        return
    temperature = model.network.heads.temperature(plan.kind)
    if isinstance(output, SpanLogits):
        task.outcomes[question.pointer] = extract(plan, task.document, output, temperature, task.options)
    else:
        assert isinstance(output, torch.Tensor)
        probabilities = np.exp(log_softmax(_numpy(output), temperature))
        task.outcomes[question.pointer] = Decided(tuple(probabilities.tolist()))


def _settle_array(question: Question, array: ArrayPlan, logits: CountLogits) -> None:
    """The length of an array and, when copied values can say where its items are, their regions."""
    task, queries = question.task, question.task.queries
    items, found = _find_items(task, array, _numpy(logits.lengths), _numpy(logits.anchors))
    task.lengths[question.pointer] = Counted(items).items
    if queries.has_places(array) and len(found) == items:
        end = question.fork.region_end if question.fork.anchor >= 0 else len(task.document.tokens)
        queries.regions[question.pointer] = item_regions(found, end)


def _find_items(task: Task, array: ArrayPlan, lengths: np.ndarray, anchors: np.ndarray) -> tuple[int, list[int]]:
    """How many items an array has, and the tokens where they start, as far as that is known."""
    if task.queries.by_place(array.path):
        most = task.options.max_items if array.max_items is None else array.max_items
        found = find_items(anchors, lengths, array.min_items, most, task.options.array_decode)
        return len(found), found
    low, high = array_bounds(array, task.options.max_items, MAX_COUNT)
    items = low + int(np.argmax(lengths[low : high + 1]))
    return items, pick_anchors(anchors, items) if task.queries.has_places(array) else []


def _generate(model: Model, tasks: list[Task], errors: dict[int, Exception]) -> None:
    """Write every generate field of every task: one KNOWN VALUES block a task, one row a field."""
    writers: list[tuple[Task, str, Writer]] = []
    asked = [task for task in tasks if task.resolved is not None and task.resolved.to_generate]
    if model.reads_twice:
        _read(model.writer, asked)
    backbone, project = model.writer.backbone, model.writer.projector(context=False, exact=True)
    for task in asked:
        assert task.resolved is not None and task.reading is not None
        leaves = task.resolved.to_generate
        known = tokenize_query(model.tokens, "generate", "", known_values(task.resolved.known))
        headers = [task.queries.generate(leaf.field, leaf.raw_indices, leaf.indices) for leaf in leaves]
        task.prompt_tokens += len(known.ids) + sum(len(header.ids) for header in headers)
        trunk = Rows([len(known.ids)], [task.context], task.reading.states)
        _, (state,) = backbone.forward(_ids(model, known.ids), trunk, project, keep=True)
        rows = Rows([len(header.ids) for header in headers], [0] * len(headers), [state])
        ids = _ids(model, np.concatenate([header.ids for header in headers]))
        hidden, states = backbone.forward(ids, rows, project, keep=True, apart=True)
        for leaf, start, length, own in zip(leaves, rows.starts, rows.lengths, states, strict=True):
            last = hidden[start + length - 1]
            writer = Writer.of(leaf.field, leaf.pointer, task.options, state, own, last)
            writers.append((task, leaf.raw_pointer, writer))
    write_all(model.writer, [writer for _, _, writer in writers])
    for task, raw_pointer, writer in writers:
        if isinstance(writer.result, FillError):
            errors.setdefault(id(task), writer.result)
        elif writer.result is not None:
            task.outcomes[raw_pointer] = writer.result


def _ids(model: Model, ids: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(ids.astype(np.int64)).to(model.device)


def _numpy(tensor: torch.Tensor) -> np.ndarray:
    return tensor.float().cpu().numpy()
