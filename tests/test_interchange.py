"""Machines of other packages, beside those packages themselves."""

import itertools

import h5py
import numpy as np
import pytest

import thermorbm as tr
from thermorbm.errors import FileError, InputError
from thermorbm.interchange import from_binary, to_binary

N_HIDDEN, N_VISIBLE = 3, 5
ALL = np.array(list(itertools.product([0, 1], repeat=N_VISIBLE)))


def binary_machine(seed=1):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(N_HIDDEN, N_VISIBLE)), rng.normal(size=N_VISIBLE), rng.normal(size=N_HIDDEN))


def binary_free_energy(x, w, a, d):
    """-ln sum_y exp(a.x + d.y + y.w x), summed over all y."""
    hidden = np.array(list(itertools.product([0, 1], repeat=len(d))))
    exponents = (x @ a)[:, None] + (hidden @ d) + x @ (hidden @ w).T
    return -np.log(np.exp(exponents).sum(axis=1))


def test_energies_differ_by_a_constant():
    w, a, d = binary_machine()
    differences = binary_free_energy(ALL, w, a, d) - from_binary(w, a, d).visible_energy(2 * ALL - 1)
    np.testing.assert_allclose(differences, differences[0], rtol=1e-12)


def test_there_and_back():
    machine = from_binary(*binary_machine())
    for before, after in zip(binary_machine(), to_binary(machine), strict=True):
        np.testing.assert_allclose(after, before, rtol=1e-12)
    np.testing.assert_array_equal(to_binary(machine)[0], binary_machine()[0])


def test_a_symmetric_machine_goes_as_its_dense_one():
    machine = tr.SymmetricRBM(np.arange(4.0).reshape(1, 2, 2) / 7, (3, 3), 0.1, [0.2])
    again = from_binary(*to_binary(machine))
    v = np.random.default_rng(1).choice([-1, 1], size=(10, 9))
    difference = again.visible_energy(v) - machine.visible_energy(v)
    np.testing.assert_allclose(difference, difference[0], atol=1e-12)


def test_scikit_learn_both_ways():
    sklearn = pytest.importorskip("sklearn.neural_network")
    theirs = sklearn.BernoulliRBM(n_components=N_HIDDEN, random_state=1, n_iter=3).fit(ALL)
    ours = tr.from_sklearn(theirs)
    difference = theirs._free_energy(ALL) - ours.visible_energy(2 * ALL - 1)
    np.testing.assert_allclose(difference, difference[0], rtol=1e-12)
    np.testing.assert_allclose(theirs.transform(ALL), ours.p_hidden(2 * ALL - 1), rtol=1e-12)
    back = tr.to_sklearn(ours)
    np.testing.assert_allclose(back.transform(ALL), theirs.transform(ALL), rtol=1e-12)
    back.partial_fit(ALL)  # it can be trained on
    assert (back.components_ != theirs.components_).any()
    with pytest.raises(InputError, match="a fitted BernoulliRBM"):
        tr.from_sklearn(sklearn.BernoulliRBM())
    with pytest.raises(InputError, match="an RBM or a SymmetricRBM"):
        tr.to_sklearn("machine")


def test_rbms_both_ways(tmp_path):
    torch = pytest.importorskip("torch")
    io = pytest.importorskip("rbms.io")
    from rbms.bernoulli_bernoulli.classes import BBRBM

    w, a, d = (torch.from_numpy(array) for array in binary_machine())
    theirs = BBRBM(weight_matrix=w.T.contiguous(), vbias=a, hbias=d)
    chains = {"visible": torch.zeros(2, N_VISIBLE)}
    for update, machine in ((10, theirs * 0.5), (200, theirs)):
        io.save_model(str(tmp_path / "theirs.h5"), machine, chains, update, 0.0)
    ours = tr.from_rbms(tmp_path / "theirs.h5")
    x = torch.from_numpy(ALL.astype(np.float64))
    energies = theirs.compute_energy_visibles(x).numpy()
    difference = energies - ours.visible_energy(2 * ALL - 1)
    np.testing.assert_allclose(difference, difference[0], rtol=1e-12)
    np.testing.assert_array_equal(tr.from_rbms(tmp_path / "theirs.h5", update=10).W, ours.W / 2)
    tr.to_rbms(ours, tmp_path / "ours.h5")
    back = io.load_params(str(tmp_path / "ours.h5"), 0, torch.device("cpu"), torch.float64)
    np.testing.assert_allclose(back.compute_energy_visibles(x).numpy(), energies, rtol=1e-12)


