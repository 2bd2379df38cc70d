"""Symmetric machines in files, and what is refused."""

import numpy as np
import pytest

from thermorbm import load_machine
from thermorbm.errors import FileError, InputError
from thermorbm.model import RBM, SymmetricRBM
from thermorbm.storage import write_hdf5


def machine(dtype=np.float64, **options):
    rng = np.random.default_rng(1)
    return SymmetricRBM(rng.normal(size=(2, 3, 2)).astype(dtype), (4, 5), 0.5, [0.1, -0.2], **options)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_round_trip(tmp_path, dtype):
    made = machine(dtype, provenance={"seed": 1})
    made.save(tmp_path / "r.h5")
    for read in (SymmetricRBM.load(tmp_path / "r.h5"), load_machine(tmp_path / "r.h5")):
        assert isinstance(read, SymmetricRBM)
        assert read.dtype == dtype
        assert (read.shape, read.window, read.provenance) == ((4, 5), (3, 2), {"seed": 1})
        for name, array in made.parameters.items():
            np.testing.assert_array_equal(read.parameters[name], array)
    assert repr(made) == f"SymmetricRBM(2 filters of 3x2 on 4x5, {np.dtype(dtype)})"


def test_each_kind_names_the_reader_of_the_other(tmp_path):
    machine().save(tmp_path / "s.h5")
    dense = RBM(np.zeros((2, 3)), np.zeros(3), np.zeros(2))
    dense.save(tmp_path / "d.h5")
    assert isinstance(load_machine(tmp_path / "d.h5"), RBM)
    with pytest.raises(FileError, match=r"is a symmetric-rbm file.*read it with thermorbm\.load_machine"):
        RBM.load(tmp_path / "s.h5")
    with pytest.raises(FileError, match=r"is a rbm file.*read it with thermorbm\.load_machine"):
        SymmetricRBM.load(tmp_path / "d.h5")


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "r.h5"
    write_hdf5(path, "dataset", {"filters": np.zeros(3)}, {})
    with pytest.raises(FileError, match="is a dataset file"):
        SymmetricRBM.load(path)
    with pytest.raises(FileError, match="is a dataset file; a machine is wanted"):
        load_machine(path)
    write_hdf5(path, "symmetric-rbm", {"filters": np.zeros((1, 2))}, {})
    with pytest.raises(FileError, match="holds filters, shape, visible_bias, hidden_bias"):
        SymmetricRBM.load(path)


def test_a_machine_cannot_be_changed():
    made = machine()
    with pytest.raises(ValueError, match="read-only"):
        made.filters[0, 0, 0] = 2
    with pytest.raises(AttributeError):
        made.shape = (3, 3)


@pytest.mark.parametrize(
    ("filters", "shape", "options", "message"),
    [
        (np.zeros((2, 3, 3)), (4,), {}, r"filters must be an array of shape \(n_filters, k\)"),
        (np.zeros((0, 3, 3)), (4, 4), {}, r"\(n_filters, k, k\), all >= 1, got \(0, 3, 3\)"),
        (
            np.zeros((2, 5, 3)),
            (4, 4),
            {},
            r"window must be no larger than the lattice, \(4, 4\), got \(5, 3\)",
        ),
        (np.zeros((2, 3, 3)), (), {}, "shape must be sides of the periodic grid"),
        (np.zeros((2, 3, 3)), (4, -4), {}, "shape must be sides of the periodic grid"),
        (np.zeros((2, 3, 3)), (4, 4.5), {}, "shape must be sides of the periodic grid"),
        (np.full((2, 3), np.nan), (4,), {}, "filters must be an array of finite numbers, got nan"),
        (np.zeros((2, 3)), (4,), {"hidden_bias": [1.0]}, r"hidden_bias must be an array of shape \(2,\)"),
        (np.zeros((2, 3)), (4,), {"visible_bias": [1.0]}, r"visible_bias must be an array of shape \(\)"),
        (np.zeros((2, 3)), (4,), {"visible_bias": np.inf}, "visible_bias must be .* finite numbers, got inf"),
    ],
)
def test_bad_parameters(filters, shape, options, message):
    with pytest.raises(InputError, match=message) as caught:
        SymmetricRBM(filters, shape, **options)
    assert "\n" not in str(caught.value)


def test_bad_configurations():
    with pytest.raises(InputError, match=r"v must be an array of shape \(n, 20\)"):
        machine().visible_energy(np.ones((2, 4)))
    with pytest.raises(InputError, match=r"units must be an array of shape \(n, 20\)"):
        machine().hidden_inputs(np.ones(20))
