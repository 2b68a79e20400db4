"""Which checkpoint is champion: an atomic pointer, and an append-only log of every decision (design section 1).

models/promotions.jsonl is written first and synced; models/champion is then replaced atomically, which is the
moment a change takes effect. A log entry whose change never took effect (its writer was killed in between) is
marked void by the next writer, so the log can always be replayed.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from safetensors import SafetensorError, safe_open

from deg_core.artifacts import Home, hash_tree, locked, sync_folder, write_atomically
from deg_core.contract.errors import InputError

CHAMPION, LOG = "champion", "promotions.jsonl"
Event = Literal["promote", "refuse", "unchanged", "roll_back", "void"]
Author = Literal["gate", "user"]


@dataclass(frozen=True)
class Holder:
    """A checkpoint that is or was champion.

    checkpoint: its folder. content: its content hash at promotion. entry: id of the log entry that made it
    champion. at: when, ISO 8601.
    """

    checkpoint: Path
    content: str
    entry: str
    at: str


@dataclass(frozen=True)
class ListedModel:
    """A checkpoint that the log knows. status: champion, former or refused; decision: the last one on it."""

    checkpoint: Path
    content: str
    status: str
    present: bool
    at: str
    by: str
    decision: Mapping[str, Any]


def champion(home: Home) -> Path | None:
    """The champion's folder, None before the first promotion.

    Raises InputError when the pointer cannot be read or its checkpoint is gone.
    """
    pointer = _pointer(home)
    if pointer is None:
        return None
    folder = Path(pointer["checkpoint"])
    if not folder.is_dir():
        raise InputError(
            f"the champion {folder} is gone; restore the folder, or go back to the previous one: deg models rollback"
        )
    return folder


def promote(home: Home, checkpoint: Path, decision: Mapping[str, Any], by: Author) -> Path:
    """Make a checkpoint champion and return its folder; a champion of the same content stays as it is.

    Raises InputError when the checkpoint is missing or damaged; nothing changes then.
    """
    folder = Path(checkpoint).absolute()
    check_checkpoint(folder)
    content = hash_tree(folder)
    with _writing(home) as log:
        pointer = _pointer(home)
        same = pointer is not None and (pointer["checkpoint"], pointer["content"]) == (str(folder), content)
        entry = log.append("unchanged" if same else "promote", folder, content, by, decision)
        if not same:
            _point(home, entry)
    return folder


def log_refusal(home: Home, checkpoint: Path, decision: Mapping[str, Any], by: Author = "gate") -> None:
    """Log that a checkpoint was not promoted."""
    folder = Path(checkpoint).absolute()
    with _writing(home) as log:
        log.append("refuse", folder, hash_tree(folder), by, decision)


def roll_back(home: Home, by: Author = "user") -> Path:
    """Make the previous champion champion again and return its folder; repeated, it goes further back.

    Raises InputError when there is no previous champion, or its checkpoint is missing or has changed since.
    """
    with _writing(home) as log:
        holders = _replay(log.entries)
        if len(holders) < 2:
            raise InputError("there is no previous champion to go back to; promote a checkpoint instead")
        previous = holders[-2]
        check_checkpoint(previous.checkpoint)
        if hash_tree(previous.checkpoint) != previous.content:
            raise InputError(f"{previous.checkpoint} has changed since its promotion; promote it anew if that is meant")
        left = str(holders[-1].checkpoint)
        _point(home, log.append("roll_back", previous.checkpoint, previous.content, by, {"left": left}))
    return previous.checkpoint


def list_models(home: Home) -> list[ListedModel]:
    """Every checkpoint that was decided on, the latest decision first."""
    entries = _without_void(_read_log(home))
    pointer = _pointer(home)
    found: dict[str, ListedModel] = {}
    for entry in entries:
        held = entry["event"] != "refuse" or (
            entry["checkpoint"] in found and found[entry["checkpoint"]].status == "former"
        )
        found.pop(entry["checkpoint"], None)
        found[entry["checkpoint"]] = ListedModel(
            checkpoint=Path(entry["checkpoint"]),
            content=entry["content"],
            status="former" if held else "refused",
            present=Path(entry["checkpoint"]).is_dir(),
            at=entry["at"],
            by=entry["by"],
            decision=entry["decision"],
        )
    listed = list(reversed(found.values()))
    if pointer is None:
        return listed
    return [_crowned(model) if str(model.checkpoint) == pointer["checkpoint"] else model for model in listed]


def history(home: Home) -> list[dict[str, Any]]:
    """The log's entries, oldest first: id, at, event, checkpoint, content, by, decision."""
    return _read_log(home)


