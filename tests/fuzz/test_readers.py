"""Damaged and strange files: success or a documented error, never anything else."""

import pytest

from fuzz.readers import fuzz

SHORT = {
    "toml": 150,
    "ours": 300,
    "layout": 80,
    "forged": 300,
    "labels": 200,
    "npy": 200,
    "npz": 150,
    "hdf5": 120,
}
SHORT |= {"results": 60, "archive": 200, "checkpoint": 200, "published": 40}
LONG = {
    "toml": 30_000,
    "ours": 25_000,
    "layout": 5_000,
    "forged": 20_000,
    "labels": 20_000,
    "npy": 20_000,
    "npz": 20_000,
    "hdf5": 20_000,
}
LONG |= dict.fromkeys(("results", "archive", "checkpoint", "published"), 20_000)


@pytest.mark.parametrize("target", SHORT)
def test_some_inputs(target):
    fuzz(target, SHORT[target], seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("target", LONG)
def test_many_inputs(target):
    """Together more than 200 000."""
    fuzz(target, LONG[target], seed=2)
