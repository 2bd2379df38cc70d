"""Hamiltonians that a study names: keys of a family in TOML, parameters of its tasks, and H itself.

A family without these keys is the ferromagnet of its shape with J = 1, whose tasks name none.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np

from thermorbm.errors import InputError
from thermorbm.hamiltonians import Hamiltonian, as_hamiltonian, hamiltonian
from thermorbm.hamiltonians.cells import Product
from thermorbm.lattice import Lattice

HYPERCUBIC = {1: "chain", 2: "square", 3: "cubic"}
# What the library calls the keys of a family.
KEYS = {"hamiltonian": "lattice", "seed": "disorder_seed", "lattice shape": "shape", "lattice side": "shape"}
Bond = tuple[Any, ...]
Step = tuple[int, ...]  # from one cell to another, along each axis


@dataclass(frozen=True)
class NamedHamiltonian:
    """The keys of a family that say its Hamiltonian; their names are those of the command line.

    lattice: a name of `tr.hamiltonian`, hypercubic by default. coupling: J, or one per axis, direction or
    shell. p, disorder_seed: the realisation of disorder. open: axes with edges. bonds, sites: any other
    model, as in `tr.hamiltonian`.
    """

    lattice: str | None = None
    coupling: tuple[float, ...] = (1.0,)
    field: float = 0.0
    p: float | None = None
    disorder_seed: int | None = None
    open: tuple[int, ...] = ()
    bonds: tuple[Bond, ...] = ()
    sites: int | None = None

    @property
    def name(self) -> str:
        return self.lattice or ("custom" if self.bonds else "hypercubic")

    @classmethod
    def from_parameters(cls, parameters: Mapping[str, Any]) -> NamedHamiltonian:
        lists = {key: tuple(value) for key, value in parameters.items() if isinstance(value, list)}
        return cls(**{**parameters, **lists})

    @property
    def parameters(self) -> dict[str, Any]:
        """Of a task: plain values, without what is at its default."""
        given = {item.name: (getattr(self, item.name), item.default) for item in fields(self)}
        return {name: _plain(value) for name, (value, default) in given.items() if value != default}

    def of(self, shape: Sequence[int] | None) -> Hamiltonian:
        """H on that many cells; InputError under the name of the key."""
        try:
            return self._of(shape)
        except InputError as error:
            key = KEYS.get(error.name, error.name)
            raise InputError(key, error.got, error.wanted, error.remedy) from error

    def _of(self, shape: Sequence[int] | None) -> Hamiltonian:
        coupling = self.coupling[0] if len(self.coupling) == 1 else self.coupling
        if self.bonds:
            return hamiltonian(
                self.lattice, shape, coupling, self.field, bonds=self.bonds, sites=self.sites,
                open=shape is not None and self._edges(shape),
            )  # fmt: skip
        if shape is None:
            raise InputError("shape", None, "the sides of the lattice in cells", "for example [24, 24]")
        name = self.lattice or HYPERCUBIC.get(len(shape), "hypercubic")
        return hamiltonian(
            name, shape[0] if name == "sk" and len(shape) == 1 else shape, coupling, self.field,
            p=self.p, seed=self.disorder_seed, sites=self.sites, open=self._edges(shape),
        )  # fmt: skip

    def _edges(self, shape: Sequence[int]) -> bool | list[bool]:
        for axis in self.open:
            if not 0 <= axis < len(shape):
                raise InputError("open", list(self.open), f"axes from 0 to {len(shape) - 1}")
        return bool(self.open) and [axis in self.open for axis in range(len(shape))]


def _plain(value: Any) -> Any:
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def hamiltonian_of(parameters: Mapping[str, Any]) -> Hamiltonian | None:
    """H that the parameters of a task name; a shape alone stands for its ferromagnet, nothing for none."""
    if "named" in parameters:
        return NamedHamiltonian.from_parameters(parameters["named"]).of(parameters["shape"])
    shape = parameters["shape"]
    return None if shape is None else as_hamiltonian(Lattice(shape))


def n_sites_of(parameters: Mapping[str, Any]) -> int:
    """Spins of a configuration that a task with these parameters makes."""
    model = hamiltonian_of(parameters) if "named" in parameters else None
    return math.prod(parameters["shape"]) if model is None else model.n_sites


def infinite_critical_temperature(
    named: NamedHamiltonian | None, shape: Sequence[int] | None
) -> float | None:
    """T_c of the infinite lattice; without a named Hamiltonian that of the ferromagnet. None if not known."""
    from thermorbm.exact import TC_2D, TC_3D, critical_temperature

    if named is not None:
        return critical_temperature(named.of(shape))
    return {2: TC_2D, 3: TC_3D}.get(len(shape or ()))


def is_plain(model: Hamiltonian) -> bool:
    """Whether it is the ferromagnet of a periodic hypercubic lattice with J = 1."""
    return model.plain is not None and model.plain[1] == 1


def described(model: Hamiltonian) -> str:
    """In a few words: triangular 24x24, coupling -1."""
    where = "x".join(map(str, model.grid.shape)) if model.grid else f"{model.n_sites} sites"
    shown = {key: value for key, value in model.options.items() if key != "shape" and np.size(value) < 5}
    return ", ".join([f"{model.name} {where}", *(f"{key} {_said(value)}" for key, value in shown.items())])


def _said(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"({', '.join(map(_said, value))})"
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def bond_label(pair: Product, model: Hamiltonian) -> tuple[int, ...]:
    """The displacement of a bond, after its two sites where cells have several; as of learned couplings."""
    from thermorbm.observables.interactions import Interactions
    from thermorbm.reading.machine import flat_label

    assert model.grid is not None
    n_cell = model.grid.n_cell
    places = [(*step, site) if n_cell > 1 else step for site, step in pair.points]
    return flat_label(Interactions(model.grid.shape, {}, 0.0, n_cell).label(*places))


def has_square_symmetry(model: Hamiltonian) -> bool:
    """Whether turns and reflections of the square, or cube, leave all products of a cell as they are."""
    if model.grid is None or model.grid.n_cell > 1 or len(set(model.grid.shape)) > 1:
        return False

    def couplings(moved: Callable[[Step], Step]) -> dict[tuple[Step, ...], float]:
        """J by the places of a product after a move, as offsets from the lowest of them."""
        totals: dict[tuple[Step, ...], float] = {}
        for product in model.products or ():
            lowest, *others = sorted(moved(step) for _, step in product.points)
            place = tuple(tuple(np.subtract(step, lowest).tolist()) for step in others)
            totals[place] = totals.get(place, 0.0) + product.coupling
        return totals

    axes = range(len(model.grid.shape))
    # Reflections along every axis, and exchanges of every axis with the first, generate all others.
    moves = [partial(move, axis=axis) for axis in axes for move in (_reflected, _exchanged)]
    return all(couplings(move) == couplings(lambda step: step) for move in moves)


def _reflected(step: Step, axis: int) -> Step:
    return tuple(-x if a == axis else x for a, x in enumerate(step))


def _exchanged(step: Step, axis: int) -> Step:
    return (step[axis], *step[1:axis], step[0], *step[axis + 1 :]) if axis else step
