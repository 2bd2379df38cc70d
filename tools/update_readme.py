"""Writes the numbers of README.md, and of docs/desk.md, anew.

    python tools/update_readme.py                # README.md, from results/paper and results/paper-plus
    python tools/update_readme.py runs/desk      # docs/desk.md and docs/overview.png, from a run of `desk`

Numbers stand between two comments of the page; words around them stay as they are.
"""

import csv
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from thermorbm.report.labels import percent
from thermorbm.report.rules import TcEstimate, searched_by, tc_estimates
from thermorbm.report.run import AS_PAPER, FamilyView, Missing, Run, read_run
from thermorbm.report.sections.critical import PAPER

ROOT = Path(__file__).parents[1]
README, DESK, PICTURE = ROOT / "README.md", ROOT / "docs" / "desk.md", "overview.png"
BEGIN, END = "<!-- numbers: tools/update_readme.py -->\n", "<!-- end of numbers -->\n"
# In the report, but not news to a newcomer: nearly the same as the row above it.
LEFT_OUT = ("zero_bias_energy_variance_per_spin",)
HEAD = "| | indicator | machines | T_c | target | off target | off T_c = ∞ |\n|---|---|---|---|---|---|---|\n"
COLDEST = 1.5  # below, too few spins are turned to tell couplings apart
NEWS = """\
- **An entropy one can trust.** The pseudo-likelihood, which the paper reads as the entropy, bounds
  nothing. Here the entropy lies between two bounds, each with an error and a verdict
  ([what they measure](docs/likelihoods.md)). A machine that knows the lattice gives with some forty weights
  the entropy of all {n_datasets} datasets of the paper to {entropy} per spin from configurations alone,
  and couplings within {couplings} % of 1/T from T = {coldest} on ([symmetric machines](docs/symmetric.md)).
- **Dense machines that learn below T_c, too.** Trained as the paper's, {mere_order} of {n_theirs} know the
  order of their data and nothing else. Ours carry it in a few units and leave the others free: of the
  correlations at T = 2 they learn {share_well} % with 400 units, the paper's way {share_theirs} %
  ([training](docs/training.md)). On fine grids the paper's indicator, named before they were run, puts the
  peak of the heat capacity at {named[0]} on 64×64, where it is {targets[0]}, and at {named[1]} on
  16×16×16, where it is {targets[1]}; with 100 units on 32×32 it is too low, {named[2]} for {targets[2]}.
- **Data with a certificate, claims with a rule.** Every dataset is checked against exact results where there
  are any. Every claim of the paper is judged by a fixed rule: of machines trained as the paper's
  {hold_theirs} hold and {fail_theirs} do not, of machines trained well {hold_well} and {fail_well}, each
  with its numbers ([the paper, reproduced](docs/reproduction.md)).
"""


def replaced(text: str, numbers: str) -> str:
    """The page with other numbers between its comments."""
    pattern = re.compile(f"(?<={re.escape(BEGIN)}).*?(?={re.escape(END)})", re.DOTALL)
    text, n = pattern.subn(lambda _: numbers, text)
    if n != 1:
        sys.exit(f"the page has {n} places for numbers between {BEGIN!r} and {END!r}, and wants one")
    return text


def readme_numbers(paper: Path, plus: Path) -> str:
    """The table of five rows, and what is new in three points."""
    run = read_run(paper)
    two, three = (_family(run.views, name) for name in ("2d", "3d"))
    their_two, their_three = (_family(run.views, name + AS_PAPER) for name in ("2d", "3d"))
    fine = [_family(read_run(plus).views, name) for name in ("2d-L64", "3d-L16", "2d-L32")]
    learnt = "pseudo_likelihood_per_spin"
    rows = [
        _paper_row("entropy of the configurations, 64×64", two, "data", "entropy_per_spin"),
        _paper_row("pseudo-likelihood, n_h = 400, as the paper's, 64×64", their_two, "main", learnt),
        _paper_row("the same, one machine for all T", their_two, "union", learnt),
        _paper_row("pseudo-likelihood, n_h = 400, as the paper's, 16×16×16", their_three, "main", learnt),
        _paper_row("likelihood of symmetric machines, 64×64", fine[0], "symmetric", "nll_per_spin"),
    ]
    table = "| T_c from | paper | here | exact |\n|---|---|---|---|\n" + "".join(rows)
    named = [searched_by(family, "main", learnt)[0] for family in fine]
    return f"\n{table}\n{_news(paper, (two, three), named)}\n"


def _family(views: Sequence[FamilyView], name: str) -> FamilyView:
    return next(view for view in views if view.name == name)


