"""Writes docs/reproduction.md: the paper beside published results of the studies `paper` and `paper-plus`.

python tools/reproduction.py results/paper [results/paper-plus]

Every number of ours comes from results.json and the tables there; words come from tools/reproduction.toml.
"""

import re
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from os.path import relpath
from pathlib import Path

from reproduction_tables import (
    Study,
    beyond,
    configurations,
    grid,
    machines,
    markdown,
    partitions,
    per_machine,
    read_study,
    recipes,
    shares,
    symmetric,
    timings,
)

from thermorbm.records import as_plain
from thermorbm.report.labels import short, with_error
from thermorbm.report.run import AS_PAPER
from thermorbm.report.sections import SECTIONS
from thermorbm.report.sections.critical import table_2

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reproduction.md"
WELL, THEIRS = ("main", "main-sizes", "all-T"), ("as-paper", "as-paper-sizes", "all-T-as-paper")
UNKNOWN = "not measured"
UNDECIDED = "Not decided"
# By whether a claim holds for machines trained well, as the paper's, and whether both were tried.
GROUPS = {
    (True, True, True): "Hold for machines trained well and for those trained as the paper's",
    (False, True, True): "Hold only for machines trained as the paper's",
    (True, False, True): "Hold only for machines trained well",
    (False, False, True): "Hold for neither",
    (True, True, False): "Hold, tried on one kind of machine",
    (False, False, False): "Do not hold, tried on one kind of machine",
    None: UNDECIDED,
}
SPEAK_FOR_THEMSELVES = (GROUPS[True, True, True], GROUPS[True, True, False], UNDECIDED)


def check_words(words: dict) -> None:
    """Ends with a message if a claim of the report belongs to a part that has no words."""
    parts = {item["id"] for item in words["part"]}
    claims = [claim for section in SECTIONS for claim in section.claims]
    silent = [f"{claim.part} ({claim.id})" for claim in claims if claim.part not in parts]
    unknown = {item["claim"] for item in words["reason"]} - {claim.id for claim in claims}
    if silent or unknown:
        sys.exit(f"tools/reproduction.toml: no part for {silent}; no claim for reasons {sorted(unknown)}")


def page(study: Study, plus: Study | None, words: dict, place: Path) -> str:
    """The whole page. place: where it will lie, for links to figures."""
    parts = [
        head(study, plus, place),
        "## Table 2 side by side\n\n"
        + ("\n\n".join(map(markdown, table_2(study.run))) or "Nothing to compare."),
        "## What of the paper holds\n\n" + groups(study, words["reason"]),
        "## The study\n\n" + glance(study),
        "## Figures, tables and claims\n\n" + tally(study),
        *(part(study, item, place) for item in words["part"]),
        "## Machines\n\n" + machines(study),
        "### Shares of the correlations learnt\n\n" + shares(study),
        "### Three ways of training\n\n" + recipes(study),
        "## Machines that know the lattice\n\n" + figures(study, ["symmetric"], place),
        symmetric(study),
        "## Configurations beside exact results\n\n" + configurations(study),
        *(
            []
            if plus is None
            else [
                "## Beyond the paper\n\n" + words["beyond"],
                figures(plus, ["extrapolation"], place),
                beyond(plus),
            ]
        ),
        "## Timings\n\n" + timings(study),
        per_machine(study),
        "### ln Z of dense machines trained well\n\n" + partitions(study),
        *([] if plus is None else ["### Of the finer grids\n\n" + timings(plus), per_machine(plus)]),
    ]
    return "\n\n".join(text.strip() for text in parts) + "\n"


