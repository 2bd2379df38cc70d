"""Commands that use trained machines: generate, analyse."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from thermorbm.cli.app import EPILOG, app
from thermorbm.cli.console import print_json, print_pairs, progress
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
