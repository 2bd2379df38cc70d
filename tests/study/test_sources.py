"""Users' own data as a study: many files, parameter arrays, and what is left out without a Hamiltonian."""

import h5py
import numpy as np
import pytest

from thermorbm import Lattice, sample
from thermorbm.errors import FileError, InputError
from thermorbm.lattice import Lattice as LatticeType
from thermorbm.study.plan import plan_study
from thermorbm.study.run import run_study
from thermorbm.study.sources import find_sources, read_source
from thermorbm.study.toml import load_study

HEAD = """\
name = "mine"
[control]
name = "pressure"
unit = "GPa"
symbol = "p"
[[family]]
name = "crystal"
hidden = [3]
held_out = 20
[family.changes]
epochs = 2
least_updates = 0
"""


@pytest.fixture
def coins(tmp_path):
    """400 random configurations of 9 spins, and a parameter of 0.5 for the first half and -1 for the rest."""
    rng = np.random.default_rng(1)
    spins = rng.choice([-1, 1], (400, 9)).astype(np.int8)
    return spins, np.repeat([0.5, -1.0], 200)


def family_of(write_study, more):
    return load_study(write_study(HEAD, more)).families[0]


def test_many_files_are_joined_by_value(write_study, tmp_path, coins):
    spins, _ = coins
    np.save(tmp_path / "a.npy", spins[:100])
    np.save(tmp_path / "b.npy", (spins[100:150] + 1) // 2)  # 0 and 1
    np.savez(tmp_path / "c.npz", spins=spins[150:])
    family = family_of(
        write_study,
        '[[data]]\nfile = ["a.npy", "b.npy"]\nvalue = 2\n[[data]]\nfile = "c.npz"\nvalue = 1\n'
        '[[data]]\nfile = "b.npy"\nvalue = 1\n',
    )
    low, high = find_sources(family)
    assert (low.value, high.value) == (1.0, 2.0)
    np.testing.assert_array_equal(read_source(high.pieces, 2.0, None).spins(), spins[:150])
    joined = np.concatenate([spins[150:], spins[100:150]])
    np.testing.assert_array_equal(read_source(low.pieces, 1.0, LatticeType((3, 3))).spins(), joined)


@pytest.mark.parametrize("kind", ["npz", "h5"])
def test_one_file_with_a_parameter_array(write_study, tmp_path, coins, kind):
    spins, values = coins
    path = tmp_path / f"all.{kind}"
    if kind == "npz":
        np.savez(path, configurations=spins, p=values)
    else:
        with h5py.File(path, "w") as file:
            file["configurations"], file["p"] = spins, values
    family = family_of(
        write_study, f'[[data]]\nfile = "{path.name}"\narray = "configurations"\nparameter_array = "p"\n'
    )
    low, high = find_sources(family)
    assert (low.value, high.value) == (-1.0, 0.5)
    np.testing.assert_array_equal(read_source(low.pieces, -1.0, None).spins(), spins[200:])
    np.testing.assert_array_equal(read_source(high.pieces, 0.5, None).spins(), spins[:200])


def test_a_dataset_of_our_own_knows_its_temperature(write_study, tmp_path):
    sample(Lattice((4, 4)), 2.5, 50, seed=1).save(tmp_path / "d.h5")
    text = 'name = "ours"\n[[family]]\nname = "f"\nshape = [4, 4]\n[[data]]\nfile = "d.h5"\n'
    (source,) = find_sources(load_study(write_study(text)).families[0])
    assert source.value == 2.5
    assert len(read_source(source.pieces, 2.5, LatticeType((4, 4)))) == 50
    with pytest.raises(FileError, match="has the lattice 4x4, the study says 2x8"):
        read_source(source.pieces, 2.5, LatticeType((2, 8)))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ('file = "absent.npy"\nvalue = 1', "absent.npy: cannot be read"),
        ('file = "a.npy"', "does not say its temperature"),
        ('file = "a.npy"\nparameter_array = "p"', "is not a npz or HDF5 file"),
        ('file = "a.npz"\nparameter_array = "q"', "holds no array 'q'"),
        ('file = "a.npz"\nparameter_array = "nan"', "must be a list of finite numbers"),
        ('file = "a.npz"\nparameter_array = "words"', "cannot be read as numbers"),
        ('file = "a.npz"\nparameter_array = "spins"', "one per configuration, got shape (400, 9)"),
        ('file = "broken.npz"\nparameter_array = "p"', "broken.npz"),
    ],
)
def test_files_that_cannot_be_used(write_study, tmp_path, coins, more, message):
    spins, values = coins
    np.save(tmp_path / "a.npy", spins)
    np.savez(tmp_path / "a.npz", spins=spins, p=values, nan=np.full(400, np.nan), words=np.array(["x"] * 400))
    (tmp_path / "broken.npz").write_bytes((tmp_path / "a.npz").read_bytes()[:500])
    with pytest.raises(FileError) as caught:
        find_sources(family_of(write_study, "[[data]]\n" + more))
    assert message in str(caught.value)


