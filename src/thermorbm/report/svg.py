"""Panels as SVG for the page: text stays text, and colours follow the page, light or dark.

A drawing is whole without a script. The page's script adds what a pointer shows, from `panel_numbers`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from markupsafe import Markup, escape

from thermorbm.report.axes import Axis, Floats, x_limits, y_limits
from thermorbm.report.labels import Label
from thermorbm.report.panels import Panel, Series
from thermorbm.report.style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION

# Classes of the style sheet, which has a light and a dark shade of each.
COLOUR_NAMES = {
    BLACK: "black", BLUE: "blue", VERMILION: "vermilion", GREEN: "green", SKY: "sky", ORANGE: "orange",
    PURPLE: "purple", GREY: "grey",
}  # fmt: skip
DASHES = {"dash": "6 4", "dot": "1.5 3", "dashdot": "7 3 1.5 3"}
# Around a place that a path has moved to.
SHAPES = {
    "circle": "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0",
    "circle-open": "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0",
    "square": "m-2.7-2.7h5.4v5.4h-5.4z",
    "diamond": "m0-3.8l3.8 3.8-3.8 3.8-3.8-3.8z",
    "triangle-up": "m0-3.6l3.4 6h-6.8z",
    "triangle-down": "m0 3.6l3.4-6h-6.8z",
    "x": "m-2.7-2.7l5.4 5.4m0-5.4l-5.4 5.4",
    "cross": "m-3.4 0h6.8m-3.4-3.4v6.8",
    "line-ns": "m0-7v14",
}
OPEN_SHAPES = ("x", "cross", "line-ns", "circle-open")
LETTER = 6.9  # mean width of letters, on phones
DIGIT = 8.3  # width of digits, there
ROW_HEIGHT, TICK_WIDTH = 21, 62
N_NUMBERS = 5  # numbers along y, about
DIGITS = 6  # of the numbers that a reader can point at
LEAST_RATIO = 8  # of the largest to the smallest value, from which on a logarithmic scale tells more
TAGS = re.compile(r"(</?(?:i|sub|sup)>)")
SHIFTS = {"sub": 3.0, "sup": -4.0}


@dataclass(frozen=True)
class Frame:
    """Where the axes of a drawing lie."""

    width: float
    height: float
    x: Axis
    y: Axis

    @property
    def n_ticks(self) -> int:
        """How many numbers there is room for along x."""
        return max(2, int((self.x.end - self.x.start) / TICK_WIDTH))

    @property
    def inner(self) -> tuple[float, float, float, float]:
        """left, top, width, height of the plot."""
        return self.x.start, self.y.end, self.x.end - self.x.start, self.y.start - self.y.end


def frame_of(panel: Panel, width: float = 460, height: float = 290) -> Frame:
    """Axes with as much room beside them as their labels need."""
    top, bottom = 24.0 if panel.marks else 10.0, 44.0
    if panel.rows:
        height = top + bottom + ROW_HEIGHT * (len(panel.rows) + 0.4)
    y = Axis(*y_limits(panel), height - bottom, top, panel.log_y)
    if panel.rows:
        left = min(14 + LETTER * max(label.n_letters for label in panel.rows), 0.62 * width)
    else:
        left = max(58.0, 28 + DIGIT * max((len(words) for _, words in y.ticks(N_NUMBERS)), default=0))
    return Frame(width, height, Axis(*x_limits(panel), left, width - 12, panel.log_x), y)


def panel_svg(panel: Panel, id: str, **size: float) -> Markup:
    """One panel as an SVG element. id: by which the script finds its numbers."""
    frame = frame_of(panel, **size)
    left, top, width, height = frame.inner
    inner = replace(
        frame, x=replace(frame.x, start=0.0, end=width), y=replace(frame.y, start=height, end=0.0)
    )
    curves = Markup("").join(_series(item, inner) for item in panel.series)
    return Markup(
        '<svg class="panel" viewBox="0 0 {} {}" role="img" tabindex="0" data-panel="{}" aria-label="{}">{}{}'
        '<svg class="curves" x="{}" y="{}" width="{}" height="{}">{}</svg></svg>'
    ).format(
        _number(frame.width), _number(frame.height), id, panel_words(panel), _axes(panel, frame),
        _marks(panel, frame), *map(_number, (left, top, width, height)), curves,
    )  # fmt: skip


def panel_words(panel: Panel) -> str:
    """What a panel shows, for those who do not see it."""
    names = [item.name.html.striptags() for item in panel.series if item.listed]
    what = ", ".join(dict.fromkeys(name for name in names if name))
    title, x, y = (label.html.striptags() for label in (panel.title, panel.x_label, panel.y_label))
    rows = ", ".join(label.html.striptags() for label in panel.rows)
    over = f"{rows} over {x}" if rows else f"{y} over {x}"
    return ". ".join(part for part in (title, over, what) if part)


def panel_numbers(panel: Panel, **size: float) -> dict[str, Any]:
    """What the script needs: where the axes lie, and all points with their errors."""
    frame = frame_of(panel, **size)
    shown = [item for item in panel.series if len(item.x)]
    return {
        "box": [round(edge, 1) for edge in frame.inner],
        "x": [frame.x.low, frame.x.high, int(panel.log_x)],
        "y": [frame.y.low, frame.y.high, int(panel.log_y)],
        "control": int(panel.over_control),
        "names": [panel.x_label.html, panel.y_label.html],
        "rows": [label.html for label in panel.rows],
        "series": [
            {"name": item.name.html, "x": numbers(item.x), "y": numbers(item.y)}
            | ({"errors": numbers(item.errors)} if item.errors is not None and item.marker else {})
            for item in shown
        ],
    }


def scales(panel: Panel) -> list[Panel]:
    """The panel, and the same with y the other way, by logarithm or evenly, where that tells something."""
    values = [y for item in panel.series for y in item.y]
    if panel.rows or not values or min(values) <= 0 or max(values) < LEAST_RATIO * min(values):
        return [panel]
    return [panel, replace(panel, log_y=not panel.log_y)]


def swatch(item: Series) -> Markup:
    """A piece of a curve for the legend."""
    frame = Frame(30, 14, Axis(0, 1, 2, 28), Axis(0, 1, 14, 0))
    ends, middle, half = np.array([0.0, 1.0]), np.array([0.5]), np.array([0.5, 0.5])
    piece = replace(item, x=ends, y=half, errors=None, marker=None, band=None)
    dot = replace(item, x=middle, y=middle, errors=None, dash=None, band=None)
    line, mark = _series(piece, frame) if item.dash else "", _series(dot, frame) if item.marker else ""
    return Markup('<svg class="swatch" viewBox="0 0 30 14" aria-hidden="true">{}{}</svg>').format(line, mark)


def _series(item: Series, frame: Frame) -> Markup:
    x, y = frame.x.place(item.x), frame.y.place(item.y)
    parts = [_band(item, frame), _line(item, x, y), _error_bars(item, frame), _markers(item, x, y)]
    name = COLOUR_NAMES[item.colour]
    return Markup('<g class="{}" data-name="{}">{}</g>').format(
        name, str(item.name.html), Markup("").join(part for part in parts if part)
    )


def _band(item: Series, frame: Frame) -> Markup:
    if item.band is None:
        return Markup("")
    x = frame.x.place(item.x)
    low, high = (frame.y.place(edge) for edge in item.band)
    outline = _path(np.concatenate([x, x[::-1]]), np.concatenate([high, low[::-1]]))
    return Markup('<path class="band" d="{}"/>').format(outline)


def _line(item: Series, x: Floats, y: Floats) -> Markup:
    if item.dash is None:
        return Markup("")
    dashes = Markup(' stroke-dasharray="{}"').format(DASHES[item.dash]) if item.dash in DASHES else ""
    width = _number(1.4 * item.width)
    return Markup('<path class="line" d="{}" stroke-width="{}"{}/>').format(_path(x, y), width, dashes)


def _error_bars(item: Series, frame: Frame) -> Markup:
    if item.errors is None or item.marker is None or item.band is not None:
        return Markup("")
    axis, values, other = (
        (frame.x, item.x, frame.y.place(item.y))
        if item.sideways
        else (frame.y, item.y, frame.x.place(item.x))
    )
    ends = zip(axis.place(values - item.errors), axis.place(values + item.errors), other, strict=True)
    # A lower end that a logarithm does not have lies below the plot.
    bars = [(axis.start if math.isnan(low) else low, high, at) for low, high, at in ends]
    template = "M{0} {2}H{1}" if item.sideways else "M{2} {0}V{1}"
    d = "".join(template.format(*map(_number, bar)) for bar in bars if not math.isnan(bar[1] + bar[2]))
    return Markup('<path class="line" d="{}"/>').format(d) if d else Markup("")


def _markers(item: Series, x: Floats, y: Floats) -> Markup:
    if item.marker is None:
        return Markup("")
    shape = SHAPES[item.marker]
    places = [(a, b) for a, b in zip(x, y, strict=True) if not math.isnan(a + b)]
    d = "".join(f"M{_number(a)} {_number(b)}{shape}" for a, b in places)
    kind = "open" if item.marker == "circle-open" else "line" if item.marker in OPEN_SHAPES else "dot"
    bold = ' stroke-width="3"' if item.marker == "line-ns" else ""
    return Markup('<path class="{}" d="{}"{}/>').format(kind, d, Markup(bold))


def _path(x: Floats, y: Floats) -> str:
    """A line through points, interrupted where one has no place."""
    letters, pen = [], "M"
    for a, b in zip(x, y, strict=True):
        if math.isnan(a) or math.isnan(b):
            pen = "M"
            continue
        letters.append(f"{pen}{_number(a)} {_number(b)}")
        pen = "L"
    return "".join(letters)


def _axes(panel: Panel, frame: Frame) -> Markup:
    left, top, width, height = frame.inner
    bottom, right = top + height, left + width
    parts = [Markup('<path class="grid" d="{}"/>').format(_grid(panel, frame))]
    for place, words in frame.x.ticks(frame.n_ticks):
        parts.append(_text(place, bottom + 15, escape(words), "middle"))
    if panel.rows:
        places = frame.y.place(-np.arange(len(panel.rows), dtype=np.float64))
        parts += [
            _text(left - 6, at + 4, svg_text(row), "end") for at, row in zip(places, panel.rows, strict=True)
        ]
    else:
        parts += [_text(left - 6, at + 4, escape(words), "end") for at, words in frame.y.ticks(N_NUMBERS)]
        middle = _number((top + bottom) / 2)
        parts.append(
            Markup('<text transform="translate(13 {}) rotate(-90)" text-anchor="middle">{}</text>').format(
                middle, svg_text(panel.y_label)
            )
        )
    parts.append(_text((left + right) / 2, bottom + 35, svg_text(panel.x_label), "middle"))
    parts.append(Markup('<path class="axis" d="M{0} {1}V{2}H{3}"/>').format(
        *map(_number, (left, top, bottom, right))
    ))  # fmt: skip
    return Markup("").join(parts)


def _grid(panel: Panel, frame: Frame) -> str:
    left, top, width, height = (_number(edge) for edge in frame.inner)
    rows = [] if panel.rows else [at for at, _ in frame.y.ticks(N_NUMBERS)]
    across = [f"M{left} {_number(at)}h{width}" for at in rows]
    upright = [f"M{_number(at)} {top}v{height}" for at, _ in frame.x.ticks(frame.n_ticks)]
    return "".join((*across, *upright))


def _marks(panel: Panel, frame: Frame) -> Markup:
    """Vertical lines with their names above, which stay inside the drawing."""
    _, top, _, height = frame.inner
    parts = []
    for x, label in panel.marks:
        place = float(frame.x.place(x))
        if not frame.x.start <= place <= frame.x.end:
            continue
        half = LETTER * label.n_letters / 2
        middle = min(max(place, half), frame.width - half)
        parts.append(Markup('<path class="mark" d="M{} {}v{}"/>').format(*map(_number, (place, top, height))))
        parts.append(_text(middle, top - 6, svg_text(label), "middle"))
    return Markup("").join(parts)


def _text(x: float, y: float, words: Markup, anchor: str) -> Markup:
    return Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(
        _number(x), _number(y), anchor, words
    )


def svg_text(label: Label) -> Markup:
    """A label inside an SVG text: italics, and letters that are raised or lowered."""
    italic, script, last, written = False, "", 0.0, Markup("")
    for piece in TAGS.split(str(label.html)):
        if TAGS.fullmatch(piece):
            name, is_end = piece.strip("</>"), piece.startswith("</")
            italic = (not is_end) if name == "i" else italic
            script = ("" if is_end else name) if name != "i" else script
        elif piece:
            shift = SHIFTS.get(script, 0.0)
            written += _run(Markup(piece), italic, script, shift - last)
            last = shift
    return written


def _run(words: Markup, italic: bool, script: str, shift: float) -> Markup:
    if not (italic or script or shift):
        return words
    style = ' font-style="italic"' if italic else ""
    style += ' font-size="9"' if script else ""
    style += f' dy="{_number(shift)}"' if shift else ""
    return Markup("<tspan{}>{}</tspan>").format(Markup(style), words)


def _number(value: float) -> str:
    """A coordinate with one digit behind the point."""
    return f"{value:.1f}".removesuffix(".0")


def numbers(values: Iterable[float]) -> list[float | None]:
    """Numbers that JSON can write, of as many digits as anyone reads."""
    return [float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None for value in map(float, values)]
