"""Which algorithm suits a Hamiltonian, and which temperatures share a ladder; brings no compiler with it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from thermorbm.errors import InputError, unknown_name
from thermorbm.hamiltonians import Hamiltonian
from thermorbm.sampling.starts import RARE, reversed_weight, transition

METHODS = ("auto", "metropolis", "swendsen-wang", "wolff", "tempering")
CLUSTERS = ("swendsen-wang", "wolff")


def choose_method(hamiltonian: Hamiltonian, temperature: float, method: str) -> str:
    """What "auto" stands for; InputError where an algorithm cannot sample this Hamiltonian."""
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if method in CLUSTERS:
        _check_clusters(hamiltonian, method)
    if method != "auto":
        return method
    if hamiltonian.frustrated:
        return "tempering"
    # A phase against the field that is metastable but not rare is out of reach of single flips.
    against = reversed_weight(hamiltonian, temperature) > RARE and temperature <= transition(hamiltonian)
    return "tempering" if against else "metropolis"


def _check_clusters(hamiltonian: Hamiltonian, method: str) -> None:
    if hamiltonian.no_clusters:
        raise InputError("method", method, "'metropolis' or 'tempering' here", hamiltonian.no_clusters)


def sharing_ladder(hamiltonian: Hamiltonian, temperatures: Sequence[float], method: str) -> list[float]:
    """Those that are sampled by one ladder; the others, and one alone, have chains of their own."""
    hottest = hot_temperature(hamiltonian)
    tempered = [
        T for T in temperatures if hottest > T and choose_method(hamiltonian, T, method) == "tempering"
    ]
    return tempered if len(tempered) > 1 else []


def hot_temperature(hamiltonian: Hamiltonian) -> float:
    """Twice the root of the sum of J^2 over the terms of a site: above all ordering, and all glassiness."""
    squares = hamiltonian.field**2
    for terms in hamiltonian.terms:
        np.add.at(squares, terms.sites, (terms.couplings**2)[:, None])
    return 2 * math.sqrt(float(squares.max()))
