"""Hidden units that carry the order of the data together, as strong as it is in each configuration.

A single unit puts free spins into a field of one strength, up or down: their magnetisation is then +m or -m
to within the width of independent spins, 0.014 on 64 x 64. That is right far below T_c. Near T_c the
magnetisation of the data wanders from -0.7 to 0.7, and each configuration whose own lies elsewhere costs
such a machine tens of nats.

So the order has modes: fields f_k of rising strength with levels d_k, and the machine takes the largest of
the f_k.v + d_k. Between two neighbouring modes stands one hidden unit, w = (f_k+1 - f_k) / 2 and
c = (d_k+1 - d_k) / 2, whose threshold divides them. The sum of all |w.v + c| is that largest one, up to a
constant, because fields and levels are alike for both signs of the order. Levels make the modes as likely as
they are in the data. With one mode of either sign this is the single unit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thermorbm.training.layers import Parameters

# Distance of neighbouring modes in widths of free units: chains have to get from one mode to the next.
_SPACING = 4.0
_RANGE = 0.025, 0.975  # quantiles of the data's amplitudes that modes cover
_LEAST_SHARE = 1e-3
_LEAST_OF_A_SIGN = 0.05  # share of the data
# Rate of thresholds over that of W. A threshold decides how likely its two modes are; at the rate of the
# other biases it would move by hundredths of a nat in all.
_THRESHOLD_RATE = 10.0


@dataclass(frozen=True, eq=False)
class Amplitudes:
    """How strong the order is, relative to its mean strength: (n,) values > 0, and shares of data at each."""

    values: NDArray[np.float64]
    shares: NDArray[np.float64]

    @property
    def n_carriers(self) -> int:
        """Hidden units that these take: one between each two neighbours, of both signs of the order."""
        return 2 * len(self.values) - 1


ONE = Amplitudes(np.ones(1), np.ones(1))


def find_amplitudes(
    along: NDArray[np.float64], strengths: NDArray[np.float64], most_carriers: int
) -> Amplitudes:
    """From the amplitude of each configuration, along (n_rows,), in a pattern of these strengths.

    An order of one sign takes one unit: carriers come for both signs. Amplitudes go in steps of one spin,
    which counts in the cold: free units, of which few are turned, are to need no second mode.
    """
    sizes, power = np.abs(along), float((strengths**2).sum())
    if most_carriers < 3 or power == 0 or min(np.mean(along > 0), np.mean(along < 0)) < _LEAST_OF_A_SIGN:
        return ONE
    width = math.sqrt(float((strengths**2 * (1 - strengths**2)).sum())) / power
    low, high = np.quantile(sizes, _RANGE)
    one_spin = 2 * np.abs(strengths).max() / power
    high = min(high, 1 / np.abs(strengths).max())
    n = min(math.ceil((high - low - one_spin) / (_SPACING * width)), (most_carriers + 1) // 2) if width else 1
    if n < 2:
        return ONE
    edges = np.linspace(low, high, n + 1)
    counts = np.bincount(np.digitize(sizes, edges[1:-1]), minlength=n)
    return Amplitudes((edges[1:] + edges[:-1]) / 2, np.maximum(counts / len(sizes), _LEAST_SHARE))


def made_up_for(W: NDArray[np.float64], strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Field that takes back what the filters W give to a turned spin in the pattern, (n_visible,).

    It is as strong as the order: without one there is no pattern in which spins are turned.
    """
    signs, inputs = np.where(strengths < 0, -1.0, 1.0), (W @ strengths)[:, None]
    gain = (_log_cosh(inputs - 2 * W * signs) - _log_cosh(inputs)).sum(axis=0)
    return np.asarray(signs * gain / 2 * np.mean(strengths**2))


def carriers(
    strengths: NDArray[np.float64], amplitudes: Amplitudes, others: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """W (n_carriers, n_visible) and c (n_carriers,) beside the other filters, (n_others, n_visible)."""
    modes = [_mode(size * strengths, share, others) for size, share in _pairs(amplitudes)]
    fields, levels = (np.array(part) for part in zip(*modes, strict=True))
    if len(modes) == 1:
        return fields, np.zeros(1)
    fields, levels = np.concatenate([-fields[::-1], fields]), np.concatenate([levels[::-1], levels])
    return np.diff(fields, axis=0) / 2, np.diff(levels) / 2


def _pairs(amplitudes: Amplitudes) -> zip[tuple[float, float]]:
    return zip(amplitudes.values, amplitudes.shares, strict=True)


def _mode(
    strengths: NDArray[np.float64], share: float, others: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Field in which free units have these strengths, and the level at which the mode has its share.

    The other filters count as much as they do at the mean configuration.
    """
    free, made_up = np.arctanh(strengths), made_up_for(others, strengths)
    weight = _log_cosh(free).sum() + made_up @ strengths + _log_cosh(others @ strengths).sum()
    return free + made_up, math.log(share) - float(weight)


def _log_cosh(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.logaddexp(x, -x) - np.log(2))


def mirror(gradient: Parameters, n_carriers: int, bias_rate: float) -> None:
    """Makes the gradient of W and c the same for both signs of the order, in place; thresholds move faster.

    Chains below T_c do not get from one sign to the other, and nothing would keep both equally likely. Only
    the unit in the middle tells them apart. bias_rate: what all of c is multiplied by afterwards.
    """
    W, c, middle = gradient["W"][:n_carriers], gradient["c"][:n_carriers], n_carriers // 2
    W.copy_((W + W.flip(0)) / 2)
    own = c[middle].clone()
    c.copy_((c - c.flip(0)) / 2 * (_THRESHOLD_RATE / bias_rate if bias_rate else 0.0))
    c[middle] = own
