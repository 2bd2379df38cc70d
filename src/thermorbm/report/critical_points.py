"""Estimates of T_c as the report lists them: each indicator with its error and its own target."""

from __future__ import annotations

from dataclasses import dataclass

from markupsafe import Markup

from thermorbm.report.labels import (
    ENTROPY,
    HEAT_CAPACITY,
    PSEUDO_ENTROPY,
    PSEUDO_LIKELIHOOD,
    SUSCEPTIBILITY,
    TC,
    UPPER_EDGE,
    VISIBLE_ENERGY,
    Label,
    percent,
    plain,
    size_label,
    text,
    with_error,
)
from thermorbm.report.run import NO_MACHINES, FamilyView, Missing, Values, estimate, look, role_of
from thermorbm.report.section import Answer, Check, decide

SLOPE = Label(r"$T\,$d", "<i>T</i> d")
PER_T = Label(r"$\,/\,$d$T$", "/d<i>T</i>")
INDICATORS = {
    "heat_capacity_per_spin": HEAT_CAPACITY + " of the data",
    "susceptibility_per_spin": SUSCEPTIBILITY + " of the data",
    "target_heat_capacity": "target, " + HEAT_CAPACITY,
    "target_susceptibility": "target, " + SUSCEPTIBILITY,
    "entropy_per_spin": SLOPE + ENTROPY + PER_T,
    "pseudo_entropy_per_spin": SLOPE + PSEUDO_ENTROPY + PER_T,
    "pseudo_likelihood_per_spin": SLOPE + PSEUDO_LIKELIHOOD + PER_T,
    "entropy_upper_per_spin": SLOPE + UPPER_EDGE + PER_T,
    "nll_per_spin": SLOPE + "NLL" + PER_T,
    "own_heat_capacity_per_spin": HEAT_CAPACITY + " of its own chains",
    "filter_sum_abs_variance": plain("Var |filter sum|"),
    "visible_energy_variance_per_spin": "Var " + VISIBLE_ENERGY,
    "zero_bias_energy_variance_per_spin": Label(r"Var $\mathcal{E}_W$", "Var ℰ<sub>W</sub>"),
}
# Curves whose steepest place is sought; T dX/dT where the control parameter is a temperature.
SLOPES = {
    "visible_energy_mean_per_spin": "mean " + VISIBLE_ENERGY,
    "pseudo_likelihood_per_spin": PSEUDO_LIKELIHOOD,
}
ROLES = {
    "data": "configurations",
    "union": "all temperatures",
    "union-proportions": "other proportions",
    "zero-bias": "without biases",
    "unbalanced": "unequal signs",
    "symmetric": "symmetric",
}
SHORT_ROLES = {"main": "", "union": "all T", "union-proportions": "other prop."}
CLOSE = 0.08  # of its own target
CLOSE_RULE = "T_c of every size within 8 % of its own target"
NO_TC = "no critical temperatures were estimated"


@dataclass(frozen=True)
class TcEstimate:
    """One estimate of T_c. target: where this indicator should peak on this lattice, None if not known."""

    indicator: str
    role: str
    group: str | None
    n_hidden: int | None
    value: float
    error: float
    target: float | None
    infinite: float | None
    problem: str | None
    feature: str = "peak"

    @property
    def label(self) -> Label:
        return indicator_label(self.indicator, self.feature)

    @property
    def machines(self) -> Label:
        """The machines that were read."""
        role = ROLES.get(self.role, "" if self.role == "main" else str(self.group))
        if self.n_hidden is None:
            return plain(role)
        return size_label(self.n_hidden) + (f", {role}" if role else "")

    @property
    def short_machines(self) -> str:
        """The same where there is little room."""
        return f"{SHORT_ROLES.get(self.role, str(self.group))} {self.n_hidden}".strip()

    @property
    def distance(self) -> float | None:
        """From the target, relative to it."""
        return None if self.target is None else self.value / self.target - 1

    @property
    def from_infinite(self) -> float | None:
        """From T_c of the infinite lattice, relative to it."""
        return None if self.infinite is None else self.value / self.infinite - 1

    @property
    def words(self) -> Markup:
        """n_h = 400: T_c = 2.240(12) (-1.20 % from its target)."""
        size = "" if self.n_hidden is None else size_label(self.n_hidden) + ": "
        if self.problem is not None:
            return text("{}{}", size, self.problem)
        off = "" if self.distance is None else f" ({percent(self.distance, signed=True)} from its target)"
        return text("{}{} = {}{}", size, TC, with_error(self.value, self.error), off)


def indicator_label(indicator: str, feature: str) -> Label:
    if feature == "steepest" and indicator in SLOPES:
        return "slope of " + SLOPES[indicator]
    if indicator.startswith("correlation_"):
        r = indicator.removeprefix("correlation_").removeprefix("r")
        return "inverse filters, " + Label("$r$", "<i>r</i>") + f"\u00a0=\u00a0{r}"
    return INDICATORS.get(indicator, plain(indicator.replace("_", " ")))


def tc_estimates(family: FamilyView, shown: bool = False) -> list[TcEstimate]:
    """All estimates of a family, or those that stand in the table of T_c."""
    roles = {machine["group"]: role_of(machine) for machine in family.all_machines}
    estimates = []
    for row in family.values.get("critical_temperatures", []):
        pair = estimate(row, "estimate")
        if pair is not None and (row.get("is_shown", True) or not shown):
            estimates.append(_tc_estimate(family, row, pair, roles.get(row["group"], "data")))
    return estimates


def _tc_estimate(family: FamilyView, row: Values, pair: tuple[float, float], role: str) -> TcEstimate:
    target, n_hidden = look(row, "target", "value"), row.get("n_hidden")
    return TcEstimate(
        row["indicator"], role, row["group"], n_hidden, *pair, target, family.critical, row.get("problem"),
        row.get("feature", "peak"),
    )  # fmt: skip


def estimates_by(family: FamilyView, role: str, indicator: str) -> list[TcEstimate]:
    """Estimates of indicators whose name begins so by machines of that role, smallest machines first.

    Of correlations it is the one that stands in the table of T_c. Missing if there are none.
    """
    rows = [
        row
        for row in tc_estimates(family, shown=True)
        if row.role == role and row.indicator.startswith(indicator)
    ]
    if not rows:
        raise Missing(NO_TC if family.machines(role) else NO_MACHINES[role])
    return sorted(rows, key=lambda row: row.n_hidden or 0)


def check_peak(role: str, indicator: str) -> Check:
    """Whether every size puts T_c within 8 % of the indicator's own target; a peak at an end is none."""

    def check(family: FamilyView) -> Answer:
        rows = estimates_by(family, role, indicator)
        if not any(row.target for row in rows):
            raise Missing("there is no target to compare with")
        good = [r.problem is None and r.distance is not None and abs(r.distance) <= CLOSE for r in rows]
        return decide(all(good), "{}", Markup("; ").join(row.words for row in rows))

    return check
