"""The command `thermorbm`: parses arguments, shows results, sets the exit code. It computes nothing."""

from thermorbm.cli import data, demo  # noqa: F401  (importing them registers their commands)
from thermorbm.cli.app import main, run

__all__ = ["main", "run"]
