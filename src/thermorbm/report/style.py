"""How figures look: colours that everyone can tell apart, sizes of a journal's columns, files."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from thermorbm.plots import (
    BLACK as BLACK,
    BLUE as BLUE,
    DIVERGING as DIVERGING,
    GREEN as GREEN,
    GREY as GREY,
    ORANGE as ORANGE,
    PURPLE as PURPLE,
    SKY as SKY,
    VERMILION as VERMILION,
)

COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
MARKERS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "x", "cross")
BELOW_NEAR_ABOVE = (BLUE, BLACK, VERMILION)

SINGLE, DOUBLE = 3.4, 7.0  # inches: one and two columns
DPI = 200
LOSSY_WIDTH = 900  # pixels

SETTINGS: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "axes.titleweight": "normal",
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-3, 4),
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "legend.handlelength": 1.8,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.2,
    "mathtext.fontset": "dejavusans",
    "svg.hashsalt": "thermorbm",
    "figure.dpi": DPI,  # that of the files: text is measured once
}


@dataclass(frozen=True)
class Drawing:
    """A finished figure. svg, png: for files. inline: a small picture for the page, as a data URI."""

    svg: bytes
    png: bytes
    inline: str
    width: int
    height: int


@contextmanager
def our_style() -> Iterator[None]:
    """Matplotlib's settings for our figures; those of the surrounding program come back afterwards."""
    settings: Any = {**matplotlib.rcParamsDefault, **SETTINGS}
    settings.pop("backend", None)
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # in users' own names
        yield


def new_figure(width: float, height: float) -> Figure:
    """A figure that belongs to no window system and to no list of open figures; sizes in inches."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def finish(figure: Figure, lossy: bool = False) -> Drawing:
    """The figure as bytes. lossy: for pictures with so many pixels that the page would grow too large."""
    _lay_out(figure)
    svg = io.BytesIO()
    # Without dates and versions, equal results give equal files.
    figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    picture = _pixels(figure)
    png = _encoded(picture, "PNG", dpi=(DPI, DPI))
    return Drawing(svg.getvalue(), png, _inline(picture, lossy), *picture.size)


def _lay_out(figure: Figure) -> None:
    """Finds the places of all axes, once and not for each file.

    They are rounded because the last bits depend on where the solver's objects lie in memory, and so on what
    the process has drawn before.
    """
    layout = figure.get_layout_engine()
    if layout is None:
        return
    layout.execute(figure)
    figure.set_layout_engine(None)
    for ax in figure.axes:
        left, bottom, width, height = np.round(ax.get_position(original=True).bounds, 9)
        ax.set_position((left, bottom, width, height), which="original")


def _pixels(figure: Figure) -> Image.Image:
    canvas = figure.canvas
    assert isinstance(canvas, FigureCanvasAgg)  # of new_figure; it still knows how large the texts are
    canvas.draw()  # type: ignore[no-untyped-call]
    return Image.fromarray(np.asarray(canvas.buffer_rgba()))  # type: ignore[no-untyped-call]


def _inline(picture: Image.Image, lossy: bool) -> str:
    solid = picture.convert("RGB")
    if lossy:
        solid.thumbnail((LOSSY_WIDTH, 2 * LOSSY_WIDTH))
        return data_uri(_encoded(solid, "WEBP", quality=60), "image/webp")
    return data_uri(_encoded(few_colours(solid), "PNG", compress_level=7), "image/png")


def _encoded(picture: Image.Image, format: str, **options: Any) -> bytes:
    target = io.BytesIO()
    picture.save(target, format=format, **options)
    return target.getvalue()


def few_colours(picture: Image.Image) -> Image.Image:
    """The same in 256 colours, which is enough for curves and colour scales, and a third of the bytes."""
    return picture.convert("RGB").quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)


def data_uri(content: bytes, kind: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def colour(index: int) -> str:
    return COLOURS[index % len(COLOURS)]


def marker(index: int) -> str:
    return MARKERS[index % len(MARKERS)]


def symmetric_limit(values: np.ndarray[Any, Any], deviations: float = 2.0) -> float:
    """The end of a colour scale: some standard deviations about zero (two in the paper)."""
    finite = np.asarray(values, dtype=np.float64)
    spread = float(np.sqrt(np.mean(finite**2))) if finite.size else 0.0
    return deviations * spread or 1.0
