"""What a figure function gives to the report, and the choices that several of them share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.figure import Figure
from numpy.typing import NDArray

from thermorbm.report.labels import TC, Label, at, plain
from thermorbm.report.panels import Panel, Series, all_panels, draw_panels, series
from thermorbm.report.run import Arrays, Family, Missing, Values, look
from thermorbm.report.style import BELOW_NEAR_ABOVE, colour, marker

# The paper's three temperatures 1.0, 2.25 and 3.5, in units of T_c.
LANDMARKS = (0.44, 0.99, 1.54)
FEW_BINS = 30


@dataclass(frozen=True, eq=False)
class Chart:
    """A figure. figure: for the files and for print. panels: its curves, which the page draws itself.

    picture: something to show on the page beside the curves. lossy: see `style.finish`.
    """

    id: str
    part: str
    title: Label
    caption: Markup
    figure: Figure
    panels: tuple[Panel, ...] = ()
    picture: Figure | None = None
    lossy: bool = False


def curves_chart(
    id: str, part: str, title: Label, caption: Markup, panels: Sequence[Panel], **layout: Any
) -> Chart:
    """A figure that is nothing but panels of curves."""
    if not panels:
        raise Missing("there is nothing to draw")
    return Chart(id, part, title, caption, draw_panels(panels, **layout), tuple(all_panels(panels)))


def name_of(family: Family) -> Label:
    """The family's name, with its lattice."""
    shape = family.values.get("shape")
    lattice = "" if shape is None else f" ({'×'.join(map(str, shape))})"
    return plain(family.name + lattice)


def landmarks(family: Family, role: str = "main") -> list[float]:
    """Values of machines below, near and above T_c; lowest, middle and highest where T_c is not known."""
    values = sorted({m["value"] for m in family.machines(role) if m["value"] is not None})
    if not values:
        raise Missing("no machines for single temperatures were trained")
    if family.critical is None:
        chosen = [values[0], values[len(values) // 2], values[-1]]
    else:
        wanted = np.multiply(LANDMARKS, family.critical)
        chosen = [min(values, key=lambda value: abs(value - target)) for target in wanted]
    return sorted(set(chosen))


def near_critical(family: Family, role: str = "main") -> float:
    """The value nearest to T_c, or in the middle."""
    chosen = landmarks(family, role)
    return chosen[min(1, len(chosen) - 1)]


def smallest(family: Family, role: str = "main") -> int:
    sizes = family.sizes(role)
    if not sizes:
        raise Missing(NO_MACHINES[role])
    return sizes[0]


NO_MACHINES = {
    "main": "no machines for single temperatures were trained",
    "symmetric": "no symmetric machines were trained",
    "union": "no machine was trained on all temperatures together",
    "union-proportions": "no machine was trained on other proportions of temperatures",
    "zero-bias": "no machines without biases were trained",
    "unbalanced": "no machines were trained on configurations with unequal signs",
    "other": "no machines were trained by another recipe",
}


def weights_of(family: Family, machine: Values) -> tuple[Values, Arrays]:
    """Numbers and arrays of the task that read the machine's weights."""
    numbers = machine.get("weights")
    arrays = family.run.arrays(look(numbers, "file"))
    if not numbers or not arrays:
        raise Missing("the weights were not looked at")
    return numbers, arrays


def landmark_machines(family: Family, role: str = "main") -> list[tuple[float, Values, str]]:
    """(value, machine, colour) of the smallest machines at the landmarks."""
    n_hidden = smallest(family, role)
    found = [(value, family.machine(role, n_hidden, value)) for value in landmarks(family, role)]
    colours = BELOW_NEAR_ABOVE if len(found) == 3 else tuple(colour(i) for i in range(len(found)))
    return [
        (value, machine, c) for (value, machine), c in zip(found, colours, strict=True) if machine is not None
    ]


def histogram(name: Label, arrays: Arrays, key: str, n_values: int, **style: Any) -> Series:
    """A stored density as a curve through the middles of its bins; few values get wide bins."""
    if f"{key}.edges" not in arrays:
        raise Missing("the distributions were not stored")
    edges, density = wider_bins(arrays[f"{key}.edges"], arrays[f"{key}.density"], n_values)
    return series(name, *outline(edges, density), **style)


def outline(
    edges: NDArray[np.float64], density: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A histogram as a line that begins and ends at zero: steps if bins are few, else through the middles."""
    if len(density) <= FEW_BINS:
        return np.repeat(edges, 2), np.concatenate([[0.0], np.repeat(density, 2), [0.0]])
    middles = (edges[1:] + edges[:-1]) / 2
    return np.concatenate([edges[:1], middles, edges[-1:]]), np.concatenate([[0.0], density, [0.0]])


def wider_bins(
    edges: NDArray[Any], density: NDArray[Any], n_values: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Joins neighbouring bins until there are about 3 n^(1/3), or as many as there were."""
    n_bins, wanted = len(density), max(8, round(3 * n_values ** (1 / 3)))
    join = max((k for k in range(1, n_bins + 1) if n_bins % k == 0 and n_bins // k >= wanted), default=1)
    return np.asarray(edges[::join], dtype=np.float64), np.asarray(
        density.reshape(-1, join).mean(axis=1), dtype=np.float64
    )


def landmark_histograms(family: Family, key: str, role: str = "main") -> tuple[Series, ...]:
    """The distribution of one kind of number at each landmark."""
    found = []
    for value, machine, chosen in landmark_machines(family, role):
        numbers, arrays = weights_of(family, machine)
        label = at(family.run, value)
        found.append(histogram(label, arrays, key, int(numbers[key]["n_values"]), colour=chosen))
    return tuple(found)


def curve_series(name: Label, curve: Values | None, index: int, **style: Any) -> list[Series]:
    """A stored curve {"x", "values", "errors"} as points joined by a line; nothing if there is none."""
    if not curve or not curve.get("x"):
        return []
    looks: dict[str, Any] = {"colour": colour(index), "marker": marker(index), "width": 0.9, **style}
    values = [np.nan if value is None else value for value in curve["values"]]
    errors = [np.nan if value is None else value for value in curve["errors"]]
    return [series(name, curve["x"], values, errors, **looks)]


def critical_mark(family: Family) -> tuple[tuple[float, Label], ...]:
    """A line at T_c of the infinite lattice."""
    return () if family.critical is None else ((family.critical, TC),)


def peak_of(curve: Values | None) -> tuple[float, float] | None:
    """(x, value) of the highest stored point."""
    if not curve or not curve.get("x"):
        return None
    pairs = [(v, x) for x, v in zip(curve["x"], curve["values"], strict=True) if v is not None]
    if not pairs:
        return None
    value, x = max(pairs)
    return float(x), float(value)
