"""What the page shows of configurations: some of them, and histograms of energy and magnetisation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thermorbm.dataset import Dataset
from thermorbm.hamiltonians import Hamiltonian, as_hamiltonian
from thermorbm.observables import configuration_series
from thermorbm.stats import Estimate, mean_estimate

SHOWN = 12  # configurations that the page holds
COUNTED = 10_000  # configurations in the histograms
COMPARED = 256  # configurations on which stored machines are compared with their originals
BINS = 40


@dataclass(frozen=True, eq=False)
class Histogram:
    """counts[k] values lie between origin + k * width and origin + (k + 1) * width."""

    origin: float
    width: float
    counts: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ShownData:
    """Configurations at one value. spins: (n, n_sites) of +-1, the first `SHOWN` are for the page.

    energy, magnetization: histograms per spin of n_counted configurations, None where they are not known.
    means: of "energy" and "abs_magnetization". hamiltonian: by which the page knows energies.
    """

    spins: NDArray[np.int8]
    n_counted: int
    means: Mapping[str, Estimate]
    energy: Histogram | None = None
    magnetization: Histogram | None = None
    hamiltonian: Hamiltonian | None = None


def shown_data(data: Dataset, is_ising: bool) -> ShownData:
    """Of a dataset. is_ising: whether it is the ferromagnet with J = 1 where it does not say itself."""
    hamiltonian = data.hamiltonian
    if hamiltonian is None and is_ising and data.lattice is not None:
        hamiltonian = as_hamiltonian(data.lattice)
    part = data[:COUNTED]
    m = configuration_series(part).magnetization
    means, energy = {"abs_magnetization": mean_estimate(np.abs(m))}, None
    if hamiltonian is not None:
        totals = np.concatenate([hamiltonian.energy(block) for block in part.blocks()])
        energy = histogram(totals / data.n_sites)
        means["energy"] = mean_estimate(totals / data.n_sites)
    return ShownData(part.spins(0, COMPARED), len(part), means, energy, histogram(m), hamiltonian)


def kept_data(
    observed: Mapping[str, NDArray[Any]],
    measured: Mapping[str, NDArray[Any]],
    thermal: Mapping[str, Estimate],
    n_sites: int,
) -> ShownData | None:
    """The same from reduced results alone, where the configurations were not kept; None if there is nothing.

    observed: arrays of an observation, which have five configurations. measured: those of the dataset.
    """
    bits, m = observed.get("hidden_layers_of"), measured.get("samples.magnetization")
    energy = measured.get("samples.energy")
    if bits is None and m is None:
        return None
    spins = np.zeros((0, n_sites), np.int8)
    if bits is not None and bits.ndim == 2 and bits.shape[1] == -(-n_sites // 8):
        spins = 2 * np.unpackbits(bits, axis=1, count=n_sites, bitorder="little").view(np.int8) - 1
    names = {"energy": "energy_per_spin", "abs_magnetization": "abs_magnetization_per_spin"}
    means = {name: thermal[stored] for name, stored in names.items() if stored in thermal}
    return ShownData(
        spins,
        0 if m is None else len(m),
        means,
        None if energy is None else histogram(energy / n_sites),
        None if m is None else histogram(m / n_sites),
    )


def histogram(values: NDArray[Any]) -> Histogram:
    """At most `BINS` + 1 bins, each of a whole number of the steps in which the values come, if they do."""
    distinct = np.unique(values)
    spread = float(distinct[-1] - distinct[0])
    step = float(np.diff(distinct).min()) if len(distinct) > 1 else 1.0
    width = step * max(1, int(np.ceil(spread / step / BINS - 1e-9)))
    origin = float(distinct[0]) - step / 2
    places = np.floor((values - origin) / width).astype(np.int64)
    return Histogram(origin, width, tuple(np.bincount(places).tolist()))
