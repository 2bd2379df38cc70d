"""The command `demo`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thermorbm.cli.app import app
from thermorbm.cli.console import print_table, progress

if TYPE_CHECKING:
    from thermorbm.demo import DemoRow

COLUMNS = ["T", "E/N", "error", "exact", "z", "|m|", "m (L=∞)", "passed"]


@app.command()
def demo() -> None:
    """Sample 32x32 at a few temperatures and compare with exact results; takes some seconds."""
    from thermorbm.demo import SIDE, demo_rows

    with progress() as report:
        rows = list(demo_rows(progress=report))
    title = f"Ising model, {SIDE}x{SIDE} torus: energy per spin beside Kaufman's exact value"
    print_table(title, COLUMNS, [_cells(row) for row in rows], right=True)


def _cells(row: DemoRow) -> list[str]:
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
