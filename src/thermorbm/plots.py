"""Pictures of arrays, each a function that draws into matplotlib Axes and returns them.

    import thermorbm as tr
    tr.plots.plot_filters(rbm)

`ax` is where to draw, new Axes by default. Nothing is shown or saved: that is the caller's. The report draws
its filters and curves by the same functions, `draw_weights` and `draw_curve`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from numpy.typing import ArrayLike, NDArray

from thermorbm.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

GAP = 1  # empty pixels between neighbouring pictures

# Okabe and Ito's palette without its yellow, which is too light for lines on white.
BLACK, BLUE, VERMILION, GREEN = "#000000", "#0072B2", "#D55E00", "#009E73"
SKY, ORANGE, PURPLE, GREY = "#56B4E9", "#E69F00", "#CC79A7", "#767676"
# Negative weights blue, positive ones vermilion, white between.
DIVERGING = LinearSegmentedColormap.from_list("weights", ["#003a63", BLUE, "#ffffff", VERMILION, "#6e2c00"])


def plot_configurations(spins: ArrayLike, ax: Axes | None = None) -> Axes:
    """Configurations (n, L, L) side by side, up white and down black; of more dimensions the first plane."""
    pictures = np.asarray(spins, dtype=np.float64)
    axes = _axes(ax)
    colours = matplotlib.colormaps["gray"].with_extremes(bad=SKY)  # between them, where all spins are up
    axes.imshow(tiles(pictures), cmap=colours, vmin=-1, vmax=1, interpolation="nearest")
    axes.set(xticks=[], yticks=[])
    axes.set_title(f"{len(pictures)} configurations")
    return axes


def plot_filters(
    machine: Any, n: int = 16, shape: Sequence[int] | None = None, ax: Axes | None = None
) -> Axes:
    """The n strongest filters of a machine, by sum of squares: rows of W as pictures, vermilion positive.

    machine: a machine, or weights (n_hidden, n_visible). shape: sides of the lattice; a square by default.
    Symmetric machines show their filters as they are.
    """
    filters = np.asarray(getattr(machine, "filters", getattr(machine, "W", machine)), dtype=np.float64)
    if filters.ndim < 2:
        raise InputError("machine", machine, "a machine, or weights (n_hidden, n_visible)")
    if filters.ndim == 2 and not hasattr(machine, "filters"):
        filters = filters.reshape(len(filters), *_sides(filters.shape[1], shape))
    strength = (filters.reshape(len(filters), -1) ** 2).sum(axis=1)
    chosen = filters[np.argsort(-strength, kind="stable")[:n]]
    axes = _axes(ax)
    draw_weights(axes, tiles(chosen), float(np.abs(chosen).max()))
    axes.set_axis_off()
    axes.set_title(f"{len(chosen)} strongest of {len(filters)} filters")
    return axes


def plot_history(history: Any, quantity: str = "pseudo_likelihood", ax: Axes | None = None) -> Axes:
    """A column of the training history against updates, with that of held-out configurations if there.

    history: a TrainingResult or its history.
    """
    columns: Mapping[str, NDArray[np.float64]] = getattr(history, "history", history)
    if not isinstance(columns, Mapping) or not columns:
        raise InputError("history", history, "the result of tr.train, or its history")
    if quantity not in columns:
        raise InputError("quantity", quantity, f"one of {', '.join(columns)}")
    axes = _axes(ax)
    shown = (quantity, "training", GREY), (f"validation_{quantity}", "held out", BLUE)
    for name, label, colour in shown:
        if name in columns:
            draw_curve(axes, columns["update"], columns[name], color=colour, label=label)
    axes.set(xlabel="update", ylabel=quantity.replace("_", " "))
    axes.legend()
    return axes


def plot_bracket(
    temperatures: ArrayLike, brackets: Sequence[Any], exact: Any = None, ax: Axes | None = None
) -> Axes:
    """The entropy per spin between its bounds at each temperature.

    brackets: what `tr.bracket_entropy` gave, one for each of the temperatures (n,). exact: (T, S) to draw
    beside them, arrays of one length.
    """
    T = np.atleast_1d(np.asarray(temperatures, dtype=np.float64))
    if len(T) != len(brackets):
        raise InputError("brackets", len(brackets), f"one for each of the {len(T)} temperatures")
    axes = _axes(ax)
    edges_shown = (
        ("lower", "pseudo-entropy, a lower bound", GREEN),
        ("upper", "upper bound of the machine", BLUE),
    )
    for name, label, colour in edges_shown:
        edges = [getattr(getattr(each, "bracket", each), name) for each in brackets]
        points = [(t, edge.value, edge.error) for t, edge in zip(T, edges, strict=True) if edge is not None]
        if points:
            draw_curve(axes, *np.transpose(points), color=colour, marker="o", label=label)
    if exact is not None:
        draw_curve(axes, *exact, color=BLACK, label="exact")
    axes.set(xlabel="temperature", ylabel="entropy per spin, nats")
    axes.legend(loc="lower right")  # the entropy rises with the temperature
    return axes


def plot_curve(
    temperatures: ArrayLike, curve: Any, critical: Any = None, label: str = "", ax: Axes | None = None
) -> Axes:
    """A curve with its errors as a band, and where it puts the critical temperature.

    curve: with .values and .errors (n,), such as `series.reweight(T).heat_capacity`. critical: with .lower
    and .upper, such as `series.critical_temperature("heat_capacity")`.
    """
    T = np.asarray(temperatures, dtype=np.float64)
    axes = _axes(ax)
    band = curve.values - curve.errors, curve.values + curve.errors
    draw_curve(axes, T, curve.values, band=band, color=BLUE, label=label or None)
    if critical is not None:
        lower, upper = critical.lower, critical.upper
        axes.axvspan(lower, upper, color=GREY, alpha=0.3, linewidth=0, label=f"$T_c$ = {critical}")
    axes.set(xlabel="temperature", ylabel=label)
    if label or critical is not None:
        axes.legend()
    return axes


def plot_critical(
    names: Sequence[str],
    points: Sequence[Any],
    targets: Sequence[float | None] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Critical temperatures by several indicators below one another, and where each should lie.

    points: with .value and .error, such as `series.critical_temperature("susceptibility")`. targets: what
    each is compared with, None where that is not known.
    """
    if len(names) != len(points) or (targets is not None and len(targets) != len(points)):
        raise InputError("points", len(points), f"one for each of the {len(names)} names and targets")
    axes, rows = _axes(ax), -np.arange(len(points), dtype=np.float64)
    values, errors = ([float(getattr(point, key)) for point in points] for key in ("value", "error"))
    draw_curve(
        axes, values, rows, errors, sideways=True, color=BLUE, marker="o", linestyle="none", label="found"
    )
    if targets is not None:
        x = [np.nan if target is None else target for target in targets]
        draw_curve(axes, x, rows, color=BLACK, marker="|", markersize=12, linestyle="none", label="target")
        axes.legend()
    axes.set_yticks(rows, names)
    axes.set(xlabel="critical temperature", ylim=(rows[-1] - 0.7, 0.7))
    return axes


