"""Scaling of the gradient along stiff directions: explicit projectors, and what must not change."""

import itertools

import numpy as np
import pytest
import torch
from numpy.random import SeedSequence

from thermorbm import Dataset
from thermorbm.training.modes import StiffModes, leading_modes

CPU = torch.device("cpu")
N_VISIBLE, N_HIDDEN, BATCH, MODES = 24, 10, 64, 4


def ordered_spins(n=400, seed=1):
    """Spins with a common sign, and two halves that often oppose each other: two stiff directions."""
    rng = np.random.default_rng(seed)
    whole, half = rng.choice([-1, 1], (2, n, 1))
    wave = np.where(np.arange(N_VISIBLE) < N_VISIBLE // 2, 1, -1)
    field = whole * 0.8 + half * wave * 0.5
    return np.where(rng.normal(size=(n, N_VISIBLE)) + field > 0, 1, -1)


def batch_and_means(seed=2, n_hidden=N_HIDDEN):
    """(BATCH, N_VISIBLE) spins and hidden means that follow their common sign."""
    v = ordered_spins(BATCH, seed)
    noise = np.random.default_rng(seed).normal(size=(BATCH, n_hidden))
    means = np.tanh(noise + 3 * v.mean(axis=1, keepdims=True))
    return torch.tensor(v, dtype=torch.float32), torch.tensor(means, dtype=torch.float32)


def stiff_modes(spins, n_modes=MODES, n_hidden=N_HIDDEN, batch=BATCH):
    return StiffModes(Dataset.from_spins(spins), n_modes, n_hidden, batch, SeedSequence(3), CPU)


def gradient(n_hidden=N_HIDDEN, seed=4):
    return torch.tensor(np.random.default_rng(seed).normal(size=(n_hidden, N_VISIBLE)), dtype=torch.float32)


def principal_directions(rows, n_modes):
    """(width, n_modes) from the eigenvectors of the full second moment, stiffest last."""
    _, vectors = np.linalg.eigh(rows.T @ rows / len(rows))
    return vectors[:, -n_modes:]


def projectors(directions):
    """One onto each direction, and one onto all that is orthogonal to them."""
    single = [np.outer(q, q) for q in directions.T]
    return [*single, np.eye(len(directions)) - sum(single)]


def response(modes, v, means, rate, left, right):
    """By how much one product of directions is scaled; nothing else may come out."""
    pair = torch.tensor(np.outer(left, right), dtype=torch.float32)
    softened = modes.soften(pair.clone(), v, means, rate, update=0).double().numpy()
    scale = float(left @ softened @ right)
    np.testing.assert_allclose(softened, scale * np.outer(left, right), atol=5e-4)
    return scale


def unit(vector):
    return vector / np.linalg.norm(vector)


def test_softening_scales_every_pair_of_directions_and_nothing_else():
    """G -> sum over pairs of projectors of s P_h G P_v; s < 1 where rate * curvature > 1, else s = 1."""
    spins, (v, means), g, rate = ordered_spins(), batch_and_means(), gradient(), 0.3
    modes = stiff_modes(spins)
    softened = modes.soften(g.clone(), v, means, rate, update=0).double().numpy()
    q_h = principal_directions(means.double().numpy(), MODES)
    q_v = principal_directions(spins.astype(float), MODES)
    P_h, P_v = projectors(q_h), projectors(q_v)
    rng, expected = np.random.default_rng(6), 0.0
    stiff = rate * modes.state["curvature"].double().numpy()
    for k, j in itertools.product(range(MODES + 1), repeat=2):
        left = q_h[:, k] if k < MODES else unit(P_h[-1] @ rng.normal(size=N_HIDDEN))
        right = q_v[:, j] if j < MODES else unit(P_v[-1] @ rng.normal(size=N_VISIBLE))
        scale = response(modes, v, means, rate, left, right)
        assert 0 < scale < 1 if stiff[k, j] > 1.01 else scale == pytest.approx(1, abs=0.01)
        expected = expected + scale * P_h[k] @ g.double().numpy() @ P_v[j]
    assert (stiff > 1.01).sum() > 3
    np.testing.assert_allclose(softened, expected, atol=5e-3)
    assert np.linalg.norm(softened) < g.norm()


def test_the_directions_of_nothing_stiff_are_left_alone():
    spins, (v, means), g = ordered_spins(), batch_and_means(), gradient()
    hidden = projectors(principal_directions(means.double().numpy(), MODES))
    visible = projectors(principal_directions(spins.astype(float), MODES))
    orthogonal = torch.tensor(hidden[-1] @ g.double().numpy() @ visible[-1], dtype=torch.float32)
    softened = stiff_modes(spins).soften(orthogonal.clone(), v, means, 5.0, update=0)
    np.testing.assert_allclose(softened, orthogonal, atol=5e-4)
    slow = stiff_modes(spins).soften(g.clone(), v, means, 1e-6, update=0)
    np.testing.assert_allclose(slow, g, atol=1e-6)  # a small enough rate needs no softening


def test_directions_are_orthonormal_and_led_by_the_order():
    directions, _ = leading_modes(torch.tensor(ordered_spins(), dtype=torch.float32), MODES)
    np.testing.assert_allclose(directions.T @ directions, np.eye(MODES), atol=1e-4)
    overlaps = directions.sum(0).abs() / np.sqrt(N_VISIBLE)
    assert overlaps.max() > 0.95


@pytest.mark.parametrize("n_rows", [2, 5, 300])
def test_data_that_are_all_alike(n_rows):
    """At low temperature all spins agree: one direction, and nothing beyond it."""
    modes = stiff_modes(np.ones((n_rows, N_VISIBLE)), batch=4)
    for update in range(2):
        softened = modes.soften(gradient(), torch.ones(4, N_VISIBLE), torch.ones(4, N_HIDDEN), 0.5, update)
        assert torch.isfinite(softened).all()
        assert softened.norm() <= gradient().norm() * (1 + 1e-5)


@pytest.mark.parametrize(("n_modes", "n_hidden", "n_rows"), [(1, 1, 3), (50, 1, 2), (50, 3, 400), (1, 10, 1)])
def test_more_modes_than_directions(n_modes, n_hidden, n_rows):
    v, means = batch_and_means(n_hidden=n_hidden)
    modes = stiff_modes(ordered_spins()[:n_rows], n_modes, n_hidden, batch=2)
    g = gradient(n_hidden)
    softened = modes.soften(g.clone(), v[:2], means[:2], 0.5, update=0)
    assert softened.shape == g.shape
    assert torch.isfinite(softened).all()
    assert softened.norm() <= g.norm() * (1 + 1e-5)


def test_a_machine_that_has_diverged_is_left_to_the_verdict():
    """Eigenvectors of nan do not exist; the directions stay those of the last look."""
    modes, (v, means) = stiff_modes(ordered_spins()), batch_and_means()
    modes.soften(gradient(), v, means, 0.3, update=0)
    before = modes.state["hidden"].clone()
    modes.soften(gradient(), v, torch.full_like(means, torch.nan), 0.3, update=10)
    assert torch.equal(modes.state["hidden"], before)
