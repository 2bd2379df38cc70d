"""How often the intervals of T_c hold: curves with known maxima, on the studies' grids and on others.

    OMP_NUM_THREADS=1 python -m benchmarks.coverage [--trials 300] [--only c_V chi ...] [--grids fine ...]

Curves are Kaufman's c_V, entropy and energy and the reweighted susceptibility of our own samples, each at
L = 16, 32 and 64 in turn, and machine-like peaks of random shape, narrow and one-sided. Grids: the studies'
fine ones, a spacing of 0.1, and the paper's 0.25; where they stand in the studies, or moved at random by up
to half a spacing (a whole one for the paper's). Uneven grids, 0.05 around T_c and coarse beyond, are that of
the symmetric machines of `desk` and the paper's in three dimensions, its T_c moved to that of two; they are
moved by up to 0.025. Errors of a peak are 0.3 to 5 % of its values, those of entropy and energy 0.003 to
0.5 % of their range, the same for all points of a curve, and noise is normal. The last part reweights samples
themselves.
"""

import argparse
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from thermorbm import Lattice, estimators, sample
from thermorbm.estimators import CriticalPoint, Measurements, Reweighting, reweighted_peak
from thermorbm.exact import energy_distribution, kaufman
from thermorbm.series import measure

Array = NDArray[np.float64]
SIDES = (16, 32, 64)
DENSE = np.arange(0.9, 4.6, 0.002)
GRIDS = {
    "fine": {16: np.linspace(2.1, 2.8, 15), 32: np.linspace(2.1, 2.6, 11), 64: np.linspace(2.04, 2.5, 11)},
    "0.1": dict.fromkeys(SIDES, np.arange(1.7, 3.01, 0.1)),
    "paper": dict.fromkeys(SIDES, np.arange(1.0, 4.01, 0.25)),
}
UNEVEN = {
    "desk symmetric": np.array([2.0, 2.2, 2.25, 2.3, 2.35, 2.4, 2.5, 3.0, 4.0]),
    "paper 3d": np.r_[2.5:4.3:0.25, 4.3:4.71:0.1, 4.75:6.3:0.25] * (2.2692 / 4.5115),
}
FINDERS = {"c_V": "peak", "chi": "peak", "S": "heat_peak", "energy": "steepest"}
LABELS = {"c_V": "c_V", "chi": "chi", "S": "T dS/dT", "energy": "de/dT"}
MACHINES = {"narrow": 0.3, "one-sided": 1.0}  # largest skew


@dataclass(frozen=True)
class Curve:
    """What is measured, X(T), how its maximum is sought, and where that is."""

    finder: str
    values: Callable[[Array], Array]
    truth: float


@cache
def exact_curve(name: str, side: int) -> Curve:
    if name == "chi":
        return susceptibility(side)
    exact = kaufman(side, DENSE)
    values = {"c_V": exact.heat_capacity, "S": exact.entropy, "energy": exact.energy}[name]
    spline, top = CubicSpline(DENSE, values), float(DENSE[np.argmax(exact.heat_capacity)])
    return Curve(FINDERS[name], spline, refined(FINDERS[name], spline, top))


def susceptibility(side: int) -> Curve:
    """Reweighted from samples between T = 0.9 and 4.6: whatever their noise, a smooth curve."""
    n_points = {16: 13, 32: 24, 64: 48}[side]
    temperatures = estimators.integration_grid(0.9, 4.6, 2.3, n_points, 0.08)
    lattice = Lattice((side, side))
    parts = [measure(sample(lattice, float(t), 1024, seed=k, threads=1)) for k, t in enumerate(temperatures)]
    curves = Reweighting(parts, lattice.n_sites, n_draws=2).curves(DENSE[temperatures[0] <= DENSE])
    spline = CubicSpline(curves.temperatures, np.log(curves.susceptibility.values))
    near = np.arange(2.2, 2.6, 1e-4)
    return Curve("peak", lambda t: np.exp(spline(t)), float(near[np.argmax(spline(near))]))


def refined(finder: str, spline: CubicSpline, near: float) -> float:
    t = np.arange(near - 0.02, near + 0.02, 1e-5)
    indicator = {"peak": spline(t), "heat_peak": t * spline(t, 1), "steepest": spline(t, 1)}[finder]
    return float(t[np.argmax(indicator)])


def machine_curve(rng: np.random.Generator, most_skew: float) -> Curve:
    """A peak 0.03 to 0.2 wide, steeper on one side, on a plateau that machines have in the cold."""
    centre, width = rng.uniform(2.15, 2.45), 10 ** rng.uniform(-1.5, -0.7)
    skew, power, plateau = rng.uniform(-most_skew, most_skew), rng.uniform(0.4, 1.2), rng.uniform(0, 0.3)

    def values(t: Array) -> Array:
        x = (t - centre) / width
        x = x * np.exp(-skew * np.tanh(x / 2))
        return np.asarray((1 + x * x) ** -power + plateau / (1 + np.exp((t - 2) / 0.2)))

    near = np.arange(2.0, 2.6, 1e-4)
    return Curve("peak", values, float(near[np.argmax(values(near))]))


