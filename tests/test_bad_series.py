"""What a series that cannot be reweighted gets: a sentence that says what is missing, and what can be had."""

import numpy as np
import pytest

import thermorbm as tr
from thermorbm.errors import InputError

LATTICE = tr.Lattice((8, 8))


def sampled(*temperatures, n=400):
    return [tr.sample(LATTICE, t, n, seed=k, threads=1) for k, t in enumerate(temperatures)]


def test_one_temperature():
    for call in (lambda s: s.reweight([2.0]), lambda s: s.critical_temperature("heat_capacity")):
        with pytest.raises(InputError, match=r"two or more temperatures.*sample another one"):
            call(tr.Series(sampled(2.0)))


def test_a_number_in_the_place_of_several():
    with pytest.raises(InputError, match=r"two or more, all different.*give one as temperature=T"):
        tr.sample(LATTICE, temperatures=2.0)


def test_repeated_temperatures():
    with pytest.raises(InputError, match=r"2\.0 twice.*join its samples by Dataset\.concatenate"):
        tr.Series(sampled(2.0, 2.0)).critical_temperature("susceptibility")


def test_users_data_without_energies():
    members = [
        tr.Dataset.from_spins(each.spins(0, 50), temperature=each.temperature) for each in sampled(2.0, 2.5)
    ]
    with pytest.raises(InputError, match=r"one whose energies are known.*give its lattice or Hamiltonian"):
        tr.Series(members)


def test_nothing_but_ground_states():
    up = np.ones((50, 64), dtype=np.int8)
    series = tr.Series([tr.Dataset.from_spins(up, LATTICE, t) for t in (0.1, 0.2)])
    with pytest.raises(InputError, match=r"ones that vary.*sample higher temperatures"):
        series.reweight([0.15])


def test_few_temperatures_that_do_not_overlap():
    series = tr.Series(sampled(0.8, 9.0))
    curves = series.reweight([0.8, 5.0, 9.0])
    assert np.isfinite(curves.energy.values[[0, 2]]).all()
    assert np.isnan(curves.energy.values[1])
    assert "T = 0.8 and 9 have too few energies in common" in " ".join(curves.notes)
    with pytest.raises(InputError, match=r"at least 6, for a curve through points.*sample more around T_c"):
        series.critical_temperature("heat_capacity")


def test_many_temperatures_that_do_not_overlap_have_a_smooth_curve():
    series = tr.Series(sampled(1.0, 1.2, 1.4, 3.6, 5.2, 7.0, n=100))
    point = series.critical_temperature("heat_capacity")
    assert not point.resolved  # an interval from the averages alone, or nothing
    assert 1.0 <= point.value <= 7.0
