"""The report, section by section: each file has the figures, tables and claims of one part of the page."""

from __future__ import annotations

from thermorbm.report.section import RunFigure, Section
from thermorbm.report.sections import (
    critical,
    data,
    energy,
    entropy,
    generation,
    hidden,
    methods,
    models,
    scaling,
    summary,
    supplement,
    symmetric,
    weights,
)

SUMMARY = summary.SECTION
# In the order of the page, what was learned first; the claims of the paper stand before these.
SECTIONS: tuple[Section, ...] = (
    critical.SECTION,
    scaling.SECTION,
    entropy.SECTION,
    models.SECTION,
    symmetric.SECTION,
    weights.SECTION,
    hidden.SECTION,
    generation.SECTION,
    energy.SECTION,
    supplement.SECTION,
    methods.SECTION,
    data.SECTION,
    methods.METHODS,
    data.CERTIFICATES,
    methods.MACHINES,
    methods.PROVENANCE,
)


def all_figures() -> list[RunFigure]:
    """Every figure of the report, in order."""
    return [figure for section in (SUMMARY, *SECTIONS) for figure in section.figures]
