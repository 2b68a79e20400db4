"""What a kind of document is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from deg_core.generator.draw import Draw
from deg_core.generator.schema import Node
from deg_core.generator.text import Part
from deg_core.generator.vocabulary import Phrases


@dataclass(frozen=True)
class Kind:
    """A kind of document.

    layouts: templates of whole documents. compose: draws the facts and returns the templates' slots.
    variants: schema name -> root object; each asks for a part of the facts in its own words.
    """

    name: str
    layouts: Phrases
    compose: Callable[[Draw], dict[str, Part]]
    variants: Mapping[str, Node]

    def layout_id(self, layout: str) -> str:
        """The stable id of one of its layouts."""
        every = self.layouts.seen + self.layouts.held
        return f"{self.name}-{every.index(layout) + 1}"