def test_files_that_rbms_did_not_write(tmp_path):
    (tmp_path / "text.h5").write_text("weights")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["v"] = np.ones((2, 3))
    with h5py.File(tmp_path / "potts.h5", "w") as file:
        group = file.create_group("update_1/params")
        group["weight_matrix"], group["vbias"], group["hbias"] = (
            np.ones((2, 3, 4)),
            np.ones((2, 3)),
            np.ones(4),
        )
    tr.to_rbms(from_binary(*binary_machine()), tmp_path / "gaussian.h5")
    with h5py.File(tmp_path / "gaussian.h5", "a") as file:  # with parameters of the same names and shapes
        file["model_type"][()] = "BGRBM"
    for name, said in (
        ("gaussian.h5", r"another kind of machine, BGRBM; machines of binary units \(BBRBM\) can be read"),
        ("text.h5", "is not an HDF5 file"),
        ("other.h5", "holds no machine of rbms"),
        ("potts.h5", "another kind of machine"),
        ("absent.h5", "absent.h5"),
    ):
        with pytest.raises(FileError, match=said):
            tr.from_rbms(tmp_path / name)
    tr.to_rbms(from_binary(*binary_machine()), tmp_path / "ours.h5")
    with pytest.raises(InputError, match="update must be a whole number >= 0"):
        tr.from_rbms(tmp_path / "ours.h5", 0.5)
    with pytest.raises(FileError, match="holds no update 7; it has 0"):
        tr.from_rbms(tmp_path / "ours.h5", update=7)


def test_shapes_must_agree():
    with pytest.raises(InputError, match="of shapes"):
        from_binary(np.ones((2, 3)), np.ones(2), np.ones(3))


def test_configurations_of_mcising_are_a_series():
    """Its energies per site, measured by itself, are those of the series."""
    mcising = pytest.importorskip("mcising")
    config = mcising.SimulationConfig(
        lattice=mcising.LatticeConfig(size=6), temperatures=(3.0, 2.5), n_sweeps=200, measurement_interval=10
    )
    theirs = mcising.Simulation(config).run()
    series = tr.Series.from_arrays(theirs.configurations)
    np.testing.assert_array_equal(series.temperatures, [2.5, 3.0])
    assert series.hamiltonian == tr.sample((6, 6), temperature=3.0, n_samples=2).hamiltonian
    for data, measured in zip(series, series.measurements, strict=True):
        np.testing.assert_allclose(measured.energies / 36, theirs.energy[data.temperature], atol=1e-9)


def test_configurations_of_peapods_are_a_series():
    """They lie at their temperatures: cold ones are ordered, hot ones are not."""
    peapods = pytest.importorskip("peapods")
    model = peapods.Ising((4, 4), temperatures=np.array([0.5, 100.0]), n_replicas=2)
    with np.errstate(all="ignore"):  # its own averages of few sweeps
        model.sample(200)
        series = tr.Series.from_peapods(model, 39)
    np.testing.assert_allclose(series.temperatures, [0.5, 100.0])
    assert [len(data) for data in series] == [40, 40]
    cold, hot = (measured.energies / 16 for measured in series.measurements)
    np.testing.assert_array_equal(cold, -2.0)
    assert abs(hot.mean()) < 4 * hot.std() / np.sqrt(len(hot)) + 2 * 2 / 100  # E/N = -2/T + ...


def test_couplings_of_peapods_are_not_guessed():
    peapods = pytest.importorskip("peapods")
    model = peapods.Ising((4, 4), couplings="bimodal", temperatures=np.array([1.0, 2.0]))
    with pytest.raises(InputError, match=r"give it as hamiltonian=tr\.hamiltonian"):
        tr.Series.from_peapods(model, 2)


@pytest.mark.parametrize("weights", ["x", [[1, 2], [3]], [[{}]], [[1j]], None, [["a", "b"]]])
def test_weights_that_are_no_numbers(weights):
    with pytest.raises(InputError, match="weights and biases must be"):
        from_binary(weights, np.zeros(2), np.zeros(1))
