"""What the samples of a family say when they are read as one series, against Kaufman's exact results."""

import numpy as np
import pytest

import thermorbm as tr
from thermorbm import exact
from thermorbm.hamiltonians import as_hamiltonian
from thermorbm.runner.store import Reduced
from thermorbm.study.critical import exact_heat_peak
from thermorbm.study.estimates import thermodynamics
from thermorbm.study.reweighted import ENERGY, MAGNETIZATION, sample_arrays
from thermorbm.study.steps import STEPS

SIDE = 8
LATTICE = tr.Lattice((SIDE, SIDE))
SAMPLES = 2000
DATA, GRID = (1.6, 2.0, 2.3, 2.6, 3.0, 3.6), (1.3, 4.5, 7.0, 15.0, 60.0)


def reduced(kind, temperature, samples=SAMPLES):
    from thermorbm.reading.configurations import averages, thermal_averages
    from thermorbm.records import as_plain

    data = tr.sample(LATTICE, temperature, samples, seed=round(1000 * temperature))
    task = STEPS[kind].task(f"T{temperature}", {}, [], {"value": temperature})
    values = {"thermal": as_plain({**averages(data), **thermal_averages(data)})}
    return Reduced(task, values, sample_arrays(data))


def estimate(results, parts=("entropy", "critical"), hamiltonian="ising"):
    parameters = {
        "what": "thermodynamics", "shape": [SIDE, SIDE], "hamiltonian": hamiltonian, "is_temperature": True,
        "union": False, "parts": list(parts), "seed": 5,
    }  # fmt: skip
    return thermodynamics(STEPS["estimate"].task("t", parameters, [], {}), results)


@pytest.fixture(scope="module")
def results():
    return [*(reduced("measure", t) for t in DATA), *(reduced("energies", t) for t in GRID)]


@pytest.fixture(scope="module")
def product(results):
    return estimate(results)


def test_samples_are_kept_as_small_whole_numbers():
    data = tr.sample(LATTICE, 2.3, 100, seed=1)
    arrays = sample_arrays(data)
    assert {array.dtype for array in arrays.values()} == {np.dtype(np.int16)}
    np.testing.assert_array_equal(arrays[ENERGY], LATTICE.energy(data.spins()))
    np.testing.assert_array_equal(arrays[MAGNETIZATION], data.spins().sum(axis=1))


def test_fine_curves_are_kaufmans_within_their_errors(product):
    arrays = product.arrays
    x = arrays["reweighted.temperature"]
    assert len(x) >= 400
    assert set(DATA) <= set(x.tolist())
    truth = exact.kaufman(SIDE, x)
    for name in ("energy", "heat_capacity", "entropy", "free_energy"):
        values, errors = (arrays[f"reweighted.{name}_per_spin{end}"] for end in ("", ".errors"))
        z = (values - getattr(truth, name)) / errors
        assert np.abs(z).max() < 4.5  # 400 points, but few of them independent
    assert np.isfinite(arrays["reweighted.binder_cumulant"]).all()
    assert product.values["notes"] == []


def test_peaks_and_targets_come_from_all_samples(product):
    rows = {row["indicator"]: row for row in product.values["critical"]}
    truth = exact_heat_peak(as_hamiltonian(LATTICE))
    for name in ("heat_capacity_per_spin", "entropy_per_spin"):
        found = rows[name]["estimate"]
        assert rows[name]["resolved"]
        assert abs(found["value"] - truth) < 4 * found["error"]
        assert found["error"] < 0.02
    targets = product.values["targets"]
    assert targets["heat_capacity"] == {"value": truth, "error": 0.0, "source": "kaufman"}
    peak = rows["susceptibility_per_spin"]["estimate"]
    assert targets["susceptibility"] == {**peak, "source": "samples"}
    assert 2.3 < peak["value"] < 2.7


def test_entropies_of_the_data_are_kaufmans(product):
    curve = product.values["curves"]["entropy_per_spin"]
    assert curve["x"] == list(DATA)
    z = (np.array(curve["values"]) - exact.kaufman(SIDE, np.array(DATA)).entropy) / np.array(curve["errors"])
    assert np.abs(z).max() < 4


def test_temperatures_that_do_not_overlap_are_said(results):
    """Without the temperatures around the transition nothing is said there, and no peak is resolved."""
    far = [reduced("measure", t, 200) for t in (0.8, 1.0, 1.2, 8.0, 9.0, 10.0)]
    product = estimate(far)
    assert "samples at 1.2 and 8 have too few energies in common" in " ".join(product.values["notes"])
    x, y = product.arrays["reweighted.temperature"], product.arrays["reweighted.energy_per_spin"]
    assert np.isnan(y[(x > 1.2) & (x < 8.0)]).all()
    assert np.isfinite(y[(x <= 1.2) | (x >= 8.0)]).all()


def test_ground_states_alone_have_no_peak():
    product = estimate([reduced("measure", t, 50) for t in (0.1, 0.15, 0.2)])
    rows = product.values["critical"]
    assert {row["estimate"] for row in rows} == {None}
    assert all("at least 6" in row["problem"] for row in rows)
    assert product.values["targets"]["susceptibility"] is None


def test_users_data_without_energies_say_so_and_have_smooth_curves():
    results = [reduced("measure", t) for t in DATA]
    plain = [Reduced(each.task, each.values, {}) for each in results]
    product = estimate(plain, hamiltonian="unknown")
    assert "their energies are not known; give the shape of the lattice" in " ".join(product.values["notes"])
    rows = {row["indicator"]: row for row in product.values["critical"]}
    assert rows["susceptibility_per_spin"]["lower_95"] < rows["susceptibility_per_spin"]["upper_95"]


def test_rows_of_short_grids_have_the_fields_of_others(results):
    short = estimate([reduced("measure", t, 200) for t in (2.2, 2.4)]).values["critical"]
    fields = {tuple(row) for row in (*short, *estimate(results).values["critical"])}
    assert len(fields) == 1
    (row,) = (row for row in short if row["indicator"] == "pseudo_entropy_per_spin")
    assert row["estimate"] is None
    assert row["problem"].startswith("number of temperatures must be at least 6")


def test_one_temperature_is_not_reweighted():
    product = estimate([reduced("measure", 2.3, 50)])
    assert product.values["notes"] == [
        "the samples were not reweighted: series must be two or more temperatures, got 'one temperature'; "
        "sample another one"
    ]
    assert not any(name.startswith("reweighted") for name in product.arrays)
