"""Every quantity that a study averages, with all that the rest of the package has to know about it.

A quantity is one entry of `QUANTITIES`. From it follow: what is read from results into curves over the
temperature, which of these curves are searched for T_c and for what, the columns of `tables/summary.csv`, the
table of critical temperatures on the terminal, and labels of figures and tables in the report. To add one,
add an entry (CONTRIBUTING.md shows it step by step).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.stats import Estimate
from thermorbm.study.results import CriticalTemperature, Data, Interactions, Observation, Weights

# What is sought in a curve X(T): names of functions of `thermorbm.estimators`.
PEAK = "peak"  # its maximum
STEEPEST = "steepest"  # its steepest slope
HEAT_PEAK = "heat_peak"  # the maximum of T dX/dT, the heat capacity if X is an entropy
# On a finite lattice the two kinds of features lie apart: each is set against the peak of its own kind.
HEAT_CAPACITY, SUSCEPTIBILITY = "heat_capacity", "susceptibility"
# Averages of configurations whose peaks are the targets where no exact ones are known; c_V is T dS/dT.
GIVE_TARGETS = ("heat_capacity_per_spin", "entropy_per_spin", "susceptibility_per_spin")

Source = Data | Weights | Observation | Interactions
Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Quantity:
    """A named average with an error.

    name: in `results.json` and tables. tex: its symbol, text with formulas between dollar signs. text: the
    same for the terminal. source: the record of `results` that has it. place: where in it, names joined by
    dots; by default where `measure` puts it, "thermal.NAME" of `Data` and "measured.NAME" of `Observation`.
    is_total: the record has the sum over all spins, which is divided by their number. over_n: the symbol is
    that of a total, so that axes say "/N". unit: of the value. of: what the table of T_c says behind the
    symbol, such as "of the data".

    mark: what is sought in its curve to find T_c, "" if nothing. target: the kind of peak on a finite lattice
    that the mark belongs to. only_unions: only machines for all temperatures together are searched.
    in_summary: a column of `tables/summary.csv`.

    measure: for a new quantity, how it is got from a machine and held-out configurations with a seed, or from
    configurations alone if the source is `Data`. read: for one that has several curves, such as correlations
    at several distances, how all are got from the record and its arrays; their names begin with this one's.
    """

    name: str
    tex: str
    text: str
    source: type[Any]
    place: str = ""
    is_total: bool = False
    over_n: bool = False
    unit: str = ""
    of: str = ""
    mark: str = ""
    target: str = ""
    only_unions: bool = False
    in_summary: bool = False
    measure: Callable[..., Estimate] | None = field(default=None, repr=False)
    read: Callable[[Any, Arrays], dict[str, Estimate]] | None = field(default=None, repr=False)

    @property
    def axis(self) -> str:
        """The label of an axis, as TeX: the symbol, over the number of spins where it is a total's."""
        return f"{self.tex}$/N$" if self.over_n else self.tex

    def mark_label(self, mark: str = "", control: str = "$T$") -> str:
        """What tells T_c, as TeX. mark: where it is not this quantity's own. control: what T is called."""
        if (mark or self.mark) == HEAT_PEAK:
            return rf"{control}$\,$d{self.tex}$/$d{control}"
        if (mark or self.mark) == STEEPEST:
            return f"slope of {self.tex}"
        return f"{self.tex} {self.of}" if self.of else self.tex

    def mark_text(self, mark: str = "") -> str:
        """The same for the terminal."""
        if (mark or self.mark) == HEAT_PEAK:
            return f"T d{self.text}/dT"
        return f"{self.text} slope" if (mark or self.mark) == STEEPEST else self.text

    def estimates(self, record: Source, arrays: Arrays) -> dict[str, Estimate]:
        """What a record holds of it: one estimate under its name, several where it has `read`, or none."""
        if not isinstance(record, self.source):
            return {}
        if self.read is not None:
            return self.read(record, arrays)
        home = "thermal" if self.source is Data else "measured"
        estimate = _at(record, (self.place or f"{home}.{self.name}").split("."))
        if estimate is None:
            return {}
        n = record.n_sites if self.is_total else 1
        return {self.name: Estimate(estimate.value / n, estimate.error / n)}


