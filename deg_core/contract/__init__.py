"""The contract: schema, plan, queries and response, without torch."""

from deg_core.contract.errors import DegError, FillError, InputError, Problem, RequestError, SchemaError
from deg_core.contract.outcome import Counted, Decided, Extracted, Generated, Outcome, outcome_index
from deg_core.contract.plan import ITEM, ArrayPlan, FieldPlan, FillPlan
from deg_core.contract.request import check_options, render_context
from deg_core.contract.resolve import Resolved, decided_value, resolve
from deg_core.contract.response import assemble, leaf_meta
from deg_core.contract.schema import compile_schema

__all__ = [
    "ITEM",
    "ArrayPlan",
    "Counted",
    "Decided",
    "DegError",
    "Extracted",
    "FieldPlan",
    "FillError",
    "FillPlan",
    "Generated",
    "InputError",
    "Outcome",
    "Problem",
    "RequestError",
    "Resolved",
    "SchemaError",
    "assemble",
    "check_options",
    "compile_schema",
    "decided_value",
    "leaf_meta",
    "outcome_index",
    "render_context",
    "resolve",
]
