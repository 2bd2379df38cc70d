"""New configurations from a machine: averages from several kinds of starts, and how fast chains relax."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm import observables as ob
from thermorbm.dataset import Dataset
from thermorbm.model import Machine
from thermorbm.reading.configurations import averages, thermal_averages
from thermorbm.reading.values import Generated, Generation
from thermorbm.stats import mean_estimate

GENERATED = 1024
CHAIN_STEPS = 7  # of the paper's chain from a random hidden layer
RELAXATION_STEPS = 16
RELAXATION_CHAINS = 512
RELAXED = 0.02  # of <|m|>

Arrays = dict[str, NDArray[Any]]


def generation(
    machine: Machine, data: Dataset, turns: Sequence[float] | None, seed: int
) -> tuple[Generation, Arrays]:
    """Averages of new configurations from several kinds of hidden starts, and how chains relax from two.

    turns: temperatures at which the stepwise start changes, None where T_c is not known.
    """
    m = float(np.abs(ob.configuration_series(data).magnetization).mean())
    seeds = np.random.SeedSequence(seed).generate_state(8).tolist()
    starts = _starts(m, data.temperature, turns)
    made = {
        name: _generated(machine, data, p_h, steps, start_seed)
        for start_seed, (name, (p_h, steps)) in zip(seeds, starts.items(), strict=False)
    }
    chains = _relaxation(machine, data, starts["magnetization"][0], seeds[-1])
    steps = steps_to_equilibrium(
        {name: chains[f"relaxation.{name}.abs_magnetization"] for name in ("p_h", "random")}
    )
    return Generation(**made, steps_to_equilibrium=steps), chains


def _generated(machine: Machine, data: Dataset, p_h: float, steps: int, seed: int) -> Generated:
    new = ob.generate(machine, p_h, GENERATED, steps, seed, data.lattice, data.temperature)
    has_energy = data.lattice is not None and data.temperature is not None
    return Generated(p_h, steps, {**averages(new), **(thermal_averages(new) if has_energy else {})})


def _starts(
    mean_abs_m: float, temperature: float | None, turns: Sequence[float] | None
) -> dict[str, tuple[float, int]]:
    """p_h and number of Gibbs steps by the name of the start."""
    starts = {
        "magnetization": (ob.magnetization_probability(mean_abs_m), 0),
        "random": (0.5, CHAIN_STEPS),
        "magnetization_chain": (ob.magnetization_probability(mean_abs_m), CHAIN_STEPS),
    }
    if temperature is not None and turns is not None:
        low, high = turns
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
        arrays |= {f"relaxation.{name}.{key}": np.array(points) for key, points in rows.items() if points}
    return arrays


def steps_to_equilibrium(chains: Mapping[str, NDArray[np.float64]]) -> dict[str, int]:
    """By start, the first step from which on <|m|> stays at its final value, the mean of the last quarter of
    all chains: within 0.02 and two standard errors. One more than the last step if it is not reached.

    chains: (n_steps + 1, 2), mean and error after each step.
    """
    n_last = max(1, RELAXATION_STEPS // 4)
    final = float(np.mean([table[-n_last:, 0].mean() for table in chains.values()]))
    steps = {}
    for name, table in chains.items():
        away = np.flatnonzero(np.abs(table[:, 0] - final) > RELAXED + 2 * table[:, 1])
        steps[name] = int(away[-1]) + 1 if len(away) else 0
    return steps


def _pair(samples: NDArray[np.float64]) -> tuple[float, float]:
    estimate = mean_estimate(samples)
    return estimate.value, estimate.error
