"""T_c from machines for all temperatures: reweighted, against machines that are the Ising model itself."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import thermorbm as tr
from thermorbm.errors import InputError
from thermorbm.estimators import Measurements, Reweighting, observable_peak
from thermorbm.exact import ising_rbm, kaufman
from thermorbm.study.critical import union_arrays, union_peaks

LATTICE = tr.Lattice((8, 8))
TEMPERATURES = [1.8, 2.1, 2.4, 2.7, 3.0]
FINE = np.linspace(1.8, 3.0, 2401)


@dataclass
class FakeTask:
    labels: dict[str, Any]


@dataclass
class FakeResult:
    task: FakeTask
    arrays: dict[str, Any] = field(default_factory=dict)


@pytest.fixture(scope="module")
def data():
    return [tr.sample(LATTICE, t, 4000, seed=k, threads=1) for k, t in enumerate(TEMPERATURES)]


def results(data, machine, parts=("visible-energy", "likelihood"), seed_index=0):
    return [
        FakeResult(
            FakeTask({"value": each.temperature, "seed_index": seed_index}),
            union_arrays(machine, each, parts),
        )
        for each in data
    ]


def test_the_machine_that_is_the_model_has_the_peaks_of_the_energy(data):
    """Its visible energy is E / T_0 and a constant: Var E peaks as T^2 c_V does, d<E>/dT as c_V does."""
    peaks = union_peaks(results(data, ising_rbm(LATTICE, 2.269)), LATTICE.n_sites, seed=1)
    heat = kaufman(8, FINE).heat_capacity
    for name, exact in (
        ("visible_energy_variance_per_spin", FINE**2 * heat),
        ("visible_energy_mean_per_spin", heat),
    ):
        assert abs(peaks[name].value - FINE[exact.argmax()]) < 4 * peaks[name].error
        assert peaks[name].error < 0.05
    assert set(peaks) == {
        "visible_energy_mean_per_spin",
        "visible_energy_variance_per_spin",
        "zero_bias_energy_variance_per_spin",
        "pseudo_likelihood_per_spin",
    }


def test_what_was_not_read_is_left_out(data):
    machine = ising_rbm(LATTICE, 2.269)
    assert "pseudo_likelihood_per_spin" not in union_peaks(results(data, machine, ["visible-energy"]), 64, 1)
    assert union_peaks([], 64, 1) == {}
    assert union_peaks(results(data[:1], machine), 64, 1) == {}  # one temperature: the curve says why
    without = tr.Dataset.from_spins(data[0].spins(0, 100), temperature=2.0)
    assert union_arrays(machine, without, ["visible-energy"]) == {}


def test_seeds_are_averaged_and_their_scatter_counts(data):
    one, other = (results(data, ising_rbm(LATTICE, 2.269), seed_index=k) for k in (0, 1))
    alone, both = union_peaks(one, 64, 1), union_peaks([*one, *other], 64, 1)
    name = "visible_energy_variance_per_spin"
    assert both[name].value == pytest.approx(alone[name].value)
    assert both[name].error == pytest.approx(alone[name].error)  # equal machines: the data's error stays


def test_a_peak_next_to_a_gap_is_left_to_the_smooth_curve():
    rng = np.random.default_rng(1)
    parts = [
        Measurements(t, rng.normal(-e, 3, 500), rng.random(500) * (t == 2.5))
        for t, e in ((2, 900), (2.5, 500), (3, 100))
    ]
    assert observable_peak(Reweighting(parts, 1000), "peak") is None
    with pytest.raises(InputError, match="mark"):
        observable_peak(Reweighting(parts, 1000), "top")