def _at(record: Any, names: Iterable[str]) -> Estimate | None:
    """record.name.name..., None where a part is not there."""
    for name in names:
        record = record.get(name) if isinstance(record, Mapping) else getattr(record, name, None)
        if not record:
            return None
    return record if isinstance(record, Estimate) else None


def _correlations(record: Weights, arrays: Arrays) -> dict[str, Estimate]:
    """Inverse-filter correlation at whole distances 1, 2, 4, ... up to half the shortest side."""
    if "correlation.distances" not in arrays:
        return {}
    distances, values, errors = (arrays[f"correlation.{key}"] for key in ("distances", "values", "errors"))
    longest = min(arrays["filters"].shape[1:]) // 2
    nearest = {r: int(np.argmin(np.abs(distances - r))) for r in (2**n for n in range(longest.bit_length()))}
    return {f"correlation_r{r}": Estimate(float(values[at]), float(errors[at])) for r, at in nearest.items()}


def _couplings(record: Interactions, arrays: Arrays) -> dict[str, Estimate]:
    """The error of a single machine is not known; machines from several seeds show it."""
    return {coupling_name(pair.r): Estimate(pair.coupling, math.nan) for pair in record.pairs}


def coupling_name(r: Iterable[int]) -> str:
    """What the curve of J(r) is called: coupling_0_1 for neighbours on a square lattice."""
    return "coupling_" + "_".join(map(str, r))


# Quantities of held-out configurations, and the same of those that machines were trained on.
ON_TRAINING_DATA = {
    "pseudo_likelihood_per_spin": "pseudo_likelihood_train_per_spin",
    "cross_entropy": "cross_entropy_train",
    "visible_energy_mean_per_spin": "visible_energy_mean_train_per_spin",
    "visible_energy_variance_per_spin": "visible_energy_variance_train_per_spin",
}

