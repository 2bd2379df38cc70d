"""ln Z, exactly by enumeration of the smaller layer, or between bounds by annealing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from thermorbm.checks import whole_number
from thermorbm.errors import InputError
from thermorbm.model.annealing import placed, work_lengths
from thermorbm.model.energy import log_2cosh_sum, visible_energy
from thermorbm.model.first_run import AUTO, FirstRun, first_run, pattern_bound
from thermorbm.model.layers import Layers
from thermorbm.model.path import Path
from thermorbm.model.random_units import Seed, seed_sequence
from thermorbm.model.sandwich import CLEARLY, LEAST_HIDDEN, PADDING, Equilibrium, Progress, Sandwich, sandwich
from thermorbm.model.units import row_blocks
from thermorbm.shown import Displayed
from thermorbm.stats import Estimate

MOST_UNITS = 22  # 2^22 states of the smaller layer
WIDTH_PER_UNIT = 0.002  # nats
LEAST_WIDTH = 0.5  # nats
CHAINS, MOST_CHAINS = 64, 4096
LEAST_RUNGS, MOST_RUNGS = 32, 8192
MOST_STEPS = 1 << 20  # rungs times chains, beyond which no chains are added
TRUSTED = ("ok", "wider than asked")  # what verdicts begin with that leave value and error as they are
_SPREADS = 0.25, 3.0  # standard deviations of ln w between which rungs are chosen; below, chains are cheaper
_CHAINS_HELP = (
    1.5  # where ln w spreads more widely, bounds approach each other with ln of the number of chains only
)


@dataclass(frozen=True, eq=False, repr=False)
class LogPartition(Displayed):
    """ln Z in nats, its standard error, and the edges between which it lies.

    method "exact": value, lower and upper are the same. "ais": value is Bennett's; lower is the bound of the
    forward chains less 3 standard errors of it, upper that of the reverse chains plus 3. verdict: "ok", or
    in a few words what is wrong. ess: how many equally weighted chains the forward ones are worth. overlap:
    share of chains of one direction that the other could have made. worth: as ess, of that direction where
    it is less. halves: difference between odd and even chains in standard errors. equilibrium: of the start
    of the reverse chains. betas: (n_rungs + 1,) rungs; guide: see `path.FieldPath`; thresholds: of each rung,
    (n_rungs + 1, k), see `ordered_path.OrderedPath`, None on another path. Further annealing can use them.
    """

    value: float
    error: float
    lower: float
    upper: float
    method: str
    verdict: str = "ok"
    n_chains: int = 0
    n_rungs: int = 0
    ess: float = math.nan
    overlap: float = math.nan
    worth: float = math.nan
    halves: float = math.nan
    equilibrium: Equilibrium | None = None
    guide: float = 0.0
    betas: NDArray[np.float64] | None = None
    thresholds: NDArray[np.float64] | None = None

    def _facts(self) -> dict[str, Any]:
        value, parts = Estimate(self.value, self.error), ("lower", "upper", "method", "verdict")
        return {"value": value, **{name: getattr(self, name) for name in parts}}

    @property
    def is_ok(self) -> bool:
        """Whether bounds are as narrow as asked, and nothing speaks against equilibrium."""
        return self.verdict == "ok"

    @property
    def is_trusted(self) -> bool:
        """Whether value and error can be used: the verdict is ok, or the edges are wide and nothing else."""
        return self.verdict.startswith(TRUSTED)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the rungs as plain JSON values."""
        values = asdict(self)
        del values["betas"], values["thresholds"]
        return {key: None if value != value else value for key, value in values.items()}


def log_partition_ais(
    machine: Layers,
    width: float | None = None,
    n_chains: int | None = None,
    n_rungs: int | None = None,
    most_rungs: int = MOST_RUNGS,
    most_doubted: int = 0,
    start: str = AUTO,
    seed: Seed = 0,
    progress: Progress | None = None,
) -> LogPartition:
    """ln Z by annealing both ways, with as many rungs and chains as it takes for upper - lower <= width.

    The bounds of both directions are also to agree within three standard errors.

    width: nats; None for 0.002 per visible unit and at least 0.5. n_chains, n_rungs: None to adapt them (to
    at most 4096 and most_rungs). most_doubted: rungs that are allowed, if they are more, as long as something
    speaks against the value. start: see `path.make_path`, and `first_run.first_run` for "auto".
    """
    asked, most = _width(machine, width), whole_number("most_rungs", most_rungs, 1)
    chains = CHAINS if n_chains is None else whole_number("n_chains", n_chains, 2)
    seeds = seed_sequence(seed)
    first = first_run(machine, start, min(chains, CHAINS), seeds.spawn(1)[0])
    path, betas, works = first.path, first.betas, first.works
    plan = _first_plan(works, asked, chains, n_chains is None)
    rungs = min(plan[0], most) if n_rungs is None else whole_number("n_rungs", n_rungs, 1)
    plan = rungs, plan[1]
    while True:
        annealed = sandwich(path, placed(betas, works, plan[0]), plan[1], seeds.spawn(1)[0], progress)
        is_sound = _problem(annealed) is None
        allowed = most if is_sound else max(most, most_doubted)
        better = _next_plan(annealed, asked, allowed if n_rungs is None else plan[0], n_chains is None)
        if is_sound and n_rungs is None and plan[0] > most:  # further rungs were for soundness alone
            better = plan
        narrow = annealed.upper - annealed.lower <= asked
        if better == plan or (narrow and annealed.agrees and annealed.doubt is None):
            result = _result(path, annealed, asked)
            return _held_against(
                result, pattern_bound(path, annealed.betas, annealed.n_chains, seeds.spawn(1)[0])
            )
        betas, works, plan = annealed.betas, annealed.forward.works, better


