"""Every figure of the report, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from thermorbm.report import (
    certificates,
    critical,
    energy,
    entropy,
    extrapolation,
    generation,
    hidden,
    machine,
    overview,
    remarks,
    supplement,
    symmetric,
    thermodynamics,
    union,
    weights,
)
from thermorbm.report.chart import Chart
from thermorbm.report.run import Family, Missing, Run

PerFamily = Callable[[Family], Chart | list[Chart]]
PerRun = Callable[[Run], Chart | list[Chart]]


@dataclass(frozen=True)
class Entry:
    """A figure that the report has, or says why not. Exactly one of the functions is given."""

    part: str
    title: str
    section: str
    per_family: PerFamily | None = None
    per_run: PerRun | None = None


@dataclass(frozen=True)
class LeftOut:
    """A figure that cannot be drawn. reasons: by the name of the family, "" for the whole study."""

    part: str
    title: str
    section: str
    reasons: dict[str, str]


SECTIONS = {
    "machine": "The machine",
    "data": "The configurations",
    "weights": "Filters and inverse filters",
    "hidden": "Hidden layer",
    "generation": "Generated configurations",
    "energy": "Visible energy",
    "entropy": "Pseudo-likelihood and entropy",
    "critical": "Critical temperature",
    "symmetric": "Machines that know the lattice",
    "supplement": "Supplement and side remarks",
}

# Shown in the summary, before all sections.
SUMMARY = "summary"

FIGURES = (
    Entry("", "At a glance", SUMMARY, per_run=overview.overview),
    Entry("Fig. 1", "The machine", "machine", per_run=machine.figure_1),
    Entry("App. A", "Thermodynamics", "data", thermodynamics.appendix_a),
    Entry("Data", "Certificates", "data", certificates.certificate_figure),
    Entry("Fig. 2", "Couplings and biases", "weights", weights.figure_2),
    Entry("Fig. 3a", "Filters", "weights", weights.figure_3a),
    Entry("Fig. 3b", "Filter sums", "weights", weights.figure_3b),
    Entry("Fig. 3c", "Inverse-filter sums", "weights", weights.figure_3c),
    Entry("Fig. 4a", "Filters of all-temperature machines", "weights", union.figure_4a),
    Entry("Fig. 4b, c", "Weights of all-temperature machines", "weights", union.figure_4bc),
    Entry("Tab. 1", "Sign rule", "hidden", hidden.table_1),
    Entry("Fig. 5", "Hidden magnetisation", "hidden", hidden.figure_5),
    Entry("Fig. 6", "Generated configurations", "generation", generation.figure_6),
    Entry("Text", "Chains from two starts", "generation", generation.relaxation),
    Entry("Fig. 7", "Visible energy", "energy", per_run=energy.figure_7),
    Entry("Fig. 8", "Pseudo-likelihood and entropy", "entropy", per_run=entropy.figure_8),
    Entry("Supp.", "Estimated heat capacity", "entropy", per_run=entropy.heat_capacities),
    Entry("Tab. 2", "Critical temperature", "critical", critical.forest),
    Entry("Beyond", "The infinite lattice", "critical", per_run=extrapolation.figures),
    Entry("Symmetric", "Filters shared by all sites", "symmetric", symmetric.filters),
    Entry("Symmetric", "Learned couplings", "symmetric", symmetric.couplings),
    Entry("Symmetric", "Entropy from symmetric machines", "symmetric", symmetric.entropy),
    Entry("Supp.", "Training curves", "supplement", supplement.training_curves),
    Entry("Supp.", "Machines without biases", "supplement", supplement.zero_bias),
    Entry("Supp.", "Variance of filter sums", "supplement", per_run=weights.filter_sum_variance),
    Entry("Supp.", "Inverse-filter correlation", "supplement", weights.fixed_distance),
    Entry("Supp.", "Reconstruction error", "supplement", supplement.reconstruction_errors),
    Entry("Text", "Unequal signs", "supplement", remarks.unequal_signs),
    Entry("Text", "Other proportions of temperatures", "supplement", remarks.other_proportions),
    Entry("Supp.", "All filters", "supplement", supplement.all_filters),
)


def draw(run: Run, entry: Entry) -> Iterator[Chart | LeftOut]:
    """The charts of one entry; what cannot be drawn for lack of data is told at the end."""
    reasons: dict[str, str] = {}
    if entry.per_run is not None:
        yield from _attempt(lambda: entry.per_run(run), "", reasons)  # type: ignore[misc]
    for family in run.families if entry.per_family is not None else []:
        yield from _attempt(lambda family=family: entry.per_family(family), family.name, reasons)  # type: ignore[misc]
    if reasons:
        yield LeftOut(entry.part, entry.title, entry.section, reasons)


def _attempt(
    function: Callable[[], Chart | list[Chart]], name: str, reasons: dict[str, str]
) -> Sequence[Chart]:
    try:
        found = function()
    except Missing as missing:
        reasons[name] = str(missing)
        return []
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        # Results of a failed or older task; the rest of the report is worth having.
        reasons[name] = f"the results are not as expected ({type(error).__name__}: {error})"
        return []
    return found if isinstance(found, list) else [found]
