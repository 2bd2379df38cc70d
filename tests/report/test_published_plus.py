"""The published fine grids keep what they promise: spacing, seeds, and T_c within half a per cent."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from thermorbm.exact import TC_2D, TC_3D
from thermorbm.report.run import read_run
from thermorbm.report.sections.extrapolation import fits_that_hold

PLUS = Path(__file__).parents[2] / "results" / "paper-plus"
CLOSE = 0.005
N_SEEDS = 3


@pytest.fixture(scope="module")
def plus():
    if not PLUS.exists():
        pytest.skip("results/paper-plus is not there yet: thermorbm publish RUN results/paper-plus")
    return read_run(PLUS)


def family(plus, name):
    return next(item for item in plus.results.families if item.name == name)


def is_machine(row):
    return row.variant is not None and row.estimate is not None and row.problem is None


@pytest.mark.parametrize(("name", "critical"), [("2d-L64", TC_2D), ("3d-L16", TC_3D)])
def test_the_grid_is_fine_around_the_transition(plus, name, critical):
    values = np.array([row.value for row in family(plus, name).balanced_data()])
    assert values.min() <= 0.9 * critical
    assert values.max() >= 1.1 * critical
    assert np.diff(values).max() <= 0.05 + 1e-9
    machines = [row for row in family(plus, name).machines if row.role == "main"]
    assert {row.n_hidden for row in machines} == {400}
    seeds = Counter(row.value for row in machines)
    assert set(seeds.values()) == {N_SEEDS}
    assert set(seeds) == set(values)


def test_every_estimate_has_an_error_bar(plus):
    rows = [row for item in plus.results.families for row in item.critical_temperatures if is_machine(row)]
    assert len(rows) > 30
    assert all(row.estimate.error > 0 for row in rows)


@pytest.mark.parametrize(
    ("group", "indicator"), [("symmetric", "nll_per_spin"), ("main", "visible_energy_variance_per_spin")]
)
def test_the_best_indicators_are_within_half_a_per_cent_of_their_target(plus, group, indicator):
    rows = [row for row in family(plus, "2d-L64").critical_temperatures if is_machine(row)]
    (best,) = [row for row in rows if (row.variant, row.indicator) == (group, indicator)]
    assert abs(best.relative_to_target) < CLOSE


def test_the_surest_extrapolation_is_within_half_a_per_cent_of_the_infinite_lattice(plus):
    (item,) = plus.results.extrapolations
    surest = min(fits_that_hold(item), key=lambda row: row.estimate.error)
    assert (surest.variant, surest.indicator) == ("symmetric", "nll_per_spin")
    assert abs(surest.relative_to_infinite) < CLOSE
