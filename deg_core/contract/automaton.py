"""Automata that search a text by sets of states: the work is at most the text's length times their size.

A text may be complete or still being written; in the second case a search answers what may or must become
true, whatever follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import Final

END_STATE: Final = 0
MAX_CACHED_STATES: Final = 200_000
# What may follow an unfinished text, as far as an anchor can tell.
_CONTINUATIONS: Final = ("", "a", " ", "\n", "\na")
# What an anchor may see at offset 1 of a text, in place of any later offset.
_LATER: Final = ("a", "aa", "a ", "\na", "\n", "a\n", "\n\n", "a\na")


class Ending(Enum):
    """CLOSED: the text is complete. MAY, MUST: anything may follow, and an answer is yes if it may or must be."""

    CLOSED = 0
    MAY = 1
    MUST = 2

    @property
    def opposite(self) -> Ending:
        """The ending under which the negation of an answer is to be found."""
        return {Ending.MAY: Ending.MUST, Ending.MUST: Ending.MAY}.get(self, self)


@dataclass(frozen=True)
class Look:
    """A lookahead or lookbehind."""

    body: Automaton
    behind: bool
    negated: bool

    def holds(self, text: str, ending: Ending) -> list[bool]:
        """For every offset 0..len(text) whether it holds there."""
        ending = ending.opposite if self.negated else ending
        if self.behind:
            found = [step.matched for step in self.body.search(text, ending)]
        else:
            found = self.body.begins(text, ending)
        return [answer != self.negated for answer in found]


@dataclass
class State:
    """after: the states that follow. At most one condition: a character to read, an anchor or a lookaround."""

    after: tuple[int, ...] = ()
    character: re.Pattern[str] | None = None
    anchor: re.Pattern[str] | None = None
    look: Look | None = None


@dataclass(frozen=True)
class Sight:
    """What anchors and characters see at an offset: window[at] is the next character, if there is one."""

    window: str
    at: int
    ending: Ending

    @classmethod
    def of(cls, text: str, offset: int, ending: Ending) -> Sight:
        """The sight at an offset of a text."""
        ending = ending if offset + 1 >= len(text) else Ending.CLOSED
        return cls(text[max(offset - 1, 0) : offset + 2], min(offset, 1), ending)

    def passes(self, anchor: re.Pattern[str]) -> bool:
        """Whether an anchor holds."""
        if self.ending is Ending.CLOSED:
            return anchor.match(self.window, self.at) is not None
        answers = (anchor.match(self.window + more, self.at) is not None for more in _CONTINUATIONS)
        return any(answers) if self.ending is Ending.MAY else all(answers)

    def reads(self, character: re.Pattern[str]) -> bool:
        """Whether the next character is one of these."""
        return self.at < len(self.window) and character.match(self.window[self.at]) is not None


@dataclass(frozen=True)
class Step:
    """One offset of a search. matched: the end is reached here. waiting: some state needs one more character.

    after: the states behind the next character.
    """

    matched: bool
    waiting: bool
    after: frozenset[int]


@dataclass
class Automaton:
    """States, the end first; entry: where a match begins."""

    states: list[State]
    entry: int
    _steps: dict[tuple[frozenset[int], Sight, frozenset[int]], Step] = field(default_factory=dict)
    _cached: int = 0

    def search(self, text: str, ending: Ending) -> Iterator[Step]:
        """The step at every offset 0..len(text), for matches that begin anywhere."""
        looks = self._looks(text, ending)
        states = frozenset((self.entry,))
        for offset in range(len(text) + 1):
            failed = frozenset(number for number, holds in looks.items() if not holds[offset])
            step = self._step(states, Sight.of(text, offset, ending), failed)
            yield step
            states = step.after | {self.entry}

    @cached_property
    def may_begin_later(self) -> bool:
        """Whether a match may begin somewhere behind an unfinished text: not if it begins at the text's start."""
        seen, stack = {self.entry}, [self.entry]
        while stack:
            state = self.states[stack.pop()]
            if state.character is None and (state.anchor is None or any(state.anchor.match(w, 1) for w in _LATER)):
                stack.extend(set(state.after) - seen)
                seen.update(state.after)
        return any(number == END_STATE or self.states[number].character for number in seen)

    def begins(self, text: str, ending: Ending) -> list[bool]:
        """For every offset 0..len(text) whether a match begins there; found from the last offset to the first."""
        looks = self._looks(text, ending)
        before: list[list[int]] = [[] for _ in self.states]
        for number, state in enumerate(self.states):
            for after in state.after if state.character is None else ():
                before[after].append(number)
        answers = [False] * (len(text) + 1)
        ahead: set[int] = set()
        for offset in range(len(text), -1, -1):
            sight = Sight.of(text, offset, ending)
            failed = {number for number, holds in looks.items() if not holds[offset]}
            unread = offset == len(text) and ending is Ending.MAY
            good = {END_STATE} | {
                number
                for number, state in enumerate(self.states)
                if state.character and (unread or (state.after[0] in ahead and sight.reads(state.character)))
            }
            stack = list(good)
            while stack:
                for number in before[stack.pop()]:
                    if number not in good and self._passes(number, sight, failed):
                        good.add(number)
                        stack.append(number)
            answers[offset] = self.entry in good
            ahead = good
        return answers

    def _looks(self, text: str, ending: Ending) -> dict[int, list[bool]]:
        return {number: state.look.holds(text, ending) for number, state in enumerate(self.states) if state.look}

    def _passes(self, number: int, sight: Sight, failed: set[int] | frozenset[int]) -> bool:
        anchor = self.states[number].anchor
        return number not in failed and (anchor is None or sight.passes(anchor))

    def _step(self, states: frozenset[int], sight: Sight, failed: frozenset[int]) -> Step:
        key = (states, sight, failed)
        step = self._steps.get(key)
        if step is None:
            step = self._take(states, sight, failed)
            self._cached += 1 + len(states)
            if self._cached > MAX_CACHED_STATES:
                self._steps.clear()
                self._cached = 1 + len(states)
            self._steps[key] = step
        return step

    def _take(self, states: frozenset[int], sight: Sight, failed: frozenset[int]) -> Step:
        seen, stack = set(states), list(states)
        waiting, after = False, set()
        while stack:
            number = stack.pop()
            state = self.states[number]
            if state.character is not None:
                waiting = True
                if sight.reads(state.character):
                    after.add(state.after[0])
            elif self._passes(number, sight, failed):
                stack.extend(next_state for next_state in state.after if next_state not in seen)
                seen.update(state.after)
        return Step(END_STATE in seen, waiting, frozenset(after))
