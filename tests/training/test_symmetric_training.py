"""Training the symmetric machine: it finds the Ising model; same seed, same bits; bad input."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from thermorbm import RBM, Dataset, Lattice, Recipe, SymmetricRBM, load_machine, sample, train
from thermorbm.errors import InputError
from thermorbm.exact import energy_distribution, kaufman
from thermorbm.model.windows import window_images
from thermorbm.training import natural, trainer as trainer_module
from thermorbm.training.design import SYMMETRIC_RECIPES, SymmetricDesign
from thermorbm.training.symmetric import KernelFilters
from thermorbm.training.trainer import Trainer
from thermorbm.training.units import TorchUnits

SMALL = {"model": "symmetric", "filters": 2, "kernel": 2, "batch_size": 50, "least_updates": 0, "threads": 1}


@pytest.fixture(scope="module")
def critical_data():
    """4000 configurations of 12x12 spins near T_c."""
    return sample(Lattice((12, 12)), temperature=2.3, n_samples=4000, seed=2)


def distance(machine, data):
    """Kullback-Leibler distance of the Ising model from the machine, nats, and its standard error.

    With D = E_machine - H/T over samples of the Ising model it is <D> + ln <e^-D>.
    """
    v = data.spins()
    D = machine.visible_energy(v) - data.lattice.energy(v) / data.temperature
    D -= D.mean()
    weights = np.exp(-D)
    return np.log(weights.mean()), np.std(D - weights / weights.mean()) / np.sqrt(len(v))


@pytest.mark.parametrize("zero_bias", [True, False])
def test_training_finds_the_ising_model(critical_data, zero_bias):
    """What is left of the distance, from noise of the chains, is well below 1 nat; the start has dozens."""
    result = train(
        critical_data, model="symmetric", filters=3, kernel=3, seed=1, zero_bias=zero_bias, threads=1
    )
    left, error = distance(result.rbm, critical_data)
    assert left < 0.5 + 4 * error
    untrained, _ = distance(SymmetricRBM(result.rbm.filters * 0, (12, 12)), critical_data)
    assert untrained > 10
    assert isinstance(result.rbm, SymmetricRBM)
    assert result.rbm.n_hidden == 3 * 144
    assert (result.rbm.hidden_bias == 0).all() == zero_bias
    assert result.verdict.status != "diverged"
    assert abs(result.verdict.drift) < 0.005


def test_samples_of_the_trained_machine_have_the_exact_energies(critical_data):
    machine = train(
        critical_data, model="symmetric", filters=3, kernel=3, seed=1, zero_bias=True, threads=1
    ).rbm
    chains = machine.gibbs(critical_data.spins(0, 2000), 200, seed=3)
    energies = critical_data.lattice.energy(chains)
    exact = energy_distribution(12, 2.3)
    mean = float(exact.energies @ exact.probabilities)
    error = energies.std() / np.sqrt(len(energies))
    # A machine at a distance of 0.5 nats may be off by sqrt(2 * 0.5) standard deviations of the energy.
    assert abs(energies.mean() - mean) < 4 * error + energies.std()


def test_cold_data_do_not_hide_a_mode():
    """At T = 1 most directions are open. Without a prior the filters ended with stripes far below order.

    The larger of both pilots' bounds would find such a mode, and the likelihood would show it: by nats per
    site, where 0.003 are asked.
    """
    data = sample(Lattice((24, 24)), temperature=1.0, n_samples=5000, seed=1)
    machine = train(
        data[:4000], model="symmetric", filters=4, kernel=3, seed=1, zero_bias=True, threads=1
    ).rbm
    energies = machine.visible_energy(data[4000:].spins())
    found = machine.log_partition("ais", seed=1, n_rungs=64)
    error = np.hypot(energies.std() / np.sqrt(1000), found.error) / 576
    left = (energies.mean() + found.value) / 576 - kaufman(24, 1.0).entropy
    assert -4 * error < left < 0.003 + 4 * error


@pytest.mark.parametrize("recipe", ["fast", "paper"])
def test_same_seed_same_bits(coins, recipe):
    runs = [train(coins, recipe=recipe, epochs=3, seed=5, **SMALL).rbm for _ in range(2)]
    other = train(coins, recipe=recipe, epochs=3, seed=6, **SMALL).rbm
    for name, array in runs[0].parameters.items():
        np.testing.assert_array_equal(array, runs[1].parameters[name])
    assert (runs[0].filters != other.filters).all()


def test_a_checkpoint_goes_on_bit_by_bit(coins, tmp_path, many_records, monkeypatch):
    whole = train(coins, epochs=6, seed=1, **SMALL)
    step = Trainer.step

    def interrupted(self):
        if self.update == 50:
            raise KeyboardInterrupt
        step(self)

    monkeypatch.setattr(Trainer, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train(coins, epochs=6, seed=1, checkpoint=tmp_path / "c.h5", **SMALL)
    monkeypatch.setattr(Trainer, "step", step)
    rest = train(coins, epochs=6, seed=1, checkpoint=tmp_path / "c.h5", **SMALL)
    for name, array in whole.rbm.parameters.items():
        np.testing.assert_array_equal(array, rest.rbm.parameters[name])


def test_torch_convolutions_train_as_well(coins, monkeypatch):
    """The rendition for other devices, on CPU tensors, drawing from torch's generator."""
    from thermorbm.training import design
    from thermorbm.training.symmetric import TorchFilters

    monkeypatch.setattr(design, "symmetric_layers", TorchFilters)
    monkeypatch.setattr(trainer_module, "unit_source", lambda seed, device: TorchUnits(seed, device))
    by_torch = train(coins, epochs=3, seed=1, **SMALL)
    assert by_torch.verdict.status != "diverged"
    assert np.isfinite(by_torch.rbm.filters).all()


