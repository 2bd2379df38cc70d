"""The command `train`."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from thermorbm.cli.app import EPILOG, NOT_CERTIFIED, app
from thermorbm.cli.console import say, show_summary, training_progress
from thermorbm.cli.options import (
    DataArgument,
    ForceOption,
    JsonOption,
    OutputOption,
    SeedOption,
    whole_option,
)
from thermorbm.errors import InputError

if TYPE_CHECKING:
    from thermorbm.dataset import Dataset


@app.command(epilog=EPILOG)
def train(
    file: DataArgument,
    output: OutputOption,
    n_hidden: Annotated[int | None, whole_option("--hidden", help="Hidden units of a dense machine.")] = None,
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="dense or symmetric.")] = "dense",
    filters: Annotated[
        int | None, whole_option("--filters", help="Filters of a symmetric machine; default 4.")
    ] = None,
    kernel: Annotated[
        int | None, whole_option("--kernel", metavar="K", help="Side of each filter in sites; default 3.")
    ] = None,
    point_group: Annotated[
        bool,
        typer.Option(
            "--point-group", help="Tie each filter to its turns and reflections; by default two filters."
        ),
    ] = False,
    recipe: Annotated[str, typer.Option("--recipe", metavar="NAME", help="fast or paper.")] = "fast",
    epochs: Annotated[
        int | None, whole_option("--epochs", help="Passes over the data; the recipe's number by default.")
    ] = None,
    seed: SeedOption = 0,
    validation: Annotated[
        Path | None,
        typer.Option("--validation", metavar="FILE", help="Dataset to score beside the training."),
    ] = None,
    held_out: Annotated[
        int | None,
        whole_option(
            "--hold-out",
            help="Score the last N configurations instead of training on them; by default 10 %, at most "
            "5000. For data of several temperatures name a --validation file.",
        ),
    ] = None,
    zero_bias: Annotated[bool, typer.Option("--zero-bias", help="Keep b = c = 0.")] = False,
    precision: Annotated[
        str, typer.Option("--precision", metavar="NAME", help="Matrix products: auto, fp32, bf16 or int8.")
    ] = "auto",
    device: Annotated[
        str, typer.Option("--device", metavar="NAME", help="auto, cpu, cuda or another name of torch's.")
    ] = "auto",
    threads: Annotated[int | None, whole_option("--threads", help="Cores to use; one by default.")] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            metavar="FILE",
            help="Checkpoint: written during training, continued from if it exists.",
        ),
    ] = None,
    tensorboard: Annotated[
        Path | None,
        typer.Option("--tensorboard", metavar="DIR", help="Write the history for TensorBoard there."),
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> int:
    """Train a restricted Boltzmann machine on a dataset.

    A dense machine has --hidden units that see every spin. A symmetric one has the same few small filters at
    every site of the periodic lattice.

    Ends with a verdict: converged, not converged, mere order (nothing learned but the order) or diverged. The
    drift is by how much L~ per spin would still change if training went on for as long again. With
    --checkpoint the same command continues a run that was interrupted, bit by bit.

    \b
    Examples:
      thermorbm train data.h5 --hidden 400 -o rbm.h5
      thermorbm train data.h5 --hidden 400 --recipe paper --epochs 100 --checkpoint run.h5 -o rbm.h5
      thermorbm train data.h5 --model symmetric --filters 4 --kernel 3 -o rbm.h5
    """
    import thermorbm
    from thermorbm.reading.analysis import training_summary
    from thermorbm.storage import check_target

    if model == "dense" and n_hidden is None:
        raise InputError("--hidden", None, "the number of hidden units", "or choose --model symmetric")
    check_target(output, overwrite=force, inputs=[file, validation])
    if checkpoint is not None and checkpoint.resolve() == output.resolve():
        raise InputError("--checkpoint", str(checkpoint), "another file than the output")
    data, scored = _datasets(file, validation, held_out)
    began = time.monotonic()
    with training_progress() as report, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        result = thermorbm.train(
            data,
            n_hidden,
            recipe,
            epochs,
            seed,
            validation=scored,
            device=device,
            precision=precision,
            threads=threads,
            checkpoint=checkpoint,
            progress=report,
            model=model,
            filters=filters,
            kernel=kernel,
            point_group=point_group,
            tensorboard=tensorboard,
            **({"zero_bias": True} if zero_bias else {}),
        )
    for warning in caught:
        say(f"WARNING: {warning.message}")
    result.rbm.save(output)
    summary = {
        "file": str(output),
        "n_samples": len(data),
        **training_summary(result),
        "seconds": round(time.monotonic() - began, 3),
    }
    show_summary(summary, f"wrote {output}", as_json)
    return _exit_code(result.verdict.status, output)


def _datasets(file: Path, validation: Path | None, held_out: int | None) -> tuple[Dataset, Dataset | None]:
    """What to train on, and what to score beside it."""
    from thermorbm.dataset import Dataset
    from thermorbm.reading.configurations import hold_out

    data = Dataset.load(file)
    if validation is None:
        return hold_out(data, held_out)
    if held_out is not None:
        raise InputError("--hold-out", held_out, "left out where there is a --validation file")
    return data, Dataset.load(validation)


def _exit_code(status: str, output: Path) -> int:
    if status != "diverged":
        return 0
    say(f"WARNING: training diverged; {output} holds the last good machine; try a smaller learning rate")
    return NOT_CERTIFIED
