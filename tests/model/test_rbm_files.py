"""Machines in files, and machines and configurations that are refused."""

import h5py
import numpy as np
import pytest

from thermorbm.errors import FileError, InputError
from thermorbm.model import RBM
from thermorbm.storage import write_hdf5


def machine(dtype=np.float64, **options):
    rng = np.random.default_rng(1)
    W, b, c = rng.normal(size=(3, 5)), rng.normal(size=5), rng.normal(size=3)
    return RBM(W.astype(dtype), b, c, **options)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_round_trip_with_provenance(tmp_path, dtype):
    made = machine(dtype, provenance={"seed": 1, "recipe": {"name": "paper", "shape": (8, 8)}})
    made.save(tmp_path / "r.h5")
    read = RBM.load(tmp_path / "r.h5")
    assert read.dtype == dtype
    assert read.provenance == made.provenance == {"seed": 1, "recipe": {"name": "paper", "shape": [8, 8]}}
    for name, array in made.parameters.items():
        np.testing.assert_array_equal(read.parameters[name], array)
    assert machine().provenance == {}


def test_an_altered_file_is_refused(tmp_path):
    path = tmp_path / "r.h5"
    machine().save(path)
    with h5py.File(path, "r+") as file:
        file["arrays/W"][0, 0] += 1e-9
    with pytest.raises(FileError, match="checksum"):
        RBM.load(path)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "r.h5"
    write_hdf5(path, "dataset", {"W": np.zeros(3)}, {})
    with pytest.raises(FileError, match="is a dataset file"):
        RBM.load(path)
    write_hdf5(path, "rbm", {"W": np.zeros((3, 2))}, {})
    with pytest.raises(FileError, match="an rbm file holds W, b and c"):
        RBM.load(path)
    with pytest.raises(FileError, match=r"(?i)no such file"):
        RBM.load(tmp_path / "absent.h5")


def test_a_machine_cannot_be_changed():
    W = np.ones((2, 3))
    rbm = RBM(W, np.zeros(3), np.zeros(2))
    W[:] = 7
    assert (rbm.W == 1).all()
    with pytest.raises(ValueError, match="read-only"):
        rbm.W[0, 0] = 2
    with pytest.raises(AttributeError):
        rbm.W = W
    assert repr(rbm) == "RBM(n_hidden=2, n_visible=3, float64)"


@pytest.mark.parametrize(
    ("W", "b", "c", "message"),
    [
        (np.zeros(3), np.zeros(3), np.zeros(1), r"W must be an array of shape \(n_hidden, n_visible\)"),
        (np.zeros((0, 3)), np.zeros(3), np.zeros(0), r"both >= 1, got \(0, 3\)"),
        (np.zeros((2, 3)), np.zeros(2), np.zeros(2), r"b must be an array of shape \(3,\), got \(2,\)"),
        (np.zeros((2, 3)), np.zeros(3), np.zeros(3), r"c must be an array of shape \(2,\), got \(3,\)"),
        ([[1.0, np.nan]], np.zeros(2), np.zeros(1), "W must be an array of finite numbers, got nan"),
        (np.zeros((1, 2)), [0, np.inf], [0], "b must be an array of finite numbers, got inf"),
        (np.zeros((1, 2), np.float32), [0, 0], [1e300], r"c must be an array of finite numbers, got 1e\+300"),
        ([[1, 2], [3]], np.zeros(2), np.zeros(2), "W must be an array with rows of equal length"),
        (np.zeros((1, 2), complex), np.zeros(2), np.zeros(1), "W must be an array of real numbers"),
        (None, np.zeros(2), np.zeros(1), "W must be an array of real numbers"),
    ],
)
def test_bad_parameters(W, b, c, message):
    with pytest.raises(InputError, match=message) as caught:
        RBM(W, b, c)
    assert "\n" not in str(caught.value)


def test_bad_provenance():
    with pytest.raises(InputError, match="provenance must be a mapping that JSON can hold"):
        machine(provenance={"array": np.zeros(2)})


@pytest.mark.parametrize(
    ("v", "message"),
    [
        (np.ones((2, 4)), r"v must be an array of shape \(n, 5\), got \(2, 4\)"),
        (np.ones((2, 2, 5)), r"v must be an array of shape \(n, 5\)"),
        (1, r"v must be an array of shape \(n, 5\), got \(\)"),
        ([[1, 1, 0, 1, 1]], r"units of v must be \+1 or -1, got 0"),
        ([[1, 1, np.nan, 1, 1]], r"units of v must be \+1 or -1, got nan"),
        (np.full((1, 5), 255, np.uint8), r"units of v must be \+1 or -1, got 255"),
        (np.ones((1, 5), bool), "v must be an array of real numbers, got 'type bool'"),
        ([[1, 1], [1]], "v must be an array with rows of equal length"),
    ],
)
def test_bad_configurations(v, message):
    with pytest.raises(InputError, match=message):
        machine().visible_energy(v)


def test_bad_calls():
    rbm = machine()
    v = np.ones((2, 5))
    with pytest.raises(InputError, match=r"h must be an array of shape \(n, 3\), got \(2, 5\)"):
        rbm.p_visible(v)
    with pytest.raises(InputError, match="v and h must be arrays of as many rows, got '2 and 1 rows'"):
        rbm.joint_energy(v, np.ones((1, 3)))
    with pytest.raises(InputError, match="v must be at least one configuration"):
        rbm.mean_gradient(v[:0])
    for steps in (-1, 1.5, None, True):
        with pytest.raises(InputError, match="steps must be a whole number >= 0"):
            rbm.gibbs(v, steps=steps, seed=1)
    with pytest.raises(InputError, match="seed must be"):
        rbm.gibbs(v, steps=1, seed=-3)
    with pytest.raises(InputError, match=r"units must be an array of shape \(n, 5\)"):
        rbm.hidden_inputs(np.ones(5))
