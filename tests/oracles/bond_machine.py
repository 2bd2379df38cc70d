"""The machine that is the Ising model, with two weights per hidden unit instead of a dense matrix."""

import numpy as np
from scipy.sparse import csr_array

from thermorbm.exact import ising_rbm, kaufman
from thermorbm.lattice import Lattice
from thermorbm.model.layers import Layers


class BondMachine(Layers):
    """A second kind of machine, with no more than annealing asks of one."""

    kind = "bonds"

    def __init__(self, side, temperature, dtype=np.float32):
        rbm = ising_rbm(Lattice((side, side)), temperature)
        self.W = csr_array(rbm.W.astype(dtype))
        self.n_hidden, self.n_visible = rbm.W.shape

    n_visible = n_hidden = 0
    parameters = {}  # noqa: RUF012

    @property
    def dtype(self):
        return self.W.dtype

    def hidden_inputs(self, v):
        return np.ascontiguousarray((self.W @ v.T).T)

    def visible_inputs(self, h):
        return np.ascontiguousarray((self.W.T @ h.T).T)

    def visible_field(self, v):
        return np.zeros(len(v))

    def hidden_field(self, h):
        return np.zeros(len(h))

    def gradient_sums(self, v, h):
        raise NotImplementedError

    def flip_energies(self, v):
        raise NotImplementedError

    def flip_energy(self, v, sites):
        raise NotImplementedError


def exact_log_partition(side, temperature):
    """ln Z of the machine: Kaufman's, plus ln 2 + K for every bond."""
    n_sites = side * side
    ising = -n_sites * kaufman(side, temperature).free_energy / temperature
    return float(ising + 2 * n_sites * (np.log(2) + 1 / temperature))
