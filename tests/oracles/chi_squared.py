"""Chi-squared of counts against probabilities, with rare cells pooled."""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2


def p_value(counts, probabilities, minimum=5.0):
    """Cells in order of expectation are pooled until each expects at least `minimum`."""
    counts, expected = np.asarray(counts, float), np.asarray(probabilities) * np.sum(counts)
    cells, observed_sum, expected_sum = [], 0.0, 0.0
    for index in np.argsort(expected):
        observed_sum += counts[index]
        expected_sum += expected[index]
        if expected_sum >= minimum:
            cells.append((observed_sum, expected_sum))
            observed_sum = expected_sum = 0.0
    cells[-1] = (cells[-1][0] + observed_sum, cells[-1][1] + expected_sum)
    observed, wanted = np.array(cells).T
    assert len(cells) > 1, "one cell tests nothing"
    return float(chi2.sf(np.sum((observed - wanted) ** 2 / wanted), len(cells) - 1))


def state_numbers(spins):
    """(n, n_sites) of +-1 -> (n,): the state's number, first site in the lowest bit."""
    return (np.asarray(spins) > 0) @ (1 << np.arange(np.shape(spins)[1], dtype=np.int64))
