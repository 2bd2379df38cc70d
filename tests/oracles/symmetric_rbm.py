"""The translation-symmetric machine written out site by site, straight from its definition."""

import itertools

import numpy as np


def dense_parameters(filters, shape, visible_bias, hidden_bias):
    """W, b, c of the equal dense machine: every element of every window placed by hand."""
    window = filters.shape[1:]
    sites = list(itertools.product(*map(range, shape)))
    number = {site: k for k, site in enumerate(sites)}
    W = np.zeros((len(filters) * len(sites), len(sites)))
    for f, weights in enumerate(filters):
        for i, site in enumerate(sites):
            for element in itertools.product(*map(range, window)):
                steps = [e - (side - 1) // 2 for e, side in zip(element, window, strict=True)]
                seen = tuple((x + s) % side for x, s, side in zip(site, steps, shape, strict=True))
                W[f * len(sites) + i, number[seen]] += weights[element]
    return W, np.full(len(sites), visible_bias), np.repeat(hidden_bias, len(sites))


def tied(gradient, filters, shape):
    """A dense gradient by W, b, c, summed over all places where a shared parameter stands."""
    zero = np.zeros(len(filters))
    sums = np.empty(filters.shape)
    for place in np.ndindex(*filters.shape):
        one = np.zeros(filters.shape)
        one[place] = 1
        sums[place] = (gradient["W"] * dense_parameters(one, shape, 0, zero)[0]).sum()
    hidden = gradient["c"].reshape(len(filters), -1).sum(axis=1)
    return {"filters": sums, "visible_bias": gradient["b"].sum(), "hidden_bias": hidden}
