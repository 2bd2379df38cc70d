"""Samples of other Hamiltonians beside what is known of them exactly.

    OMP_NUM_THREADS=1 python -m benchmarks.hamiltonians [critical|baxter-wu|strips|entropy|nishimori]
        [--samples 1.0]

critical, baxter-wu: T_c from configurations on three lattices, by Binder's cumulant. strips: energy, heat
capacity and magnetisation beside the transfer matrix. entropy: antiferromagnets of triangles, from all
samples by reweighting from infinite temperature. nishimori: the mean energy over realisations of +-J.
--samples multiplies the numbers of samples. All of it takes some minutes of a core.
"""

import argparse
import math
import time
from collections.abc import Callable, Sequence

import numpy as np

import thermorbm as tr
from thermorbm import exact
from thermorbm.estimators import Reweighting, scaling_fit
from thermorbm.hamiltonians import Hamiltonian
from thermorbm.series import measure
from thermorbm.stats import Estimate, jackknife, mean_estimate

OFFSETS = np.array([-1, -0.33, 0.33, 1])
WINDOW, NU = 0.5, 1.0  # how far temperatures reach, in units of L^(-1/nu)
BAXTER_WU = 1.5, 2 / 3  # the same of Baxter-Wu
OMEGA = 1.75
SIDES = {
    "triangular": (9, 15, 30), "honeycomb": (6, 12, 24), "kagome": (6, 9, 18), "square": (8, 16, 32),
}  # fmt: skip
COUPLINGS = {"square": (1.0, 0.5)}
STRIPS: dict[str, tuple[Hamiltonian, float]] = {
    "field 0.1": (tr.hamiltonian("square", (8, 12), field=0.1, open=(True, False)), 2.2),
    "field 0.1, colder": (tr.hamiltonian("square", (6, 12), field=0.1), 1.8),
    "J1-J2 (1, -0.4)": (tr.hamiltonian("j1j2", (6, 12), coupling=(1, -0.4), open=(True, False)), 1.2),
    "J1-J2 (-1, -0.6)": (tr.hamiltonian("j1j2", (6, 12), coupling=(-1, -0.6), open=(True, False)), 0.8),
    "open edges": (tr.hamiltonian("square", (12, 16), open=True), 2.4),
    "triangular, J = -1": (tr.hamiltonian("triangular", (6, 6), coupling=-1), 0.5),
}
LADDER = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 3.0, 5.0, 10.0, 30.0)
SHARES = (0.6, 0.7, 0.8, 0.9)
N_REALISATIONS = 100

Row = tuple[str, Estimate, float]


def critical(samples: float) -> list[Row]:
    """T_c of the infinite lattice by each kind of lattice."""
    return [_critical(name, sides, round(8000 * samples), WINDOW, NU) for name, sides in SIDES.items()]


def baxter_wu(samples: float) -> list[Row]:
    """The same of Baxter-Wu; m is the overlap with the nearest of its four ground states."""
    return [_critical("baxter-wu", (9, 15, 24), round(4000 * samples), *BAXTER_WU)]


def _critical(name: str, sides: Sequence[int], n_samples: int, window: float, nu: float) -> Row:
    coupling = COUPLINGS.get(name, 1.0)
    truth = exact.critical_temperature(tr.hamiltonian(name, (6, 6), coupling=coupling))
    assert truth is not None
    series = {
        L: _around(tr.hamiltonian(name, (L, L), coupling=coupling), truth, n_samples, window / L ** (1 / nu))
        for L in sides
    }
    return f"T_c {name} {coupling}, L = {sides}", scaling_fit(series, OMEGA).temperature, truth


def _around(H: Hamiltonian, centre: float, n_samples: int, reach: float) -> Reweighting:
    """All samples of one lattice; where they are taken is near T_c, which they need not know."""
    temperatures = 1.005 * centre * (1 + OFFSETS * reach)
    data = [
        tr.sample(H, float(T), n_samples, seed=k, threads=1, progress=False)
        for k, T in enumerate(temperatures)
    ]
    return Reweighting([measure(each) for each in data], H.n_sites, n_draws=100)


