"""Which machine is to be trained: its size, its start, and the machine from its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from numpy.random import SeedSequence
from numpy.typing import NDArray

from thermorbm.checks import whole_number
from thermorbm.dataset import Dataset
from thermorbm.errors import InputError, unknown_name
from thermorbm.hamiltonians.cells import Grid
from thermorbm.inverse_ising import grid_of
from thermorbm.model import RBM, Machine, SymmetricRBM
from thermorbm.model.windows import window_images
from thermorbm.training.dense import DenseLayers
from thermorbm.training.devices import choose_precision
from thermorbm.training.integer import IntegerLayers
from thermorbm.training.layers import TensorLayers
from thermorbm.training.order import Order
from thermorbm.training.recipe import RECIPES, Recipe
from thermorbm.training.start import glorot_normal, ordered_units, pair_start, small_filters
from thermorbm.training.symmetric import symmetric_layers

Arrays = dict[str, NDArray[Any]]

MODELS = ("dense", "symmetric")


SYMMETRIC_RECIPES = {
    "paper": RECIPES["paper"],
    "fast": Recipe(
        "fast",
        learning_rate=0.2,
        epochs=1,
        least_updates=800,
        batch_size=64,
        gibbs_steps=1,
        persistent_from=0.4,
        chain_life=100,
        natural=True,
        schedule="harmonic",
        final_learning_rate=0.005,
    ),
}


class Design(Protocol):
    """One kind of machine before it has parameters."""

    @property
    def n_hidden(self) -> int: ...

    @property
    def recipes(self) -> Mapping[str, Recipe]:
        """What the names of recipes stand for."""

    @property
    def record_every(self) -> int:
        """Updates between two records, at most."""

    @property
    def n_recorded(self) -> int:
        """Configurations that a record scores, at most."""

    def check(self, recipe: Recipe) -> None:
        """Refuses a recipe that does not suit this kind of machine."""

    def layers(
        self, seed: SeedSequence, device: torch.device, dtype: torch.dtype, order: Order | None
    ) -> TensorLayers:
        """Where training starts, on a device; order: that of the data, if some units are to carry it."""

    def precision(self, name: str, device: torch.device) -> torch.dtype:
        """The type that the name of a precision stands for."""

    def machine(self, arrays: Arrays, provenance: dict[str, Any] | None) -> Machine:
        """The machine of these parameters."""

    def identity(self) -> dict[str, Any]:
        """The values by which this design differs from others."""


@dataclass(frozen=True)
class DenseDesign:
    """The paper's machine. shape: of the lattice of its visible units, if there is one."""

    n_hidden: int
    n_visible: int
    shape: tuple[int, ...] | None = None

    recipes = RECIPES
    record_every = 1 << 30
    n_recorded = 48

    def check(self, recipe: Recipe) -> None:
        if recipe.natural:
            raise InputError("natural", True, "False for a dense machine", "it has too many parameters")

    def layers(
        self, seed: SeedSequence, device: torch.device, dtype: torch.dtype, order: Order | None
    ) -> TensorLayers:
        if order is None:
            start, n_exact = glorot_normal(self.n_hidden, self.n_visible, seed), 0
        else:
            start = ordered_units(self.n_hidden, order, self.shape, seed)
            n_exact = order.n_carriers if start["c"].any() else 0
        if dtype == torch.int8:
            return IntegerLayers(start, device, dtype)
        return DenseLayers(start, device, dtype, n_exact)

    def precision(self, name: str, device: torch.device) -> torch.dtype:
        return choose_precision(name, device)

    def machine(self, arrays: Arrays, provenance: dict[str, Any] | None) -> RBM:
        return RBM(**arrays, provenance=provenance)

    def identity(self) -> dict[str, Any]:
        return {"n_hidden": self.n_hidden}


