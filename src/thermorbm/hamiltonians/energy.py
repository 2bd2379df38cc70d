"""The Hamiltonian of two-state spins,

    H = -sum_t J_t prod_{i in t} s_i - sum_i h_i s_i,

products of two to four spins with any couplings, on any graph. Everything that depends on a coupling asks it:
samplers, exact results, pseudo-entropies.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field as value, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.errors import InputError
from thermorbm.hamiltonians import signs
from thermorbm.hamiltonians.cells import Grid, Product, bond, steps
from thermorbm.hamiltonians.terms import Terms, are_finite, checked_terms, merged
from thermorbm.lattice import Lattice
from thermorbm.shown import html_table

# Products of spins are formed for about this many terms of all configurations at once.
_BLOCK_PRODUCTS = 1 << 22
# Of a Hamiltonian in a file: so many terms, or so many for each site.
MOST_TERMS, MOST_TERMS_PER_SITE = 1 << 25, 16


@dataclass(frozen=True, eq=False, repr=False)
class Hamiltonian:
    """H = -sum_t J_t prod s - sum_i h_i s_i; energies are in the unit of the couplings, k_B = 1.

    terms: one entry per number of spins in a product. field: (n_sites,). grid: cells and sites per cell, None
    where the sites lie on no lattice. products: what every cell has, None where couplings differ from cell to
    cell. options: as it was asked for, JSON-able.
    """

    name: str
    terms: tuple[Terms, ...]
    field: NDArray[np.float64]
    grid: Grid | None = None
    products: tuple[Product, ...] | None = None
    options: Mapping[str, Any] = value(default_factory=dict)

    def __post_init__(self) -> None:
        self.field.flags.writeable = False

    def __repr__(self) -> str:
        where = "x".join(map(str, self.grid.shape)) if self.grid else f"{self.n_sites} sites"
        shown = {key: value for key, value in self.options.items() if key != "shape" and np.size(value) < 5}
        said = ", ".join(f"{key} {value}" for key, value in shown.items())
        return f"Hamiltonian({self.name} {where}{', ' if said else ''}{said})"

    def _repr_html_(self) -> str:
        numbers = {f"products of {terms.order} spins": len(terms) for terms in self.terms}
        options = {key: value for key, value in self.options.items() if np.size(value) < 5}
        facts = {**options, "sites": self.n_sites, **numbers, "field": self.has_field}
        return html_table(f"Hamiltonian: {self.name}", {**facts, "frustrated": self.frustrated})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hamiltonian) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)

    @cached_property
    def _digest(self) -> bytes:
        digest = hashlib.sha256(repr((self.grid, self.n_sites)).encode())
        for array in (self.field, *(a for terms in self.terms for a in (terms.sites, terms.couplings))):
            digest.update(repr(array.shape).encode() + array.tobytes())
        return digest.digest()

    @classmethod
    def of_cells(
        cls,
        name: str,
        grid: Grid,
        products: Iterable[Product],
        field: float | NDArray[np.float64] = 0.0,
        options: Mapping[str, Any] | None = None,
    ) -> Hamiltonian:
        """The same products in every cell; field: one number, or one for every site."""
        repeated = tuple(products)
        values = np.broadcast_to(np.asarray(field, np.float64), (grid.n_sites,)).copy()
        return cls(name, merged(grid.expand(repeated)), values, grid, repeated, options or {})

    @property
    def n_sites(self) -> int:
        """Number of spins."""
        return len(self.field)

    @property
    def lattice(self) -> Lattice | None:
        """The lattice of the sites, None with several sites per cell; of open edges it has only the shape."""
        return Lattice(self.grid.shape) if self.grid is not None and self.grid.n_cell == 1 else None

    @property
    def uniform(self) -> bool:
        """Whether all cells of a periodic lattice are alike."""
        periodic = self.grid is not None and not any(self.grid.open)
        return periodic and self.products is not None and bool((self.field == self.field[:1]).all())

    @property
    def largest_order(self) -> int:
        """The largest number of spins in one product."""
        return max((terms.order for terms in self.terms), default=1)

    @property
    def has_field(self) -> bool:
        """Whether any site is in a field."""
        return bool(self.field.any())

    @cached_property
    def integral(self) -> bool:
        """Whether all couplings are whole numbers, so that energies are."""
        parts = [self.field, *(terms.couplings for terms in self.terms)]
        return all(bool((part == np.rint(part)).all()) for part in parts)

    @cached_property
    def plain(self) -> tuple[Lattice, float] | None:
        """(lattice, J) where this is the nearest-neighbour model of a periodic hypercubic lattice."""
        if self.lattice is None or not self.uniform or self.has_field or len(self.terms) != 1:
            return None
        lattice, terms = self.lattice, self.terms[0]
        coupling = float(terms.couplings[0])
        if terms.order != 2 or len(terms) != lattice.n_bonds or (terms.couplings != coupling).any():
            return None
        ferromagnet = as_hamiltonian(lattice).terms[0].sites
        if not np.array_equal(_in_order(terms.sites), _in_order(ferromagnet)):
            return None
        return lattice, coupling

    @cached_property
    def ground_state(self) -> NDArray[np.int8] | None:
        """(n_sites,) of +-1 that satisfies every term and the field, or None: then H is frustrated."""
        return signs.satisfying_spins(self.terms, self.field, self.grid)

    @property
    def frustrated(self) -> bool:
        """Whether no configuration satisfies every term."""
        return self.ground_state is None

    @property
    def no_clusters(self) -> str:
        """Why whole clusters of spins cannot be moved at once; empty where they can."""
        if self.largest_order > 2:
            return "clusters are not offered for products of three or four spins"
        if self.has_field:
            return "clusters in a field would need a ghost spin, which is not offered"
        if self.frustrated:
            return "on a frustrated lattice clusters percolate far above any order and move nothing"
        return ""

    @cached_property
    def bipartite(self) -> bool:
        """Whether the sites fall into two sublattices with all bonds between them; pairs alone."""
        pairs = tuple(Terms(t.sites, -np.ones(len(t))) for t in self.terms)
        return self.largest_order <= 2 and signs.satisfying_pairs(pairs, self.n_sites) is not None

    @cached_property
    def symmetries(self) -> NDArray[np.int8]:
        """(n, n_sites) of +-1: flipping the spins where a row is -1 leaves H as it is.

        The global flip, planes of the lattice, one of two and two of three sublattices are looked for.
        Products of rows are symmetries too. The first row is the global flip where H has it.
        """
        return signs.flip_symmetries(self.terms, self.field, self.grid)

    @property
    def has_global_flip(self) -> bool:
        """Whether turning all spins leaves the energy as it is."""
        return not self.has_field and all(terms.order % 2 == 0 for terms in self.terms)

    @cached_property
    def scale(self) -> NDArray[np.float64]:
        """(n_sites,): sum of |J| over the terms of each site, and |h|."""
        sums = np.abs(self.field)
        for terms in self.terms:
            np.add.at(sums, terms.sites, np.abs(terms.couplings)[:, None])
        return sums

    def gauged(self, spins: NDArray[np.int8]) -> Hamiltonian:
        """The same model in the variables s_i spins_i. spins: (n_sites,) of +-1."""
        row = spins[None].astype(np.float64)
        terms = tuple(Terms(part.sites, part.products(row)[0]) for part in self.terms)
        same = all((a.couplings == b.couplings).all() for a, b in zip(terms, self.terms, strict=True))
        products = self.products if same else self._gauged_products(terms)
        return Hamiltonian(self.name, terms, self.field * spins, self.grid, products, self.options)

    def _gauged_products(self, terms: tuple[Terms, ...]) -> tuple[Product, ...] | None:
        """With |J|, where that makes the terms; None where they differ from cell to cell."""
        if self.products is None or any((part.couplings < 0).any() for part in terms):
            return None
        return tuple(replace(product, coupling=abs(product.coupling)) for product in self.products)

    def energy(self, v: ArrayLike) -> NDArray[Any]:
        """Total energy of each configuration. v: (n, n_sites) of +-1 -> (n,), int64 if J and h are whole."""
        if self.plain is not None and self.integral:
            lattice, coupling = self.plain
            return int(coupling) * lattice.energy(v)
        totals = np.concatenate([self._energy(block) for block in self._blocks(v)])
        return np.rint(totals).astype(np.int64) if self.integral else totals

    def flip_costs(self, v: ArrayLike) -> NDArray[np.float64]:
        """Energy to flip each spin alone. (n, n_sites) -> (n, n_sites)."""
        return np.concatenate([self._flip_costs(block) for block in self._blocks(v)])

    def local_fields(self, v: ArrayLike) -> NDArray[np.float64]:
        """-dH/ds_i of each spin: the field of its neighbours and its own. (n, n_sites) -> (n, n_sites)."""
        return np.asarray(self.flip_costs(v) * np.asarray(v).reshape(-1, self.n_sites) / 2)

    def pseudo_entropy(self, v: ArrayLike, temperature: float) -> NDArray[np.float64]:
        """-sum_i ln p_T(s_i | rest) of each configuration, total in nats. (n, n_sites) -> (n,)."""
        if not isinstance(temperature, int | float | np.number) or not 0 < float(temperature) < math.inf:
            raise InputError("temperature", temperature, "a finite number > 0")
        blocks = [self._flip_costs(block) for block in self._blocks(v)]
        return np.concatenate([np.logaddexp(0, -costs / float(temperature)).sum(axis=1) for costs in blocks])

    def magnetization(self, v: ArrayLike) -> NDArray[np.float64]:
        """Magnetisation per spin. (n, n_sites) -> (n,)."""
        blocks = [block.sum(axis=1, dtype=np.int64) for block in self._blocks(v)]
        return np.concatenate(blocks) / self.n_sites

    def _energy(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        total = -(v @ self.field)
        for terms in self.terms:
            total -= terms.products(v).sum(axis=1)
        return np.asarray(total)

    def _flip_costs(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        sums = v * self.field
        for terms in self.terms:
            terms.add_local(v, sums)
        return np.asarray(2 * sums)

    def _blocks(self, v: ArrayLike) -> Iterator[NDArray[np.float64]]:
        """Checked configurations as float64, (at most n, n_sites) at a time; at least one block."""
        spins = np.asarray(v)
        if spins.ndim > 2 and math.prod(spins.shape[1:]) == self.n_sites:
            spins = spins.reshape(-1, self.n_sites)
        if spins.ndim not in (1, 2) or spins.shape[-1] != self.n_sites:
            wanted = f"an array of shape (n, {self.n_sites})"
            remedy = f"its cells have {self.grid.n_cell} sites" if self.grid and self.grid.n_cell > 1 else ""
            raise InputError("configurations", spins.shape, wanted, remedy)
        spins = spins.reshape(-1, self.n_sites)
        n_rows = max(1, _BLOCK_PRODUCTS // max([self.n_sites, *map(len, self.terms)]))
        for start in range(0, max(1, len(spins)), n_rows):
            block = spins[start : start + n_rows]
            if block.dtype.kind not in "biuf":
                raise InputError("spins", block.dtype.name, "an array of numbers +1 and -1")
            wrong = (block != 1) & (block != -1)
            if wrong.any():
                raise InputError("spins", block[wrong][0].item(), "+1 or -1")
            yield block.astype(np.float64)

    def to_dict(self) -> dict[str, Any]:
        """Plain values from which `from_dict` makes it again, couplings and all."""
        grid, products = self.grid, self.products
        return {
            "name": self.name,
            "n_sites": self.n_sites,
            "grid": None if grid is None else asdict(grid),
            "products": None if products is None else [asdict(product) for product in products],
            "terms": [_compact(terms) for terms in self.terms] if products is None else None,
            "field": _one_or_all(self.field),
            "options": dict(self.options),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any], n_sites: int) -> Hamiltonian:
        """The inverse of `to_dict`; InputError if it is no such table, or none of so many sites.

        It comes from a file that somebody may have forged: a few bytes may name any size, and compiled
        kernels go to the sites that it names without asking.
        """
        try:
            if stored["n_sites"] != n_sites:
                raise InputError("hamiltonian", f"{stored['n_sites']!r:.40} sites", f"one of {n_sites} sites")
            made = cls._made(stored, n_sites)
            for terms in made.terms:
                checked_terms(terms.order, terms.sites, terms.couplings, n_sites)
        except InputError:
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise InputError("hamiltonian", error, "as it was written", "make the file again") from error
        if not are_finite(made.field):
            raise InputError("field", "one that is not", "finite")
        return made

    @classmethod
    def _made(cls, stored: Mapping[str, Any], n_sites: int) -> Hamiltonian:
        name, options = str(stored["name"]), dict(stored["options"])
        values = np.broadcast_to(np.asarray(stored["field"], dtype=np.float64), (n_sites,)).copy()
        grid = None if stored["grid"] is None else Grid.from_dict(stored["grid"])
        if grid is not None and grid.n_sites != n_sites:
            raise InputError("n_sites", n_sites, f"{grid.n_sites}, that of the lattice")
        if grid is not None and stored["products"] is not None:
            if len(stored["products"]) > max(MOST_TERMS // n_sites, MOST_TERMS_PER_SITE):
                raise InputError("products", len(stored["products"]), f"fewer for {n_sites} sites")
            products = [Product.from_dict(item) for item in stored["products"]]
            return cls.of_cells(name, grid, products, values, options)
        terms = merged(_expanded(item, n_sites) for item in stored["terms"])
        return cls(name, terms, values, grid, None, options)


def as_hamiltonian(model: Hamiltonian | Lattice | Sequence[int] | int) -> Hamiltonian:
    """The Hamiltonian itself; a lattice, or its sides, stands for its ferromagnet with J = 1."""
    if isinstance(model, Hamiltonian):
        return model
    if isinstance(model, int | tuple | list) and not isinstance(model, bool):
        model = Lattice(model)
    if not isinstance(model, Lattice):
        wanted = "a Hamiltonian, a Lattice, or sides such as (8, 8)"
        raise InputError("hamiltonian", model, wanted, "make one with tr.hamiltonian")
    grid = Grid(model.shape, 1, (False,) * model.dimension)
    name = {1: "chain", 2: "square", 3: "cubic"}.get(model.dimension, "hypercubic")
    options = {"shape": list(model.shape)}
    bonds = [bond(0, 0, step, 1.0) for step in steps(model.dimension)]
    return Hamiltonian.of_cells(name, grid, bonds, options=options)


def _in_order(sites: NDArray[np.int64]) -> NDArray[np.int64]:
    ordered = np.sort(sites, axis=1)
    return ordered[np.lexsort(ordered.T)]


def _one_or_all(values: NDArray[np.float64]) -> float | list[float]:
    same = len(values) and bool((values == values[0]).all())
    return float(values[0]) if same else values.tolist()


def _compact(terms: Terms) -> dict[str, Any]:
    return {"order": terms.order, "sites": terms.sites.tolist(), "couplings": _one_or_all(terms.couplings)}


def _expanded(item: Mapping[str, Any], n_sites: int) -> Terms:
    sites = np.asarray(item["sites"], dtype=np.int64).reshape(-1, int(item["order"]))
    couplings = np.broadcast_to(np.asarray(item["couplings"], dtype=np.float64), (len(sites),))
    return checked_terms(int(item["order"]), sites, couplings, n_sites)
