"""Curves over temperatures, entropies and critical temperatures, from numbers that are known exactly."""

import numpy as np
import pytest

from thermorbm import Lattice, exact
from thermorbm.hamiltonians import as_hamiltonian
from thermorbm.stats import Estimate
from thermorbm.study.collect import _is_shown, _target
from thermorbm.study.critical import critical_points, exact_heat_peak
from thermorbm.study.estimates import curves, widened
from thermorbm.study.results import Curve
from thermorbm.study.reweighted import can_integrate, integrated
from thermorbm.study.toml import load_study

SIDE = 32
FAMILY = """
[[family]]
name = "2d"
shape = [{}]
temperatures = [2.0]
samples = 9
[family.energies]
samples = 9
"""


def ferromagnet(*shape):
    return as_hamiltonian(Lattice(shape))


def plain_family(side):
    return {"model": None, "shape": [side, side]}


def curve(x, values, error=1e-5):
    return Curve(tuple(x), tuple(values), (error,) * len(x))


def grid_of(write_study, keys, shape="8, 8"):
    study = load_study(write_study('name = "s"\n' + FAMILY.format(shape) + keys))
    return np.array(study.families[0].energies.temperatures)


def test_a_grid_of_energies_is_densest_at_the_transition(write_study):
    grid = grid_of(write_study, "coldest = 0.5\nhottest = 40\npoints = 48\n")
    assert (grid[0], grid[-1], len(grid)) == (0.5, 40.0, 48)
    nearest = grid[np.argmin(np.diff(grid) / grid[1:])]
    assert nearest == pytest.approx(exact.TC_2D, rel=0.05)


@pytest.mark.parametrize(
    ("keys", "shape", "message"),
    [
        ("coldest = 3\nhottest = 40\npoints = 9\n", "8, 8", "energies.coldest must be below T_c = 2.2692"),
        ("coldest = 1e-320\nhottest = 40\npoints = 9\n", "8, 8", "energies.coldest must be below T_c"),
        ("hottest = 40\npoints = 9\n", "8, 8", "energies.coldest must be below T_c = 2.2692"),
        ("coldest = 1\nhottest = 40\npoints = 3\n", "8, 8", "energies.points must be between 4 and"),
        ("coldest = 1\nhottest = 9\npoints = 9\n", "8", "absent where T_c is not known"),
        ("points = 9\ntemperatures = [1, 2]\n", "8, 8", "temperatures must be absent where points are given"),
    ],
)
def test_mistakes_in_a_grid(write_study, keys, shape, message):
    with pytest.raises(OSError, match=message):
        grid_of(write_study, keys, shape)


def test_integrated_entropy_is_kaufmans(write_study):
    grid = grid_of(write_study, "coldest = 0.5\nhottest = 40\npoints = 64\n")
    wanted = [1.0, 2.0, 2.25, 2.5, 4.0]
    grid = np.unique([*grid, *wanted])
    known = exact.kaufman(SIDE, grid)
    found = integrated(
        {
            "energy_per_spin": curve(grid, known.energy),
            "heat_capacity_per_spin": curve(grid, known.heat_capacity),
        },
        [0.1, *wanted],  # outside the grid nothing is said
        (SIDE, SIDE),
        seed=1,
    )
    truth = exact.kaufman(SIDE, wanted)
    assert found.combined.x == tuple(wanted)
    for name in ("combined", "from_zero", "from_infinity"):
        np.testing.assert_allclose(getattr(found, name).values, truth.entropy, atol=1e-4)
    np.testing.assert_allclose(found.free_energy_per_spin.values, truth.free_energy, atol=3e-4)
    assert abs(found.mismatch.value) < 1e-4
    assert found.hot_end == "infinite temperature"


def test_where_entropies_can_be_integrated():
    assert can_integrate("ising", (8, 8), 20)
    assert not can_integrate("unknown", (8, 8), 20)
    assert not can_integrate("ising", (2, 8), 20)
    assert not can_integrate("ising", None, 20)
    assert not can_integrate("ising", (8, 8), 3)


def test_the_exact_peak_of_the_heat_capacity():
    shifts = [exact_heat_peak(ferromagnet(side, side)) / exact.TC_2D - 1 for side in (16, 32, 64)]
    np.testing.assert_allclose(shifts, [0.021, 0.011, 0.0055], atol=5e-4)
    assert exact_heat_peak(ferromagnet(8, 8, 8)) is None
    assert exact_heat_peak(ferromagnet(8, 16)) is None
    assert exact_heat_peak(None) is None


def test_critical_points_of_exact_curves():
    x = np.linspace(1.5, 3.5, 21)
    known = exact.kaufman(SIDE, x)
    rows, arrays = critical_points(
        {
            "heat_capacity_per_spin": curve(x, known.heat_capacity, 1e-3),
            "entropy_per_spin": curve(x, known.entropy, 1e-4),
            "energy_per_spin": curve(x, known.energy),  # tells nothing
        },
        of_unions=False,
        is_temperature=True,
        seed=1,
    )
    truth = exact_heat_peak(ferromagnet(SIDE, SIDE))
    assert [(row.indicator, row.feature) for row in rows] == [
        ("heat_capacity_per_spin", "peak"), ("entropy_per_spin", "heat_peak"),
    ]  # fmt: skip
    for row in rows:
        found = row.estimate
        assert abs(found.value - truth) < max(4 * found.error, 2e-3)
        assert row.problem is None
    assert arrays["critical.entropy_per_spin.fit"].shape == arrays["critical.entropy_per_spin.x"].shape


