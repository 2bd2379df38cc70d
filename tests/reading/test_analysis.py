"""Splitting data, generating configurations, analysing machines: against slow versions and exact answers."""

import json
import math

import numpy as np
import pytest

import thermorbm as tr
from oracles.rbm_enumeration import EnumeratedRBM, total_variation_floor
from thermorbm import observables
from thermorbm.errors import InputError
from thermorbm.reading.analysis import training_summary
from thermorbm.reading.machine import scores

LATTICE = tr.Lattice((2, 3))


def machine(seed=1, scale=0.7, n_hidden=4, **options):
    rng = np.random.default_rng(seed)
    shapes = ((n_hidden, 6), (6,), (n_hidden,))
    return tr.RBM(*(rng.normal(size=shape) * scale for shape in shapes), **options)


def trained(mean_abs_magnetization=0.4):
    """A machine that remembers its training data."""
    data = {"shape": [2, 3], "temperature": 2.0, "mean_abs_magnetization": mean_abs_magnetization}
    return machine(provenance={"data": data})


def spins(n=50, seed=2):
    return np.random.default_rng(seed).choice([-1, 1], (n, 6))


def frequencies(v):
    numbers = (v > 0) @ (1 << np.arange(v.shape[1])[::-1])
    return np.bincount(numbers, minlength=1 << v.shape[1]) / len(v)


@pytest.mark.parametrize(("n", "wanted", "held_out"), [(50, 7, 7), (50, None, 5), (60_000, None, 5000)])
def test_the_last_configurations_are_held_out(n, wanted, held_out):
    data = tr.Dataset.from_spins(spins(n), LATTICE, 2.0)
    kept, scored = tr.hold_out(data, wanted)
    np.testing.assert_array_equal(np.concatenate([kept.spins(), scored.spins()]), data.spins())
    assert len(scored) == held_out
    assert scored.temperature == 2.0


def test_nothing_held_out():
    data = tr.Dataset.from_spins(spins(5))
    for wanted in (0, None):  # a tenth of five is nothing
        kept, scored = tr.hold_out(data, wanted)
        assert scored is None
        assert len(kept) == 5
    for wrong in (5, 6):
        with pytest.raises(InputError, match="n_held_out must be less than the 5 configurations"):
            tr.hold_out(data, wrong)
    with pytest.raises(InputError, match="n_held_out must be a whole number >= 0, got -1"):
        tr.hold_out(data, -1)


@pytest.mark.parametrize("start", ["p_h", "random", "data"])
def test_long_chains_from_any_start_sample_the_machine(start):
    rbm, n = trained(), 60_000
    truth = EnumeratedRBM(rbm.W, rbm.b, rbm.c)
    made = tr.generate(rbm, n, start, steps=60, seed=3, data=tr.Dataset.from_spins(spins()))
    assert (len(made), made.lattice, made.temperature) == (n, LATTICE, 2.0)
    distance = np.abs(frequencies(made.spins()) - truth.p_v).sum() / 2
    assert distance < total_variation_floor(truth.p_v, n)


def test_starts_with_p_h_follow_the_filters():
    """v^(0) comes from hidden units that are sign(filter sum) with probability p_h, times a common sign."""
    rbm, n, p_h = trained(), 60_000, 0.85
    truth = EnumeratedRBM(rbm.W, rbm.b, rbm.c)
    pattern = np.sign(rbm.W.sum(axis=1))
    agree = (truth.h_states * pattern > 0).sum(axis=1)
    p_hidden = (p_h**agree * (1 - p_h) ** (4 - agree) + p_h ** (4 - agree) * (1 - p_h) ** agree) / 2
    v_given_h = truth.p / truth.p.sum(axis=0)
    expected = v_given_h @ p_hidden
    made = tr.generate(rbm, n, "p_h", steps=0, seed=4, p_h=p_h)
    assert np.abs(frequencies(made.spins()) - expected).sum() / 2 < total_variation_floor(expected, n)
    plain = v_given_h @ np.full(16, 1 / 16)
    made = tr.generate(rbm, n, "random", steps=0, seed=5)
    assert np.abs(frequencies(made.spins()) - plain).sum() / 2 < total_variation_floor(plain, n)


def test_no_steps_from_data_give_the_data():
    data = tr.Dataset.from_spins(spins(40), LATTICE, 3.0)
    np.testing.assert_array_equal(tr.generate(machine(), 40, "data", 0, data=data).spins(), data.spins())
    made = tr.generate(machine(), 10, "data", 0, data=data)
    np.testing.assert_array_equal(made.spins(), data.spins()[::4])  # evenly spaced
    assert (made.lattice, made.temperature) == (LATTICE, 3.0)  # the machine knows no other
    assert len(tr.generate(machine(), 100, "data", 2, data=data)) == 100


