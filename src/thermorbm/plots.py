"""Pictures of arrays, each a function that draws into matplotlib Axes and returns them.

    import thermorbm as tr
    tr.plots.plot_filters(rbm)

`ax` is where to draw, new Axes by default. Nothing is shown or saved: that is the caller's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GAP = 1  # empty pixels between neighbouring pictures


def plot_configurations(spins: ArrayLike, ax: Axes | None = None) -> Axes:
    """Configurations (n, L, L) side by side, up white and down black; of more dimensions the first plane."""
    pictures = np.asarray(spins, dtype=np.float64)
    axes = _image(_tiles(pictures), ax, "gray", 1.0)
    axes.set_title(f"{len(pictures)} configurations")
    return axes


def plot_filters(
    machine: Any, n: int = 16, shape: Sequence[int] | None = None, ax: Axes | None = None
) -> Axes:
    """The n strongest filters of a machine, by sum of squares: rows of W as pictures, red positive.

    machine: a machine, or weights (n_hidden, n_visible). shape: sides of the lattice; a square by default.
    Symmetric machines show their filters as they are.
    """
    filters = np.asarray(getattr(machine, "filters", getattr(machine, "W", machine)), dtype=np.float64)
    if filters.ndim == 2 and not hasattr(machine, "filters"):
        filters = filters.reshape(len(filters), *_sides(filters.shape[1], shape))
    strength = (filters.reshape(len(filters), -1) ** 2).sum(axis=1)
    chosen = filters[np.argsort(-strength, kind="stable")[:n]]
    axes = _image(_tiles(chosen), ax, "RdBu_r", float(np.abs(chosen).max()) or 1.0)
    axes.set_title(f"{len(chosen)} strongest of {len(filters)} filters")
    return axes


def plot_history(history: Any, quantity: str = "pseudo_likelihood", ax: Axes | None = None) -> Axes:
    """A column of the training history against updates, with that of held-out configurations if there.

    history: a TrainingResult or its history.
    """
    columns: Mapping[str, NDArray[np.float64]] = getattr(history, "history", history)
    if quantity not in columns:
        raise InputError("quantity", quantity, f"one of {', '.join(columns)}")
    axes = _axes(ax)
    for name, label in ((quantity, "training"), (f"validation_{quantity}", "held out")):
        if name in columns:
            axes.plot(columns["update"], columns[name], label=label)
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
    for name, label in (("lower", "pseudo-entropy, a lower bound"), ("upper", "upper bound of the machine")):
        edges = [getattr(getattr(each, "bracket", each), name) for each in brackets]
        points = [(t, edge.value, edge.error) for t, edge in zip(T, edges, strict=True) if edge is not None]
        if points:
            axes.errorbar(*np.transpose(points), marker="o", capsize=2, label=label)
    if exact is not None:
        axes.plot(*exact, color="black", label="exact")
    axes.set(xlabel="temperature", ylabel="entropy per spin, nats")
    axes.legend()
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
    (line,) = axes.plot(T, curve.values, label=label or None)
    axes.fill_between(
        T, curve.values - curve.errors, curve.values + curve.errors, color=line.get_color(), alpha=0.3
    )
    if critical is not None:
        lower, upper = critical.lower, critical.upper
        axes.axvspan(lower, upper, color="gray", alpha=0.3, label=f"T_c = {critical}")
    axes.set(xlabel="temperature", ylabel=label)
    if label or critical is not None:
        axes.legend()
    return axes


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def _image(picture: NDArray[np.float64], ax: Axes | None, colours: str, limit: float) -> Axes:
    axes = _axes(ax)
    axes.imshow(picture, cmap=colours, vmin=-limit, vmax=limit, interpolation="nearest")
    axes.set_axis_off()
    return axes


def _tiles(pictures: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, rows, columns) as one picture with gaps of nan; more axes are cut to their first plane."""
    if pictures.ndim < 2 or len(pictures) == 0:
        raise InputError("pictures", pictures.shape, "an array of shape (n, L, L)")
    if pictures.ndim == 2:  # chains: one row each
        pictures = pictures[:, None, :]
    while pictures.ndim > 3:
        pictures = pictures[..., 0]
    n, height, width = pictures.shape
    n_columns = n if n <= 8 else int(np.ceil(np.sqrt(n)))
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
