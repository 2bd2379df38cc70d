"""Reweighting sample by sample with pymbar, the maintained implementation of MBAR."""

import contextlib
import io
import warnings

import numpy as np


def mbar_averages(series, temperatures):
    """(5, m): ln Z relative to the first temperature of the series, <E>, <|m|>, <m^2>, <m^4>."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        from pymbar import MBAR

        energies = np.concatenate([each.energies for each in series])
        size = np.abs(np.concatenate([each.magnetizations for each in series]))
        reduced = np.array([energies / each.temperature for each in series])
        solved = MBAR(reduced, [len(each.energies) for each in series], relative_tolerance=1e-12)
        rows = []
        for t in temperatures:
            log_weight = -energies / t - solver_denominator(solved, reduced)
            weight = np.exp(log_weight - log_weight.max())
            log_z = np.log(weight.sum()) + log_weight.max()
            means = [(weight @ x) / weight.sum() for x in (energies, size, size**2, size**4)]
            rows.append([log_z, *means])
    return np.array(rows).T


def solver_denominator(solved, reduced):
    """ln sum_k n_k exp(f_k - beta_k E) of every sample, f_0 = 0."""
    logs = np.log(solved.N_k)[:, None] + (solved.f_k - solved.f_k[0])[:, None] - reduced
    return np.logaddexp.reduce(logs, axis=0)