def draw_weights(ax: Axes, picture: NDArray[Any], limit: float, interpolation: str = "nearest") -> AxesImage:
    """A picture of weights (rows, columns) with colours from -limit to limit; nan stays empty."""
    limit = limit or 1.0
    return ax.imshow(picture, cmap=DIVERGING, vmin=-limit, vmax=limit, interpolation=interpolation)


def draw_curve(
    ax: Axes,
    x: ArrayLike,
    y: ArrayLike,
    errors: ArrayLike | None = None,
    *,
    color: str,
    band: tuple[ArrayLike, ArrayLike] | None = None,
    sideways: bool = False,
    thin: float = 0.8,
    **look: Any,
) -> None:
    """A curve or points, with error bars of width `thin` (of x if sideways) or a shaded band (low, high).

    look: as matplotlib's `plot` takes it.
    """
    if band is not None:
        ax.fill_between(x, *band, color=color, alpha=0.18, linewidth=0)
    if errors is None:
        ax.plot(x, y, color=color, **look)
    else:
        bars: dict[str, Any] = {"xerr" if sideways else "yerr": errors}
        ax.errorbar(x, y, **bars, color=color, elinewidth=thin, capsize=0, **look)


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def tiles(pictures: NDArray[Any], n_columns: int | None = None) -> NDArray[np.float64]:
    """(n, rows, columns) as one picture with gaps of nan; of further axes, or sites of a cell, the first.

    n_columns: by default all in one line up to eight, else about a square.
    """
    if pictures.ndim < 2 or len(pictures) == 0:
        raise InputError("pictures", pictures.shape, "an array of shape (n, L, L)")
    if pictures.ndim == 2:  # chains: one row each
        pictures = pictures[:, None, :]
    while pictures.ndim > 3:
        pictures = pictures[..., 0]
    n, height, width = pictures.shape
    n_columns = n_columns or (n if n <= 8 else int(np.ceil(np.sqrt(n * height / width))))
    n_rows = -(-n // n_columns)
    whole = np.full((n_rows * (height + GAP) - GAP, n_columns * (width + GAP) - GAP), np.nan)
    for i, picture in enumerate(pictures):
        row, column = (i // n_columns) * (height + GAP), (i % n_columns) * (width + GAP)
        whole[row : row + height, column : column + width] = picture
    return whole


def _sides(n_visible: int, shape: Sequence[int] | None) -> tuple[int, ...]:
    side = round(n_visible**0.5)
    sides = (side, side) if shape is None else tuple(shape)
    if int(np.prod(sides)) != n_visible:
        raise InputError("shape", sides, f"sides of a lattice of {n_visible} sites", "give shape=(L, L)")
    return sides
