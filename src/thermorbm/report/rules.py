"""What claims share: rows of T_c with their targets, shapes of distributions, curves that fall with size."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from thermorbm.report.chart import landmark_machines, near_critical
from thermorbm.report.labels import (
    Label,
    by_size,
    percent,
    plain,
    short,
    size_label,
    text,
    with_error,
)
from thermorbm.report.run import (
    NO_MACHINES,
    NO_WEIGHTS,
    ONE_SIZE,
    FamilyView,
    Missing,
    Run,
    need,
    need_some,
    pair_of,
    points,
)
from thermorbm.report.section import Check, Ruling, decide, undecided
from thermorbm.study.quantities import indicator_tex
from thermorbm.study.results import CriticalTemperature, Indicators, MachineResults, Moments

# Sarle's coefficient of a flat distribution; two peaks give more, one gives less.
FLAT = 5 / 9
NO_DOMAINS = "domains of filters were not measured"
ROLES = {
    "data": "configurations",
    "union-proportions": "other proportions",
    "zero-bias": "without biases",
    "unbalanced": "unequal signs",
    "symmetric": "symmetric",
}
SHORT_ROLES = {"main": "", "union-proportions": "other prop."}
CLOSE = 0.03  # of its own target
NO_TC = "no transition was determined"


def moments_of(machine: MachineResults, name: str) -> Moments:
    """Mean, variance and shape of one kind of weights or sums of a machine."""
    moments: Moments = getattr(need(machine.weights, NO_WEIGHTS), name)
    return moments


def moments_at_landmarks(family: FamilyView, name: str, moment: str) -> tuple[list[float], Markup]:
    """One of the moments below, near and above T_c, as numbers and in words."""
    rows = [
        (value, float(getattr(moments_of(machine, name), moment)))
        for value, machine, _ in landmark_machines(family)
    ]
    return [x for _, x in rows], family.list_at([(value, short(x, 2)) for value, x in rows])


def check_gaussian(family: FamilyView, name: str) -> tuple[bool, Markup]:
    """Whether a distribution is Gaussian at the landmarks, and the moments that say so."""
    kurtosis, kurtosis_words = moments_at_landmarks(family, name, "excess_kurtosis")
    skewness, _ = moments_at_landmarks(family, name, "skewness")
    is_gaussian = all(abs(k) <= 1 for k in kurtosis) and all(abs(s) <= 0.5 for s in skewness)
    largest = short(max(map(abs, skewness)), 2)
    return is_gaussian, text("excess kurtosis {}; largest |skewness| {}", kurtosis_words, largest)


def largest_ratio(
    family: FamilyView, name: str, ratio: Callable[[float, float], float]
) -> tuple[float, float]:
    """The largest ratio(mean, standard deviation) of the smallest machines, and the value where it is."""
    rows = []
    for value, machine in family.smallest_machines():
        moments = moments_of(machine, name)
        rows.append((ratio(moments.mean, math.sqrt(moments.variance)), value))
    return max(rows)


def mean_in_deviations(mean: float, deviation: float) -> float:
    return abs(mean) / (deviation or 1.0)


def sized_items(family: FamilyView, reason: str, least: int = 1) -> list[Indicators]:
    """Curves of machines for single temperatures, smallest first; Missing if there are fewer than `least`."""
    items = family.results.indicators_of()
    if len(items) < least:
        raise Missing(ONE_SIZE if items else reason)
    return items


def check_fall_with_size(curve: str, reason: str) -> Check:
    """Whether a curve of machines for single temperatures falls with the number of hidden units.

    reason: why the curve may be missing.
    """

    def check(family: FamilyView) -> Ruling:
        """Larger machines are lower at most temperatures, and nowhere higher by more than 2 errors."""
        items = sized_items(family, reason, least=2)
        name = family.scored(curve)
        curves = [{x: (y, error) for x, y, error in points(item.curves.get(name))} for item in items]
        if not all(curves):
            raise Missing(reason)
        common = sorted(set.intersection(*(set(one) for one in curves)))
        need_some(common, "no temperature is common to all sizes")
        pairs = [(a[x], b[x]) for x in common for a, b in pairwise(curves)]
        steps = [(b[0] - a[0], math.hypot(a[1], b[1])) for a, b in pairs]
        lower = sum(step < 0 for step, _ in steps)
        holds = lower > len(steps) / 2 and all(step <= 2 * error for step, error in steps)
        place = min(common, key=lambda x: abs(x - near_critical(family)))
        sizes = [(item.n_hidden, short(one[place][0])) for item, one in zip(items, curves, strict=True)]
        words = "lower in {} of {} comparisons; at {} {}"
        return decide(holds, words, lower, len(steps), family.at(place), by_size(sizes))

    return check


@dataclass(frozen=True)
class TcEstimate:
    """What one indicator says of T_c, with all that the tables say beside it.

    value, error: nan where the curve does not determine it.
    """

    row: CriticalTemperature
    run: Run
    infinite: float | None
    value: float
    error: float

    @property
    def role(self) -> str:
        """What the machines are for; "data" for what the configurations themselves say."""
        return self.row.role or "data"

    @property
    def n_hidden(self) -> int | None:
        return self.row.n_hidden

    @property
    def target(self) -> float | None:
        """Where this indicator should peak on this lattice, None if not known."""
        return None if self.row.target is None else self.row.target.value

    @property
    def is_determined(self) -> bool:
        return self.row.problem is None and self.row.estimate is not None

    @property
    def problem(self) -> str | None:
        """Why it is not determined, in words of the study's own parameter."""
        control = self.run.results.study.control
        if self.row.problem is None or control.is_temperature:
            return self.row.problem
        return self.row.problem.replace("temperatures", f"values of {control.name}")

    @property
    def number(self) -> str:
        """2.240(12), or the 95 % interval 2.17–2.34 of a peak that is not resolved."""
        if self.row.interval is not None:
            return "{:.4g}–{:.4g}".format(*self.row.interval)
        return with_error(self.value, self.error)

    @property
    def label(self) -> Label:
        return indicator_label(self.row.indicator, self.row.feature, self.run.control_symbol)

    @property
    def full_label(self) -> Label:
        """The indicator and the machines: slope of L~ (n_h = 400, all temperatures)."""
        return self.label if self.role == "data" else self.label + " (" + self.machines + ")"

    @property
    def machines(self) -> Label:
        """The machines that were read."""
        names = {**ROLES, "main": "", "union": self.run.all_values}
        role = names.get(self.role, str(self.row.variant))
        if self.n_hidden is None:
            return plain(role)
        return size_label(self.n_hidden) + (f", {role}" if role else "")

    @property
    def short_label(self) -> Label:
        """The indicator and the machines where there is little room: T dL~/dT, all T, n_h = 400."""
        if self.n_hidden is None:
            return self.label
        names = {**SHORT_ROLES, "union": f"all {self.run.results.study.control.symbol}"}
        role = names.get(self.role, str(self.row.variant))
        return self.label + (f", {role}" if role else "") + ", " + size_label(self.n_hidden)

    @property
    def distance(self) -> float | None:
        """From the target, relative to it."""
        return None if self.target is None or not self.is_determined else self.value / self.target - 1

    @property
    def from_infinite(self) -> float | None:
        """From T_c of the infinite lattice, relative to it."""
        return None if self.infinite is None or not self.is_determined else self.value / self.infinite - 1

    @property
    def words(self) -> Markup:
        """n_h = 400: T_c = 2.240(12) (-1.20 % from its target)."""
        size = "" if self.n_hidden is None else size_label(self.n_hidden) + ": "
        if self.row.problem is not None:
            return text("{}{}", size, self.problem)
        if self.row.interval is not None:
            return text("{}$T_c$ within {} (95 %)", size, self.number)
        off = "" if self.distance is None else f" ({percent(self.distance, signed=True)} from its target)"
        return text("{}$T_c$ = {}{}", size, self.number, off)


