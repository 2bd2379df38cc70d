"""Schedule, sectors, reproducibility and certificate of the sampler."""

import time
from concurrent.futures import CancelledError
from dataclasses import replace
from threading import Event

import numpy as np
import pytest
from numpy.random import SeedSequence

from thermorbm import Lattice, exact, sample
from thermorbm.errors import CertificateWarning, InputError
from thermorbm.sampling import sampler, schedule
from thermorbm.sampling.blocks import MetropolisBlock
from thermorbm.sampling.certificate import Certificate, certify, histogram_p_value
from thermorbm.sampling.registers import REPLICAS
from thermorbm.sampling.starts import wall_weight
from thermorbm.sampling.workers import PIECE_SECONDS, Workers

SQUARE = Lattice((8, 8))


@pytest.mark.parametrize("method", sampler.METHODS)
def test_same_seed_same_bits_whatever_the_threads(method):
    one, two, other = (
        sample(SQUARE, 2.5, 2000, seed=seed, method=method, threads=threads)
        for seed, threads in ((5, 1), (5, 3), (6, 1))
    )
    np.testing.assert_array_equal(one.packed, two.packed)
    assert one.certificate == two.certificate
    assert not np.array_equal(one.packed, other.packed)


def test_kept_samples_are_at_least_five_autocorrelation_times_apart():
    certificate = sample(Lattice((16, 16)), 2.3, 3000, seed=1).certificate
    tau = max(certificate.tau_energy, certificate.tau_abs_magnetization)
    assert certificate.spacing >= 5 * tau
    assert certificate.burn_in >= 20 * tau
    assert tau > 5  # critical slowing down is there to be seen
    assert certificate.effective_samples_energy > 0.9 * 3000


def test_signs_are_balanced_or_as_asked():
    n_samples = 4000
    for sector, fraction in (("symmetric", 0.5), (0.6, 0.6), ("positive", 1.0), (0.0, 0.0)):
        data = sample(Lattice((9, 9)), 1.5, n_samples, seed=2, sector=sector)
        up = (data.lattice.magnetization(data.spins(0, n_samples)) > 0).mean()
        assert abs(up - fraction) <= 4 * np.sqrt(fraction * (1 - fraction) / n_samples)


def test_odd_number_of_sites_leaves_padding_zero():
    data = sample(Lattice((3, 5)), 2.0, 100, seed=1)
    assert data.packed.shape == (100, 2)
    assert not (data.packed[:, 1] & 0b10000000).any()


def test_hot_and_cold_starts_are_compared_where_nothing_orders():
    assert sample(SQUARE, 3.0, 600, seed=1).certificate.start_z_energy is not None
    assert sample(SQUARE, 1.5, 600, seed=1).certificate.start_z_energy is None
    assert sample(Lattice((3, 64)), 1.5, 600, seed=1).certificate.start_z_energy is not None
    assert sample(Lattice((20,)), 1.0, 600, seed=1).certificate.start_z_energy is not None


def test_weight_of_walls_counts_their_places():
    assert wall_weight(Lattice((3, 5)), 2.0) == pytest.approx(3 * np.exp(-10) + 10 * np.exp(-6))


def test_walls_across_a_narrow_lattice_are_not_missed():
    """From all spins up the first wall takes thousands of sweeps, while tau looks like one sweep."""
    certificate = sample(Lattice((3, 32)), 1.2, 4000, seed=1).certificate
    assert certificate.passed
    assert certificate.burn_in > 10_000


def test_a_lattice_too_slow_for_single_flips_is_refused_loudly_and_in_time(monkeypatch):
    monkeypatch.setattr(sampler, "MAX_PILOT_SWEEPS", 20_000)
    with pytest.warns(CertificateWarning, match="starts disagree"):
        certificate = sample(Lattice((2, 100)), 0.6, 600, seed=1).certificate
    assert any("spacing" in failure for failure in certificate.failures)
    assert certificate.spacing * 2 <= certificate.burn_in
    assert sample(Lattice((2, 100)), 0.6, 600, seed=1, method="swendsen-wang").certificate.passed


def test_one_sample_has_an_honest_error():
    """On a lattice without exact values the error comes from all chains, not from the one sample kept."""
    certificate = sample(Lattice((3, 3, 3)), 5.0, 1, seed=1).certificate
    assert certificate.exact_energy is None
    assert certificate.energy_error > 0.1


@pytest.mark.parametrize("method", sampler.METHODS)
def test_infinite_temperature_is_approached(method):
    certificate = sample(SQUARE, 1e70, 2000, seed=1, method=method).certificate
    assert certificate.passed
    assert certificate.exact_energy == pytest.approx(0, abs=1e-12)


def test_numbers_may_be_numpys():
    plain = sample(SQUARE, 2.0, 100, seed=3, sector=0.5)
    numpys = sample(SQUARE, np.float32(2.0), np.int64(100), seed=np.int64(3), sector=np.float32(0.5))
    np.testing.assert_array_equal(plain.packed, numpys.packed)
    assert plain.provenance == numpys.provenance


