"""Annealing, its rungs, Bennett's estimate and the sandwich around ln Z, against enumeration and Kaufman."""

import numpy as np
import pytest
from scipy.special import expit

from oracles.bond_machine import BondMachine, exact_log_partition
from oracles.chi_squared import p_value
from oracles.random_inputs import random_parameters
from oracles.rbm_enumeration import EnumeratedRBM
from thermorbm.errors import InputError
from thermorbm.exact import TC_2D, ising_rbm, onsager
from thermorbm.lattice import Lattice
from thermorbm.model import RBM, SymmetricRBM, generator_state, sandwich
from thermorbm.model.annealing import anneal, bennett, crossing, effective_number, placed, population
from thermorbm.model.energy import log_2cosh
from thermorbm.model.first_run import find_guide, first_run
from thermorbm.model.partition import log_partition_ais
from thermorbm.model.path import STARTS, hidden_work, make_path, preferred_pattern


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-13), (np.float32, 1e-6)])
def test_the_work_of_the_hidden_layer(dtype, tolerance):
    rng = np.random.default_rng(1)
    x = (rng.normal(size=(7, 600)) * 10.0 ** rng.integers(-3, 3, size=(7, 600))).astype(dtype)
    beta, to_beta = rng.random(7).astype(np.float32), rng.random(7).astype(np.float32)
    scaled = [log_2cosh(b[:, None].astype(float) * x.astype(float)).sum(axis=1) for b in (beta, to_beta)]
    found = hidden_work(x, beta.astype(float), to_beta.astype(float))
    np.testing.assert_allclose(found, scaled[1] - scaled[0], rtol=tolerance, atol=tolerance * 600)


def on_the_path(path, beta, parameters):
    """The enumerated machine at beta: with a guide it has one hidden unit more, and twice the Z."""
    W, _, c = parameters
    W, c = beta * W, beta * c
    if path.guide:
        W = np.vstack([W, (1 - beta) * abs(path.guide) * path.pattern])
        c = np.append(c, 0.0)
    return EnumeratedRBM(W, beta * path.b + (1 - beta) * path.a, c)


KINDS_OF_PATH = [(start, guide) for start in STARTS for guide in (0.0, 0.7, -0.7)]


@pytest.mark.parametrize(("start", "guide"), KINDS_OF_PATH)
def test_works_are_differences_of_enumerated_energies(start, guide):
    parameters = random_parameters(3, 5, seed=4)
    path = make_path(RBM(*parameters), start, guide)
    here, there = (on_the_path(path, beta, parameters) for beta in (0.3, 0.8))
    v = here.v_states.astype(float)
    x = path.machine.hidden_inputs(v)
    work = path.work(v, x, np.full(len(v), 0.3), np.full(len(v), 0.8))
    energies = [[truth.visible_energy(row) for row in v] for truth in (here, there)]
    np.testing.assert_allclose(work, np.subtract(*energies), rtol=1e-12, atol=1e-12)
    doubled = np.log(2) if guide else 0.0
    start_log_z = on_the_path(path, 0.0, parameters).log_z - doubled
    assert path.log_start == pytest.approx(start_log_z, rel=1e-13)


@pytest.mark.parametrize("guide", [0.4, -0.4])
def test_chains_of_a_guided_path_start_in_its_two_fields(guide):
    parameters = random_parameters(3, 4, seed=2, scale=0.8)
    path = make_path(RBM(*parameters), guide=guide)
    v = path.start(50_000, generator_state(3))
    assert p_value(states(v), on_the_path(path, 0.0, parameters).p_v) > 1e-4


def test_mean_field_starts_at_a_fixed_point():
    rbm = RBM(*random_parameters(6, 8, seed=1, scale=0.3))
    path = make_path(rbm, "mean-field")
    m = np.tanh(path.a)[None]
    again = rbm.visible_inputs(np.tanh(rbm.hidden_inputs(m)))[0]
    np.testing.assert_allclose(again, path.a, rtol=1e-9)
    with pytest.raises(InputError, match="start must be one of bias, zero, mean-field, got 'biased'"):
        make_path(rbm, "biased")


