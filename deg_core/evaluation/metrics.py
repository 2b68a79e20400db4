"""Figures of an evaluation, from its tables (contract section 11).

Calibration uses N_BINS equal-width bins over [0, 1] of the probability of the answer given (decide) or of the
confidence (extract). Rows whose `correct` is null were never judged and count nowhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

N_BINS = 15
RISK = 0.05
OURS, BASELINE = "deg", "baseline"
SEEN, HELD_OUT = "seen", "held-out"
SPLIT_NAMES = {"val": SEEN, "test": HELD_OUT, "train": "train"}

GROUPS = {
    "decide": "mode LIKE 'decide.%'",
    "extract": "mode LIKE 'extract.%'",
    "generate": "mode = 'generate'",
    "count": "mode = 'count'",
}


def query(sql: str, **tables: pa.Table) -> list[dict[str, Any]]:
    """Rows of a DuckDB query over named Arrow tables."""
    with duckdb.connect() as connection:
        for name, table in tables.items():
            connection.register(name, table)
        return connection.sql(sql).to_arrow_table().to_pylist()


def accuracy(rows: pa.Table, by: Sequence[str]) -> list[dict[str, Any]]:
    """Share of correct rows, mean score and number of judged rows for each group of columns."""
    columns = ", ".join(by)
    return query(
        f"""SELECT {columns}, avg(correct::INT) AS accuracy, avg(score) AS score, count(*) AS n
        FROM rows WHERE correct IS NOT NULL GROUP BY {columns} ORDER BY {columns}""",
        rows=rows,
    )


def null_scores(rows: pa.Table) -> dict[str, dict[str, float | int | None]]:
    """system -> precision and recall of null over extract leaves, with the numbers of predicted and gold nulls."""
    found = query(
        f"""SELECT system,
          count(*) FILTER (predicted_null AND gold_null) / nullif(count(*) FILTER (predicted_null), 0) AS precision,
          count(*) FILTER (predicted_null AND gold_null) / nullif(count(*) FILTER (gold_null), 0) AS recall,
          count(*) FILTER (predicted_null) AS predicted, count(*) FILTER (gold_null) AS gold
        FROM rows WHERE {GROUPS["extract"]} GROUP BY system""",
        rows=rows,
    )
    return {row.pop("system"): row for row in found}


def calibration(rows: pa.Table, group: str, system: str = OURS) -> dict[str, Any]:
    """ECE, reliability bins, coverage at risk RISK and the number of rows of one of GROUPS or one mode.

    The probability is `probability` for decided rows and `confidence` for the others.
    """
    column = "probability" if group.startswith("decide") else "confidence"
    condition = GROUPS.get(group, f"mode = '{group}'")
    found = query(
        f"""SELECT {column} AS p, correct FROM rows
        WHERE system = '{system}' AND {condition} AND {column} IS NOT NULL AND correct IS NOT NULL""",
        rows=rows,
    )
    p = np.array([row["p"] for row in found], dtype=np.float64)
    correct = np.array([row["correct"] for row in found], dtype=bool)
    bins = reliability(p, correct)
    return {"ece": ece(bins), "coverage": coverage_at_risk(p, correct), "n": len(p), "bins": bins}


def reliability(p: np.ndarray, correct: np.ndarray) -> list[dict[str, float | int]]:
    """Non-empty bins of predicted probability: low, high (a bin holds low <= p < high, the last one 1 too),
    mean confidence, accuracy and n."""
    index = np.minimum((p * N_BINS).astype(int), N_BINS - 1)
    bins = []
    for position in np.unique(index):
        here = index == position
        bins.append(
            {
                "low": float(position / N_BINS),
                "high": float((position + 1) / N_BINS),
                "confidence": float(p[here].mean()),
                "accuracy": float(correct[here].mean()),
                "n": int(here.sum()),
            }
        )
    return bins


def ece(bins: Sequence[dict[str, float | int]]) -> float | None:
    """Expected calibration error: the mean gap of confidence and accuracy, weighted by the bins' rows."""
    total = sum(part["n"] for part in bins)
    if not total:
        return None
    return float(sum(part["n"] * abs(part["confidence"] - part["accuracy"]) for part in bins) / total)