_ENTRIES = (
    # Averages of configurations. The entropy is got by integrating over the temperature.
    Quantity("magnetization_per_spin", r"$\langle m\rangle$", "m", Data),
    Quantity("abs_magnetization_per_spin", r"$\langle|m|\rangle$", "|m|", Data),
    Quantity("squared_magnetization_per_spin", r"$\langle m^2\rangle$", "m^2", Data),
    Quantity("energy_per_spin", r"$\langle E\rangle$", "E", Data, unit="J", over_n=True),
    Quantity(
        "heat_capacity_per_spin", "$c_V$", "c_V", Data, unit="k_B",
        of="of the data", mark=PEAK, target=HEAT_CAPACITY,
    ),
    Quantity(
        "susceptibility_per_spin", r"$\chi_{|m|}$", "susceptibility of |m|", Data, unit="1/J",
        of="of the data", mark=PEAK, target=SUSCEPTIBILITY,
    ),
    Quantity(
        "pseudo_entropy_per_spin", r"$\widetilde{S}$", "S~", Data, unit="k_B", over_n=True,
        mark=HEAT_PEAK, target=HEAT_CAPACITY,
    ),
    Quantity(
        "entropy_per_spin", "$S$", "S", Data, unit="k_B", over_n=True,
        mark=HEAT_PEAK, target=HEAT_CAPACITY,
    ),
    # The parameters of dense machines.
    Quantity(
        "filter_sum_abs_variance", r"Var $|\Sigma_j W_{ij}|$", "Var |filter sum|", Weights,
        "filter_sum_abs_variance", mark=PEAK, target=SUSCEPTIBILITY,
    ),
    Quantity(
        "correlation_", "inverse filters, $r$\u00a0=\u00a0", "filter correlation r=", Weights,
        read=_correlations, mark=PEAK, target=SUSCEPTIBILITY,
    ),
    # What dense machines say of configurations.
    Quantity(
        "visible_energy_mean_per_spin", r"mean $\mathcal{E}_\theta$", "visible energy", Observation,
        "visible_energy.held_out.mean", is_total=True, over_n=True, unit="nats", in_summary=True,
        mark=STEEPEST, target=HEAT_CAPACITY, only_unions=True,
    ),
    Quantity(
        "visible_energy_variance_per_spin", r"Var $\mathcal{E}_\theta$", "Var visible energy", Observation,
        "visible_energy.held_out.variance", is_total=True, over_n=True, in_summary=True,
        mark=PEAK, target=HEAT_CAPACITY,
    ),
    Quantity(
        "zero_bias_energy_variance_per_spin", r"Var $\mathcal{E}_W$", "Var E_W (no biases)", Observation,
        "visible_energy.zero_bias.variance", is_total=True, over_n=True, mark=PEAK, target=HEAT_CAPACITY,
    ),
    # The paper scores the configurations that it trains on: the same of those.
    Quantity(
        "visible_energy_mean_train_per_spin", r"mean $\mathcal{E}_\theta$, training",
        "visible energy, training", Observation, "visible_energy.train.mean",
        is_total=True, over_n=True, unit="nats", mark=STEEPEST, target=HEAT_CAPACITY, only_unions=True,
    ),
    Quantity(
        "visible_energy_variance_train_per_spin", r"Var $\mathcal{E}_\theta$, training",
        "Var visible energy, training", Observation, "visible_energy.train.variance",
        is_total=True, over_n=True, mark=PEAK, target=HEAT_CAPACITY,
    ),
    Quantity(
        "cross_entropy_train", "CE, training", "cross entropy, training", Observation,
        "likelihood.train.cross_entropy", unit="nats", in_summary=True,
    ),
    Quantity(
        "pseudo_likelihood_train_per_spin", r"$\widetilde{\mathcal{L}}_{\mathrm{training}}$", "L~ training",
        Observation, "likelihood.train.pseudo_likelihood_per_spin", unit="nats", over_n=True, in_summary=True,
        mark=HEAT_PEAK, target=HEAT_CAPACITY,
    ),
    Quantity(
        "cross_entropy", "CE", "cross entropy", Observation, "likelihood.held_out.cross_entropy",
        unit="nats", in_summary=True,
    ),
    Quantity(
        "pseudo_likelihood_per_spin", r"$\widetilde{\mathcal{L}}$", "L~", Observation,
        "likelihood.held_out.pseudo_likelihood_per_spin", unit="nats", over_n=True, in_summary=True,
        mark=HEAT_PEAK, target=HEAT_CAPACITY,
    ),
    Quantity(
        "correlations_learnt", "correlations learnt", "correlations learnt", Observation,
        "correlations_learnt", in_summary=True,
    ),
    Quantity("sign_rule", "sign rule", "sign rule", Observation, "hidden.sign_rule"),
    # The entropy bracket, of dense and of symmetric machines.
    Quantity(
        "entropy_lower_per_spin", r"$S_\mathrm{low}$", "S_low", Observation,
        "bracket.entropy_lower_per_spin", unit="k_B", over_n=True, in_summary=True,
    ),
    Quantity(
        "entropy_upper_per_spin", r"$S_\mathrm{up}$", "S_up", Observation,
        "bracket.entropy_upper_per_spin", unit="k_B", over_n=True, in_summary=True,
        mark=HEAT_PEAK, target=HEAT_CAPACITY,
    ),
    Quantity(
        "nll_per_spin", "NLL", "NLL", Observation, "bracket.nll_per_spin", unit="nats", over_n=True,
        in_summary=True, mark=HEAT_PEAK, target=HEAT_CAPACITY,
    ),
    Quantity(
        "kl_per_spin", "KL", "KL", Observation, "bracket.kl_per_spin", unit="nats", over_n=True,
    ),
    # What symmetric machines have learned, and what they generate themselves.
    Quantity("nearest_coupling", "$J$", "J", Interactions, "nearest_coupling"),
    Quantity("coupling_", "$J$", "J", Interactions, read=_couplings),
    Quantity(
        "own_energy_per_spin", r"$\langle E\rangle$ of its own chains", "E of own chains", Interactions,
        "own.thermal.energy_per_spin", unit="J",
    ),
    Quantity(
        "own_heat_capacity_per_spin", "$c_V$ of its own chains", "c_V of own chains", Interactions,
        "own.thermal.heat_capacity_per_spin", unit="k_B", mark=PEAK, target=HEAT_CAPACITY,
    ),
)  # fmt: skip
QUANTITIES = {quantity.name: quantity for quantity in _ENTRIES}


