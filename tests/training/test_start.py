"""Where machines start: a unit that carries the order, and units that see the spins around a site."""

from dataclasses import replace

import numpy as np
import pytest

import thermorbm
from thermorbm import RBM, Dataset, Lattice, train
from thermorbm.errors import InputError
from thermorbm.training import start
from thermorbm.training.order import find_order
from thermorbm.training.start import (
    _BACKGROUND,
    _HEIGHT,
    _NOISE,
    _WIDTH,
    local_bumps,
    ordered_units,
    spread_points,
)


def test_each_unit_sees_the_spins_around_a_site():
    """Slow: one unit and one site after the other."""
    shape, n_hidden = (6, 8), 12
    W = local_bumps(n_hidden, shape, np.random.SeedSequence(1)).reshape(n_hidden, *shape)
    width = _WIDTH * (48 / n_hidden) ** 0.5
    noise = _NOISE * np.sqrt(2 / 60)
    for j, centre in enumerate(spread_points(n_hidden, 2) * shape):
        sign = np.sign(W[j].flat[np.abs(W[j]).argmax()])
        for site in np.ndindex(shape):
            apart = [abs(x - c) for x, c in zip(site, centre, strict=True)]
            square = sum(min(a, side - a) ** 2 for a, side in zip(apart, shape, strict=True))
            expected = sign * _HEIGHT * np.exp(-square / (2 * width**2))
            assert abs(W[j][site] - expected) < 5 * noise


@pytest.mark.parametrize(("n", "dimension"), [(50, 1), (400, 2), (300, 3)])
def test_points_are_spread_evenly(n, dimension):
    """None has a neighbour nearer than 0.4 of the spacing of a grid; random points come far closer."""
    points = spread_points(n, dimension)
    away = np.abs(points[:, None] - points)
    squares = (np.minimum(away, 1 - away) ** 2).sum(axis=2) + np.eye(n)
    assert np.sqrt(squares.min()) > 0.4 * n ** (-1 / dimension)


def test_signs_and_noise_come_from_the_seed():
    first, same, other = (local_bumps(50, (8, 8), np.random.SeedSequence(s)) for s in (1, 1, 2))
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)
    up = (first.sum(axis=1) > 0).mean()
    assert 0.2 < up < 0.8  # 0.5 +- 0.07


def ordered_data(share_up=0.98, shape=(12, 12), n=4000):
    rng = np.random.default_rng(3)
    up = np.where(rng.random((n, *shape)) < share_up, 1, -1) * rng.choice([-1, 1], (n, 1, 1))
    return Dataset.from_spins(up.reshape(n, -1), Lattice(shape))


@pytest.mark.parametrize("shape", [(12, 12), None])
def test_one_unit_carries_the_order_and_the_others_do_not(shape):
    order = find_order(ordered_data(), np.random.SeedSequence(1))
    W = ordered_units(20, order, shape, np.random.SeedSequence(2))["W"].astype(float)
    inputs = W @ order.strengths[0]
    wanted = 0 if shape is None else _BACKGROUND * _HEIGHT * np.mean(order.strengths[0] ** 2)
    np.testing.assert_allclose(np.abs(inputs[1:]), wanted, atol=1e-4)
    assert abs(inputs[0]) > 20


def test_a_pattern_and_its_reverse_give_the_same_machine():
    """Which of both is found is chance; only the first hidden unit may differ, in its sign."""
    order = find_order(ordered_data(), np.random.SeedSequence(1))
    reverse = replace(order, strengths=-order.strengths)
    first, second = (
        ordered_units(20, item, (12, 12), np.random.SeedSequence(2)) for item in (order, reverse)
    )
    np.testing.assert_allclose(second["W"][0], -first["W"][0], rtol=1e-6)
    np.testing.assert_allclose(second["W"][1:], first["W"][1:], atol=1e-7)


def test_the_start_has_as_many_turned_spins_as_the_data():
    """The exact cost of turning one spin of the pattern is that of independent spins of this strength."""
    data = ordered_data()
    order = find_order(data, np.random.SeedSequence(1))
    machine = RBM(**ordered_units(36, order, (12, 12), np.random.SeedSequence(2)))
    pattern = order.signs[None]
    turned = pattern * (1 - 2 * np.eye(144))
    costs = machine.visible_energy(turned) - machine.visible_energy(pattern)
    m = np.abs(order.strengths[0]).mean()
    # Inputs in the pattern itself are 1 / m times those in a typical configuration.
    np.testing.assert_allclose(costs, 2 * np.arctanh(m), rtol=0.1)


