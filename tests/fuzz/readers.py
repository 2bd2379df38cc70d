"""Fuzz targets: each makes one input from a random generator and reads it; only documented errors may come.

python -m fuzz.readers TARGET N [SEED]     from the directory `tests`
"""

import functools
import random
import signal
import sys
import tempfile
import warnings
from pathlib import Path
from unittest.mock import patch

import h5py
import numpy as np

from fuzz import received
from fuzz.mutations import damaged, rewritten, seal, strange
from thermorbm import RBM, Dataset, Lattice, generate, hamiltonian, load_machine
from thermorbm.cli.data import dataset_summary
from thermorbm.dataset import import_spins
from thermorbm.errors import ThermorbmError
from thermorbm.runner.store import Reduced, read_reduced, write_reduced
from thermorbm.storage import HEADER, HEADER_SIZE, read_hdf5, write_hdf5
from thermorbm.study.plan import plan_study
from thermorbm.study.sources import parameter_values
from thermorbm.study.steps import STEPS
from thermorbm.study.toml import builtin_studies, load_study

MOST_SECONDS, MOST_CPU_SECONDS = 60, 10  # the first for what waits, on a computer with other work
LATTICE = Lattice((4, 4))
EVERYTHING = """
name = "everything"
title = "All keys"
seed = 1
precision = "fp32"
device = "cpu"
[control]
name = "temperature"
symbol = "T"
unit = "J"
[[family]]
name = "2d"
shape = [4, 4]
temperatures = {from = 1.0, to = 4.0, count = 3}
samples = 100
held_out = 20
method = "wolff"
hamiltonian = "ising"
hidden = [4, 8]
recipe = "paper"
seeds = 2
all_filters = [1.0]
parts = ["thermal", "weights", "critical"]
[family.changes]
epochs = 20
learning_rate = 0.1
[family.value_changes]
"1.0" = {epochs = 3}
[family.energies]
coldest = 0.5
hottest = 40.0
points = 4
samples = 40
[[family.variant]]
name = "all"
union = true
samples = 20
proportions = [1, 1, 2]
zero_bias = true
temperatures = [1.0, 2.5, 4.0]
sector = 0.6
[[family]]
name = "mine"
shape = [4, 4]
hidden = 3
[[family]]
name = "L6"
shape = [6, 6]
temperatures = [2.0, 2.5]
samples = 100
hidden = [4]
[[family]]
name = "L8"
shape = [8, 8]
temperatures = [2.0, 2.5]
samples = 100
hidden = [8]
[[extrapolation]]
name = "sides"
families = ["L6", "L8"]
nu = 1.0
[[data]]
file = ["spins.npz"]
family = "mine"
array = "spins"
parameter_array = "values"
"""


def toml(draw, place):
    """Studies: read, and planned if they are valid."""
    text = draw.choice(_studies()) if draw.random() < 0.1 else _studies()[-1]
    (place / "spins.npz").write_bytes(_foreign_files()["npz"][0])
    path = place / "study.toml"
    path.write_text(rewritten(text, draw))
    plan_study(load_study(path))


def ours(draw, place):
    """Our own files with damage anywhere: the checksum must see it, or nothing was changed."""
    read, content = draw.choice(_our_files())
    path = place / "ours.h5"
    path.write_bytes(damaged(content, draw))
    read(path)


def layout(draw, place):
    """Our own files, well sealed, with arrays and metadata that nobody expects."""
    kind, read = draw.choice([("dataset", Dataset.load), ("rbm", RBM.load), ("reduced", read_reduced)])
    arrays, metadata = _contents()[kind]
    arrays = {name: _strange_array(array, draw) for name, array in arrays.items() if draw.random() > 0.05}
    write_hdf5(place / "layout.h5", kind, arrays, strange(metadata, draw) or {})
    read(place / "layout.h5")


def forged(draw, place):
    """Our own files with damage anywhere, sealed again: the HDF5 library gets to see them."""
    read, content = draw.choice(_our_files())
    path = place / "forged.h5"
    path.write_bytes(content[:HEADER_SIZE] + damaged(content[HEADER_SIZE:], draw))
    seal(path, HEADER.fullmatch(content[:HEADER_SIZE])[2].decode())
    read(path)


def labels(draw, place):
    """Datasets and machines, well sealed, that say strange things of themselves: they are read and used."""
    kind, arrays, metadata = draw.choice(_labelled())
    write_hdf5(place / "labels.h5", kind, arrays, received.hostile(metadata, draw))
    if kind == "dataset":
        data = Dataset.load(place / "labels.h5")
        dataset_summary(data)
        if data.hamiltonian:
            data.hamiltonian.energy(data.spins(0, 2))
    else:
        generate(load_machine(place / "labels.h5"), 2, steps=1)


def npy(draw, place):
    _import(damaged(draw.choice(_foreign_files()["npy"]), draw), draw, place)


def npz(draw, place):
    _import(damaged(draw.choice(_foreign_files()["npz"]), draw), draw, place)


def hdf5(draw, place):
    _import(damaged(draw.choice(_foreign_files()["hdf5"]), draw), draw, place)


TARGETS = {
    target.__name__: target
    for target in (toml, ours, layout, forged, labels, npy, npz, hdf5, *received.TARGETS)
}


