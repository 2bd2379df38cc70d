"""A study of a frustrated lattice, from TOML to the report."""

import csv
import re

import numpy as np
import pytest

import thermorbm as tr
from thermorbm.report import build
from thermorbm.report.run import read_run
from thermorbm.report.section import Judgement, judge_all
from thermorbm.report.sections import SECTIONS
from thermorbm.study.run import run_study

STUDY = """
name = "frustrated-small"
seed = 3

[[family]]
name = "antiferromagnet"
lattice = "triangular"
shape = [6, 6]
coupling = -1
field = 0.0
temperatures = [1.0, 2.0]
samples = 500
held_out = 500
parts = ["thermal", "bracket", "entropy", "critical"]

[family.energies]
temperatures = [4.0, 16.0]
samples = 500

[[family.variant]]
name = "symmetric"
filters = [3]
kernel = 2

[family.variant.changes]
least_updates = 400

[[family]]
name = "honeycomb"
lattice = "honeycomb"
shape = [3, 3]
coupling = -1
temperatures = [1.0, 2.0]
samples = 400
held_out = 100
parts = ["thermal"]

[[family.variant]]
name = "symmetric"
filters = [3]
kernel = 2
temperatures = [2.0]

[family.variant.changes]
least_updates = 200
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The directory of the finished run."""

    class Listener:
        def note(self, text):
            raise AssertionError(text)

        def update(self, snapshot):
            pass

    here = tmp_path_factory.mktemp("named")
    (here / "study.toml").write_text(STUDY)
    assert run_study(here / "study.toml", here / "run", Listener(), n_workers=1).is_complete
    return here / "run"


@pytest.fixture(scope="module")
def run(place):
    return read_run(place)


def test_samples_are_those_of_the_hamiltonian(run):
    """Energies and entropies within four errors of the transfer matrix of the same torus."""
    family = run.results.families[0]
    H = tr.hamiltonian("triangular", (6, 6), coupling=-1)
    entropies = family.thermodynamics.curves["entropy_per_spin"]
    for k, row in enumerate(family.balanced_data()):
        truth = tr.exact.transfer_matrix(H, row.value)
        assert (row.method, row.exact.source) == ("tempering", "transfer matrix")
        assert row.certificate.passed
        assert row.exact.entropy_per_spin == pytest.approx(truth.entropy)
        assert abs(row.thermal["energy_per_spin"].z_score(truth.energy)) < 4
        assert abs(entropies.values[k] - truth.entropy) < 4 * entropies.errors[k]
        below = row.thermal["pseudo_entropy_per_spin"]
        assert below.value < truth.entropy + 4 * below.error


def test_machines_tell_couplings_by_displacement_and_the_field(run):
    family = run.results.families[0]
    assert family.model.words == "triangular 6x6, coupling -1"
    assert family.model.order == "leading principal component"
    assert [pair.r for pair in family.model.pairs] == [(1, 0), (0, 1), (1, 1)]
    for machine in family.first_seeds("symmetric"):
        learned = {pair.r: pair.coupling * machine.value for pair in machine.interactions.pairs}
        assert set(learned) == {(1, 0), (0, 1), (1, 1), (1, -1)}
        bonds = [learned[pair.r] for pair in family.model.pairs]
        np.testing.assert_allclose(bonds, -1, atol=0.35)  # 500 configurations of 36 spins
        assert abs(learned[1, -1]) < 0.35
        assert machine.interactions.field is not None
        row = machine.observation().bracket
        entropy = row.nll_per_spin.value - row.kl_per_spin.value
        assert entropy == pytest.approx(family.balanced_data()[int(machine.value) - 1].exact.entropy_per_spin)
        assert row.entropy_lower_per_spin.value < entropy + 4 * row.entropy_lower_per_spin.error


def test_cells_of_several_sites(run):
    family = run.results.families[1]
    assert (family.n_sites, family.shape, family.model.n_cell) == (18, None, 2)
    assert family.critical_temperature == pytest.approx(tr.exact.TC_HONEYCOMB)
    assert family.model.order == "overlap with the ground state"
    cold, hot = family.balanced_data()
    assert cold.certificate.passed
    assert hot.certificate.passed
    row = cold
    assert row.thermal["abs_magnetization_per_spin"].value > 0.8  # sublattices, well below T_c
    assert abs(row.thermal["magnetization_per_spin"].value) < 0.2
    assert [pair.r for pair in family.model.pairs] == [(0, 1, 0, 0), (1, 0, 1, 0), (1, 0, 0, 1)]
    (machine,) = family.first_seeds("symmetric")
    learned = {pair.r: pair.coupling * machine.value for pair in machine.interactions.pairs}
    np.testing.assert_allclose([learned[pair.r] for pair in family.model.pairs], -1, atol=0.35)
    own = machine.interactions.own.thermal["energy_per_spin"]
    assert own.value < -0.5  # of honeycomb's own H: chains start at the data


def test_the_report_leaves_out_what_assumes_the_ferromagnet(place, run):
    page = build(place).read_text()
    words = re.sub(r"\s+", " ", re.sub(r"<script.*?</script>|<[^>]+>", " ", page, flags=re.DOTALL))
    assert "The report itself failed" not in words
    assert "Hamiltonians of this study" in words
    assert "antiferromagnet: samples beside exact values" in words
    assert "order parameter here is the overlap with the ground state" in words  # sign rule, filter sums
    assert "In truth they are r = (1, 0): −1, r = (0, 1): −1, r = (1, 1): −1 and 0 for all others" in words
    assert "In truth they are 0–1 (0, 0): −1" in words
    assert not re.search(r"learned T\b", words)
    assert (place / "figures" / "models-entropy.svg").exists()
    assert (place / "figures" / "symmetric-couplings-antiferromagnet.svg").exists()
    with open(place / "tables" / "data.csv", newline="") as file:
        assert {row["method"] for row in csv.DictReader(file)} == {"tempering", "metropolis"}


def test_claims_on_the_ferromagnet_are_not_tested_on_other_models(run):
    judged = {item.claim.id: item for item in judge_all(SECTIONS, run)}
    ruled = {id for id, item in judged.items() if item.findings[0].judgement is not Judgement.UNTESTED}
    assert ruled == {"pseudo-entropy"}
    reason = str(judged["filter-sums"].findings[0].measured)
    assert reason.startswith("the paper says so of the Ising ferromagnet")