@pytest.mark.parametrize(("start", "guide"), KINDS_OF_PATH)
def test_steps_keep_the_distribution_at_their_rung(start, guide):
    parameters = random_parameters(3, 4, seed=2, scale=0.8)
    path, n = make_path(RBM(*parameters), start, guide), 50_000
    truth = on_the_path(path, 0.6, parameters)
    v = truth.v_states[np.random.default_rng(3).choice(16, n, p=truth.p_v)].astype(float)
    state = generator_state(1)
    for _ in range(4):
        path.gibbs(v, path.machine.hidden_inputs(v), np.full(n, 0.6), state)
    assert p_value(states(v), truth.p_v) > 1e-4


def states(v):
    """How often each state occurs, in the order of the enumeration."""
    return np.bincount((v > 0) @ (1 << np.arange(v.shape[1])[::-1]), minlength=1 << v.shape[1])


@pytest.mark.parametrize(("n_rungs", "guide"), [(1, 0.0), (3, 0.0), (10, 0.0), (3, 0.5)])
def test_weights_of_both_directions_are_unbiased(n_rungs, guide):
    """Few rungs and many chains: the mean of w is the ratio of partition functions to its standard error."""
    parameters = random_parameters(3, 4, seed=2)
    path, truth, n = make_path(RBM(*parameters), guide=guide), EnumeratedRBM(*parameters), 100_000
    betas, state = np.linspace(0, 1, n_rungs + 1), generator_state(5)
    there = anneal(path, betas, path.start(n, state), state)
    v = truth.v_states[np.random.default_rng(6).choice(16, n, p=truth.p_v)].astype(float)
    back = anneal(path, betas[::-1], v, state)
    assert there.works.shape == back.works.shape == (n_rungs, n)
    for run, ratio in ((there, truth.log_z - path.log_start), (back, path.log_start - truth.log_z)):
        w = np.exp(run.log_weights - ratio)
        assert abs(w.mean() - 1) < 4 * w.std() / np.sqrt(n)
        assert run.log_weights.mean() < ratio  # Jensen: on average work is lost


def test_a_population_ends_in_equilibrium():
    parameters = random_parameters(3, 4, seed=8, scale=0.9)
    path, n = make_path(RBM(*parameters)), 20_000
    state = generator_state(2)
    v = path.start(n, state)
    families = population(path, np.linspace(0, 1, 6), v, state, np.random.default_rng(3))
    truth = EnumeratedRBM(*parameters)
    # Copies are made in order of chains, and chains of a family resemble each other: half the chains count.
    counts = states(v) * (len(np.unique(families)) / n)
    assert p_value(counts, truth.p_v) > 1e-4
    assert 2 < len(np.unique(families)) < n


def test_effective_number():
    assert effective_number(np.full(10, -1e4)) == pytest.approx(10)
    assert effective_number(np.array([0.0, -1e5, -1e5])) == pytest.approx(1)
    assert effective_number(np.log([2.0, 1.0])) == pytest.approx(9 / 5)


def normal_works(d, spread, n, rng):
    """Works that obey Crooks: normal, with the mean lost work spread^2 / 2 in either direction."""
    return (rng.normal(sign * d - spread**2 / 2, spread, size=n) for sign in (1, -1))


@pytest.mark.parametrize("sizes", [(100, 100), (50, 200)])
def test_bennett_on_normal_works(sizes):
    rng, z = np.random.default_rng(1), []
    for _ in range(400):
        forward, reverse = (
            w[:n] for w, n in zip(normal_works(7.0, 1.2, max(sizes), rng), sizes, strict=True)
        )
        found = bennett(forward, reverse)
        z.append((found.value - 7.0) / found.error)
    assert abs(np.mean(z)) < 4 / np.sqrt(400)
    assert abs(np.std(z) - 1) < 4 / np.sqrt(2 * 400)


def test_bennett_with_one_work_only_is_that_work():
    found = crossing(np.full(5, 3.0), np.full(4, -3.0), np.random.default_rng(1))
    assert found.value.value == pytest.approx(3.0)
    assert max(found.value.error, found.forward.error, found.reverse.error) < 1e-14
    assert found.overlap == pytest.approx(1)


def test_bennett_with_works_far_apart_lies_between_them():
    found = crossing(np.array([-3000.0, -2990.0]), np.array([-2000.0, -2010.0]), np.random.default_rng(1))
    assert found.value.value == pytest.approx(-500, abs=20)  # between -2990 and 2000, as far from both
    assert found.overlap == 0
    assert np.isfinite(found.value.error)