def fuzz(name, n_inputs, seed=0):
    """Runs a target on so many inputs; any error that is not documented is raised with its input's number."""
    target = TARGETS[name]
    signal.signal(signal.SIGALRM, _too_long)
    signal.signal(signal.SIGPROF, _too_long)
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings(), patch("os.fsync"):
        warnings.simplefilter("ignore")  # and no waiting for the disk
        for number in range(n_inputs):
            signal.alarm(MOST_SECONDS)
            signal.setitimer(signal.ITIMER_PROF, MOST_CPU_SECONDS)
            try:
                target(random.Random(f"{name} {seed} {number}"), Path(place))
            except (ThermorbmError, MemoryError):
                pass
            except BaseException as error:
                raise AssertionError(f"input {number} of {name} with seed {seed}: {error!r}") from error
            finally:
                signal.alarm(0)
                signal.setitimer(signal.ITIMER_PROF, 0)


def _too_long(number, frame):
    raise AssertionError(f"no answer after {MOST_SECONDS} s, or {MOST_CPU_SECONDS} s of work")


def _import(content, draw, place):
    path = place / "foreign"
    path.write_bytes(content)
    lattice, array = draw.choice([None, LATTICE]), draw.choice([None, "spins", "absent"])
    if draw.random() < 0.2:
        parameter_values(path, draw.choice(["values", "spins", "absent"]))
    else:
        import_spins([path], lattice, 2.0, array=array)


def _strange_array(array, draw):
    match draw.randrange(8):
        case 0:
            return array.astype(draw.choice([np.float64, np.int8, np.uint8, np.complex64, bool, "S3"]))
        case 1:
            return array.reshape(-1)
        case 2:
            return array[:0]
        case 3:
            return array[..., None]
        case 4:
            return np.full(array.shape, draw.choice([np.nan, np.inf, 3]))
        case _:
            return array


@functools.cache
def _studies():
    """The last one has all keys there are."""
    return [*(path.read_text() for path in builtin_studies().values()), EVERYTHING]


@functools.cache
def _contents():
    """Arrays and metadata of a good file of every kind."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "x.h5"
        found = {}
        for kind, save in _savers().items():
            save(path)
            found[kind] = read_hdf5(path, kind)
    return found


@functools.cache
def _labelled():
    """Kind, arrays and metadata of datasets and machines, for equal and for random bonds."""
    found, spins = [], np.ones((3, 16), np.int8)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "x.h5"
        for model in (hamiltonian("triangular", (4, 4)), hamiltonian("pm-j", (4, 4), p=0.5, seed=1)):
            Dataset.from_spins(spins, None, 2.0, hamiltonian=model).save(path)
            found.append(("dataset", *read_hdf5(path, "dataset")))
            noted = {"shape": [4, 4], "temperature": 2.0, "mean_abs_magnetization": 0.3}
            provenance = {"data": noted, "hamiltonian": model.to_dict()}
            RBM(np.eye(3, 16), np.zeros(16), np.zeros(3), provenance).save(path)
            found.append(("rbm", *read_hdf5(path, "rbm")))
    return found


@functools.cache
def _our_files():
    readers = {"dataset": Dataset.load, "rbm": RBM.load, "reduced": read_reduced}
    found = []
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "x.h5"
        for kind, save in _savers().items():
            save(path)
            found.append((readers[kind], path.read_bytes()))
    return found


def _savers():
    rng = np.random.default_rng(0)
    spins = rng.choice(np.array([-1, 1], np.int8), (20, 16))
    machine = RBM(rng.normal(size=(3, 16)), np.zeros(16), np.zeros(3))
    task = STEPS["measure"].task("x", {"thermal": True}, labels={"family": "f"})
    return {
        "dataset": Dataset.from_spins(spins, None, 2.0, hamiltonian=hamiltonian("triangular", (4, 4))).save,
        "rbm": machine.save,
        "reduced": lambda path: write_reduced(path, Reduced(task, {"a": 1.0}, {"b": np.arange(3)}, {})),
    }


@functools.cache
def _foreign_files():
    """Good users' files of every format."""
    rng = np.random.default_rng(0)
    spins = rng.choice(np.array([-1, 1], np.int8), (20, 16))
    found = {"npy": [], "npz": [], "hdf5": []}
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "x"
        for array in (spins, spins.astype(np.float32), (spins > 0).reshape(20, 4, 4)):
            with open(path, "wb") as file:
                np.save(file, array)
            found["npy"].append(path.read_bytes())
            for save in (np.savez, np.savez_compressed):
                with open(path, "wb") as file:
                    save(file, spins=array, values=np.arange(20.0))
                found["npz"].append(path.read_bytes())
            for options in ({}, {"libver": "latest"}):
                found["hdf5"].append(_hdf5(path, array, options))
    return found


def _hdf5(path, array, options):
    with h5py.File(path, "w", **options) as file:
        file.create_dataset("group/spins", data=array, chunks=(5, *array.shape[1:]), compression="gzip")
        file["spins"] = h5py.SoftLink("/group/spins")
        file["values"] = np.arange(20.0)
        file.attrs["note"] = "<script>alert(1)</script>"
    return path.read_bytes()


if __name__ == "__main__":
    fuzz(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0)