def strips(samples: float) -> list[Row]:
    """E/N, c and m of narrow lattices."""
    rows = []
    for name, (H, T) in STRIPS.items():
        data = tr.sample(H, T, round(20_000 * samples), seed=5, threads=1, progress=False)
        truth, energy = exact.transfer_matrix(H, T), H.energy(data.spins()) / H.n_sites
        centred = energy - energy.mean()
        moments = np.stack([centred, centred**2], axis=1)
        scale = H.n_sites / T**2
        capacity = jackknife(moments, lambda m, scale=scale: (m[1] - m[0] ** 2) * scale)
        rows += [
            (f"{name}, T = {T:g}: E/N", mean_estimate(energy), truth.energy),
            (f"{name}, T = {T:g}: c", capacity, truth.heat_capacity),
        ]
        if H.has_field:
            m = mean_estimate(H.magnetization(data.spins()))
            rows.append((f"{name}, T = {T:g}: m", m, truth.magnetization))
    return rows


def entropy(samples: float) -> list[Row]:
    """S/N of antiferromagnets; on the torus by transfer matrix at L = 6, else of the infinite lattice."""
    rows = []
    for name, side, wanted in (("triangular", 6, (1.0, 0.5)), ("triangular", 24, (1.0, 0.5, 0.25))):
        H = tr.hamiltonian(name, (side, side), coupling=-1)
        curve = _series(H, round(4000 * samples)).reweight(wanted).entropy
        for T, value, error in zip(wanted, curve.values, curve.errors, strict=True):
            small = side == 6
            truth = exact.transfer_matrix(H, T).entropy if small else exact.triangular(T, -1.0).entropy
            where = "exact on it" if small else "infinite lattice"
            rows.append(
                (f"S/N {name} J = -1, {side}x{side}, T = {T:g} ({where})", Estimate(value, error), truth)
            )
    H = tr.hamiltonian("kagome", (12, 12), coupling=-1)
    curve = _series(H, round(4000 * samples)).reweight([0.25]).entropy
    found = Estimate(curve.values[0], curve.errors[0])
    truth = exact.kagome(0.25, -1.0).entropy
    return [*rows, ("S/N kagome J = -1, 12x12, T = 0.25 (infinite lattice)", found, truth)]


def _series(H: Hamiltonian, n_samples: int) -> tr.Series:
    return tr.sample(H, temperatures=LADDER, n_samples=n_samples, seed=2, threads=1, progress=False)


def nishimori(samples: float) -> list[Row]:
    """<E>/N over realisations of +-J on 8x8, where e^(2/T) = p/(1 - p): -2 tanh(1/T) at every size."""
    rows = []
    for p in SHARES:
        T = 2 / math.log(p / (1 - p))
        means = [
            tr.sample(
                tr.hamiltonian("pm-j", (8, 8), p=p, seed=seed), T, round(128 * samples), seed=seed, threads=1,
                progress=False,
            ).certificate.energy
            for seed in range(N_REALISATIONS)
        ]  # fmt: skip
        estimate = mean_estimate(np.array(means))
        rows.append(
            (f"E/N of +-J, p = {p:g}, T = {T:.4g}, {N_REALISATIONS} seeds", estimate, -2 * math.tanh(1 / T))
        )
    return rows


PARTS: dict[str, Callable[[float], list[Row]]] = {
    "critical": critical,
    "baxter-wu": baxter_wu,
    "strips": strips,
    "entropy": entropy,
    "nishimori": nishimori,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--samples", type=float, default=1.0)
    options = parser.parse_args()
    for name in options.parts or PARTS:
        began = time.process_time()
        print(f"| {name} | measured | exact | off | errors |\n|---|---|---|---|---|")
        for what, found, truth in PARTS[name](options.samples):
            off = found.value - truth
            distances = f"{100 * off / abs(truth):+.2f} % | {off / found.error:+.1f}"
            print(f"| {what} | {found} | {truth:.5f} | {distances} |")
        print(f"\n{name}: {time.process_time() - began:.0f} s of a core\n", flush=True)


if __name__ == "__main__":
    main()
