from pathlib import Path

import pytest

import deg_core
from deg_core.bulk.documents import Document
from deg_core.bulk.filler import ModelFiller, model_filler
from deg_core.bulk.job import FillJob
from deg_core.bulk.shards import fill_documents
from deg_core.config import FillOptions
from deg_core.contract.errors import FillError
from tests.bulk.fake_filler import SCHEMA, respond


@pytest.fixture
def runtime(monkeypatch):
    """A stand-in for the runtime that records what it is asked."""
    calls = []

    def load_model(path, dtype, generate, home):
        calls.append(("load", path, dtype, generate, home.root))
        return "model"

    def fill_many(model, jobs):
        calls.append(("fill", model, [job["options"] for job in jobs]))
        assert all(job["schema"] == SCHEMA for job in jobs)
        contexts = [job["context"] for job in jobs]
        return [FillError("/total", "none") if text == "bad" else respond(text, "p") for text in contexts]

    monkeypatch.setitem(vars(deg_core), "load_model", load_model)
    monkeypatch.setitem(vars(deg_core), "fill_many", fill_many)
    return calls


def test_model_filler_hands_jobs_to_the_runtime(runtime, tmp_path):
    options = FillOptions(date_order="DMY")
    job = FillJob(
        Path("c.jsonl"),
        "text",
        "id",
        SCHEMA,
        tmp_path,
        tmp_path / "home",
        options,
        "int8",
        "base",
        8,
        tmp_path,
        "k",
        model_filler,
    )
    filled = model_filler(job)(["one text", "bad", "two"])
    assert [type(answer.response) for answer in filled] == [dict, FillError, dict]
    assert filled[0].ms == filled[2].ms >= 0
    assert runtime[0] == ("load", tmp_path, "int8", "base", tmp_path / "home")
    assert runtime[1] == ("fill", "model", [options.model_dump()] * 3)


def test_rows_keep_the_order_of_documents(runtime):
    documents = [
        Document(0, "a", None, "empty document", 0),
        Document(1, "b", "bad", None, 1),
        Document(2, "c", "good text", None, 2),
    ]
    rows = fill_documents(ModelFiller("model", SCHEMA, {}), documents)
    assert [(row.doc_id, row.error) for row in rows] == [("a", "empty document"), ("b", "/total: none"), ("c", None)]
    assert rows[0].ms is None and rows[1].response is None and rows[2].response["value"]["total"] == 9.5
    assert fill_documents(ModelFiller("model", SCHEMA, {}), documents[:1])[0].error == "empty document"
    assert len(runtime) == 1
