"""One HTML file in which the machines of a study run: real configurations, Gibbs chains, filters, figures."""

from thermorbm.explorer.build import build_explorer

__all__ = ["build_explorer"]
