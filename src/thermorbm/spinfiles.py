"""Arrays of spins: checking, packing to bits, and users' npy, npz and HDF5 files in and out. No pickles."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from thermorbm.errors import FileError, InputError
from thermorbm.foreign import check_expansion, foreign_arrays, is_hdf5
from thermorbm.lattice import Lattice
from thermorbm.storage import atomic_path, check_readable, is_ours

BLOCK_SPINS = 1 << 22  # files are streamed in blocks of about this many spins
MOST_LISTED = 400  # characters of names in an error
# Bytes of a npy header, of which NumPy refuses more than 10 000, but after reading them.
MOST_HEADER = 1 << 16


class SpinArray(Protocol):
    """What arrays in memory, memory-mapped arrays and HDF5 datasets have in common."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    def __getitem__(self, rows: slice, /) -> NDArray[Any]: ...


AnyArray = TypeVar("AnyArray", bound=SpinArray)


@dataclass(frozen=True)
class Cells:
    """Configurations of cells with several sites: the last axis of `shape` are the sites of a cell."""

    shape: tuple[int, ...]

    @property
    def n_sites(self) -> int:
        return math.prod(self.shape)


Layout = Lattice | Cells


def pack(spins: NDArray[Any], low: int = -1) -> NDArray[np.uint8]:
    """(n, n_sites) of low and +1 -> (n, ceil(n_sites / 8)) bits; any other value, NaN too, is refused."""
    up = spins == 1
    wrong = ~(up | (spins == low))
    if wrong.any():
        raise InputError("spins", spins[wrong][0].item(), f"+1 or {low}")
    return np.packbits(up, axis=1, bitorder="little")


def unpack(packed: NDArray[np.uint8], n_sites: int) -> NDArray[np.int8]:
    """The inverse of `pack`: (n, n_sites) int8 of +-1."""
    spins = np.unpackbits(packed, axis=1, count=n_sites, bitorder="little").view(np.int8)
    spins *= 2
    spins -= 1
    return spins


def check_layout(array: SpinArray, layout: Layout | None) -> int:
    """The number of sites of an array of configurations, or InputError if it cannot be one."""
    shape = array.shape
    if array.dtype.kind not in "biuf":
        raise InputError("spins", array.dtype.name, "an array of numbers +1 and -1")
    if layout is None:
        fits, wanted = len(shape) == 2, "(n, n_sites)"
        remedy = "give the lattice if the array is laid out like it"
    else:
        fits = shape[1:] in ((layout.n_sites,), layout.shape)
        wanted, remedy = f"(n, {layout.n_sites})", f"or (n, {', '.join(map(str, layout.shape))})"
        remedy += f"; cells of {layout.shape[-1]} sites" if isinstance(layout, Cells) else ""
    if not fits or math.prod(shape) == 0:
        raise InputError("spins", shape, f"a non-empty array of shape {wanted}", remedy)
    return math.prod(shape[1:])


