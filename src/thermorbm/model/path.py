"""A path of machines, along an inverse temperature, from independent visible units to the machine itself."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numba as nb
import numpy as np
from numba.core import types
from numba.extending import overload
from numpy.typing import NDArray

from thermorbm.errors import unknown_name
from thermorbm.model.energy import FACTORS, log_2cosh
from thermorbm.model.layers import Layers
from thermorbm.model.random_units import _MINUS_TWO_IN_BITS, _exp2, sample_units

STARTS = ("bias", "zero", "mean-field")
_MEAN_FIELD_STEPS = 100
_NO_WEIGHTS = 1e-9  # added to all squared singular values: a machine without weights has patterns too, any


def hidden_work(
    x: NDArray[Any], beta: NDArray[np.float64], to_beta: NDArray[np.float64]
) -> NDArray[np.float64]:
    """sum_i ln 2cosh(to_beta x_i) - ln 2cosh(beta x_i) of each row. x: (n, m); betas: (n,) -> (n,).

    In float64 right to rounding; in float32 each factor is right to 2e-7 of itself.
    """
    work = np.empty(len(x))
    _hidden_work(x, beta.astype(x.dtype), to_beta.astype(x.dtype), work)
    return work


def _decay(y: Any) -> Any:
    """exp(-2 y) for y >= 0."""
    raise NotImplementedError  # the compiled versions follow


@overload(_decay, strict=False, inline="always")
def _decay_of_type(y: Any) -> Any:
    if y == types.float32:
        return lambda y: _exp2(max(_MINUS_TWO_IN_BITS * y, np.float32(-126)))
    return lambda y: np.exp(-2 * y)


@nb.njit(cache=True, fastmath={"contract", "reassoc"})
def _hidden_work(x: Any, beta: Any, to_beta: Any, work: Any) -> None:
    for row in range(len(x)):
        a, b = beta[row], to_beta[row]
        size, logs = 0.0, 0.0
        for start in range(0, x.shape[1], FACTORS):
            units = x[row, start : start + FACTORS]
            above, below = 1.0, 1.0
            for i in range(units.size):
                y = abs(units[i])
                size += np.float64(y)
                above *= 1.0 + np.float64(_decay(b * y))
                below *= 1.0 + np.float64(_decay(a * y))
            logs += np.log(above / below)
        work[row] = (np.float64(b) - np.float64(a)) * size + logs


class Path(ABC):
    """Machines from beta = 0, whose configurations can be drawn at once, to beta = 1, the machine itself.

    All arguments are of n chains: v (n, n_visible), their hidden inputs x (n, n_hidden), betas (n,).
    """

    machine: Layers

    @property
    @abstractmethod
    def log_start(self) -> float:
        """ln Z at beta = 0, nats."""

    @abstractmethod
    def start(self, n: int, state: NDArray[np.uint64]) -> NDArray[Any]:
        """n independent configurations at beta = 0, in the machine's type. -> (n, n_visible)."""

    @abstractmethod
    def work(
        self, v: NDArray[Any], x: NDArray[Any], beta: NDArray[np.float64], to_beta: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Visible energy at beta minus that at to_beta, of each row. -> (n,)."""

    @abstractmethod
    def gibbs(
        self, v: NDArray[Any], x: NDArray[Any], beta: NDArray[np.float64], state: NDArray[np.uint64]
    ) -> None:
        """One step v -> h -> v at beta of each row, in place; x is used up."""

    @abstractmethod
    def recorded(self, betas: NDArray[np.float64]) -> dict[str, Any]:
        """What `LogPartition` keeps of the path, by field, so that others can go along these rungs again."""


@dataclass(frozen=True, eq=False)
class FieldPath(Path):
    """At beta the visible energy is

    -(beta b + (1 - beta) a).v - sum_i ln 2cosh(beta (W v + c)_i) - ln cosh((1 - beta) |guide| u.v).

    At beta = 0 the visible units are independent, in the field a or, with a guide, in one of the fields
    a + |guide| u and a - |guide| u; at beta = 1 they are the machine's. b is the machine's own visible bias.
    a, b: (n_visible,). With a = 0 and no guide, beta multiplies the whole energy E(v, h).

    The guide is one hidden unit more, which sees all visible units in the pattern u and fades while the
    machine's own weights grow. So chains reach an ordered machine in a field, half of them in its mirror
    image, and meet no phase transition on the way. pattern: u, (n_visible,) of +-1, all up where the guide
    is positive; a negative guide means the pattern that the machine's own weights prefer.
    """

    machine: Layers
    a: NDArray[Any]
    b: NDArray[Any]
    guide: float = 0.0
    pattern: NDArray[Any] = field(default_factory=lambda: np.ones(1))

    @property
    def log_start(self) -> float:
        both = np.logaddexp(*self._log_fields) - math.log(2)
        return self.machine.n_hidden * math.log(2) + float(both)

    @property
    def _log_fields(self) -> tuple[float, float]:
        """ln of the sum over visible units in the fields a + |guide| u and a - |guide| u."""
        fields, pull = self.a.astype(np.float64), abs(self.guide) * self.pattern.astype(np.float64)
        return float(log_2cosh(fields + pull).sum()), float(log_2cosh(fields - pull).sum())

    def start(self, n: int, state: NDArray[np.uint64]) -> NDArray[Any]:
        inputs = np.tile(self.a, (n, 1))
        if self.guide:
            up, down = self._log_fields
            signs = sample_units(np.full(n, (up - down) / 2), state)
            inputs += (abs(self.guide) * signs[:, None]).astype(inputs.dtype) * self.pattern
        return sample_units(inputs, state, np.empty_like(inputs))

    def work(
        self, v: NDArray[Any], x: NDArray[Any], beta: NDArray[np.float64], to_beta: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        work = hidden_work(x, beta, to_beta)
        if not np.array_equal(self.a, self.b):
            work += (to_beta - beta) * (v @ (self.b - self.a))
        if self.guide:
            pull = self._pull(v)
            work += log_2cosh((1 - to_beta) * pull) - log_2cosh((1 - beta) * pull)
        return work

    def gibbs(
        self, v: NDArray[Any], x: NDArray[Any], beta: NDArray[np.float64], state: NDArray[np.uint64]
    ) -> None:
        scale = beta.astype(x.dtype)[:, None]
        x *= scale
        y = self.machine.visible_inputs(sample_units(x, state, x))
        y *= scale
        if self.a.any():
            y += (1 - scale) * self.a
        if self.guide:
            signs = sample_units((1 - beta) * self._pull(v), state)
            y += ((1 - beta) * abs(self.guide) * signs).astype(y.dtype)[:, None] * self.pattern
        sample_units(y, state, v)

    def recorded(self, betas: NDArray[np.float64]) -> dict[str, Any]:
        return {"guide": self.guide, "betas": betas}

    def _pull(self, v: NDArray[Any]) -> NDArray[np.float64]:
        """Input of the guiding unit at beta = 0. (n, n_visible) -> (n,)."""
        along = v.sum(axis=1, dtype=np.float64) if self.guide > 0 else (v @ self.pattern).astype(np.float64)
        return np.asarray(abs(self.guide) * along)


def make_path(machine: Layers, start: str = "bias", guide: float = 0.0) -> FieldPath:
    """The path that starts at the machine's visible bias, at no field, or at a mean-field solution.

    start: "bias" takes a = b, "zero" a = 0; "mean-field" takes the fields b + W^T tanh(c + W m) of naive
    mean-field theory, which saves rungs where biases rule, and misleads chains where a symmetry is broken.
    guide: see FieldPath; a negative one follows `preferred_pattern`.
    """
    if start not in STARTS:
        raise unknown_name("start", start, STARTS)
    b = machine.visible_inputs(np.zeros((1, machine.n_hidden), dtype=machine.dtype))[0]
    pattern = preferred_pattern(machine) if guide < 0 else np.ones_like(b)
    if start == "mean-field":
        return FieldPath(machine, _mean_field(machine, b), b, guide, pattern)
    return FieldPath(machine, b if start == "bias" else np.zeros_like(b), b, guide, pattern)


def preferred_pattern(machine: Layers) -> NDArray[Any]:
    """(n_visible,) of +-1: signs of the leading right singular vector of the weights, the first one up.

    All up for a ferromagnet's machine, a checkerboard for an antiferromagnet's.
    """
    signs = leading_patterns(machine, 1)[0]
    return np.asarray(signs * signs[0], machine.dtype)


def leading_patterns(machine: Layers, most: int) -> NDArray[np.int64]:
    """Signs of the leading right singular vectors of the weights, at most so many: (n, n_visible) of +-1."""
    from scipy.sparse.linalg import LinearOperator, eigsh  # only where a search for patterns is worth it

    n, dtype = machine.n_visible, machine.dtype
    c = machine.hidden_inputs(np.zeros((1, n), dtype=dtype))
    b = machine.visible_inputs(np.zeros((1, machine.n_hidden), dtype=dtype))

    def product(v: NDArray[Any]) -> NDArray[Any]:
        h = machine.hidden_inputs(v.reshape(1, n).astype(dtype)) - c
        pull = np.asarray(machine.visible_inputs(h) - b, np.float64)[0]
        return np.asarray(pull + _NO_WEIGHTS * v.ravel())

    start = np.random.default_rng(0).normal(size=n)  # any: the patterns are the same for every seed
    k = min(most, n - 1, machine.n_hidden)
    vectors = eigsh(LinearOperator((n, n), product, dtype=np.float64), k=k, v0=start, tol=1e-4)[1]
    return np.where(vectors.T[::-1] < 0, -1, 1)  # eigenvalues ascend


def _mean_field(machine: Layers, b: NDArray[Any]) -> NDArray[Any]:
    """Fields of a fixed point of m = tanh(b + W^T tanh(c + W m)), by damped iteration from m = tanh(b)."""
    m = np.tanh(b)[None]
    for _ in range(_MEAN_FIELD_STEPS):
        fields = machine.visible_inputs(np.tanh(machine.hidden_inputs(m)))
        m = (m + np.tanh(fields)) / 2
    return np.ascontiguousarray(fields[0])
