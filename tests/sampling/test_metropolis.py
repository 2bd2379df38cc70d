"""The multispin kernel: bit for bit against the oracle, and independent replicas."""

import mpmath
import numpy as np
import pytest
from numpy.random import SeedSequence

from oracles import metropolis as oracle
from thermorbm.lattice import Lattice
from thermorbm.sampling.blocks import MetropolisBlock
from thermorbm.sampling.metropolis import FIRST_BITS, REFUSAL_PROBABILITY, acceptance_bits, update_order
from thermorbm.sampling.registers import REPLICAS, WORDS
from thermorbm.xoroshiro import generator_state, next_uniform, next_word


def _spins(block):
    """(REPLICAS, n_sites) of +-1."""
    bits = np.unpackbits(block.packed(), axis=1, count=block.lattice.n_sites, bitorder="little")
    return 2 * bits.astype(np.int8) - 1


def _threshold(cost, temperature):
    with mpmath.workdps(60):
        ratio = mpmath.exp(-mpmath.mpf(cost) / mpmath.mpf(temperature))
        return int(mpmath.floor(ratio * (1 - mpmath.mpf(REFUSAL_PROBABILITY)) * 2**64))


@pytest.mark.parametrize("temperature", [0.25, 2.269, 1e3, 1e80])
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_acceptance_is_exact_to_64_bits(temperature, dimension):
    lattice = Lattice((4,) * dimension)
    bits = acceptance_bits(lattice, temperature) & np.uint64(1)
    values = [int("".join(map(str, row)), 2) for row in bits]
    assert values == [_threshold(4 * (dimension - n), temperature) for n in range(dimension)]


def test_generator_equals_its_definition():
    state = generator_state(SeedSequence(5))
    slow = oracle.Xoroshiro(*state)
    assert [int(next_word(state)) for _ in range(100)] == [slow.word() for _ in range(100)]
    assert 0 <= next_uniform(state) < 1


@pytest.mark.parametrize(
    ("shape", "temperature"), [((4, 6), 1.2), ((3, 5), 2.5), ((2, 3, 4), 4.0), ((7,), 1.0)]
)
def test_sweep_equals_the_oracle_bit_for_bit(shape, temperature):
    lattice = Lattice(shape)
    block = MetropolisBlock(lattice, temperature, SeedSequence(3), np.arange(REPLICAS) % 2 == 0)
    spins = _spins(block).tolist()
    generators = [oracle.Xoroshiro(*block._generator[:, word]) for word in range(WORDS)]
    acceptance = {int(c): _threshold(int(c), temperature) for c in lattice.flip_costs if c > 0}
    block.advance(2)
    for _ in range(2):
        oracle.sweep(spins, lattice, acceptance, generators, update_order(lattice), FIRST_BITS)
    np.testing.assert_array_equal(_spins(block), spins)


@pytest.mark.parametrize("shape", [(8, 8), (5, 7), (2, 3, 4), (10,), (2, 2, 2, 3)])
def test_measurements_equal_the_lattice(shape):
    lattice = Lattice(shape)
    block = MetropolisBlock(lattice, 3.0, SeedSequence(1), np.ones(REPLICAS, np.bool_))
    block.advance(3)
    energy, magnetization = block.measure()
    np.testing.assert_array_equal(energy, lattice.energy(_spins(block)))
    np.testing.assert_array_equal(magnetization, _spins(block).sum(axis=1))


def _squared_overlaps(first, second):
    """Squared overlap of row k of the one with row k of the other, which must be different replicas."""
    return np.mean(first.astype(float) * second, axis=1) ** 2


def test_overlap_of_replicas_has_the_variance_of_independent_ones():
    """Overlaps inside a block, in one word and between words, against those of differently seeded blocks."""
    lattice, n_snapshots = Lattice((12, 12)), 60
    blocks = [MetropolisBlock(lattice, 2.6, SeedSequence(s), np.ones(REPLICAS, np.bool_)) for s in (1, 2)]
    same_word, same_lane, independent = [], [], []
    for block in blocks:
        block.advance(300)
    for _ in range(n_snapshots):
        for block in blocks:
            block.advance(60)
        a, b = _spins(blocks[0]), _spins(blocks[1])
        same_word.append(_squared_overlaps(a, np.roll(a, 1, axis=0)).mean())
        same_lane.append(_squared_overlaps(a, np.roll(a, 64, axis=0)).mean())
        independent.append(_squared_overlaps(a, b).mean())
    wanted = np.mean(independent)
    for inside in (same_word, same_lane):
        error = np.hypot(np.std(inside, ddof=1), np.std(independent, ddof=1)) / np.sqrt(n_snapshots)
        assert abs(np.mean(inside) - wanted) < 4 * error
        assert error < 0.05 * wanted  # sharp enough to see a coupling of a few per cent


def test_replicas_that_start_alike_part_even_where_nearly_every_flip_is_accepted():
    lattice = Lattice((32, 32))
    block = MetropolisBlock(lattice, 1000.0, SeedSequence(1), np.zeros(REPLICAS, np.bool_))
    block.advance(64)
    spins = _spins(block).astype(float)
    overlaps = np.mean(spins[::2] * spins[1::2], axis=1)
    assert abs(overlaps.mean()) < 4 / np.sqrt(overlaps.size * lattice.n_sites)


def test_shared_random_bits_would_be_seen():
    """With one generator state for all words, replicas started alike stay alike: the test above can fail."""
    lattice = Lattice((12, 12))
    block = MetropolisBlock(lattice, 2.6, SeedSequence(1), np.zeros(REPLICAS, np.bool_))
    block._generator[:] = block._generator[:, :1]
    block.advance(300)
    spins = _spins(block)
    assert _squared_overlaps(spins, np.roll(spins, 64, axis=0)).min() == 1


def test_one_attempt_in_sixteen_is_refused_in_each_replica_by_itself():
    """At T -> infinity every flip is free: each spin keeps its sign in one replica of sixteen."""
    lattice = Lattice((64, 64))
    block = MetropolisBlock(lattice, 1e18, SeedSequence(4), np.zeros(REPLICAS, np.bool_))
    block.advance(1)
    kept = _spins(block) == 1
    spread = REFUSAL_PROBABILITY * (1 - REFUSAL_PROBABILITY)
    assert abs(kept.mean() - REFUSAL_PROBABILITY) < 4 * np.sqrt(spread / kept.size)
    per_site = kept.mean(axis=0)  # were the refusals shared, it would be 0 or 1
    assert np.var(per_site) == pytest.approx(spread / REPLICAS, rel=0.15)
