"""Minibatches straight from the packed bits; batch number u is a function of the seed and u alone."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch
from numpy.random import SeedSequence, default_rng
from numpy.typing import NDArray

from thermorbm.dataset import Dataset
from thermorbm.errors import InputError


class Batches:
    """Endless minibatches: a new random order every epoch, the incomplete last batch of each left out."""

    def __init__(
        self,
        data: Dataset,
        batch_size: int,
        seed: SeedSequence,
        flip: bool,
        translate: bool,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        if batch_size > len(data):
            raise InputError("batch_size", batch_size, f"at most the number of configurations, {len(data)}")
        if translate and data.lattice is None:
            raise InputError("translate", True, "False for data without a lattice shape")
        self._data, self._size = data, batch_size
        self._flip, self._translate = flip, translate
        self._device, self._spins_of_byte = device, _spins_of_byte().to(device, dtype)
        self._orders, self._changes = seed.spawn(2)
        self._order = lru_cache(maxsize=1)(self._shuffled)

    @property
    def n_sites(self) -> int:
        return self._data.n_sites

    @property
    def per_epoch(self) -> int:
        return len(self._data) // self._size

    def batch(self, update: int) -> torch.Tensor:
        """(batch_size, n_sites) of +-1 for that update."""
        epoch, place = divmod(update, self.per_epoch)
        rows = np.sort(self._order(epoch)[place * self._size : (place + 1) * self._size])
        packed = self._data.packed[rows]
        if not (self._flip or self._translate):
            return self._unpacked(packed)
        rng = default_rng(_child(self._changes, update))
        if self._flip:
            packed = packed ^ rng.choice(np.array([0, 255], np.uint8), (self._size, 1))
        spins = self._unpacked(packed)
        return self._translated(spins, rng) if self._translate else spins

    def _shuffled(self, epoch: int) -> NDArray[np.int64]:
        return default_rng(_child(self._orders, epoch)).permutation(len(self._data))

    def _unpacked(self, packed: NDArray[np.uint8]) -> torch.Tensor:
        places = torch.from_numpy(packed).to(self._device, torch.int32)
        spins = torch.nn.functional.embedding(places, self._spins_of_byte).flatten(1)
        return spins[:, : self._data.n_sites].contiguous()

    def _translated(self, spins: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
        """One shift for the whole batch."""
        assert self._data.lattice is not None
        shape = self._data.lattice.shape
        shifts = [int(rng.integers(side)) for side in shape]
        axes = list(range(1, len(shape) + 1))
        return torch.roll(spins.reshape(-1, *shape), shifts, axes).reshape(spins.shape)


def _spins_of_byte() -> torch.Tensor:
    """(256, 8): the spins of every byte, which is quicker to look up than to unpack and to convert."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    return torch.from_numpy(bits.astype(np.int8) * 2 - 1)


def _child(seed: SeedSequence, number: int) -> SeedSequence:
    """The child of that number, without counting the children before it."""
    return SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, number))