def coverage_at_risk(p: np.ndarray, correct: np.ndarray, risk: float = RISK) -> float | None:
    """Largest share of the answers, most confident first, of which at most `risk` are wrong.

    Equal confidences are taken or left together.
    """
    if not len(p):
        return None
    order = np.argsort(-p, kind="stable")
    wrong = np.cumsum(~correct[order]) / np.arange(1, len(p) + 1)
    whole = np.append(p[order][1:] != p[order][:-1], True)
    good = np.flatnonzero(whole & (wrong <= risk))
    return float((good[-1] + 1) / len(p)) if len(good) else 0.0


def likelihood(rows: pa.Table) -> dict[str, float | int | None]:
    """Mean NLL (nats, probabilities floored at 1e-12) and Brier score of the gold outcomes of decided leaves."""
    return query(
        f"""SELECT avg(-ln(greatest(gold_probability, 1e-12))) AS nll, avg(brier) AS brier, count(brier) AS n
        FROM rows WHERE system = '{OURS}' AND brier IS NOT NULL""",
        rows=rows,
    )[0]


def costs(documents: pa.Table) -> dict[str, dict[str, float | int]]:
    """system -> documents, share valid, capped and failed, tokens and milliseconds of a document."""
    found = query(
        """SELECT system, count(*) AS documents, avg(valid::INT) AS valid, avg(capped::INT) AS capped,
          count(error) AS failed, avg(prompt_tokens) AS prompt_tokens, avg(generated_tokens) AS generated_tokens,
          avg(sampled_tokens) AS sampled_tokens, median(ms) AS ms_median, avg(ms) AS ms_mean,
          quantile_cont(ms, .9) AS ms_p90
        FROM documents GROUP BY system""",
        documents=documents,
    )
    return {row.pop("system"): row for row in found}


def ratios(documents: pa.Table) -> dict[str, float | int | None]:
    """Ours beside the baseline on the documents that both answered: generated tokens (ours / theirs) and speed.

    speed is the baseline's total milliseconds over ours (2 = twice as fast); None without common documents.
    """
    found = query(
        f"""SELECT count(*) AS documents, sum(a.generated_tokens) / nullif(sum(b.generated_tokens), 0) AS generated,
          sum(b.ms) / nullif(sum(a.ms), 0) AS speed
        FROM documents a JOIN documents b USING (source, uid)
        WHERE a.system = '{OURS}' AND b.system = '{BASELINE}' AND a.error IS NULL AND b.error IS NULL""",
        documents=documents,
    )
    return found[0]


def paired_differences(rows: pa.Table, *, samples: int = 2000, seed: int = 1) -> list[dict[str, Any]]:
    """Accuracy ours - baseline for each mode on common documents, with a 95 % bootstrap interval.

    Whole documents are resampled, so leaves of one document stay together. Keys: mode, ours, baseline,
    difference, low, high, documents.
    """
    found = query(
        f"""SELECT mode, source, uid, sum(correct::INT) FILTER (system = '{OURS}')::BIGINT AS ours,
          count(*) FILTER (system = '{OURS}') AS n_ours, sum(correct::INT) FILTER (system = '{BASELINE}')::BIGINT AS theirs,
          count(*) FILTER (system = '{BASELINE}') AS n_theirs
        FROM rows WHERE correct IS NOT NULL AND (source, uid) IN (SELECT (source, uid) FROM rows WHERE system = '{BASELINE}')
        GROUP BY mode, source, uid HAVING n_ours > 0 AND n_theirs > 0 ORDER BY mode, source, uid""",
        rows=rows,
    )
    by_mode: dict[str, list[tuple[int, ...]]] = {}
    for row in found:
        by_mode.setdefault(row["mode"], []).append((row["ours"], row["n_ours"], row["theirs"], row["n_theirs"]))
    return [{"mode": mode, **_bootstrap(np.array(counts), samples, seed)} for mode, counts in by_mode.items()]


