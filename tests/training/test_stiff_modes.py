"""Scaling of both layers along stiff directions: explicit projectors, and what must not change."""

import numpy as np
import pytest
import torch
from numpy.random import SeedSequence

import thermorbm as tr
from thermorbm import Dataset
from thermorbm.training import modes as room
from thermorbm.training.modes import StiffModes, eigenvectors, stiff_part
from thermorbm.training.order import find_order

CPU = torch.device("cpu")
N_VISIBLE, N_HIDDEN, BATCH, MODES = 24, 10, 64, 4


@pytest.fixture(autouse=True)
def low_limits(monkeypatch):
    """Limits that these few units reach."""
    monkeypatch.setattr(room, "VISIBLE_LIMIT", 2.0)
    monkeypatch.setattr(room, "HIDDEN_LIMIT", 1.5)


def ordered_spins(n=400, seed=1):
    """Spins with a common sign, and two halves that often oppose each other: two stiff directions."""
    rng = np.random.default_rng(seed)
    whole, half = rng.choice([-1, 1], (2, n, 1))
    wave = np.where(np.arange(N_VISIBLE) < N_VISIBLE // 2, 1, -1)
    field = whole * 0.8 + half * wave * 0.5
    return np.where(rng.normal(size=(n, N_VISIBLE)) + field > 0, 1, -1)


def hidden_means(seed=2, n_hidden=N_HIDDEN):
    """Hidden means that follow the common sign of some spins."""
    v = ordered_spins(BATCH, seed)
    noise = np.random.default_rng(seed).normal(size=(BATCH, n_hidden))
    return torch.tensor(np.tanh(noise + 3 * v.mean(axis=1, keepdims=True)), dtype=torch.float32)


def stiff_modes(spins, n_modes=MODES, n_hidden=N_HIDDEN, n_order=0):
    order = find_order(Dataset.from_spins(spins), SeedSequence(3))
    return StiffModes(order, n_modes, n_hidden, n_order, CPU)


def layers(n_hidden=N_HIDDEN, seed=4):
    """Rows v and h of any size."""
    rng = np.random.default_rng(seed)
    return tuple(
        torch.tensor(rng.normal(size=(7, width)), dtype=torch.float32) for width in (N_VISIBLE, n_hidden)
    )


def product_at(modes, means, update=0, n_hidden=N_HIDDEN):
    modes.look(means, update)
    return modes.product(*layers(n_hidden)).double().numpy()


def plain_product(n_hidden=N_HIDDEN):
    v, h = layers(n_hidden)
    return (h.T @ v).double().numpy()


def assert_not_longer(product, n_hidden=N_HIDDEN):
    assert np.isfinite(product).all()
    assert np.linalg.norm(product, 2) <= np.linalg.norm(plain_product(n_hidden), 2) * (1 + 1e-5)


def scaling(rows, n_modes, limit):
    """The full matrix that scales the leading directions of rows by (limit / eigenvalue)^(1/2)."""
    values, vectors = np.linalg.eigh(rows.T @ rows / len(rows))
    scales = np.ones(len(values))
    scales[-n_modes:] = np.sqrt(np.minimum(1, limit / values[-n_modes:]))
    return vectors @ np.diag(scales) @ vectors.T, (values > limit).sum()


def test_the_product_equals_the_full_matrices():
    """Without a unit that carries the order its direction is a stiff one like the others."""
    spins, means = ordered_spins(), hidden_means()
    spread = find_order(Dataset.from_spins(spins), SeedSequence(3)).spread
    left, n_stiff_hidden = scaling(means.double().numpy(), MODES // 2, 1.5)
    right, n_stiff_visible = scaling(spins.astype(float), MODES, 2.0 * spread)
    product = product_at(stiff_modes(spins), means)
    np.testing.assert_allclose(product, left @ plain_product() @ right, atol=5e-3)
    assert n_stiff_hidden >= 1
    assert n_stiff_visible >= 2
    assert np.linalg.norm(product) < np.linalg.norm(plain_product())


def test_units_that_carry_the_order_and_others_see_it_differently():
    """Others: limit / eigenvalue along it; the carrier: limit / its variance about the mean."""
    spins, means, (v, h) = ordered_spins(), hidden_means(), layers()
    order = find_order(Dataset.from_spins(spins), SeedSequence(3))
    u, limit = order.directions[0].astype(float), 2.0 * order.spread
    rest = spins - np.outer(spins @ u, u)
    right, _ = scaling(rest.astype(float), MODES, limit)
    outside = right - np.outer(u, u)
    span = np.mean((spins @ u) ** 2)
    assert span > limit
    left, _ = scaling(means.double().numpy(), MODES // 2, 1.5)
    expected = left @ plain_product() @ (outside + limit / span * np.outer(u, u))
    of_carrier = min(1.0, limit / order.sway[0])
    expected[0] = h[:, 0].double().numpy() @ v.double().numpy() @ (outside + of_carrier * np.outer(u, u))
    np.testing.assert_allclose(product_at(stiff_modes(spins, n_order=1), means), expected, atol=5e-3)


def test_nothing_happens_below_the_limits():
    rng = np.random.default_rng(5)
    disordered = rng.choice([-1, 1], (2000, N_VISIBLE))
    weak = torch.tensor(rng.normal(0, 0.1, (BATCH, N_HIDDEN)), dtype=torch.float32)
    np.testing.assert_allclose(product_at(stiff_modes(disordered), weak), plain_product(), atol=1e-5)


def test_the_rate_goes_with_one_over_the_root_of_the_spread():
    cold = np.where(np.random.default_rng(8).random((4000, N_VISIBLE)) < 0.975, 1, -1)
    assert stiff_modes(cold).rate_scale == pytest.approx((1 - 0.95**2) ** -0.5, rel=0.05)
    assert stiff_modes(np.ones((50, N_VISIBLE))).rate_scale == pytest.approx(0.02**-0.5)


@pytest.mark.parametrize("n_rows", [10, 400])
def test_directions_are_orthonormal_and_led_by_the_order(n_rows):
    """From the smaller of the two second-moment matrices, whichever that is."""
    directions, _ = stiff_part(torch.tensor(ordered_spins(n_rows), dtype=torch.float32), 2, 1.0)
    np.testing.assert_allclose(directions.T @ directions, np.eye(2), atol=1e-4)
    assert directions.sum(0).abs().max() / np.sqrt(N_VISIBLE) > 0.9


def test_rounding_does_not_hide_what_is_left(monkeypatch):
    """Of 2500 hidden units that agree 4 % are left: chains that are less ordered must still show it."""
    monkeypatch.setattr(room, "HIDDEN_LIMIT", 4.0)
    n_hidden, rng = 2500, np.random.default_rng(7)
    signs = torch.tensor(rng.choice([-1.0, 1.0], n_hidden), dtype=torch.float32)
    modes = stiff_modes(rng.choice([-1, 1], (500, N_VISIBLE)), n_hidden=n_hidden)
    modes.look(0.9962 * signs.repeat(BATCH, 1), 0)
    v = torch.ones(1, N_VISIBLE)
    for chain in np.linspace(0.990, 0.9962, 12):
        exact = modes.product(v, chain * signs[None])[:, 0]
        rounded = modes.product(v.bfloat16(), (chain * signs[None]).bfloat16())[:, 0].float()
        assert float(rounded @ signs) == pytest.approx(float(exact @ signs), rel=0.005)


@pytest.mark.parametrize("n_rows", [2, 5, 300])
def test_data_that_are_all_alike(n_rows):
    """At low temperature all spins agree: one direction, and nothing beyond it."""
    modes = stiff_modes(np.ones((n_rows, N_VISIBLE)))
    for update in range(2):
        assert_not_longer(product_at(modes, torch.ones(4, N_HIDDEN), update))


@pytest.mark.parametrize(("n_modes", "n_hidden", "n_rows"), [(1, 1, 3), (50, 1, 2), (50, 3, 400), (1, 10, 1)])
def test_more_modes_than_directions(n_modes, n_hidden, n_rows):
    modes = stiff_modes(ordered_spins()[:n_rows], n_modes, n_hidden)
    assert_not_longer(product_at(modes, hidden_means(n_hidden=n_hidden)[:2], n_hidden=n_hidden), n_hidden)


def test_a_machine_that_has_diverged_is_left_to_the_verdict():
    """Eigenvectors of nan do not exist; the directions stay those of the last look."""
    modes, means = stiff_modes(ordered_spins()), hidden_means()
    modes.look(means, update=0)
    before = modes.state["hidden"].clone()
    modes.look(torch.full_like(means, torch.nan), update=10)
    assert torch.equal(modes.state["hidden"], before)


def test_configurations_that_are_nearly_all_alike_are_trained():
    """Their second moments have hundreds of equal eigenvalues, which float32 does not always resolve."""
    for seed in (5, 7):
        data = tr.sample((32, 32), temperature=1.0, n_samples=300, seed=seed, progress=False)
        result = tr.train(data, 8, epochs=1, seed=seed, progress=False)
        assert np.isfinite(result.rbm.W).all()


def test_eigenvectors_of_a_matrix_that_float32_does_not_resolve(monkeypatch):
    matrix, eigh = torch.diag(torch.tensor([3.0, 1.0, 1.0])), torch.linalg.eigh

    def fails_in_float32(m):
        if m.dtype == torch.float32:
            raise torch.linalg.LinAlgError("did not converge")
        return eigh(m)

    monkeypatch.setattr(torch.linalg, "eigh", fails_in_float32)
    values, vectors = eigenvectors(matrix)
    assert values.dtype == vectors.dtype == torch.float32
    assert values.tolist() == [1.0, 1.0, 3.0]
    assert torch.allclose(vectors @ torch.diag(values) @ vectors.t(), matrix)
