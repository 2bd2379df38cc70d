"""Long checks of training: memory, runs that are killed, and bfloat16 against float32."""

import json
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from thermorbm import RBM, Dataset, Lattice, sample
from thermorbm.training import train

pytestmark = pytest.mark.slow

MEMORY = """
import json, resource, sys
from thermorbm import Dataset
from thermorbm.training import train
data = Dataset.load(sys.argv[1])
result = train(data[:-5000], n_hidden=64, recipe="fast", epochs=1, batch_size=4096,
               validation=data[-5000:], checkpoint=sys.argv[2], threads=1)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"peak": peak, "updates": result.history["update"][-1]}))
"""


def test_a_large_dataset_is_never_expanded(tmp_path):
    """800 000 x 4096 spins are 0.4 GB as bits and 3.3 GB as bytes; the whole process stays below 2 GB."""
    packed = np.random.default_rng(1).integers(0, 256, (800_000, 512), np.uint8)
    Dataset(packed, Lattice((64, 64)), 2.0).save(tmp_path / "d.h5")
    del packed
    command = [sys.executable, "-c", MEMORY, tmp_path / "d.h5", tmp_path / "c.h5"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert result["updates"] == 795_000 // 4096
    assert result["peak"] < 2e9


KILLED = """
import sys
from thermorbm import Dataset
from thermorbm.training import loop, train
loop.LEAST_STRIDE = 30
result = train(Dataset.load(sys.argv[1]), n_hidden=64, recipe="fast", epochs=60, seed=2, threads=1,
               chain_life=40, checkpoint=sys.argv[2], stop_early=False)
result.rbm.save(sys.argv[3])
"""


def test_killed_at_any_moment_and_resumed_is_bit_identical(tmp_path):
    sample(Lattice((16, 16)), temperature=2.4, n_samples=4000, seed=1).save(tmp_path / "d.h5")

    def start(name):
        arguments = (tmp_path / f"{file}.h5" for file in ("d", f"{name}_checkpoint", name))
        return subprocess.Popen([sys.executable, "-c", KILLED, *arguments])

    began = time.monotonic()
    assert start("whole").wait() == 0
    whole_time = time.monotonic() - began
    moments, kills = random.Random(3), 0
    while True:
        process = start("killed")
        try:
            process.wait(timeout=moments.uniform(0.3, 0.9) * whole_time)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
            continue
        assert process.returncode == 0
        break
    assert kills >= 1
    whole, killed = RBM.load(tmp_path / "whole.h5"), RBM.load(tmp_path / "killed.h5")
    for name, array in whole.parameters.items():
        np.testing.assert_array_equal(killed.parameters[name], array)
    assert whole.provenance["history"] == killed.provenance["history"]


AS_PAPER = {"learning_rate": 5e-3, "gibbs_steps": 1, "stop_early": False}


@pytest.mark.parametrize("temperature", [2.0, 2.27, 3.0])
@pytest.mark.parametrize(
    ("precision", "recipe", "changes"), [("bf16", "fast", {}), ("int8", "paper", AS_PAPER)]
)
def test_rounded_products_do_not_change_the_physics(temperature, precision, recipe, changes):
    """Held-out L~ of both precisions, means over seeds: alike within what the held-out configurations tell.

    Machines of different seeds agree so well that rounding can be seen beyond their scatter: at T = 2 bf16
    lowers L~ by 0.00009(1) per spin.
    """
    lattice, n_seeds = Lattice((16, 16)), 6
    data = sample(lattice, temperature, n_samples=12_000, seed=1)
    held_out = data.spins(10_000)
    likelihood = {}
    for name in ("fp32", precision):
        machines = [
            train(data[:10_000], 64, recipe, epochs=30, seed=seed, precision=name, **changes).rbm
            for seed in range(n_seeds)
        ]
        rows = [machine.pseudo_likelihood(held_out) / lattice.n_sites for machine in machines]
        likelihood[name] = np.mean(rows, axis=0)
    difference = np.mean(likelihood[precision]) - np.mean(likelihood["fp32"])
    error = likelihood["fp32"].std(ddof=1) / np.sqrt(len(held_out))
    assert abs(difference) < error / 3
    assert abs(difference) < 1e-3  # of a few tenths
