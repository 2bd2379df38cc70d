"""The published fine grids keep what they promise: spacing, seeds, and T_c within half a per cent."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from thermorbm.exact import TC_2D, TC_3D
from thermorbm.report.run import read_run
from thermorbm.report.sections.extrapolation import fits_that_hold

PLUS = Path(__file__).parents[2] / "results" / "paper-plus"
CLOSE, CLOSE_EXTRAPOLATED = 0.005, 0.002
# The one indicator of dense machines that is judged, the paper's own. It was named before the grids were run.
NAMED = "pseudo_likelihood_per_spin"
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


def estimates(plus, name, group, indicator):
    rows = [row for row in family(plus, name).critical_temperatures if is_machine(row)]
    return [row for row in rows if (row.variant, row.indicator) == (group, indicator)]


@pytest.mark.parametrize("name", ["2d-L64", "3d-L16"])
def test_the_indicator_named_beforehand_is_within_half_a_per_cent_of_its_target(plus, name):
    (row,) = estimates(plus, name, "main", NAMED)
    assert abs(row.relative_to_target) < CLOSE


def test_symmetric_machines_are_within_half_a_per_cent_of_their_target(plus):
    (row,) = estimates(plus, "2d-L64", "symmetric", "nll_per_spin")
    assert abs(row.relative_to_target) < CLOSE


def test_the_extrapolation_of_symmetric_machines_holds(plus):
    """Within 0.2 % of the infinite lattice, and within two of its own errors."""
    (item,) = plus.results.extrapolations
    fits = [row for row in fits_that_hold(item) if row.variant == "symmetric"]
    (fit,) = [row for row in fits if row.indicator == "nll_per_spin"]
    assert abs(fit.relative_to_infinite) < CLOSE_EXTRAPOLATED
    assert abs(fit.estimate.value - TC_2D) < 2 * fit.estimate.error
