"""The command `thermorbm`: parses arguments, shows results, sets the exit code. It computes nothing."""

# Importing them registers their commands.
from thermorbm.cli import bench, data, files, machines, report, study  # noqa: F401
from thermorbm.cli.app import main, run

__all__ = ["main", "run"]
