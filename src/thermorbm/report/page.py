"""From a run directory to `report.html`, one file that needs nothing else, and `figures/`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from thermorbm.errors import FileError
from thermorbm.report.drawing import Shown, draw_all
from thermorbm.report.labels import (
    ENTROPY,
    HEAT_CAPACITY,
    N_HIDDEN,
    PSEUDO_ENTROPY,
    PSEUDO_LIKELIHOOD,
    UPPER_EDGE,
    Label,
    text,
)
from thermorbm.report.opening import opening_cards
from thermorbm.report.run import Run, read_run
from thermorbm.report.section import (
    Gap,
    Judged,
    Judgement,
    PageTable,
    RunFigure,
    Section,
    attempt,
    judge_all,
    make_tables,
)
from thermorbm.report.sections import SECTIONS, SUMMARY, all_figures
from thermorbm.report.sections.summary import write_lead
from thermorbm.report.style import DPI
from thermorbm.storage import atomic_path, write_csv

MACHINE = (
    ("$v_j$, $h_i$", "visible and hidden units, ±1; the visible ones are the spins of a configuration"),
    ("$N$, $n_v$", "number of spins"),
    (N_HIDDEN.tex, "number of hidden units of a machine"),
    ("$W_{ij}$", "weight between hidden unit $i$ and spin $j$; those of a hidden unit are its filter, those "
     "of a spin its inverse filter"),
    ("$b_j$, $c_i$", "biases, the fields on visible and on hidden units"),
    (r"$\mathcal{E}_\theta$", "visible energy: −ln of the weight that a machine gives a configuration"),
    (r"$\mathcal{E}_W$", "the same without biases"),
    ("ln $Z$", "logarithm of a machine's partition function"),
    ("NLL", "negative log-likelihood of held-out configurations, in nats"),
    (PSEUDO_LIKELIHOOD.tex, "pseudo-likelihood: −ln of the probability of a spin given all others, summed "
     "over spins; low is good"),
    (ENTROPY.tex, "entropy of the configurations, in nats"),
    (UPPER_EDGE.tex, "upper edge of the entropy, a bound from a machine and held-out configurations"),
    ("$m$, $m_h$", "mean of the spins of a configuration, and of a hidden layer"),
    ("$p_h$", "share of hidden units that point the way their filters ask for"),
    ("2.269(12)", "a value with one standard error in units of its last digits: 2.269 ± 0.012"),
)  # fmt: skip
UNKNOWN = (
    ("$J(r)$", "coupling of two spins at distance $r$ in −ln of the probability that a machine learned"),
)
ISING = (
    (PSEUDO_ENTROPY.tex, "pseudo-entropy: the pseudo-likelihood of the true model, never above the entropy"),
    (HEAT_CAPACITY.tex, "heat capacity"),
    (r"$J(r)\,T$", "coupling at distance $r$ that a machine learned, in units of the true one: 1 for "
     "neighbours"),
)  # fmt: skip
TALLY = {
    Judgement.HOLDS: "holds",
    Judgement.FAILS: "does not hold",
    Judgement.INCONCLUSIVE: "is inconclusive",
    Judgement.UNTESTED: "was not tested",
    Judgement.BROKEN: "made the report fail",
}

Drawn = Mapping[RunFigure, Sequence[Shown | Gap]]


def symbol_rows(run: Run) -> list[tuple[Markup, Markup]]:
    """(symbol, meaning) of what this page speaks of."""
    control = run.results.study.control
    rows = [
        (run.control_label.html, text("{}, the parameter that is varied", control.name)),
        (run.critical_symbol.html, text("{} of the transition", control.name)),
    ]
    letters = (*MACHINE, *(ISING if run.speaks_of_paper else UNKNOWN))
    return [*rows, *((Label(symbol).html, Label(meaning).html) for symbol, meaning in letters)]


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
        for name in ("figures", "tables"):
            (run.path / name).mkdir(exist_ok=True)
        for chart in (item for items in drawn.values() for item in items if isinstance(item, Shown)):
            for suffix, content in (("svg", chart.drawing.svg), ("png", chart.drawing.png)):
                with atomic_path(run.path / "figures" / f"{chart.id}.{suffix}") as temporary:
                    temporary.write_bytes(content)
        write_csv(run.path / "tables" / "claims.csv", _claim_rows(judged))
        with atomic_path(report) as temporary:
            temporary.write_text(page, encoding="utf-8", errors="replace")
    except FileError:
        raise
    except OSError as error:
        raise FileError(report, f"cannot be written: {error.strerror or error}") from error
    return report


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


@dataclass(frozen=True, eq=False)
class SectionContent:
    """What a section has to show in one run. gaps: what it has not, and why."""

    section: Section
    words: Sequence[Markup]
    charts: Sequence[Shown]
    tables: Sequence[PageTable]
    gaps: Sequence[Gap]

    @property
    def left_out(self) -> list[Gap]:
        """What lacks its numbers."""
        return [gap for gap in self.gaps if not gap.is_failure]

    @property
    def about(self) -> str:
        """How much there is: 3 figures, 1 table."""
        counts = (("figure", len(self.charts)), ("table", len(self.tables)))
        return ", ".join(f"{n} {name}{'s' if n > 1 else ''}" for name, n in counts if n)

    @property
    def has_something(self) -> bool:
        """Whether there is more than reasons why there is nothing."""
        failed = len(self.gaps) > len(self.left_out)
        return bool(self.words or self.charts or self.tables or failed)


def make_page(run: Run, drawn: Drawn, judged: Sequence[Judged]) -> str:
    """The page as text."""
    summary, *contents = (_content(section, run, drawn) for section in (SUMMARY, *SECTIONS))
    cards = opening_cards(run, judged)
    gaps = [
        *(card.gap for card in cards if card.gap),
        *(g for part in (summary, *contents) for g in part.gaps),
    ]
    charts = [chart for content in (summary, *contents) for chart in content.charts]
    panels: dict[str, Any] = {}
    for curves in (*(card.curves for card in cards), *(chart.curves for chart in charts)):
        panels |= curves.numbers
    environment = Environment(
        loader=PackageLoader("thermorbm.report"), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("report.html").render(
        study=run.results.study,
        title=run.results.study.title or f"Study {run.results.study.name}",
        lead=write_lead(run),
        summary=summary,
        cards=cards,
        failures=_failure_words([gap for gap in gaps if gap.is_failure], judged),
        symbols=symbol_rows(run),
        tally=_tally(judged),
        claims=judged,
        of_paper=run.speaks_of_paper,
        section_of={claim.id: section.id for section in SECTIONS for claim in section.claims},
        contents=[content for content in contents if content.has_something],
        others=[content for content in contents if not content.has_something and content.gaps],
        version=version("thermorbm"),
        dpi=DPI,
        style=Markup(_resource("report.css")),
        script=Markup(_resource("report.js")),
        panel_data=Markup(script_json(panels)),
    )


def _content(section: Section, run: Run, drawn: Drawn) -> SectionContent:
    items = [item for figure in section.figures for item in drawn[figure]]
    tables, gaps = make_tables(section, run)
    charts = [item for item in items if isinstance(item, Shown)]
    gaps = [*(item for item in items if isinstance(item, Gap)), *gaps]
    words = attempt(section.title, partial(section.words, run))
    if isinstance(words, Gap):
        return SectionContent(section, [], charts, tables, [*gaps, words])
    return SectionContent(section, words, charts, tables, gaps)


def _failure_words(gaps: Sequence[Gap], judged: Sequence[Judged]) -> Markup:
    """Names every place where the report itself failed; empty if there is none."""
    places = [gap.what for gap in gaps]
    places += [
        f"claim {item.claim.id} ({finding.family})"
        for item in judged
        for finding in item.findings
        if finding.judgement is Judgement.BROKEN
    ]
    if not places:
        return Markup("")
    number = "1 place" if len(places) == 1 else f"{len(places)} places"
    words = "The report itself failed in {}, which is a mistake of the program: {}. Each is marked below."
    return text(words, number, "; ".join(places))


def _tally(judged: Sequence[Judged]) -> str:
    counts = Counter(finding.judgement for item in judged for finding in item.findings)
    words = [f"{said} in {counts[judgement]}" for judgement, said in TALLY.items() if counts[judgement]]
    return (
        f"{len(judged)} claims are judged by fixed rules on the numbers of this study, family by family. Of "
        f"these {counts.total()} cases a claim {', '.join(words)}. A verdict is about this study: its "
        "lattices, machines and training."
    )


def _resource(name: str) -> str:
    return (files("thermorbm.report") / "templates" / name).read_text(encoding="utf-8")


def script_json(value: Any) -> str:
    """JSON that may stand inside a script element, whatever texts it holds."""
    letters = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return letters.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
