"""The entropy bracket: ln Z of a machine, and S~ <= S <= upper edge from held-out configurations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm import observables as ob
from thermorbm.dataset import Dataset, as_dataset
from thermorbm.errors import InputError
from thermorbm.model import LogPartition, Machine
from thermorbm.model.rounded import as_annealed
from thermorbm.observables import EntropyBracket
from thermorbm.reading.configurations import exact_values, is_ours
from thermorbm.reading.values import Bracket, ExactValues, share_learnt
from thermorbm.stats import Estimate, mean_estimate

EXACT_UNITS = 16  # a layer as small as this is summed over
# Edges stand three standard errors away on either side: 0.004 leaves about as much error of ln Z as a mean
# over 2000 configurations of 32 x 32 has near T_c, sqrt(c_V / N / 2000) = 0.001 per spin. Symmetric machines
# come closer to S than that.
WIDTH_PER_SPIN, LEAST_WIDTH = {"rbm": 0.004, "symmetric-rbm": 0.0015}, 1.0  # nats
MODERATE = 256  # spins; fewer ask for their share of the least width, so that they are known as well per spin
# The larger of both limits the rungs. Dense machines of 64 x 64 spins need more than 1024 just above T_c.
MOST_RUNGS, MOST_PER_SPIN = {"rbm": 512, "symmetric-rbm": 256}, {"rbm": 0.5, "symmetric-rbm": 0.5}
# Where something speaks against the value this many are tried: cold and frustrated machines of a few hundred
# spins need them, and dense ones of 64 x 64 at T = 2.5, where 2048 had left all weight on two chains.
MOST_DOUBTED = 4096
# If it still does, or is TOO_WIDE times as wide as asked, symmetric machines of fewer than SPINS_PER_PASS are
# annealed once more with this many: a cold frustrated one of 24 x 24 leaves the pattern of its guide slowly:
# 4096 put all weight on two chains.
LAST_RUNGS, TOO_WIDE = 16384, 2.0
# Near T_c a symmetric machine needs as many as its energy varies, times how slowly it forgets: about N^2.
SPINS_PER_PASS = 1024
BOUND_CHAINS, BOUND_RUNGS, BOUND_PER_SPIN = 64, 256, {"rbm": 0.25, "symmetric-rbm": 0.5}

Progress = Callable[[str, int, int], None]


def log_partition(
    machine: Machine, seed: int, width: float | None = None, progress: Progress | None = None
) -> LogPartition:
    """ln Z, total in nats: exact where a layer is small, else by annealing.

    width: of the sandwich around it, nats; by default as narrow as the entropy needs it.
    """
    if min(machine.n_visible, machine.n_hidden) <= EXACT_UNITS:
        return machine.log_partition("exact")
    options = partition_options(machine) | ({} if width is None else {"width": width})
    ln_z = as_annealed(machine).log_partition("ais", seed=seed, progress=progress, **options)
    is_good = ln_z.is_trusted and ln_z.upper - ln_z.lower <= TOO_WIDE * options["width"]
    if is_good or machine.kind != "symmetric-rbm" or machine.n_visible >= SPINS_PER_PASS:
        return ln_z
    last = {"width": options["width"], "n_rungs": LAST_RUNGS}
    return machine.log_partition("ais", seed=seed, progress=progress, **last)


def partition_options(machine: Machine) -> dict[str, Any]:
    """How narrow ln Z is to be enclosed, and with how many rungs at most."""
    n = machine.n_visible
    passes = max(1.0, n / SPINS_PER_PASS) if machine.kind == "symmetric-rbm" else 1.0
    most = max(MOST_RUNGS[machine.kind], int(passes * MOST_PER_SPIN[machine.kind] * n))
    return {
        "width": max(LEAST_WIDTH * min(1.0, n / MODERATE), WIDTH_PER_SPIN[machine.kind] * n),
        "most_rungs": MOST_DOUBTED if n < MODERATE else most,  # few spins are carried fast
        "most_doubted": MOST_DOUBTED,
    }


def edges(
    machine: Machine,
    held_out: Dataset,
    ln_z: LogPartition,
    seed: int,
    follows_h: bool,
    progress: Progress | None = None,
) -> EntropyBracket:
    """Both edges per spin. follows_h: whether the configurations follow their Hamiltonian, for the lower."""
    most_rungs = max(BOUND_RUNGS, int(BOUND_PER_SPIN[machine.kind] * machine.n_visible))
    betas, thresholds = (_thinned(rungs, most_rungs) for rungs in (ln_z.betas, ln_z.thresholds))
    ln_z = replace(ln_z, betas=betas, thresholds=thresholds)
    return ob.entropy_bracket(as_annealed(machine), held_out, ln_z, seed, follows_h, BOUND_CHAINS, progress)


def _thinned(rungs: NDArray[np.float64] | None, most_rungs: int) -> NDArray[np.float64] | None:
    """At most so many of the rungs, evenly: the bound holds along any, and is needed at every temperature."""
    if rungs is None or len(rungs) - 1 <= most_rungs:
        return rungs
    return rungs[np.linspace(0, len(rungs) - 1, most_rungs + 1).round().astype(np.intp)]


def bracket(both: EntropyBracket, held_out: Dataset) -> Bracket:
    """The edges, with the relative entropy of data and machine where the entropy is known exactly."""
    truth, kl = None if both.lower is None else _truth(held_out), None
    if truth is not None:
        kl = Estimate(both.nll.value - truth.entropy_per_spin, both.nll.error)
    return Bracket(
        entropy_upper_per_spin=both.upper,
        nll_per_spin=both.nll,
        n_samples=both.n_samples,
        entropy_lower_per_spin=both.lower,
        free_energy_lower_per_spin=both.free_energy,
        kl_bound_per_spin=both.kl_bound,
        kl_per_spin=kl,
        order_entropy_per_spin=both.order,
        below_order_per_spin=both.below_order,
        lower_problem=both.lower_problem,
    )


def correlations_learnt(
    machine: Machine, held_out: Dataset | ArrayLike, entropy: float | Estimate | None = None, seed: int = 0
) -> Estimate:
    """The share of the correlations of configurations that a machine has learnt, with its error.

    (H_order - NLL) / (H_order - S), see `observables.mere_order`: 0 for a machine that knows the order of the
    data and nothing else, 1 for a perfect one. held_out: configurations that training has not seen, a Dataset
    or an array of +-1. entropy: S per spin in nats; needed where it is not known exactly, that is, for all
    but our own samples of square and of narrow lattices.
    """
    held_out = as_dataset("held_out", held_out)
    if entropy is None:
        entropy = _exact_entropy(held_out)
    true_entropy = entropy if isinstance(entropy, Estimate) else Estimate(float(entropy), 0.0)
    ln_z, annealed = log_partition(machine, seed), as_annealed(machine)
    energies = np.concatenate([annealed.visible_energy(v) for v in held_out.blocks()])
    mere, n = ob.mere_order(held_out), machine.n_visible
    below = mean_estimate((mere - energies) / n)
    below = Estimate(below.value - ln_z.value / n, math.hypot(below.error, ln_z.error / n))
    share = share_learnt(below, mean_estimate(mere / n), true_entropy)
    if share is None:
        raise InputError("data", "no correlations", "correlated beyond their common sign")
    return share


def _exact_entropy(data: Dataset) -> float:
    truth = _truth(data) if is_ours(data) else None
    if truth is None:
        remedy = "it is not known exactly for these configurations"
        raise InputError("entropy", None, "S per spin in nats", remedy)
    return truth.entropy_per_spin


def _truth(data: Dataset) -> ExactValues | None:
    """Exact values of the very lattice of the configurations, None where they are not known."""
    model = data.hamiltonian or data.lattice
    if model is None or data.temperature is None:
        return None
    values = exact_values(model, data.temperature)
    return values if values is not None and values.is_of_this_lattice else None
