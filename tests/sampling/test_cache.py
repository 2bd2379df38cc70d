"""Compiled kernels are kept on disk: a second process finds them and adds nothing."""

import os
import subprocess
import sys

import pytest

PROGRAM = "import thermorbm as tr; tr.sample(tr.Lattice((4, 4)), 4.0, 10, method={!r})"


@pytest.mark.parametrize("method", ["metropolis", "swendsen-wang", "wolff"])
def test_a_second_process_compiles_nothing(method, tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    compiled = []
    for _ in range(2):
        subprocess.run([sys.executable, "-c", PROGRAM.format(method)], env=environment, check=True)
        compiled.append(sorted(path.name for path in tmp_path.rglob("*.nbc")))
    assert compiled[0]
    assert compiled[1] == compiled[0]