def test_where_p_h_comes_from():
    up = tr.Dataset.from_spins(np.ones((4, 6)))
    assert tr.generate(trained(0.4), 5).provenance["p_h"] == pytest.approx(0.7)
    assert tr.generate(trained(0.4), 5, data=up).provenance["p_h"] == 1
    assert tr.generate(trained(0.4), 5, data=up, p_h=0.6).provenance["p_h"] == 0.6
    made = tr.generate(trained(0.4), 5, "random", steps=3, seed=9)
    assert made.provenance == {"method": "generate", "start": "random", "steps": 3, "seed": 9, "p_h": 0.5}
    for provenance in ({}, {"data": "mine"}):
        with pytest.raises(InputError, match=r"does not know <\|m\|> of its data: give p_h or data"):
            tr.generate(machine(provenance=provenance), 5)


def test_generation_repeats_itself():
    data = tr.Dataset.from_spins(spins(40))
    for start in ("p_h", "random", "data"):
        first, again, other = (tr.generate(trained(), 200, start, 2, seed, data=data) for seed in (1, 1, 2))
        np.testing.assert_array_equal(first.packed, again.packed)
        assert (first.packed != other.packed).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": "dat"}, "start must be one of p_h, random, data, got 'dat'; did you mean 'data'"),
        ({"start": "data"}, "data must be configurations to start from, got None"),
        ({"n_samples": 0}, "n_samples must be a whole number >= 1, got 0"),
        ({"n_samples": 1.5}, "n_samples must be a whole number >= 1, got 1.5"),
        ({"steps": -1}, "steps must be a whole number >= 0, got -1"),
        ({"seed": -1}, "seed must be a whole number >= 0"),
        ({"p_h": 1.5}, "p_h must be a probability, got 1.5"),
        ({"p_h": math.nan}, "p_h must be a probability, got nan"),
    ],
)
def test_bad_requests(options, message):
    with pytest.raises(InputError, match=message) as caught:
        tr.generate(trained(), **({"n_samples": 5} | options))
    assert "\n" not in str(caught.value)


def test_data_of_another_size_are_refused():
    data = tr.Dataset.from_spins(np.ones((3, 7)))
    with pytest.raises(InputError, match="data must be of 6, like the machine, got '7 sites'"):
        tr.generate(trained(), 5, "data", data=data)
    with pytest.raises(InputError, match="data must be of 6, like the machine, got '7 sites'"):
        tr.analyse(machine(), data)


def test_analysis_is_what_the_machine_says_of_each_configuration():
    rbm, data = machine(), tr.Dataset.from_spins(spins(300), LATTICE, 2.0)
    found = tr.analyse(rbm, data, max_samples=None)
    v = data.spins()
    likelihood, energy = rbm.pseudo_likelihood(v) / 6, rbm.visible_energy(v)
    assert (found.n_samples, found.n_visible, found.n_hidden) == (300, 6, 4)
    assert found.pseudo_likelihood_per_spin.value == pytest.approx(likelihood.mean())
    assert found.pseudo_likelihood_per_spin.error == pytest.approx(likelihood.std(ddof=1) / np.sqrt(300))
    assert found.visible_energy.value == pytest.approx(energy.mean())
    assert found.visible_energy_per_spin.value == pytest.approx(energy.mean() / 6)
    assert found.visible_energy_variance.value == pytest.approx(energy.var())
    assert found.visible_energy_variance_per_spin.value == pytest.approx(energy.var() / 6)
    expected = np.mean([EnumeratedRBM(rbm.W, rbm.b, rbm.c).cross_entropy(row) for row in v[:40]])
    short = tr.analyse(rbm, data[:40], seed=3)
    assert abs(short.cross_entropy.value - expected) < 5 * short.cross_entropy.error
    assert found.parameters["W"].mean == pytest.approx(rbm.W.mean())
    assert found.parameters["b"].std == pytest.approx(rbm.b.std())
    assert found.abs_filter_sum_variance.value == pytest.approx(np.abs(rbm.W.sum(axis=1)).var())
    assert (found.verdict, found.training, found.training_data, found.certificate) == (None,) * 4


def test_analyse_and_studies_read_the_same_configurations():
    """The same machine, data and seed choose the same rows and give the same numbers, to the last bit."""
    data, rbm = tr.Dataset.from_spins(spins(200)), machine()
    part = tr.analyse(rbm, data, max_samples=100, seed=5)
    study = scores(rbm, data, 100, 5)
    assert part.n_samples == 100
    assert part.pseudo_likelihood_per_spin == study.pseudo_likelihood_per_spin
    assert part.pseudo_likelihood_per_spin != tr.analyse(rbm, data[:100]).pseudo_likelihood_per_spin
    whole = tr.analyse(rbm, data, seed=5)
    assert whole.cross_entropy == scores(rbm, data, 5000, 5).cross_entropy
    energies = observables.visible_energies(rbm, data)
    assert (whole.visible_energy, whole.visible_energy_variance) == (energies.mean, energies.variance)


