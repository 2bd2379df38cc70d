"""What the run up to equilibrium showed, and whether it was long enough.

Energy and |m| do not tell everything where terms compete: in the cold triangular antiferromagnet every
configuration is a ground state, and |m| is small, while the three directions are still far from having equal
shares of the bonds that are not satisfied. There the sums of each kind of term are followed, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.hamiltonians import Hamiltonian
from thermorbm.stats import autocorrelation_time, difference_z_score, split_r_hat, split_r_hat_limit

SPACING_TAUS = 5
BURN_IN_TAUS = 20
# Chain lengths in units of tau, summed over chains, that make tau itself known to a few per cent.
PILOT_TAUS = 2000

# Limits that an honest sampler breaks a few times in a million datasets.
MAX_Z = 5.0
MIN_P = 1e-6
MAX_R_HAT = 1.1

# Chains used for the autocorrelation function; more would not make it better known than needed.
_TAU_CHAINS = 512

# Packed configurations (n, n_bytes) -> (k, n): further sums that are followed.
Watch = Callable[[NDArray[np.uint8]], NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Pilot:
    """Records of the second half of a run from the chains' starts.

    energy, magnetization: (n_records, n_chains) totals, `stride` sweeps apart. hot: (n_chains,), which chains
    started from random spins. sweeps: length of the whole run. watched: (k, n_records, n_watched), further
    sums of the first chains.
    """

    energy: NDArray[Any]
    magnetization: NDArray[np.int64]
    hot: NDArray[np.bool_]
    stride: int
    sweeps: int
    watched: NDArray[np.int64]

    @cached_property
    def tau_energy(self) -> float:
        """Integrated autocorrelation time of the energy, in sweeps."""
        return self._tau(self.energy)

    @cached_property
    def tau_abs_magnetization(self) -> float:
        """That of |m|."""
        return self._tau(np.abs(self.magnetization))

    def _tau(self, series: NDArray[Any]) -> float:
        step = max(1, series.shape[1] // _TAU_CHAINS)
        return self.stride * autocorrelation_time(series[:, ::step])

    @cached_property
    def tau(self) -> float:
        """The longest of all."""
        return max(self.tau_energy, self.tau_abs_magnetization, *map(self._tau, self.watched), 0.0)

    @property
    def spacing(self) -> int:
        """Sweeps between kept samples."""
        return math.ceil(SPACING_TAUS * self.tau)

    @property
    def sweeps_needed(self) -> float:
        """How long each half must last."""
        return float(max(BURN_IN_TAUS, PILOT_TAUS / len(self.hot)) * self.tau)

    @cached_property
    def r_hat_energy(self) -> float:
        return split_r_hat(self.energy[:: self._thinning])

    @cached_property
    def r_hat_abs_magnetization(self) -> float:
        return split_r_hat(np.abs(self.magnetization[:: self._thinning]))

    @property
    def r_hat_limit(self) -> float:
        """What R-hat may be at most: MAX_R_HAT, or what chance can make it where chains are few."""
        n_records = len(self.energy[:: self._thinning])
        return max(MAX_R_HAT, split_r_hat_limit(n_records, len(self.hot), MIN_P))

    @property
    def _thinning(self) -> int:
        """Records per spacing: correlated ones would raise R-hat for no reason."""
        return max(1, min(self.spacing // self.stride, len(self.energy) // 4))

    @cached_property
    def start_z_energy(self) -> float | None:
        """Chains from random starts minus the others, in standard errors; None if all started alike."""
        return self._start_z(self.energy)

    @cached_property
    def start_z_abs_magnetization(self) -> float | None:
        return self._start_z(np.abs(self.magnetization))

    def _start_z(self, series: NDArray[Any]) -> float | None:
        means, hot = series.mean(axis=0), self.hot[: series.shape[1]]
        return difference_z_score(means[hot], means[~hot]) if hot.any() else None

    @property
    def resolved(self) -> bool:
        """Whether the run was long enough to know tau, and all chains agree with one another."""
        r_hats = [self.r_hat_energy, self.r_hat_abs_magnetization]
        r_hats += [split_r_hat(series[:: self._thinning]) for series in self.watched]
        scores = [self.start_z_energy, self.start_z_abs_magnetization, *map(self._start_z, self.watched)]
        return (
            len(self.energy) * self.stride >= self.sweeps_needed
            and all(r_hat <= self.r_hat_limit for r_hat in r_hats)
            and all(score is None or abs(score) <= MAX_Z for score in scores)
        )


def competing_sums(hamiltonian: Hamiltonian) -> Watch | None:
    """The sum of each kind of term of a cell, where terms compete; None where nothing more is to be followed.

    Disorder has no kinds of terms.
    """
    grid, products = hamiltonian.grid, hamiltonian.products
    if not hamiltonian.frustrated or grid is None or products is None or len(products) < 2:
        return None
    kinds = [terms.sites for product in products for terms in grid.expand([product])]

    def sums(packed: NDArray[np.uint8]) -> NDArray[np.int64]:
        bits = np.unpackbits(packed, axis=1, count=hamiltonian.n_sites, bitorder="little")
        spins = 2 * bits.astype(np.int8) - 1
        return np.stack([spins[:, sites].prod(axis=2, dtype=np.int8).sum(axis=1) for sites in kinds])

    return sums
