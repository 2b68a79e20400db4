"""The champion pointer and the promotions log."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from deg_core.artifacts import Home, hash_tree
from deg_core.contract.errors import InputError
from deg_core.registry import models
from deg_core.registry.models import champion, history, list_models, log_refusal, promote, roll_back

REASON = {"reasons": ["better"]}


def events(home: Home) -> list[str]:
    return [entry["event"] for entry in history(home)]


def test_there_is_no_champion_at_first(home: Home) -> None:
    assert champion(home) is None
    assert list_models(home) == []
    with pytest.raises(InputError, match="no previous champion"):
        roll_back(home)


def test_promote_points_and_logs(home: Home, checkpoint: Any) -> None:
    a = checkpoint("a")
    assert promote(home, a, REASON, "gate") == a
    assert champion(home) == a
    (entry,) = history(home)
    assert entry["event"] == "promote" and entry["by"] == "gate" and entry["decision"] == REASON
    assert entry["checkpoint"] == str(a) and entry["content"] == hash_tree(a)
    pointer = json.loads((home.root / "models" / "champion").read_text())
    assert pointer["entry"] == entry["id"] and pointer["content"] == hash_tree(a)


def test_promoting_the_champion_changes_nothing(home: Home, checkpoint: Any) -> None:
    a = checkpoint("a")
    promote(home, a, REASON, "gate")
    before = (home.root / "models" / "champion").read_bytes()
    promote(home, a, REASON, "user")
    assert (home.root / "models" / "champion").read_bytes() == before
    assert events(home) == ["promote", "unchanged"]


def test_roll_back_goes_back_step_by_step(home: Home, checkpoint: Any) -> None:
    a, b, c = (checkpoint(name) for name in "abc")
    for folder in (a, b, c):
        promote(home, folder, REASON, "gate")
    assert roll_back(home) == b and champion(home) == b
    assert roll_back(home) == a and champion(home) == a
    with pytest.raises(InputError, match="no previous champion"):
        roll_back(home)
    promote(home, c, REASON, "user")
    assert roll_back(home) == a
    assert events(home) == ["promote"] * 3 + ["roll_back"] * 2 + ["promote", "roll_back"]


def test_roll_back_works_when_the_champion_is_gone(home: Home, checkpoint: Any) -> None:
    a, b = checkpoint("a"), checkpoint("b")
    promote(home, a, REASON, "gate")
    promote(home, b, REASON, "gate")
    shutil.rmtree(b)
    with pytest.raises(InputError, match="is gone"):
        champion(home)
    assert roll_back(home) == a and champion(home) == a


def test_roll_back_refuses_a_checkpoint_that_changed(home: Home, checkpoint: Any) -> None:
    a, b = checkpoint("a"), checkpoint("b")
    promote(home, a, REASON, "gate")
    promote(home, b, REASON, "gate")
    (a / "deg.json").write_text("{}")
    with pytest.raises(InputError, match="has changed since"):
        roll_back(home)
    assert champion(home) == b and events(home) == ["promote", "promote"]


def break_missing(folder: Path) -> None:
    shutil.rmtree(folder)


def break_meta(folder: Path) -> None:
    (folder / "deg.json").write_text("{")


def break_heads(folder: Path) -> None:
    (folder / "heads.safetensors").unlink()


def break_weights(folder: Path) -> None:
    os.truncate(folder / "heads.safetensors", (folder / "heads.safetensors").stat().st_size - 8)


@pytest.mark.parametrize("damage", [break_missing, break_meta, break_heads, break_weights])
def test_a_damaged_checkpoint_is_refused_and_nothing_changes(home: Home, checkpoint: Any, damage: Any) -> None:
    a, b = checkpoint("a"), checkpoint("b")
    promote(home, a, REASON, "gate")
    damage(b)
    with pytest.raises(InputError, match=str(b)):
        promote(home, b, REASON, "user")
    assert champion(home) == a and events(home) == ["promote"]


def test_listed_models_have_a_status(home: Home, checkpoint: Any) -> None:
    a, b, c = (checkpoint(name) for name in "abc")
    promote(home, a, REASON, "gate")
    promote(home, b, REASON, "gate")
    log_refusal(home, c, {"reasons": ["worse"]})
    log_refusal(home, a, {"reasons": ["worse now"]})
    listed = {model.checkpoint.name: model.status for model in list_models(home)}
    assert listed == {"a": "former", "c": "refused", "b": "champion"}
    assert [model.checkpoint.name for model in list_models(home)] == ["a", "c", "b"]
    shutil.rmtree(c)
    assert [model.present for model in list_models(home)] == [True, False, True]


def _promote_and_die(root: Path, folder: Path, at: str) -> None:
    def die(*_: Any, **__: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    setattr(models, at, die)
    promote(Home(root), folder, REASON, "gate")


@pytest.mark.parametrize("at", ["_point", "sync_folder", "write_atomically"])
def test_a_promotion_killed_midway_leaves_the_old_champion(home: Home, checkpoint: Any, at: str) -> None:
    a, b, c = (checkpoint(name) for name in "abc")
    promote(home, a, REASON, "gate")
    process = multiprocessing.get_context("fork").Process(target=_promote_and_die, args=(home.root, b, at))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert champion(home) == a
    assert events(home) == ["promote", "promote"]
    promote(home, c, REASON, "gate")
    assert champion(home) == c
    assert events(home) == ["promote", "promote", "void", "promote"]
    assert "b" not in [model.checkpoint.name for model in list_models(home)]
    assert roll_back(home) == a


def test_a_promotion_killed_after_the_pointer_is_whole(home: Home, checkpoint: Any) -> None:
    a, b = checkpoint("a"), checkpoint("b")
    promote(home, a, REASON, "gate")

    def run() -> None:
        point = models._point
        models._point = lambda *given: (point(*given), os.kill(os.getpid(), signal.SIGKILL))
        promote(home, b, REASON, "gate")

    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    process.join()
    assert champion(home) == b
    assert roll_back(home) == a and events(home) == ["promote", "promote", "roll_back"]


def test_a_torn_last_line_counts_for_nothing(home: Home, checkpoint: Any) -> None:
    a, b = checkpoint("a"), checkpoint("b")
    promote(home, a, REASON, "gate")
    with open(home.root / "models" / "promotions.jsonl", "ab") as file:
        file.write(b'{"event": "promo')
    assert events(home) == ["promote"]
    promote(home, b, REASON, "gate")
    assert events(home) == ["promote", "promote"] and champion(home) == b


def test_a_broken_line_or_pointer_is_named(home: Home, checkpoint: Any) -> None:
    promote(home, checkpoint("a"), REASON, "gate")
    log, pointer = (home.root / "models" / name for name in ("promotions.jsonl", "champion"))
    whole = log.read_text()
    log.write_text("nonsense\n" + whole)
    with pytest.raises(InputError, match=r"promotions\.jsonl:1: not JSON"):
        history(home)
    log.write_text(whole)
    pointer.write_text("{}")
    with pytest.raises(InputError, match="champion is damaged"):
        champion(home)
