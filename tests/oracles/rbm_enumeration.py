"""Everything about a tiny RBM by summing over all its states, straight from E(v, h) = -b.v - c.h - h.W v.

Slow and obvious on purpose: every function starts from the table of joint probabilities.
"""

import itertools
import math

import numpy as np


class EnumeratedRBM:
    """All 2^n_v x 2^n_h states. `v_states`, `h_states` list them; `p[v, h]` is their joint probability."""

    def __init__(self, W, b, c):
        self.W, self.b, self.c = (np.asarray(array, dtype=np.float64) for array in (W, b, c))
        self.n_h, self.n_v = self.W.shape
        self.v_states = np.array(list(itertools.product([-1, 1], repeat=self.n_v)))
        self.h_states = np.array(list(itertools.product([-1, 1], repeat=self.n_h)))
        self.energy = np.array([[self.joint_energy(v, h) for h in self.h_states] for v in self.v_states])
        self.weight = np.exp(-self.energy)
        self.log_z = math.log(self.weight.sum())
        self.p = self.weight / self.weight.sum()
        self.p_v = self.p.sum(axis=1)

    def joint_energy(self, v, h):
        field_v = sum(self.b[j] * v[j] for j in range(self.n_v))
        field_h = sum(self.c[i] * h[i] for i in range(self.n_h))
        pairs = sum(self.W[i, j] * h[i] * v[j] for i in range(self.n_h) for j in range(self.n_v))
        return -field_v - field_h - pairs

    def index(self, v):
        return int(np.flatnonzero((self.v_states == v).all(axis=1))[0])

    def visible_energy(self, v):
        return -math.log(self.weight[self.index(v)].sum())

    def log_likelihood(self, v):
        return math.log(self.p_v[self.index(v)])

    def p_hidden(self, v):
        """P(h_i = +1 | v) for each i."""
        row = self.p[self.index(v)]
        return [row[self.h_states[:, i] == 1].sum() / row.sum() for i in range(self.n_h)]

    def p_visible(self, h):
        """P(v_j = +1 | h) for each j."""
        column = self.p[:, np.flatnonzero((self.h_states == h).all(axis=1))[0]]
        return [column[self.v_states[:, j] == 1].sum() / column.sum() for j in range(self.n_v)]

    def pseudo_likelihood(self, v):
        """-sum_j ln p(v_j | rest), one term per site."""
        total = 0.0
        for j in range(self.n_v):
            flipped = np.array(v)
            flipped[j] = -flipped[j]
            here, there = self.p_v[self.index(v)], self.p_v[self.index(flipped)]
            total -= math.log(here / (here + there))
        return total

    def cross_entropy(self, v):
        """Expectation over h ~ p(h | v) of -(1/n_v) sum_j ln p(v_j | h)."""
        row = self.p[self.index(v)]
        total = 0.0
        for p_h, h in zip(row / row.sum(), self.h_states, strict=True):
            up = self.p_visible(h)
            total -= (
                p_h * sum(math.log(up[j] if v[j] == 1 else 1 - up[j]) for j in range(self.n_v)) / self.n_v
            )
        return total

    def mean_statistics(self, p_v):
        """<h_i v_j>, <v_j>, <h_i> when v follows p_v and h follows p(h | v): -dE/dtheta averaged."""
        joint = self.p / self.p_v[:, None] * np.asarray(p_v)[:, None]
        W = np.einsum("vh,hi,vj->ij", joint, self.h_states, self.v_states)
        b = np.einsum("vh,vj->j", joint, self.v_states)
        c = np.einsum("vh,hi->i", joint, self.h_states)
        return {"W": W, "b": b, "c": c}

    def likelihood_gradient(self, data):
        """Gradient of the mean ln p over `data` by parameter name: data term minus model term."""
        p_data = np.zeros(len(self.v_states))
        for v in data:
            p_data[self.index(v)] += 1 / len(data)
        over_data, over_model = self.mean_statistics(p_data), self.mean_statistics(self.p_v)
        return {name: over_data[name] - over_model[name] for name in over_data}


def mean_log_likelihood(W, b, c, data):
    machine = EnumeratedRBM(W, b, c)
    return sum(machine.log_likelihood(v) for v in data) / len(data)


def flip_energies_one_by_one(W, b, c, v):
    """Change of the visible energy when one unit of v flips, from two full visible energies per unit."""

    def visible_energy(u):
        x = W.astype(np.float64) @ u + c
        return -(b.astype(np.float64) @ u) - np.logaddexp(x, -x).sum()

    costs = []
    for j in range(len(v)):
        flipped = np.array(v, dtype=np.float64)
        flipped[j] = -flipped[j]
        costs.append(visible_energy(flipped) - visible_energy(np.asarray(v, dtype=np.float64)))
    return np.array(costs)


def ising_pseudo_entropy(energy, v, temperature):
    """-sum_i ln p_T(s_i | rest) of one configuration, from the Hamiltonian `energy` alone."""
    total = 0.0
    for i in range(len(v)):
        flipped = np.array(v)
        flipped[i] = -flipped[i]
        cost = float(energy(flipped)[0] - energy(v)[0]) / temperature
        total += math.log1p(math.exp(-cost))
    return total


def total_variation_floor(p, n_samples, failure=1e-6):
    """Distance of a histogram from its own distribution p that it exceeds with probability < failure.

    Its mean is at most sum_k sqrt(p_k (1 - p_k) / n) / 2 (Jensen); one sample moves it by at most 1/n, so
    that McDiarmid bounds the excess by sqrt(ln(1/failure) / 2n).
    """
    mean = np.sqrt(p * (1 - p) / n_samples).sum() / 2
    return mean + math.sqrt(math.log(1 / failure) / (2 * n_samples))