def head(study: Study, plus: Study | None, place: Path) -> str:
    names = [link(item.path, place) for item in (study, plus) if item is not None]
    commands = "\n".join(
        f"    thermorbm run {name} --out runs/{name}\n    thermorbm publish runs/{name} {item}"
        for name, item in zip(("paper", "paper-plus"), names, strict=False)
    ).replace("../", "")
    return (
        f"# The paper beside this study\n\n{study.run.results.study.title}\n\n"
        "This page is made from published results alone; its words are in `tools/reproduction.toml`.\n\n"
        f"{commands}\n    python tools/reproduction.py {' '.join(names).replace('../', '')}\n\n"
        f"Results: {', '.join(f'[{name}]({name})' for name in names)}. Numbers in brackets are one standard "
        "error in units of the last two digits."
    )


def glance(study: Study) -> str:
    families, tasks = study.run.results.families, study.run.results.tasks
    well, theirs = ([row for row in study.summary if row["group"] in groups] for groups in (WELL, THEIRS))
    certified = [row.certificate for family in families for row in family.data]
    rows = [
        ["datasets, certified", f"{len(certified)}, {sum(bool(c and c.passed) for c in certified)}"],
        ["dense machines trained as the paper's", str(len(theirs))],
        ["of them: mere order", _number_with(theirs, "mere order")],
        ["of them: converged by our rule", _number_with(theirs, "converged")],
        ["dense machines trained well", str(len(well))],
        ["of them: mere order", _number_with(well, "mere order")],
        ["of them: converged by our rule", _number_with(well, "converged")],
        ["further machines", str(len(study.summary) - len(theirs) - len(well))],
        ["tasks, done", f"{tasks.total}, {tasks.done}"],
        ["hours of CPU", short(study.run.results.timings.cpu_seconds / 3600, 3)],
    ]
    return grid(["", ""], rows)


def _number_with(rows: Sequence[dict], status: str) -> str:
    return str(sum(row["status"] == status for row in rows))


def groups(study: Study, reasons: Sequence[dict]) -> str:
    """Claims by whether they hold for machines trained well and for those trained as the paper's."""
    judged: dict[tuple[str, str], dict[bool, dict]] = {}
    for row in study.claims:
        family = row["family"].removesuffix(AS_PAPER)
        judged.setdefault((row["id"], family), {})[row["family"] != family] = row
    has_both = any(True in pair for pair in judged.values())
    rows: dict[str, list[list[str]]] = {}
    for (claim, family), pair in judged.items():
        well, theirs = pair.get(False), pair.get(True, pair.get(False))
        shown = well or theirs
        title = _group(shown["verdict"], theirs["verdict"], has_both)
        if {shown["verdict"], theirs["verdict"]} == {"not tested"}:
            continue
        why = "" if title in SPEAK_FOR_THEMSELVES else reason(study, reasons, claim, family)
        rows.setdefault(title, []).append([shown["claim"], family, f"{why} {_numbers(pair)}".strip()])
    ordered = [title for title in GROUPS.values() if title in rows]
    return "\n\n".join(
        f"**{title}** ({len(rows[title])})\n\n" + grid(["claim", "data", "why"], rows[title])
        for title in ordered
    )


def reason(study: Study, reasons: Sequence[dict], claim: str, family: str) -> str:
    """Why a claim fails for some machines, in words for its family, else in those for any.

    {family} stands there for the name of the family.
    """
    known = {(item["claim"], item.get("family")): item["text"] for item in reasons}
    text = known.get((claim, family), known.get((claim, None), ""))
    return fill(study, text.replace("{family}", family)) or "Not explained."


def _numbers(pair: Mapping[bool, dict]) -> str:
    """What was measured on the machines trained well, and on those trained as the paper's."""
    tried = {theirs: row["measured"] for theirs, row in pair.items() if row["verdict"] != "not tested"}
    if len(tried) == 2:
        return f"*Trained well*: {tried[False]}. *As the paper's*: {tried[True]}."
    return "".join(tried.values()) + "."


def _group(well: str, theirs: str, has_both: bool) -> str:
    decided = {well, theirs} & {"holds", "does not hold"}
    if decided == {well, theirs}:
        return GROUPS[(well == "holds", theirs == "holds", has_both)]
    if decided and "not tested" in (well, theirs):
        return GROUPS[("holds" in decided, "holds" in decided, False)]
    return UNDECIDED


