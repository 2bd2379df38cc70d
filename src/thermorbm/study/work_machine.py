"""Tasks that read a trained machine: its weights, and what it makes of configurations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm import observables as ob
from thermorbm.dataset import Dataset
from thermorbm.lattice import Lattice
from thermorbm.model import Machine
from thermorbm.observables.weights import hidden_bias, visible_bias
from thermorbm.stats import Estimate, mean_estimate, variance_estimate
from thermorbm.study.store import Product, Store
from thermorbm.study.tasks import Task
from thermorbm.study.thermal import as_dict, averages, thermal_averages
from thermorbm.study.work_data import split

FILTERS_SHOWN = 5
LAYERS_SHOWN = 5
GENERATED = 1024
ENCODED_SAMPLES = 20_000  # training configurations of which visible energies and hidden layers are taken
LIKELIHOOD_SAMPLES = {"train": 2000, "held_out": 5000}  # each flips every spin
CHAIN_STEPS = 7  # of the paper's chain from a random hidden layer
RELAXATION_STEPS = 16
RELAXATION_CHAINS = 512
RELAXED = 0.02  # of <|m|>
QUALITY_SAMPLES, QUALITY_CHAINS, QUALITY_STEPS = 1000, 64, 256

Values = dict[str, Any]
Arrays = dict[str, NDArray[Any]]


def weights(task: Task, store: Store) -> Product:
    """Distributions of W, b and c, filter sums, inverse-filter sums and their correlation, some filters."""
    machine = store.machine(task.inputs[0])
    shape = task.parameters["shape"]
    filter_sums, inverse_sums = ob.filter_sums(machine), ob.inverse_filter_sums(machine)
    variance = filter_sums.abs_variance if machine.n_hidden > 1 else Estimate(math.nan, math.nan)
    values: Values = {"filter_sum_abs_variance": as_dict(variance)}
    arrays: Arrays = {}
    for name, numbers in (
        ("W", ob.couplings(machine)),
        ("b", visible_bias(machine)),
        ("c", hidden_bias(machine)),
        ("filter_sums", filter_sums.normalised),
        ("inverse_filter_sums", inverse_sums.normalised),
    ):
        found = ob.distribution(numbers)
        values[name] = _moments(found)
        arrays |= {f"{name}.edges": found.edges, f"{name}.density": found.density}
    if shape is not None:
        values |= _domains(machine, Lattice(shape))
        arrays |= _on_the_lattice(machine, Lattice(shape), task.parameters["all_filters"])
    return Product(values, arrays)


def _domains(machine: Machine, lattice: Lattice) -> Values:
    """Share of a filter's sites in its largest domain of one sign: mean over filters, and their spread."""
    shares = ob.largest_domains(machine, lattice)
    return {
        "largest_domain": as_dict(
            mean_estimate(shares) if len(shares) > 1 else Estimate(shares[0], math.nan)
        ),
        "largest_domain_spread": float(shares.std()),
    }


def _moments(found: ob.Distribution) -> Values:
    names = ("mean", "variance", "skewness", "excess_kurtosis", "bimodality", "n_values")
    return {name: getattr(found, name) for name in names}


def _on_the_lattice(machine: Machine, lattice: Lattice, everything: bool) -> Arrays:
    """The inverse-filter correlation, the first filters, and all of them in 255 steps if asked for."""
    curve = ob.inverse_filter_correlation(machine, lattice)
    shown = ob.wrap_filters(machine, lattice, range(min(FILTERS_SHOWN, machine.n_hidden)))
    arrays: Arrays = {f"correlation.{name}": column for name, column in asdict(curve).items()}
    arrays["filters"] = shown.astype(np.float16)
    if everything:
        matrix = ob.couplings(machine)
        scale = float(np.abs(matrix).max()) or 1.0
        arrays["all_filters"] = np.round(matrix * (127 / scale)).astype(np.int8)
        arrays["all_filters_scale"] = np.array(scale / 127)
    return arrays


