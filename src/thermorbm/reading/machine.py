"""What a machine looks like, what it makes of configurations, and what a symmetric one has learned."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm import observables as ob
from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.inverse_ising import Label
from thermorbm.lattice import Lattice
from thermorbm.model import Machine, SymmetricRBM
from thermorbm.observables.weights import hidden_bias, visible_bias
from thermorbm.reading.configurations import thermal_averages
from thermorbm.reading.values import (
    Comparison,
    Four,
    Hidden,
    HiddenMagnetization,
    Interactions,
    Likelihood,
    MeanAndVariance,
    Moments,
    OwnChains,
    Pair,
    Quality,
    Scores,
    VisibleEnergy,
    Weights,
)
from thermorbm.stats import Estimate, mean_estimate, variance_estimate

FILTERS_SHOWN = 5
LAYERS_SHOWN = 5
ENCODED_SAMPLES = 20_000  # training configurations of which visible energies and hidden layers are taken
TRAIN_SCORED, HELD_OUT_SCORED = 2000, 5000  # configurations of which every spin is flipped
OWN_CHAINS, OWN_STEPS = 512, 100  # of symmetric machines
LARGEST_FOURS = 3
QUALITY_SAMPLES, QUALITY_CHAINS, QUALITY_STEPS = 1000, 64, 256

Arrays = dict[str, NDArray[Any]]


def weights(machine: Machine, lattice: Lattice | None, every_filter: bool) -> tuple[Weights, Arrays]:
    """Distributions of W, b and c, filter sums, inverse-filter sums and their correlation, some filters.

    every_filter: whether the arrays hold all filters, in 255 steps.
    """
    filter_sums, inverse_sums = ob.filter_sums(machine), ob.inverse_filter_sums(machine)
    values: dict[str, Any] = {"filter_sum_abs_variance": filter_sum_variance(machine)}
    arrays: Arrays = {}
    for name, numbers in (
        ("W", ob.couplings(machine)),
        ("b", visible_bias(machine)),
        ("c", hidden_bias(machine)),
        ("filter_sums", filter_sums.normalised),
        ("inverse_filter_sums", inverse_sums.normalised),
    ):
        histogram = ob.distribution(numbers)
        values[name] = Moments(**_moments(histogram))
        arrays |= {f"{name}.edges": histogram.edges, f"{name}.density": histogram.density}
    values["majority_sign"] = _mean_share(ob.majority_shares(machine))
    if lattice is not None:
        values |= _domains(machine, lattice)
        arrays |= _on_the_lattice(machine, lattice, every_filter)
    return Weights(**values), arrays


def filter_sum_variance(machine: Machine) -> Estimate:
    """Variance over hidden units of |sum_j W_ij| (figure 3b); nan for a single unit."""
    return ob.filter_sums(machine).abs_variance if machine.n_hidden > 1 else Estimate(math.nan, math.nan)


def _domains(machine: Machine, lattice: Lattice) -> dict[str, Any]:
    """Share of a filter's sites in its largest domain of one sign: mean over filters, and their spread."""
    shares = ob.largest_domains(machine, lattice)
    return {"largest_domain": _mean_share(shares), "largest_domain_spread": float(shares.std())}


def _mean_share(shares: NDArray[np.float64]) -> Estimate:
    """Mean over filters; the error of a single one is not known."""
    return mean_estimate(shares) if len(shares) > 1 else Estimate(float(shares[0]), math.nan)


def _moments(histogram: ob.Distribution) -> dict[str, Any]:
    names = ("mean", "variance", "skewness", "excess_kurtosis", "bimodality", "n_values")
    return {name: getattr(histogram, name) for name in names}


def _on_the_lattice(machine: Machine, lattice: Lattice, every_filter: bool) -> Arrays:
    """The inverse-filter correlation, the first filters, and all of them in 255 steps if asked for."""
    curve = ob.inverse_filter_correlation(machine, lattice)
    shown = ob.wrap_filters(machine, lattice, range(min(FILTERS_SHOWN, machine.n_hidden)))
    arrays: Arrays = {f"correlation.{name}": column for name, column in asdict(curve).items()}
    arrays["filters"] = shown.astype(np.float16)
    if every_filter:
        matrix = ob.couplings(machine)
        scale = float(np.abs(matrix).max()) or 1.0
        arrays["all_filters"] = np.round(matrix * (127 / scale)).astype(np.int8)
        arrays["all_filters_scale"] = np.array(scale / 127)
    return arrays


def likelihood(machine: Machine, train: Dataset, held_out: Dataset, seed: int) -> Likelihood:
    """Scores of random training and held-out configurations."""
    scored = (scores(machine, train, TRAIN_SCORED, seed), scores(machine, held_out, HELD_OUT_SCORED, seed))
    return Likelihood(*scored)


def scores(machine: Machine, data: Dataset, n_samples: int, seed: int) -> Scores:
    """L~ per spin in nats and the cross entropy per unit, of n_samples random configurations."""
    total = ob.pseudo_likelihood(machine, data, n_samples, seed)
    return Scores(total.scaled(1 / data.n_sites), ob.cross_entropy(machine, data, n_samples, seed))


