"""Machines as PyTorch modules, for those who go on training them in their own way.

    module = tr.to_torch(rbm)
    optimizer = torch.optim.Adam(module.parameters())
    chains = module.gibbs(v, steps=1)
    module.contrastive_loss(v, chains).backward()
    rbm = module.to_machine()

v is a tensor (n, n_visible) of +-1. A module has the parameters of its machine under the same names and in
the same precision; those of a symmetric machine stay shared by all sites.
"""

from __future__ import annotations

import numpy as np
import torch

from thermorbm.errors import InputError
from thermorbm.model import RBM, Machine, SymmetricRBM
from thermorbm.model.convolution import window_sites


class MachineModule(torch.nn.Module):
    """A machine of +-1 units whose parameters torch can differentiate by."""

    def __init__(self, machine: Machine) -> None:
        super().__init__()
        for name, array in machine.parameters.items():
            self.register_parameter(name, torch.nn.Parameter(torch.tensor(np.array(array))))

    def hidden_inputs(self, v: torch.Tensor) -> torch.Tensor:
        """W v + c. (n, n_visible) -> (n, n_hidden)."""
        raise NotImplementedError

    def visible_inputs(self, h: torch.Tensor) -> torch.Tensor:
        """W^T h + b. (n, n_hidden) -> (n, n_visible)."""
        raise NotImplementedError

    def visible_field(self, v: torch.Tensor) -> torch.Tensor:
        """b.v of each row. (n, n_visible) -> (n,)."""
        raise NotImplementedError

    def to_machine(self) -> Machine:
        """The machine of the present parameters, as NumPy arrays."""
        raise NotImplementedError

    def forward(self, v: torch.Tensor) -> torch.Tensor:
        """The visible energy -ln sum_h exp(-E(v, h)) of each row, nats. (n, n_visible) -> (n,)."""
        size = self.hidden_inputs(v).abs()
        return -self.visible_field(v) - (size + torch.log1p(torch.exp(-2 * size))).sum(1)

    def contrastive_loss(self, v: torch.Tensor, chains: torch.Tensor) -> torch.Tensor:
        """Mean visible energy of data minus that of the machine's own chains, both (n, n_visible).

        Its gradient is that of the negative log-likelihood where the chains are in equilibrium.
        """
        loss: torch.Tensor = self(v).mean() - self(chains).mean()
        return loss

    @torch.no_grad()
    def gibbs(
        self, v: torch.Tensor, steps: int = 1, generator: torch.Generator | None = None
    ) -> torch.Tensor:
        """v after so many steps of both layers, (n, n_visible)."""
        for _ in range(steps):
            h = _drawn(self.hidden_inputs(v), generator)
            v = _drawn(self.visible_inputs(h), generator)
        return v


class DenseModule(MachineModule):
    """W (n_hidden, n_visible), b (n_visible,), c (n_hidden,)."""

    W: torch.nn.Parameter
    b: torch.nn.Parameter
    c: torch.nn.Parameter

    def hidden_inputs(self, v: torch.Tensor) -> torch.Tensor:
        """W v + c. (n, n_visible) -> (n, n_hidden)."""
        return v @ self.W.t() + self.c

    def visible_inputs(self, h: torch.Tensor) -> torch.Tensor:
        """W^T h + b. (n, n_hidden) -> (n, n_visible)."""
        return h @ self.W + self.b

    def visible_field(self, v: torch.Tensor) -> torch.Tensor:
        """b.v of each row. (n, n_visible) -> (n,)."""
        return v @ self.b

    def to_machine(self) -> RBM:
        """The machine of the present parameters, as NumPy arrays."""
        W, b, c = (tensor.detach().cpu().numpy() for tensor in (self.W, self.b, self.c))
        return RBM(W, b, c)


class SymmetricModule(MachineModule):
    """filters (n_filters, *window), visible_bias (), hidden_bias (n_filters,) on a periodic lattice.

    Where cells have several sites, filters have them along a last axis, as those of the machine.
    """

    filters: torch.nn.Parameter
    visible_bias: torch.nn.Parameter
    hidden_bias: torch.nn.Parameter
    covered: torch.Tensor
    covering: torch.Tensor

    def __init__(self, machine: SymmetricRBM) -> None:
        super().__init__(machine)
        self.shape, self.n_cell = machine.shape, machine.n_cell
        cells = window_sites(machine.shape, machine.window, machine.origin)
        # (n_cells, n_taps): the cells under the window of a cell, and those whose window has it under a tap.
        self.register_buffer("covered", torch.from_numpy(cells), persistent=False)
        self.register_buffer("covering", torch.from_numpy(np.argsort(cells, axis=0)), persistent=False)

    def hidden_inputs(self, v: torch.Tensor) -> torch.Tensor:
        """(n, n_visible) -> (n, n_hidden)."""
        cells = v.reshape(len(v), -1, self.n_cell)[:, self.covered]
        inputs = torch.einsum("nits,fts->nfi", cells, self._taps)
        return (inputs + self.hidden_bias[:, None]).flatten(1)

    def visible_inputs(self, h: torch.Tensor) -> torch.Tensor:
        """(n, n_hidden) -> (n, n_visible)."""
        units = h.reshape(len(h), len(self.filters), -1)[:, :, self.covering]
        return torch.einsum("nfjt,fts->njs", units, self._taps).flatten(1) + self.visible_bias

    def visible_field(self, v: torch.Tensor) -> torch.Tensor:
        """b.v of each row. (n, n_visible) -> (n,)."""
        return self.visible_bias * v.sum(1)

    def to_machine(self) -> SymmetricRBM:
        """The machine of the present parameters, as NumPy arrays."""
        parts = (self.filters, self.visible_bias, self.hidden_bias)
        filters, visible, hidden = (tensor.detach().cpu().numpy() for tensor in parts)
        return SymmetricRBM(filters, self.shape, visible, hidden, n_cell=self.n_cell)

    @property
    def _taps(self) -> torch.Tensor:
        """(n_filters, n_taps, n_cell)."""
        return self.filters.reshape(len(self.filters), -1, self.n_cell)


def to_torch(machine: Machine) -> MachineModule:
    """The machine as a `torch.nn.Module`, which can be trained on and turned back by its `to_machine`.

    Its call gives the visible energy, `gibbs` runs chains, and `contrastive_loss` is what to minimise.
    """
    if isinstance(machine, SymmetricRBM):
        return SymmetricModule(machine)
    if isinstance(machine, RBM):
        return DenseModule(machine)
    raise InputError("machine", machine, "an RBM or a SymmetricRBM")


def _drawn(inputs: torch.Tensor, generator: torch.Generator | None) -> torch.Tensor:
    """Units of +-1 that are up with probability 1 / (1 + exp(-2 input))."""
    return 2 * torch.bernoulli(torch.sigmoid(2 * inputs), generator=generator) - 1
