"""What `deg bench fill` measures, on a tiny model; no time is judged."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from deg_core.artifacts import Home
from deg_core.evaluation import rivals, speed
from deg_core.model.model import Model, load_model
from deg_core.model.projection import PACKED_ROWS
from tests.conftest import REPOSITORY
from tests.model import tiny


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    root = tmp_path_factory.mktemp("speed")
    base = root / "base"
    tiny.llama_model().save_pretrained(base)
    tiny.write_tokenizer(base)
    _, _, folder = tiny.write_checkpoint(root / "checkpoint", base)
    return load_model(folder, device="cpu", dtype="float32", home=Home(root / "home"))


def test_texts_have_about_the_length_that_is_asked_for(model: Model) -> None:
    found = speed.texts(model, 3, 2000)
    assert len(set(found)) == 3 and found == speed.texts(model, 3, 2000)
    assert all(1650 < len(model.tokens.encode_context(text)) < 2350 for text in found)


def test_operations_are_those_of_the_products(model: Model) -> None:
    inputs = [w for name, w in model.backbone.weights.items() if name in model.backbone.family.targets()]
    one, two = (speed.operations(model, [length], 0) for length in (1, 2))
    products = 2 * sum(weight.numel() for weight in inputs)
    shape = model.backbone.shape
    attention = 4 * shape.layers * shape.heads * shape.head_dim
    assert (one, two) == (products + attention, 2 * products + 3 * attention)
    assert speed.operations(model, [1], 10) == products + 11 * attention


def test_every_table_has_its_rows(model: Model) -> None:
    with torch.inference_mode():
        together = list(speed.together(model, (1, 2), 2))
        fields = list(speed.by_fields(model, (2, 20), 1))
    assert [row.name for row in together] == ["1 together", "2 together"]
    assert all(1 <= float(row.figures["computed / real tokens"]) < 1 + PACKED_ROWS / 100 for row in together)
    assert "forward" not in vars(model.backbone)
    assert [row.name for row in fields] == ["2 fields", "20 fields"]
    assert [row.name for row in speed.utilisation(model, 1)] == ["product peak", "trunk", "forks"]


def test_rivals_and_ours_stand_in_one_table(model: Model, tmp_path: Path) -> None:
    found = [rival for rival in rivals.rivals_of(model, tmp_path) if not isinstance(rival, rivals.LlamaCpp)]
    baseline, encoder = found
    texts = speed.texts(model, 2, 2000)
    rows = rivals.compare({"deg, auto": model}, [baseline], texts)
    assert [row.name for row in rows] == ["deg, auto", "llguidance, float32"]
    ours, theirs = (row.figures for row in rows)
    assert ours["deg, auto is faster"] == 1.0
    assert theirs["written tokens"] > ours["written tokens"] == 0
    assert set(rivals.ratios(rows)) == {"ratio_llguidance", "ratio_llguidance_fastest"}
    assert "DeBERTa" in encoder.name


def test_a_script_is_written_with_the_same_work(model: Model) -> None:
    """As many tokens, and what the script says, whatever the weights think."""
    (text,) = speed.texts(model, 1, 2000)
    first = rivals.Constrained(model.base_folder, "float32")
    first.answer(text)
    script = list(first.written[text])
    again = rivals.Constrained(model.base_folder, "float32", {text: script})
    with torch.no_grad():
        again._baseline._network.lm_head.weight.neg_()
    assert again.answer(text) == len(script)
    assert list(again.written[text]) == script
    assert list(again.answer(text) for _ in range(2)) == [len(script)] * 2


def test_a_shape_of_random_weights_fills_beside_its_baseline(tiny_base: Path, model: Model) -> None:
    """The tiny base shares the shape's tokenizer, so it can write the script."""
    (text,) = speed.texts(model, 1, 2000)
    writer = rivals.Constrained(tiny_base, "float32")
    writer.answer(text)
    rows = rivals.compare_shape("qwen3.5-tiny", ["float32"], writer.written, Home(REPOSITORY / "deg-home"))
    assert [row.name for row in rows] == ["deg, float32", "llguidance, float32"]
    assert rows[1].figures["written tokens"] == len(writer.written[text])
