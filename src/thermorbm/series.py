"""Datasets at several temperatures, read as one: averages, entropy and T_c at any temperature in between."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.checks import check_count, optional_module
from thermorbm.dataset import Dataset
from thermorbm.errors import InputError
from thermorbm.estimators.critical import CriticalPoint
from thermorbm.estimators.histograms import Measurements
from thermorbm.estimators.reweighted_peak import reweighted_peak
from thermorbm.estimators.reweighting import (
    QUANTITIES,
    GroundStates,
    KnownEntropy,
    Reweighting,
    ThermalCurves,
)
from thermorbm.hamiltonians import Hamiltonian, as_hamiltonian, order_overlaps
from thermorbm.shown import html_table

RANDOM_SAMPLES = 4096  # configurations of random spins, which stand for infinite temperature


class Series(Sequence[Dataset | Measurements]):
    """Samples of one Hamiltonian at two or more temperatures, ascending.

    A member is a Dataset, or Measurements (energies and magnetisations alone) at a temperature that bridges
    two others. At least one member is a Dataset, from which the Hamiltonian is taken.
    """

    def __init__(self, members: Sequence[Dataset | Measurements]) -> None:
        datasets = [each for each in members if isinstance(each, Dataset)]
        if not datasets:
            remedy = "of arrays: tr.Series.from_arrays({2.0: array, 2.5: another})"
            raise InputError("series", members, "a list of datasets", remedy)
        for each in datasets:
            if each.temperature is None:
                raise InputError("series", each, "datasets whose temperature is known")
            if (each.lattice, each.n_sites) != (datasets[0].lattice, datasets[0].n_sites):
                raise InputError("series", f"{datasets[0]} and {each}", "datasets on one lattice")
            if _hamiltonian(each) != _hamiltonian(datasets[0]):
                got = f"{_hamiltonian(datasets[0])} and {_hamiltonian(each)}"
                raise InputError("series", got, "datasets of one Hamiltonian")
        self._hamiltonian = _hamiltonian(datasets[0])
        self._members = sorted(members, key=_temperature)

    @classmethod
    def from_arrays(cls, arrays: Mapping[float, ArrayLike], hamiltonian: Hamiltonian | None = None) -> Series:
        """Configurations by temperature, as other programs have them: mcising's `results.configurations`.

        arrays: (n, n_sites), or (n, L, L) on a periodic lattice, of +-1. hamiltonian: of which they are
        configurations; the ferromagnet of their lattice by default.
        """
        members = []
        for temperature, array in arrays.items():
            spins = np.asarray(array)
            sides = spins.shape[1:] if hamiltonian is None and spins.ndim > 2 else None
            members.append(Dataset.from_spins(spins, sides, float(temperature), hamiltonian=hamiltonian))
        return cls(members)

    @classmethod
    def from_peapods(
        cls, model: Any, n_samples: int, n_sweeps: int = 10, hamiltonian: Hamiltonian | None = None
    ) -> Series:
        """Configurations of a `peapods.Ising`, which keeps its present ones alone: it is run on for more.

        n_samples: at each temperature, rounded up to a multiple of its replicas, n_sweeps of Metropolis
        apart; bring it to equilibrium first, by its own `sample`, but not by tempering: it does not tell
        which configuration has come to which temperature. hamiltonian: of which they are configurations;
        needed unless that is the ferromagnet of a hypercubic lattice.
        """
        check_count("n_samples", n_samples)
        is_plain = bool((model.couplings == 1).all()) and model.n_neighbors == len(model.lattice_shape)
        if hamiltonian is None and not (is_plain and model.n_disorder == 1):
            remedy = "give it as hamiltonian=tr.hamiltonian(...)"
            raise InputError("hamiltonian", None, "that of these couplings", remedy)
        layout = (model.n_replicas, model.n_temps, *model.lattice_shape)
        spins = []
        for _ in range(-(-n_samples // model.n_replicas)):
            model.sample(n_sweeps)
            spins.append(model._sim.get_spins().reshape(layout))
        arrays = np.concatenate(spins).swapaxes(0, 1)
        flat = arrays if hamiltonian is None else arrays.reshape(*arrays.shape[:2], -1)
        return cls.from_arrays(dict(zip(model.temperatures.tolist(), flat, strict=True)), hamiltonian)

    def __len__(self) -> int:
        return len(self._members)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self._members[index]

    def __iter__(self) -> Iterator[Dataset | Measurements]:
        return iter(self._members)

    def __repr__(self) -> str:
        first, last = self.temperatures[0], self.temperatures[-1]
        span = f"{len(self)} temperatures from {first:g} to {last:g}" if len(self) > 1 else f"T = {first:g}"
        return f"Series({span}, {self._hamiltonian})"

    def _repr_html_(self) -> str:
        n_samples = {f"T = {_temperature(each):g}": each for each in self._members}
        return html_table(repr(self), n_samples)

    @property
    def hamiltonian(self) -> Hamiltonian:
        """The Hamiltonian of which all members are configurations."""
        return self._hamiltonian

    @property
    def temperatures(self) -> NDArray[np.float64]:
        """Temperatures (n,), ascending."""
        return np.array([_temperature(each) for each in self._members])

    @cached_property
    def measurements(self) -> list[Measurements]:
        """Energies and magnetisations of every member."""
        return [each if isinstance(each, Measurements) else measure(each) for each in self._members]

    def reweight(
        self,
        temperatures: ArrayLike,
        entropy: tuple[float, float] | None = None,
        n_draws: int = 200,
        seed: int = 0,
    ) -> ThermalCurves:
        """Energy, heat capacity, |m|, susceptibility, Binder's U4, entropy and free energy per spin.

        m is the overlap with the ground state: the sublattice magnetisation of antiferromagnets.
        temperatures: (m,) from the coldest to the hottest of the series. The constant of the entropy comes
        from random spins where the hottest samples share energies with them, or from the two ground states
        of a ferromagnet where the coldest samples have them; or it is given as entropy=(T, S per spin).
        Errors are the spread over `n_draws` resamplings of blocks of samples.
        """
        known = None if entropy is None else KnownEntropy(*entropy)
        return self._reweighting(known, n_draws, seed).curves(temperatures)

    def to_dataframe(self, temperatures: ArrayLike | None = None, **options: Any) -> Any:
        """What `reweight` gives, as a pandas DataFrame: a row per temperature, errors beside values.

        temperatures: those of the series by default. options: of `reweight`. Needs the extra `tables`.
        """
        pandas = optional_module("pandas", "tables")
        curves = self.reweight(self.temperatures if temperatures is None else temperatures, **options)
        columns: dict[str, NDArray[np.float64]] = {}
        for name in QUANTITIES:
            estimates = getattr(curves, name)
            columns |= {name: estimates.values, f"{name}_error": estimates.errors}
        return pandas.DataFrame(columns, pandas.Index(curves.temperatures, name="temperature"))

    def to_xarray(self, temperatures: ArrayLike | None = None, **options: Any) -> Any:
        """The same as an xarray Dataset along `temperature`, with the Hamiltonian as an attribute."""
        xarray = optional_module("xarray", "tables")
        labelled: Any = xarray.Dataset.from_dataframe(self.to_dataframe(temperatures, **options))
        return labelled.assign_attrs(hamiltonian=str(self.hamiltonian), n_sites=self.hamiltonian.n_sites)

    def critical_temperature(self, quantity: str, n_draws: int = 200, seed: int = 0) -> CriticalPoint:
        """Where heat_capacity or susceptibility peaks, or abs_magnetization or binder falls fastest.

        .value and .error, or .lower and .upper alone where neighbouring temperatures do not overlap and the
        points do not resolve the peak; str() prints whichever holds.
        """
        return reweighted_peak(self._reweighting(None, n_draws, seed), quantity)

    def _reweighting(self, known: KnownEntropy | None, n_draws: int, seed: int) -> Reweighting:
        key = (known, n_draws, seed)
        if key not in self._solved:
            n_random = max(2, min(len(self.measurements[-1].energies), RANDOM_SAMPLES))
            rng = np.random.default_rng(np.random.SeedSequence(self._hamiltonian.n_sites))
            hot = random_spins(self._hamiltonian, n_random, rng)
            ground = ground_level(self._hamiltonian)
            n_sites = self._hamiltonian.n_sites
            self._solved[key] = Reweighting([*self.measurements, hot], n_sites, ground, known, n_draws, seed)
        return self._solved[key]

    @cached_property
    def _solved(self) -> dict[tuple[KnownEntropy | None, int, int], Reweighting]:
        return {}


def measure(data: Dataset) -> Measurements:
    """Total energies and magnetisations per spin of a dataset whose Hamiltonian is known.

    Where H has other ground states than that of the ferromagnet, m is the overlap with the nearest of them.
    """
    if data.temperature is None:
        raise InputError("dataset", data, "one whose temperature is known")
    H = _hamiltonian(data)
    return Measurements(data.temperature, _energies(data, H), order_overlaps(H, data.packed))


def _energies(data: Dataset, hamiltonian: Hamiltonian) -> NDArray[np.float64]:
    """Total energies (n,); those of plain lattices are counted in the bits themselves."""
    if hamiltonian.plain is None:
        return np.concatenate([hamiltonian.energy(block) for block in data.blocks()])
    lattice, coupling = hamiltonian.plain
    return np.asarray(coupling * lattice.energy_of_packed(data.packed), dtype=np.float64)


def _hamiltonian(data: Dataset) -> Hamiltonian:
    """What gives configurations their energy; a lattice alone stands for its ferromagnet."""
    if data.hamiltonian is not None:
        return data.hamiltonian
    if data.lattice is None:
        raise InputError(
            "dataset",
            data,
            "one whose energies are known",
            "give its lattice or Hamiltonian, as in Dataset.from_spins(v, lattice=...)",
        )
    return as_hamiltonian(data.lattice)


def ground_level(hamiltonian: Hamiltonian) -> GroundStates | None:
    """That of one configuration and its reverse, where it is certain that no other has as low an energy."""
    if hamiltonian.plain is None or hamiltonian.frustrated:
        return None
    lattice, coupling = hamiltonian.plain
    return GroundStates(float(-abs(coupling) * lattice.n_bonds), 2)


def random_spins(hamiltonian: Hamiltonian, n_samples: int, rng: np.random.Generator) -> Measurements:
    """Exact samples at infinite temperature."""
    spins = rng.choice(np.array([-1, 1], dtype=np.int8), size=(n_samples, hamiltonian.n_sites))
    return Measurements(np.inf, hamiltonian.energy(spins), spins.mean(axis=1, dtype=np.float64))


def _temperature(member: Dataset | Measurements) -> float:
    return float(np.nan if member.temperature is None else member.temperature)
