"""Results of a study that join several temperatures: curves, T_c from them, and both on growing lattices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from thermorbm.stats import Estimate, Estimates

GROUP = {"stored": "group"}  # what files call the name of a variant


@dataclass(frozen=True)
class Curve:
    """An estimate at every value of the control parameter, lowest first; columns of one length."""

    x: tuple[float, ...]
    values: tuple[float, ...]
    errors: tuple[float, ...]

    @classmethod
    def of(cls, x: Sequence[float], estimates: Estimates) -> Curve:
        return cls(tuple(x), tuple(estimates.values.tolist()), tuple(estimates.errors.tolist()))

    @property
    def estimates(self) -> Estimates:
        return Estimates(np.array(self.values), np.array(self.errors))

    @property
    def points(self) -> dict[float, Estimate]:
        """The estimates by the value of the control parameter."""
        return {x: Estimate(*pair) for x, *pair in zip(self.x, self.values, self.errors, strict=True)}


@dataclass(frozen=True)
class Target:
    """Where a kind of indicator should peak on this very lattice. source: "kaufman" or "samples"."""

    value: float
    error: float
    source: str


@dataclass(frozen=True)
class Indication:
    """What one curve says of T_c. feature: what was sought in it, see `Quantity.mark`. kind: of its target.

    estimate: None where the curve does not determine it; problem tells why. lower to upper: 68 %; lower_95 to
    upper_95: 95 %. resolved: False where too few points lie on the peak, which is then known as an interval
    alone. note: what is to be said beside the numbers, such as a second peak.
    """

    indicator: str
    feature: str
    kind: str
    estimate: Estimate | None
    problem: str | None = None
    lower: float | None = None
    upper: float | None = None
    at_edge: bool = False
    resolved: bool | None = None
    lower_95: float | None = None
    upper_95: float | None = None
    note: str | None = None

    @property
    def was_sought(self) -> bool:
        """Whether the curve had points enough to be searched."""
        return self.estimate is not None or self.lower is not None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of a peak that is not resolved, which is all that is known of it; else None."""
        return _interval(self)

    @property
    def words(self) -> str:
        """2.2817(10), 2.125-2.375 (95 %) where the peak is not resolved, or 'not determined'."""
        if self.estimate is None or self.problem is not None:
            return "not determined"
        return str(self.estimate) if self.interval is None else "{:.4g}-{:.4g}".format(*self.interval)


def _interval(peak: Indication | ExtrapolationPoint) -> tuple[float, float] | None:
    if peak.estimate is None or peak.resolved is not False or peak.lower_95 is None or peak.upper_95 is None:
        return None
    return peak.lower_95, peak.upper_95


@dataclass(frozen=True)
class CriticalTemperature(Indication):
    """The same with its place and truth. variant, n_hidden: None for what the configurations themselves say.

    is_shown: whether it stands in the table of critical temperatures.
    """

    variant: str | None = field(default=None, metadata=GROUP)
    role: str | None = None
    as_paper: bool | None = False
    union: bool | None = None
    n_hidden: int | None = None
    is_shown: bool = True
    target: Target | None = None
    relative_to_target: float | None = None
    relative_to_infinite: float | None = None


@dataclass(frozen=True)
class IntegratedEntropy:
    """Entropy per spin by thermodynamic integration from either end, and both combined."""

    from_infinity: Curve
    from_zero: Curve
    combined: Curve
    free_energy_per_spin: Curve
    mismatch: Estimate
    n_points: int
    hot_end: str


@dataclass(frozen=True)
class Thermodynamics:
    """Averages of the configurations as curves, by the name of the quantity.

    file: of smooth and of reweighted curves. notes: where samples could not be reweighted, and why.
    """

    curves: Mapping[str, Curve]
    grid_curves: Mapping[str, Curve]
    entropy: IntegratedEntropy | None = None
    critical: tuple[Indication, ...] = ()
    targets: Mapping[str, Target | None] = field(default_factory=dict)
    file: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Indicators:
    """Curves of the machines of one variant and size, averaged over seeds, and what they say of T_c."""

    variant: str = field(metadata=GROUP)
    role: str
    union: bool
    n_hidden: int
    curves: Mapping[str, Curve]
    critical: tuple[Indication, ...] = ()
    as_paper: bool | None = False
    file: str | None = None
    what: str = "indicators"


@dataclass(frozen=True)
class ExtrapolationPoint:
    """What one lattice says."""

    feature: str
    kind: str
    estimate: Estimate | None
    problem: str | None = None
    target: float | None = None
    relative_to_target: float | None = None
    n_hidden: int | None = None
    union: bool | None = None
    resolved: bool | None = None
    lower_95: float | None = None
    upper_95: float | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of a peak that is not resolved; else None."""
        return _interval(self)


@dataclass(frozen=True)
class ExtrapolationRow:
    """One indicator on lattices of several sides, and what it extrapolates to. points: by side, as text."""

    indicator: str
    feature: str
    kind: str
    points: Mapping[str, ExtrapolationPoint]
    estimate: Estimate | None
    variant: str | None = field(default=None, metadata=GROUP)
    union: bool | None = None
    problem: str | None = None
    slope: Estimate | None = None
    curvature: Estimate | None = None
    chi_squared: float | None = None
    n_degrees: int | None = None
    relative_to_infinite: float | None = None


@dataclass(frozen=True)
class Extrapolation:
    """T_c of the infinite lattice by every indicator. infinite: the true one, None where not known."""

    name: str
    nu: float
    sides: tuple[int, ...]
    rows: tuple[ExtrapolationRow, ...]
    infinite: float | None = None


@dataclass(frozen=True)
class Crossing:
    """Where U4 of two lattices is the same."""

    sides: tuple[int, ...]
    temperature: Estimate
    binder: Estimate


@dataclass(frozen=True)
class Exponents:
    """T_c, U4 at T_c and exponents of the infinite lattice; chi_squared of U4 about its fit."""

    temperature: Estimate
    nu: Estimate
    binder: Estimate
    beta_over_nu: Estimate
    gamma_over_nu: Estimate
    beta: Estimate
    gamma: Estimate
    chi_squared: float
    n_degrees: int


@dataclass(frozen=True)
class KnownExponents:
    """The same from elsewhere, without errors."""

    temperature: float
    nu: float
    binder: float
    beta_over_nu: float
    gamma_over_nu: float


@dataclass(frozen=True)
class Scaling:
    """Finite-size scaling of the configurations of families on lattices of several sides.

    omega: the exponent of corrections. fit: None where it was not made, and problem says why. crossings: of
    neighbouring sides. known: None where nothing is. file: of U4, <|m|> and N <m^2> over the temperature.
    """

    name: str
    families: tuple[str, ...]
    sides: tuple[int, ...]
    omega: float
    fit: Exponents | None = None
    problem: str | None = None
    crossings: tuple[Crossing, ...] = ()
    known: KnownExponents | None = None
    file: str | None = None
