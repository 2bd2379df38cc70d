"""The methods that every machine has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.checks import whole_number
from thermorbm.errors import FileError, InputError, unknown_name
from thermorbm.model import energy, entropy_bound, gibbs, partition
from thermorbm.model.gibbs import LADDER, Tempered
from thermorbm.model.layers import Layers
from thermorbm.model.random_units import Seed, generator_state, seed_sequence
from thermorbm.model.units import as_units, same_rows
from thermorbm.shown import html_table
from thermorbm.stats import Estimate
from thermorbm.storage import read_hdf5, read_kind, write_hdf5

KINDS = ("rbm", "symmetric-rbm")


class Machine(Layers):
    """A restricted Boltzmann machine of +-1 units, p(v, h) = exp(-E(v, h)) / Z.

    v: (n, n_visible) and h: (n, n_hidden) of +-1, any real type; a 1-d array is taken as one configuration.
    v may also be a Dataset, or laid out like the lattice, (n, L, L).
    Energies and likelihoods are totals in nats, float64. Draws are int8 and depend on the seed alone.
    """

    provenance: Mapping[str, Any]

    def _repr_html_(self) -> str:
        data = self.noted("data")
        facts = {
            "hidden units": self.n_hidden,
            "visible units": self.n_visible,
            "numbers": self.dtype,
            "parameters": sum(array.size for array in self.parameters.values()),
            "recipe": self.recipe_name,
            "trained on": None if not data else f"{data.get('n_samples')} configurations",
            "at temperature": data.get("temperature"),
            "verdict": self.noted("verdict").get("status"),
        }
        return html_table(repr(self), facts)

    def noted(self, name: str) -> Mapping[str, Any]:
        """A table of the provenance, as "training" or "data"; empty for machines that were made otherwise."""
        return _as_table(self.provenance.get(name))

    @property
    def recipe_name(self) -> object:
        """Of the recipe that it was trained by, None for machines that were made otherwise."""
        return _as_table(self.noted("training").get("recipe")).get("name")

    def joint_energy(self, v: ArrayLike, h: ArrayLike) -> NDArray[np.float64]:
        """E(v, h) = -b.v - c.h - h.W v. -> (n,)."""
        visible, hidden = self._visible(v), self._hidden(h)
        same_rows(visible, hidden)
        return energy.joint_energy(self, visible, hidden)

    def visible_energy(self, v: ArrayLike) -> NDArray[np.float64]:
        """-ln sum_h exp(-E(v, h)), in machine learning the "free energy". -> (n,)."""
        return energy.visible_energy(self, self._visible(v))

    def mean_gradient(self, v: ArrayLike) -> dict[str, NDArray[np.float64]]:
        """Minus the gradient of the visible energy by parameter name, averaged over configurations.

        Its mean over data minus its mean over the model's own v is the direction of rising likelihood.
        """
        return energy.mean_gradient(self, self._visible(v))

    def p_hidden(self, v: ArrayLike) -> NDArray[Any]:
        """P(h_i = +1 | v). -> (n, n_hidden)."""
        return gibbs.p_hidden(self, self._visible(v))

    def p_visible(self, h: ArrayLike) -> NDArray[Any]:
        """P(v_j = +1 | h). -> (n, n_visible)."""
        return gibbs.p_visible(self, self._hidden(h))

    def sample_hidden(self, v: ArrayLike, seed: Seed) -> NDArray[np.int8]:
        """h drawn from p(h | v). -> (n, n_hidden)."""
        return gibbs.sample_hidden(self, self._visible(v), generator_state(seed))

    def sample_visible(self, h: ArrayLike, seed: Seed) -> NDArray[np.int8]:
        """v drawn from p(v | h). -> (n, n_visible)."""
        return gibbs.sample_visible(self, self._hidden(h), generator_state(seed))

    def gibbs(self, v: ArrayLike, steps: int, seed: Seed) -> NDArray[np.int8]:
        """v^(steps) of the chain v -> h -> v -> ... that starts at each configuration. -> (n, n_visible)."""
        return gibbs.gibbs(self, self._visible(v), whole_number("steps", steps, 0), generator_state(seed))

    def temper(self, v: ArrayLike, steps: int, seed: Seed, betas: ArrayLike = LADDER) -> Tempered:
        """Replica exchange over inverse temperatures `betas` of the machine's own energy, all starting at v.

        .v[0] are configurations at betas[0], (n, n_visible); .swap_rates says how often neighbours swapped.
        """
        count = whole_number("steps", steps, 0)
        return gibbs.temper(self, self._visible(v), betas, count, seed)

    def cross_entropy(self, v: ArrayLike, seed: Seed) -> NDArray[np.float64]:
        """Cross entropy of v and its one-step reconstruction, nats per visible unit. -> (n,)."""
        return gibbs.cross_entropy(self, self._visible(v), generator_state(seed))

    def pseudo_likelihood(self, v: ArrayLike) -> NDArray[np.float64]:
        """L~ = -sum_j ln p(v_j | rest), exact over all sites, a positive number of nats. -> (n,)."""
        return energy.pseudo_likelihood(self, self._visible(v))

    def pseudo_likelihood_estimate(self, v: ArrayLike, seed: Seed) -> NDArray[np.float64]:
        """The paper's estimate of L~ from one random site per configuration. -> (n,)."""
        generator = np.random.default_rng(seed_sequence(seed))
        return energy.pseudo_likelihood_estimate(self, self._visible(v), generator)

    def log_partition(self, method: str = "exact", **options: Any) -> partition.LogPartition:
        """ln Z in nats: .value .error .lower .upper .verdict.

        "exact" sums over the smaller layer, <= 22 units. "ais" anneals chains from independent units to the
        machine and back, and takes seed= and the other options of `partition.log_partition_ais`.
        """
        if method not in partition.METHODS:
            raise unknown_name("method", method, partition.METHODS)
        return partition.METHODS[method](self, **options)

    def entropy_upper_bound(self, v: ArrayLike, seed: Seed = 0, **options: Any) -> Estimate:
        """A bound on the entropy of the distribution of held-out v, total in nats: .value .error.

        It holds in expectation for every machine, with ln Z unknown; see `entropy_bound.entropy_upper_bound`.
        """
        return entropy_bound.entropy_upper_bound(self, self._visible(v), seed, **options)

    def log_likelihood(self, v: ArrayLike) -> NDArray[np.float64]:
        """ln p(v) = -visible energy - ln Z, with the exact ln Z. -> (n,)."""
        return -self.visible_energy(v) - self.log_partition().value

    @property
    def stored(self) -> dict[str, NDArray[Any]]:
        """The arrays that its file holds."""
        return self.parameters

    def save(self, path: str | Path) -> None:
        """Writes the machine and its provenance to one checksummed HDF5 file."""
        write_hdf5(path, self.kind, self.stored, {"provenance": dict(self.provenance)})

    def _visible(self, v: ArrayLike) -> NDArray[Any]:
        return as_units("v", v, self.n_visible)

    def _hidden(self, h: ArrayLike) -> NDArray[Any]:
        return as_units("h", h, self.n_hidden)

    def _floating(self, units: NDArray[Any], width: int) -> NDArray[Any]:
        """Units as numbers, in the wider of the machine's type and that of floating-point units."""
        if units.ndim != 2 or units.shape[1] != width:
            raise InputError("units", units.shape, f"an array of shape (n, {width})")
        wider = units.dtype if units.dtype.kind == "f" else self.dtype
        return units.astype(np.result_type(wider, self.dtype), copy=False)


def read_machine(path: str | Path, kind: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays and metadata of a machine's file; one of another kind of machine is refused with a remedy."""
    actual = read_kind(path)
    if actual != kind and actual in KINDS:
        raise FileError(path, f"is a {actual} file, not a {kind} file", "read it with thermorbm.load_machine")
    return read_hdf5(path, kind)


def _as_table(value: object) -> Mapping[str, Any]:
    """A table as it is; an empty one for anything else, which a file of somebody else may hold there."""
    return value if isinstance(value, Mapping) else {}
