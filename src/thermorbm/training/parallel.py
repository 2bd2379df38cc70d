"""Data-parallel training: every rank of torch.distributed takes its rows of each batch and of the chains.

Random numbers are those of one rank: each rank draws its part of the common stream and steps over the rest.
So the ranks together do what one rank does, up to the order of a sum, and save the same state: a checkpoint
can be continued by any number of ranks, if all of them see the file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from numpy.random import SeedSequence
from numpy.typing import NDArray

from thermorbm.errors import InputError
from thermorbm.model.random_units import PER_STEP, skip_units
from thermorbm.training.chains import PersistentChains
from thermorbm.training.design import DenseDesign, Design
from thermorbm.training.few_couplings import CouplingDesign, CouplingTrainer
from thermorbm.training.layers import Parameters
from thermorbm.training.recipe import Recipe
from thermorbm.training.trainer import Arrays, Trainer, Training
from thermorbm.training.units import KernelUnits, UnitSource, unit_source

Rows = TypeVar("Rows", torch.Tensor, NDArray[Any])


def choose_trainer(design: Design, recipe: Recipe) -> Callable[..., Training]:
    """The class for this process alone, or for one rank where torch.distributed has several."""
    if isinstance(design, CouplingDesign):
        return CouplingTrainer
    if not (dist.is_available() and dist.is_initialized()) or dist.get_world_size() == 1:
        return Trainer
    if recipe.batch_size % dist.get_world_size():
        wanted = f"a multiple of the number of ranks, {dist.get_world_size()}"
        raise InputError("batch_size", recipe.batch_size, wanted)
    if not isinstance(design, DenseDesign):
        raise InputError("model", "symmetric", "dense where several ranks train together")
    return ParallelTrainer


class ParallelTrainer(Trainer):
    """One rank's part of a training run. All methods that talk to other ranks must be called by all."""

    @property
    def _rank(self) -> int:
        return dist.get_rank()

    @property
    def _n_ranks(self) -> int:
        return dist.get_world_size()

    def state(self) -> Arrays:
        """As of one rank: all chains together."""
        parts = super().state()
        for name in self.chains.state:
            mine = torch.from_numpy(parts[f"chains.{name}"]).to(self.layers.device)
            parts[f"chains.{name}"] = _gathered(mine).cpu().numpy()
        return parts

    def restore(self, arrays: Arrays) -> None:
        parts = {f"chains.{name}": self._mine(arrays[f"chains.{name}"]) for name in self.chains.state}
        super().restore({**arrays, **parts})

    def _gradient(self) -> Parameters:
        batch = self.batches.batch(self.update)
        v = self._mine(batch)
        x = self.layers.hidden_inputs(v)
        means = self.layers.hidden_means(x)
        model = self.chains.negative_phase(batch, x, self.update)  # any of it may renew a chain anywhere
        gradient = self._direction((v, means), model, _gathered(means))
        for name, part in gradient.items():
            gradient[name] = part.float()
            dist.all_reduce(gradient[name])
            gradient[name] /= self._n_ranks
        return gradient

    def _make_units(self, seed: SeedSequence, device: torch.device) -> UnitSource:
        if device.type == "cpu":
            return _PartOfUnits(seed, self._rank, self._n_ranks)
        # As random, but not the numbers of one rank.
        return unit_source(seed.spawn(self._n_ranks)[self._rank], device)

    def _make_persistent(self) -> PersistentChains:
        start, life = self.batches.batch(self.n_updates), self.recipe.chain_life
        part = _PartOfChains(
            self.layers,
            self.units,
            self.recipe.gibbs_steps,
            self._mine(start),
            n_fresh=len(start) / life if life else 0.0,
            fresh_until=self._fresh_until,
        )
        part.place(self._rank * (len(start) // self._n_ranks), len(start))
        return part

    def _mine(self, rows: Rows) -> Rows:
        """This rank's rows of a tensor or array."""
        n_rows = len(rows) // self._n_ranks
        return rows[self._rank * n_rows : (self._rank + 1) * n_rows]


class _PartOfChains(PersistentChains):
    """Some of the chains of all ranks. The batch it is shown is that of all ranks."""

    def place(self, first: int, n_all: int) -> None:
        """Number of the first chain here, and how many there are everywhere."""
        self._first, self._n_all = first, n_all

    def _put(self, chains: torch.Tensor, places: torch.Tensor, fresh: torch.Tensor) -> None:
        here = (places >= self._first) & (places < self._first + len(chains))
        chains[places[here] - self._first] = fresh[here]


class _PartOfUnits(KernelUnits):
    """The rows of one rank, drawn as if all rows of all ranks were drawn together."""

    def __init__(self, seed: SeedSequence, rank: int, n_ranks: int) -> None:
        super().__init__(seed)
        self._rank, self._n_ranks = rank, n_ranks

    def draw(self, inputs: torch.Tensor) -> torch.Tensor:
        size = inputs.numel()
        before, shift = divmod(self._rank * size, PER_STEP)
        n_drawn, n_all = (math.ceil(n / PER_STEP) for n in (shift + size, self._n_ranks * size))
        skip_units(self.state, before)
        padded = torch.cat([inputs.new_zeros(shift), inputs.reshape(-1)])
        drawn = super().draw(padded)[shift:].reshape(inputs.shape)
        skip_units(self.state, n_all - before - n_drawn)
        return drawn


def _gathered(rows: torch.Tensor) -> torch.Tensor:
    """The rows of all ranks, one after the other."""
    parts = [torch.empty_like(rows) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, rows.contiguous())
    return torch.cat(parts)
