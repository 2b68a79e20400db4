"""The table of keywords is current and leaves no keyword of a draft out."""

from pathlib import Path

from deg_core.contract.drafts import DRAFTS, _flat
from deg_core.contract.table import keyword_table

DOCUMENT = Path(__file__).parents[2] / "docs" / "keywords.md"


def test_the_document_is_current():
    assert DOCUMENT.read_text() == keyword_table(), "run python -m deg_core.contract.table > docs/keywords.md"


def test_every_keyword_of_every_draft_is_in_it():
    table = keyword_table()
    for draft in DRAFTS.values():
        metaschema = _flat(draft.META_SCHEMA) if "$vocabulary" in draft.META_SCHEMA else draft.META_SCHEMA
        missing = {keyword for keyword in metaschema["properties"] if f"`{keyword}`" not in table}
        assert missing <= {"$vocabulary"}  # of metaschemas, which are no schemas of values
