"""Curves on which the intervals of `estimators.critical` are calibrated; `benchmarks.coverage` has others.

    OMP_NUM_THREADS=1 python -m benchmarks.calibration [--curves 1500] [--shapes]

Rounded logarithms, powers, Lorentzians and Gaussians on a background with a slope and a step, their width at
half height from 0.3 to 10 spacings, as peaks and as slopes of what is measured, at random places. Their sides
are unequal, by a factor of up to 6, or 2 where the slope of an energy or entropy peaks, which is a heat
capacity. The maximum is displaced from the centre of the tails by up to a tenth of its rounding. This is what
c_V and chi of finite lattices look like, of other sides than those of the coverage (`--shapes`).

For each class of `WIDENING`: the share of the spacing that is added to the spread in quadrature, and what the
sum is multiplied by so that 68 % and 95 % intervals hold as often as they say. The share is the one with
which they do so in the third of the curves with the narrowest spread as well as in that with the widest.
"""

import argparse
import time

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from thermorbm import Lattice, sample
from thermorbm.estimators import Reweighting
from thermorbm.estimators.critical import Spread, indicator_draws, spread
from thermorbm.estimators.smoothing import ONE_SIGMA, Points
from thermorbm.exact import kaufman
from thermorbm.series import measure

Array = NDArray[np.float64]
Trial = tuple[float, Spread]
DENSE = np.linspace(0.0, 5.0, 20001)
SHAPES = ("logarithm", "power", "lorentzian", "gaussian")
MOST_UNEQUAL = {"peak": 6.0, "steepest": 2.0, "heat_peak": 2.0}
LEVELS = (ONE_SIGMA[2] - ONE_SIGMA[0], 0.95)
SHARES = np.arange(21) / 100
FIRST = 6000  # seeds before this one served while the method was built
LABELS = {False: "X", True: "dX/dT"}
COUNTS = {1: "0 or 1", 2: "2", 3: "3 and more"}


def rounded(shape: str, x: Array, form: float) -> Array:
    square = 1 + x * x
    if shape == "logarithm":
        far = 10 ** (1 + 2 * form)
        return np.asarray(np.log1p(far / square) / np.log1p(far))
    if shape == "gaussian":
        return np.asarray(np.exp(-x * x / 2))
    return np.asarray(square ** -(0.25 + 0.95 * form) if shape == "power" else 1 / square)


def unequal(x: Array, skew: float, shift: float) -> Array:
    """Sides that differ by (1 + skew) / (1 - skew) far away, about a centre that is displaced by a shift."""
    return np.asarray(x * (1 - skew * x / np.sqrt(4 + x * x)) + shift * x * x / (1 + x * x))


def curve(rng: np.random.Generator, spacing: float, most_unequal: float) -> Array:
    """A peak of height 1 on a background, on the dense grid."""
    shape = str(rng.choice(SHAPES))
    skew = float(np.tanh(rng.uniform(-1, 1) * np.log(most_unequal) / 2))
    form, shift, centre = rng.random(), rng.uniform(-0.1, 0.1), rng.uniform(2.1, 2.45)
    x = np.sinh(np.linspace(-9, 9, 4001))
    upper_half = x[rounded(shape, unequal(x, skew, shift), form) > 0.5]
    width = spacing / 10 ** rng.uniform(-1, 0.5) / np.ptp(upper_half)
    slope = rng.uniform(0, 0.3) * (1 + rng.uniform(-0.3, 0.3) * (DENSE - 2))
    step = rng.uniform(0, 0.3) * (0.5 - np.arctan((DENSE - rng.uniform(1.5, 3)) / 0.3) / np.pi)
    return rounded(shape, unequal((DENSE - centre) / width, skew, shift), form) + slope + step


def trial(finder: str, seed: int) -> Trial:
    """Where the curve is largest, and where random curves through its points are."""
    rng = np.random.default_rng([seed, 11, len(finder)])
    n_points, spacing = int(rng.integers(11, 16)), 10 ** rng.uniform(-1.4, -0.6)
    dense = curve(rng, spacing, MOST_UNEQUAL[finder])
    t = 2.275 + spacing * (np.arange(n_points) - (n_points - 1) / 2 + rng.uniform(-1.5, 1.5))
    t = t[(t > 0.3) & (t < 4.9)]
    near = np.abs(DENSE - 2.3) < 0.6
    truth = float(DENSE[near][dense[near].argmax()])
    points = measured(finder, dense, t, rng)
    return truth, spread(points, indicator_draws(finder, points, seed))


