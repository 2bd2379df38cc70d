"""Couplings of one symmetric machine with errors from its own training data, by the Fisher information.

The parameters of a machine at the maximum of its likelihood scatter, over datasets, by the inverse of the
Fisher information: n times the covariance over configurations of -dE/dtheta. What this means for couplings
follows from their slopes by the parameters. Directions that change no coupling, as the two weights of a
filter of two sites at fixed product, drop out. The noise of a machine's own chains comes on top.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.inverse_ising import FIELD, InferredCouplings, Label
from thermorbm.model import SymmetricRBM
from thermorbm.model.windows import window_products, window_states
from thermorbm.observables.interactions import MOST_SPINS, Interactions, interactions

Floats = NDArray[np.float64]
_SMALLEST = 1e-10  # of the eigenvalues of the scaled covariance, over the largest: less is rounding


def coupling_estimates(machine: SymmetricRBM, data: Dataset | None = None) -> InferredCouplings:
    """Field and couplings over k_B T with their covariance. data: what the machine was trained on.

    A machine of few couplings, as in a field, has the errors of its training with it; others need `data`, and
    give pairs by their displacement.
    """
    recorded = machine.provenance.get("couplings")
    if recorded is not None:
        labels = tuple(_tupled(label) for label in recorded["labels"])
        return InferredCouplings(labels, np.array(recorded["values"]), np.array(recorded["covariance"]))
    if data is None:
        raise InputError("data", None, "the configurations that the machine was trained on")
    return _by_fisher(machine, data)


def _tupled(label: Any) -> Any:
    return tuple(_tupled(part) for part in label) if isinstance(label, list) else label


def _by_fisher(machine: SymmetricRBM, data: Dataset) -> InferredCouplings:
    if machine.n_cell > 1 or int(np.prod(machine.window)) > MOST_SPINS:
        raise InputError("machine", machine, f"one whose window has at most {MOST_SPINS} sites")
    learned = interactions(machine)
    labels: tuple[Label, ...] = (FIELD, *learned.vectors)
    values = np.array([learned.field, *learned.vectors.values()])
    moving = np.append(machine.filters.ravel() != 0, [bool(machine.visible_bias != 0)])
    slopes = _slopes(machine, learned, labels)[:, moving]
    covariance = np.cov(_statistics(machine, data)[:, moving], rowvar=False).reshape(slopes.shape[1], -1)
    return InferredCouplings(labels, values, slopes @ _inverse(covariance) @ slopes.T / len(data))


def _statistics(machine: SymmetricRBM, data: Dataset) -> Floats:
    """-dE/dtheta of each configuration: filters, then the visible bias. -> (n, n_weights + 1)."""
    rows = []
    for block in data.blocks():
        v = block.astype(machine.dtype)
        sums = machine.filter_statistics(v, np.tanh(machine.hidden_inputs(v))).reshape(len(v), -1)
        rows.append(np.hstack([sums, v.sum(axis=1, dtype=np.float64)[:, None]]))
    return np.concatenate(rows)


def _slopes(machine: SymmetricRBM, learned: Interactions, labels: tuple[Label, ...]) -> Floats:
    """Of the field and of pairs by filters and visible bias. -> (k, n_weights + 1)."""
    filters = machine.filters.reshape(machine.n_filters, -1).astype(np.float64)
    states = window_states(filters.shape[1])
    means = np.tanh(states @ filters.T + machine.hidden_bias.astype(np.float64))
    own = (means[:, :, None] * states[:, None, :]).reshape(len(states), -1)
    slopes, rows = np.zeros((len(labels), own.shape[1] + 1)), {label: k for k, label in enumerate(labels)}
    slopes[0, -1] = 1.0
    for number, product in window_products(machine.window, machine.shape, 2).items():
        signs = 1.0 - 2.0 * (np.bitwise_count(np.arange(len(states)) & number) & 1)
        row = 0 if len(product) == 1 else rows[learned.label(*product)]
        slopes[row, :-1] += signs @ own / len(states)
    return slopes


def _inverse(covariance: Floats) -> Floats:
    """Pseudo-inverse, in units in which every parameter scatters alike."""
    scale = np.sqrt(np.diag(covariance))
    scale[scale == 0] = 1.0
    scaled = covariance / np.outer(scale, scale)
    return np.asarray(np.linalg.pinv(scaled, rcond=_SMALLEST, hermitian=True) / np.outer(scale, scale))
