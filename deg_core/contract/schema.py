"""`compile_schema`: a JSON Schema to a fill plan, or every problem that keeps it from being one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from jsonschema.protocols import Validator

from deg_core.contract import choices, leaves
from deg_core.contract.document import plain_copy
from deg_core.contract.drafts import draft_of, id_keyword_of, metaschema_problems
from deg_core.contract.errors import Problem, SchemaError
from deg_core.contract.fingerprints import plan_fingerprint
from deg_core.contract.keywords import (
    BY_TYPE,
    COMBINATORS,
    LEAF_TYPES,
    SUBSCHEMA_KEYWORDS,
    refusal,
)
from deg_core.contract.plan import ITEM, ArrayPlan, FieldPlan, FillPlan, Path
from deg_core.contract.pointer import escape
from deg_core.contract.refs import Place, RefError, follow, prefixes

MAX_DEPTH = 64
MAX_FIELDS = 20_000
MAX_PLACES = 100_000
MAX_PROBLEMS = 1_000


def compile_schema(schema: Mapping[str, Any]) -> FillPlan:
    """The fill plan of a JSON Schema (contract sections 3 to 6). Pure: the input is never changed.

    Raises SchemaError with every problem found, in document order, each with its place in the schema.
    """
    document = plain_copy(schema)
    draft = draft_of(document)
    invalid = metaschema_problems(document, draft)
    compiler = _Compiler(document, draft, {problem.loc for problem in invalid})
    for problem in invalid:
        compiler.report(problem.loc, problem.msg)
    try:
        compiler.compile_root()
    except _LimitError as stop:
        compiler.problems = [*compiler.problems, Problem(stop.loc, stop.msg)]
    if compiler.problems:
        raise SchemaError(compiler.problems)
    fields, arrays = tuple(compiler.fields), tuple(compiler.arrays)
    return FillPlan(fields, arrays, document, plan_fingerprint(fields, arrays), tuple(compiler.order))


class _LimitError(Exception):
    """A bound of the compiler's work was reached."""

    def __init__(self, loc: str, msg: str):
        self.loc, self.msg = loc, msg
        super().__init__(msg)


@dataclass(frozen=True)
class _Context:
    """Where a schema stands in the value.

    required: every enclosing object up to the nearest item or the root requires the key. omit_path: the
    nearest enclosing object that may be left out. active: locations being compiled. generate,
    max_tokens: from the array whose items these are. null_branch: the other branch is null.
    """

    path: Path = ()
    depth: int = 0
    required: bool = True
    omit_path: Path = ()
    active: frozenset[str] = frozenset()
    annotations: Mapping[str, str] = field(default_factory=dict)
    generate: bool = False
    max_tokens: int | None = None
    null_branch: bool = False