def test_a_continuous_parameter_is_refused(write_study, tmp_path):
    np.savez(tmp_path / "a.npz", spins=np.ones((2000, 4)), p=np.arange(2000.0))
    family = family_of(write_study, '[[data]]\nfile = "a.npz"\narray = "spins"\nparameter_array = "p"')
    with pytest.raises(InputError, match="got '2000 distinct values'; bin them first"):
        find_sources(family)


def test_a_file_that_changes_is_noticed(write_study, tmp_path, coins):
    np.save(tmp_path / "a.npy", coins[0])
    more = '[[data]]\nfile = "a.npy"\nvalue = 1'
    family = family_of(write_study, more)
    (source,) = find_sources(family)
    before = plan_study(load_study(write_study(HEAD, more))).tasks
    np.save(tmp_path / "a.npy", -coins[0])
    with pytest.raises(FileError, match="has changed since the study was planned"):
        read_source(source.pieces, 1.0, None)
    assert not set(before) & set(plan_study(load_study(write_study(HEAD, more))).tasks)


def test_a_study_of_users_data_runs_and_a_bad_file_spoils_only_its_own(
    write_study, tmp_path, coins, recorder, results
):
    spins, values = coins
    np.savez(tmp_path / "all.npz", spins=spins, p=values)
    np.save(tmp_path / "few.npy", spins[:8])
    more = (
        '[[data]]\nfile = "all.npz"\narray = "spins"\nparameter_array = "p"\n'
        '[[data]]\nfile = "few.npy"\nvalue = 3\n'
    )
    summary = run_study(write_study(HEAD, more), tmp_path / "run", recorder, n_workers=1)
    (failed,) = summary.outcome.failed.items()
    assert failed[0].startswith("import/crystal-x3-")
    assert failed[1] == "held_out must be at most 6 of 8 configurations, got 20"
    assert not summary.is_complete
    content = results(tmp_path / "run")
    family = content["families"][0]
    assert [row["value"] for row in family["data"]] == [-1.0, 0.5]
    assert all("energy_per_spin" not in row["thermal"] for row in family["data"])
    assert [row["value"] for row in family["machines"]] == [-1.0, 0.5]
    generated = family["machines"][0]["observations"][0]["generation"]
    assert {name for name, made in generated.items() if made is not None} == {
        "magnetization", "random", "magnetization_chain", "steps_to_equilibrium",
    }  # fmt: skip
    assert content["tasks"]["failed"][0]["error"] == failed[1]
    # Mended, the study goes on where it stopped.
    np.save(tmp_path / "few.npy", spins[:300])
    again = run_study(write_study(HEAD, more), tmp_path / "run", recorder, n_workers=1)
    assert again.is_complete
    assert again.n_before == 14
    assert len(results(tmp_path / "run")["families"][0]["machines"]) == 3
