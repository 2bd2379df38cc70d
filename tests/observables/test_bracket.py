"""S~ <= S <= upper edge on trained machines, against Kaufman's entropy."""

import pytest

from thermorbm.exact import kaufman
from thermorbm.lattice import Lattice
from thermorbm.observables import entropy_bracket
from thermorbm.samples import sample
from thermorbm.training import train

SIDE = 8


@pytest.mark.parametrize("temperature", [1.5, 2.0, 2.25, 2.5, 3.0, 4.0])
def test_the_entropy_lies_in_the_bracket_of_a_trained_machine(temperature):
    """The bracket holds for any machine; how close its edge is, for one that is near the data."""
    data = sample(Lattice((SIDE, SIDE)), temperature, 3000, seed=4)
    rbm = train(data[:2000], n_hidden=32, recipe="fast", epochs=40, seed=5).rbm
    log_partition = rbm.log_partition("ais", seed=1)
    found = entropy_bracket(rbm, data[2000:], log_partition, seed=2)
    entropy = kaufman(SIDE, temperature).entropy
    assert found.lower.value - 4 * found.lower.error < entropy
    assert entropy < found.upper.value + 4 * found.upper.error
    assert entropy < found.nll.value + 4 * found.nll.error
    # Work lost on the way lifts the bound above the likelihood, by no more than the sandwich shows; chains
    # from configurations that the machine finds unlikely would lose more.
    slack = log_partition.upper - log_partition.lower + 4 * log_partition.error
    assert abs(found.upper.value - found.nll.value) < slack / SIDE**2


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [1.5, 2.0, 2.2, 2.25, 2.3, 2.5, 3.0, 4.0])
def test_the_same_at_16_x_16(temperature):
    data = sample(Lattice((16, 16)), temperature, 12_000, seed=4)
    rbm = train(data[:10_000], n_hidden=64, recipe="fast", epochs=10, seed=5).rbm
    log_partition = rbm.log_partition("ais", seed=1)
    found = entropy_bracket(rbm, data[10_000:], log_partition, seed=2)
    entropy = kaufman(16, temperature).entropy
    assert found.lower.value - 4 * found.lower.error < entropy
    assert entropy < found.upper.value + 4 * found.upper.error
    assert entropy < found.nll.value + 4 * found.nll.error
