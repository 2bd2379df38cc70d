"""Two ranks of torch.distributed do what one process does, up to the order of a sum."""

import subprocess
import sys

import numpy as np
import pytest

from thermorbm import RBM
from thermorbm.storage import read_hdf5
from thermorbm.training import train

# A batch of 50 over two ranks; with 20 and 6 units no rank's part ends where the generator's steps do.
RUNS = {
    "pcd": {"recipe": "fast", "chain_life": 9, "gibbs_steps": 2},
    "cd": {"recipe": "paper", "learning_rate": 1e-2},
}
COMMON = {"n_hidden": 6, "epochs": 2, "seed": 3, "batch_size": 50, "precision": "fp32"}

RANK = """
import json, sys
import torch, torch.distributed as dist
import thermorbm as tr
from thermorbm.errors import InputError
rank, place = int(sys.argv[1]), sys.argv[2]
torch.set_num_threads(1)
dist.init_process_group("gloo", init_method=f"file://{place}/meet", rank=rank, world_size=2)
data = tr.Dataset.load(f"{place}/data.h5")
for name, run in json.loads(sys.argv[3]).items():
    result = tr.train(data, checkpoint=f"{place}/{name}-checkpoint.h5", **run)
    result.rbm.save(f"{place}/{name}-{rank}.h5")
try:
    tr.train(data, 6, batch_size=51)
except InputError as error:
    assert "rank" in str(error)
else:
    raise AssertionError("51 rows for two ranks")
dist.destroy_process_group()
"""


@pytest.fixture(scope="module")
def place(coins, tmp_path_factory):
    """A directory where two ranks have left their machines."""
    import json

    place = tmp_path_factory.mktemp("ranks")
    coins.save(place / "data.h5")
    runs = json.dumps({name: COMMON | run for name, run in RUNS.items()})
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", RANK, str(rank), str(place), runs], stderr=subprocess.PIPE, text=True
        )
        for rank in range(2)
    ]
    for rank in ranks:
        assert rank.communicate(timeout=300)[1] == ""
        assert rank.returncode == 0
    return place


@pytest.mark.parametrize("name", RUNS)
def test_two_ranks_train_the_machine_of_one(place, coins, tmp_path, name):
    alone = train(coins, checkpoint=tmp_path / "c.h5", **COMMON, **RUNS[name])
    machines = [RBM.load(place / f"{name}-{rank}.h5") for rank in range(2)]
    for key, array in alone.rbm.parameters.items():
        np.testing.assert_array_equal(machines[0].parameters[key], machines[1].parameters[key])
        np.testing.assert_allclose(machines[0].parameters[key], array, rtol=0, atol=2e-6)
    assert np.abs(alone.rbm.parameters["W"]).max() > 0.1
    # Chains and generators end in the same state, so that any number of ranks could go on.
    theirs, ours = (read_hdf5(path, "checkpoint")[0]
                    for path in (place / f"{name}-checkpoint.h5", tmp_path / "c.h5"))  # fmt: skip
    assert theirs.keys() == ours.keys()
    for key in ours:
        if key == "units" or key.startswith("chains"):
            np.testing.assert_array_equal(theirs[key], ours[key])
