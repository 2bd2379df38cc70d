"""The report of a study: figures, tables, claims, one page. It draws what a run directory holds."""

from thermorbm.report.page import build

__all__ = ["build"]
