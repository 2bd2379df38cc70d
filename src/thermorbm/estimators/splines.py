"""Random curves whose derivative of order q is white noise: the prior behind smoothing splines.

f(u) = (1/(q-1)!) int_0^u (u - s)^(q-1) dW(s) on 0 <= u <= 1, plus any polynomial of degree < q. The most
probable curve through noisy points is the smoothing spline of degree 2q - 1 (Wahba 1978).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def covariance(q: int, u: Array, x: Array) -> Array:
    """<f(u) f(x)>; u and x broadcast."""
    low, gap = _powers(np.minimum(u, x), 2 * q), _powers(np.abs(u - x), q)
    total = sum(math.comb(q - 1, j) / (q + j) * gap[q - 1 - j] * low[q + j] for j in range(q))
    return np.asarray(total / math.factorial(q - 1) ** 2)


def slope_covariance(q: int, u: Array, x: Array) -> Array:
    """<f'(u) f(x)>; u and x broadcast."""
    low, gap = _powers(np.minimum(u, x), 2 * q), _powers(np.abs(u - x), q)
    left = sum(math.comb(q - 1, j) / (q - 1 + j) * gap[q - 1 - j] * low[q - 1 + j] for j in range(q))
    right = sum(math.comb(q - 2, j) / (q + j) * gap[q - 2 - j] * low[q + j] for j in range(q - 1))
    return np.asarray(np.where(u <= x, left, right) / (math.factorial(q - 1) * math.factorial(q - 2)))


def polynomials(q: int, u: Array) -> Array:
    """1, u, ..., u^(q-1). (...) -> (..., q)."""
    return np.stack(_powers(u, q), axis=-1)


def polynomial_slopes(q: int, u: Array) -> Array:
    """0, 1, ..., (q-1) u^(q-2). (...) -> (..., q)."""
    powers = _powers(u, q)
    return np.stack([np.zeros_like(u)] + [k * powers[k - 1] for k in range(1, q)], axis=-1)


def random_paths(q: int, steps: Array, which: NDArray[np.intp], rng: np.random.Generator) -> Array:
    """f and f' at u = 0 and after every step, exactly. steps: (n_grids, m); which: (n,) grid of each path.

    -> (2, n, m + 1). The derivatives of order 0 to q-1 form a Markov chain: each step is a Taylor expansion
    plus noise of covariance h^(2q-1-i-j) / ((2q-1-i-j) (q-1-i)! (q-1-j)!).
    """
    transfer = _transfer(q, steps)
    orders = np.arange(q)
    exponents = 2 * q - 1 - orders[:, None] - orders
    factorials = np.array([math.factorial(q - 1 - i) for i in orders])
    noise = np.linalg.cholesky(1 / (exponents * factorials[:, None] * factorials))
    scale = steps[..., None] ** (q - 0.5 - orders)
    state, paths = np.zeros((len(which), q)), np.zeros((2, len(which), steps.shape[1] + 1))
    for k in range(steps.shape[1]):
        kick = (rng.standard_normal(state.shape) @ noise.T) * scale[which, k]
        state = np.einsum("nij,nj->ni", transfer[which, k], state) + kick
        paths[:, :, k + 1] = state[:, :2].T
    return paths


def _transfer(q: int, steps: Array) -> Array:
    """Taylor's matrix of each step, (..., q, q)."""
    powers = _powers(steps, q)
    matrix = np.zeros((*steps.shape, q, q))
    for i in range(q):
        for j in range(i, q):
            matrix[..., i, j] = powers[j - i] / math.factorial(j - i)
    return matrix


def _powers(x: Array, n: int) -> list[Array]:
    """x^0 ... x^(n-1); products are several times faster than numpy's power."""
    powers = [np.ones_like(x)]
    for _ in range(n - 1):
        powers.append(powers[-1] * x)
    return powers
