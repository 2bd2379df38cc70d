"""Tasks that bracket the entropy: ln Z of a machine, and the edges at each temperature."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm import observables as ob
from thermorbm.model import LogPartition, Machine
from thermorbm.observables import EntropyBracket
from thermorbm.stats import Estimate
from thermorbm.study.store import Product, Store
from thermorbm.study.tasks import Task
from thermorbm.study.thermal import as_dict, exact_values
from thermorbm.study.work import Progress
from thermorbm.study.work_data import split

EXACT_UNITS = 16  # a layer as small as this is summed over
# Edges stand three standard errors away on either side: 0.004 leaves about as much error of ln Z as a mean
# over 2000 configurations of 32 x 32 has near T_c, sqrt(c_V / N / 2000) = 0.001 per spin. Symmetric machines
# come closer to S than that.
WIDTH_PER_SPIN, LEAST_WIDTH = {"rbm": 0.004, "symmetric-rbm": 0.0015}, 1.0  # nats
# The larger of both limits the rungs.
MOST_RUNGS, MOST_PER_SPIN = {"rbm": 512, "symmetric-rbm": 256}, {"rbm": 0.25, "symmetric-rbm": 0.5}
# Near T_c a symmetric machine needs as many as its energy varies, times how slowly it forgets: about N^2.
SPINS_PER_PASS = 1024
BOUND_CHAINS, BOUND_RUNGS = 64, 256

PASSED_ON = ("value", "error", "lower", "upper", "method", "verdict", "guide")

Values = dict[str, Any]


def partition(task: Task, store: Store, progress: Progress) -> Product:
    """ln Z of a machine, total in nats, how it was found and what speaks against it; its rungs as array."""
    found = _log_partition(store.machine(task.inputs[0]), task.parameters["seed"], progress)
    arrays = {} if found.betas is None else {"betas": found.betas}
    return Product(found.to_dict(), arrays)


def _log_partition(machine: Machine, seed: int, progress: Progress) -> LogPartition:
    if min(machine.n_visible, machine.n_hidden) <= EXACT_UNITS:
        return machine.log_partition("exact")
    return machine.log_partition(
        "ais",
        seed=seed,
        progress=lambda stage, done, total: progress(done / total),
        **partition_options(machine),
    )


def partition_options(machine: Machine) -> Values:
    """How narrow ln Z is to be enclosed, and with how many rungs at most."""
    n = machine.n_visible
    passes = max(1.0, n / SPINS_PER_PASS) if machine.kind == "symmetric-rbm" else 1.0
    return {
        "width": max(LEAST_WIDTH, WIDTH_PER_SPIN[machine.kind] * n),
        "most_rungs": max(MOST_RUNGS[machine.kind], int(passes * MOST_PER_SPIN[machine.kind] * n)),
    }


def bracket(task: Task, store: Store, progress: Progress) -> Product:
    """S~ <= S <= upper edge per spin of held-out configurations, with the likelihood beside them."""
    machine, data = store.machine(task.inputs[0]), store.dataset(task.inputs[1])
    known = store.reduced(task.inputs[2])
    fields = {key: known.values[key] for key in PASSED_ON}
    most = max(BOUND_RUNGS, int(MOST_PER_SPIN[machine.kind] * machine.n_visible))
    log_partition = LogPartition(**fields, betas=_thinned(known.arrays.get("betas"), most))
    is_ising = task.parameters["hamiltonian"] == "ising"
    _, held_out = split(data)
    found = ob.entropy_bracket(
        machine,
        held_out,
        log_partition,
        task.parameters["seed"],
        is_ising,
        BOUND_CHAINS,
        lambda stage, done, total: progress(done / total),
    )
    truth = None
    if found.lower is not None and data.lattice is not None and data.temperature is not None:
        truth = exact_values(data.lattice, data.temperature)
    return Product({"bracket": _values(found, truth), "n_sites": data.n_sites})


def _thinned(betas: NDArray[np.float64] | None, most_rungs: int) -> NDArray[np.float64] | None:
    """At most so many of the rungs, evenly: the bound holds along any, and is needed at every temperature."""
    if betas is None or len(betas) - 1 <= most_rungs:
        return betas
    return betas[np.linspace(0, len(betas) - 1, most_rungs + 1).round().astype(np.intp)]


def _values(found: EntropyBracket, truth: Values | None) -> Values:
    """Estimates per spin; KL of data and machine where the exact entropy of this lattice is known."""
    values: Values = {
        "entropy_upper_per_spin": as_dict(found.upper),
        "nll_per_spin": as_dict(found.nll),
        "lower_problem": found.lower_problem,
        "n_samples": found.n_samples,
    }
    for name, estimate in (
        ("entropy_lower_per_spin", found.lower),
        ("kl_bound_per_spin", found.kl_bound),
        ("free_energy_lower_per_spin", found.free_energy),
    ):
        if estimate is not None:
            values[name] = as_dict(estimate)
    if truth is not None and truth["source"] == "kaufman":
        difference = Estimate(found.nll.value - truth["entropy_per_spin"], found.nll.error)
        values["kl_per_spin"] = as_dict(difference)
    return values
