"""Panels for plotly.js: plain data, drawn by the page itself."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from thermorbm.report.panels import Panel, Series
from thermorbm.report.style import GREY

Spec = dict[str, Any]

DIGITS = 6  # of the numbers that a reader can point at


def panel_spec(panel: Panel) -> Spec:
    """Traces and layout of one panel."""
    traces = [trace for item in panel.series for trace in _traces(item, panel)]
    return {"data": traces, "layout": _layout(panel)}


def _traces(item: Series, panel: Panel) -> list[Spec]:
    line = {"color": item.colour, "width": 1.5 * item.width, "dash": item.dash or "solid"}
    mode = "+".join(name for name, used in (("lines", item.dash), ("markers", item.marker)) if used)
    trace: Spec = {
        "type": "scatter",
        "name": item.name.html,
        "legendgroup": item.name.html,
        "showlegend": item.listed,
        "x": numbers(item.x),
        "y": numbers(item.y),
        "mode": mode,
        "line": line,
        "hovertemplate": _hover(item, panel),
    }
    if item.marker is not None:
        trace["marker"] = _marker(item)
    if item.errors is not None and item.marker is not None:
        trace["error_x" if item.sideways else "error_y"] = {
            "type": "data", "array": numbers(item.errors), "color": item.colour, "thickness": 1, "width": 0,
        }  # fmt: skip
    return [*_band(item), trace]


def _marker(item: Series) -> Spec:
    if item.marker == "line-ns":  # has no area to fill
        return {"symbol": item.marker, "size": 14, "color": item.colour,
                "line": {"color": item.colour, "width": 2.5}}  # fmt: skip
    return {"color": item.colour, "symbol": item.marker, "size": 6}


def _band(item: Series) -> list[Spec]:
    """Two lines of no width with colour between them, which go with the series in the legend."""
    if item.band is None:
        return []
    low, high = item.band
    common: Spec = {
        "type": "scatter", "mode": "lines", "x": numbers(item.x), "legendgroup": item.name.html,
        "showlegend": False, "hoverinfo": "skip", "line": {"width": 0, "color": item.colour},
    }  # fmt: skip
    filled = {"fill": "tonexty", "fillcolor": _transparent(item.colour)}
    return [{**common, "y": numbers(low)}, {**common, **filled, "y": numbers(high)}]


def _transparent(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.18)"


def _hover(item: Series, panel: Panel) -> str:
    if panel.rows:
        error = " ± %{error_x.array:.2~g}" if item.sideways else ""
        return f"%{{x:.5~g}}{error}"
    error = "" if item.errors is None else " ± %{error_y.array:.2~g}"
    shown = "" if item.marker is None else error
    return f"{panel.x_label.html}: %{{x:.5~g}}<br>{panel.y_label.html}: %{{y:.5~g}}{shown}"


def _layout(panel: Panel) -> Spec:
    grid = {"gridcolor": "#e8e8e8", "zeroline": False, "linecolor": "#444", "ticks": "outside"}
    x_axis: Spec = {**grid, "title": {"text": panel.x_label.html, "standoff": 6}}
    y_axis: Spec = {**grid, "title": {"text": panel.y_label.html, "standoff": 6}, "automargin": True}
    for axis, log, limits in ((x_axis, panel.log_x, panel.x_range), (y_axis, panel.log_y, panel.y_range)):
        axis["type"] = "log" if log else "linear"
        if limits is not None:
            axis["range"] = [math.log10(limit) if log else limit for limit in limits]
    if panel.rows:
        y_axis["tickvals"] = [-index for index in range(len(panel.rows))]
        y_axis["ticktext"] = [label.html for label in panel.rows]
        y_axis["range"] = [0.7 - len(panel.rows), 0.7]
    return {
        "title": {"text": panel.title.html, "x": 0, "xref": "paper", "font": {"size": 13.5}},
        "xaxis": x_axis,
        "yaxis": y_axis,
        "shapes": [_vertical(x) for x, _ in panel.marks],
        "annotations": [_note(x, label.html) for x, label in panel.marks],
        **({"meta": {"rows": len(panel.rows)}} if panel.rows else {}),
    }


def _vertical(x: float) -> Spec:
    return {
        "type": "line", "x0": x, "x1": x, "yref": "paper", "y0": 0, "y1": 1, "layer": "below",
        "line": {"color": GREY, "width": 1, "dash": "dash"},
    }  # fmt: skip


def _note(x: float, text: str) -> Spec:
    return {
        "x": x, "yref": "paper", "y": 1, "text": text, "showarrow": False, "xanchor": "center",
        "yanchor": "bottom", "font": {"color": "#595959", "size": 11},
    }  # fmt: skip


def numbers(values: Iterable[float]) -> list[float | None]:
    """Numbers that JSON can write, of as many digits as anyone reads."""
    return [float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None for value in map(float, values)]
