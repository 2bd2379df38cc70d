"""ln Z between two bounds: chains that anneal from independent units to the machine, and chains back."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.model.annealing import (
    Anneal,
    Crossing,
    Tick,
    anneal,
    bennett,
    crossing,
    effective_number,
    population,
    relax,
    reverse_bound,
)
from thermorbm.model.energy import visible_energy
from thermorbm.model.path import Path
from thermorbm.model.random_units import generator_state
from thermorbm.stats import Estimate

LIMIT = 4.0  # standard errors
AGREEMENT = 3.0  # standard errors of the difference of both bounds
PADDING = 3.0  # standard errors by which the edges stand back from the bounds
LEAST_OVERLAP = 5.0  # chains
LEAST_WORTH = 5.0  # chains of equal weight; fewer say nothing of their own error
CLEARLY, LEAST_HIDDEN = 5.0, 0.1  # standard errors and nats by which another mode is heavier
_FEWEST_HALVED = 8  # chains
_DOUBT = 16.0  # chi-squared of three signs of trouble, which chance exceeds once in a thousand
_RELAXATION = 0.5  # Gibbs steps per rung

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Equilibrium:
    """How the reverse chains came to their start, and whether it is the machine's equilibrium.

    They anneal from independent units, are copied by weight on the way, and then take n_steps Gibbs steps.
    families: how many of the first chains have descendants. drift: change of the mean visible energy during
    those steps, in standard errors. order: forward bound minus reverse bound, in standard errors; well above
    0 only if the reverse chains did not start in equilibrium. hidden: by how many nats the bound of chains
    that start reversed, all spins turned, lies above the other reverse bound and five standard errors;
    above 0.1 there is a heavier mode that the others missed, as in a machine with a field that its path does
    not show.
    """

    n_steps: int
    families: int
    drift: float
    order: float
    hidden: float = -math.inf

    @property
    def problem(self) -> str | None:
        if self.order > LIMIT:
            return f"out of equilibrium: forward bound {self.order:.1f} standard errors above the reverse one"
        if abs(self.drift) > LIMIT:
            return f"out of equilibrium: the reverse chains drift by {self.drift:+.1f} standard errors"
        if self.hidden > LEAST_HIDDEN:
            return f"out of equilibrium: reversed chains find a mode heavier by {self.hidden:.3g} nats"
        return None


@dataclass(frozen=True, eq=False)
class Sandwich:
    """Both directions along one set of rungs. betas: (n_rungs + 1,), from 0 to 1."""

    betas: NDArray[np.float64]
    forward: Anneal
    reverse: Anneal
    crossing: Crossing
    equilibrium: Equilibrium

    @property
    def gap(self) -> float:
        return self.crossing.reverse.value - self.crossing.forward.value

    @property
    def lower(self) -> float:
        bound = self.crossing.forward
        return min(bound.value - PADDING * bound.error, self.crossing.value.value)

    @property
    def upper(self) -> float:
        bound = self.crossing.reverse
        return max(bound.value + PADDING * bound.error, self.crossing.value.value)

    @property
    def n_chains(self) -> int:
        return int(self.forward.works.shape[1])

    @property
    def spread(self) -> float:
        """Standard deviation of ln w, mean of both directions, that normal ln w of equal worth would have.

        Chains of little weight do not count: those that anneal into a metastable state, say.
        """
        worth = [effective_number(run.log_weights) for run in (self.forward, self.reverse)]
        shares = np.minimum(np.array(worth) / self.n_chains, 1.0)  # rounding can bring it above 1
        return float(np.mean(np.sqrt(-np.log(shares))))

    @property
    def ess(self) -> float:
        return effective_number(self.forward.log_weights)

    @property
    def worth(self) -> float:
        """How many equally weighted chains the forward or the reverse ones are worth, the fewer of both."""
        return min(effective_number(run.log_weights) for run in (self.forward, self.reverse))

    @property
    def halves(self) -> float:
        """Difference of Bennett's values from the odd and from the even chains, in standard errors.

        0 where there are too few chains for an error of either half.
        """
        if self.n_chains < _FEWEST_HALVED:
            return 0.0
        odd, even = (
            bennett(self.forward.log_weights[k::2], self.reverse.log_weights[k::2]) for k in range(2)
        )
        error = float(np.hypot(odd.error, even.error))
        return (odd.value - even.value) / error if error else 0.0

    @property
    def agrees(self) -> bool:
        """Whether the bounds of both directions are the same within their errors."""
        return abs(self.equilibrium.order) <= AGREEMENT

    @property
    def doubt(self) -> str | None:
        """What speaks against the value although chains overlap and none of the signs alone is clear.

        Drift of the reverse chains, halves that differ and bounds in the wrong order are one squared number
        each; together they are chi-squared if all is well.
        """
        if self.worth < LEAST_WORTH:
            return f"doubtful: all weight is on {self.worth:.1f} of {self.n_chains} chains"
        drift, order, halves = self.equilibrium.drift, max(self.equilibrium.order, 0.0), self.halves
        if drift**2 + order**2 + halves**2 > _DOUBT:
            signs = f"drift {drift:+.1f}, order {order:+.1f}, halves {halves:+.1f} standard errors"
            return f"doubtful: {signs}"
        return None

    @property
    def overlaps(self) -> bool:
        return self.crossing.overlap * self.n_chains >= LEAST_OVERLAP

    @property
    def error(self) -> float:
        """Of Bennett's value: its own, or that of a uniform guess between the bounds where it is blind.

        Reverse chains of one family began alike, so that their part of the variance counts families.
        """
        own = self.crossing.value.error * math.sqrt((1 + self.n_chains / self.equilibrium.families) / 2)
        return own if self.overlaps else max(own, abs(self.gap) / math.sqrt(12))


def sandwich(
    path: Path,
    betas: NDArray[np.float64],
    n_chains: int,
    seed: np.random.SeedSequence,
    progress: Progress | None = None,
) -> Sandwich:
    """n_chains forward, as many back, and as many before them that find the equilibrium to start from."""
    seeds = seed.spawn(6)
    n_rungs = len(betas) - 1
    n_steps = max(1, int(_RELAXATION * n_rungs))
    tick = ticker(progress, "partition function", 4 * n_rungs + 2 * n_steps)
    state = generator_state(seeds[0])
    forward = anneal(path, betas, path.start(n_chains, state), state, tick)
    v, families, drift = _equilibrium(path, betas, n_chains, n_steps, seeds[1], tick)
    turned = -v
    reverse = anneal(path, betas[::-1], v, generator_state(seeds[2]), tick)
    both = crossing(forward.log_weights, reverse.log_weights, np.random.default_rng(seeds[3]))
    error = float(np.hypot(both.forward.error, both.reverse.error))
    order = (both.forward.value - both.reverse.value) / error if error else 0.0
    other = _reversed_bound(path, betas, turned, n_steps, seeds[4:], tick)
    edge = both.reverse.value + CLEARLY * float(np.hypot(both.reverse.error, other.error))
    equilibrium = Equilibrium(n_steps, families, drift, order, other.value - edge)
    return Sandwich(betas, forward, reverse, both, equilibrium)


def _reversed_bound(
    path: Path,
    betas: NDArray[np.float64],
    v: NDArray[Any],
    n_steps: int,
    seeds: Sequence[np.random.SeedSequence],
    tick: Tick,
) -> Estimate:
    """The reverse bound of chains from v, which relax first: that of the mode where they end."""
    state = generator_state(seeds[0])
    relax(path, v, n_steps, state, tick)
    back = anneal(path, betas[::-1], v, state, tick)
    return reverse_bound(back.log_weights, np.random.default_rng(seeds[1]))


def _equilibrium(
    path: Path,
    betas: NDArray[np.float64],
    n_chains: int,
    n_steps: int,
    seed: np.random.SeedSequence,
    tick: Tick,
) -> tuple[NDArray[Any], int, float]:
    """Configurations of the machine, the number of families among them, their drift in standard errors."""
    moves, copies = seed.spawn(2)
    state = generator_state(moves)
    v = path.start(n_chains, state)
    families = population(path, betas, v, state, np.random.default_rng(copies), tick)
    before = visible_energy(path.machine, v)
    relax(path, v, n_steps, state, tick)
    change = visible_energy(path.machine, v) - before
    error = float(change.std(ddof=1) / np.sqrt(n_chains))
    return v, len(np.unique(families)), float(change.mean() / error) if error else 0.0


def ticker(progress: Progress | None, stage: str, total: int) -> Tick:
    """Counts up to total, and tells progress about once per hundredth."""
    done, step = 0, max(1, total // 100)

    def tick() -> None:
        nonlocal done
        done += 1
        if progress and (done % step == 0 or done == total):
            progress(stage, done, total)

    return tick
