"""Curves on which the widths of `estimators.critical` were set: none of them is in `benchmarks.coverage`.

    OMP_NUM_THREADS=1 python -m benchmarks.calibration [--trials 45]

Rounded logarithms, powers and Lorentzians with unequal sides on a sloping background, at random places on
grids of 0.05, 0.1 and 0.25, as peaks and slopes. By the number of points in the upper half of the peak: how
often 68 % and 95 % intervals hold if a share of the spacing is added to the error in quadrature.
"""

import argparse
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from thermorbm import estimators
from thermorbm.estimators import critical

Array = NDArray[np.float64]
DENSE = np.linspace(0.2, 4.2, 8001)
SHAPES = ("logarithm", "power", "lorentzian")
SPACINGS = {"0.1": 0.1, "paper": 0.25, "fine": 0.05}
SHARES = (0.0, 0.01, 0.03, 0.07, 0.1)
FIRST = 100  # seeds before this one served while the method was built


def curve(rng: np.random.Generator) -> Array:
    """A peak on a background, on the dense grid."""
    shape, centre, width = str(rng.choice(SHAPES)), rng.uniform(2.1, 2.45), 10 ** rng.uniform(-1.5, -0.7)
    skew, power = rng.uniform(-0.8, 0.8), rng.uniform(0.25, 0.9)
    t = DENSE - centre
    t = t * np.exp(-skew * np.tanh(t / (2 * width)))
    square = t * t + width * width
    peak = {
        "logarithm": np.log((square + 2) / square) / np.log((width**2 + 2) / width**2),
        "power": (width**2 / square) ** power,
        "lorentzian": width**2 / square,
    }[shape]
    return np.asarray(peak + rng.uniform(0, 0.3) * (1 + rng.uniform(-0.3, 0.3) * (DENSE - 2)))


def grid(name: str, rng: np.random.Generator) -> Array:
    if name == "fine":
        return 2.275 + 0.05 * (np.arange(-6, 7) + rng.random() - 0.5)
    if name == "0.1":
        return np.arange(1.7, 3.01, 0.1) + 0.1 * rng.random()
    t = np.arange(1, 4.01, 0.25) + 0.25 * (rng.random() - 0.5)
    return np.asarray(t[t < 4.2])


def trial(finder: str, name: str, seed: int) -> tuple[float, ...]:
    """Truth, value, both ends of the 68 % and of the 95 %, spacing, points in the upper half."""
    rng = np.random.default_rng([seed, 7, len(name)])
    dense = curve(rng)
    t, truth = grid(name, rng), float(DENSE[dense.argmax()])
    if finder == "peak":
        exact = np.interp(t, DENSE, dense)
        errors = 10 ** rng.uniform(-2.5, -1.3) * exact
    else:
        integral = np.concatenate([[0], np.cumsum((dense[1:] + dense[:-1]) / 2 * np.diff(DENSE))])
        exact = np.interp(t, DENSE, integral)
        errors = np.full(len(t), 10 ** rng.uniform(-4.5, -2.3) * np.ptp(exact))
    values = exact + errors * rng.standard_normal(len(t))
    counts: list[int] = []
    count = critical._points_in_upper_half

    def counted(*arguments) -> int:
        counts.append(count(*arguments))
        return counts[-1]

    with (
        patch.object(critical, "_HIDDEN", {True: 0.0, False: 0.0}),
        patch.object(critical, "_points_in_upper_half", counted),
    ):
        point = getattr(estimators, finder)(t, values, errors, seed=seed)
    ends = (point.lower, point.upper, point.lower_95, point.upper_95)
    return truth, point.value, *ends, SPACINGS[name], counts[0]


def held(columns: Array, share: float) -> str:
    truth, value, low, high, lowest, highest, spacing = columns[:7]
    cells = []
    for below, above, width in ((low, high, 1.0), (lowest, highest, 1.96)):
        hidden = width * share * spacing
        inside = value - np.hypot(value - below, hidden) <= truth
        inside &= truth <= value + np.hypot(above - value, hidden)
        cells.append(f"{inside.mean():.2f}")
    return " / ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--trials", type=int, default=45)
    options = parser.parse_args()
    rows = [
        trial(finder, name, FIRST + k)
        for finder in ("peak", "steepest")
        for name in SPACINGS
        for k in range(options.trials)
    ]
    table = np.array(rows).T
    print("| points in the upper half | curves | " + " | ".join(f"+ {share:g}" for share in SHARES) + " |")
    print("|---" * (2 + len(SHARES)) + "|")
    for count in range(5):
        chosen = table[:, (table[7] == count) if count < 4 else (table[7] >= 4)]
        if chosen.size:
            cells = " | ".join(held(chosen, share) for share in SHARES)
            print(f"| {count}{' and more' * (count == 4)} | {chosen.shape[1]} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
