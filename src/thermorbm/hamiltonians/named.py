"""Ready-made Hamiltonians by name, and those of any graph, list of bonds or unit cell."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.errors import InputError, unknown_name
from thermorbm.hamiltonians.cells import Grid, Offset, Product, bond, of_bonds, of_cell_bonds, of_graph, steps
from thermorbm.hamiltonians.energy import Hamiltonian
from thermorbm.hamiltonians.terms import FINITE, LARGEST, Terms, are_finite, merged
from thermorbm.lattice import Lattice

Couplings = tuple[float, ...]


def hamiltonian(
    name: str | None = None,
    shape: Sequence[int] | int | None = None,
    coupling: float | Sequence[float] = 1.0,
    field: float | ArrayLike = 0.0,
    *,
    p: float | None = None,
    seed: int | None = None,
    graph: Any = None,
    bonds: Iterable[Sequence[Any]] | None = None,
    sites: int | None = None,
    open: bool | Sequence[bool] = False,
) -> Hamiltonian:
    """H = -sum J s s' - h sum s (and products of more spins), ready-made by name or from a graph or bonds.

    shape: cells along each axis; honeycomb has two sites in a cell, kagome three. coupling: J, or one for
    each axis (square, cubic ...), direction (triangular, honeycomb, kagome) or shell (j1j2). field: h, or one
    for each site. p: share of bonds +J of "pm-j"; seed: the realisation of "pm-j", "gaussian" or "sk".
    open: edges instead of periodic axes, for all or one for each axis.
    graph: has nodes and edges(data=True) as in networkx; the attribute "coupling" of an edge is its J.
    bonds: rows (site, site[, J]), or more sites and a float J for products of spins. With a shape: rows
    (site, site, offset in cells[, J]) of a unit cell of `sites` sites.
    """
    if graph is not None or bonds is not None:
        _left_out("a graph or bonds", p=p, seed=seed)
        return _custom(name, shape, coupling, field, graph, bonds, sites, open)
    if name not in NAMES:
        raise unknown_name("hamiltonian", name, NAMES)
    if name == "sk":
        _left_out(name, p=p, sites=sites, open=open)
        return _sherrington_kirkpatrick(shape, _one("sk", coupling), field, _seed(name, seed))
    if shape is None:
        raise InputError("shape", shape, "sides of the lattice", "for example (24, 24)")
    if name in _DISORDERED:
        _left_out(name, sites=sites)
        return _disordered(name, _grid(shape, 1, open), _one(name, coupling), field, p, _seed(name, seed))
    _left_out(name, p=p, seed=seed, sites=sites)
    n_cell, products = _CELLS[name]
    grid = _grid(shape, n_cell, open)
    options = _options(
        shape=list(grid.shape), coupling=_plain(coupling), open=any(grid.open) and list(grid.open)
    )
    options |= _field_option(field)
    cell = products(len(grid.shape), _couplings(coupling))
    return Hamiltonian.of_cells(name, grid, cell, checked_field(field, grid.n_sites), options)


def _left_out(name: str, **options: Any) -> None:
    """Refuses options that would change nothing."""
    for option, value in options.items():
        if value is not None and value is not False:
            raise InputError(option, value, f"left out for {name!r}, where it means nothing")


def _couplings(coupling: float | Sequence[float]) -> Couplings:
    values = tuple(_numbers("coupling", coupling).reshape(-1).tolist())
    if not values or not are_finite(values):
        raise InputError("coupling", coupling, f"{FINITE}, or several")
    return values


def _one(name: str, coupling: float | Sequence[float]) -> float:
    values = _couplings(coupling)
    if len(values) != 1:
        raise InputError("coupling", coupling, f"one number for {name!r}")
    return values[0]


def _each(what: str, couplings: Couplings, n: int) -> Couplings:
    """One coupling for each of n, from one or n."""
    if len(couplings) not in (1, n):
        raise InputError("coupling", couplings, f"one number, or {n}: one for each {what}")
    return couplings * n if len(couplings) == 1 else couplings


def _hypercubic(dimension: int, couplings: Couplings) -> list[Product]:
    each = _each("axis", couplings, dimension)
    return [bond(0, 0, step, J) for step, J in zip(steps(dimension), each, strict=True)]


def _of_dimension(
    wanted: int, cell: Callable[[int, Couplings], list[Product]]
) -> Callable[..., list[Product]]:
    def products(dimension: int, couplings: Couplings) -> list[Product]:
        if dimension != wanted:
            raise InputError("shape", f"{dimension} sides", f"a shape of {wanted} sides")
        return cell(dimension, couplings)

    return products


def _triangular(_: int, couplings: Couplings) -> list[Product]:
    directions: tuple[Offset, ...] = ((1, 0), (0, 1), (1, 1))
    each = _each("direction", couplings, 3)
    return [bond(0, 0, step, J) for step, J in zip(directions, each, strict=True)]


def _honeycomb(_: int, couplings: Couplings) -> list[Product]:
    each = _each("direction", couplings, 3)
    ways: tuple[Offset, ...] = ((0, 0), (-1, 0), (0, -1))
    return [bond(0, 1, way, J) for way, J in zip(ways, each, strict=True)]


def _kagome(_: int, couplings: Couplings) -> list[Product]:
    """Corner-sharing triangles: sites halfway along the three directions of the triangular lattice."""
    J = _each("direction", couplings, 3)
    within = [bond(0, 1, (0, 0), J[0]), bond(0, 2, (0, 0), J[1]), bond(1, 2, (0, 0), J[2])]
    between = [bond(0, 1, (-1, 0), J[0]), bond(0, 2, (0, -1), J[1]), bond(1, 2, (1, -1), J[2])]
    return within + between


def _shells(dimension: int, couplings: Couplings) -> list[Product]:
    """Neighbours of the square lattice at distance 1, sqrt 2 and 2."""
    if len(couplings) not in (2, 3):
        raise InputError(
            "coupling", couplings, "two or three numbers, one for each shell", "for example (1, 0.5)"
        )
    shells: tuple[tuple[Offset, ...], ...] = (((1, 0), (0, 1)), ((1, 1), (1, -1)), ((2, 0), (0, 2)))
    return [bond(0, 0, step, J) for shell, J in zip(shells, couplings, strict=False) for step in shell]


def _baxter_wu(_: int, couplings: Couplings) -> list[Product]:
    """Three spins around every triangle of the triangular lattice, those that point up and down."""
    up, down = _each("kind of triangle", couplings, 2)
    corners = ((0, (0, 0)), (0, (1, 1)))
    return [Product((*corners, (0, (1, 0))), up), Product((*corners, (0, (0, 1))), down)]


def _plaquette(dimension: int, couplings: Couplings) -> list[Product]:
    """Four spins around every square face."""
    if dimension < 2:
        raise InputError("shape", f"{dimension} sides", "a shape of two or more sides")
    faces = list(combinations(steps(dimension), 2))
    products = []
    for (a, b), J in zip(faces, _each("plane", couplings, len(faces)), strict=True):
        corners = ((0,) * dimension, a, b, tuple(x + y for x, y in zip(a, b, strict=True)))
        products.append(Product(tuple((0, corner) for corner in corners), J))
    return products


_CELLS: dict[str, tuple[int, Callable[[int, Couplings], list[Product]]]] = {
    "chain": (1, _of_dimension(1, _hypercubic)),
    "square": (1, _of_dimension(2, _hypercubic)),
    "cubic": (1, _of_dimension(3, _hypercubic)),
    "hypercubic": (1, _hypercubic),
    "triangular": (1, _of_dimension(2, _triangular)),
    "honeycomb": (2, _of_dimension(2, _honeycomb)),
    "kagome": (3, _of_dimension(2, _kagome)),
    "j1j2": (1, _of_dimension(2, _shells)),
    "baxter-wu": (1, _of_dimension(2, _baxter_wu)),
    "plaquette": (1, _plaquette),
}
_DISORDERED = ("pm-j", "gaussian")
NAMES = (*_CELLS, *_DISORDERED, "sk")


def _disordered(
    name: str, grid: Grid, J: float, field: float | ArrayLike, p: float | None, seed: int
) -> Hamiltonian:
    """Nearest neighbours of a hypercubic lattice: J times +-1 ("pm-j") or normal numbers ("gaussian")."""
    rng = np.random.default_rng(seed)
    bare = [bond(0, 0, step, 1.0) for step in steps(len(grid.shape))]
    sites = np.concatenate([part.sites for part in grid.expand(bare)])
    if name == "pm-j":
        share = 0.5 if p is None else p
        if not isinstance(share, int | float | np.number) or not 0 <= float(share) <= 1:
            raise InputError("p", p, "the share of ferromagnetic bonds, in [0, 1]")
        factors = np.where(rng.random(len(sites)) < float(share), 1.0, -1.0)
    else:
        _left_out(name, p=p)
        share, factors = None, rng.standard_normal(len(sites))
    terms = merged([Terms(sites, J * factors)])
    options = _options(shape=list(grid.shape), coupling=J, p=share, seed=seed)
    options |= _options(open=any(grid.open) and list(grid.open)) | _field_option(field)
    return Hamiltonian(name, terms, checked_field(field, grid.n_sites), grid, None, options)


def _sherrington_kirkpatrick(shape: Any, J: float, field: float | ArrayLike, seed: int) -> Hamiltonian:
    """Every pair of N spins, with independent normal couplings of variance J^2 / N."""
    if shape is None:
        raise InputError("shape", shape, "the number of spins", "for example 256")
    n_sites = Lattice(shape).n_sites
    first, second = np.triu_indices(n_sites, 1)
    values = np.random.default_rng(seed).standard_normal(len(first)) * J / math.sqrt(n_sites)
    terms = merged([Terms(np.stack([first, second], axis=1).astype(np.int64), values)])
    options = _options(shape=n_sites, coupling=J, seed=seed) | _field_option(field)
    return Hamiltonian("sk", terms, checked_field(field, n_sites), None, None, options)


def _custom(
    name: str | None,
    shape: Any,
    coupling: float | Sequence[float],
    field: float | ArrayLike,
    graph: Any,
    bonds: Iterable[Sequence[Any]] | None,
    sites: int | None,
    open: bool | Sequence[bool],
) -> Hamiltonian:
    if graph is not None and bonds is not None:
        raise InputError("graph and bonds", "both", "one of them")
    label, J = name or "custom", _one("a graph or bonds", coupling)
    if shape is not None and bonds is not None:
        grid = _grid(shape, 1 if sites is None else sites, open)
        products = of_cell_bonds(bonds, grid, J)
        return Hamiltonian.of_cells(
            label, grid, products, checked_field(field, grid.n_sites), _field_option(field)
        )
    if graph is None:
        _left_out("bonds without a shape", open=open)
        terms, n_sites = of_bonds(bonds or (), J, sites)
    else:
        _left_out("a graph", shape=shape, sites=sites, open=open)
        terms, n_sites = of_graph(graph, J)
    return Hamiltonian(label, terms, checked_field(field, n_sites), None, None, _field_option(field))


def _grid(shape: Sequence[int] | int, n_cell: int, open: bool | Sequence[bool]) -> Grid:
    sides = Lattice(shape).shape
    edges = tuple(open) if isinstance(open, Iterable) else (open,) * len(sides)
    if len(edges) != len(sides) or not all(isinstance(edge, bool | np.bool_) for edge in edges):
        raise InputError("open", open, f"True, False or {len(sides)} of them, one for each axis")
    if isinstance(n_cell, bool) or not isinstance(n_cell, int) or n_cell < 1:
        raise InputError("sites", n_cell, "a whole number >= 1")
    return Grid(sides, n_cell, tuple(bool(edge) for edge in edges))


def checked_field(field: float | ArrayLike, n_sites: int) -> NDArray[np.float64]:
    """(n_sites,) from one number or one for each site."""
    values = _numbers("field", field)
    if values.shape not in ((), (n_sites,)):
        raise InputError("field", values.shape, f"one number, or one for each of the {n_sites} sites")
    if not are_finite(values):
        raise InputError("field", field, f"finite, at most {LARGEST:g}")
    return np.broadcast_to(values, (n_sites,)).copy()


def _seed(name: str, seed: int | None) -> int:
    if seed is None:
        return 0
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError("seed", seed, f"a whole number >= 0 for {name!r}")
    return int(seed)


def _plain(coupling: float | Sequence[float]) -> float | list[float]:
    values = _couplings(coupling)
    return values[0] if len(values) == 1 else list(values)


def _field_option(field: float | ArrayLike) -> dict[str, Any]:
    values = _numbers("field", field)
    return {} if not values.any() else {"field": values.tolist()}


def _numbers(name: str, value: ArrayLike) -> NDArray[np.float64]:
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):  # words, or rows of different lengths
        raise InputError(name, value, "a finite number, or several") from None


def _options(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None and value is not False}
