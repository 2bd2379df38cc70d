"""From a run directory to `report.html` and `figures/`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from thermorbm.errors import FileError
from thermorbm.report.drawing import Shown, draw_all
from thermorbm.report.page import make_page
from thermorbm.report.run import read_run
from thermorbm.report.section import Judged, judge_all
from thermorbm.report.sections import SECTIONS, all_figures
from thermorbm.storage import atomic_path, write_csv


def build(path: Path | str, n_workers: int = 1) -> Path:
    """Makes `report.html`, `figures/*.svg`, `figures/*.png` and `tables/claims.csv` of a run directory.

    Draws and tabulates what `results.json` and the reduced results hold; what is missing there is left out,
    and the report says so. Gives the path of the page. n_workers: processes that draw; with more than one, a
    script that calls this needs `if __name__ == "__main__"`.
    """
    run, figures = read_run(Path(path)), all_figures()
    drawn = dict(zip(figures, draw_all(run, figures, n_workers), strict=True))
    judged = judge_all(SECTIONS, run) if run.speaks_of_paper else []
    page = make_page(run, drawn, judged)
    report = run.path / "report.html"
    try:
        charts = [item for items in drawn.values() for item in items if isinstance(item, Shown)]
        _write_figures(run.path / "figures", charts)
        (run.path / "tables").mkdir(exist_ok=True)
        write_csv(run.path / "tables" / "claims.csv", _claim_rows(judged))
        with atomic_path(report) as temporary:
            temporary.write_text(page, encoding="utf-8", errors="replace")
    except FileError:
        raise
    except OSError as error:
        raise FileError(report, f"cannot be written: {error.strerror or error}") from error
    return report


def _write_figures(directory: Path, charts: Sequence[Shown]) -> None:
    directory.mkdir(exist_ok=True)
    for chart in charts:
        for suffix, content in (("svg", chart.drawing.svg), ("png", chart.drawing.png)):
            with atomic_path(directory / f"{chart.id}.{suffix}") as temporary:
                temporary.write_bytes(content)


def _claim_rows(judged: Sequence[Judged]) -> list[dict[str, str]]:
    return [
        {
            "id": item.claim.id,
            "part": item.claim.part,
            "claim": _unformatted(item.claim.statement),
            "family": finding.family,
            "verdict": finding.judgement.value,
            "measured": _unformatted(finding.measured),
            "rule": item.claim.rule,
        }
        for item in judged
        for finding in item.findings
    ]


def _unformatted(markup: Markup) -> str:
    return markup.striptags().replace("\u00a0", " ")
