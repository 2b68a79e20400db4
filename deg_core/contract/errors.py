"""Errors of the contract: what a caller may catch, each with the place of the problem."""

from __future__ import annotations

from dataclasses import dataclass


class DegError(Exception):
    """Base of every error that this library raises on purpose."""


@dataclass(frozen=True)
class Problem:
    """One problem of an input.

    loc: RFC 6901 JSON Pointer into the input ("" is its root).
    msg: what is wrong and what to write instead.
    """

    loc: str
    msg: str

    def __str__(self) -> str:
        return f"{self.loc or '(root)'}: {self.msg}"


class ProblemsError(DegError):
    """An input with one or more located problems."""

    def __init__(self, problems: list[Problem]):
        self.problems = list(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class SchemaError(ProblemsError):
    """The JSON Schema cannot be compiled (contract section 5); every problem is listed."""


class RequestError(ProblemsError):
    """An unknown option or an option value out of range (contract section 9)."""


class FillError(DegError):
    """A value cannot be filled without making it up (contract section 4).

    pointer: concrete JSON Pointer of the value. reason: why there is none.
    """

    def __init__(self, pointer: str, reason: str):
        self.pointer = pointer
        self.reason = reason
        super().__init__(f"{pointer or '(root)'}: {reason}")


class InputError(DegError):
    """A file, folder or setting that cannot be used; says what to do next (exit code 2)."""
