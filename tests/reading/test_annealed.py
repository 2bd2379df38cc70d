"""Large dense machines are annealed with rounded weights, and energies that are joined with ln Z follow."""

import numpy as np
import pytest

import thermorbm as tr
from thermorbm.model import rounded
from thermorbm.model.rounded import RoundedRBM
from thermorbm.reading import entropy


def test_only_large_dense_machines_in_single_precision_are_rounded(monkeypatch):
    W = np.full((8, 32), 0.1, np.float32)
    small = tr.RBM(W, np.zeros(32), np.zeros(8))
    assert entropy.as_annealed(small) is small
    monkeypatch.setattr(rounded, "LARGE", W.size)
    assert isinstance(entropy.as_annealed(small), RoundedRBM)
    double = tr.RBM(W.astype(np.float64), np.zeros(32), np.zeros(8))
    assert entropy.as_annealed(double) is double


def test_the_bracket_is_that_of_the_rounded_machine(monkeypatch):
    """One weight is thousands of times as large as the others: rounding changes the machine visibly."""
    data = tr.sample((6, 6), temperature=3.0, n_samples=400, seed=1, progress=False)
    W = np.random.default_rng(1).normal(scale=0.1, size=(20, 36)).astype(np.float32)
    W[0, 0] = 1e3
    machine = tr.RBM(W, np.zeros(36), np.zeros(20))
    monkeypatch.setattr(entropy, "EXACT_UNITS", 1)
    monkeypatch.setattr(rounded, "LARGE", W.size)
    ln_z = entropy.log_partition(machine, seed=1)
    both = entropy.edges(machine, data, ln_z, seed=2, follows_h=True)
    energies = RoundedRBM(machine).visible_energy(data.spins())
    nll = (energies.mean() + ln_z.value) / 36
    assert abs(energies.mean() - machine.visible_energy(data.spins()).mean()) > 1e-4
    assert both.nll.value == pytest.approx(nll, abs=1e-12)