def test_the_first_update_of_both_renditions_agrees(coins, monkeypatch):
    """Same units from the same kernel: inputs differ by rounding, which later updates multiply."""
    from thermorbm.training import design
    from thermorbm.training.symmetric import TorchFilters

    recipe = replace(SYMMETRIC_RECIPES["fast"], batch_size=50)
    options = SymmetricDesign(2, 2, (4, 5)), recipe, 1, torch.device("cpu"), torch.float32
    ours = Trainer(coins, *options)
    monkeypatch.setattr(design, "symmetric_layers", TorchFilters)
    theirs = Trainer(coins, *options)
    ours.step()
    theirs.step()
    np.testing.assert_allclose(ours.machine().filters, theirs.machine().filters, atol=2e-4)


def test_natural_steps_are_of_bounded_length(coins, monkeypatch):
    """One update with a huge rate moves the machine by 0.0025 nats per site, by its own measure."""
    for part in ("_FILTERS", "_PAIRS", "_MORE"):
        monkeypatch.setattr(natural, part, 1e-12)  # it would rule at such a rate
    recipe = Recipe("test", learning_rate=1e3, epochs=1, batch_size=50, natural=True, persistent_from=0)
    trainer = Trainer(coins, SymmetricDesign(2, 2, (4, 5)), recipe, 1, torch.device("cpu"), torch.float32)
    before = trainer.layers.parameters["filters"].clone()
    trainer.step()
    move = (trainer.layers.parameters["filters"] - before).double().flatten()
    metric = trainer.natural.state["covariance"][: len(move), : len(move)] / (1 - 0.95)
    assert 0.5 * 0.0025 * 20 < float(move @ metric @ move) / 2 < 1.01 * 0.0025 * 20


def test_provenance_and_files(coins, tmp_path):
    result = train(coins, epochs=2, seed=5, **SMALL)
    made = result.rbm.provenance
    assert (
        made["training"] | {"model": "symmetric", "filters": 2, "kernel": 2, "n_hidden": 40}
        == made["training"]
    )
    assert Recipe(**made["training"]["recipe"]).natural
    result.rbm.save(tmp_path / "r.h5")
    assert load_machine(tmp_path / "r.h5").provenance == made