def test_workers_stop_soon_after_a_failure():
    lattice = Lattice((32, 32))
    blocks = [MetropolisBlock(lattice, 2.0, SeedSequence(s), np.zeros(REPLICAS, np.bool_)) for s in (1, 2)]
    blocks[0].advance(1)  # compiles
    begun, ended = Event(), []

    def work(index):
        if index == 0:
            begun.wait()
            raise ZeroDivisionError
        begun.set()
        with pytest.raises(CancelledError):
            workers.advance(blocks[index], 10_000_000)
        ended.append(time.monotonic())

    start = time.monotonic()
    with pytest.raises(ZeroDivisionError), Workers(2) as workers:
        workers.map(work, (0, 1))
    assert ended[0] - start < 20 * PIECE_SECONDS


def test_records_of_many_blocks_are_bounded(monkeypatch):
    monkeypatch.setattr(schedule, "_PILOT_CHAINS", 2 * REPLICAS)
    blocks = [MetropolisBlock(SQUARE, 2.5, SeedSequence(s), np.arange(REPLICAS) % 2 == 0) for s in range(3)]
    with Workers(2) as workers:
        (pilot,) = schedule.run_pilots(blocks, workers, lambda *call: None, 10_000)
    assert pilot.energy.shape[1] == len(pilot.hot) == 2 * REPLICAS
    moved = blocks[2].measure()[0]
    assert np.ptp(moved) > 0


def test_cold_samples_are_certified_where_nothing_moves():
    certificate = sample(SQUARE, 0.25, 500, seed=1).certificate
    assert certificate.passed
    assert certificate.energy == -2
    assert certificate.tau_energy == 0.5


def test_progress_is_reported_to_the_end():
    calls = []
    sample(SQUARE, 2.5, 2000, seed=1, progress=lambda *call: calls.append(call))
    stages = [stage for stage, _, _ in calls]
    assert set(stages) == {"equilibrate", "sample"}
    assert calls[-1][1] == calls[-1][2]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"temperature": 0.0}, "temperature"),
        ({"temperature": float("nan")}, "temperature"),
        ({"temperature": float("inf")}, "temperature"),
        ({"temperature": "hot"}, "temperature"),
        ({"n_samples": 0}, "n_samples"),
        ({"n_samples": 2.5}, "n_samples"),
        ({"seed": -1}, "seed"),
        ({"method": "wolf"}, "did you mean 'wolff'"),
        ({"sector": "negative"}, "sector"),
        ({"sector": 1.5}, "sector"),
        ({"sector": None}, "sector"),
        ({"n_samples": True}, "n_samples"),
        ({"threads": 0}, "threads"),
    ],
)
def test_bad_input_is_named(change, word):
    arguments = {"temperature": 2.0, "n_samples": 10, "seed": 0} | change
    with pytest.raises(InputError, match=word):
        sample(SQUARE, **arguments)


def _pilot(temperature=2.5):
    block = MetropolisBlock(SQUARE, temperature, SeedSequence(1), np.arange(REPLICAS) % 2 == 0)
    with Workers(1) as workers:
        return block, schedule.run_pilots([block], workers, lambda *call: None, 10_000)[0]


def _certify(block, pilot, energy, magnetization, temperature=2.5):
    truth = exact.energy_distribution(8, temperature)
    return certify(pilot, pilot.spacing, energy, magnetization, energy.size, 64, truth, "wait")


def _follow(block, spacing, n_rounds=20):
    measured = []
    for _ in range(n_rounds):
        block.advance(spacing)
        measured.append(block.measure())
    return np.array(measured).transpose(1, 0, 2)


def test_certificate_passes_for_the_right_temperature_and_fails_for_a_wrong_one():
    block, pilot = _pilot()
    energy, magnetization = _follow(block, pilot.spacing)
    assert _certify(block, pilot, energy, magnetization).passed
    wrong = _certify(block, pilot, energy, magnetization, temperature=2.6)
    assert not wrong.passed
    assert any("standard errors from" in failure for failure in wrong.failures)
    assert any("P(E)" in failure for failure in wrong.failures)


def test_certificate_fails_for_chains_that_disagree():
    block, pilot = _pilot()
    energy, magnetization = _follow(block, pilot.spacing)
    shifted = replace(pilot, energy=pilot.energy + 40 * np.arange(REPLICAS) // REPLICAS * 4)
    assert any("R-hat" in f for f in _certify(block, shifted, energy, magnetization).failures)
    apart = replace(pilot, energy=pilot.energy + 8 * block.hot)
    assert any("starts" in f for f in _certify(block, apart, energy, magnetization).failures)


def test_unresolved_autocorrelation_is_said_loudly(monkeypatch):
    monkeypatch.setattr(sampler, "MAX_PILOT_SWEEPS", 64)
    with pytest.warns(CertificateWarning, match="swendsen-wang"):
        data = sample(Lattice((32, 32)), 2.27, 600, seed=1)
    assert not data.certificate.passed


def test_certificate_survives_its_dictionary():
    certificate = sample(SQUARE, 2.5, 600, seed=1).certificate
    assert Certificate.from_dict(certificate.to_dict()) == certificate


def test_histogram_p_value_refuses_energies_that_do_not_exist():
    truth = exact.energy_distribution(8, 2.5)
    assert histogram_p_value(np.array([-128.0, -126.0]), truth) == 0.0