def planned_rungs(first: FirstRun) -> NDArray[np.float64]:
    """As many rungs as ln Z to the default width would begin with, placed by a pilot run."""
    n_rungs, _ = _first_plan(first.works, _width(first.path.machine, None), CHAINS, adapt=False)
    return placed(first.betas, first.works, n_rungs)


def _width(machine: Layers, width: float | None) -> float:
    if width is None:
        return max(LEAST_WIDTH, WIDTH_PER_UNIT * machine.n_visible)
    if not 0 < width < math.inf:
        raise InputError("width", width, "a number of nats > 0")
    return float(width)


def _first_plan(works: NDArray[np.float64], asked: float, chains: int, adapt: bool) -> tuple[int, int]:
    """Rungs and chains for the width: the variance of ln w and twice the padded errors make it up."""
    noise = 2 * PADDING
    per_chain = noise / math.sqrt(chains)
    spread = (math.sqrt(per_chain**2 + 4 * asked) - per_chain) / 2  # spread^2 + per_chain spread = asked
    low, high = _SPREADS
    if adapt and spread < low:
        chains = min(MOST_CHAINS, max(chains, math.ceil((noise * low / asked) ** 2)))
    spread = min(max(spread, low), high)
    length = float(work_lengths(works)[1].sum())
    return min(max(LEAST_RUNGS, math.ceil((length / spread) ** 2)), MOST_RUNGS), chains


def _next_plan(annealed: Sandwich, asked: float, most_rungs: int, more_chains: bool) -> tuple[int, int]:
    """Twice the rungs while weights spread widely, else as many chains as the error needs, up to the most."""
    rungs, chains = len(annealed.betas) - 1, annealed.n_chains
    if rungs < most_rungs and (annealed.spread > 2 * _SPREADS[0] or not more_chains):
        return min(2 * rungs, most_rungs), chains
    if more_chains and annealed.spread < _CHAINS_HELP:
        factor = min(4.0, max(1.0, 1.2 * ((annealed.upper - annealed.lower) / asked) ** 2))
        most_chains = max(chains, min(MOST_CHAINS, MOST_STEPS // rungs))
        return rungs, min(math.ceil(factor * chains), most_chains)
    return rungs, chains


def _result(path: Path, annealed: Sandwich, asked: float) -> LogPartition:
    base = path.log_start
    return LogPartition(
        value=base + annealed.crossing.value.value,
        error=annealed.error,
        lower=base + annealed.lower,
        upper=base + annealed.upper,
        method="ais",
        verdict=_verdict(annealed, asked),
        n_chains=annealed.n_chains,
        n_rungs=len(annealed.betas) - 1,
        ess=annealed.ess,
        overlap=annealed.crossing.overlap,
        worth=annealed.worth,
        halves=annealed.halves,
        equilibrium=annealed.equilibrium,
        **path.recorded(annealed.betas),
    )


def _held_against(result: LogPartition, bound: Estimate | None) -> LogPartition:
    """The same, but not trusted where chains along the machine's patterns prove ln Z to be larger."""
    if bound is None or not result.is_trusted:
        return result
    above = bound.value - result.value - CLEARLY * math.hypot(bound.error, result.error)
    if above <= LEAST_HIDDEN:
        return result
    missed = f"chains along the weights' patterns find a mode heavier by {above:.3g} nats"
    return replace(result, verdict=f"out of equilibrium: {missed}")


def _verdict(annealed: Sandwich, asked: float) -> str:
    width = annealed.upper - annealed.lower
    is_wide = f"wider than asked: {width:.3g} nats instead of {asked:.3g}"
    return _problem(annealed) or ("ok" if width <= asked else is_wide)


def _problem(bounds: Sandwich) -> str | None:
    """Why the value cannot be used as it is; None where nothing speaks against it."""
    if bounds.equilibrium.problem:
        return bounds.equilibrium.problem
    if not bounds.overlaps:
        return "too few rungs: no work is common to both directions"
    return bounds.doubt


def log_partition_exact(machine: Layers) -> LogPartition:
    """ln Z = ln of the sum over the smaller layer, the other one summed analytically."""
    smaller = min(machine.n_visible, machine.n_hidden)
    if smaller > MOST_UNITS:
        layers = f"{machine.n_hidden} hidden and {machine.n_visible} visible units"
        wanted = f"one with a layer of <= {MOST_UNITS} units for exact enumeration"
        raise InputError("machine", layers, wanted, "method='ais' takes any size")
    log_weights = _hidden_log_weights if machine.n_hidden == smaller else _visible_log_weights
    parts = [logsumexp(log_weights(machine, states)) for states in _all_states(smaller, machine.width)]
    value = float(logsumexp(parts))
    return LogPartition(value, error=0.0, lower=value, upper=value, method="exact")


def _hidden_log_weights(machine: Layers, h: NDArray[np.float64]) -> NDArray[np.float64]:
    return machine.hidden_field(h) + log_2cosh_sum(machine.visible_inputs(h))


def _visible_log_weights(machine: Layers, v: NDArray[np.float64]) -> NDArray[np.float64]:
    return -visible_energy(machine, v)


def _all_states(n_units: int, width: int) -> Iterator[NDArray[np.float64]]:
    """Every state of the layer once, in blocks of +-1, float64 whatever the machine's type."""
    for rows in row_blocks(1 << n_units, width):
        numbers = np.arange(rows.start, rows.stop)
        yield np.where((numbers[:, None] >> np.arange(n_units)) & 1, 1.0, -1.0)


METHODS: dict[str, Callable[..., LogPartition]] = {"exact": log_partition_exact, "ais": log_partition_ais}
