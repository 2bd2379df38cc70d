"""Slow, obvious versions of what `observables` reads: one pair, one unit, one configuration at a time."""

import itertools
import math

import numpy as np


def distance(shape, first, second):
    """Shortest way round the torus between two sites given by their coordinates."""
    steps = [min(abs(a - b), side - abs(a - b)) for a, b, side in zip(first, second, shape, strict=True)]
    return math.sqrt(sum(step * step for step in steps))


def by_distance(shape, product):
    """{distance: mean of product(j, k) over all ordered pairs of sites at that distance}."""
    sites = list(itertools.product(*(range(side) for side in shape)))
    sums = {}
    for (j, first), (k, second) in itertools.product(enumerate(sites), repeat=2):
        sums.setdefault(round(distance(shape, first, second), 9), []).append(product(j, k))
    return {r: sum(values) / len(values) for r, values in sorted(sums.items())}


def inverse_filter_correlation(shape, W):
    """Mean inner product of columns of W by distance, divided by that at distance 0."""
    means = by_distance(shape, lambda j, k: float(np.dot(W[:, j], W[:, k])))
    return {r: value / means[0] for r, value in means.items()}


def two_point_correlation(shape, spins):
    """Mean of s_j s_k over configurations and pairs of sites by distance."""
    return by_distance(shape, lambda j, k: float(np.mean(spins[:, j].astype(float) * spins[:, k])))


def sign_rule(W, v, h):
    """Fraction of pairs (configuration, unit) with sign(h) = sign(m) sign(filter sum), ties left out."""
    obeyed = []
    for spins, layer in zip(v, h, strict=True):
        for unit, row in zip(layer, W, strict=True):
            m, total = sum(int(s) for s in spins), sum(float(w) for w in row)
            if m != 0 and total != 0:
                obeyed.append(int(unit) == int(math.copysign(1, m)) * int(math.copysign(1, total)))
    return sum(obeyed) / len(obeyed)


def largest_domain(shape, weights):
    """Sites in the largest set of one sign that is connected on the torus, walking from site to site."""
    sites = list(itertools.product(*(range(side) for side in shape)))
    positive = dict(zip(sites, np.asarray(weights) > 0, strict=True))
    left, largest = set(sites), 0
    while left:
        waiting = [left.pop()]
        size = 0
        while waiting:
            site = waiting.pop()
            size += 1
            for axis, step in itertools.product(range(len(shape)), (1, -1)):
                other = (*site[:axis], (site[axis] + step) % shape[axis], *site[axis + 1 :])
                if other in left and positive[other] == positive[site]:
                    left.remove(other)
                    waiting.append(other)
        largest = max(largest, size)
    return largest