@pytest.mark.parametrize("spread", [0.5, 3.0, 9.0])
def test_bounds_stand_on_either_side_and_the_overlap_is_that_of_two_normal_laws(spread):
    rng, n = np.random.default_rng(2), 4096
    found = crossing(*normal_works(0.0, spread, n, rng), rng)
    assert found.forward.value - 4 * found.forward.error < 0 < found.reverse.value + 4 * found.reverse.error
    nodes, weights = np.polynomial.hermite_e.hermegauss(200)
    accepted = expit(spread * nodes - spread**2 / 2)
    weights /= weights.sum()
    mean = weights @ accepted
    error = np.sqrt(weights @ (accepted - mean) ** 2 / n)
    assert abs(found.overlap - 2 * mean) < 4 * 2 * error


def test_rungs_stand_where_works_vary():
    """Ten times the spread in windows 12 to 19 of 32, a tenth of the mean density everywhere."""
    rng, betas, n_chains = np.random.default_rng(1), np.linspace(0, 1, 129), 4000
    spread = np.where((betas[1:] > 12 / 32) & (betas[1:] <= 20 / 32), 10.0, 1.0)
    found = placed(betas, rng.normal(size=(128, n_chains)) * spread[:, None], 280)
    assert len(found) == 281
    assert (found[0], found[-1]) == (0, 1)
    assert (np.diff(found) > 0).all()
    lengths = np.repeat([1.0, 10.0, 1.0], [12, 8, 12])
    lengths = np.convolve(np.pad(lengths, 1, mode="edge"), [0.25, 0.5, 0.25], mode="valid")
    density = lengths + 0.1 * lengths.mean()
    share = density[12:20].sum() / density.sum()
    noise = 1.17 / np.sqrt(8 * n_chains)  # of a standard deviation from quartiles, over eight windows
    assert abs(np.mean((found > 12 / 32) & (found < 20 / 32)) - share) < 4 * share * noise + 1 / 280


def test_rungs_of_a_machine_without_weights():
    found = log_partition_ais(RBM(np.zeros((3, 4)), np.ones(4), np.zeros(3)))
    assert found.value == pytest.approx(3 * np.log(2) + 4 * np.log(2 * np.cosh(1)))
    assert found.error < 1e-14
    assert found.verdict == "ok"


@pytest.mark.parametrize(("start", "dtype"), [("bias", np.float64), ("zero", np.float32)])
def test_errors_cover_the_exact_value(start, dtype):
    """200 seeds: the 95 % interval holds the truth between 90 and 99 % of the time."""
    W, b, c = random_parameters(6, 8, seed=3, scale=0.6)
    rbm = RBM(W.astype(dtype), b, c)
    exact = rbm.log_partition().value
    found = [rbm.log_partition("ais", seed=seed, n_rungs=24, n_chains=64, start=start) for seed in range(200)]
    z = np.array([(one.value - exact) / one.error for one in found])
    assert 0.90 <= np.mean(np.abs(z) < 1.96) <= 0.99
    assert np.mean([one.lower <= exact <= one.upper for one in found]) >= 0.97
    assert all(one.lower <= one.value <= one.upper for one in found)


def test_every_start_agrees_with_enumeration():
    rbm = RBM(*random_parameters(7, 9, seed=5, scale=0.5))
    exact = rbm.log_partition().value
    for start in STARTS:
        found = rbm.log_partition("ais", seed=1, start=start)
        assert found.lower < exact < found.upper
        assert abs(found.value - exact) < 4 * found.error
        assert found.upper - found.lower <= 0.5
        assert found.verdict == "ok"
        assert found.is_ok


def test_a_narrower_sandwich_takes_more_rungs_or_chains():
    rbm = RBM(*random_parameters(7, 9, seed=5, scale=0.5))
    wide, narrow = (rbm.log_partition("ais", seed=1, width=width) for width in (1.0, 0.2))
    assert narrow.upper - narrow.lower <= 0.2
    assert narrow.n_chains * narrow.n_rungs > 4 * wide.n_chains * wide.n_rungs