def indicator_label(indicator: str, feature: str, control: Label) -> Label:
    """What tells T_c. control: the symbol of the parameter that is varied."""
    return Label(indicator_tex(indicator, feature, control.tex))


def tc_estimates(family: FamilyView, shown: bool = False) -> list[TcEstimate]:
    """All indicators of a family whose curves were searched, or those that stand in the table of T_c."""
    rows = [row for row in family.results.critical_temperatures if row.is_shown or not shown]
    pairs = [(row, pair_of(row.estimate) or (math.nan, math.nan)) for row in rows if row.was_sought]
    return [TcEstimate(row, family.run, family.critical, *pair) for row, pair in pairs]


def estimates_by(family: FamilyView, role: str, indicator: str) -> list[TcEstimate]:
    """Like `searched_by`, but only where T_c is determined. Missing if it is nowhere."""
    rows = [row for row in searched_by(family, role, indicator) if row.is_determined]
    return need_some(rows, NO_TC)


def searched_by(family: FamilyView, role: str, indicator: str) -> list[TcEstimate]:
    """Indicators whose name begins so by machines of that role, smallest machines first.

    Of correlations it is the one that stands in the table of T_c. Missing if there are none.
    """
    rows = [
        row
        for row in tc_estimates(family, shown=True)
        if row.role == role and row.row.indicator.startswith(indicator)
    ]
    has_machines = role not in NO_MACHINES or family.results.sizes(role)  # the data need none
    need_some(rows, NO_TC if has_machines else NO_MACHINES[role])
    return sorted(rows, key=lambda row: row.n_hidden or 0)


def _is_off(row: TcEstimate) -> bool | None:
    """Whether an estimate is away from its target; None where its interval is too wide to tell."""
    if not row.is_determined:
        return True if row.row.at_edge else None
    if row.distance is None:
        return True
    if abs(row.distance) <= CLOSE:
        return None if row.error > CLOSE * row.value else False
    return None if abs(row.distance) * row.value <= CLOSE * row.value + 2 * row.error else True


def check_peak(role: str, indicator: str) -> Check:
    """Whether machines find T_c by one indicator; a peak at an end of the grid is none."""

    def check(family: FamilyView) -> Ruling:
        """T_c of every size within 3 % of its own target; inconclusive where it is not known that well."""
        rows = searched_by(family, role, family.scored(indicator))
        if not any(row.target for row in rows):
            raise Missing("there is no target to compare with")
        words = Markup("; ").join(row.words for row in rows)
        off = [_is_off(row) for row in rows]
        if None in off and True not in off:
            return undecided("{}", words)
        return decide(True not in off, "{}", words)

    return check