def test_progress_of_an_analysis():
    seen = []
    tr.analyse(machine(), tr.Dataset.from_spins(spins(20)), progress=lambda *step: seen.append(step))
    assert seen == [("analysis", 1, 2), ("analysis", 2, 2)]


def test_analysis_needs_two_configurations():
    data = tr.Dataset.from_spins(spins(1))
    with pytest.raises(InputError, match="two or more, for an error"):
        tr.analyse(machine(), data)
    with pytest.raises(InputError, match="max_samples must be a whole number >= 2, got 1"):
        tr.analyse(machine(), tr.Dataset.from_spins(spins(9)), max_samples=1)


def test_a_single_hidden_unit_has_no_variance_of_filter_sums():
    found = tr.analyse(machine(n_hidden=1), tr.Dataset.from_spins(spins(9)))
    assert math.isnan(found.abs_filter_sum_variance.value)


def test_the_ising_machine_is_analysed_exactly():
    """Its visible energy is H/T plus a constant, so that its variance is that of the energy over T^2."""
    lattice, temperature = tr.Lattice((4, 4)), 2.5
    data = tr.sample(lattice, temperature, 2000, seed=1)
    found = tr.analyse(tr.exact.ising_rbm(lattice, temperature), data)
    energies = lattice.energy(data.spins())
    assert found.visible_energy_variance.value == pytest.approx(energies.var() / temperature**2, rel=1e-6)
    assert found.certificate["passed"] is True


@pytest.mark.parametrize("side", [4, 8])
def test_the_bracket_of_the_ising_machine_is_as_narrow_as_it_can_be(side):
    """Exact by enumeration at 4 x 4, annealed at 8 x 8: the upper edge is the entropy."""
    lattice, temperature = tr.Lattice((side, side)), 2.5
    data = tr.sample(lattice, temperature, 1000, seed=1)
    found = tr.bracket_entropy(tr.exact.ising_rbm(lattice, temperature), data, seed=1, width=1.0)
    bracket, truth = found.bracket, tr.exact.kaufman(side, temperature)
    assert found.log_partition.method == ("exact" if side == 4 else "ais")
    assert found.log_partition.is_ok
    assert bracket.lower.value + 4 * bracket.lower.error < truth.entropy
    for edge in (bracket.upper, bracket.nll):
        assert abs(edge.value - truth.entropy) < 4 * edge.error + 0.5 / side**2  # work lost on the way
    assert bracket.kl_bound.value == pytest.approx(bracket.nll.value - bracket.lower.value)
    assert abs(bracket.free_energy.value - truth.free_energy) < 5 * bracket.free_energy.error + 1 / side**2
    assert json.loads(json.dumps(found.to_dict()))["entropy_bracket"]["lower_problem"] is None


def test_without_a_hamiltonian_there_is_no_lower_edge():
    data = tr.Dataset.from_spins(spins(300), LATTICE, 2.0)
    found = tr.bracket_entropy(machine(), data)
    nll = -machine().log_likelihood(data.spins()) / 6
    assert found.bracket.upper.value == pytest.approx(nll.mean())
    assert found.bracket.upper.error == pytest.approx(nll.std(ddof=1) / np.sqrt(300))
    assert found.bracket.lower is found.bracket.kl_bound is found.bracket.free_energy is None
    assert "no Hamiltonian is known" in found.bracket.lower_problem
    with pytest.raises(InputError, match="data must be of 6, like the machine, got '7 sites'"):
        tr.bracket_entropy(machine(), tr.Dataset.from_spins(np.ones((5, 7))))


def test_the_summary_of_a_training_run():
    data = tr.Dataset.from_spins(spins(200), LATTICE)
    result = tr.train(data, 3, "paper", epochs=2, seed=5, batch_size=50, validation=data[:20])
    summary = training_summary(result)
    assert (summary["recipe"], summary["seed"], summary["epochs"], summary["updates"]) == ("paper", 5, 2, 8)
    held_out = result.rbm.pseudo_likelihood(data.spins(0, 20)) / 6
    assert summary["validation_pseudo_likelihood_per_spin"]["value"] == pytest.approx(held_out.mean())
    assert summary["verdict"] == "not converged"
    bad = training_summary(tr.train(data, 3, "paper", epochs=9, batch_size=50, learning_rate=1e9))
    assert (bad["verdict"], bad["updates"]) == ("diverged", 0)
    assert "pseudo_likelihood_per_spin" not in bad


def test_names_that_users_meet_first():
    for name in ("train", "Recipe", "RBM", "sample", "Dataset", "Lattice", "exact", "generate", "analyse"):
        assert name in dir(tr)
        assert getattr(tr, name) is not None
    data = tr.Dataset.from_spins(spins(200), LATTICE)
    result = tr.train(data, n_hidden=4, recipe="paper", epochs=2, seed=1)
    assert isinstance(result.rbm, tr.RBM)
    assert result.converged is False
    assert "pseudo_likelihood" in result.history
