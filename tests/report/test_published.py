"""Published results keep what they promise: those of the paper's study, and a small study as an example."""

import json
from pathlib import Path

import numpy as np
import pytest
from published import (
    ROW_WITHOUT_BRACKET,
    count_rows,
    energies_off,
    families_without_tc,
    histogram_p_values,
    incomplete_rows,
    open_brackets,
    read_published,
    temperatures_with_nll,
)

PAPER = Path(__file__).parents[2] / "results" / "paper"
GROUPS = ("main", "all-T")
AS_PAPER = ("as-paper", "as-paper-sizes", "all-T-as-paper")
LARGEST = 20_000_000  # bytes


@pytest.fixture(scope="module")
def paper():
    if not PAPER.exists():
        pytest.skip("results/paper is not there yet: thermorbm publish RUN results/paper")
    return read_published(PAPER)


def test_the_example_keeps_all(published_run):
    found = read_published(published_run)
    assert count_rows(found, GROUPS) == {
        ("2d", "main", 4): 7, ("2d", "main", 9): 7, ("2d", "all-T", 4): 1, ("3d", "main", 4): 3,
    }  # fmt: skip
    assert incomplete_rows(found, GROUPS, ["2d"]) == []
    assert open_brackets(found, "2d") == []
    assert len(temperatures_with_nll(found, "2d")) == 7
    assert energies_off(found, "2d") == []
    p = histogram_p_values(found, "2d")
    assert len(p) == 6
    assert np.median(p) > 0.05


def test_what_is_wrong_is_noticed(published_run):
    """Every check fails on results in which just that was spoilt."""
    found = read_published(published_run)
    row = found.rows("2d")[3]
    kept = dict(row)
    row["cross_entropy"] = ""
    assert incomplete_rows(found, GROUPS, ["2d"]) == [("2d", row["value"], "4", "cross_entropy")]
    row.update(kept, nll_per_spin="0.0")
    assert len(open_brackets(found, "2d")) == 1
    row.update(kept, entropy_lower_per_spin="1.0")
    assert len(open_brackets(found, "2d")) == 1
    row.update(kept, nll_per_spin="0.0", partition_verdict="out of equilibrium")
    assert open_brackets(found, "2d") == []
    row.update(kept, entropy_upper_per_spin="0.0", partition_verdict="out of equilibrium")
    assert len(open_brackets(found, "2d")) == 1
    assert incomplete_rows(found, GROUPS, ["3d"])  # where the study did not ask for brackets
    found.family("2d")["data"][2]["thermal"]["energy_per_spin"]["value"] += 1
    assert len(energies_off(found, "2d")) == 1
    for item in found.family("2d")["critical_temperatures"]:
        item["estimate"] = None
    assert families_without_tc(found, GROUPS, ["2d"]) == {
        ("2d", "main", 4), ("2d", "main", 9), ("2d", "all-T", 4)
    }  # fmt: skip


def test_the_papers_127_machines(paper):
    """Trained as the paper's; ln Z of the smallest ones only."""
    assert count_rows(paper, AS_PAPER) == {
        ("2d", "as-paper", 400): 16,
        **{("2d", "as-paper-sizes", n_hidden): 16 for n_hidden in (900, 1600, 2500)},
        ("3d", "as-paper", 400): 20,
        **{("3d", "as-paper-sizes", n_hidden): 20 for n_hidden in (900, 1600)},
        **{("2d", "all-T-as-paper", n_hidden): 1 for n_hidden in (400, 900, 1600)},
    }
    assert incomplete_rows(paper, AS_PAPER[:1], ["2d", "3d"]) == []
    assert incomplete_rows(paper, AS_PAPER[1:], ["2d", "3d"], ROW_WITHOUT_BRACKET) == []
    assert families_without_tc(paper, AS_PAPER, ["2d", "3d"]) == set()


def test_machines_trained_well_stand_beside_them(paper):
    assert count_rows(paper, ["main", "main-sizes", "all-T"]) == {
        ("2d", "main", 400): 16,
        **{("2d", "main-sizes", n_hidden): 4 for n_hidden in (900, 1600, 2500)},
        ("3d", "main", 400): 20,
        **{("3d", "main-sizes", n_hidden): 3 for n_hidden in (900, 1600)},
        **{("2d", "all-T", n_hidden): 1 for n_hidden in (400, 900, 1600)},
    }
    assert incomplete_rows(paper, ["main", "main-sizes"], ["2d", "3d"]) == []
    assert families_without_tc(paper, ["main", "all-T"], ["2d", "3d"]) == set()


@pytest.mark.parametrize(("family", "n_temperatures"), [("2d", 16), ("3d", 20)])
def test_the_papers_entropies_lie_in_their_brackets(paper, family, n_temperatures):
    assert open_brackets(paper, family) == []
    assert len(temperatures_with_nll(paper, family)) == n_temperatures


def test_the_papers_configurations_are_those_of_the_ising_model(paper):
    assert energies_off(paper, "2d") == []
    p = histogram_p_values(paper, "2d")
    assert len(p) > 10
    assert np.median(p) > 0.05
    for family in paper.results["families"]:
        assert all(row["certificate"]["passed"] for row in family["data"])


def test_the_published_files_are_few_and_small(paper):
    files = [file for file in PAPER.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) < LARGEST
    assert {file.suffix for file in files} <= {".json", ".toml", ".csv", ".png", ".xz"}
    assert json.loads((PAPER / "run.json").read_text())["study"] == "paper"
