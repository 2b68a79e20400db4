"""The report's charts as inline SVG: transparent, with text and axes in the page's own colour."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter

from deg_core.evaluation.metrics import BASELINE, OURS

COLOURS = {OURS: "#2f7fd6", BASELINE: "#d9822b"}
LABELS = {OURS: "deg", BASELINE: "constrained decoding"}

_INK = "#123457"  # replaced by currentColor, so that the page decides
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "font.size": 10,
    "font.family": "sans-serif",
    "text.color": _INK,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "legend.frameon": False,
}


def reliability_chart(calibration: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Accuracy against predicted probability, one panel a head kind; None when nothing has probabilities."""
    kinds = [kind for kind, found in calibration.items() if "." in kind and found["n"]]
    if not kinds:
        return None
    columns = min(3, len(kinds))
    lines = -(-len(kinds) // columns)
    with mpl.rc_context({**_STYLE, "svg.hashsalt": "reliability"}):
        figure = Figure(figsize=(3.1 * columns, 3.1 * lines), layout="constrained")
        panels = list(figure.subplots(lines, columns, squeeze=False, sharex=True, sharey=True).flat)
        for panel, kind in zip(panels, kinds, strict=False):
            _reliability_panel(panel, kind, calibration[kind])
        for panel in panels[len(kinds) :]:
            panel.set_visible(False)
        figure.supxlabel("probability of the answer", fontsize=10)
        figure.supylabel("share correct", fontsize=10)
        return _svg(figure)


def accuracy_chart(by_mode: Sequence[Mapping[str, Any]]) -> str | None:
    """Share correct of every mode, both systems; None without rows."""
    if not by_mode:
        return None
    systems = [system for system in (OURS, BASELINE) if any(row["system"] == system for row in by_mode)]
    modes = sorted({row["mode"] for row in by_mode}, reverse=True)
    found = {(row["system"], row["mode"]): row["accuracy"] for row in by_mode}
    height = 0.8 / len(systems)
    with mpl.rc_context({**_STYLE, "svg.hashsalt": "accuracy"}):
        figure = Figure(figsize=(6.4, 0.75 + 0.5 * len(modes)), layout="constrained")
        axes = figure.subplots()
        for position, system in enumerate(systems):
            places = np.arange(len(modes)) + 0.4 - height * (position + 0.5)
            shares = [found.get((system, mode), np.nan) for mode in modes]
            bars = axes.barh(places, shares, height * 0.9, color=COLOURS[system], label=LABELS[system])
            axes.bar_label(bars, ["" if np.isnan(s) else f"{s:.2f}" for s in shares], padding=3, fontsize=9)
        axes.set(xlim=(0, 1.08), xlabel="share correct")
        axes.set_yticks(np.arange(len(modes)), modes)
        figure.legend(loc="outside upper right", ncols=2)
        return _svg(figure)


def tokens_chart(costs: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Mean tokens of a document: read, forced by the grammar, sampled; None without documents."""
    systems = [system for system in (OURS, BASELINE) if system in costs]
    if not systems:
        return None
    parts = (("read", "#8b93a1"), ("written, forced", "#b9a2e0"), ("written, sampled", "#7a4fc0"))
    with mpl.rc_context({**_STYLE, "svg.hashsalt": "tokens"}):
        figure = Figure(figsize=(6.4, 0.9 + 0.5 * len(systems)), layout="constrained")
        axes = figure.subplots()
        left = np.zeros(len(systems))
        for (label, colour), widths in zip(parts, _token_parts(costs, systems), strict=True):
            axes.barh([LABELS[system] for system in systems], widths, 0.6, left=left, color=colour, label=label)
            left += widths
        axes.invert_yaxis()
        axes.set(xlabel="tokens of a document, mean")
        figure.legend(loc="outside upper right", ncols=3)
        return _svg(figure)


def latency_chart(documents: Sequence[Mapping[str, Any]]) -> str | None:
    """Share of the documents answered within a time, both systems; None without documents."""
    with mpl.rc_context({**_STYLE, "svg.hashsalt": "latency"}):
        figure = Figure(figsize=(6.4, 3.0), layout="constrained")
        axes = figure.subplots()
        for system in (OURS, BASELINE):
            ms = np.sort([row["ms"] for row in documents if row["system"] == system and row["error"] is None])
            if len(ms):
                axes.ecdf(ms / 1000, color=COLOURS[system], label=LABELS[system], linewidth=2)
        if not axes.lines:
            return None
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(FormatStrFormatter("%g"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set(xlabel="seconds a document, one core", ylabel="share answered", ylim=(0, 1.02))
        axes.grid(alpha=0.2, color=_INK)
        figure.legend(loc="outside upper right", ncols=2)
        return _svg(figure)


def _token_parts(costs: Mapping[str, Mapping[str, Any]], systems: Sequence[str]) -> np.ndarray:
    """float64 [3, systems]: read, forced, sampled."""
    rows = [costs[system] for system in systems]
    read = [row["prompt_tokens"] or 0 for row in rows]
    forced = [row["generated_tokens"] - row["sampled_tokens"] for row in rows]
    return np.array([read, forced, [row["sampled_tokens"] for row in rows]], dtype=np.float64)


def _reliability_panel(panel: Axes, kind: str, found: Mapping[str, Any]) -> None:
    bins = found["bins"]
    panel.plot([0, 1], [0, 1], color=_INK, linewidth=1, linestyle=":")
    widths = [part["high"] - part["low"] for part in bins]
    panel.bar([part["low"] for part in bins], [part["accuracy"] for part in bins], widths, align="edge", alpha=0.35)
    sizes = [12 + 90 * part["n"] / found["n"] for part in bins]
    panel.scatter([p["confidence"] for p in bins], [p["accuracy"] for p in bins], sizes, color=COLOURS[OURS], zorder=3)
    panel.set(xlim=(0, 1.02), ylim=(0, 1.04), title=f"{kind}: ECE {found['ece']:.3f}, n {found['n']}")
    panel.tick_params(labelbottom=True)


def _svg(figure: Figure) -> str:
    """The figure as an <svg> element, without dates, so that equal data give equal bytes."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :].replace(_INK, "currentColor")