def check_checkpoint(folder: Path) -> None:
    """Refuse a folder that is no whole checkpoint: deg.json readable, every safetensors file complete.

    Raises InputError that names the file.
    """
    if not folder.is_dir():
        raise InputError(f"checkpoint {folder} does not exist; name the folder that holds its deg.json")
    meta = folder / "deg.json"
    try:
        json.loads(meta.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{meta} cannot be read ({error}); this is no checkpoint") from error
    weights = sorted(folder.glob("*.safetensors"))
    if not any(path.name == "heads.safetensors" for path in weights):
        raise InputError(f"{folder} has no heads.safetensors; save the checkpoint again")
    for path in weights:
        try:
            with safe_open(path, framework="numpy") as file:
                file.keys()
        except (OSError, SafetensorError) as error:
            raise InputError(f"{path} is damaged ({error}); save the checkpoint again") from error


def _crowned(model: ListedModel) -> ListedModel:
    return ListedModel(**{**model.__dict__, "status": "champion"})


def _pointer(home: Home) -> dict[str, str] | None:
    path = home.folder("models") / CHAMPION
    if not path.is_file():
        return None
    try:
        pointer = json.loads(path.read_text(encoding="utf-8"))
        return {key: pointer[key] for key in ("checkpoint", "content", "entry")}
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} is damaged ({error}); delete it and promote a checkpoint again") from error


def _point(home: Home, entry: Mapping[str, Any]) -> None:
    pointer = {"checkpoint": entry["checkpoint"], "content": entry["content"], "entry": entry["id"], "at": entry["at"]}
    write_atomically(home.folder("models") / CHAMPION, json.dumps(pointer, indent=1).encode())


class _Log:
    """The log under its lock. entries: what is in it."""

    def __init__(self, home: Home):
        self._path = home.folder("models") / LOG
        self.entries = _read_log(home)
        if self._path.is_file():
            _cut_torn_line(self._path)

    def append(
        self, event: Event, checkpoint: Path, content: str, by: Author, decision: Mapping[str, Any]
    ) -> dict[str, Any]:
        entry = {
            "id": uuid.uuid4().hex,
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "event": event,
            "checkpoint": str(checkpoint),
            "content": content,
            "by": by,
            "decision": dict(decision),
        }
        line = json.dumps(entry, ensure_ascii=False, allow_nan=False) + "\n"
        with open(self._path, "ab") as file:
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())
        sync_folder(self._path.parent)
        self.entries.append(entry)
        return entry


@contextmanager
def _writing(home: Home) -> Iterator[_Log]:
    """The log, locked and with an interrupted change marked void."""
    with locked(home.folder("models") / ".lock"):
        log = _Log(home)
        changes = [entry for entry in _without_void(log.entries) if entry["event"] in ("promote", "roll_back")]
        pointer = _pointer(home)
        if changes and (pointer is None or pointer["entry"] != changes[-1]["id"]):
            late = changes[-1]
            reason = {"entry": late["id"], "reason": f"its {late['event']} was interrupted before it took effect"}
            log.append("void", Path(late["checkpoint"]), late["content"], late["by"], reason)
        yield log


def _read_log(home: Home) -> list[dict[str, Any]]:
    """Complete lines of the log; a last line without its newline was never finished and counts for nothing."""
    path = home.folder("models") / LOG
    if not path.is_file():
        return []
    entries = []
    whole, _, _ = path.read_bytes().rpartition(b"\n")
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            entries.append(json.loads(line))
        except ValueError as error:
            raise InputError(f"{path}:{number}: not JSON ({error}); restore the line from a backup") from error
    return entries


def _cut_torn_line(path: Path) -> None:
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        os.truncate(path, whole)


def _without_void(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    void = {entry["decision"]["entry"] for entry in entries if entry["event"] == "void"}
    return [entry for entry in entries if entry["event"] != "void" and entry["id"] not in void]


def _replay(entries: list[dict[str, Any]]) -> list[Holder]:
    """The champions that can be gone back to, the present one last."""
    holders: list[Holder] = []
    for entry in _without_void(entries):
        if entry["event"] == "promote":
            holders.append(Holder(Path(entry["checkpoint"]), entry["content"], entry["id"], entry["at"]))
        elif entry["event"] == "roll_back":
            holders.pop()
    return holders
