"""Estimates with errors: autocorrelation, convergence of chains, jackknife, bootstrap."""

from thermorbm.stats.autocorrelation import autocorrelation_time, effective_sample_size
from thermorbm.stats.bootstrap import bootstrap, normal_draws
from thermorbm.stats.chains import difference_z_score, split_r_hat, split_r_hat_limit
from thermorbm.stats.estimate import (
    Estimate,
    Estimates,
    jackknife,
    jackknife_many,
    mean_estimate,
    variance_estimate,
)

__all__ = [
    "Estimate",
    "Estimates",
    "autocorrelation_time",
    "bootstrap",
    "difference_z_score",
    "effective_sample_size",
    "jackknife",
    "jackknife_many",
    "mean_estimate",
    "normal_draws",
    "split_r_hat",
    "split_r_hat_limit",
    "variance_estimate",
]