def find_quantity(name: str) -> Quantity | None:
    """The entry that a curve of this name belongs to; None if there is none."""
    if name in QUANTITIES:
        return QUANTITIES[name]
    return next((q for q in QUANTITIES.values() if q.read is not None and name.startswith(q.name)), None)


def read_all(record: Source, arrays: Arrays) -> dict[str, Estimate]:
    """Every quantity that a record and its arrays hold, by name."""
    names: dict[str, Estimate] = {}
    for quantity in QUANTITIES.values():
        names |= quantity.estimates(record, arrays)
    return names


def indicator_tex(name: str, mark: str = "", control: str = "$T$") -> str:
    """How tables and figures call what tells T_c, as TeX. mark: what was sought, see `Quantity.mark`.

    name: of a curve; or "target_KIND", the peak that a kind of indicator is set against.
    """
    if name.startswith("target_"):
        return f"target, {QUANTITIES[name.removeprefix('target_') + '_per_spin'].tex}"
    quantity = find_quantity(name)
    if quantity is None:
        return name.replace("_", " ")
    return quantity.mark_label(mark, control) + _suffix(name, quantity)


def indicator_text(name: str, mark: str = "") -> str:
    """The same for the terminal."""
    quantity = find_quantity(name)
    return name if quantity is None else quantity.mark_text(mark) + _suffix(name, quantity)


def _suffix(name: str, quantity: Quantity) -> str:
    """By what the curves of one entry differ: the distance or the displacement."""
    return name.removeprefix(quantity.name).removeprefix("r").replace("_", ", ")


def is_headline(row: CriticalTemperature) -> bool:
    """Whether it belongs to the few that a run ends with, chosen beforehand and not for its value.

    Of data the two peaks that all others are set against; of machines for all temperatures, and of those that
    are trained as in the paper, the variance of the visible energy; of all others the peak of T dNLL/dT.
    """
    if row.variant is None:
        return row.indicator in ("heat_capacity_per_spin", "susceptibility_per_spin")
    variance = "visible_energy_variance_per_spin"
    return row.indicator == (variance if row.union or row.as_paper else "nll_per_spin")


def measured_names(source: type[Any]) -> dict[str, Any]:
    """The parameter of a task that measures quantities: their names; absent where there are none.

    So a new quantity gives its tasks a new hash, and they are done again.
    """
    names = [name for name, quantity in QUANTITIES.items() if quantity.source is source and quantity.measure]
    return {"measured": names} if names else {}


def measured_values(source: type[Any], parameters: Mapping[str, Any], *arguments: Any) -> dict[str, Estimate]:
    """What the quantities that the parameters name say of a machine and data, or of data."""
    values = {}
    for name in parameters.get("measured", ()):
        measure = QUANTITIES[name].measure
        assert measure is not None
        assert QUANTITIES[name].source is source
        values[name] = measure(*arguments)
    return values


def registry_digest() -> str:
    """Changes when a quantity is read or sought otherwise; part of what determines curves and T_c."""
    essence = [(q.name, q.place, q.is_total, q.mark, q.target, q.only_unions) for q in QUANTITIES.values()]
    return hashlib.sha256(repr(essence).encode()).hexdigest()[:16]
