"""The negative phase: configurations of the model, from chains that start at the data or that never stop."""

from __future__ import annotations

from functools import partial
from typing import Protocol

import torch

from thermorbm.model.exchange import meeting_rows, swap_log_ratio
from thermorbm.training.layers import Parameters, TensorLayers
from thermorbm.training.units import UnitSource

_UPDATES_BETWEEN_REVERSALS = 8

# Configurations and the means of the hidden units given them.
Phase = tuple[torch.Tensor, torch.Tensor]


class Chains(Protocol):
    """Where the model's configurations come from."""

    state: Parameters

    def negative_phase(self, v: torch.Tensor, x: torch.Tensor, update: int) -> Phase:
        """Model configurations and hidden means, given the batch v and its hidden inputs x."""


class DataChains:
    """CD-k: k Gibbs steps from the batch itself."""

    def __init__(self, layers: TensorLayers, units: UnitSource, steps: int) -> None:
        self._layers, self._units, self._steps = layers, units, steps
        self.state: Parameters = {}

    def negative_phase(self, v: torch.Tensor, x: torch.Tensor, update: int) -> Phase:
        for _ in range(self._steps):
            v = self._units.draw(self._layers.visible_inputs(self._units.draw(x)))
            x = self._layers.hidden_inputs(v)
        return v, self._layers.hidden_means(x)


