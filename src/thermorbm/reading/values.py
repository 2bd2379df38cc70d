"""What is read from configurations and machines, as typed values.

These are the parts of `results.json`, and what the functions of this package give. Estimates are per spin
and in nats where the name or the docstring says nothing else; an error that is not known is nan.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from thermorbm.records import other_values
from thermorbm.stats import Estimate


@dataclass(frozen=True)
class ExactValues:
    """Exact values at one temperature.

    source: "kaufman" or "transfer matrix" (this lattice), "series" or "infinite" (the infinite one).
    """

    source: str
    energy_per_spin: float
    heat_capacity_per_spin: float
    entropy_per_spin: float
    free_energy_per_spin: float

    @property
    def is_of_this_lattice(self) -> bool:
        return self.source in ("kaufman", "transfer matrix")


@dataclass(frozen=True)
class Moments:
    """Of the elements of an array."""

    mean: float
    variance: float
    skewness: float
    excess_kurtosis: float
    bimodality: float
    n_values: int


@dataclass(frozen=True)
class Weights:
    """The parameters of a dense machine. majority_sign: share of the sign that most weights of a filter have,
    mean over filters. What follows it is None where the data have no lattice.
    """

    W: Moments
    b: Moments
    c: Moments
    filter_sums: Moments
    inverse_filter_sums: Moments
    filter_sum_abs_variance: Estimate
    majority_sign: Estimate | None = None
    largest_domain: Estimate | None = None
    largest_domain_spread: float | None = None
    file: str | None = None


@dataclass(frozen=True)
class Pair:
    """The coupling J(r) / k_B T that a symmetric machine has learned."""

    r: tuple[int, ...]
    coupling: float


@dataclass(frozen=True)
class Four:
    """The coupling of four spins at these places, over k_B T."""

    places: tuple[tuple[int, ...], ...]
    coupling: float


@dataclass(frozen=True)
class OwnChains:
    """Averages over chains that a symmetric machine generates itself; thermal: by name of the quantity."""

    n_chains: int | None = None
    steps: int | None = None
    thermal: Mapping[str, Estimate] = other_values()


@dataclass(frozen=True)
class Interactions:
    """The Hamiltonian that a symmetric machine has learned. problem: why there is none, or None."""

    nearest_coupling: Estimate
    pairs: tuple[Pair, ...]
    fours: tuple[Four, ...]
    own: OwnChains
    temperature: float | None = None
    field: float | None = None
    problem: str | None = None
    file: str | None = None


@dataclass(frozen=True)
class Bracket:
    """S~ <= S <= upper edge per spin, from held-out configurations, and the likelihood beside them.

    order_entropy_per_spin: of mere order; below_order_per_spin: how far the likelihood is below it.
    """

    entropy_upper_per_spin: Estimate
    nll_per_spin: Estimate
    n_samples: int
    entropy_lower_per_spin: Estimate | None = None
    free_energy_lower_per_spin: Estimate | None = None
    kl_bound_per_spin: Estimate | None = None
    kl_per_spin: Estimate | None = None
    order_entropy_per_spin: Estimate | None = None
    below_order_per_spin: Estimate | None = None
    lower_problem: str | None = None

    def learnt(self, entropy: Estimate) -> Estimate | None:
        """The share of the correlations that the machine has learnt, given S per spin; None if not known."""
        if self.below_order_per_spin is None or self.order_entropy_per_spin is None:
            return None
        return share_learnt(self.below_order_per_spin, self.order_entropy_per_spin, entropy)


@dataclass(frozen=True)
class Scores:
    """Of training or of held-out configurations; the cross entropy is per unit."""

    pseudo_likelihood_per_spin: Estimate
    cross_entropy: Estimate


@dataclass(frozen=True)
class Likelihood:
    train: Scores
    held_out: Scores


@dataclass(frozen=True)
class MeanAndVariance:
    """Of the visible energy, totals in nats."""

    mean: Estimate
    variance: Estimate


@dataclass(frozen=True)
class VisibleEnergy:
    """Of training and held-out configurations, and of the paper's two approximations on held-out ones."""

    train: MeanAndVariance
    held_out: MeanAndVariance
    zero_bias: MeanAndVariance
    absolute: MeanAndVariance
    all_up: float


@dataclass(frozen=True)
class HiddenMagnetization:
    """Moments of m_h over configurations."""

    mean: Estimate
    variance: float
    skewness: float
    excess_kurtosis: float
    bimodality: float
    n_values: int


@dataclass(frozen=True)
class Hidden:
    """The hidden layer: m_h and the sign rule of table 1."""

    magnetization: HiddenMagnetization
    sign_rule: Estimate
    n_tied_samples: int
    n_tied_units: int
    permutation_difference: float


@dataclass(frozen=True)
class Generated:
    """Averages of configurations made from one kind of start; estimates by the name of the quantity."""

    p_h: float
    steps: int
    thermal: Mapping[str, Estimate] = other_values()


@dataclass(frozen=True)
class Generation:
    """New configurations from several starts, and after how many steps chains are in equilibrium.

    stepwise, linear: None where T_c is not known.
    """

    magnetization: Generated
    random: Generated
    magnetization_chain: Generated
    steps_to_equilibrium: Mapping[str, int]
    stepwise: Generated | None = None
    linear: Generated | None = None


@dataclass(frozen=True)
class Comparison:
    data: Estimate
    model: Estimate
    z_score: float


@dataclass(frozen=True)
class Quality:
    """Long chains of a machine beside its training data; comparisons by the name of what is compared."""

    verdict: str
    is_equilibrium: bool
    n_chains: int
    n_steps: int
    limit: float
    comparisons: Mapping[str, Comparison]
    starts: Mapping[str, Comparison]


def share_learnt(below_order: Estimate, order: Estimate, entropy: Estimate) -> Estimate | None:
    """(H_order - NLL) / (H_order - S): the share of the correlations that a machine has learnt.

    below_order: H_order - NLL, order: H_order, entropy: S, all per spin. 0 is mere order, 1 is perfect, below
    0 is worse than mere order. None where H_order - S is not clear of its error, so that there is nothing to
    learn.
    """
    room = order.value - entropy.value
    error = math.hypot(order.error, entropy.error)
    if not room > 2 * error:
        return None
    share = below_order.value / room
    return Estimate(share, math.hypot(below_order.error, share * error) / room)
