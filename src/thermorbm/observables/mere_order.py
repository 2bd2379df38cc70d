"""How well mere order describes configurations.

Mere order is the simplest model of a broken symmetry: independent spins of mean +mu or -mu, the sign common
to all of them and random, p(v) = 1/2 prod_j (1 + mu v_j)/2 + 1/2 prod_j (1 - mu v_j)/2. Its entropy exceeds
that of the configurations by what is in their correlations. A machine below a transition that has learnt the
magnetisation and nothing else is as good as this model and no better.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from thermorbm.dataset import Dataset
from thermorbm.observables.order_parameter import order_pattern, overlaps


def mere_order(data: Dataset) -> NDArray[np.float64]:
    """-ln p(v) of mere order for each configuration, totals in nats, at the mu that describes all best.

    Where another order than all up is known, such as that of two sublattices, spins count along it. -> (n,).
    Its mean is the least negative log-likelihood of any mu; well below a transition it is N h(<|m|>) + ln 2
    with h the entropy of one spin of that mean.
    """
    n_up = np.rint((overlaps(data, order_pattern(data)) + 1) * data.n_sites / 2).astype(np.int64)
    most = 1 - 1 / (data.n_sites * len(data) + 1)  # where no spin is turned, one of all may have been
    best = minimize_scalar(
        lambda mu: float(_minus_log(n_up, data.n_sites, mu).mean()), bounds=(0.0, most), method="bounded"
    )
    at_ends = min((0.0, float(best.x), most), key=lambda mu: float(_minus_log(n_up, data.n_sites, mu).mean()))
    return _minus_log(n_up, data.n_sites, at_ends)


def _minus_log(n_up: NDArray[np.int64], n_sites: int, mu: float) -> NDArray[np.float64]:
    likely, unlikely = math.log((1 + mu) / 2), math.log((1 - mu) / 2)
    up, down = n_up * likely + (n_sites - n_up) * unlikely, n_up * unlikely + (n_sites - n_up) * likely
    return np.asarray(math.log(2) - np.logaddexp(up, down))