@pytest.mark.parametrize("temperature", [1.8, TC_2D, 3.5])
@pytest.mark.parametrize("side", [8, 16, 32])
def test_the_sandwich_holds_kaufman(side, temperature):
    """Bounds hold for any number of rungs: as many for all."""
    exact = exact_log_partition(side, temperature)
    found = ising_rbm(Lattice((side, side)), temperature).log_partition("ais", n_rungs=300, seed=2)
    assert found.lower < exact < found.upper
    assert abs(found.value - exact) < 4 * found.error
    assert found.equilibrium.problem is None


def filter_machine(side, temperature):
    rbm = ising_rbm(Lattice((side, side)), temperature)
    return SymmetricRBM(rbm.filters.astype(np.float32), rbm.shape)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 1.5, 2.0, 2.2])
def test_below_the_transition_the_guide_leads_to_kaufman(temperature):
    """32 x 32: without a guide, 300 rungs miss ln Z by 130 nats at T = 1 and by 10 at T = 2."""
    exact = exact_log_partition(32, temperature)
    found = log_partition_ais(filter_machine(32, temperature), n_rungs=300, n_chains=64, seed=1)
    assert found.guide > 0
    assert found.lower < exact < found.upper
    assert abs(found.value - exact) < 4 * found.error < 4
    assert abs(found.equilibrium.order) < 3
    assert found.equilibrium.problem is None


def test_a_machine_without_order_has_no_guide():
    seed = np.random.SeedSequence(1)
    assert find_guide(filter_machine(16, 4.0), seed) == 0
    # At T = 1.8 free units in that field have the magnetisation of the Ising model, up to the noise of 8
    # chains, each of which is less than 64 independent parts.
    m = np.tanh(find_guide(filter_machine(32, 1.8), seed))
    assert abs(m - onsager(1.8).magnetization) < 4 * np.sqrt((1 - m**2) / (8 * 64))
    assert np.isfinite(find_guide(filter_machine(16, 0.2), seed))


def test_the_guide_of_an_antiferromagnet_is_its_checkerboard():
    """It is the ferromagnet with one sublattice turned over, and has the same order and the same ln Z."""
    ferromagnet, seed = filter_machine(16, 1.8), np.random.SeedSequence(1)
    signs = np.where(np.indices(ferromagnet.window).sum(axis=0) % 2, -1, 1)
    machine = SymmetricRBM(ferromagnet.filters * signs.astype(np.float32), (16, 16))
    checkerboard = np.where(np.indices((16, 16)).sum(axis=0) % 2, -1, 1).ravel()
    np.testing.assert_array_equal(preferred_pattern(machine), checkerboard)
    m = np.tanh(-find_guide(machine, seed))
    assert abs(m - onsager(1.8).magnetization) < 4 * np.sqrt((1 - m**2) / (8 * 16))
    found = log_partition_ais(machine, n_rungs=300, n_chains=64, seed=1)
    assert found.guide < 0
    assert abs(found.value - exact_log_partition(16, 1.8)) < 4 * found.error


def test_of_two_paths_the_pilot_takes_that_of_the_larger_bound():
    """Chains from all up keep some order, but 11 hidden units want a pattern, and 9 want all units alike."""
    uniform, pattern = np.ones(64), np.where(np.arange(64) % 2, 1.0, -1.0)
    rbm = RBM(0.2 * np.array([uniform] * 9 + [pattern] * 11), np.zeros(64), np.zeros(20))
    seed = np.random.SeedSequence(2)
    assert find_guide(rbm, seed) > 0
    assert first_run(rbm, "auto", 64, seed).path.guide == 0
    found = rbm.log_partition("ais", seed=1)
    assert abs(found.value - rbm.log_partition().value) < 4 * found.error
    with pytest.raises(InputError, match="start must be one of auto, bias, zero, mean-field, got 'outo'"):
        first_run(rbm, "outo", 64, seed)


@pytest.mark.slow
@pytest.mark.parametrize(("side", "temperature"), [(16, 1.8), (32, TC_2D)])
def test_the_adapted_sandwich_is_as_narrow_as_asked(side, temperature):
    machine, exact = BondMachine(side, temperature), exact_log_partition(side, temperature)
    width = 2 + 0.004 * side**2
    found = log_partition_ais(machine, width=width, seed=2)
    assert found.lower < exact < found.upper
    assert abs(found.value - exact) < 4 * found.error
    assert found.upper - found.lower <= width
    assert found.verdict == "ok"


