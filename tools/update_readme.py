"""Puts the T_c table and the overview of a finished run of `desk` into README.md and docs/.

make run
.venv/bin/python tools/update_readme.py runs/desk
"""

import re
import sys
from pathlib import Path

from PIL import Image

from thermorbm.report.critical_points import TcEstimate, tc_estimates
from thermorbm.report.labels import percent, with_error
from thermorbm.report.run import read_run

ROOT = Path(__file__).parents[1]
# In the report, but not news to a newcomer: nearly the same as the row above it.
LEFT_OUT = ("zero_bias_energy_variance_per_spin",)
PICTURE = "overview.png"
BEGIN, END = "<!-- T_c table: tools/update_readme.py -->", "<!-- end of the T_c table -->"
HEAD = "| | indicator | machines | T_c | target | off target | off T_c = ∞ |\n|---|---|---|---|---|---|---|\n"


def table(run) -> str:
    return HEAD + "".join(
        row(f"{family.name}, {'×'.join(map(str, family.shape))}", item)
        for family in run.families
        for item in tc_estimates(family, shown=True)
        if item.row.indicator not in LEFT_OUT and item.role != "union-proportions"
    )


def row(name: str, item: TcEstimate) -> str:
    machines = "the data" if item.role == "data" else item.machines.html
    value = "not found" if item.row.problem else with_error(item.value, item.error)
    distances = (
        percent(None if item.row.problem else distance, signed=True)
        for distance in (item.distance, item.from_infinite)
    )
    target = "–" if item.target is None else f"{item.target:.4f}"
    label = str(item.label.html).replace("|", r"\|")
    return f"| {name} | {label} | {machines} | {value} | {target} | {' | '.join(distances)} |\n"


def main(path: Path) -> None:
    readme = ROOT / "README.md"
    text, n = re.subn(
        f"(?<={re.escape(BEGIN)}\n).*?(?={re.escape(END)})",
        lambda _: "\n" + table(read_run(path)) + "\n",
        readme.read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )
    if n != 1:
        sys.exit(f"README.md has no place for the table, between {BEGIN!r} and {END!r}")
    readme.write_text(text, encoding="utf-8")
    with Image.open(path / "figures" / PICTURE) as picture:
        few = picture.convert("RGB").quantize(64, dither=Image.Dither.NONE)
        few.save(ROOT / "docs" / PICTURE, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
