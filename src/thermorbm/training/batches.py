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
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        if batch_size > len(data):
            wanted = f"at most the number of configurations, {len(data)}"
            raise InputError("batch_size", batch_size, wanted, f"train(..., batch_size={len(data)})")
        self._data, self._size = data, batch_size
        self._device, self._spins_of_byte = device, _spins_of_byte().to(device, dtype)
        self._orders = seed.spawn(1)[0]
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
        return self._unpacked(self._data.packed[rows])

    def _shuffled(self, epoch: int) -> NDArray[np.int64]:
        return default_rng(_child(self._orders, epoch)).permutation(len(self._data))

    def _unpacked(self, packed: NDArray[np.uint8]) -> torch.Tensor:
        places = torch.from_numpy(packed).to(self._device, torch.int32)
        spins = torch.nn.functional.embedding(places, self._spins_of_byte).flatten(1)
        return spins[:, : self._data.n_sites].contiguous()


def _spins_of_byte() -> torch.Tensor:
    """(256, 8): the spins of every byte, which is quicker to look up than to unpack and to convert."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    return torch.from_numpy(bits.astype(np.int8) * 2 - 1)


def _child(seed: SeedSequence, number: int) -> SeedSequence:
    """The child of that number, without counting the children before it."""
    return SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, number))