def _bootstrap(counts: np.ndarray, samples: int, seed: int) -> dict[str, float | int]:
    """counts: int [documents, 4] of right and judged rows, ours then theirs."""
    rng = np.random.default_rng(seed)
    draws = rng.integers(0, len(counts), size=(samples, len(counts)))
    sums = counts[draws].sum(axis=1)
    low, high = np.quantile(sums[:, 0] / sums[:, 1] - sums[:, 2] / sums[:, 3], [0.025, 0.975])
    ours, n_ours, theirs, n_theirs = counts.sum(axis=0)
    return {
        "ours": float(ours / n_ours),
        "baseline": float(theirs / n_theirs),
        "difference": float(ours / n_ours - theirs / n_theirs),
        "low": float(low),
        "high": float(high),
        "documents": len(counts),
    }


def figures(rows: pa.Table, documents: pa.Table) -> dict[str, Any]:
    """The numbers of our system that the gate and tables read; None where nothing was judged."""
    ours = rows.filter(pc.equal(rows["system"], OURS)).to_pylist()
    return {
        **{name: _share(ours, prefix) for name, prefix in _FIGURE_MODES.items()},
        "score_mae": _mean([row["score"] for row in ours if row["mode"] == "decide.score"]),
        "extract_f1": _mean([row["score"] for row in ours if row["mode"] == "extract.span"]),
        "extract_exact_aligned": _mean([row["aligned"] for row in ours if row["mode"].startswith("extract.")]),
        "item_exact": _mean([row["correct"] for row in ours if _copied_item(row)]),
        "item_exact_aligned": _mean([row["aligned"] for row in ours if _copied_item(row)]),
        "ece_decide": calibration(rows, "decide")["ece"],
        "ece_extract": calibration(rows, "extract")["ece"],
        "coverage_decide": calibration(rows, "decide")["coverage"],
        "coverage_extract": calibration(rows, "extract")["coverage"],
        "nll_decide": likelihood(rows)["nll"],
        "brier_decide": likelihood(rows)["brier"],
        "valid": costs(documents).get(OURS, {}).get("valid"),
        "documents": costs(documents).get(OURS, {}).get("documents", 0),
    }


_FIGURE_MODES = {
    "decide_accuracy": "decide.",
    "extract_exact": "extract.",
    "count_accuracy": "count",
    "generate_accuracy": "generate",
}


def _copied_item(row: dict[str, Any]) -> bool:
    return row["mode"].startswith("extract.") and "*" in row["field"].split("/")


def _share(rows: Sequence[dict[str, Any]], prefix: str) -> float | None:
    return _mean([row["correct"] for row in rows if row["mode"].startswith(prefix)])


def _mean(values: Sequence[float | bool | None]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None


def summarise(rows: pa.Table, documents: pa.Table, *, seed: int = 1) -> dict[str, Any]:
    """Everything that summary.json holds of the two tables; rows has DETAIL_COLUMNS too."""
    splits = sorted({*rows["split"].to_pylist(), *documents["split"].to_pylist()})
    kinds = sorted(mode for mode in set(rows["mode"].to_pylist()) if mode.startswith(("decide.", "extract.")))
    return {
        "figures": figures(rows, documents),
        "splits": {SPLIT_NAMES[split]: figures(*_of_split(split, rows, documents)) for split in splits},
        "by_mode": accuracy(rows, ("system", "mode")),
        "by_mode_and_split": accuracy(rows, ("system", "split", "mode")),
        "by_field": accuracy(rows, ("source", "field", "mode", "system")),
        "paired": paired_differences(rows, seed=seed),
        "null": null_scores(rows),
        "calibration": {kind: calibration(rows, kind) for kind in ("decide", "extract", *kinds)},
        "likelihood": likelihood(rows),
        "costs": costs(documents),
        "ratios": ratios(documents),
    }


def _of_split(split: str, *tables: pa.Table) -> list[pa.Table]:
    return [table.filter(pc.equal(table["split"], split)) for table in tables]