class _Compiler:
    def __init__(self, document: dict[str, Any], draft: type[Validator], invalid: set[str]):
        self.document = document
        self.draft = draft
        self.problems: list[Problem] = []
        self.fields: list[FieldPlan] = []
        self.arrays: list[ArrayPlan] = []
        self.order: list[Path] = []
        self._reported: set[Problem] = set()
        self._places = 0
        self._invalid = invalid
        self._around_invalid = {prefix for loc in invalid for prefix in prefixes(loc)}

    def report(self, loc: str, msg: str) -> None:
        problem = Problem(loc, msg)
        if problem in self._reported:
            return
        if len(self.problems) >= MAX_PROBLEMS:
            raise _LimitError("", f"more than {MAX_PROBLEMS:,} problems; these are the first")
        self._reported.add(problem)
        self.problems.append(problem)

    def compile_root(self) -> None:
        root = Place(self.document, "", id_keyword=id_keyword_of(self.draft))
        if "" in self._invalid:
            return
        try:
            target = follow(root, self.document, frozenset())
        except RefError as error:
            self.report(error.loc, error.msg)
            return
        kind = target.place.schema.get("type") if isinstance(target.place.schema, dict) else None
        if kind not in ("object", ["object"]):
            self.report("/type" if "type" in self.document else "", "the root is an object: write type: object")
        if kind is not None or (isinstance(target.place.schema, dict) and "properties" in target.place.schema):
            self.compile(root, _Context())

    def compile(self, place: Place, context: _Context) -> None:
        """Compile the schema at a place, whatever it is."""
        self._places += 1
        if context.depth > MAX_DEPTH:
            raise _LimitError(place.loc, f"nested deeper than {MAX_DEPTH} levels; flatten the schema")
        if self._places > MAX_PLACES or len(self.fields) > MAX_FIELDS:
            raise _LimitError(place.loc, f"more than {MAX_FIELDS:,} fields; split the schema into several requests")
        if place.loc in self._invalid:
            return
        try:
            target = follow(place, self.document, context.active)
        except RefError as error:
            self.report(error.loc, error.msg)
            return
        place = target.place
        context = replace(
            context,
            annotations={**target.annotations, **context.annotations},
            active=context.active.union(target.visited),
        )
        if place.loc in self._invalid:
            return
        if not isinstance(place.schema, dict):
            self.report(place.loc, f"{str(place.schema).lower()} in place of a schema: write the type of the value")
        elif self._is_broken(place):
            self._compile_children(place, context)
        elif any(key in place.schema for key in COMBINATORS):
            self._compile_branches(place, context)
        else:
            self._compile_typed(place, context)

    def _is_broken(self, place: Place) -> bool:
        """Whether a keyword of the schema itself is no valid JSON Schema (reported already)."""
        for keyword in place.schema:
            loc = f"{place.loc}/{escape(keyword)}"
            if loc in self._invalid or (keyword not in SUBSCHEMA_KEYWORDS and loc in self._around_invalid):
                return True
        return False

    def _compile_children(self, place: Place, context: _Context) -> None:
        """Look for more problems below a schema that is broken itself."""
        properties = place.schema.get("properties")
        if isinstance(properties, dict):
            for name in properties:
                below = _Context((*context.path, name), context.depth + 1, active=context.active)
                self.compile(place.child("properties", name), below)
        if isinstance(place.schema.get("items"), dict):
            below = _Context((*context.path, ITEM), context.depth + 1, active=context.active)
            self.compile(place.child("items"), below)

    def _compile_branches(self, place: Place, context: _Context) -> None:
        """anyOf and oneOf: the nullable form, or a choice between const and enum branches."""
        keyword = next(key for key in COMBINATORS if key in place.schema)
        loc = f"{place.loc}/{keyword}"
        for sibling, value in place.schema.items():
            if sibling not in (keyword, "type", *place.annotations) and not (
                sibling == "x-generate" and value is False
            ):
                self.report(f"{place.loc}/{escape(sibling)}", f"{sibling} beside {keyword}: move it into the branch")
        try:
            targets = [
                follow(place.child(keyword, position), self.document, context.active)
                for position in range(len(place.schema[keyword]))
            ]
        except RefError as error:
            self.report(error.loc, error.msg)
            return
        branches = [target.place for target in targets]
        if any(branch.loc in self._invalid or self._is_bad_branch(branch) for branch in branches):
            return
        nulls = [choices.is_null(branch.schema) for branch in branches]
        constants = [choices.is_constant(branch.schema) for branch in branches]
        annotations = {**_annotations_of(place.schema), **context.annotations}
        context = replace(context, annotations=annotations)
        if len(branches) == 2 and sum(nulls) == 1 and "const" not in branches[nulls.index(False)].schema:
            self._compile_nullable(place, keyword, nulls.index(False), branches[nulls.index(False)], context)
        elif all(map(any, zip(nulls, constants, strict=True))) and any(constants):
            described = [
                replace(b, schema={**b.schema, **t.annotations}) for b, t in zip(branches, targets, strict=True)
            ]
            self._compile_choice(place, loc, described, context)
        else:
            self.report(
                loc, f"{keyword} is either [X, {{type: null}}] or a list of const and enum branches; choose one X"
            )

    def _is_bad_branch(self, branch: Place) -> bool:
        if isinstance(branch.schema, dict):
            return self._is_broken(branch)
        self.report(branch.loc, f"{str(branch.schema).lower()} in place of a schema: write the type of the value")
        return True

    def _compile_nullable(self, place: Place, keyword: str, position: int, other: Place, context: _Context) -> None:
        if "type" in place.schema:
            self.report(f"{place.loc}/type", f"type beside {keyword}: move it into the branch")
        if context.null_branch:
            self.report(f"{place.loc}/{keyword}", "null is a branch twice; remove the outer one")
        if keyword == "oneOf" and choices.admits_null(other.schema):
            self.report(f"{place.loc}/oneOf", "null meets both branches, which oneOf forbids; use anyOf")
        self.compile(place.child(keyword, position), replace(context, null_branch=True))

    def _compile_choice(self, place: Place, loc: str, branches: list[Place], context: _Context) -> None:
        options = [option for branch in branches for option in choices.branch_options(branch, self.report)]
        types = place.schema.get("type", [])
        types = [types] if isinstance(types, str) else types
        for value, _ in options:
            if types and not any(choices.has_type(value, name) for name in types):
                self.report(f"{place.loc}/type", f"{choices.show(value)} is not of type {', '.join(types)}")
        if context.null_branch and all(value is not None for value, _ in options):
            options.append((None, None))
        choices.check_options([value for value, _ in options], loc, self.report)
        if context.generate:
            self.report(loc, "x-generate applies to an array of plain strings, not of choices")
        self._add(leaves.choice_field(self._leaf(place, "", False, context), options))

    def _compile_typed(self, place: Place, context: _Context) -> None:
        schema = place.schema
        context = replace(context, annotations={**_annotations_of(schema), **context.annotations})
        kind, nullable = self._type_of(place)
        if kind == "object" or kind == "array":
            if nullable or context.null_branch:
                self.report(place.loc, f"a nullable {kind} is not supported: make the key optional instead")
            if "enum" in schema:
                self.report(f"{place.loc}/enum", f"enum does not apply to type {kind}; list scalars without a type")
            (self._compile_object if kind == "object" else self._compile_array)(place, context)
        elif kind in LEAF_TYPES or (kind == "" and "enum" in schema):
            self._add(leaves.compile_leaf(self._leaf(place, kind, nullable, context), self.report))
        elif kind is not None:
            self._check_keywords(place, None)
            if "const" not in schema:
                self.report(place.loc, _missing_type(schema))

    def _type_of(self, place: Place) -> tuple[str | None, bool]:
        """The non-null type ("" when none is named) and whether null is one too; None after a report."""
        named = place.schema.get("type", "")
        names = [named] if isinstance(named, str) else list(named)
        others = [name for name in names if name != "null"]
        nullable = len(others) < len(names)
        if len(others) == 1:
            return others[0], nullable
        if not others and nullable:
            self.report(f"{place.loc}/type", "type null alone has nothing to fill; name the other type")
        else:
            self.report(f"{place.loc}/type", f'union {names} is not supported: write one type, or [X, "null"]')
        return None, nullable

    def _leaf(self, place: Place, kind: str, nullable: bool, context: _Context) -> leaves.Leaf:
        return leaves.Leaf(
            path=context.path,
            schema=place.schema,
            loc=place.loc,
            ignored=place.annotations,
            json_type=kind,
            draft=self.draft,
            nullable=nullable,
            null_branch=context.null_branch,
            required=context.required,
            omit_path=context.omit_path,
            annotations=context.annotations,
            generate=context.generate,
            max_tokens=context.max_tokens,
        )

    def _add(self, built: FieldPlan) -> None:
        self.order.append(built.path)
        self.fields.append(built)

    def _check_keywords(self, place: Place, kind: str | None) -> None:
        """Report keywords that a type (None: an unknown one) does not have, and misplaced extensions."""
        own = BY_TYPE[kind] if kind else frozenset().union(*BY_TYPE.values())
        extensions = ("x-generate", "x-max-tokens") if kind == "array" else ("x-generate",)
        for keyword in place.schema:
            if keyword not in place.annotations and keyword not in own and keyword not in ("type", "enum", *extensions):
                self.report(
                    f"{place.loc}/{escape(keyword)}", refusal(keyword, f"type {kind}" if kind else "this schema")
                )
        flag = place.schema.get("x-generate", False)
        leaves.check_generate_flag(flag, f"{place.loc}/x-generate", self.report)
        if flag is True and kind == "object":
            self.report(
                f"{place.loc}/x-generate", "x-generate applies to a string or an array of strings, not to an object"
            )

    def _compile_object(self, place: Place, context: _Context) -> None:
        schema = place.schema
        self._check_keywords(place, "object")
        if context.generate:
            self.report(place.loc, "x-generate applies to an array of plain strings, not of objects")
        if context.path:
            self.order.append(context.path)
        properties, required = schema.get("properties", {}), set(schema.get("required", ()))
        for position, name in enumerate(schema.get("required", ())):
            if name not in properties:
                self.report(
                    f"{place.loc}/required/{position}", f"{name[:80]!r} is required but is none of the properties"
                )
        if not isinstance(schema.get("additionalProperties", True), bool):
            self.report(f"{place.loc}/additionalProperties", "a schema here leaves key names open; write true or false")
        for name in properties:
            here = name in required
            path = (*context.path, name)
            below = _Context(
                path=path,
                depth=context.depth + 1,
                required=context.required and here,
                omit_path=context.omit_path if here else path,
                active=context.active,
            )
            self.compile(place.child("properties", name), below)

    def _compile_array(self, place: Place, context: _Context) -> None:
        schema = place.schema
        self._check_keywords(place, "array")
        if context.generate:
            self.report(place.loc, "x-generate applies to an array of plain strings, not of arrays")
        generate = schema.get("x-generate") is True
        if "x-max-tokens" in schema:
            leaves.check_max_tokens(schema["x-max-tokens"], f"{place.loc}/x-max-tokens", generate, self.report)
        least, most = int(schema.get("minItems", 0)), schema.get("maxItems")
        if most is not None and least > most:
            self.report(place.loc, "minItems is larger than maxItems; no array can meet both")
        self.order.append(context.path)
        position, first_field = len(self.arrays), len(self.fields)
        array = ArrayPlan(
            path=context.path,
            min_items=least,
            max_items=None if most is None else int(most),
            unique_items=schema.get("uniqueItems", False),
            required=context.required,
            title=context.annotations.get("title"),
            description=context.annotations.get("description"),
        )
        self.arrays.append(array)
        items = schema.get("items")
        if isinstance(items, list):
            self.report(f"{place.loc}/items", "tuple items are not supported: every item of an array has one schema")
            return
        if items is None:
            self.report(place.loc, "an array needs items: the schema of every item")
            return
        below = _Context(
            path=(*context.path, ITEM),
            depth=context.depth + 1,
            active=context.active,
            generate=generate,
            max_tokens=schema.get("x-max-tokens"),
        )
        self.compile(place.child("items"), below)
        item_paths = tuple(built.path for built in self.fields[first_field:])
        self.arrays[position] = replace(array, item_paths=item_paths)


def _annotations_of(schema: Mapping[str, Any]) -> dict[str, str]:
    return {key: schema[key] for key in ("title", "description") if key in schema}


def _missing_type(schema: Mapping[str, Any]) -> str:
    if "properties" in schema:
        return "add type: object"
    return "add type: array" if "items" in schema else "name the type of the value (string, integer, object ...)"
