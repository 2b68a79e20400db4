"""The tokenizer of the embedded base."""

from __future__ import annotations

import pytest

from deg_core.artifacts import Home
from deg_core.model.bases import EMBEDDED, base_folder
from deg_core.model.tokens import Tokens
from tests.conftest import REPOSITORY


@pytest.fixture(scope="session")
def tokens() -> Tokens:
    return Tokens.load(base_folder(EMBEDDED, Home(REPOSITORY / "deg-home")))