def trial(curve: Curve, grid: Array, rng: np.random.Generator) -> tuple[CriticalPoint, float]:
    exact = curve.values(grid)
    if curve.finder == "peak":
        errors = 10 ** rng.uniform(-2.5, -1.3) * exact
    else:
        errors = np.full(len(grid), 10 ** rng.uniform(-4.5, -2.3) * np.ptp(exact))
    values = exact + errors * rng.standard_normal(len(grid))
    finder = getattr(estimators, curve.finder)
    return finder(grid, values, errors, seed=int(rng.integers(1 << 30))), curve.truth


def moved(grid: str, side: int, rng: np.random.Generator) -> Array:
    if grid in UNEVEN:
        return np.asarray(UNEVEN[grid] + 0.05 * (rng.random() - 0.5))
    own = GRIDS[grid][side]
    step = own[1] - own[0]
    return own + step * (rng.random() if grid == "paper" else rng.random() - 0.5)


def row(label: str, results: list[tuple[CriticalPoint, float]]) -> str:
    points, truths = zip(*results, strict=True)
    truth = np.array(truths)
    columns = np.array([(p.value, p.error, p.lower, p.upper, p.lower_95, p.upper_95) for p in points]).T
    value, error, lower, upper, lowest, highest = columns
    inside, inside_95 = (lower <= truth) & (truth <= upper), (lowest <= truth) & (truth <= highest)
    resolved = np.array([p.resolved for p in points])
    cells = [
        share(inside),
        share(inside_95),
        share(resolved),
        share(inside[resolved]),
        share(inside_95[resolved]),
        share(inside_95[~resolved]),
        f"{np.median(error):.4f}",
        f"{np.sqrt(np.mean((value - truth) ** 2)):.4f}",
    ]
    return f"| {label} | " + " | ".join(cells) + " |"


def share(of: NDArray[np.bool_]) -> str:
    return f"{of.mean():.2f}" if len(of) >= 20 else "-"


def smooth_row(name: str, grid: str, place: str, n_trials: int) -> str:
    rng = np.random.default_rng([len(name), len(grid), len(place)])
    results = []
    for k in range(n_trials):
        side = SIDES[k % len(SIDES)]
        curve = exact_curve(name, side) if name in FINDERS else machine_curve(rng, MACHINES[name])
        points = GRIDS[grid][side] if place == "own" else moved(grid, side, rng)
        results.append(trial(curve, points, rng))
    return row(f"{LABELS.get(name, name)} | {grid} | {place}", results)


def reweighted_row(side: int, n_trials: int) -> str:
    """Energies from the exact P(E): c_V of 8 x 2000 samples at L = 16, and of fine grids at L = 32 and 64."""
    temperatures = np.linspace(2.1, 2.6, 8) if side == 16 else GRIDS["fine"][side]
    n, truth = 5000 if side == 64 else 2000, exact_heat_peak(side)
    exact = [energy_distribution(side, float(t)) for t in temperatures]
    shares = [each.probabilities / each.probabilities.sum() for each in exact]
    rng, results = np.random.default_rng(side), []
    for _ in range(n_trials):
        energies = [rng.choice(e.energies, n, p=p) for e, p in zip(exact, shares, strict=True)]
        parts = [Measurements(t, e, np.ones(n)) for t, e in zip(temperatures, energies, strict=True)]
        results.append((reweighted_peak(Reweighting(parts, side**2), "heat_capacity"), truth))
    return row(f"c_V, reweighted, L = {side} | {len(temperatures)} x {n} | own", results)


def exact_heat_peak(side: int) -> float:
    spline = CubicSpline(DENSE, kaufman(side, DENSE).heat_capacity)
    return refined("peak", spline, float(DENSE[np.argmax(spline(DENSE))]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--only", nargs="*", default=[*FINDERS, *MACHINES, "reweighted"])
    parser.add_argument("--grids", nargs="*", default=[*GRIDS, *UNEVEN])
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    print(
        "| curve | grid | place | 68 % | 95 % | resolved | of these 68 % | 95 % | intervals | error | rms |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    names = [name for name in options.only if name != "reweighted"]
    begin = time.perf_counter()
    if "chi" in names:  # sampled once, before processes are made that share it
        [exact_curve("chi", side) for side in SIDES]
    with ProcessPoolExecutor(options.workers, mp_context=get_context("fork")) as pool:
        rows = [
            pool.submit(smooth_row, name, grid, place, options.trials)
            for name in names
            for grid in options.grids
            for place in ("random", "own")
            if place == "random" or grid in GRIDS
        ]
        if "reweighted" in options.only:
            rows += [pool.submit(reweighted_row, side, options.trials) for side in SIDES]
        for each in rows:
            print(each.result(), flush=True)
    used = sum(os.times()[:4])
    print(f"\n{time.perf_counter() - begin:.0f} s with {options.workers} processes, {used:.0f} s of CPU")


if __name__ == "__main__":
    main()
