"""What a training run records, and the verdict on whether it has converged."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.errors import ThermorbmError
from thermorbm.model.machine import Machine
from thermorbm.shown import Displayed

# L~ per visible unit may still fall by this much if training went on for as long again.
TOLERANCE = 2e-3
# L~ per visible unit beyond which there is no way back; independent fair coins have ln 2.
HOPELESS = 10.0
# A machine without weights has ln 2, too; one that stays above it has not converged to anything.
WORSE_THAN_NOTHING = math.log(2) + 0.1
# Hidden inputs beyond which tanh is flat, the share of them that makes a machine saturated, and the part of
# L~ of independent spins that a machine must gain to know more than they do.
SATURATED, MOSTLY, LEAST_GAIN = 2.0, 0.9, 0.02
History = dict[str, NDArray[np.float64]]


@dataclass(frozen=True)
class Scores:
    """Means over some configurations, totals in nats but for the cross entropy, which is per unit."""

    pseudo_likelihood: float
    pseudo_likelihood_error: float
    cross_entropy: float
    visible_energy: float


NO_SCORES = Scores(float("nan"), float("nan"), float("nan"), float("nan"))


def score(machine: Machine, v: NDArray[np.int8], seed: int) -> Scores:
    """Scores of a machine on configurations v, (n, n_visible)."""
    likelihood = machine.pseudo_likelihood(v)
    return Scores(
        float(likelihood.mean()),
        float(likelihood.std() / np.sqrt(len(v))),
        float(machine.cross_entropy(v, seed=seed).mean()),
        float(machine.visible_energy(v).mean()),
    )


@dataclass(frozen=True, repr=False)
class Verdict(Displayed):
    """What a training came to. status: "converged", "not converged", "diverged", or "mere order".

    Mere order: the machine knows the order of its data and nothing else, and its hidden units are saturated,
    so that no more training will change that.

    drift: by how much L~ per visible unit is expected to change if training went on for as long again (in
    learning rate times updates), with its standard error; nan while there are too few records.
    """

    status: str
    drift: float
    drift_error: float


def judge(history: Mapping[str, NDArray[np.float64]], n_visible: int) -> Verdict:
    """By how much L~ would still change, from a fit of it against distance, the sum of rates over updates.

    Per epoch a small rate looks flat long before it has arrived, per distance it does not. Converged means
    that the change, two standard errors of the fit added, is below TOLERANCE.
    """
    likelihood = np.asarray(history["pseudo_likelihood"]) / n_visible
    if not np.all(np.isfinite(likelihood)) or likelihood[-1] > HOPELESS:
        return Verdict("diverged", float("nan"), float("nan"))
    columns = [np.asarray(history[name]) for name in ("update", "distance", "rate")]
    law = _constant_law if np.ptp(columns[2]) == 0 else _falling_law
    recent, terms = law(*columns)
    if recent.sum() < 6:
        return Verdict("not converged", float("nan"), float("nan"))
    drift, error = _leading_coefficient(np.stack(terms, axis=1)[recent], likelihood[recent])
    return Verdict(_status(drift, error, likelihood[-1]), drift, error)


def _status(drift: float, error: float, likelihood: float) -> str:
    """Of a training whose L~ per visible unit, last `likelihood`, changes so little, or not so little."""
    if not abs(drift) + 2 * error < TOLERANCE:
        return "not converged"
    return "converged" if likelihood < WORSE_THAN_NOTHING else "diverged"


Law = tuple[NDArray[np.bool_], list[NDArray[np.float64]]]


def _constant_law(updates: NDArray[Any], distance: NDArray[Any], rate: NDArray[Any]) -> Law:
    """Over the second half of the updates: a constant and a logarithm, which doubles of the distance change
    by as much each. No law falls more slowly, and training stops by it.
    """
    return updates >= updates[-1] / 2, [np.log2(distance / distance[-1]), np.ones_like(distance)]


def _falling_law(updates: NDArray[Any], distance: NDArray[Any], rate: NDArray[Any]) -> Law:
    """Over the last four fifths: a constant, a term in the rate and one in 1 / distance.

    The rate stands for the noise of the walk, which goes with it and is no progress. The early updates tell
    the two apart: there the distance grows and the rate hardly falls. 1 - 2 D / distance changes by 1 when
    the distance D of the last update doubles.
    """
    return updates >= updates[-1] / 5, [1 - 2 * distance[-1] / distance, np.ones_like(rate), rate / rate[0]]


def judge_natural(history: Mapping[str, NDArray[np.float64]], n_visible: int) -> Verdict:
    """The same for natural gradients, which forget their start within a few updates over the rate.

    What they have still to go shows between the last two sixths of the updates: the drift is the change of L~
    per visible unit from one to the other, with its error from the scatter inside both.
    """
    likelihood = np.asarray(history["pseudo_likelihood"]) / n_visible
    if not np.all(np.isfinite(likelihood)) or likelihood[-1] > HOPELESS:
        return Verdict("diverged", float("nan"), float("nan"))
    part = np.asarray(history["update"]) / history["update"][-1]
    before, last = likelihood[(part > 4 / 6) & (part <= 5 / 6)], likelihood[part > 5 / 6]
    if min(len(before), len(last)) < 3:
        return Verdict("not converged", float("nan"), float("nan"))
    drift = float(last.mean() - before.mean())
    error = float(np.sqrt(before.var(ddof=1) / len(before) + last.var(ddof=1) / len(last)))
    return Verdict(_status(drift, error, likelihood[-1]), drift, error)


def is_mere_order(machine: Machine, v: NDArray[np.int8], strengths: NDArray[np.float64]) -> bool:
    """Whether a machine says no more of configurations than spins that are independent but for their order.

    v: (n, n_visible). strengths: mean of each spin in the pattern of the order, (n_visible,). L~ of
    independent spins, which know the sign of the pattern from all the others, is compared configuration by
    configuration.
    """
    inputs = machine.hidden_inputs(v.astype(machine.dtype))
    if np.mean(np.abs(inputs) > SATURATED) < MOSTLY:
        return False
    signs = np.where(v @ strengths < 0, -1.0, 1.0)[:, None]
    independent = -np.log((1 + signs * strengths * v) / 2).sum(axis=1)
    gain = independent - machine.pseudo_likelihood(v)
    error = float(gain.std() / np.sqrt(len(gain)))
    return bool(gain.mean() < LEAST_GAIN * independent.mean() + 2 * error)


def _leading_coefficient(terms: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """First coefficient of the least-squares fit of y by the columns of terms; error from the scatter."""
    inverse = np.linalg.pinv(terms.T @ terms)
    coefficients = inverse @ (terms.T @ y)
    residual = y - terms @ coefficients
    variance = residual @ residual / (len(y) - terms.shape[1])
    return float(coefficients[0]), float(np.sqrt(variance * inverse[0, 0]))


class Board:
    """Writes records as scalars at their update: "training/..." and "held out/..."."""

    def __init__(self, directory: str | Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            remedy = "try: pip install 'thermorbm[tensorboard]'"
            raise ThermorbmError(f"TensorBoard is not installed; {remedy}") from error
        self._writer, self._n_written = SummaryWriter(str(directory)), 0

    def write(self, history: History) -> None:
        """The records that were not written yet; after a checkpoint also those from before it."""
        updates = history["update"]
        for row in range(self._n_written, len(updates)):
            for name, values in history.items():
                if name != "update":
                    self._writer.add_scalar(_tag(name), float(values[row]), int(updates[row]))
        self._writer.flush()
        self._n_written = len(updates)

    def close(self) -> None:
        self._writer.close()


@contextmanager
def opened_board(directory: str | Path | None) -> Iterator[Board | None]:
    """A board in that directory, None for none."""
    board = None if directory is None else Board(directory)
    try:
        yield board
    finally:
        if board is not None:
            board.close()


def _tag(name: str) -> str:
    of_held_out = name.startswith("validation_")
    return f"held out/{name.removeprefix('validation_')}" if of_held_out else f"training/{name}"
