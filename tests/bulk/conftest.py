import json

import pytest

from deg_core.artifacts import Home


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home")


@pytest.fixture
def checkpoint(tmp_path):
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    (folder / "weights").write_bytes(b"weights")
    return folder


@pytest.fixture
def write_corpus(tmp_path):
    """Write texts as JSON Lines; a bytes item is written as the line itself."""

    def write(texts, name="corpus.jsonl"):
        path = tmp_path / name
        lines = [
            text if isinstance(text, bytes) else json.dumps({"doc_id": f"d{number}", "text": text}).encode()
            for number, text in enumerate(texts)
        ]
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return path

    return write
