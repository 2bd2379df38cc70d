"""Estimates with errors: autocorrelation, convergence of chains, jackknife."""

from thermorbm.stats.chains import (
    autocorrelation_time,
    difference_z_score,
    effective_sample_size,
    split_r_hat,
    split_r_hat_limit,
)
from thermorbm.stats.estimate import (
    Estimate,
    Estimates,
    jackknife,
    jackknife_many,
    mean_estimate,
    normal_draws,
    variance_estimate,
)

__all__ = [
    "Estimate",
    "Estimates",
    "autocorrelation_time",
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
