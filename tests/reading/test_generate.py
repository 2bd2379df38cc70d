"""What tasks read off machines beyond what `observables` gives."""

import numpy as np
import pytest

import thermorbm as tr
from thermorbm.errors import InputError
from thermorbm.reading.generation import RELAXATION_STEPS, steps_to_equilibrium


def chain(*values, final=0.5, error=1e-3):
    """<|m|> after each step: the given values, then the final one."""
    means = np.full(RELAXATION_STEPS + 1, final)
    means[: len(values)] = values
    return np.stack([means, np.full(len(means), error)], axis=1)


def test_steps_until_a_chain_stays_where_it_ends():
    found = steps_to_equilibrium({"p_h": chain(0.51), "random": chain(0.1, 0.3, 0.5, 0.4)})
    assert found == {"p_h": 0, "random": 4}


def test_chains_that_do_not_meet():
    found = steps_to_equilibrium({"p_h": chain(final=0.9), "random": chain(final=0.1)})
    assert found == {"p_h": RELAXATION_STEPS + 1, "random": RELAXATION_STEPS + 1}


def test_noise_is_not_motion():
    assert steps_to_equilibrium({"p_h": chain(0.58, error=0.05), "random": chain()})["p_h"] == 0


@pytest.mark.parametrize("start", ["random", "data"])
def test_new_configurations_belong_to_the_hamiltonian_of_the_data(start, tmp_path):
    H = tr.hamiltonian("kagome", (2, 2), coupling=-1.0)
    data = tr.sample(H, 1.5, 256, seed=1, progress=False)
    machine = tr.train(data, 3, epochs=1, seed=1, progress=False).rbm
    machine.save(tmp_path / "rbm.h5")
    made = tr.generate(tr.load_machine(tmp_path / "rbm.h5"), 5, start, seed=2, data=data)
    assert (made.hamiltonian, made.temperature) == (H, 1.5)
    assert made.lattice is None  # three sites in a cell


def test_a_hamiltonian_that_is_none_is_refused():
    noted = {"data": {"shape": [2, 2]}, "hamiltonian": {"name": "square"}}
    machine = tr.RBM(np.zeros((2, 4)), np.zeros(4), np.zeros(2), provenance=noted)
    with pytest.raises(InputError, match="hamiltonian must be as it was written"):
        tr.generate(machine, 5, "random")
