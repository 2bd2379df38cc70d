"""Random curves with a known maximum: rounded peaks of several shapes on grids like the paper's."""

from dataclasses import dataclass

import numpy as np

DENSE = np.linspace(0.2, 4.2, 8001)
PAPER = np.arange(0.25, 4.01, 0.25)
KINDS = ("peak", "steepest", "heat_peak")
SHAPES = ("logarithm", "lorentzian", "gaussian", "power", "sech")


@dataclass(frozen=True)
class SyntheticCurve:
    """Measured points and the temperature at which the noiseless indicator is largest."""

    kind: str
    shape: str
    temperatures: np.ndarray
    values: np.ndarray
    errors: np.ndarray
    truth: float


def rounded_peak(shape, centre, width, skew, power):
    """A peak of height 1 at `centre` on the dense grid; `skew` widens one side and narrows the other."""
    t = DENSE - centre
    t = t * np.exp(-skew * np.tanh(t / (2 * width)))
    square = t * t + width * width
    return {
        "logarithm": np.log((square + 2) / square) / np.log((width**2 + 2) / width**2),
        "lorentzian": width**2 / square,
        "gaussian": np.exp(-(t**2) / (2 * (1.5 * width) ** 2)),
        "power": (width**2 / square) ** power,
        "sech": np.cosh(np.clip(t / (1.5 * width), -50, 50)) ** -2.0,
    }[shape]


def grid(rng):
    """The paper's spacing of 0.25, alone or with 0.1, 0.05 or 0.08 around the transition."""
    first = rng.choice([0.25, 1.0])
    low = PAPER[first <= PAPER]
    extra = [
        np.array([]),
        np.arange(2.0, 2.61, 0.1),
        np.arange(2.0, 2.61, 0.05),
        rng.uniform(1.9, 2.7) + np.arange(-4, 5) * 0.08,
    ][rng.integers(4)]
    joined = np.unique(np.round(np.concatenate([low, extra]), 4))
    return joined[np.r_[True, np.diff(joined) > 0.02]]


def synthetic_curve(kind, seed):
    """One curve of that kind; everything else about it is random."""
    rng = np.random.default_rng(seed)
    shape = str(rng.choice(SHAPES))
    centre, width = rng.uniform(2.1, 2.45), 10 ** rng.uniform(-1.5, -0.6)
    top = rounded_peak(shape, centre, width, rng.uniform(-0.5, 0.5), rng.uniform(0.25, 0.8))
    indicator, curve = _with_background(kind, top, rng)
    temperatures = grid(rng)
    exact = np.interp(temperatures, DENSE, curve)
    errors = _errors(kind, exact, rng)
    values = exact + errors * rng.standard_normal(len(exact))
    return SyntheticCurve(kind, shape, temperatures, values, errors, float(DENSE[indicator.argmax()]))


FINE = np.linspace(2.04, 2.5, 11)


def curve_of_seeds(kind, seed, n_seeds=3):
    """The same on a fine grid around the peak, measured by several machines: values are (n_seeds, n)."""
    rng = np.random.default_rng(seed)
    shape = str(rng.choice(SHAPES))
    centre, width = rng.uniform(2.15, 2.4), 10 ** rng.uniform(-1.5, -0.9)
    top = rounded_peak(shape, centre, width, rng.uniform(-0.5, 0.5), rng.uniform(0.25, 0.8))
    indicator, curve = _with_background(kind, top, rng)
    exact = np.interp(FINE, DENSE, curve)
    errors = _errors(kind, exact, rng)
    values = exact + errors * rng.standard_normal((n_seeds, len(FINE)))
    return SyntheticCurve(kind, shape, FINE, values, errors, float(DENSE[indicator.argmax()]))


def _errors(kind, exact, rng):
    if kind == "peak":  # a variance or correlation: errors of some per cent of the value
        return 10 ** rng.uniform(-2.3, -0.8) * (0.9 * np.abs(exact) + 0.1 * np.abs(exact).max())
    # an entropy or energy: equal errors, 0.03 to 1.5 % of its range
    return np.full(len(exact), 10 ** rng.uniform(-3.5, -1.8) * np.ptp(exact))


def _with_background(kind, top, rng):
    """The curve that peaks, and the curve that is measured: itself, its integral, or that of itself / T."""
    background = rng.uniform(0, 0.35)
    if kind == "peak":
        indicator = top + background * (1 + rng.uniform(-0.2, 0.2) * (DENSE - 2))
        return indicator, indicator
    if kind == "steepest":
        indicator = top + 0.3 * background
        return indicator, rng.choice([-1, 1]) * _integral(indicator)
    indicator = top + 4 * background * np.exp(-2 / DENSE - DENSE / 4)
    return indicator, _integral(indicator / DENSE)


def _integral(curve):
    return np.concatenate([[0], np.cumsum((curve[1:] + curve[:-1]) / 2 * np.diff(DENSE))])
