import pyarrow.parquet as pq
import pytest

from deg_core.artifacts import Home, build_artifact
from deg_core.evaluation import tables


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home")


@pytest.fixture
def add_eval(home):
    """Write a finished evaluation of these rows and documents; each call is a newer one."""

    def add(name, rows, documents=(), created=None):
        def build(folder, manifest):
            pq.write_table(tables.full_rows([{**ROW, "run": name, **row} for row in rows]), folder / "rows.parquet")
            pq.write_table(tables.documents(documents), folder / "documents.parquet")
            manifest.figures = {"decide_accuracy": 0.5}
            return [folder / "rows.parquet", folder / "documents.parquet"]

        manifest = build_artifact(
            home, "evals", kind="eval", name=name, code_version="1", settings={}, inputs={}, build=build
        )
        if created:
            path = manifest.path / "manifest.json"
            path.write_text(path.read_text().replace(manifest.created, created))
        return manifest

    return add


ROW = dict.fromkeys(tables.ROW_COLUMNS + tables.DETAIL_COLUMNS) | {
    "system": "deg",
    "source": "own",
    "uid": "u",
    "pointer": "/a",
    "field": "/a",
    "mode": "decide.choice",
    "gold": "x",
    "predicted": "x",
    "correct": True,
    "gold_null": False,
    "predicted_null": False,
}
