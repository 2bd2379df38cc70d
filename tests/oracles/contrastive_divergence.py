"""Expected updates of CD-k by matrix powers, from the enumerated joint distribution."""

import numpy as np


def gibbs_matrix(machine):
    """(n_v_states, n_v_states): probability of v -> h -> v', summed over all h."""
    h_given_v = machine.p / machine.p.sum(axis=1, keepdims=True)
    v_given_h = machine.p / machine.p.sum(axis=0, keepdims=True)
    return h_given_v @ v_given_h.T


def data_distribution(machine, data):
    """Frequencies of the rows of `data` in the order of the enumeration."""
    rows, counts = np.unique(data, axis=0, return_counts=True)
    p = np.zeros(len(machine.v_states))
    p[[machine.index(v) for v in rows]] = counts / len(data)
    return p


def after_steps(machine, p_v, steps):
    """Distribution of v after that many Gibbs steps from p_v."""
    return p_v @ np.linalg.matrix_power(gibbs_matrix(machine), steps)


def cd_update(machine, p_data, steps):
    """Data statistics minus those of v^(steps), by parameter name."""
    over_data = machine.mean_statistics(p_data)
    over_model = machine.mean_statistics(after_steps(machine, p_data, steps))
    return {name: over_data[name] - over_model[name] for name in over_data}