def test_both_kinds_have_the_same_methods():
    public = {name for name in dir(RBM) if not name.startswith("_")}
    assert public - {"W", "b", "c"} <= set(dir(SymmetricRBM))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": 5}, "kernel must be at most the shortest side of the lattice, 4, got 5"),
        ({"kernel": 0}, "kernel must be a whole number >= 1, got 0"),
        ({"filters": 0}, "filters must be a whole number >= 1, got 0"),
        ({"filters": 1.5}, "filters must be a whole number >= 1, got 1.5"),
        ({"n_hidden": 10}, "n_hidden must be left out for a symmetric machine, got 10"),
        (
            {"model": "symetric"},
            "model must be one of dense, symmetric, got 'symetric'; did you mean 'symmetric'",
        ),
        ({"precision": "bf16"}, "precision must be auto or fp32 for a symmetric machine, got 'bf16'"),
        ({"modes": 2}, "modes must be 0 for a symmetric machine, got 2"),
        (
            {"model": "dense"},
            "filters must be left out for a dense machine, got 2; or choose model='symmetric'",
        ),
        ({"recipe": "slow"}, "recipe must be one of paper, fast, got 'slow'"),
    ],
)
def test_bad_input(coins, options, message):
    with pytest.raises(InputError, match=message) as caught:
        train(coins, **({**SMALL, "epochs": 1} | options))
    assert "\n" not in str(caught.value)


def test_recipes_that_do_not_suit_dense_machines(coins):
    with pytest.raises(InputError, match="for a dense machine"):
        train(coins, 4, epochs=1, batch_size=50, natural=True)


def test_data_without_a_lattice(coins):
    bare = Dataset.from_spins(coins.spins())
    with pytest.raises(
        InputError, match="data must be on a periodic lattice, got 'no lattice shape'; import the"
    ):
        train(bare, **SMALL)


def test_too_many_parameters_for_the_natural_gradient():
    data = Dataset.from_spins(np.ones((60, 48 * 48)), Lattice((48, 48)))
    with pytest.raises(
        InputError, match="natural must be at most 2048, got '2306 parameters'; choose natural=False"
    ):
        train(data, model="symmetric", filters=1, kernel=48, batch_size=50)


@pytest.fixture(scope="module")
def grouped(critical_data):
    return train(
        critical_data, model="symmetric", kernel=3, point_group=True, seed=1, zero_bias=True, threads=1
    )


def test_a_machine_with_all_images_finds_the_ising_model(grouped, critical_data):
    """Two filters, in eight images each."""
    machine = grouped.rbm
    assert machine.filters.shape == (16, 3, 3)
    assert (machine.n_hidden, machine.provenance["training"]["point_group"]) == (16 * 144, True)
    left, error = distance(machine, critical_data)
    assert left < 0.5 + 4 * error


def test_the_energy_of_a_machine_with_all_images_knows_no_direction(grouped, critical_data):
    v = critical_data.spins(0, 20)
    turned = [np.rot90(v.reshape(-1, 12, 12), axes=(1, 2)), v.reshape(-1, 12, 12)[:, ::-1]]
    for other in turned:
        found = grouped.rbm.visible_energy(other.reshape(20, -1))
        np.testing.assert_allclose(found, grouped.rbm.visible_energy(v), rtol=1e-5)


def test_tied_filters_have_the_folded_gradient():
    """The statistics of tied filters are those of the whole machine's, summed over what is tied."""
    rng = np.random.default_rng(1)
    images = window_images(2, 2)
    start = {"filters": rng.normal(size=(2, 2, 2)), "visible_bias": np.zeros(()), "hidden_bias": np.zeros(2)}
    tied = KernelFilters(start, (3, 4), torch.device("cpu"), images)
    whole = KernelFilters(tied.arrays(), (3, 4), torch.device("cpu"))
    v = torch.from_numpy(rng.choice([-1.0, 1.0], (5, 12)).astype(np.float32))
    h = tied.hidden_inputs(v)
    torch.testing.assert_close(h, whole.hidden_inputs(v))
    torch.testing.assert_close(tied.visible_inputs(h), whole.visible_inputs(h))
    found, all_ = tied.statistics(v, h), whole.statistics(v, h)
    slopes = np.zeros((5, 2, 4))
    for number in range(16):
        for element in range(4):
            place = images[number % 8, element]
            slopes[:, number // 8, place] += all_["filters"].numpy().reshape(5, 16, 4)[:, number, element]
    np.testing.assert_allclose(found["filters"].numpy().reshape(5, 2, 4), slopes, rtol=1e-12)
    np.testing.assert_allclose(found["hidden_bias"], all_["hidden_bias"].reshape(5, 2, 8).sum(2), rtol=1e-5)
