"""What a section of the report is: figures, tables and claims, and what comes of each in a run.

A figure, a table or a claim that lacks its data raises Missing and is left out with that reason. Any other
error is a mistake of the report itself: `attempt` puts it where the result would have stood, for all to see.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TypeVar

from markupsafe import Markup

from thermorbm.report.chart import Chart
from thermorbm.report.labels import Label, plain, text
from thermorbm.report.run import FamilyView, Missing, Run

Cell = Markup | str
Result = TypeVar("Result")


class Judgement(StrEnum):
    """What becomes of a claim. BROKEN: the report failed while it judged."""

    HOLDS = "holds"
    FAILS = "does not hold"
    INCONCLUSIVE = "inconclusive"
    UNTESTED = "not tested"
    BROKEN = "report failed"


@dataclass(frozen=True)
class Ruling:
    """What a check says of a claim in one family. measured: the numbers that decided."""

    judgement: Judgement
    measured: Markup


def undecided(template: str, *values: object) -> Ruling:
    """An answer that errors do not allow; `template` is markup of our own."""
    return Ruling(Judgement.INCONCLUSIVE, text(template, *values))


def compare(difference: float, error: float, template: str, *values: object) -> Ruling:
    """Yes if a difference is above 0 by three standard errors, no if it is below by as many, else neither."""
    if abs(difference) <= 3 * error:
        return undecided(template, *values)
    return decide(difference > 0, template, *values)


def decide(holds: bool, template: str, *values: object) -> Ruling:
    """An answer of yes or no, with what was measured; `template` is markup of our own."""
    return Ruling(Judgement.HOLDS if holds else Judgement.FAILS, text(template, *values))


Check = Callable[[FamilyView], Ruling]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and the rule by which `check` decides it in each family.

    part: the figure, table or passage that it belongs to. check raises Missing if the numbers are not there.
    dimension: the one that the paper speaks of, None for any. of_any_model: whether it is true of all
    Hamiltonians; the paper speaks of the ferromagnet.
    """

    id: str
    part: str
    statement: Markup
    rule: str
    check: Check
    dimension: int | None = None
    of_any_model: bool = False


@dataclass(frozen=True)
class PageTable:
    """caption: one line. note: what else is to be said. is_open: shown although it could be folded away.

    style: classes of the page's style sheet.
    """

    columns: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]
    caption: Cell = ""
    note: Cell = ""
    is_open: bool = False
    style: str = ""


Words = Callable[[Run], list[Markup]]
Tables = Callable[[Run], list[PageTable]]
FamilyTable = Callable[[FamilyView], PageTable]


def each_family(make: FamilyTable, of_data: bool = False) -> Tables:
    """One table for each family that has rows for it, with machines trained as the paper's apart from others.

    of_data: it is about configurations alone, and so the same for all machines.
    """

    def tables(run: Run) -> list[PageTable]:
        return [table for view in (run.families if of_data else run.views) if (table := make(view)).rows]

    return tables


@dataclass(frozen=True)
class RunFigure:
    """A figure of the whole study. draw gives its charts; their names begin with `id`."""

    id: str
    part: str
    title: str
    draw: Callable[..., Chart | list[Chart]]

    def attempts(self, run: Run) -> Iterator[list[Chart] | Gap]:
        yield attempt(self._name(run), partial(self._charts, run))

    def _name(self, run: Run) -> str:
        """What it is, with its part of the paper where a study has to do with that."""
        return f"{self.part}, {self.title}" if self.part and run.speaks_of_paper else self.title

    def _charts(self, run: Run) -> list[Chart]:
        return self._named(self.draw(run), "", plain(self.title))

    def _named(self, charts: Chart | list[Chart], suffix: str, title: Label) -> list[Chart]:
        several = charts if isinstance(charts, list) else [charts]
        return [
            replace(chart, id=self.id + suffix + chart.id, part=self.part, title=title + chart.title)
            for chart in several
        ]


@dataclass(frozen=True)
class FamilyFigure(RunFigure):
    """A figure of each family. of_data: its configurations alone, so that it is the same for all machines."""

    of_data: bool = False

    def attempts(self, run: Run) -> Iterator[list[Chart] | Gap]:
        for family in run.families if self.of_data else run.views:
            what = f"{self._name(run)} ({family.name})"
            result = attempt(what, partial(self._charts_of, family))
            if family.as_paper and isinstance(result, Gap) and not result.is_failure:
                continue  # what the paper's machines have no part in
            yield result

    def _charts_of(self, family: FamilyView) -> list[Chart]:
        return self._named(self.draw(family), f"-{family.name}", f"{self.title}: " + family.title)


Draw = TypeVar("Draw", bound=Callable[..., Chart | list[Chart]])


