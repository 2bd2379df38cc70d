"""New configurations from a machine: for users, and in studies from several starts, with how chains relax."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm import observables as ob
from thermorbm.checks import whole_number
from thermorbm.dataset import Dataset
from thermorbm.errors import InputError, unknown_name
from thermorbm.hamiltonians import Hamiltonian
from thermorbm.lattice import Lattice
from thermorbm.model import Machine
from thermorbm.model.random_units import seed_sequence
from thermorbm.observables.configurations import check_sites
from thermorbm.reading.configurations import averages, thermal_averages
from thermorbm.reading.values import Generated, Generation
from thermorbm.stats import mean_estimate

STARTS = ("p_h", "random", "data")
_SPINS_AT_ONCE = 1 << 20
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
    new = replace(new, hamiltonian=data.hamiltonian)
    has_energy = (data.hamiltonian or data.lattice) is not None and data.temperature is not None
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
            spins = Dataset.from_spins(chains, data.lattice, hamiltonian=data.hamiltonian)
            series = ob.configuration_series(spins)
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


def generate(
    machine: Machine,
    n_samples: int,
    start: str = "p_h",
    steps: int = 7,
    seed: int = 0,
    p_h: float | None = None,
    data: Dataset | None = None,
) -> Dataset:
    """v^(steps) of n_samples Gibbs chains as a dataset; section III B.

    start: "p_h" sets hidden unit i to sign(sum of its filter) with probability p_h, times one random sign per
    chain; "random" is p_h = 1/2; "data" begins with v^(0) from `data`. p_h: by default (<|m|> + 1) / 2, with
    <|m|> of `data` or else of the training data. Lattice, Hamiltonian and temperature are those of the
    training data.
    """
    n, number = whole_number("n_samples", n_samples, 1), whole_number("steps", steps, 0)
    seed_sequence(seed)  # checked before the work
    label = _label(machine, data)
    if start == "data":
        return _from_data(machine, n, number, seed, data, label)
    if start not in STARTS:
        raise unknown_name("start", start, STARTS)
    probability = 0.5 if start == "random" else _start_probability(machine, p_h, data)
    made = ob.generate(machine, probability, n, number, seed)
    origin = {"method": "generate", "start": start, "steps": number, "seed": int(seed), "p_h": probability}
    return replace(made, provenance=origin, **label)


def _from_data(
    machine: Machine, n: int, steps: int, seed: int, data: Dataset | None, label: Mapping[str, Any]
) -> Dataset:
    if data is None:
        raise InputError("data", None, "configurations to start from")
    check_sites(machine, data)
    rows = np.arange(n, dtype=np.int64) * len(data) // n  # evenly spaced, and repeated if n > len(data)
    starts = data.select(rows)
    size = max(1, _SPINS_AT_ONCE // machine.width)
    seeds = seed_sequence(seed).spawn(-(-n // size))
    blocks = zip(starts.blocks(size), seeds, strict=True)
    packed = [Dataset.from_spins(machine.gibbs(v, steps, s)).packed for v, s in blocks]
    origin = {"method": "generate", "start": "data", "steps": steps, "seed": int(seed)}
    return Dataset(np.concatenate(packed), provenance=origin, n_sites=machine.n_visible, **label)


def _start_probability(machine: Machine, p_h: float | None, data: Dataset | None) -> float:
    if p_h is not None:
        return p_h
    if data is not None:
        series = ob.configuration_series(data)
        return ob.magnetization_probability(float(series.abs_magnetization.mean()))
    mean_abs_m = machine.noted("data").get("mean_abs_magnetization")
    if not isinstance(mean_abs_m, int | float):
        raise InputError(
            "p_h", None, "a probability", "the machine does not know <|m|> of its data: give p_h or data"
        )
    return ob.magnetization_probability(mean_abs_m)


def _label(machine: Machine, data: Dataset | None) -> dict[str, Any]:
    """Lattice, temperature and Hamiltonian of the training data, or of `data` where those are not known."""
    trained_on = machine.noted("data")
    if not trained_on and data is not None:
        return {name: getattr(data, name) for name in ("lattice", "temperature", "hamiltonian")}
    shape, stored = trained_on.get("shape"), machine.provenance.get("hamiltonian")
    return {
        "lattice": Lattice(shape) if shape else None,
        "temperature": trained_on.get("temperature"),
        # None where the data had none, and of machines from before it was noted.
        "hamiltonian": None if stored is None else Hamiltonian.from_dict(stored, machine.n_visible),
    }