def _paper_row(words: str, family: FamilyView, role: str, indicator: str) -> str:
    try:
        item = searched_by(family, role, family.scored(indicator))[0]
    except Missing:
        return f"| {words} | – | not measured | – |\n"
    key = indicator if role == "data" else item.n_hidden
    theirs = PAPER.get((len(family.shape), role, key))
    here = item.number if item.is_determined else "not determined"
    return f"| {words} | {'–' if theirs is None else f'{theirs:.3f}'} | {here} | {_exact(item)} |\n"


def _exact(item: TcEstimate) -> str:
    """The peak of the heat capacity on the same lattice."""
    target = item.row.target
    if target is None:
        return "–"
    return f"{target.value:.4f}" if target.source == "kaufman" else f"{target.value:.4f} (sampled)"


def _news(paper: Path, families: tuple[FamilyView, ...], named: Sequence[TcEstimate]) -> str:
    summary = _table(paper, "summary")
    theirs = [row for row in summary if row["group"] in ("as-paper", "as-paper-sizes", "all-T-as-paper")]
    rows = [row for row in summary if row["group"] == "symmetric"]
    off = max(abs(float(row["nll_per_spin"]) - float(row["entropy_per_spin"])) for row in rows)
    couplings = [
        abs(machine.interactions.temperature / machine.value - 1)
        for family in families
        for machine in family.results.machines
        if machine.role == "symmetric" and machine.interactions and machine.value >= COLDEST
    ]
    return NEWS.format(
        mere_order=sum(row["status"] == "mere order" for row in theirs),
        n_theirs=len(theirs),
        share_theirs=_share_learnt(summary, "as-paper"),
        share_well=_share_learnt(summary, "main"),
        n_datasets=len({(row["family"], row["value"]) for row in rows}),
        entropy=f"{off:.4f}",
        couplings=f"{100 * max(couplings):.1f}",
        coldest=f"{COLDEST:g}",
        named=[item.number for item in named],
        targets=[_exact(item) for item in named],
        **_verdicts(_table(paper, "claims")),
    )


def _share_learnt(summary: list[dict[str, str]], group: str) -> str:
    """Per cent of the correlations that the machine of 64x64, T = 2 and 400 units has learnt."""
    place = ("2d", group, "2.0", "400")
    (row,) = [r for r in summary if (r["family"], r["group"], r["value"], r["n_hidden"]) == place]
    return f"{100 * float(row['correlations_learnt']):.0f}"


def _verdicts(claims: list[dict[str, str]]) -> dict[str, int]:
    """How many claims hold and fail on machines trained as the paper's, and on others or the data."""
    found = Counter((row["family"].endswith(AS_PAPER), row["verdict"]) for row in claims)
    return {
        f"{word}_{name}": found[theirs, verdict]
        for name, theirs in (("theirs", True), ("well", False))
        for word, verdict in (("hold", "holds"), ("fail", "does not hold"))
    }


def _table(path: Path, name: str) -> list[dict[str, str]]:
    with open(path / "tables" / f"{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def desk_table(run: Run) -> str:
    return HEAD + "".join(
        _desk_row(f"{family.name}, {'×'.join(map(str, family.shape))}", item)
        for family in run.families
        for item in tc_estimates(family, shown=True)
        if item.row.indicator not in LEFT_OUT and item.role != "union-proportions"
    )


def _desk_row(name: str, item: TcEstimate) -> str:
    machines = "the data" if item.role == "data" else item.machines.html
    value = item.number if item.is_determined else "not determined"
    is_range = item.row.interval is not None  # whose middle would say nothing
    distances = (
        percent(None if is_range else distance, signed=True)
        for distance in (item.distance, item.from_infinite)
    )
    target = "–" if item.target is None else f"{item.target:.4f}"
    label = str(item.label.html).replace("|", r"\|")
    return f"| {name} | {label} | {machines} | {value} | {target} | {' | '.join(distances)} |\n"


def main(run: Path | None = None) -> None:
    if run is None:
        numbers = readme_numbers(ROOT / "results" / "paper", ROOT / "results" / "paper-plus")
        README.write_text(replaced(README.read_text(encoding="utf-8"), numbers), encoding="utf-8")
        return
    table = "\n" + desk_table(read_run(run)) + "\n"
    DESK.write_text(replaced(DESK.read_text(encoding="utf-8"), table), encoding="utf-8")
    with Image.open(run / "figures" / PICTURE) as picture:
        few = picture.convert("RGB").quantize(64, dither=Image.Dither.NONE)
        few.save(ROOT / "docs" / PICTURE, optimize=True)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
