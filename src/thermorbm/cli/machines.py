"""Commands that make and use machines: train, generate, analyse."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thermorbm.cli.app import EPILOG, NOT_CERTIFIED, app
from thermorbm.cli.console import print_json, print_pairs, progress, say, show_summary, training_progress
from thermorbm.cli.data import dataset_summary, show_dataset
from thermorbm.cli.options import (
    CountOption,
    DataArgument,
    ForceOption,
    JsonOption,
    MachineArgument,
    OutputOption,
    SeedOption,
    real_option,
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


@app.command(epilog=EPILOG)
def generate(
    machine: MachineArgument,
    n_samples: CountOption,
    output: OutputOption,
    start: Annotated[str, typer.Option("--start", metavar="NAME", help="p_h, random or data.")] = "p_h",
    steps: Annotated[
        int, whole_option("--steps", metavar="K", help="Number of Gibbs steps from the start.")
    ] = 7,
    seed: SeedOption = 0,
    p_h: Annotated[
        float | None,
        real_option(
            "--p-h",
            metavar="P",
            help="Probability p_h of that start; by default (<|m|> + 1) / 2 of the data.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="Dataset to start from, or to take <|m|> from."),
    ] = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Generate configurations with a trained machine.

    Chains start from hidden units that follow the signs of their filters with probability p_h, from random
    hidden units, or from configurations of a dataset.

    \b
    Examples:
      thermorbm generate rbm.h5 -n 1000 --start p_h --steps 7 --seed 1 -o new.h5
      thermorbm generate rbm.h5 -n 1000 --start data --data data.h5 --steps 1000 -o new.h5
    """
    import thermorbm
    from thermorbm.storage import check_target

    check_target(output, overwrite=force, inputs=[machine, data])
    rbm = thermorbm.load_machine(machine)
    given = None if data is None else thermorbm.Dataset.load(data)
    made = thermorbm.generate(rbm, n_samples, start, steps, seed, p_h=p_h, data=given)
    made.save(output)
    show_dataset({"file": str(output), **dataset_summary(made)}, f"wrote {output}", as_json)


@app.command(epilog=EPILOG)
def analyse(
    machine: MachineArgument,
    file: DataArgument,
    max_samples: Annotated[int, whole_option("--max-samples", help="Configurations to read.")] = 5000,
    no_bracket: Annotated[
        bool, typer.Option("--no-bracket", help="Leave out ln Z and the entropy bracket, the long part.")
    ] = False,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Read a machine with a dataset: likelihoods, energies, entropy.

    L~, cross entropy, visible energy, weights, ln Z, the entropy bracket, and verdicts. The bracket
    S~ <= S <= upper edge holds for configurations that training has not seen.

    \b
    Examples:
      thermorbm analyse rbm.h5 data.h5 --json
      thermorbm analyse rbm.h5 data.h5 --no-bracket
    """
    import thermorbm

    rbm, data = thermorbm.load_machine(machine), thermorbm.Dataset.load(file)
    with progress() as report:
        values = thermorbm.analyse(rbm, data, max_samples, seed, report).to_dict()
        if not no_bracket:
            values |= thermorbm.bracket_entropy(rbm, data, max_samples, seed, progress=report).to_dict()
    if as_json:
        print_json({"machine": str(machine), "data": str(file), **values})
    else:
        _show(values, f"{machine} on {file}")


def _show(values: dict[str, Any], title: str) -> None:
    """The table; long records of the training and the certificate are for --json."""
    certificate = values.pop("certificate")
    values.pop("training")
    parameters = {
        f"{name} ({kind})": x for name, s in values.pop("parameters").items() for kind, x in s.items()
    }
    certified = {"data certified": certificate["passed"] if certificate else None}
    bracket = _bracket_rows(values.pop("log_partition", None), values.pop("entropy_bracket", None))
    print_pairs(title, values | parameters | certified | bracket)


def _bracket_rows(log_partition: dict[str, Any] | None, bracket: dict[str, Any] | None) -> dict[str, Any]:
    """ln Z and the entropy bracket, or nothing if they were left out."""
    if log_partition is None or bracket is None:
        return {}
    estimate = {key: log_partition[key] for key in ("value", "error")}
    edges = {key: log_partition[key] for key in ("lower", "upper")}
    return {
        "ln Z": estimate,
        "ln Z between": edges,
        "ln Z verdict": log_partition["verdict"],
        "entropy per spin, lower edge S~": bracket["lower"] or bracket["lower_problem"],
        "entropy per spin, upper edge": bracket["upper"],
        "negative log-likelihood per spin": bracket["nll"],
        "relative entropy per spin, at most": bracket["kl_bound"],
        "free energy per spin, at least": bracket["free_energy"],
    }