def observe(task: Task, store: Store) -> Product:
    """What a machine makes of the configurations of one dataset, part by part."""
    machine, data = store.machine(task.inputs[0]), store.dataset(task.inputs[1])
    values: Values = {"n_sites": data.n_sites, "n_hidden": machine.n_hidden}
    arrays: Arrays = {}
    for part in task.parameters["parts"]:
        found = PARTS[part](machine, data, task)
        values[part.replace("-", "_")] = found.values
        arrays |= found.arrays
    return Product(values, arrays)


def _likelihood(machine: Machine, data: Dataset, task: Task) -> Product:
    """L~ per spin in nats and the cross entropy per unit, of held-out and of training configurations."""
    seed, values = task.parameters["seed"], {}
    for name, part in zip(("train", "held_out"), split(data), strict=True):
        n_samples = LIKELIHOOD_SAMPLES[name]
        likelihood = ob.pseudo_likelihood(machine, part, n_samples, seed)
        values[name] = {
            "pseudo_likelihood_per_spin": as_dict(_scaled(likelihood, 1 / data.n_sites)),
            "cross_entropy": as_dict(ob.cross_entropy(machine, part, n_samples, seed)),
        }
    return Product(values)


def _scaled(estimate: Estimate, factor: float) -> Estimate:
    return Estimate(factor * estimate.value, factor * estimate.error)


def _visible_energy(machine: Machine, data: Dataset, task: Task) -> Product:
    """Mean and variance of the visible energy, totals in nats, and of the paper's approximations to it."""
    parts = {
        name: ob.visible_energies(machine, part[:ENCODED_SAMPLES])
        for name, part in zip(("train", "held_out"), split(data), strict=True)
    }
    train = parts["train"]
    values: Values = {name: _mean_and_variance(found.full) for name, found in parts.items()}
    values["zero_bias"] = _mean_and_variance(train.zero_bias)
    values["absolute"] = _mean_and_variance(train.absolute)
    values["all_up"] = train.all_up
    found = ob.distribution(train.full)
    return Product(values, {"visible_energy.edges": found.edges, "visible_energy.density": found.density})


def _mean_and_variance(energies: NDArray[np.float64]) -> Values:
    return {"mean": as_dict(mean_estimate(energies)), "variance": as_dict(variance_estimate(energies))}


def _hidden(machine: Machine, data: Dataset, task: Task) -> Product:
    """The hidden magnetisation m_h, the sign rule of table 1, and some hidden layers as pictures."""
    encoding = ob.hidden_encoding(machine, data[:ENCODED_SAMPLES], task.parameters["seed"])
    found = ob.hidden_magnetization_histogram(encoding.magnetization, machine.n_hidden)
    shown = data.spins(0, LAYERS_SHOWN)
    layers = machine.sample_hidden(shown, task.parameters["seed"])
    values = {
        "magnetization": {**_moments(found), "mean": as_dict(mean_estimate(encoding.magnetization))},
        "sign_rule": as_dict(encoding.sign_rule),
        "n_tied_samples": encoding.n_tied_samples,
        "n_tied_units": encoding.n_tied_units,
        "permutation_difference": ob.permutation_difference(machine, shown, task.parameters["seed"]),
    }
    arrays: Arrays = {
        "hidden.edges": found.edges,
        "hidden.density": found.density,
        "hidden_layers": ob.wrap_hidden(layers),
        "hidden_layers_of": np.packbits(shown > 0, axis=1, bitorder="little"),
    }
    return Product(values, arrays)


def _generation(machine: Machine, data: Dataset, task: Task) -> Product:
    """Averages of new configurations from several kinds of hidden starts, and how chains relax from two."""
    m = float(np.abs(ob.configuration_series(data).magnetization).mean())
    seeds = np.random.SeedSequence(task.parameters["seed"]).generate_state(8).tolist()
    starts = _starts(m, data.temperature, task.parameters["steps"])
    values: Values = {}
    for seed, (name, (p_h, steps)) in zip(seeds, starts.items(), strict=False):
        new = ob.generate(machine, p_h, GENERATED, steps, seed, data.lattice, data.temperature)
        known = thermal_averages(new) if data.lattice and data.temperature else {}
        values[name] = {"p_h": p_h, "steps": steps, **averages(new), **known}
    chains = _relaxation(machine, data, starts["magnetization"][0], seeds[-1])
    values["steps_to_equilibrium"] = steps_to_equilibrium(
        {name: chains[f"relaxation.{name}.abs_magnetization"] for name in ("p_h", "random")}
    )
    return Product(values, chains)


