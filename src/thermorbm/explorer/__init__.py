"""One HTML file in which the machines of a study run: real configurations, Gibbs chains, filters, figures.

build ──▶ content ──▶ datasets, machines ──▶ codec     what a run directory has to show
  ├──▶ fit                                             which of it fits into the page
  ├──▶ pictures                                        for browsers without JavaScript
  └──▶ templates                                       the page; machine.js has the chains
"""

from thermorbm.explorer.build import build_explorer

__all__ = ["build_explorer"]
