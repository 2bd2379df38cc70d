"""Commands that make and show datasets: sample, import, export, demo."""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thermorbm.cli.app import EPILOG, NOT_CERTIFIED, app
from thermorbm.cli.console import print_pairs, print_table, progress, say, show_summary
from thermorbm.cli.options import (
    CountOption,
    CouplingOption,
    DataArgument,
    DisorderOption,
    FieldOption,
    ForceOption,
    JsonOption,
    LatticeOption,
    OpenOption,
    OutputOption,
    SeedOption,
    ShapeOption,
    ShareOption,
    TemperatureOption,
    ThreadsOption,
    axes,
    number_or_name,
    numbers,
    real_option,
)
from thermorbm.errors import CertificateWarning, InputError

if TYPE_CHECKING:
    from thermorbm.dataset import Dataset
    from thermorbm.hamiltonians import Hamiltonian
    from thermorbm.trials import DemoRow

# Heavy modules are imported inside the commands, so that --help answers at once.

DEMO_COLUMNS = ["T", "E/N", "error", "exact", "z", "|m|", "m (L=∞)", "passed"]


@app.command(epilog=EPILOG)
def sample(
    shape: ShapeOption,
    temperature: TemperatureOption,
    n_samples: CountOption,
    output: OutputOption,
    lattice: LatticeOption = None,
    coupling: CouplingOption = "1",
    field: FieldOption = 0.0,
    p: ShareOption = None,
    disorder_seed: DisorderOption = None,
    open_axes: OpenOption = None,
    seed: SeedOption = 0,
    method: Annotated[
        str,
        typer.Option("--method", metavar="NAME", help="auto, metropolis, tempering, swendsen-wang or wolff."),
    ] = "auto",
    sector: Annotated[
        str, typer.Option("--sector", help="Sign of m: symmetric, positive, or the fraction with m > 0.")
    ] = "symmetric",
    threads: ThreadsOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> int:
    """Sample independent Ising configurations and certify them.

    The certificate compares them with exact results and is stored in the file.

    \b
    Examples:
      thermorbm sample --shape 64x64 -T 2.25 -n 50000 --seed 1 -o data.h5
      thermorbm sample --shape 16x16x16 -T 4.5 -n 10000 --method swendsen-wang -o cube.h5
      thermorbm sample --shape 64x64 -T 2.0 -n 50000 --sector 0.6 -o unbalanced.h5
      thermorbm sample --lattice triangular --shape 24x24 --coupling -1 --field 0.1 -T 1.0 -n 10000 -o data.h5
      thermorbm sample --lattice pm-j --shape 16x16 --p 0.8 --disorder-seed 3 -T 1.0 -n 5000 -o glass.h5
    """
    from thermorbm import samples
    from thermorbm.storage import check_target

    model = _hamiltonian(lattice, shape, coupling, field, p, disorder_seed, open_axes)
    check_target(output, overwrite=force)
    began = time.monotonic()
    with progress() as report, warnings.catch_warnings():
        warnings.simplefilter("ignore", CertificateWarning)  # said below, after the file is written
        data = samples.sample(
            model,
            temperature,
            n_samples,
            seed=seed,
            method=method,
            sector=number_or_name(sector),
            threads=threads,
            progress=report,
        )
    data.save(output)
    summary = {"file": str(output), **dataset_summary(data), "seconds": round(time.monotonic() - began, 3)}
    show_dataset(summary, f"wrote {output}", as_json)
    return _exit_code(data, output)


def _hamiltonian(
    name: str | None,
    shape: str,
    coupling: str,
    field: float,
    p: float | None,
    disorder_seed: int | None,
    open_axes: str | None,
) -> Hamiltonian:
    from thermorbm.lattice import Lattice
    from thermorbm.study.named import NamedHamiltonian  # its errors have the names of the options

    edges = () if open_axes is None else axes(open_axes)
    named = NamedHamiltonian(name, tuple(numbers(coupling)), field, p, disorder_seed, edges)
    return named.of(Lattice.parse(shape).shape)


@app.command("import", epilog=EPILOG)
def import_(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="npy, npz or HDF5 files.")],
    output: OutputOption,
    shape: Annotated[
        str | None, typer.Option("--shape", metavar="LxL", help="Sides such as 64x64; omit if unknown.")
    ] = None,
    temperature: Annotated[
        float | None, real_option("--temperature", "-T", metavar="T", help="In J/k_B; omit if unknown.")
    ] = None,
    array: Annotated[
        str | None,
        typer.Option("--array", metavar="NAME", help="Array to take from npz or HDF5 files with several."),
    ] = None,
    lattice: LatticeOption = None,
    coupling: CouplingOption = "1",
    field: FieldOption = 0.0,
    open_axes: OpenOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Turn users' arrays of spins into a dataset.

    Arrays hold +-1, or 0/1 with 0 for spin -1, as (n, sites) or (n, side, side ...), of cells with several
    sites (n, cells, cells ..., sites of a cell). Several files are joined in the order given. Nothing is
    unpickled. A lattice, coupling or field says of which Hamiltonian they are.

    \b
    Examples:
      thermorbm import a.npy b.npz --shape 64x64 -T 2.25 -o data.h5
      thermorbm import a.npy --lattice kagome --shape 12x12 --coupling -1 -T 0.5 -o data.h5
    """
    from thermorbm.dataset import checked_temperature, import_spins
    from thermorbm.lattice import Lattice
    from thermorbm.storage import check_target

    model = None
    if (lattice, coupling, field, open_axes) != (None, "1", 0.0, None):
        if shape is None:
            raise InputError("shape", None, "the sides of the lattice in cells", "give --shape 24x24")
        model = _hamiltonian(lattice, shape, coupling, field, None, None, open_axes)
    grid = None if shape is None else Lattice.parse(shape)
    checked_temperature(temperature)  # before the work
    check_target(output, overwrite=force, inputs=files)
    data = import_spins(
        files, grid if model is None else model.lattice, temperature, array=array, hamiltonian=model
    )
    data.save(output)
    show_dataset({"file": str(output), **dataset_summary(data)}, f"wrote {output}", as_json)


@app.command(epilog=EPILOG)
def export(file: DataArgument, output: OutputOption, force: ForceOption = False) -> None:
    """Write a dataset as an array for other programs.

    int8 spins of +-1 as .npy, or as .npz with temperature and shape.

    \b
    Example:
      thermorbm export data.h5 -o data.npy
    """
    from thermorbm.dataset import Dataset
    from thermorbm.storage import check_target

    check_target(output, overwrite=force, inputs=[file])
    Dataset.load(file).export(output)
    say(f"wrote {output}")


def dataset_summary(data: Dataset) -> dict[str, Any]:
    summary = {
        "n_samples": len(data),
        "n_sites": data.n_sites,
        "shape": list(data.lattice.shape) if data.lattice else None,
        "hamiltonian": repr(data.hamiltonian) if data.hamiltonian else None,
        "temperature": data.temperature,
        "certified": data.certificate.passed if data.certificate else None,
        "certificate": data.certificate.to_dict() if data.certificate else None,
    }
    return {**data.provenance, **summary}


def show_dataset(summary: dict[str, Any], title: str, as_json: bool) -> None:
    """The same, with the certificate in a table of its own."""
    without = {key: value for key, value in summary.items() if key != "certificate"}
    show_summary(summary if as_json else without, title, as_json)
    if summary["certificate"] is not None and not as_json:
        print_pairs("certificate", summary["certificate"])


def _exit_code(data: Dataset, output: Path) -> int:
    if data.certificate is None or data.certificate.passed:
        return 0
    say(f"WARNING: {output} was written, but its certificate did NOT pass: do not rely on these samples")
    for failure in data.certificate.failures:
        say(f"WARNING: {failure}")
    return NOT_CERTIFIED


@app.command()
def demo() -> None:
    """Sample 32x32 and compare with exact results, in some seconds."""
    from thermorbm.trials import SIDE, demo_rows

    with progress() as report:
        rows = list(demo_rows(progress=report))
    title = f"Ising model, {SIDE}x{SIDE} torus: energy per spin beside Kaufman's exact value"
    print_table(title, DEMO_COLUMNS, [_demo_cells(row) for row in rows], right=True)


def _demo_cells(row: DemoRow) -> list[str]:
    return [
        f"{row.temperature:.4g}",
        f"{row.energy:.5f}",
        f"{row.energy_error:.5f}",
        f"{row.energy_exact:.5f}",
        f"{row.z_score:+.1f}",
        f"{row.abs_magnetization:.4f}",
        f"{row.magnetization_exact:.4f}",
        "yes" if row.certified else "NO",
    ]
