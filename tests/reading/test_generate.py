"""What tasks read off machines beyond what `observables` gives."""

import numpy as np

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
