"""Domains of filters against a walk from site to site."""

import numpy as np
import pytest

from oracles.observables import largest_domain
from oracles.random_inputs import random_machine
from thermorbm.errors import InputError
from thermorbm.lattice import Lattice
from thermorbm.model import RBM
from thermorbm.observables import largest_domains


def test_every_filter_by_walking(lattice, machine):
    expected = [largest_domain(lattice.shape, row) / lattice.n_sites for row in machine.W]
    np.testing.assert_allclose(largest_domains(machine, lattice), expected)


def test_one_sign_stripes_and_a_checkerboard():
    rows, columns = np.indices((4, 4))
    filters = [np.ones((4, 4)), (-1.0) ** (columns // 2), (-1.0) ** columns, (-1.0) ** (rows + columns)]
    machine = RBM(np.reshape(filters, (4, 16)), np.zeros(16), np.zeros(4))
    np.testing.assert_allclose(largest_domains(machine, Lattice((4, 4))), [1, 1 / 2, 1 / 4, 1 / 16])


def test_another_lattice_is_refused():
    with pytest.raises(InputError, match="one of 12 sites"):
        largest_domains(random_machine(2, 12), Lattice((4, 4)))
