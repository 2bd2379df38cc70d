"""First screen: what filters look like at several temperatures, and which couplings they stand for."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray
from PIL import Image

from thermorbm.report.chart import (
    flat,
    landmark_histograms,
    landmark_machines,
    lattice_filters,
    near_critical,
)
from thermorbm.report.labels import DENSITY, NOTHING, WEIGHTS, percent, short, size_label, text
from thermorbm.report.panels import Panel
from thermorbm.report.rules import moments_of
from thermorbm.report.run import FamilyView, Missing
from thermorbm.report.sections.symmetric import coupling_words, couplings_panel
from thermorbm.report.sections.weights import majority
from thermorbm.report.style import DIVERGING, data_uri, few_colours

COLUMNS, ROWS = 6, 2


@dataclass(frozen=True)
class Strip:
    """Filters of one machine. pictures: data URIs. label: where it was trained, in words."""

    value: float
    label: Markup
    pictures: Sequence[str]


def filter_strips(family: FamilyView) -> list[Strip]:
    """Some filters of the smallest machines at several values; none where there is no lattice."""
    try:
        chosen = _chosen_values(family)
        machines = dict(family.smallest_machines())
        return [_strip(family, value, lattice_filters(family, machines[value])[0]) for value in chosen]
    except Missing:
        return []


def _chosen_values(family: FamilyView) -> list[float]:
    """Values from the lowest to the highest, one of them next to the transition."""
    values = sorted(value for value, _ in family.smallest_machines())
    near = near_critical(family)
    others = [value for value in values if value != near]
    places = np.linspace(0, len(others) - 1, min(COLUMNS - 1, len(others))).round().astype(int)
    return sorted({near, *(others[place] for place in places)})


def _strip(family: FamilyView, value: float, filters: NDArray[Any]) -> Strip:
    pictures = flat(filters)
    first = 1 if len(pictures) > ROWS else 0  # the first may carry the order, and is uniform
    shown = [_pixels(picture) for picture in pictures[first : first + ROWS]]
    return Strip(value, family.at(value).html, shown)


def _pixels(picture: NDArray[Any]) -> str:
    """A filter, one pixel for each weight, from blue (negative) by white to vermilion."""
    limit = 2 * float(np.sqrt(np.mean(np.square(picture, dtype=np.float64)))) or 1.0
    colours = DIVERGING(np.clip(0.5 + picture / (2 * limit), 0, 1), bytes=True)
    image = few_colours(Image.fromarray(np.asarray(colours)[..., :3]))
    target = io.BytesIO()
    image.save(target, format="PNG", optimize=True)
    return data_uri(target.getvalue(), "image/png")


def learnt_panel(family: FamilyView) -> Panel:
    """Couplings that symmetric machines have learned; without them, how the weights are distributed."""
    try:
        return couplings_panel(family)
    except Missing:
        return Panel(NOTHING, WEIGHTS["W"], DENSITY, landmark_histograms(family, "W"))


def learnt_words(family: FamilyView) -> list[Markup]:
    """What the weights are like, and what Hamiltonian they stand for; of symmetric machines the second."""
    couplings = coupling_words(family)
    try:
        return [_weights_words(family.from_random_weights), *couplings]
    except Missing:
        if not couplings:
            raise
        return couplings


def _weights_words(family: FamilyView) -> Markup:
    rows = [(value, machine) for value, machine, _ in landmark_machines(family)]
    how = " trained as the paper's" if family.as_paper else ""
    size = size_label(family.smallest())
    try:
        shares = [(value, percent(majority(machine).value, digits=0)) for value, machine in rows]
        words = (
            "In machines{} with {} hidden units, on average {} of the weights of a filter have the same "
            "sign; of signs drawn by chance it would be about one half."
        )
        return text(words, how, size, family.list_at(shares))
    except Missing:
        spreads = [(value, short(moments_of(machine, "W").variance ** 0.5, 2)) for value, machine in rows]
        words = "In machines{} with {} hidden units, weights have a standard deviation of {}."
        return text(words, how, size, family.list_at(spreads))
