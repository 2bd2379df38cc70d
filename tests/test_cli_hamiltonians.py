"""Hamiltonians on the command line: users' configurations of one, and one line for what cannot be."""

import numpy as np
import pytest

from thermorbm.cli import run
from thermorbm.dataset import Dataset
from thermorbm.hamiltonians import hamiltonian


@pytest.fixture(autouse=True)
def in_an_empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def refused(capsys, *words):
    """The only line that a bad command ends in."""
    capsys.readouterr()
    assert run(list(words)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    return err


def sample(*words):
    return "sample", "-T", "2", "-n", "64", "-o", "data.h5", *words


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--lattice", "triangulr", "--shape", "6x6"), "did you mean 'triangular'?"),
        (
            ("--lattice", "j1j2", "--coupling", "1,1,1", "--shape", "2x4"),
            "would join a site to itself",
        ),
        (("--lattice", "kagome", "--shape", "6"), "a shape of 2 sides"),
        (("--coupling", "inf", "--shape", "4x4"), "coupling must be a finite number"),
        (("--field", "nan", "--shape", "4x4"), "field must be finite"),
        (("--field", "0.1", "--method", "swendsen-wang", "--shape", "4x4"), "ghost spin"),
        (("--lattice", "kagome", "--coupling", "-1", "--method", "wolff", "--shape", "3x3"), "percolate"),
        (("--lattice", "pm-j", "--p", "2", "--shape", "4x4"), "p must be the share of ferromagnetic bonds"),
        (("--lattice", "triangular", "--p", "0.5", "--shape", "4x4"), "p must be left out for 'triangular'"),
        (("--lattice", "sk", "--disorder-seed", "-1", "--shape", "8"), "a whole number >= 0"),
        (("--disorder-seed", "3", "--shape", "4x4"), "disorder_seed must be left out for 'square'"),
        (("--lattice", "sqare", "--shape", "4x4"), "lattice must be one of"),
        (("--open", "2", "--shape", "4x4"), "open must be axes from 0 to 1, got [2]"),
        (("--open", "x", "--shape", "4x4"), "'x' is not a whole number"),
    ],
)
def test_what_cannot_be_sampled(capsys, words, message):
    assert message in refused(capsys, *sample(*words))


def test_double_bonds_count_at_side_two(capsys):
    assert run(list(sample("--lattice", "triangular", "--shape", "2x6"))) == 0
    assert Dataset.load("data.h5").hamiltonian == hamiltonian("triangular", (2, 6))


def test_symmetric_machines_need_sites_that_are_alike(capsys):
    assert run(list(sample("--lattice", "pm-j", "--shape", "4x4"))) == 0
    line = refused(capsys, "train", "data.h5", "--model", "symmetric", "-o", "rbm.h5")
    assert "of one coupling per displacement everywhere" in line
    assert "train a dense machine" in line


def test_users_configurations_of_a_hamiltonian(capsys):
    np.save("spins.npy", np.ones((9, 27), np.int8))
    named = ("--lattice", "kagome", "--coupling", "-1", "-T", "1", "-o", "data.h5")
    assert run(["import", "spins.npy", "--shape", "3x3", *named]) == 0
    assert Dataset.load("data.h5").hamiltonian == hamiltonian("kagome", (3, 3), coupling=-1)
    line = refused(capsys, "import", "spins.npy", "--shape", "3x4", *named, "--force")
    assert "cells of 3 sites" in line
    np.save("by_cell.npy", np.arange(9 * 27).reshape(9, 3, 3, 3) % 5 % 2 * 2 - 1)
    assert run(["import", "by_cell.npy", "--shape", "3x3", *named, "--force"]) == 0
    np.testing.assert_array_equal(Dataset.load("data.h5").spins(), np.load("by_cell.npy").reshape(9, 27))
    line = refused(capsys, "import", "by_cell.npy", "--shape", "3x4", *named, "--force")
    assert "(n, 36), got (9, 3, 3, 3); or (n, 3, 4, 3); cells of 3 sites" in line
    line = refused(capsys, "import", "spins.npy", "--shape", "5x5", "--lattice", "triangular", "-o", "x.h5")
    assert "5" in line
    assert "shape must be the sides" in refused(capsys, "import", "spins.npy", *named, "--force")
