"""What an indicator should find on a finite lattice: peaks lie away from the infinite lattice's T_c."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from thermorbm.errors import InputError
from thermorbm.estimators.critical import CriticalPoint, peak
from thermorbm.stats import Estimate, Estimates

_SCAN = 200


@dataclass(frozen=True)
class FiniteSizeTarget:
    """Where a finite lattice's curve peaks, beside the transition of the infinite lattice."""

    temperature: Estimate
    infinite: float

    @property
    def shift(self) -> Estimate:
        """Relative distance of the peak from the infinite lattice's T_c."""
        error = self.temperature.error / self.infinite
        return Estimate(self.temperature.value / self.infinite - 1, error)

    def deviation(self, found: Estimate) -> float:
        """Relative distance of a measured temperature from this target."""
        return found.value / self.temperature.value - 1


def exact_peak(curve: Callable[[float], float], low: float, high: float, infinite: float) -> FiniteSizeTarget:
    """Maximum of an exactly known curve, such as Kaufman's heat capacity at one L, between low and high."""
    scan = np.linspace(low, high, _SCAN)
    top = int(np.argmax([curve(float(temperature)) for temperature in scan]))
    if not 0 < top < _SCAN - 1:
        raise InputError("range", (low, high), "one with the maximum inside it")
    bracket = (float(scan[top - 1]), float(scan[top + 1]))
    found = minimize_scalar(lambda t: -curve(t), bounds=bracket, method="bounded", options={"xatol": 1e-8})
    return FiniteSizeTarget(Estimate(float(found.x), 0.0), infinite)


def sampled_peak(
    temperatures: ArrayLike, measured: Estimates, infinite: float, seed: int = 0
) -> tuple[FiniteSizeTarget, CriticalPoint]:
    """Maximum of a sampled curve, such as the susceptibility of |m|, and the fit that found it."""
    found = peak(temperatures, measured.values, measured.errors, seed=seed)
    return FiniteSizeTarget(found.temperature, infinite), found
