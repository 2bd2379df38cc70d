"""The commands `bench sampling` and `bench training`: how fast this machine runs the kernels, on one core."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from thermorbm.cli.app import EPILOG, app
from thermorbm.cli.console import print_json, print_table
from thermorbm.cli.options import JsonOption

if TYPE_CHECKING:
    from thermorbm.trials import TrainingSpeed

bench = typer.Typer()
app.add_typer(bench, name="bench")


@bench.callback()
def group() -> None:
    """Measure how fast this machine runs the kernels, on one core.

    \b
    Example:
      thermorbm bench sampling --json
    """


@bench.command(epilog=EPILOG)
def sampling(as_json: JsonOption = False) -> None:
    """Time single-flip Metropolis updates near the critical point, in two and three dimensions.

    Takes some seconds, and more on first use, when the kernels are compiled.

    \b
    Example:
      thermorbm bench sampling --json
    """
    from thermorbm.trials import CASES, sampling_speed

    speeds = [sampling_speed(shape, temperature) for shape, temperature in CASES]
    if as_json:
        print_json({"unit": "updates per nanosecond and core", "cases": [asdict(speed) for speed in speeds]})
        return
    rows = [
        ("x".join(map(str, speed.shape)), f"{speed.temperature:g}", f"{speed.updates_per_ns:.2f}")
        for speed in speeds
    ]
    print_table("Metropolis sampling", ("lattice", "T", "updates/ns per core"), rows, right=True)


@bench.command(epilog=EPILOG)
def training(as_json: JsonOption = False) -> None:
    """Time an epoch of CD-5 at the paper's size beside its bare matrix products, on one core.

    50 000 configurations of 4096 spins, batches of 128. Takes about half a minute.

    \b
    Example:
      thermorbm bench training --json
    """
    from thermorbm.trials import HIDDEN_SIZES, training_speed

    speeds = [training_speed(n_hidden) for n_hidden in HIDDEN_SIZES]
    if as_json:
        print_json({"unit": "seconds per epoch on one core", "cases": [asdict(speed) for speed in speeds]})
        return
    columns = "hidden units", "s per epoch", "its products, s", "ratio"
    print_table("CD-5 training, one core", columns, [_training_row(speed) for speed in speeds], right=True)


def _training_row(speed: TrainingSpeed) -> tuple[str, ...]:
    ours, bare = speed.seconds_per_epoch, speed.seconds_of_products
    return f"{speed.n_hidden}", f"{ours:.1f}", f"{bare:.1f}", f"{ours / bare:.2f}"
