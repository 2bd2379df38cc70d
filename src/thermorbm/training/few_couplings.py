"""Machines of few couplings: the Hamiltonian that the data ask for, at the maximum of its likelihood.

In a field, in frustrated or staggered order and for cells of several sites free filters have many directions
that the data do not tell apart: a field, far pairs and products of four spins do much the same in a
magnetised lattice. There the machine has hidden units for those products of spins alone that the data ask
for (`inverse_ising.selection`), and its weights are those couplings. The first update goes to the maximum of
the pseudo-likelihood, which takes no chains. In a field, where this leaves much of what the data know unused,
two more are steps of Newton's method on the likelihood, with equilibrated configurations of the machine's
own Hamiltonian.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.random import SeedSequence
from numpy.typing import NDArray

from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.hamiltonians import Hamiltonian
from thermorbm.hamiltonians.cells import Product
from thermorbm.inverse_ising import (
    FIELD,
    Label,
    asked_products,
    fitted_hamiltonian,
    infer_couplings,
    is_magnetized,
    label_of,
    likelihood_step,
    tied_where_unknown,
)
from thermorbm.inverse_ising.selection import MOST_PRODUCTS, thinned
from thermorbm.model import Machine, SymmetricRBM
from thermorbm.training.coupling_filters import coupling_filters, n_filters_of
from thermorbm.training.design import Design, SymmetricDesign
from thermorbm.training.monitor import History, Verdict
from thermorbm.training.recipe import Recipe

Arrays = dict[str, NDArray[Any]]
Floats = NDArray[np.float64]

# Configurations of the model for each of the data, so that their noise adds 6 % to the error; fewer than
# twice as many are no help. Spins of all of them, at most.
_PER_CONFIGURATION, _LEAST, _MOST_SPINS = 8, 2, 1 << 24
_NEWTON_STEPS = 2
_MOST_SITES = 64  # of a window: the pairs of a larger one are too many to look through
# In standard errors: where neighbours are alike by more, along every axis, the data are a ferromagnet's. A
# step that is longer than so many errors of its noise is no noise.
_CLEAR = 4.0
# A step of the likelihood is a few errors long; a much longer one comes from a model in another phase.
_LONGEST_STEP = 10.0


@dataclass(frozen=True)
class CouplingDesign(SymmetricDesign):
    """A symmetric machine whose hidden units are some products of spins. products: without their values.

    in_field: whether the data choose a sign, and so a visible bias.
    """

    products: tuple[Product, ...] = ()
    in_field: bool = False

    record_every = 1

    def machine_of(self, values: Floats, provenance: dict[str, Any] | None) -> SymmetricRBM:
        """values: (1 + k,), the field first."""
        H = fitted_hamiltonian(self.grid, self.products, values)
        assert H.products is not None  # it was made of cells
        bias = float(values[0]) if self.in_field else 0.0
        return self.machine(coupling_filters(H.products, bias, self.window, self.n_filters), provenance)

    @property
    def labels(self) -> list[Label]:
        """Of the field and the products, as in InferredCouplings."""
        return [FIELD, *(label_of(product, self.grid) for product in self.products)]

    def identity(self) -> dict[str, Any]:
        return {**super().identity(), "couplings": [_listed(label) for label in self.labels]}


def _listed(label: Any) -> Any:
    """A label as JSON gives it back: lists in the place of tuples."""
    return [_listed(part) for part in label] if isinstance(label, tuple) else label


def with_few_couplings(design: Design, recipe: Recipe) -> Design:
    """The design itself, or one of few couplings where the data need it and such a Hamiltonian is found."""
    if not isinstance(design, SymmetricDesign) or design.data is None:
        return design
    if design.n_cell > 1 and (design.point_group or not recipe.natural):
        raise InputError("recipe", recipe.name, "fast, without point_group, for cells of several sites")
    if design.n_cell * design.kernel ** len(design.shape) > _MOST_SITES:
        if design.n_cell > 1:
            raise InputError("kernel", design.kernel, f"small enough for a window of {_MOST_SITES} sites")
        return design
    if design.point_group or not recipe.natural:
        return design
    in_field = not recipe.zero_bias and is_magnetized(design.data)
    if design.n_cell == 1 and not in_field and _is_ferromagnetic(design.data):
        return design
    products = asked_products(design.data, design.grid, (design.kernel,) * len(design.shape))
    problem = _problem(design, products, recipe)
    if problem and design.n_cell > 1:
        raise InputError("data", problem, "of few couplings where cells have several sites")
    if problem or not (products or in_field or design.n_cell > 1):
        return design
    n_filters = max(design.n_filters, n_filters_of(products))
    return CouplingDesign(
        n_filters, design.kernel, design.shape, data=design.data, n_cell=design.n_cell,
        filters_given=design.filters_given, products=products, in_field=in_field,
    )  # fmt: skip


def _problem(design: SymmetricDesign, products: tuple[Product, ...], recipe: Recipe) -> str:
    """Why these products are no machine of this design; empty if they are."""
    if len(products) >= MOST_PRODUCTS:
        return f"{len(products)} or more products of spins"
    if design.filters_given and n_filters_of(products) > design.n_filters:
        return f"products of spins for {n_filters_of(products)} filters"
    if recipe.zero_bias and any(len(product.points) == 3 for product in products):
        return "products of three spins without biases"
    return ""


def _is_ferromagnetic(data: Dataset) -> bool:
    """Whether neighbours along every axis are clearly alike."""
    assert data.lattice is not None  # cells of one site
    v = thinned(data).spins().reshape(-1, *data.lattice.shape)
    for axis in range(1, v.ndim):
        alike = (v * np.roll(v, 1, axis)).reshape(len(v), -1).mean(axis=1)
        if not alike.mean() > _CLEAR * alike.std() / np.sqrt(len(v)):
            return False
    return True


class CouplingTrainer:
    """One training run of such a machine; each update is the maximum of the pseudo-likelihood or a step."""

    natural, n_mirrored = None, 0

    def __init__(
        self,
        data: Dataset,
        design: CouplingDesign,
        recipe: Recipe,
        seed: int,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        self.design, self.recipe = design, recipe
        self.update, self.distance = 0, 0.0
        self.updates_per_epoch = 1
        self._data, self._seeds = data, SeedSequence(seed).spawn(1 + _NEWTON_STEPS)
        size = 1 + len(design.products)
        self._values, self._covariance = np.zeros(size), np.full((size, size), np.nan)
        self._step = np.full(size, np.nan)  # the last one, in standard errors
        self._place = {"device": device.type, "precision": str(dtype).removeprefix("torch.")}
        polished = design.in_field and self._n_samples >= _LEAST * len(data)
        self.n_updates = 1 + _NEWTON_STEPS if polished else 1

    def step(self) -> None:
        """To the maximum of the pseudo-likelihood, or one step of Newton's method on the likelihood."""
        if self.update == 0:
            model = Hamiltonian.of_cells("asked", self.design.grid, self.design.products)
            start = infer_couplings(thinned(self._data), model=model).values  # a pass over all takes longer
            inferred = infer_couplings(self._data, model=model, start=start)
            if self.n_updates == 1:
                pairs = np.array([False, *(len(product.points) == 2 for product in self.design.products)])
                inferred = tied_where_unknown(inferred, pairs)
            self._values, self._covariance = inferred.values, inferred.covariance
        else:
            self._polish()
        self.distance += self.rate
        self.update += 1

    def _polish(self) -> None:
        """Goes on by the likelihood; stays where the model's configurations tell nothing."""
        seed = int(self._seeds[self.update].generate_state(1)[0])
        design = self.design
        moved = likelihood_step(self._data, design.grid, design.products, self._values, self._n_samples, seed)
        if moved is None:
            return
        step = (moved[0] - self._values) / np.sqrt(np.diag(moved[1]))
        if np.abs(step).max() < _LONGEST_STEP:
            self._step = step
            self._values, self._covariance = moved

    @property
    def _n_samples(self) -> int:
        """Configurations of the model for one step."""
        return min(_PER_CONFIGURATION * len(self._data), _MOST_SPINS // self._data.n_sites)

    @property
    def rate(self) -> float:
        """Every step is a whole one."""
        return 1.0

    @property
    def is_finite(self) -> bool:
        return bool(np.isfinite(self._values).all())

    def judge(self, history: History) -> Verdict:
        """Converged at the maximum of the pseudo-likelihood, or when steps are but noise.

        Two steps that both end at the maximum differ by the noise of the model's configurations of both.
        """
        likelihood = np.asarray(history["pseudo_likelihood"]) / self._data.n_sites
        if not np.isfinite(likelihood[-1]):
            return Verdict("diverged", float("nan"), float("nan"))
        drift = float(likelihood[-1] - likelihood[-2]) if len(likelihood) > 1 else 0.0
        share = len(self._data) / self._n_samples
        noise = np.sqrt(2 * share / (1 + share))  # of a step, in standard errors
        settled = self.update == 1 or not np.abs(self._step).max() > _CLEAR * noise
        return Verdict("converged" if settled else "not converged", drift, 0.0)

    def machine(self, provenance: dict[str, Any] | None = None) -> Machine:
        return self.design.machine_of(self._values, provenance)

    def findings(self) -> dict[str, Any]:
        """Couplings with their covariance, for the machine's provenance."""
        return {
            "couplings": {
                "labels": [_listed(label) for label in self.design.labels],
                "values": self._values.tolist(),
                "covariance": self._covariance.tolist(),
                "method": "likelihood" if np.isfinite(self._step).all() else "pseudo-likelihood",
            }
        }

    def place(self) -> dict[str, str]:
        """Where it is trained, and in what precision."""
        return self._place

    def state(self) -> Arrays:
        """All that is needed to go on."""
        return {
            "values": self._values.copy(),
            "covariance": self._covariance.copy(),
            "step": self._step.copy(),
            "progress": np.array([self.update, self.distance]),
        }

    def restore(self, arrays: Arrays) -> None:
        """Puts back what `state` gave."""
        self._values, self._covariance, self._step = (
            np.array(arrays[name]) for name in ("values", "covariance", "step")
        )
        self.update, self.distance = int(arrays["progress"][0]), float(arrays["progress"][1])
