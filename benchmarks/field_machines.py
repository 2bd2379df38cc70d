"""Symmetric machines in a field: 16x16, h = 0.1, 2000 configurations, seven temperatures, six seeds.

    python -m benchmarks.field_machines [seeds [temperatures]]

Each seed has its own configurations. Couplings are read from the weights of the machine, their errors from
its training; the Fisher errors are those of a field and one coupling per axis, from the covariance of their
sums over the training configurations.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import thermorbm as tr
from thermorbm import observables as ob
from thermorbm.inverse_ising.likelihood import product_sums

TEMPERATURES = (1.8, 2.0, 2.2, 2.4, 2.6, 2.8, 3.0)
FIELD, N, SIDE = 0.1, 2000, 16
# From field and one coupling per axis to field and their mean.
MEANS = np.array([[1, 0, 0], [0, 0.5, 0.5]])


def row(temperature: float, seed: int) -> dict[str, float]:
    """Field and mean coupling, each times T: value, error, error over the Fisher error, deviation."""
    H = tr.hamiltonian("square", (SIDE, SIDE), field=FIELD)
    data = tr.sample(H, temperature, N, seed=1000 * seed + round(10 * temperature), progress=False)
    begin = time.process_time()
    result = tr.train(data, model="symmetric", seed=seed, progress=False)
    seconds = time.process_time() - begin
    learned, stated = ob.interactions(result.rbm), ob.coupling_estimates(result.rbm)
    values = np.array([learned.field, learned.nearest]) * temperature
    errors = _errors(stated.covariance) * temperature if len(stated.labels) == 3 else np.full(2, np.nan)
    sums = product_sums(data.spins(), H.grid, H.products)
    fisher = _errors(np.linalg.inv(np.cov(sums, rowvar=False) * N)) * temperature
    pseudo = ob.infer_couplings(data, model=H).field.value * temperature
    return {
        "converged": result.converged,
        "h": values[0],
        "J": values[1],
        "h_error": errors[0],
        "J_error": errors[1],
        "h_z": (values[0] - FIELD) / errors[0],
        "J_z": (values[1] - 1) / errors[1],
        "ratio": float((errors / fisher).max()),
        "pseudo_h": pseudo,
        "seconds": seconds,
    }


def _errors(covariance: np.ndarray) -> np.ndarray:
    return np.sqrt(np.diag(MEANS @ covariance @ MEANS.T))


def main(n_seeds: int = 6, *temperatures: float) -> None:
    print(
        "| T | converged | h T | J T | errors of h T, J T | largest deviation, errors "
        "| error / Fisher error | h T by pseudo-likelihood | CPU, s |"
    )
    print("|" + "---|" * 9)
    deviations = []
    for temperature in temperatures or TEMPERATURES:
        rows = [row(temperature, seed) for seed in range(1, n_seeds + 1)]
        columns = {name: np.array([item[name] for item in rows]) for name in rows[0]}
        both = np.abs(np.concatenate([columns["h_z"], columns["J_z"]]))
        deviations.append(both)
        print(
            f"| {temperature} | {int(columns['converged'].sum())} of {n_seeds} "
            f"| {columns['h'].min():.4f} to {columns['h'].max():.4f} "
            f"| {columns['J'].min():.4f} to {columns['J'].max():.4f} "
            f"| {columns['h_error'].mean():.4f}, {columns['J_error'].mean():.4f} | {both.max():.1f} "
            f"| {columns['ratio'].max():.2f} "
            f"| {columns['pseudo_h'].min():.4f} to {columns['pseudo_h'].max():.4f} "
            f"| {columns['seconds'].mean():.1f} |",
            flush=True,
        )
    every = np.concatenate(deviations)
    print(
        f"\nWithin one error {np.mean(every < 1):.0%}, within three {np.mean(every < 3):.0%} of {len(every)}."
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *map(float, sys.argv[2:]))
