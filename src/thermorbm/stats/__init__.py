"""Estimates with errors: autocorrelation, convergence of chains, jackknife."""

from thermorbm.stats.autocorrelation import autocorrelation_time, effective_sample_size
from thermorbm.stats.chains import difference_z_score, split_r_hat
from thermorbm.stats.estimate import Estimate, jackknife, mean_estimate

__all__ = [
    "Estimate",
    "autocorrelation_time",
    "difference_z_score",
    "effective_sample_size",
    "jackknife",
    "mean_estimate",
    "split_r_hat",
]
