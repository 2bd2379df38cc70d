"""What holds for all tests."""

import signal

import pytest


@pytest.fixture(autouse=True, scope="session")
def _interruptible():
    """A suite that a shell starts in the background ignores Ctrl-C, and so would the programs it starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