@dataclass(frozen=True)
class SymmetricDesign:
    """Filters of side `kernel` on a periodic lattice of sides `shape`.

    point_group: each filter is there in all its turns and reflections. data: what the start is inferred from;
    None for random filters. n_cell: sites of a cell, of which `shape` counts cells. filters_given: whether
    their number was asked for.
    """

    n_filters: int
    kernel: int
    shape: tuple[int, ...]
    point_group: bool = False
    data: Dataset | None = field(default=None, compare=False, repr=False)
    n_cell: int = 1
    filters_given: bool = field(default=True, compare=False, repr=False)

    recipes = SYMMETRIC_RECIPES
    record_every = 25
    n_recorded = 32  # of many sites that are all alike

    def check(self, recipe: Recipe) -> None:
        for name in ("modes", "sparsity"):
            if getattr(recipe, name):
                raise InputError(name, getattr(recipe, name), "0 for a symmetric machine")
        if recipe.start != "glorot":
            raise InputError("start", recipe.start, "glorot for a symmetric machine")

    @property
    def n_hidden(self) -> int:
        return self.n_filters * self.n_images * int(np.prod(self.shape))

    @property
    def n_images(self) -> int:
        return len(window_images(self.kernel, len(self.shape))) if self.point_group else 1

    def layers(
        self, seed: SeedSequence, device: torch.device, dtype: torch.dtype, order: Order | None
    ) -> TensorLayers:
        if self.data is not None and not self.point_group:
            start_ = pair_start(self.data, self.n_filters, self.window, seed)
            return symmetric_layers(start_, self.shape, device)
        filters = small_filters(self.n_filters, self.n_images, self.window, seed)
        images = window_images(self.kernel, len(self.shape)) if self.point_group else None
        return symmetric_layers(filters, self.shape, device, images)

    def precision(self, name: str, device: torch.device) -> torch.dtype:
        if name not in ("auto", "fp32"):
            raise InputError("precision", name, "auto or fp32 for a symmetric machine")
        return torch.float32

    def machine(self, arrays: Arrays, provenance: dict[str, Any] | None) -> SymmetricRBM:
        return SymmetricRBM(shape=self.shape, provenance=provenance, n_cell=self.n_cell, **arrays)

    def identity(self) -> dict[str, Any]:
        return {
            "model": "symmetric",
            "filters": self.n_filters,
            "kernel": self.kernel,
            "n_hidden": self.n_hidden,
            **({"point_group": True} if self.point_group else {}),
        }

    @property
    def window(self) -> tuple[int, ...]:
        """Sides of the filters; sites of a cell are one side more."""
        sides = (self.kernel,) * len(self.shape)
        return sides if self.n_cell == 1 else (*sides, self.n_cell)

    @property
    def grid(self) -> Grid:
        return Grid(self.shape, self.n_cell, (False,) * len(self.shape))


def choose_design(
    data: Dataset,
    model: str,
    n_hidden: int | None,
    filters: int | None,
    kernel: int | None,
    point_group: bool = False,
) -> DenseDesign | SymmetricDesign:
    """n_hidden belongs to dense machines, the rest to symmetric ones; None for their defaults."""
    if model not in MODELS:
        raise unknown_name("model", model, MODELS)
    if model == "dense":
        for name, value in (("filters", filters), ("kernel", kernel), ("point_group", point_group or None)):
            if value is not None:
                raise InputError(name, value, "left out for a dense machine", "or choose model='symmetric'")
        shape = data.lattice.shape if data.lattice else None
        number = whole_number("n_hidden", 400 if n_hidden is None else n_hidden, 1)
        return DenseDesign(number, data.n_sites, shape)
    if n_hidden is not None:
        raise InputError("n_hidden", n_hidden, "left out for a symmetric machine")
    return _symmetric(data, filters, kernel, point_group)


def _symmetric(data: Dataset, filters: int | None, kernel: int | None, point_group: bool) -> SymmetricDesign:
    if data.hamiltonian is not None and not data.hamiltonian.uniform:
        remedy = "train a dense machine, or infer its couplings with observables.infer_couplings"
        raise InputError(
            "data", repr(data.hamiltonian), "of one coupling per displacement everywhere", remedy
        )
    grid = grid_of(data)
    if grid is None:
        remedy = "import the configurations with their shape"
        raise InputError("data", "no lattice shape", "on a periodic lattice", remedy)
    shape = grid.shape
    if kernel is None:
        kernel = 3 if grid.n_cell == 1 else 2
    given = filters is not None
    if filters is None:
        filters = 2 if point_group else 4  # one alone, eight times over, may end astray
    n_filters, side = whole_number("filters", filters, 1), whole_number("kernel", kernel, 1)
    design = SymmetricDesign(n_filters, side, shape, bool(point_group), data, grid.n_cell, given)
    if design.kernel > min(shape):
        raise InputError("kernel", kernel, f"at most the shortest side of the lattice, {min(shape)}")
    return design
