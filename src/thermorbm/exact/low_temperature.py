"""The square lattice deep in the ordered phase, where its excess energy and entropy are exponentially small.

There the closed formulas subtract numbers of order 1 to reach numbers of order e^{-8K}. The exact
distribution of the energy at one reference temperature, reweighted to T, has positive terms only and keeps
its accuracy.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from thermorbm.exact.energies import energy_distribution
from thermorbm.exact.jets import FloatArray, Jet
from thermorbm.exact.thermodynamics import canonical

LOW_TEMPERATURE = 0.75  # from here up the closed formulas lose no more than three digits

# Some way above, so that reweighting also suppresses the rounding errors of the rare high levels.
REFERENCE_TEMPERATURE = 1.0

# Tori differ only by the domain walls that wind round them, of weight w^{2L} with w = e^{-2K}. Below
# LOW_TEMPERATURE and from this side on that is under 1e-70, and ln(Z e^{-2NK} / 2) is proportional to N.
ENOUGH_SIDE = 32


def log_excess(side: int, coupling: FloatArray) -> Jet:
    """ln(Z e^{-2NK} / 2) / N of the L x L torus at K (n,) > 1 / LOW_TEMPERATURE."""
    side = min(side, ENOUGH_SIDE)
    levels, weights = _excitations(side)
    return canonical(levels, weights, coupling - 1 / REFERENCE_TEMPERATURE) * (1 / side**2)


@lru_cache(maxsize=ENOUGH_SIDE)
def _excitations(side: int) -> tuple[FloatArray, FloatArray]:
    """Energies above the ground state, and their probabilities at the reference temperature over its own."""
    distribution = energy_distribution(side, REFERENCE_TEMPERATURE)
    possible = distribution.probabilities > 0
    levels = (distribution.energies - distribution.energies[0])[possible].astype(np.float64)
    return levels, distribution.probabilities[possible] / distribution.probabilities[0]