def measured(finder: str, dense: Array, t: Array, rng: np.random.Generator) -> Points:
    """Noisy values of the curve, or of what it is the slope of, at temperatures t."""
    if finder == "peak":
        exact = np.interp(t, DENSE, dense)
        errors = 10 ** rng.uniform(-2.5, -1.3) * exact
    else:
        slope = dense / np.maximum(DENSE, 1e-3) if finder == "heat_peak" else dense
        integral = np.concatenate([[0], np.cumsum((slope[1:] + slope[:-1]) / 2 * np.diff(DENSE))])
        exact = np.interp(t, DENSE, integral)
        errors = np.full(len(t), 10 ** rng.uniform(-4.5, -2.3) * np.ptp(exact))
    return Points(t, exact + errors * rng.standard_normal(len(t)), errors)


def needed_factors(trials: list[Trial], level: int, share: float) -> Array:
    """The factor with which each interval would just reach the truth."""
    factors = []
    for truth, found in trials:
        low, high = found.interval(level, share, 1.0)
        reach = high - found.median if truth > found.median else found.median - low
        factors.append(abs(truth - found.median) / max(reach, 1e-9))
    return np.array(factors)


def calibrated(trials: list[Trial]) -> tuple[float, ...]:
    """The share of the spacing, and the factors with which 68 % and 95 % hold as often as they say."""
    widths = np.array([np.ptp(found.ends[0]) / found.spacing for _, found in trials])
    thirds = np.array_split(np.argsort(widths), 3)
    choices = []
    for share in SHARES:
        miss, factors = 0.0, []
        for level, aim in enumerate(LEVELS):
            needed = needed_factors(trials, level, share)
            factors.append(float(np.quantile(needed, aim)))
            held = np.array([np.mean(needed[third] <= factors[-1]) for third in thirds])
            miss += float(np.sum((held - aim) ** 2) / (aim * (1 - aim)))
        choices.append((miss, float(share), *factors))
    return min(choices)[1:]


def fitted_shape(t: Array, values: Array, side: int) -> str:
    """How unequal the sides of the nearest power are, its shift, and its distance in heights of the peak."""
    y, top = (values - values.min()) / np.ptp(values), float(t[values.argmax()])

    def residuals(parameters: Array) -> Array:
        centre, log_width, skew, shift, height, level, slope, log_power = parameters
        x = unequal((t - centre) / np.exp(log_width), float(np.tanh(skew)), shift)
        return np.asarray(height * (1 + x * x) ** -np.exp(log_power) + level + slope * (t - top) - y)

    starts = ([top, np.log(3 / side), 0, shift, 1, 0, 0, -0.7] for shift in (-0.3, 0.3))
    best = min((least_squares(residuals, start) for start in starts), key=lambda fit: float(fit.cost))
    distance = np.sqrt(np.mean(best.fun**2))
    return f"{np.exp(2 * abs(best.x[2])):.1f} | {abs(best.x[3]):.2f} | {distance:.4f}"


def lattice_shapes() -> None:
    print("| curve | ratio of the sides | shift | distance |\n|---|---|---|---|")
    for side in (24, 48, 96):
        t = 2.27 + np.linspace(-8, 8, 160) / side
        print(f"| c_V, L = {side} | {fitted_shape(t, kaufman(side, t).heat_capacity, side)} |")
    for side in (24, 48):
        lattice, t = Lattice((side, side)), np.linspace(2.27 - 4 / side, 2.3 + 8 / side, 120)
        parts = [measure(sample(lattice, t[k], 4096, seed=k, threads=1)) for k in range(0, 120, 17)]
        chi = Reweighting(parts, lattice.n_sites, n_draws=2).curves(t).susceptibility.values
        print(f"| chi, L = {side} | {fitted_shape(t, chi, side)} |", flush=True)


def calibration(n_curves: int) -> None:
    trials: dict[tuple[bool, int], list[Trial]] = {(s, n): [] for s in LABELS for n in COUNTS}
    for seed in range(FIRST, FIRST + n_curves):
        for finder in ("peak", ("steepest", "heat_peak")[seed % 2]):
            found = trial(finder, seed)
            trials[found[1].kind].append(found)
    print("| peak of | points in its upper half | curves | hold before | share | 68 % | 95 % |")
    print("|---|---|---|---|---|---|---|")
    for (of_slope, count), each in trials.items():
        held = " / ".join(f"{np.mean(needed_factors(each, level, 0.0) <= 1):.2f}" for level in (0, 1))
        numbers = " | ".join(f"{number:.2f}" for number in calibrated(each))
        print(f"| {LABELS[of_slope]} | {COUNTS[count]} | {len(each)} | {held} | {numbers} |", flush=True)
    print(f"\n{time.process_time():.0f} s of CPU")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--curves", type=int, default=1500, help="of each kind, peaks and slopes")
    parser.add_argument("--shapes", action="store_true", help="of finite lattices, and nothing else")
    options = parser.parse_args()
    lattice_shapes() if options.shapes else calibration(options.curves)


if __name__ == "__main__":
    main()