class PersistentChains:
    """PCD-k, with or without replica exchange along the inverse temperature of the machine's own energy.

    Replica r samples p(v, h)^beta_r, beta_0 = 1; only replica 0 is shown to the gradient. Its configurations
    enter the gradient before they move, so that their hidden inputs are computed once, with current weights.
    The hotter replicas wait until update `tempered_from`, and start as copies of replica 0.

    Chains of an ordered machine never change the sign of m by themselves, and biases would grow without end
    to make up for a few more chains of one sign: now and then each chain of replica 0 is reversed as a whole,
    with the Metropolis probability.

    Up to update `fresh_until`, on average `n_fresh` chains per update, of the hottest replica that moves,
    start anew in turn, at data or, with `random_starts`, at data and at coin tosses alternately. Near T_c
    chains do not leave the data's mode, while a dense machine grows another, disordered one that they never
    see: starts at random find it, and the gradient takes it away.
    """

    def __init__(
        self,
        layers: TensorLayers,
        units: UnitSource,
        steps: int,
        start: torch.Tensor,
        betas: torch.Tensor,
        tempered_from: int = 0,
        n_fresh: float = 0.0,
        fresh_until: int = 0,
        random_starts: bool = False,
    ) -> None:
        """start: (n_replicas * n_chains, n_visible), replica by replica. betas: from 1 down."""
        self._layers, self._units, self._steps = layers, units, steps
        self._n_replicas, self._n_chains = len(betas), len(start) // len(betas)
        self._n_all = self._n_chains
        self._betas = betas.repeat_interleave(self._n_chains)[:, None]
        self._tempered_from, self._n_fresh, self._fresh_until = tempered_from, n_fresh, fresh_until
        self._random_starts = random_starts
        self.state: Parameters = {"chains": start.clone()}
        self.swap_rate = float("nan")

    def negative_phase(self, v: torch.Tensor, x: torch.Tensor, update: int) -> Phase:
        chains = self._moving(update)
        self._replace_some(chains[-self._n_chains :], v, update)
        tempered = len(chains) > self._n_chains
        inputs = self._layers.hidden_inputs(chains)
        if (update + 1) % _UPDATES_BETWEEN_REVERSALS == 0:
            self._reverse(chains[: self._n_chains], inputs[: self._n_chains])
        shown = chains[: self._n_chains].clone(), self._layers.hidden_means(inputs[: self._n_chains])
        for step in range(self._steps):
            if tempered:
                self._exchange(chains, inputs, (update + step) % 2)
            hidden = self._units.draw(self._cooled(inputs, tempered))
            chains.copy_(self._units.draw(self._cooled(self._layers.visible_inputs(hidden), tempered)))
            if step + 1 < self._steps:
                inputs = self._layers.hidden_inputs(chains)
        return shown

    def _replace_some(self, chains: torch.Tensor, v: torch.Tensor, update: int) -> None:
        """Starts some chains anew: at rows of v, or those with odd numbers at coin tosses."""
        if update >= self._fresh_until:
            return
        numbers = range(int(update * self._n_fresh), int((update + 1) * self._n_fresh))
        if not numbers:
            return
        fresh = v[: len(numbers)].clone()
        tossed = fresh[1 - numbers[0] % 2 :: 2]
        if self._random_starts and len(tossed):
            tossed.copy_(self._toss(tossed))
        # Each lap begins one further, so that a chain starts at data and at random in turn.
        places = [(number + number // self._n_all) % self._n_all for number in numbers]
        self._put(chains, torch.tensor(places), fresh)

    def _toss(self, like: torch.Tensor) -> torch.Tensor:
        return self._units.draw(torch.zeros_like(like))

    def _put(self, chains: torch.Tensor, places: torch.Tensor, fresh: torch.Tensor) -> None:
        chains[places] = fresh

    def _reverse(self, chains: torch.Tensor, inputs: torch.Tensor) -> None:
        """v -> -v with the Metropolis probability, in place: chains and their inputs."""
        cost = self._layers.reversal_cost(chains, inputs)
        turned = self._units.draw(unit_input(-cost)) > 0
        chains[turned] = -chains[turned]
        inputs[turned] = self._layers.reversed_inputs(inputs[turned])

    def _moving(self, update: int) -> torch.Tensor:
        """The chains that move at this update, a view of the state."""
        chains, n = self.state["chains"], self._n_chains
        if self._n_replicas == 1 or update < self._tempered_from:
            return chains[:n]
        if update == self._tempered_from:
            chains[n:] = chains[:n].repeat(self._n_replicas - 1, 1)
        return chains

    def _cooled(self, inputs: torch.Tensor, tempered: bool) -> torch.Tensor:
        return (self._betas * inputs.float()).to(inputs.dtype) if tempered else inputs

    def _exchange(self, chains: torch.Tensor, inputs: torch.Tensor, parity: int) -> None:
        """Swaps neighbouring replicas with the Metropolis probability, in place: chains and their inputs."""
        meeting = meeting_rows(self._n_replicas, self._n_chains, parity)
        a, b = (torch.from_numpy(rows).to(chains.device) for rows in meeting)
        if not len(a):
            return
        field = self._layers.visible_field(chains)
        log_ratio = swap_log_ratio(partial(self._energy, inputs, field), a, b)
        swap = self._units.draw(unit_input(log_ratio)) > 0
        self.swap_rate = float(swap.float().mean())
        i, j = a[swap], b[swap]
        for tensor in (chains, inputs):
            tensor[i], tensor[j] = tensor[j].clone(), tensor[i].clone()

    def _energy(
        self, inputs: torch.Tensor, field: torch.Tensor, rows: torch.Tensor, at: torch.Tensor
    ) -> torch.Tensor:
        """Visible energy of the rows at the inverse temperatures of the rows `at`, float32."""
        beta = self._betas[at]
        x = (beta * inputs[rows].float()).abs_()
        return -beta[:, 0] * field[rows] - (x + torch.log1p(torch.exp(-2 * x))).sum(1)


def unit_input(log_probability: torch.Tensor) -> torch.Tensor:
    """The input x of a unit that is +1 with probability min(1, exp(log_probability)) = sigma(2 x)."""
    below = log_probability.clamp(max=-1e-7)
    x = (below - torch.log(-torch.expm1(below))) / 2
    return torch.where(log_probability < -1e-7, x, 50.0)


def persistent_chains(
    layers: TensorLayers,
    units: UnitSource,
    steps: int,
    start: torch.Tensor,
    n_replicas: int,
    hottest: float,
    tempered_from: int,
    chain_life: int,
    fresh_until: int,
    random_starts: bool,
) -> PersistentChains:
    """All replicas begin at `start`, (n_chains, n_visible); inverse temperatures are evenly spaced."""
    betas = torch.linspace(1.0, hottest if n_replicas > 1 else 1.0, n_replicas, device=start.device)
    n_fresh = len(start) / chain_life if chain_life else 0.0
    everywhere = start.repeat(n_replicas, 1)
    return PersistentChains(
        layers, units, steps, everywhere, betas, tempered_from, n_fresh, fresh_until, random_starts
    )