def test_why_a_curve_says_nothing():
    few = curve([1.0, 2.0, 3.0], [1.0, 2.0, 1.0])
    rising = curve(np.arange(1.0, 9.0), np.arange(8.0) ** 2)
    holes = curve(np.arange(1.0, 9.0), [1.0, 2.0, 3.0, np.nan, np.nan, np.nan, 2.0, 1.0])
    rows, _ = critical_points(
        {
            "filter_sum_abs_variance": few,
            "correlation_r16": rising,
            "visible_energy_variance_per_spin": holes,
            "pseudo_likelihood_per_spin": rising,
        },
        of_unions=True,
        is_temperature=False,
        seed=1,
    )
    assert rows[0].estimate is None
    assert "at least 6" in rows[0].problem
    assert rows[1].at_edge
    assert rows[1].estimate is None
    assert rows[1].words == "not determined"
    assert rows[1].problem == "the largest value lies at an end of the temperatures"
    assert rows[2].estimate is None
    assert rows[3].feature == "steepest"  # T dX/dT is for temperatures


def test_errors_that_only_other_seeds_tell():
    """Couplings of machines: the error of the mean over seeds, and none for one seed."""
    one, two = ({"coupling_0_1": Estimate(value, np.nan)} for value in (0.4, 0.5))
    found = curves({2.0: [one], 3.0: [one, two]})["coupling_0_1"]
    assert list(found.values) == pytest.approx([0.4, 0.45])
    assert np.isnan(found.errors[0])
    assert found.errors[1] == pytest.approx(0.05)


def test_curves_average_over_seeds():
    found = curves(
        {
            2.0: [{"a": Estimate(1.0, 0.3)}, {"a": Estimate(3.0, 0.4)}],
            1.0: [{"a": Estimate(5.0, 0.5), "b": Estimate(1.0, 0.0)}],
        }
    )
    assert found["a"].x == (1.0, 2.0)
    assert found["a"].values == (5.0, 2.0)
    both = np.hypot(1.0, np.sqrt(0.125))  # the scatter of 1 and 3, and the error of data in common
    assert list(found["a"].errors) == pytest.approx([0.5, both])
    assert found["b"] == Curve((1.0,), (1.0,), (0.0,))


def test_one_correlation_stands_in_the_table():
    for side, distance in ((4, 2), (8, 2), (16, 2), (32, 2), (64, 4)):
        rows = {r: {"indicator": f"correlation_r{r}"} for r in (1, 2, 4, 8, 16, 32)}
        assert [r for r, row in rows.items() if _is_shown(row, plain_family(side))] == [distance]
    assert _is_shown({"indicator": "heat_capacity_per_spin"}, plain_family(8))


@pytest.mark.parametrize("as_paper", [True, False])
def test_scores_of_training_data_stand_in_the_table_of_the_papers_machines_alone(as_paper):
    row = {"indicator": "pseudo_likelihood_train_per_spin", "as_paper": as_paper}
    assert _is_shown(row, plain_family(8)) == as_paper
    assert _is_shown({**row, "indicator": "pseudo_likelihood_per_spin"}, plain_family(8))


def test_nothing_is_compared_with_itself():
    """c_V of samples has a target where that is exact; where it is the peak of the same samples, none."""
    row = {"kind": "heat_capacity"}
    for source, of_itself in (("kaufman", True), ("samples", False)):
        targets = {"heat_capacity": {"value": 2.3, "error": 0.0, "source": source}}
        for indicator in ("heat_capacity_per_spin", "entropy_per_spin"):
            assert bool(_target({**row, "indicator": indicator}, targets)) == of_itself
        for indicator in ("pseudo_entropy_per_spin", "nll_per_spin"):
            assert _target({**row, "indicator": indicator}, targets) == targets["heat_capacity"]
    assert _target({**row, "indicator": "nll_per_spin"}, {}) is None


def test_the_scatter_between_trainings_is_part_of_the_error():
    """Three seeds at T = 1 and 3 scatter by 10 and 30 %: 20 % between them, on top of what is stated."""
    seeds = [
        [{"a": Estimate(mean * (1 + share * k), 0.0)} for k in (-1, 0, 1)]
        for mean, share in ((5.0, 0.1), (2.0, 0.3))
    ]
    again = dict(zip((1.0, 3.0), seeds, strict=True))
    wide = widened(Curve((1.0, 2.0, 4.0), (10.0, -20.0, 1.0), (1.0, 3.0, np.nan)), again, "a")
    assert wide.values == (10.0, -20.0, 1.0)
    assert wide.errors == pytest.approx((np.hypot(1, 1), np.hypot(3, 4), 0.3))


def test_without_further_seeds_a_curve_stays_as_it_is():
    one = Curve((1.0,), (2.0,), (np.nan,))
    assert widened(one, {}, "a") is one
    assert widened(one, {1.0: [{"a": Estimate(2.0, 0.1)}]}, "a") is one
