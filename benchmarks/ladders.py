"""What one ladder for all temperatures saves: CPU seconds beside those of a ladder for each temperature.

    OMP_NUM_THREADS=1 python -m benchmarks.ladders

Temperatures and numbers of samples of the families of `frustrated` whose terms compete, and of a spin glass.
Both ways sample the same temperatures with the same number of samples, by one thread.
"""

import time
from collections.abc import Sequence

import thermorbm as tr
from thermorbm.hamiltonians import Hamiltonian
from thermorbm.study.steps.ladder import shared_temperatures
from thermorbm.study.toml import find_study, load_study

GLASS = tr.hamiltonian("pm-j", (16, 16), p=0.5, seed=1)
GLASS_TEMPERATURES = (0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0)

Case = tuple[str, Hamiltonian, Sequence[float], int]


def cases() -> list[Case]:
    """Name, Hamiltonian, temperatures that share a ladder and samples at each of them."""
    found: list[Case] = []
    for family in load_study(find_study("frustrated")).families:
        assert family.model is not None
        assert family.energies is not None
        assert family.held_out is not None
        for what, temperatures, n_samples in (
            ("data", family.temperatures, family.samples + family.held_out),
            ("energies", family.energies.temperatures, family.energies.samples),
        ):
            if shared := shared_temperatures(family, temperatures):
                found.append((f"{family.name}, {what}", family.model, shared, n_samples))
    return [*found, ("+-J 16x16", GLASS, GLASS_TEMPERATURES, 4500)]


def main() -> None:
    print("| family | temperatures | each by itself, s | one ladder, s | certificates passed |")
    print("|---|---|---|---|---|")
    for name, model, temperatures, n_samples in cases():
        tr.sample(model, temperatures[-1], n_samples=32, progress=False, threads=1)  # compiles
        began = time.process_time()
        each = [tr.sample(model, T, n_samples, seed=1, progress=False, threads=1) for T in temperatures]
        between = time.process_time()
        series = tr.sample(
            model, temperatures=temperatures, n_samples=n_samples, seed=1, progress=False, threads=1
        )
        seconds = between - began, time.process_time() - between
        passed = [sum(data.certificate.passed for data in datasets) for datasets in (each, series)]
        print(
            f"| {name} | {len(temperatures)} | {seconds[0]:.2f} | {seconds[1]:.2f} | "
            f"{passed[0]} and {passed[1]} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