def visible_energy(machine: Machine, train: Dataset, held_out: Dataset) -> tuple[VisibleEnergy, Arrays]:
    """Mean and variance of the visible energy, and of the paper's approximations to it."""
    energies = ob.visible_energies(machine, train[:ENCODED_SAMPLES])
    others = ob.visible_energies(machine, held_out[:ENCODED_SAMPLES])
    values = VisibleEnergy(
        mean_and_variance(energies.full),
        mean_and_variance(others.full),
        mean_and_variance(others.zero_bias),
        mean_and_variance(others.absolute),
        others.all_up,
    )
    histogram = ob.distribution(energies.full)
    return values, {"visible_energy.edges": histogram.edges, "visible_energy.density": histogram.density}


def mean_and_variance(energies: NDArray[np.float64]) -> MeanAndVariance:
    return MeanAndVariance(mean_estimate(energies), variance_estimate(energies))


def hidden(machine: Machine, data: Dataset, seed: int) -> tuple[Hidden, Arrays]:
    """The hidden magnetisation m_h, the sign rule of table 1, and some hidden layers as pictures."""
    encoding = ob.hidden_encoding(machine, data[:ENCODED_SAMPLES], seed)
    histogram = ob.hidden_magnetization_histogram(encoding.magnetization, machine.n_hidden)
    shown = data.spins(0, LAYERS_SHOWN)
    moments = {**_moments(histogram), "mean": mean_estimate(encoding.magnetization)}
    values = Hidden(
        magnetization=HiddenMagnetization(**moments),
        sign_rule=encoding.sign_rule,
        n_tied_samples=encoding.n_tied_samples,
        n_tied_units=encoding.n_tied_units,
        permutation_difference=ob.permutation_difference(machine, shown, seed),
    )
    arrays: Arrays = {
        "hidden.edges": histogram.edges,
        "hidden.density": histogram.density,
        "hidden_layers": ob.wrap_hidden(machine.sample_hidden(shown, seed)),
        "hidden_layers_of": np.packbits(shown > 0, axis=1, bitorder="little"),
    }
    return values, arrays


def quality(machine: Machine, train: Dataset, seed: int) -> Quality:
    """Long chains of the machine beside training data: z-scores, and whether they are in equilibrium."""
    outcome = ob.quality(machine, train[:QUALITY_SAMPLES], QUALITY_CHAINS, QUALITY_STEPS, seed)
    comparisons, starts = (
        {row.quantity: Comparison(row.data, row.model, row.z_score) for row in rows}
        for rows in (outcome.comparisons, outcome.starts)
    )
    return Quality(
        verdict=outcome.verdict,
        is_equilibrium=outcome.is_equilibrium,
        n_chains=outcome.n_chains,
        n_steps=outcome.n_steps,
        limit=outcome.limit,
        comparisons=comparisons,
        starts=starts,
    )


def interactions(
    machine: SymmetricRBM, held_out: Dataset, seed: int, by_vector: bool = False
) -> Interactions:
    """Couplings over k_B T with the temperature they stand for; averages of the machine's own chains.

    by_vector: pairs are told apart by their displacement, instead of averaged over axes and signs. A machine
    of few couplings knows its errors; those of other machines are not known, and several seeds show them.
    """
    own = _own_chains(machine, held_out, seed)
    try:
        learned = ob.interactions(machine)
    except InputError as error:  # a window too large to expand
        return Interactions(Estimate(math.nan, math.nan), (), (), own, problem=str(error))
    several = learned.n_cell > 1  # then no bond is that of neighbours
    pairs = learned.vectors if by_vector or several else learned.pairs
    nearest = math.nan if several else learned.nearest
    fours = sorted(learned.of_order(4).items(), key=lambda item: -abs(item[1]))[:LARGEST_FOURS]
    return Interactions(
        nearest_coupling=Estimate(nearest, math.nan if several else _nearest_error(machine)),
        pairs=tuple(Pair(flat_label(r), value) for r, value in pairs.items()),
        fours=tuple(Four(tuple(tuple(x) for x in places), value) for places, value in fours),
        own=own,
        temperature=1 / nearest if nearest > 0 else None,
        field=learned.field,
    )


def flat_label(label: Label) -> tuple[int, ...]:
    """A displacement as it is; (site, site, displacement) of cells of several sites as one row of numbers."""
    if isinstance(label[-1], tuple):
        return int(label[0]), int(label[1]), *label[-1]
    return tuple(int(r) for r in label)


def _nearest_error(machine: SymmetricRBM) -> float:
    """Of the coupling of neighbours, the mean over axes, where training has left errors with the machine."""
    if "couplings" not in machine.provenance:
        return math.nan
    estimates = ob.coupling_estimates(machine)
    axes = [tuple(row) for row in np.eye(len(machine.shape), dtype=np.int64).tolist()]
    weights = np.array([float(label in axes) for label in estimates.labels]) / len(axes)
    return math.sqrt(float(weights @ estimates.covariance @ weights))


def _own_chains(machine: SymmetricRBM, held_out: Dataset, seed: int) -> OwnChains:
    """Averages over chains of the machine that start at held-out configurations."""
    if (held_out.hamiltonian or held_out.lattice) is None or held_out.temperature is None:
        return OwnChains()
    rows = np.arange(OWN_CHAINS) * len(held_out) // OWN_CHAINS
    chains = machine.gibbs(held_out.select(rows).spins(), OWN_STEPS, seed)
    generated = Dataset.from_spins(
        chains, held_out.lattice, held_out.temperature, hamiltonian=held_out.hamiltonian
    )
    return OwnChains(OWN_CHAINS, OWN_STEPS, thermal_averages(generated))
