"""report.html: one self-contained page of an evaluation (design section 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from jinja2 import Environment, PackageLoader, StrictUndefined

from deg_core.evaluation.charts import accuracy_chart, latency_chart, reliability_chart, tokens_chart
from deg_core.evaluation.metrics import BASELINE, OURS, query

WORST_DOCUMENTS = 12
SHOWN_LEAVES = 6
SHOWN_TEXT = 80


def render_report(rows: pa.Table, documents: pa.Table, summary: Mapping[str, Any]) -> str:
    """The page's HTML; rows, documents and summary as `evaluate` writes them."""
    environment = Environment(
        loader=PackageLoader("deg_core.evaluation", "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters |= {"number": _number, "percent": _percent, "signed": _signed}
    return environment.get_template("report.html.j2").render(
        summary=summary,
        tiles=_tiles(summary),
        modes=_modes(summary),
        fields=_beside(summary["by_field"], ("source", "field", "mode")),
        worst=_worst(rows, documents),
        charts={
            "accuracy": accuracy_chart(summary["by_mode"]),
            "reliability": reliability_chart(summary["calibration"]),
            "tokens": tokens_chart(summary["costs"]),
            "latency": latency_chart(documents.to_pylist()),
        },
        ours=OURS,
        baseline=BASELINE,
    )


def _tiles(summary: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """(name, value, remark) of the figures at the top."""
    figures, ratios, splits = summary["figures"], summary["ratios"], summary["splits"]

    def by_split(name: str) -> str:
        known = [(split, found[name]) for split, found in splits.items() if found[name] is not None]
        return ", ".join(f"{split} {value:.3f}" for split, value in known)

    tiles = [
        ("Decided, correct", _number(figures["decide_accuracy"]), by_split("decide_accuracy")),
        ("Extracted, exact", _number(figures["extract_exact"]), by_split("extract_exact")),
        ("of array items", _number(figures["item_exact"]), by_split("item_exact")),
        ("of array items, aligned", _number(figures["item_exact_aligned"]), by_split("item_exact_aligned")),
        ("Array lengths, correct", _number(figures["count_accuracy"]), by_split("count_accuracy")),
        ("ECE, decided", _number(figures["ece_decide"]), by_split("ece_decide")),
        ("ECE, extracted", _number(figures["ece_extract"]), by_split("ece_extract")),
        ("Valid", _percent(figures["valid"]), f"{figures['documents']} documents"),
    ]
    if ratios["speed"] is not None:
        remark = f"on {ratios['documents']} documents, same core"
        tiles.append(("Speed, baseline = 1", f"{ratios['speed']:.1f}×", remark))
    return tiles


def _modes(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each mode: ours on all documents, then both systems on the common ones with the interval of the difference."""
    paired = {row["mode"]: row for row in summary["paired"]}
    ours = [row for row in summary["by_mode"] if row["system"] == OURS]
    return [{**row, "paired": paired.get(row["mode"])} for row in ours]


def _beside(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of both systems joined on keys: the keys, ours and baseline (None where it has none)."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        place = tuple(row[key] for key in keys)
        entry = found.setdefault(place, {**dict(zip(keys, place, strict=True)), OURS: None, BASELINE: None})
        entry[row["system"]] = row
    return list(found.values())


def _worst(rows: pa.Table, documents: pa.Table) -> list[dict[str, Any]]:
    """Our documents with the most wrong leaves, each with some of them; failed ones first."""
    worst = query(
        f"""SELECT source, uid, d.split, d.error, count(*) FILTER (NOT correct) AS wrong, count(correct) AS judged
        FROM documents d JOIN rows USING (system, source, uid) WHERE system = '{OURS}'
        GROUP BY source, uid, d.split, d.error HAVING wrong > 0
        ORDER BY d.error IS NULL, wrong / judged DESC, wrong DESC, source, uid LIMIT {WORST_DOCUMENTS}""",
        rows=rows,
        documents=documents,
    )
    leaves = query(
        f"""SELECT source, uid, pointer, mode, gold, predicted FROM rows WHERE system = '{OURS}' AND NOT correct
        ORDER BY source, uid, pointer""",
        rows=rows,
    )
    for document in worst:
        own = [leaf for leaf in leaves if (leaf["source"], leaf["uid"]) == (document["source"], document["uid"])]
        document["leaves"] = [
            {**leaf, "gold": _short(leaf["gold"]), "predicted": _short(leaf["predicted"])}
            for leaf in own[:SHOWN_LEAVES]
        ]
        document["more"] = max(0, len(own) - SHOWN_LEAVES)
    return worst


def _short(text: str | None) -> str:
    if text is None:
        return "(absent)"
    return text if len(text) <= SHOWN_TEXT else f"{text[:SHOWN_TEXT]}…"


def _number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")