def pack_array(array: SpinArray, layout: Layout | None, low: int) -> NDArray[np.uint8]:
    """All configurations of `array`, checked and packed block by block."""
    n_sites = check_layout(array, layout)
    n_rows = max(1, BLOCK_SPINS // n_sites)
    blocks = (array[start : start + n_rows] for start in range(0, array.shape[0], n_rows))
    return np.concatenate([pack(block.reshape(-1, n_sites), low) for block in blocks])


def read_packed(path: str | Path, layout: Layout | None, name: str | None) -> tuple[NDArray[np.uint8], int]:
    """Packed configurations and number of sites of a users' file of +-1, or of 0/1 with 0 for spin -1."""
    try:
        with _open_array(Path(path), layout, name) as array:
            n_sites = check_layout(array, layout)
            return pack_array(array, layout, _lower_value(array)), n_sites
    except InputError as error:
        raise FileError(path, str(error)) from error


def _lower_value(array: SpinArray) -> int:
    # The first configuration that is not all up tells; `pack` then refuses a mixture.
    n_rows = max(1, BLOCK_SPINS // math.prod(array.shape[1:]))
    for start in range(0, array.shape[0], n_rows):
        block = array[start : start + n_rows]
        if (block == 0).any():
            return 0
        if (block != 1).any():
            return -1
    return -1


@contextmanager
def _open_array(path: Path, layout: Layout | None, name: str | None) -> Iterator[SpinArray]:
    """The array of configurations in a npy, npz or HDF5 file, told apart by content."""
    check_readable(path)
    if is_ours(path):
        raise FileError(path, "is a file of thermorbm already", "use it as it is")
    try:
        with open(path, "rb") as file:
            start = file.read(12)
        if start.startswith(npy_format.MAGIC_PREFIX):
            _check_header(start)
            with np.errstate(over="ignore"):  # of sizes beyond all numbers, which are refused next
                array = np.load(path, mmap_mode="r", allow_pickle=False)
            yield array
        elif is_hdf5(path) or zipfile.is_zipfile(path):
            with stored_arrays(path) as arrays:
                chosen = _choose(path, arrays, layout, name)
                check_expansion(path, chosen)
                yield chosen.read() if isinstance(chosen, _ZippedArray) else chosen
        else:
            raise FileError(path, "is not a npy, npz or HDF5 file", "convert it with numpy.save")
    except (FileError, InputError, MemoryError):
        raise
    except Exception as error:  # readers of damaged files raise nearly anything
        raise FileError(path, f"cannot be read as npy, npz or HDF5: {error}") from error


@contextmanager
def stored_arrays(path: Path) -> Iterator[Mapping[str, SpinArray]]:
    """All arrays of a npz or HDF5 file by name; what they hold is read when they are asked for rows."""
    if is_hdf5(path):
        with foreign_arrays(path) as arrays:
            yield arrays
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            yield _zipped_arrays(archive)
    else:
        raise FileError(path, "is not a npz or HDF5 file", "only these hold arrays by name")


@dataclass(frozen=True, eq=False)
class _ZippedArray:
    """An array of a npz file, of which nothing but the header has been read."""

    archive: zipfile.ZipFile
    member: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def __getitem__(self, rows: slice, /) -> NDArray[Any]:
        return self.read()[rows]

    def read(self) -> NDArray[Any]:
        with self.archive.open(self.member) as file:
            array: NDArray[Any] = npy_format.read_array(file, allow_pickle=False)
        return array


def _zipped_arrays(archive: zipfile.ZipFile) -> dict[str, _ZippedArray]:
    """All arrays of a npz file by name; members that are no arrays are left out."""
    arrays = {}
    for member in archive.namelist():
        with archive.open(member) as file:
            start = file.read(12)
            if not start.startswith(npy_format.MAGIC_PREFIX):
                continue
            _check_header(start)
            file.seek(8)  # behind the version
            is_first = start[6:8] == b"\1\0"
            read = npy_format.read_array_header_1_0 if is_first else npy_format.read_array_header_2_0
            shape, _, dtype = read(file)
        arrays[member.removesuffix(".npy")] = _ZippedArray(archive, member, shape, dtype)
    return arrays


def _check_header(start: bytes) -> None:
    """ValueError if a npy header is far longer than any. start: the first 12 bytes of the file."""
    length = int.from_bytes(start[8:12], "little")
    if start[6:7] != b"\1" and length > MOST_HEADER:  # the first version has two bytes for it
        raise ValueError(f"it declares a header of {length} bytes, at most {MOST_HEADER} are read")


def _choose(path: Path, arrays: Mapping[str, AnyArray], layout: Layout | None, name: str | None) -> AnyArray:
    """The array called `name`, or the only one that can hold configurations."""
    if name is None:
        fitting = [key for key, array in arrays.items() if _fits(array, layout)]
    else:
        fitting = [key for key in arrays if key == name]
    if len(fitting) == 1:
        return arrays[fitting[0]]
    if name is None and len(arrays) == 1:
        return next(iter(arrays.values()))  # its own error says what is wrong with it
    listed = ", ".join(f"{key} {array.shape}" for key, array in arrays.items()) or "none"
    listed = listed if len(listed) <= MOST_LISTED else f"{listed[:MOST_LISTED]} ..."
    if name is not None:
        raise FileError(path, f"holds no array {name!r}", f"arrays found: {listed}")
    problem = "several arrays could be the configurations" if fitting else "no array fits the lattice"
    raise FileError(path, problem, f"name one with --array; arrays found: {listed}")


def _fits(array: SpinArray, layout: Layout | None) -> bool:
    try:
        return check_layout(array, layout) > 0
    except InputError:
        return False


def write_npy(path: str | Path, shape: tuple[int, int], blocks: Iterable[NDArray[np.int8]]) -> None:
    """Streams blocks of int8 spins into one npy file of that shape, atomically."""
    with atomic_path(path) as temporary, open(temporary, "wb") as file:
        _stream_npy(file, shape, blocks)


def write_npz(
    path: str | Path,
    shape: tuple[int, int],
    blocks: Iterable[NDArray[np.int8]],
    others: Mapping[str, NDArray[Any]],
) -> None:
    """Streams blocks of int8 spins into the array `spins` of a compressed npz file, with small `others`."""
    with (
        atomic_path(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        with archive.open("spins.npy", "w", force_zip64=True) as file:
            _stream_npy(file, shape, blocks)
        for name, array in others.items():
            with archive.open(f"{name}.npy", "w") as file:
                npy_format.write_array(file, array, allow_pickle=False)


def _stream_npy(file: IO[bytes], shape: tuple[int, int], blocks: Iterable[NDArray[np.int8]]) -> None:
    header = {"descr": "|i1", "fortran_order": False, "shape": shape}
    npy_format.write_array_header_1_0(file, header)
    for block in blocks:
        file.write(block.data)