def tally(study: Study) -> str:
    counts = Counter(row["verdict"] for row in study.claims)
    words = ", ".join(f"{number} {verdict}" for verdict, number in counts.most_common())
    return f"Claims of the paper, judged family by family by fixed rules: {words}."


def part(study: Study, words: dict, place: Path) -> str:
    """One figure or table of the paper: what it shows, ours, and the claims that hang on it."""
    shown = figures(study, words["figures"], place)
    rows = [
        [row["claim"], row["family"], f"**{row['verdict']}**", row["measured"], row["rule"]]
        for row in study.claims
        if row["part"] == words["id"]
    ]
    table = grid(["claim", "data", "verdict", "measured", "rule"], rows) if rows else ""
    missing = "" if shown or not words["figures"] else "No figure: the results hold nothing to draw it from."
    title = f"### {words['id']} {words['title']}"
    return "\n\n".join(filter(None, [title, f"Paper: {words['paper']}", shown or missing, table]))


def figures(study: Study, prefixes: Sequence[str], place: Path) -> str:
    """Pictures whose names begin so."""
    drawn = sorted((study.path / "figures").glob("*.png"))
    files = [file for prefix in prefixes for file in drawn if file.stem.startswith(prefix)]
    return "\n".join(f"![{file.stem}]({link(file, place)})" for file in files)


def fill(study: Study, text: str) -> str:
    """Replaces {measured:CLAIM:FAMILY}, {tc:FAMILY:GROUP:SIZE:INDICATOR} and
    {machine:FAMILY:GROUP:SIZE:VALUE:KEY.KEY} by numbers of the results."""
    finders: dict[str, Callable[..., str]] = {
        "measured": measured,
        "tc": critical_temperature,
        "machine": machine_value,
    }

    def find(match: re.Match[str]) -> str:
        kind, *keys = match[1].split(":")
        return finders[kind](study, *keys)

    return re.sub(r"\{([a-z]+:[^{}]+)\}", find, text)


def measured(study: Study, claim: str, family: str) -> str:
    rows = [row["measured"] for row in study.claims if (row["id"], row["family"]) == (claim, family)]
    return rows[0] if rows else UNKNOWN


def critical_temperature(study: Study, family: str, group: str, size: str, indicator: str) -> str:
    for item in study.run.results.families:
        for row in item.critical_temperatures:
            place = (item.name, row.variant, str(row.n_hidden), row.indicator)
            if place == (family, group, size, indicator) and row.estimate is not None:
                return with_error(row.estimate.value, row.estimate.error)
    return UNKNOWN


def machine_value(study: Study, family: str, group: str, size: str, value: str, keys: str) -> str:
    """One number of a machine's record, or of its "observation" of the data at its own value."""
    for item in study.run.results.families:
        for row in item.machines:
            place = (item.name, row.variant, str(row.n_hidden), str(row.value))
            if place == (family, group, size, value):
                number = follow(
                    {**as_plain(row), "observation": as_plain(row.observation())}, keys.split(".")
                )
                return UNKNOWN if number is None else short(number, 3)
    return UNKNOWN


def follow(record: object, names: Sequence[str]) -> float | None:
    """record[name][name]..., None where a part is not there."""
    for name in names:
        record = record.get(name) if isinstance(record, Mapping) else None
    return record


def link(target: Path, place: Path) -> str:
    return Path(relpath(target.resolve(), place.resolve().parent)).as_posix()


def main(arguments: Sequence[str], place: Path = PAGE) -> None:
    if not 1 <= len(arguments) <= 2:
        sys.exit("usage: python tools/reproduction.py results/paper [results/paper-plus]")
    study, *more = (read_study(Path(item)) for item in arguments)
    words = tomllib.loads((ROOT / "tools" / "reproduction.toml").read_text(encoding="utf-8"))
    check_words(words)
    place.write_text(page(study, more[0] if more else None, words, place), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
