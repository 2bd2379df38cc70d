"""Convolutions of +-1 units on periodic grids of any dimension, and what else a shared filter needs.

A configuration is copied into a buffer with the periodic border around it. In that buffer every tap of a
filter is one fixed distance away, whatever the dimension, so that a filter is a few long loops over
contiguous memory: out[p] += w_1 in[p + d_1] + w_2 in[p + d_2] + w_3 in[p + d_3] for all places p. The results
at places of the border are left unused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray

Shape = tuple[int, ...]

_TAPS_AT_ONCE = 3  # filters are padded with zeros to a multiple of it


@dataclass(frozen=True, eq=False)
class Border:
    """Where things are in the buffer of one configuration.

    taps: (n_taps,) distances of a window's elements, in C order. lines: (n_buffer_lines,) site at which the
    line of the lattice begins that goes to each line of the buffer. places: (n_lines,) where the results of
    each line of the lattice begin. side: length of a line of the lattice; stride: of the buffer; before:
    width of the border before a line. size: of the buffer; reach: the largest of the taps.
    """

    taps: NDArray[np.int64]
    lines: NDArray[np.int64]
    places: NDArray[np.int64]
    side: int
    stride: int
    before: int
    size: int
    reach: int


@lru_cache(maxsize=64)
def border(shape: Shape, window: Shape, origin: Shape) -> Border:
    """For windows whose element `origin` lies on the site that they belong to."""
    padded = tuple(side + width - 1 for side, width in zip(shape, window, strict=True))
    taps = np.ravel_multi_index(tuple(np.indices(window)), padded).ravel()
    sites = np.arange(math.prod(shape)).reshape(shape)
    wrapped = [
        (np.arange(p) - o) % side for p, o, side in zip(padded[:-1], origin[:-1], shape[:-1], strict=True)
    ]
    lines = sites[..., 0][np.ix_(*wrapped)] if wrapped else sites[:1]
    places = np.arange(math.prod(padded)).reshape(padded)[tuple(slice(side) for side in shape)][..., 0]
    return Border(
        taps.astype(np.int64),
        np.ascontiguousarray(lines.ravel(), dtype=np.int64),
        np.ascontiguousarray(places.ravel(), dtype=np.int64),
        shape[-1],
        padded[-1],
        origin[-1],
        math.prod(padded),
        int(taps[-1]),
    )


@lru_cache(maxsize=64)
def window_sites(shape: Shape, window: Shape, origin: Shape) -> NDArray[np.int64]:
    """(n_sites, n_taps): the sites that the window of each site covers, in C order of the window."""
    sites = np.arange(math.prod(shape)).reshape(shape)
    axes = tuple(range(len(shape)))
    moves = [[o - e for e, o in zip(element, origin, strict=True)] for element in np.ndindex(window)]
    return np.stack([np.roll(sites, move, axes).ravel() for move in moves], axis=1)


def convolve(
    units: NDArray[Any], filters: NDArray[Any], bias: NDArray[Any], place: Border, out: NDArray[Any]
) -> NDArray[Any]:
    """out[n, o, site] = bias[o] + sum over i and taps a of filters[o, i, a] units[n, i, site + a].

    units: (n, n_in * n_sites), filters: (n_out, n_in, n_taps), bias: (n_out,), out: (n, n_out * n_sites), all
    contiguous and of one floating type.
    """
    missing = -filters.shape[2] % _TAPS_AT_ONCE
    weights = np.pad(filters, ((0, 0), (0, 0), (0, missing)))
    taps = np.pad(place.taps, (0, missing))
    _convolve(units, weights, bias, taps, *_numbers(place), out)
    return out


def correlate(units: NDArray[Any], others: NDArray[Any], place: Border) -> NDArray[np.float64]:
    """Sum over sites of others[n, o, site] units[n, site + a]. -> (n, n_out, n_taps).

    units: (n, n_sites), others: (n, n_out * n_sites), contiguous and of one floating type.
    """
    n_out = others.shape[1] // units.shape[1]
    sums = np.empty((len(units), n_out, place.taps.size))
    _correlate(units, others, place.taps, *_numbers(place), sums)
    return sums


def log_products(
    p: NDArray[Any], q: NDArray[Any], up: NDArray[np.bool_], filters: NDArray[Any], place: Border, run: int
) -> NDArray[np.float64]:
    """Sum over o and a of ln(p e^(-2 w v) + q e^(2 w v)) at each site, p and q at its tap a. -> (n, n_sites).

    p, q: (n, n_out * n_sites) float64; up: (n, n_sites), whether v is +1; w = filters[o, a], (n_out, n_taps)
    float64. One logarithm is taken for the product of `run` filters.
    """
    logs = np.zeros(up.shape)
    growth, decay = np.exp(2 * filters), np.exp(-2 * filters)
    _log_products(p, q, up, growth, decay, run, place.taps, *_numbers(place), logs)
    return logs


def _numbers(place: Border) -> tuple[Any, ...]:
    """What the kernels need of a border but for its taps."""
    return place.lines, place.places, place.side, place.stride, place.before, place.size, place.reach


@nb.njit(cache=True)
def _fill(row: Any, lines: Any, side: Any, stride: Any, before: Any, buffer: Any) -> None:
    """One configuration with its periodic border."""
    after = stride - side - before
    for line in range(lines.size):
        source = row[lines[line] : lines[line] + side]
        target = buffer[line * stride : (line + 1) * stride]
        for x in range(side):
            target[before + x] = source[x]
        for x in range(before):
            target[x] = source[side - before + x]
        for x in range(after):
            target[before + side + x] = source[x]


@nb.njit(cache=True)
def _spread(row: Any, places: Any, side: Any, flat: Any) -> None:
    """The sites of a configuration to where their results would stand; the rest is left as it is."""
    for line in range(places.size):
        target, source = flat[places[line] : places[line] + side], row[line * side : (line + 1) * side]
        for x in range(side):
            target[x] = source[x]


@nb.njit(cache=True)
def _gather(flat: Any, places: Any, side: Any, row: Any) -> None:
    """The results of the sites out of the buffer."""
    for line in range(places.size):
        source, target = flat[places[line] : places[line] + side], row[line * side : (line + 1) * side]
        for x in range(side):
            target[x] = source[x]


@nb.njit(cache=True, fastmath={"contract"})
def _add_filter(buffer: Any, weights: Any, taps: Any, flat: Any) -> None:
    n = flat.size
    for t in range(0, taps.size, 3):
        w0, w1, w2 = weights[t], weights[t + 1], weights[t + 2]
        if w0 == 0 and w1 == 0 and w2 == 0:
            continue
        u0, u1 = buffer[taps[t] : taps[t] + n], buffer[taps[t + 1] : taps[t + 1] + n]
        u2 = buffer[taps[t + 2] : taps[t + 2] + n]
        for x in range(n):
            flat[x] += w0 * u0[x] + w1 * u1[x] + w2 * u2[x]


@nb.njit(cache=True)
def _convolve(
    units: Any, weights: Any, bias: Any, taps: Any,
    lines: Any, places: Any, side: Any, stride: Any, before: Any, size: Any, reach: Any, out: Any,
) -> None:  # fmt: skip
    n_out, n_in, _ = weights.shape
    n_sites = places.size * side
    buffers = np.empty((n_in, size), dtype=out.dtype)
    flat = np.empty(size - reach, dtype=out.dtype)
    for row in range(units.shape[0]):
        for i in range(n_in):
            _fill(units[row, i * n_sites : (i + 1) * n_sites], lines, side, stride, before, buffers[i])
        for o in range(n_out):
            flat[:] = bias[o]
            for i in range(n_in):
                _add_filter(buffers[i], weights[o, i], taps, flat)
            _gather(flat, places, side, out[row, o * n_sites : (o + 1) * n_sites])


@nb.njit(cache=True, fastmath={"contract", "reassoc", "nsz"})
def _dot(a: Any, b: Any) -> Any:
    """Reassociation lets the compiler sum in vector lanes."""
    total = a.dtype.type(0)
    for x in range(a.size):
        total += a[x] * b[x]
    return total


@nb.njit(cache=True)
def _correlate(
    units: Any, others: Any, taps: Any,
    lines: Any, places: Any, side: Any, stride: Any, before: Any, size: Any, reach: Any, sums: Any,
) -> None:  # fmt: skip
    n_sites, n = places.size * side, size - reach
    buffer = np.empty(size, dtype=units.dtype)
    flat = np.zeros(n, dtype=units.dtype)  # between the lines it stays 0
    for row in range(units.shape[0]):
        _fill(units[row], lines, side, stride, before, buffer)
        for o in range(sums.shape[1]):
            _spread(others[row, o * n_sites : (o + 1) * n_sites], places, side, flat)
            for t in range(taps.size):
                sums[row, o, t] = _dot(flat, buffer[taps[t] : taps[t] + n])


@nb.njit(cache=True, fastmath={"contract"})
def _multiply(product: Any, up: Any, p: Any, q: Any, growth: Any, decay: Any) -> None:
    """product *= p e^(-2 w v) + q e^(2 w v)."""
    for x in range(product.size):
        product[x] *= p[x] * decay + q[x] * growth if up[x] else p[x] * growth + q[x] * decay


@nb.njit(cache=True)
def _log_products(
    p: Any, q: Any, is_up: Any, growth: Any, decay: Any, run: Any, taps: Any,
    lines: Any, places: Any, side: Any, stride: Any, before: Any, size: Any, reach: Any, logs: Any,
) -> None:  # fmt: skip
    n_out, n_taps = growth.shape
    n_sites, n = places.size * side, size - reach
    p_buffer, q_buffer, product = np.empty(size), np.empty(size), np.ones(n)
    up, at_sites = np.zeros(n, dtype=np.bool_), np.empty(n_sites)
    for row in range(is_up.shape[0]):
        _spread(is_up[row], places, side, up)
        for o in range(n_out):
            _fill(p[row, o * n_sites : (o + 1) * n_sites], lines, side, stride, before, p_buffer)
            _fill(q[row, o * n_sites : (o + 1) * n_sites], lines, side, stride, before, q_buffer)
            for t in range(n_taps):
                p_tap, q_tap = p_buffer[taps[t] : taps[t] + n], q_buffer[taps[t] : taps[t] + n]
                _multiply(product, up, p_tap, q_tap, growth[o, t], decay[o, t])
            if (o + 1) % run == 0 or o + 1 == n_out:
                _gather(product, places, side, at_sites)
                product[:] = 1.0
                for x in range(n_sites):
                    logs[row, x] += math.log(at_sites[x])
