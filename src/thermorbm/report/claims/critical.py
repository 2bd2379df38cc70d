"""Claims about the critical temperature: peaks near T_c, table 2, and what moves the apparent T_c."""

from __future__ import annotations

from markupsafe import Markup

from thermorbm.report.chart import NO_MACHINES, peak_of
from thermorbm.report.claims.kinds import Answer, claim, listed, need
from thermorbm.report.critical import CriticalPoint, critical_points
from thermorbm.report.labels import TC, at, percent, size_label, with_error
from thermorbm.report.run import Family, Missing

CLOSE = 0.08  # of its own target
NO_TC = "no critical temperatures were estimated"


def points_of(family: Family, role: str, indicator: str) -> list[CriticalPoint]:
    """Estimates of indicators whose name begins so by machines of that role, smallest first; of correlations
    the one that stands in the table of T_c."""
    found = [
        point
        for point in critical_points(family, shown=True)
        if point.role == role and point.indicator.startswith(indicator)
    ]
    return sorted(found, key=lambda point: point.n_hidden or 0)


def peak_answer(family: Family, role: str, indicator: str) -> Answer:
    """Whether every size puts T_c within 8 % of the indicator's own target; a peak at an end is none."""
    points = points_of(family, role, indicator)
    if not points:
        raise Missing(NO_TC if family.machines(role) else NO_MACHINES[role])
    if not any(point.target for point in points):
        raise Missing("there is no target to compare with")
    good = [p.problem is None and p.distance is not None and abs(p.distance) <= CLOSE for p in points]
    return all(good), listed([_told(point) for point in points])


def _told(point: CriticalPoint) -> Markup:
    size = Markup("") if point.n_hidden is None else Markup("{}: ").format(size_label(point.n_hidden).markup)
    if point.problem is not None:
        return Markup("{}{}").format(size, point.problem)
    off = "" if point.distance is None else f" ({percent(point.distance, signed=True)} from its target)"
    return Markup("{}{} = {}{}").format(size, TC.markup, with_error(point.value, point.error), off)


def within_three_percent(family: Family) -> Answer:
    """T_c from T dL~/dT against the infinite lattice."""
    critical = need(family.critical, "T_c is not known")
    points = points_of(family, "main", "pseudo_likelihood")
    if not points:
        raise Missing(NO_TC)
    told = [
        Markup("{}: {} ({})").format(
            size_label(point.n_hidden or 0).markup,
            with_error(point.value, point.error),
            percent(point.value / critical - 1, signed=True),
        )
        for point in points
    ]
    return all(abs(point.value / critical - 1) <= 0.03 for point in points), listed(told)


def energy_variance_peak(family: Family) -> Answer:
    return peak_answer(family, "main", "visible_energy_variance")


def union_slope(family: Family) -> Answer:
    return peak_answer(family, "union", "visible_energy_mean")


def union_variance(family: Family) -> Answer:
    return peak_answer(family, "union", "visible_energy_variance")


def proportions_move(family: Family) -> Answer:
    """Compares the all-temperature machines with equal and with other proportions, indicator by indicator."""
    others = {(p.indicator, p.n_hidden): p for p in points_of(family, "union-proportions", "")}
    if not others:
        raise Missing(NO_TC if family.machines("union-proportions") else NO_MACHINES["union-proportions"])
    told, moved = [], False
    for point in points_of(family, "union", ""):
        other = others.get((point.indicator, point.n_hidden))
        if other is not None:
            error = (point.error**2 + other.error**2) ** 0.5
            moved |= abs(other.value - point.value) > 2 * error
            told.append(
                Markup("{}: {} → {}").format(
                    point.label.markup,
                    with_error(point.value, point.error),
                    with_error(other.value, other.error),
                )
            )
    if not told:
        raise Missing("the two kinds of machines have no indicator in common")
    return moved, listed(told)


def rounded_peak(family: Family) -> Answer:
    """Whether the largest machine puts the peak of the variance further from its target than the smallest."""
    sizes = family.sizes()
    if len(sizes) < 2:
        raise Missing("there is one number of hidden units only")
    points = {point.n_hidden: point for point in points_of(family, "main", "visible_energy_variance")}
    if sizes[0] not in points or sizes[-1] not in points:
        return _by_grid(family, sizes)
    first, last = points[sizes[0]], points[sizes[-1]]
    error = (first.error**2 + last.error**2) ** 0.5
    further = abs(last.distance or 0) > abs(first.distance or 0)
    return further and abs(last.value - first.value) > 2 * error, listed([_told(first), _told(last)])


def _by_grid(family: Family, sizes: list[int]) -> Answer:
    """The same by the highest points, where no T_c was estimated."""
    critical, places = need(family.critical, "T_c is not known"), []
    for item in family.indicators():
        if item["n_hidden"] in (sizes[0], sizes[-1]):
            places.append(need(peak_of(item["curves"].get("visible_energy_variance_per_spin")), NO_TC)[0])
    if len(places) < 2:
        raise Missing(NO_TC)
    told = Markup(" → ").join(at(family.run, place).markup for place in places)
    return abs(places[-1] - critical) > abs(places[0] - critical), Markup("highest point {}").format(told)


CLAIMS = (
    claim(
        "energy-variance",
        "Fig. 7",
        "The variance of the visible energy peaks near <i>T</i><sub>c</sub>.",
        "T_c of every size within 8 % of its own target",
        energy_variance_peak,
    ),
    claim(
        "union-slope",
        "Fig. 7",
        "The mean visible energy of the all-temperature machine rises fastest at <i>T</i><sub>c</sub>.",
        "T_c of every size within 8 % of its own target",
        union_slope,
    ),
    claim(
        "union-variance",
        "Fig. 7",
        "The variance of its visible energy peaks at <i>T</i><sub>c</sub>.",
        "T_c of every size within 8 % of its own target",
        union_variance,
    ),
    claim(
        "rounded-peak",
        "Text",
        "Peaks of the variance shift at the largest <i>n</i><sub>h</sub>.",
        "T_c of the largest machines is further from its target than that of the smallest, by 2 errors",
        rounded_peak,
    ),
    claim(
        "tc-three-percent",
        "Tab. 2",
        "<i>T</i><sub>c</sub> from <i>T</i> d<i>L̃</i>/d<i>T</i> is right within 1–3 %.",
        "every size within 3 % of T_c of the infinite lattice",
        within_three_percent,
    ),
    claim(
        "proportions",
        "Text",
        "Other proportions of temperatures move <i>T</i><sub>c</sub> of the all-temperature machine.",
        "some indicator moves by more than 2 standard errors",
        proportions_move,
    ),
)