@dataclass(eq=False)
class Section:
    """One part of the page: sentences, figures, tables, and the claims that they bear out or not.

    A file makes one and adds its functions to it with the decorators below. What stands first in the file
    stands first on the page.
    """

    id: str
    title: str
    figures: list[RunFigure] = field(default_factory=list)
    tables: list[Tables] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    words: Words = lambda run: []

    def figure(self, id: str, part: str, title: str) -> Callable[[Draw], Draw]:
        """Adds the function below as a figure of the whole study."""
        return self._drawn_by(partial(RunFigure, id, part, title))

    def family_figure(self, id: str, part: str, title: str, of_data: bool = False) -> Callable[[Draw], Draw]:
        """Adds the function below as a figure of each family."""
        return self._drawn_by(partial(FamilyFigure, id, part, title, of_data=of_data))

    def _drawn_by(self, figure: Callable[..., RunFigure]) -> Callable[[Draw], Draw]:
        def add(draw: Draw) -> Draw:
            self.figures.append(figure(draw=draw))
            return draw

        return add

    def table(self, make: Tables) -> Tables:
        """Adds the tables that the function below makes of a run."""
        self.tables.append(make)
        return make

    def family_table(self, of_data: bool = False) -> Callable[[FamilyTable], FamilyTable]:
        """Adds a table for each family that has rows for it, see `each_family`."""

        def add(make: FamilyTable) -> FamilyTable:
            self.tables.append(each_family(make, of_data))
            return make

        return add

    def claim(
        self, id: str, part: str, statement: str, dimension: int | None = None, of_any_model: bool = False
    ) -> Callable[[Check], Claim]:
        """Makes the check below a claim, whose rule is the check's docstring. statement: with formulas."""

        def add(check: Check) -> Claim:
            rule = " ".join((check.__doc__ or "").split()).rstrip(".")
            item = Claim(id, part, Label(statement).html, rule, check, dimension, of_any_model)
            self.claims.append(item)
            return item

        return add

    def set_words(self, write: Words) -> Words:
        """The function below writes the sentences."""
        self.words = write
        return write

    def include(self, part: Section) -> None:
        """Adds what another file has for this section."""
        self.figures += part.figures
        self.tables += part.tables
        self.claims += part.claims


@dataclass(frozen=True)
class Gap:
    """A place of the report that stays empty. is_failure: because the report itself failed there."""

    what: str
    reason: str
    is_failure: bool = False


def attempt(what: str, make: Callable[[], Result]) -> Result | Gap:
    """What `make` gives, or the gap that it leaves."""
    try:
        return make()
    except Missing as missing:
        return Gap(what, str(missing))
    except Exception as error:  # shown in its place: the rest of the page is worth having
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}, line {place.lineno}"
        return Gap(what, f"{type(error).__name__}: {error} ({where})", is_failure=True)


def make_tables(section: Section, run: Run) -> tuple[list[PageTable], list[Gap]]:
    """The tables of a section, and what could not be made."""
    what = f"Tables of {section.title}"
    results = [attempt(what, partial(make, run)) for make in section.tables]
    tables = [table for result in results if not isinstance(result, Gap) for table in result]
    return tables, [result for result in results if isinstance(result, Gap)]


@dataclass(frozen=True)
class Finding:
    """family: its name, "" where none of the families can tell, all for one reason."""

    family: str
    judgement: Judgement
    measured: Markup


@dataclass(frozen=True)
class Judged:
    """A claim with a finding for every family, or with one for all."""

    claim: Claim
    findings: tuple[Finding, ...]


def judge(item: Claim, run: Run) -> Judged:
    """The claim in every family; one line if none can tell and all for the same reason.

    Machines trained as the paper's are judged apart, where they say anything of their own.
    """
    rulings: dict[str, Ruling] = {}
    for view in run.views:
        ruling = _ruling(item, view)
        is_new = ruling not in rulings.values() and ruling.judgement is not Judgement.UNTESTED
        if is_new or not view.as_paper:
            rulings[view.name] = ruling
    different = set(rulings.values()) or {Ruling(Judgement.UNTESTED, Markup("there are no data"))}
    (first, *others) = different
    if not others and first.judgement is Judgement.UNTESTED:
        return Judged(item, (Finding("", first.judgement, first.measured),))
    return Judged(item, tuple(Finding(name, a.judgement, a.measured) for name, a in rulings.items()))


def _ruling(item: Claim, family: FamilyView) -> Ruling:
    if item.dimension not in (None, family.results.dimension):
        reason = f"the paper says so in {item.dimension} dimensions alone"
        return Ruling(Judgement.UNTESTED, text("{}", reason))
    if not (family.results.is_ising or item.of_any_model):
        unknown = "whose Hamiltonian is not known" if family.results.model is None else "which are others"
        reason = f"the paper says so of the Ising ferromagnet, not of these configurations, {unknown}"
        return Ruling(Judgement.UNTESTED, text("{}", reason))
    ruling = attempt(item.id, partial(item.check, family))
    if isinstance(ruling, Gap):
        judgement = Judgement.BROKEN if ruling.is_failure else Judgement.UNTESTED
        return Ruling(judgement, text("{}", ruling.reason))
    return ruling


def judge_all(sections: Iterable[Section], run: Run) -> list[Judged]:
    """All claims in the order of the page."""
    return [judge(item, run) for section in sections for item in section.claims]
