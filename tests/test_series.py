"""A series of datasets: against enumeration, against its parts, and what it refuses."""

import numpy as np
import pytest

import thermorbm as tr
from thermorbm.errors import InputError
from thermorbm.exact import enumerate_states, kaufman


@pytest.fixture(scope="module")
def series():
    lattice = tr.Lattice((4, 4))
    return tr.Series(
        [tr.sample(lattice, t, 3000, seed=k, threads=1) for k, t in enumerate([3.5, 2.0, 2.6, 1.2])]
    )


def exact_curves(lattice, temperatures):
    """Enumerated per spin: |m|, chi and U4 at each temperature, (m,) each."""
    v = enumerate_states(lattice)
    energy, m = lattice.energy(v), np.abs(lattice.magnetization(v))
    levels, index, number = np.unique(energy, return_inverse=True, return_counts=True)
    weight = np.exp(-np.outer(1 / temperatures, levels - levels[0]))
    m1, m2, m4 = (weight @ np.bincount(index, m**k) / (weight @ number) for k in (1, 2, 4))
    return m1, lattice.n_sites * (m2 - m1**2) / temperatures, 1 - m4 / (3 * m2**2)


def test_every_quantity_is_that_of_enumeration(series):
    at = np.linspace(1.2, 3.5, 12)
    found = series.reweight(at)
    m, chi, binder = exact_curves(series[0].lattice, at)
    exact = kaufman(4, at)
    names = ("energy", "heat_capacity", "entropy", "free_energy")
    truth = {name: getattr(exact, name) for name in names}
    truth |= {"abs_magnetization": m, "susceptibility": chi, "binder": binder}
    for name, values in truth.items():
        score = (getattr(found, name).values - values) / getattr(found, name).errors
        assert np.abs(score).max() < 4, name


def test_t_c_of_a_small_lattice_is_the_exact_peak(series):
    fine = np.linspace(1.2, 3.5, 1001)
    m, chi, binder = exact_curves(series[0].lattice, fine)
    for name, truth in (
        ("susceptibility", fine[chi.argmax()]),
        ("heat_capacity", fine[kaufman(4, fine).heat_capacity.argmax()]),
        ("abs_magnetization", fine[np.gradient(-m).argmax()]),
        ("binder", fine[np.gradient(-binder).argmax()]),
    ):
        point = series.critical_temperature(name)
        assert point.determined
        assert abs(point.value - truth) < 4 * point.error
        assert point.lower_95 < point.lower < point.upper < point.upper_95


def test_tables_hold_what_reweighting_gives(series):
    frame, curves = series.to_dataframe([2.0, 2.5]), series.reweight([2.0, 2.5])
    np.testing.assert_array_equal(frame.index, [2.0, 2.5])
    np.testing.assert_array_equal(frame["heat_capacity"], curves.heat_capacity.values)
    np.testing.assert_array_equal(frame["entropy_error"], curves.entropy.errors)
    labelled = series.to_xarray()
    np.testing.assert_array_equal(labelled["temperature"], series.temperatures)
    assert labelled.attrs == {"hamiltonian": str(series.hamiltonian), "n_sites": 16}


def test_it_is_a_sequence_in_order_of_temperature(series):
    np.testing.assert_array_equal(series.temperatures, [1.2, 2.0, 2.6, 3.5])
    assert len(series) == 4
    assert [each.temperature for each in series] == [1.2, 2.0, 2.6, 3.5]
    assert "4 temperatures from 1.2 to 3.5" in repr(series)


def test_energies_alone_may_bridge(series):
    bridge = series.measurements[1]
    again = tr.Series([series[0], bridge, series[2], series[3]])
    np.testing.assert_allclose(again.reweight([2.2]).energy.values, series.reweight([2.2]).energy.values)


def test_a_given_entropy(series):
    truth = float(kaufman(4, 2.0).entropy)
    assert series.reweight([2.0], entropy=(2.0, truth)).entropy.values[0] == pytest.approx(truth)


def test_what_it_refuses(series):
    v = series[0].spins(0, 10)
    plain = tr.Dataset.from_spins(v, temperature=2.0)
    with pytest.raises(InputError, match=r"one whose energies are known.*give its lattice"):
        tr.Series([plain, plain])
    nowhere = tr.Dataset.from_spins(v, lattice=series[0].lattice)
    with pytest.raises(InputError, match="temperature is known"):
        tr.Series([series[0], nowhere])
    with pytest.raises(InputError, match="two or more temperatures"):
        tr.Series([series[0]]).reweight([1.2])
    with pytest.raises(InputError, match=r"2\.0 twice"):
        tr.Series([series[1], series[1]]).reweight([2.0])
    with pytest.raises(InputError, match="on one lattice"):
        tr.Series([series[1], tr.Dataset.from_spins(v, lattice=tr.Lattice((16,)), temperature=1.0)])
    with pytest.raises(InputError, match=r"datasets, got .*tr\.Series\.from_arrays"):
        tr.Series([])


def test_sampling_several_temperatures_gives_a_series():
    series = tr.sample((6, 6), temperatures=[3.0, 2.5], n_samples=300, seed=1)
    assert isinstance(series, tr.Series)
    np.testing.assert_array_equal(series.temperatures, [2.5, 3.0])
    seeds = [each.provenance["seed"] for each in series]
    assert len(set(seeds)) == 2
    alone = tr.sample((6, 6), temperature=3.0, n_samples=300, seed=seeds[1])
    np.testing.assert_array_equal(series[1], alone)
    longer = tr.sample((6, 6), temperatures=[3.0, 2.5, 2.0], n_samples=300, seed=1)
    np.testing.assert_array_equal(longer[2], series[1])
    assert "T = 2.5" in series._repr_html_()


def test_a_series_takes_energies_from_the_hamiltonian_of_its_data():
    H = tr.hamiltonian("triangular", (6, 6), coupling=-1.0)
    series = tr.sample(H, temperatures=[2.0, 3.0], n_samples=200, seed=1)
    assert series.hamiltonian == H
    for member, measured in zip(series, series.measurements, strict=True):
        np.testing.assert_array_equal(measured.energies, H.energy(member))
    curves = series.reweight([2.5])
    assert np.isfinite(curves.energy.values).all()


def test_series_of_one_hamiltonian_alone():
    H = tr.hamiltonian("triangular", (6, 6))
    parts = [tr.sample(model, temperature=4.0, n_samples=20, seed=1) for model in (H, (6, 6))]
    with pytest.raises(InputError, match="datasets of one Hamiltonian"):
        tr.Series(parts)


@pytest.mark.parametrize(
    "temperatures",
    [
        {},
        {"temperature": 2.0, "temperatures": [2.0, 3.0]},
        {"temperatures": [2.0]},
        {"temperatures": [2, 2.0]},
    ],
)
def test_temperatures_that_make_no_series(temperatures):
    with pytest.raises(InputError, match="temperature"):
        tr.sample((6, 6), n_samples=10, **temperatures)
