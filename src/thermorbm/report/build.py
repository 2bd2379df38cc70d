"""From a run directory to `report.html` and `figures/`."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from markupsafe import Markup

from thermorbm.errors import FileError
from thermorbm.report import methods, tables
from thermorbm.report.bracket import bracket_tables, quality_tables
from thermorbm.report.certificates import certificate_rows
from thermorbm.report.claims import FAILS, HOLDS, UNTESTED, Judged, judge_all
from thermorbm.report.critical import critical_tables, table_2
from thermorbm.report.drawing import Drawn, Shown, draw_all
from thermorbm.report.extrapolation import extrapolation_tables
from thermorbm.report.figures import FIGURES, SECTIONS, SUMMARY, LeftOut
from thermorbm.report.hidden import sign_rule_rows
from thermorbm.report.page import Section, render
from thermorbm.report.run import Missing, Run, read_run
from thermorbm.report.symmetric import coupling_tables
from thermorbm.report.tables import Table
from thermorbm.storage import atomic_path, write_csv


def build(path: Path | str, n_workers: int = 1) -> Path:
    """Makes `report.html`, `figures/*.svg`, `figures/*.png` and `tables/claims.csv` of a run directory.

    Draws and tabulates what `results.json` and the reduced results hold; what is missing there is left out,
    and the report says so. Gives the path of the page. n_workers: processes that draw; with more than one, a
    script that calls this needs `if __name__ == "__main__"`.
    """
    run = read_run(Path(path))
    drawn = draw_all(run, FIGURES, n_workers)
    shown = [item for _, item in drawn if isinstance(item, Shown)]
    claims = judge_all(run)
    specs = {id: spec for item in shown for id, spec in item.specs.items()}
    text = render(specs, **_context(run, drawn, claims))
    report = run.path / "report.html"
    try:
        _write_figures(run.path / "figures", shown)
        (run.path / "tables").mkdir(exist_ok=True)
        write_csv(run.path / "tables" / "claims.csv", _claim_rows(claims))
        with atomic_path(report) as temporary:
            temporary.write_text(text, encoding="utf-8")
    except FileError:
        raise
    except OSError as error:
        raise FileError(report, f"cannot be written: {error.strerror or error}") from error
    return report


def _write_figures(directory: Path, shown: Sequence[Shown]) -> None:
    directory.mkdir(exist_ok=True)
    for item in shown:
        for suffix, content in (("svg", item.drawing.svg), ("png", item.drawing.png)):
            with atomic_path(directory / f"{item.id}.{suffix}") as temporary:
                temporary.write_bytes(content)


def _claim_rows(claims: Sequence[Judged]) -> list[dict[str, str]]:
    return [
        {
            "id": item.claim.id,
            "part": item.claim.part,
            "claim": _unformatted(item.claim.statement),
            "family": finding.family,
            "verdict": finding.verdict,
            "measured": _unformatted(finding.measured),
            "rule": item.claim.rule,
        }
        for item in claims
        for finding in item.findings
    ]


def _unformatted(text: Markup) -> str:
    return text.striptags().replace("\u00a0", " ")


def _context(run: Run, drawn: Sequence[Drawn], claims: Sequence[Judged]) -> dict[str, object]:
    study = run.study
    return {
        "study": study,
        "title": study.get("title") or f"Study {study.get('name', '')}",
        "lead": methods.lead(run),
        "warnings": methods.warnings(run),
        "done": tables.done_table(run),
        "overview": [item for section, item in drawn if section == SUMMARY and isinstance(item, Shown)],
        "critical": critical_tables(run),
        "tally": _tally(claims),
        "claims": [_claim(item) for item in claims],
        "sections": _sections(run, drawn),
        "methods": methods.paragraphs(run),
        "recipes": [tables.recipe_table(run)],
        "certificate_text": methods.certificate_text(run),
        "certificate_tables": _certificates(run),
        "machine_text": methods.machine_text(run),
        "machine_tables": tables.machine_tables(run),
        "timings": tables.timing_table(run),
        "versions": tables.version_table(run),
        "version": version("thermorbm"),
    }


def _claim(item: Judged) -> dict[str, object]:
    claim = item.claim
    return {"part": claim.part, "statement": claim.statement, "rule": claim.rule, "findings": item.findings}


def _tally(claims: Sequence[Judged]) -> str:
    verdicts = [finding.verdict for item in claims for finding in item.findings]
    counts = [f"{verdicts.count(verdict)} {verdict}" for verdict in (HOLDS, FAILS, UNTESTED)]
    return (
        f"{len(claims)} claims, judged by fixed rules on the numbers of this study, family by family: "
        f"{', '.join(counts)}. A verdict is about this study: its lattices, machines and training."
    )


def _sections(run: Run, drawn: Sequence[Drawn]) -> list[Section]:
    found = []
    for id, title in SECTIONS.items():
        mine = [item for section, item in drawn if section == id]
        charts = [item for item in mine if isinstance(item, Shown)]
        left_out = [line for item in mine if isinstance(item, LeftOut) for line in _lines(item)]
        extra = _extra_tables(run, id)
        if charts or left_out:
            found.append(Section(f"section-{id}", title, charts, left_out, extra))
    return found


def _lines(item: LeftOut) -> list[str]:
    return [
        f"{item.part}, {item.title}{f' ({name})' if name else ''}: left out, because {reason}."
        for name, reason in item.reasons.items()
    ]


def _extra_tables(run: Run, section: str) -> list[Table]:
    if section == "hidden":
        return _sign_rule_tables(run)
    if section == "generation":
        return quality_tables(run)
    if section == "entropy":
        return bracket_tables(run)
    if section == "symmetric":
        return coupling_tables(run)
    if section == "critical":
        found = table_2(run)
        return [*([] if found is None else [found]), *extrapolation_tables(run)]
    return []


def _sign_rule_tables(run: Run) -> list[Table]:
    found = []
    for family in run.families:
        try:
            columns, rows = sign_rule_rows(family)
        except Missing:  # the figure beside it says why
            continue
        found.append(Table(columns, rows, Markup("Table 1 in numbers, {}").format(family.name)))
    return found


def _certificates(run: Run) -> list[Table]:
    found = []
    for family in run.families:
        try:
            columns, rows = certificate_rows(family)
        except Missing:  # told in the text above
            continue
        found.append(Table(columns, rows, f"{family.name}: {len(rows)} datasets"))
    return found
