"""Spin configurations, one bit per spin, with where they came from; saved whole or not at all."""

from __future__ import annotations

import importlib.metadata
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.checks import positive_temperature, whole_number
from thermorbm.errors import BinaryValuesWarning, FileError, InputError
from thermorbm.hamiltonians import Hamiltonian
from thermorbm.lattice import Lattice
from thermorbm.shown import html_table
from thermorbm.spinfiles import (
    BLOCK_SPINS,
    Cells,
    Layout,
    check_layout,
    pack_array,
    read_packed,
    unpack,
    write_npy,
    write_npz,
)
from thermorbm.storage import read_hdf5, write_hdf5

if TYPE_CHECKING:
    from thermorbm.sampling.certificate import Certificate


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """n configurations of n_sites spins, bit-packed and read-only.

    packed: (n, ceil(n_sites / 8)) uint8, little bit order, bit 1 means spin +1, padding bits are 0.
    lattice: None when the geometry is unknown; `n_sites` must be given then.
    temperature: in units of J/k_B, None when unknown or mixed.
    provenance: where the configurations came from (seed, method, versions ...), JSON-able.
    certificate: the sampler's evidence that they follow the Boltzmann distribution, None for other data. That
    of a slice is the certificate of the whole, and its provenance says so.
    hamiltonian: of which they are configurations, None where that is not known.
    n_held_out: so many of them, the last ones, are not for training. A slice has none.
    """

    packed: NDArray[np.uint8]
    lattice: Lattice | None = None
    temperature: float | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    certificate: Certificate | None = None
    n_sites: int = 0  # 0: that of the lattice
    hamiltonian: Hamiltonian | None = None
    n_held_out: int = 0

    def __post_init__(self) -> None:
        if self.hamiltonian is not None:
            object.__setattr__(self, "lattice", _agreed_lattice(self.lattice, self.hamiltonian))
            if self.lattice is None and self.n_sites in (0, self.hamiltonian.n_sites):
                object.__setattr__(self, "n_sites", self.hamiltonian.n_sites)
        n_sites = _agreed_n_sites(self.n_sites, self.lattice)
        if self.hamiltonian is not None and self.hamiltonian.n_sites != n_sites:
            grid = self.hamiltonian.grid
            remedy = f"its shape counts cells of {grid.n_cell} sites" if grid and grid.n_cell > 1 else ""
            wanted = f"of the data's {n_sites} sites"
            raise InputError("hamiltonian", f"{self.hamiltonian.n_sites} sites", wanted, remedy)
        _check_packed(self.packed, n_sites)
        packed = self.packed.view()
        packed.flags.writeable = False
        object.__setattr__(self, "packed", packed)
        object.__setattr__(self, "n_sites", n_sites)
        object.__setattr__(self, "temperature", checked_temperature(self.temperature))
        if whole_number("n_held_out", self.n_held_out, 0) > len(packed):
            raise InputError("n_held_out", self.n_held_out, f"at most {len(packed)}, the number of all")

    @classmethod
    def from_spins(
        cls,
        v: ArrayLike,
        lattice: Lattice | Sequence[int] | int | None = None,
        temperature: float | None = None,
        *,
        binary: bool | None = None,
        provenance: Mapping[str, Any] | None = None,
        hamiltonian: Hamiltonian | None = None,
    ) -> Dataset:
        """Packs users' configurations: (n, n_sites), or (n, *lattice.shape), of +-1.

        binary: the values are 0 and 1 instead, 0 for spin -1; without it an array with zeros is read in
        this way with a BinaryValuesWarning. lattice: also given as sides. hamiltonian: of which they are
        configurations.
        """
        spins = np.asarray(v)
        lattice = None if lattice is None else Lattice.of(lattice)
        if hamiltonian is not None:
            lattice = _agreed_lattice(lattice, hamiltonian)
        layout = _layout(lattice, hamiltonian)
        n_sites = check_layout(spins, layout)
        packed = pack_array(spins, layout, low=0 if _is_binary(spins, binary) else -1)
        origin = provenance or {"method": "from_spins"}
        return cls(packed, lattice, temperature, origin, n_sites=n_sites, hamiltonian=hamiltonian)

    @classmethod
    def concatenate(cls, parts: Sequence[Dataset]) -> Dataset:
        """All configurations of `parts`, in order, on one lattice.

        The temperature is kept when all parts share it, and None otherwise; the provenance lists the parts.
        """
        if not parts:
            raise InputError("parts", parts, "one or more datasets")
        first = parts[0]
        for part in parts:
            if (part.lattice, part.n_sites) != (first.lattice, first.n_sites):
                raise InputError("parts", f"{first} and {part}", "datasets on one lattice")
        shared = all(part.hamiltonian == first.hamiltonian for part in parts)
        temperatures = {part.temperature for part in parts}
        origin = [
            {"n_samples": len(part), "temperature": part.temperature, **part.provenance} for part in parts
        ]
        return cls(
            np.concatenate([part.packed for part in parts]),
            first.lattice,
            first.temperature if len(temperatures) == 1 else None,
            {"method": "concatenate", "parts": origin},
            n_sites=first.n_sites,
            hamiltonian=first.hamiltonian if shared else None,
        )

    def __len__(self) -> int:
        return len(self.packed)

    def __repr__(self) -> str:
        where = f"lattice {self.lattice}" if self.lattice else f"{self.n_sites} sites, geometry unknown"
        return f"Dataset({len(self)} samples, {where}, temperature {self.temperature})"

    def _repr_html_(self) -> str:
        facts = {
            "configurations": len(self),
            "lattice": str(self.lattice) if self.lattice else f"{self.n_sites} sites, geometry unknown",
            "temperature": self.temperature,
            "Hamiltonian": self.hamiltonian,
            "method": self.provenance.get("method"),
            "certificate": self.certificate,
            "part": self.provenance.get("subset"),
        }
        return html_table("Dataset", facts)

    def __array__(self, dtype: np.dtype[Any] | type | None = None, copy: bool | None = None) -> NDArray[Any]:
        """All configurations as (n, n_sites) of +-1, int8 by default; unpacks all of them."""
        if copy is False:
            raise ValueError("spins are unpacked from bits, which makes a copy")
        spins = self.spins()
        return spins if dtype is None else spins.astype(dtype, copy=False)

    def __iter__(self) -> Iterator[NDArray[np.int8]]:
        """One configuration after the other, (n_sites,) int8 of +-1."""
        for block in self.blocks():
            yield from block

    def spins(self, start: int = 0, stop: int | None = None) -> NDArray[np.int8]:
        """Configurations start to stop as (stop - start, n_sites) int8 of +-1; unpacks nothing else.

        Bounds follow Python's slices: negative ones count from the end, those out of range are clipped.
        """
        return unpack(self.packed[start:stop], self.n_sites)

    def grids(self, start: int = 0, stop: int | None = None) -> NDArray[np.int8]:
        """Configurations start to stop as they lie on the lattice: (stop - start, *sides) int8 of +-1.

        Lattices with several sites per cell have these along a last axis.
        """
        grid = self.hamiltonian.grid if self.hamiltonian else None
        if grid is not None and grid.n_cell > 1:
            return self.spins(start, stop).reshape(-1, *grid.shape, grid.n_cell)
        if self.lattice is None:
            remedy = "give its lattice, as in Dataset.from_spins(v, lattice=(8, 8))"
            raise InputError("dataset", self, "one whose lattice is known", remedy)
        return self.spins(start, stop).reshape(-1, *self.lattice.shape)

    def plot(self, n: int = 8, ax: Any = None) -> Any:
        """Draws n configurations, evenly spaced over the dataset, side by side; gives matplotlib's Axes."""
        from thermorbm.plots import plot_configurations

        chosen = np.linspace(0, len(self) - 1, min(n, len(self))).astype(np.int64)
        return plot_configurations(self.select(chosen).grids(), ax=ax)

    @property
    def magnetization(self) -> NDArray[np.float64]:
        """Mean of the spins of every configuration, (n,), counted in the bits themselves."""
        n_up = np.bitwise_count(self.packed).sum(axis=1, dtype=np.int64)
        return np.asarray((2 * n_up - self.n_sites) / self.n_sites)

    def blocks(self, n_rows: int | None = None) -> Iterator[NDArray[np.int8]]:
        """All configurations in order, as (at most n_rows, n_sites) int8 of +-1 at a time."""
        size = max(1, BLOCK_SPINS // self.n_sites) if n_rows is None else n_rows
        if size < 1:
            raise InputError("n_rows", n_rows, "a whole number >= 1")
        for start in range(0, len(self), size):
            yield self.spins(start, start + size)

    @overload
    def __getitem__(self, rows: int | np.integer[Any]) -> NDArray[np.int8]: ...
    @overload
    def __getitem__(self, rows: slice) -> Dataset: ...
    def __getitem__(self, rows: slice | int | np.integer[Any]) -> Dataset | NDArray[np.int8]:
        """data[i]: one configuration, (n_sites,) int8 of +-1. data[a:b]: a dataset of those."""
        if isinstance(rows, slice):
            return self._subset(self.packed[rows], self.certificate)
        if isinstance(rows, bool) or not isinstance(rows, int | np.integer):
            raise InputError("rows", rows, "a whole number or a slice", "use select(indices) for others")
        if not -len(self) <= rows < len(self):
            raise IndexError(f"configuration {rows} is not among the {len(self)} of the dataset")
        return np.asarray(unpack(self.packed[rows][None], self.n_sites)[0])

    def select(self, indices: ArrayLike) -> Dataset:
        """The configurations with these indices (whole numbers, or one bool each), without a certificate:
        chosen ones may follow another distribution."""
        chosen = np.asarray(indices)
        if chosen.ndim != 1 or chosen.dtype.kind not in "biu":
            raise InputError("indices", chosen.dtype.name, "a list of whole numbers, or one bool per sample")
        try:
            return self._subset(self.packed[chosen], None)
        except IndexError as error:
            raise InputError("indices", str(error), f"within the {len(self)} samples") from error

    def _subset(self, packed: NDArray[np.uint8], certificate: Certificate | None) -> Dataset:
        if len(packed) == 0:
            raise InputError("subset", "no samples", "one or more samples")
        note = f"{len(packed)} of {len(self)} samples"
        if certificate is not None:
            note += f"; the certificate is that of all {certificate.n_samples}"
        origin = {**self.provenance, "subset": note}
        return Dataset(
            packed, self.lattice, self.temperature, origin, certificate, self.n_sites, self.hamiltonian
        )

    def save(self, path: str | Path) -> None:
        """Writes one checksummed HDF5 file, atomically."""
        metadata = {
            "n_sites": self.n_sites,
            "shape": self.lattice.shape if self.lattice else None,
            "temperature": self.temperature,
            "provenance": dict(self.provenance),
            "certificate": self.certificate.to_dict() if self.certificate else None,
            "hamiltonian": self.hamiltonian.to_dict() if self.hamiltonian else None,
            "n_held_out": self.n_held_out,
        }
        try:
            write_hdf5(path, "dataset", {"spins": self.packed}, metadata)
        except TypeError as error:
            raise InputError("provenance", str(error), "made of plain JSON values") from error

    @classmethod
    def load(cls, path: str | Path) -> Dataset:
        """Reads a file of `save`; anything that is damaged, altered or inconsistent raises FileError."""
        arrays, metadata = read_hdf5(path, "dataset")
        try:
            return _from_stored(arrays, metadata)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise FileError(path, f"is not a valid dataset: {error}", "make it again") from error

    def export(self, path: str | Path) -> None:
        """Writes int8 spins of +-1, (n, n_sites), as .npy, or as .npz together with temperature and shape."""
        shape = (len(self), self.n_sites)
        if Path(path).suffix == ".npy":
            write_npy(path, shape, self.blocks())
        elif Path(path).suffix == ".npz":
            labels = {"temperature": self.temperature, "shape": self.lattice and self.lattice.shape}
            others = {name: np.asarray(value) for name, value in labels.items() if value is not None}
            write_npz(path, shape, self.blocks(), others)
        else:
            raise FileError(path, "its name does not tell the format", "end it in .npy or .npz")


def import_spins(
    files: Sequence[str | Path],
    lattice: Lattice | None,
    temperature: float | None,
    *,
    array: str | None = None,
    hamiltonian: Hamiltonian | None = None,
) -> Dataset:
    """Users' npy, npz or HDF5 files as one dataset, in the order given.

    Each holds +-1, or 0/1 with 0 for spin -1, as (n, n_sites) or (n, *lattice.shape), of cells with several
    sites (n, *cells, sites of a cell). `array` names the array in npz and HDF5 files that hold several which
    fit. hamiltonian: of which they are configurations. Nothing is ever unpickled.
    """
    if not files:
        raise InputError("files", files, "one or more files")
    lattice = lattice if hamiltonian is None else _agreed_lattice(lattice, hamiltonian)
    layout = _layout(lattice, hamiltonian)
    parts = [read_packed(path, layout, array) for path in files]
    sizes = {n_sites for _, n_sites in parts}
    if len(sizes) > 1:
        raise InputError("files", sorted(sizes), "configurations of one size")
    origin = {"method": "import", "files": [str(path) for path in files], "versions": _versions()}
    packed = np.concatenate([part for part, _ in parts])
    return Dataset(packed, lattice, temperature, origin, n_sites=sizes.pop(), hamiltonian=hamiltonian)


def as_dataset(name: str, data: Dataset | ArrayLike) -> Dataset:
    """A dataset as it is; an array (n, n_sites), or (n, L, L) on a periodic lattice, as a dataset.

    name: of the argument, for the error.
    """
    if isinstance(data, Dataset):
        return data
    array = np.asarray(data)
    if array.ndim < 2:
        wanted = "a Dataset or an array of spins, (n, n_sites) or (n, L, L)"
        raise InputError(name, array.shape if array.ndim else data, wanted)
    lattice = Lattice(array.shape[1:]) if array.ndim > 2 else None
    return Dataset.from_spins(array, lattice=lattice)


def _is_binary(spins: NDArray[Any], binary: bool | None) -> bool:
    """Whether the values are 0 and 1; a warning where it is only the values that say so."""
    if binary is not None:
        return binary
    if spins.dtype.kind not in "biuf" or not (spins == 0).any() or (spins == -1).any():
        return False
    text = "the values are 0 and 1: 0 is taken as spin -1; say binary=True to make that explicit"
    warnings.warn(text, BinaryValuesWarning, stacklevel=3)
    return True


def checked_temperature(temperature: float | None) -> float | None:
    """The temperature as a float, None as None; InputError unless it is a finite number > 0."""
    return None if temperature is None else positive_temperature(temperature)


def _agreed_n_sites(n_sites: object, lattice: Lattice | None) -> int:
    number = whole_number("n_sites", n_sites, 0)
    if lattice is None and number == 0:
        raise InputError("n_sites", n_sites, "a whole number >= 1 where there is no lattice")
    if lattice is not None and number not in (0, lattice.n_sites):
        raise InputError("n_sites", n_sites, f"{lattice.n_sites}, that of the lattice")
    return lattice.n_sites if lattice is not None else number


def _agreed_lattice(lattice: Lattice | None, hamiltonian: Hamiltonian) -> Lattice | None:
    """That of the Hamiltonian, which must be the one that was given."""
    if not isinstance(hamiltonian, Hamiltonian):
        raise InputError("hamiltonian", hamiltonian, "a Hamiltonian", "make one with tr.hamiltonian")
    if lattice is not None and hamiltonian.lattice != lattice:
        raise InputError("lattice", str(lattice), f"that of {hamiltonian!r}", "leave it out")
    return hamiltonian.lattice


def _layout(lattice: Lattice | None, hamiltonian: Hamiltonian | None) -> Layout | None:
    """How arrays of configurations may be laid out; None where nothing but their rows is known."""
    grid = None if hamiltonian is None else hamiltonian.grid
    return Cells((*grid.shape, grid.n_cell)) if grid is not None and grid.n_cell > 1 else lattice


def _check_packed(packed: object, n_sites: int) -> None:
    n_bytes = -(-n_sites // 8)
    if not isinstance(packed, np.ndarray) or packed.dtype != np.uint8:
        raise InputError("packed", getattr(packed, "dtype", type(packed).__name__), "an array of uint8")
    if packed.ndim != 2 or packed.shape[1] != n_bytes or len(packed) == 0:
        raise InputError("packed", packed.shape, f"a non-empty array of shape (n, {n_bytes})")
    n_used = n_sites - 8 * (n_bytes - 1)
    if (packed[:, -1] >> n_used).any():
        raise InputError("packed", "set bits", f"zero beyond the {n_sites} sites")


def _from_stored(arrays: Mapping[str, NDArray[Any]], metadata: Mapping[str, Any]) -> Dataset:
    provenance, shape = metadata["provenance"], metadata["shape"]
    if not isinstance(provenance, dict):
        raise InputError("provenance", provenance, "a table")
    lattice = None if shape is None else Lattice(shape)
    _check_packed(arrays["spins"], n_sites := _agreed_n_sites(metadata["n_sites"], lattice))
    stored, certificate = metadata.get("hamiltonian"), metadata["certificate"]  # older files name no H
    if certificate is not None:
        from thermorbm.sampling.certificate import Certificate  # only here: it brings the sampler with it

        certificate = Certificate.from_dict(certificate)
    return Dataset(
        arrays["spins"],
        lattice,
        metadata["temperature"],
        provenance,
        certificate,
        n_sites,
        None if stored is None else Hamiltonian.from_dict(stored, n_sites),
        metadata.get("n_held_out", provenance.get("held_out", 0)),  # where older files have it
    )


def _versions() -> dict[str, str]:
    return {name: importlib.metadata.version(name) for name in ("thermorbm", "numpy", "h5py")}
