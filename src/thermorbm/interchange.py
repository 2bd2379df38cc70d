"""Machines of other packages, and back.

`rbms` and scikit-learn have units of 0 and 1, x = (1 + s) / 2, and the energy -a.x - d.y - y.w x with w
(n_hidden, n_visible). The same machine of +-1 units has

    W = w / 4,    b_j = a_j / 2 + sum_i w_ij / 4,    c_i = d_i / 2 + sum_j w_ij / 4,

and its visible energy differs by a constant. All divisors are powers of two, so that weights come back bit
for bit; biases come back to rounding.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.checks import whole_number
from thermorbm.errors import FileError, InputError, ThermorbmError
from thermorbm.foreign import ForeignArray, check_expansion, foreign_arrays, is_hdf5
from thermorbm.model import RBM, Machine, SymmetricRBM
from thermorbm.storage import atomic_path, check_readable

Array = NDArray[np.float64]

_BIASES = ("vbias", "hbias")
BINARY = "BBRBM"  # what rbms calls machines of 0/1 units; those of others have parameters of the same names
ONLY_BINARY = f"machines of binary units ({BINARY}) can be read"


def from_binary(weights: ArrayLike, visible: ArrayLike, hidden: ArrayLike, **provenance: Any) -> RBM:
    """The machine of +-1 units for one of 0/1 units: w (n_hidden, n_visible), a (n_visible,), d (n_hidden,).

    provenance: what the machine is to remember of where it came from.
    """
    w, a, d = (_numbers(array) for array in (weights, visible, hidden))
    if w.ndim != 2 or a.shape != w.shape[1:] or d.shape != w.shape[:1]:
        got = (w.shape, a.shape, d.shape)
        raise InputError("weights and biases", got, "of shapes (n_h, n_v), (n_v,) and (n_h,)")
    return RBM(w / 4, a / 2 + w.sum(axis=0) / 4, d / 2 + w.sum(axis=1) / 4, provenance)


def _numbers(values: ArrayLike) -> Array:
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        array = np.empty(0, object)
    if array.dtype.kind not in "biuf":
        raise InputError("weights and biases", values, "arrays of real numbers")
    return array.astype(np.float64)


def to_binary(machine: Machine) -> tuple[Array, Array, Array]:
    """w (n_hidden, n_visible), a (n_visible,) and d (n_hidden,) of the machine with 0/1 units, float64."""
    if not isinstance(machine, Machine):
        raise InputError("machine", machine, "an RBM or a SymmetricRBM")
    dense = machine.to_dense() if isinstance(machine, SymmetricRBM) else machine
    W, b, c = (np.asarray(array, dtype=np.float64) for array in (dense.W, dense.b, dense.c))  # type: ignore[attr-defined]
    return 4 * W, 2 * b - 2 * W.sum(axis=0), 2 * c - 2 * W.sum(axis=1)


def from_sklearn(bernoulli: Any) -> RBM:
    """The machine of a fitted `sklearn.neural_network.BernoulliRBM`."""
    names = ("components_", "intercept_visible_", "intercept_hidden_")
    if not all(hasattr(bernoulli, name) for name in names):
        raise InputError("machine", bernoulli, "a fitted BernoulliRBM", "call its fit or partial_fit first")
    return from_binary(*(getattr(bernoulli, name) for name in names), origin="scikit-learn")


def to_sklearn(machine: Machine) -> Any:
    """A fitted `BernoulliRBM` with the same distribution of v, in units of 0 and 1."""
    try:
        from sklearn.neural_network import BernoulliRBM
    except ImportError as error:
        raise ThermorbmError("scikit-learn is not installed; try: pip install scikit-learn") from error
    w, a, d = to_binary(machine)
    bernoulli = BernoulliRBM(n_components=len(d))
    bernoulli.components_, bernoulli.intercept_visible_, bernoulli.intercept_hidden_ = w, a, d
    bernoulli.n_features_in_ = len(a)
    bernoulli.h_samples_ = np.zeros((bernoulli.batch_size, len(d)))  # what partial_fit starts its chains from
    return bernoulli


def from_rbms(path: str | Path, update: int | None = None) -> RBM:
    """The machine in an HDF5 file of the package `rbms`, as it was after `update`; the last one by default.

    Only its machines of binary units (BBRBM) are read.
    """
    check_readable(Path(path))
    if not is_hdf5(path):
        raise FileError(path, "is not an HDF5 file", "rbms writes one when it trains")
    with foreign_arrays(path) as arrays:
        kind = arrays["model_type"].word if "model_type" in arrays else BINARY  # older files do not say
        if kind != BINARY:
            raise FileError(path, f"is of another kind of machine, {kind}", ONLY_BINARY)
        updates = _updates(arrays)
        if not updates:
            raise FileError(
                path, "holds no machine of rbms", "a group update_N with a weight_matrix is wanted"
            )
        chosen = max(updates) if update is None else whole_number("update", update, 0)
        if chosen not in updates:
            listed = ", ".join(map(str, sorted(updates)))
            raise FileError(path, f"holds no update {update}", f"it has {listed:.100}")
        weights, a, d = (_read(path, arrays, chosen, name) for name in ("weight_matrix", *_BIASES))
    if weights is None or a is None or d is None or weights.ndim != 2 or (a.ndim, d.ndim) != (1, 1):
        raise FileError(path, "is of another kind of machine", ONLY_BINARY)
    return from_binary(weights.T, a, d, origin="rbms", update=chosen)


def to_rbms(machine: Machine, path: str | Path) -> None:
    """Writes an HDF5 file that `rbms.io.load_params(path, index=0, ...)` reads, in float64."""
    import h5py

    w, a, d = to_binary(machine)
    with atomic_path(path) as temporary, h5py.File(temporary, "w") as file:
        file["model_type"] = BINARY
        group = file.create_group("update_0/params")
        group["weight_matrix"], group["vbias"], group["hbias"] = w.T, a, d
        for name in group:
            file[f"update_0/{name}"] = group[name]  # where older versions look
        file["update_0/time"] = 0.0


def _updates(arrays: Mapping[str, ForeignArray]) -> set[int]:
    """Numbers of the updates whose weights are in the file."""
    names = (re.fullmatch(r"update_(\d{1,15})/(params/)?weight_matrix", name) for name in arrays)
    return {int(match[1]) for match in names if match}


def _read(path: str | Path, arrays: Mapping[str, ForeignArray], update: int, name: str) -> Array | None:
    """A parameter from either of the two places where rbms puts it; None if it is not there."""
    for place in (f"update_{update}/params/{name}", f"update_{update}/{name}"):
        if place in arrays and arrays[place].shape and arrays[place].dtype.kind in "iuf":
            check_expansion(path, np.broadcast_to(np.float64(0), arrays[place].shape))  # what it will take
            return np.asarray(arrays[place][:], dtype=np.float64)
    return None
