"""Independent energies of the L x L torus, drawn from the exact P(E)."""

from functools import cache

import numpy as np

from thermorbm.estimators import Measurements
from thermorbm.exact import energy_distribution


@cache
def distribution(side, temperature):
    exact = energy_distribution(side, temperature)
    return exact.energies, exact.probabilities / exact.probabilities.sum()


def torus_series(side, temperatures, n_samples, rng):
    """Measurements at each temperature; magnetisations, which P(E) does not tell, are 1."""
    series = []
    for temperature in temperatures:
        energies, p = distribution(side, float(temperature))
        drawn = rng.choice(energies, size=n_samples, p=p)
        series.append(Measurements(float(temperature), drawn, np.ones(n_samples)))
    return series