def _starts(
    mean_abs_m: float, temperature: float | None, steps: list[float] | None
) -> dict[str, tuple[float, int]]:
    """p_h and number of Gibbs steps by the name of the start."""
    starts = {
        "magnetization": (ob.magnetization_probability(mean_abs_m), 0),
        "random": (0.5, CHAIN_STEPS),
        "magnetization_chain": (ob.magnetization_probability(mean_abs_m), CHAIN_STEPS),
    }
    if temperature is not None and steps is not None:
        low, high = steps
        starts["stepwise"] = ob.stepwise_probability(temperature, low, high), 0
        starts["linear"] = ob.linear_probability(temperature, low, high), 0
    return starts


def _relaxation(machine: Machine, data: Dataset, p_h: float, seed: int) -> Arrays:
    """<|m|> and, on a lattice, energy per spin of v^(0), v^(1), ... from p_h and from random starts.

    Arrays (n_steps + 1, 2): mean and error.
    """
    arrays: Arrays = {}
    for name, probability in (("p_h", p_h), ("random", 0.5)):
        chains = ob.generate(machine, probability, RELAXATION_CHAINS, 0, seed, data.lattice).spins()
        rows: dict[str, list[tuple[float, float]]] = {"energy": [], "abs_magnetization": []}
        for step_seed in np.random.SeedSequence([seed, 1]).spawn(RELAXATION_STEPS + 1):
            series = ob.configuration_series(Dataset.from_spins(chains, data.lattice))
            rows["abs_magnetization"].append(_pair(np.abs(series.magnetization)))
            if series.energy is not None:
                rows["energy"].append(_pair(series.energy / data.n_sites))
            chains = machine.gibbs(chains, 1, step_seed)
        arrays |= {f"relaxation.{name}.{key}": np.array(found) for key, found in rows.items() if found}
    return arrays


def steps_to_equilibrium(chains: Mapping[str, NDArray[np.float64]]) -> dict[str, int]:
    """By start, the first step from which on <|m|> stays at its final value, the mean of the last quarter of
    all chains: within 0.02 and two standard errors. One more than the last step if it is not reached.

    chains: (n_steps + 1, 2), mean and error after each step.
    """
    n_last = max(1, RELAXATION_STEPS // 4)
    final = float(np.mean([table[-n_last:, 0].mean() for table in chains.values()]))
    found = {}
    for name, table in chains.items():
        away = np.flatnonzero(np.abs(table[:, 0] - final) > RELAXED + 2 * table[:, 1])
        found[name] = int(away[-1]) + 1 if len(away) else 0
    return found


def _pair(samples: NDArray[np.float64]) -> tuple[float, float]:
    estimate = mean_estimate(samples)
    return estimate.value, estimate.error


def _quality(machine: Machine, data: Dataset, task: Task) -> Product:
    """Long chains of the machine beside training data: z-scores, and whether they are in equilibrium."""
    trained_on = split(data)[0][:QUALITY_SAMPLES]
    found = ob.quality(machine, trained_on, QUALITY_CHAINS, QUALITY_STEPS, task.parameters["seed"])
    values: Values = {"verdict": found.verdict, "is_equilibrium": found.is_equilibrium}
    values |= {"n_chains": found.n_chains, "n_steps": found.n_steps, "limit": found.limit}
    for name, rows in (("comparisons", found.comparisons), ("starts", found.starts)):
        values[name] = {
            row.quantity: {"data": as_dict(row.data), "model": as_dict(row.model), "z_score": row.z_score}
            for row in rows
        }
    return Product(values)


PARTS = {
    "likelihood": _likelihood,
    "visible-energy": _visible_energy,
    "hidden": _hidden,
    "generation": _generation,
    "quality": _quality,
}
