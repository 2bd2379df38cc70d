"""The certificate: what speaks for a dataset being independent samples of the Boltzmann distribution."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc  # scipy.stats takes half a second to import

from thermorbm.exact import EnergyDistribution, EnergyMoments
from thermorbm.sampling.pilot import BURN_IN_TAUS, MAX_Z, MIN_P, SPACING_TAUS, Pilot
from thermorbm.shown import html_table
from thermorbm.stats import Estimate, effective_sample_size

MIN_EXPECTED = 5.0
_SAME_LEVEL = 1e-6  # energies of sums in another order differ by rounding


@dataclass(frozen=True, repr=False)
class Certificate:
    """Evidence that samples follow the Boltzmann distribution. Energies are per spin; None: not checked.

    tau_*: integrated autocorrelation times in sweeps, 1/2 + sum of rho. burn_in and spacing in sweeps.
    start_z_*: mean of the chains from random starts minus that of the chains from ordered ones, in standard
    errors; None below the transition, where a random start may freeze into stripes and is not used.
    energy_z: mean energy of the dataset minus the exact one, in standard errors (see
    `EnergyDistribution.z_score`). exact_allowance: how far exact_energy, of an infinite lattice, may be from
    that of this one; energy_z is the distance beyond it. energy_histogram_p: chi-squared probability of the
    energy histogram under the exact P(E).
    """

    n_samples: int
    n_chains: int
    burn_in: int
    spacing: int
    tau_energy: float
    tau_abs_magnetization: float
    effective_samples_energy: float
    effective_samples_abs_magnetization: float
    r_hat_energy: float
    r_hat_abs_magnetization: float
    start_z_energy: float | None
    start_z_abs_magnetization: float | None
    energy: float
    energy_error: float
    exact_energy: float | None
    energy_z: float | None
    energy_histogram_p: float | None
    failures: tuple[str, ...] = ()
    exact_allowance: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether nothing speaks against the samples."""
        return not self.failures

    def __repr__(self) -> str:
        verdict = "passed" if self.passed else f"FAILED: {'; '.join(self.failures)}"
        z = (
            ""
            if self.energy_z is None
            else f", energy {self.energy_z:+.1f} standard errors from the exact one"
        )
        return f"Certificate({verdict}, {self.n_samples} samples{z})"

    def _repr_html_(self) -> str:
        facts: dict[str, object] = {**asdict(self), "failures": "; ".join(self.failures) or None}
        return html_table(f"Certificate: {'passed' if self.passed else 'FAILED'}", facts)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON values."""
        return {**asdict(self), "failures": list(self.failures), "passed": self.passed}

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Certificate:
        """A certificate from what `to_dict` gave, also of files from before there was an allowance."""
        # Files from before there was an allowance had exact values of the very lattice.
        values = {field.name: stored[field.name] for field in fields(cls) if field.name != "exact_allowance"}
        values["exact_allowance"] = stored.get("exact_allowance", 0.0)
        return cls(**{**values, "failures": tuple(values["failures"])})


def certify(
    pilot: Pilot,
    spacing: int,
    energy: NDArray[Any],
    magnetization: NDArray[np.int64],
    n_samples: int,
    n_sites: int,
    exact: EnergyDistribution | EnergyMoments | None,
    remedy: str,
) -> Certificate:
    """Weighs the kept samples and the pilot before them.

    spacing: sweeps between rounds. energy, magnetization: (n_rounds, n_chains) totals, of which the first
    n_samples, row by row, make the dataset. exact: P(E), or its moments, where they are known. remedy: what
    to do where chains do not settle.
    """
    kept_energy = energy.ravel()[:n_samples].astype(np.float64)
    effective = effective_sample_size(energy) * n_samples / energy.size
    effective_m = effective_sample_size(np.abs(magnetization)) * n_samples / energy.size
    allowance = exact.allowance if isinstance(exact, EnergyMoments) else 0.0
    sampled = float(energy.var())  # of this lattice; that of the infinite one diverges at T_c
    variance = sampled if exact is None or (allowance and sampled > 0) else exact.variance
    mean = Estimate(float(kept_energy.mean()), float(np.sqrt(variance / effective)))
    certificate = Certificate(
        n_samples=n_samples,
        n_chains=energy.shape[1],
        burn_in=pilot.sweeps,
        spacing=spacing,
        tau_energy=pilot.tau_energy,
        tau_abs_magnetization=pilot.tau_abs_magnetization,
        effective_samples_energy=effective,
        effective_samples_abs_magnetization=effective_m,
        r_hat_energy=pilot.r_hat_energy,
        r_hat_abs_magnetization=pilot.r_hat_abs_magnetization,
        start_z_energy=pilot.start_z_energy,
        start_z_abs_magnetization=pilot.start_z_abs_magnetization,
        energy=mean.value / n_sites,
        energy_error=mean.error / n_sites,
        exact_energy=None if exact is None else exact.mean / n_sites,
        energy_z=_z_score(mean.value, effective, variance, exact),
        energy_histogram_p=histogram_p_value(kept_energy, exact)
        if isinstance(exact, EnergyDistribution)
        else None,
        exact_allowance=allowance / n_sites,
    )
    return replace(certificate, failures=_failures(certificate, pilot, remedy))


def _z_score(
    mean: float, n_samples: float, variance: float, exact: EnergyDistribution | EnergyMoments | None
) -> float | None:
    if isinstance(exact, EnergyMoments):
        return exact.z_score(mean, n_samples, variance)
    return None if exact is None else exact.z_score(mean, n_samples)


def histogram_p_value(energies: NDArray[np.float64], exact: EnergyDistribution) -> float | None:
    """Chi-squared p-value of independent energies (n,) under exact P(E).

    Neighbouring levels are pooled until each cell expects at least five; None if only one cell is left.
    An energy that the lattice does not have gives 0.
    """
    level = np.searchsorted(exact.energies, energies - _SAME_LEVEL)
    level = np.minimum(level, len(exact.energies) - 1)
    if np.any(np.abs(exact.energies[level] - energies) > _SAME_LEVEL):
        return 0.0
    observed = np.bincount(level, minlength=len(exact.energies))
    expected = exact.probabilities * len(energies)
    cell = _pooled_cells(expected)
    if cell[-1] == 0:
        return None
    observed_cells, expected_cells = np.bincount(cell, observed), np.bincount(cell, expected)
    statistic = np.sum((observed_cells - expected_cells) ** 2 / expected_cells)
    return float(chdtrc(cell[-1], statistic))


def _pooled_cells(expected: NDArray[np.float64]) -> NDArray[np.int64]:
    """Cell of each level: a new one starts when the last is full; what is left joins the last full one."""
    cells = np.empty(len(expected), np.int64)
    cell, content = 0, 0.0
    for level, value in enumerate(expected):
        cells[level] = cell
        content += value
        if content >= MIN_EXPECTED:
            cell, content = cell + 1, 0.0
    return np.minimum(cells, max(cell - 1, 0))


def _failures(certificate: Certificate, pilot: Pilot, remedy: str) -> tuple[str, ...]:
    c = certificate
    tau = pilot.tau
    faults = []
    if not pilot.resolved:
        faults.append(
            f"not settled after {c.burn_in} sweeps, with an autocorrelation time of about {tau:.0f}: {remedy}"
        )
    if c.burn_in < BURN_IN_TAUS * tau:
        faults.append(f"burn-in {c.burn_in} is below {BURN_IN_TAUS} autocorrelation times of {tau:.1f}")
    if c.spacing < SPACING_TAUS * tau:
        faults.append(f"spacing {c.spacing} is below {SPACING_TAUS} autocorrelation times of {tau:.1f}")
    for name in ("energy", "abs_magnetization"):
        r_hat, start_z = getattr(c, f"r_hat_{name}"), getattr(c, f"start_z_{name}")
        if not r_hat <= pilot.r_hat_limit:
            faults.append(f"chains disagree in {name}: split R-hat {r_hat:.3f} > {pilot.r_hat_limit:.3g}")
        if start_z is not None and not abs(start_z) <= MAX_Z:
            faults.append(f"cold and hot starts disagree in {name} by {start_z:.1f} standard errors")
    if c.energy_z is not None and not abs(c.energy_z) <= MAX_Z:
        faults.append(f"energy {c.energy:.6f} is {c.energy_z:.1f} standard errors from {c.exact_energy:.6f}")
    if c.energy_histogram_p is not None and not c.energy_histogram_p >= MIN_P:
        faults.append(f"energy histogram differs from exact P(E): p = {c.energy_histogram_p:.1e}")
    return tuple(faults)