def test_a_sparse_machine_and_the_dense_one_give_the_same_bits():
    dense = ising_rbm(Lattice((4, 4)), 2.5)
    sparse = log_partition_ais(BondMachine(4, 2.5, np.float64), n_rungs=20, n_chains=10, seed=3)
    found = dense.log_partition("ais", n_rungs=20, n_chains=10, seed=3)
    assert found.value == pytest.approx(sparse.value, rel=1e-12)
    assert (found.n_rungs, found.n_chains) == (20, 10)


def test_the_seed_alone_decides():
    rbm = RBM(*random_parameters(5, 6, seed=1))
    first, same, other = (rbm.log_partition("ais", seed=seed, n_chains=16) for seed in (1, 1, 2))
    assert first.to_dict() == same.to_dict()
    assert first.value != other.value


def curie_weiss(n=60, field=0.05):
    """An ordered machine: one hidden unit couples all visible ones; a small field prefers plus by 3 nats."""
    return RBM(np.full((1, n), 4 / np.sqrt(n)), np.full(n, field), np.zeros(1))


def test_reverse_chains_out_of_equilibrium_are_noticed(monkeypatch):
    """All of them in the lighter of two modes: the upper bound falls below the lower one."""
    rbm = curie_weiss()
    exact = rbm.log_partition().value
    good = rbm.log_partition("ais", seed=1, n_rungs=400)
    assert good.is_ok
    assert good.lower < exact < good.upper

    def in_the_wrong_mode(path, betas, n_chains, *rest):
        return np.full((n_chains, 60), -1.0), n_chains, 0.0

    monkeypatch.setattr(sandwich, "_equilibrium", in_the_wrong_mode)
    bad = rbm.log_partition("ais", seed=1, n_rungs=400)
    assert bad.verdict.startswith("out of equilibrium: forward bound")
    assert not bad.is_ok


def test_a_drift_of_the_reverse_chains_is_noticed(monkeypatch):
    def all_up(path, betas, v, *rest):
        v[:] = 1
        return np.arange(len(v))

    monkeypatch.setattr(sandwich, "population", all_up)
    rbm = RBM(*random_parameters(6, 30, seed=1, scale=0.2))
    found = rbm.log_partition("ais", seed=1, n_rungs=60)
    assert found.equilibrium.drift < -4
    assert "drift" in found.verdict


def test_two_modes_are_found_in_their_proportion():
    rbm = curie_weiss()
    found = rbm.log_partition("ais", seed=4)
    assert abs(found.value - rbm.log_partition().value) < 4 * found.error
    assert found.is_ok


def test_too_few_rungs_are_said_to_be_too_few():
    few = log_partition_ais(BondMachine(16, 2.0), n_rungs=2, seed=1, start="bias")
    exact = exact_log_partition(16, 2.0)
    assert few.verdict.startswith(("too few rungs", "out of equilibrium"))
    assert few.error > 5
    assert few.lower < exact
    wide = log_partition_ais(BondMachine(8, 3.0), n_rungs=60, width=0.01, seed=1, n_chains=64)
    assert wide.verdict.startswith("wider than asked: ")
    assert wide.verdict.endswith("nats instead of 0.01")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_chains": 0}, "n_chains must be a whole number >= 2, got 0"),
        ({"n_rungs": 0}, "n_rungs must be a whole number >= 1, got 0"),
        ({"n_rungs": 1.5}, "n_rungs must be a whole number >= 1, got 1.5"),
        ({"width": 0.0}, "width must be a number of nats > 0, got 0.0"),
        ({"width": float("nan")}, "width must be a number of nats > 0, got nan"),
        ({"seed": -1}, "seed must be a whole number >= 0 or a numpy SeedSequence, got -1"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(InputError) as error:
        RBM(*random_parameters(2, 3, seed=1)).log_partition("ais", **options)
    assert str(error.value) == message


def test_bad_machines():
    with pytest.raises(InputError, match="W must be an array of finite numbers, got nan"):
        RBM(np.full((2, 3), np.nan), np.zeros(3), np.zeros(2))
    large = RBM(np.zeros((23, 24)), np.zeros(24), np.zeros(23))
    with pytest.raises(InputError, match=r"<= 22 units for exact enumeration.*method='ais' takes any size"):
        large.log_partition("exact")
    with pytest.raises(InputError, match="method must be one of exact, ais, got 'aiss'; did you mean 'ais'"):
        large.log_partition("aiss")
