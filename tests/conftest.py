"""What holds for all tests."""

import os
import signal

import pytest

# One thread, as in the processes of a study: sums of two threads have other last bits. Set before any library
# is loaded.
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@pytest.fixture(autouse=True, scope="session")
def _interruptible():
    """A suite that a shell starts in the background ignores Ctrl-C, and so would the programs it starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