def test_bumps_of_many_units_still_see_that_turned_spins_are_neighbours(monkeypatch):
    """Cold data, a unit for less than two spins: the start is nearer to the data than with narrow bumps."""
    data = thermorbm.sample(Lattice((16, 16)), temperature=1.5, n_samples=4000, seed=1, threads=1)
    order = find_order(data, np.random.SeedSequence(1))

    def score():
        machine = RBM(**ordered_units(156, order, (16, 16), np.random.SeedSequence(2)))
        return machine.pseudo_likelihood(data.spins())

    wide = score()
    monkeypatch.setattr(start, "_LEAST_SPINS", 0.0)
    gain = score() - wide
    assert gain.mean() > 5 * gain.std() / np.sqrt(len(gain))


def test_more_patterns_than_units():
    order = find_order(ordered_data(), np.random.SeedSequence(1))
    W = ordered_units(1, order, (12, 12), np.random.SeedSequence(2))["W"]
    np.testing.assert_allclose(np.abs(W[0]), np.arctanh(np.abs(order.strengths[0])), rtol=1e-6)


def test_data_without_a_lattice_start_at_random_filters(coins):
    plain = Dataset.from_spins(coins.spins())
    options = {"n_hidden": 5, "epochs": 1, "batch_size": 50, "seed": 1, "threads": 1, "precision": "fp32"}
    assert not np.array_equal(train(coins, **options).rbm.W, train(plain, **options).rbm.W)


@pytest.mark.parametrize(
    "spins",
    [
        np.ones((60, 12)),
        np.tile(np.random.default_rng(1).choice([-1, 1], 12), (60, 1)),
        np.concatenate([np.ones((60, 1)), np.random.default_rng(2).choice([-1, 1], (60, 11))], axis=1),
        np.random.default_rng(3).choice([-1, 1], (4, 12)),
    ],
    ids=["all up", "all alike", "a constant column", "four rows"],
)
@pytest.mark.parametrize("lattice", [Lattice((3, 4)), None])
def test_poor_data_train_without_harm(spins, lattice):
    data = Dataset.from_spins(spins, lattice)
    result = train(data, n_hidden=7, epochs=20, batch_size=4, seed=1, threads=1)
    assert result.verdict.status != "diverged"
    for array in result.rbm.parameters.values():
        assert np.isfinite(array).all()


def test_bad_starts(coins):
    with pytest.raises(InputError, match="start must be one of glorot, order, got 'ordr'; did you mean"):
        train(coins, n_hidden=5, start="ordr")
    with pytest.raises(InputError, match="start must be glorot for a symmetric machine"):
        train(coins, model="symmetric", kernel=2, start="order")


def of_model(model, temperature):
    """Configurations of a Hamiltonian, and the same of which it is not known."""
    data = thermorbm.sample(model, temperature, n_samples=1500, seed=4, progress=False)
    return data, replace(data, hamiltonian=None)


@pytest.mark.parametrize(
    ("temperature", "field"), [(1.8, 0.0), (2.3, 0.0), (5.0, 0.0), (2.0, 0.2), (2.0, -0.2)]
)
def test_ferromagnets_start_as_data_of_an_unknown_hamiltonian(temperature, field):
    """Bit for bit, also where the leading pattern is noise: machines of long runs are to stay as they are."""
    both = of_model(thermorbm.hamiltonian("square", (8, 8), field=field), temperature)
    orders = [find_order(data, np.random.SeedSequence(1)) for data in both]
    np.testing.assert_array_equal([order.gauge for order in orders], 1.0)
    starts = [ordered_units(20, order, (8, 8), np.random.SeedSequence(2))["W"] for order in orders]
    assert starts[0].tobytes() == starts[1].tobytes()


def test_an_antiferromagnet_starts_as_the_ferromagnet_with_every_other_spin_turned():
    model = thermorbm.hamiltonian("square", (8, 8), coupling=-1)
    turned, _ = of_model(model, 1.8)
    checkers = np.asarray(model.ground_state * model.ground_state[0], float)
    plain = Dataset.from_spins(turned.spins() * model.ground_state, Lattice((8, 8)))
    starts = [
        ordered_units(20, find_order(data, np.random.SeedSequence(1)), (8, 8), np.random.SeedSequence(2))["W"]
        for data in (plain, turned)
    ]
    # Which of both signs the pattern is found with is chance, and the first unit follows it.
    sign = np.sign(starts[0][0] @ (starts[1][0] * checkers))
    np.testing.assert_allclose(starts[1][0] * checkers * sign, starts[0][0], rtol=1e-4)
    np.testing.assert_allclose(starts[1][1:] * checkers, starts[0][1:], atol=1e-5)
