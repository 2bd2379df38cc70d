"""Couplings from configurations: by pseudo-likelihood, by likelihood, and which of them data ask for."""

from thermorbm.inverse_ising.likelihood import fitted_hamiltonian, likelihood_step
from thermorbm.inverse_ising.pseudo_likelihood import (
    FIELD,
    InferredCouplings,
    Label,
    infer_couplings,
    label_of,
    tied_where_unknown,
)
from thermorbm.inverse_ising.selection import asked_products, grid_of, is_magnetized

__all__ = [
    "FIELD",
    "InferredCouplings",
    "Label",
    "asked_products",
    "fitted_hamiltonian",
    "grid_of",
    "infer_couplings",
    "is_magnetized",
    "label_of",
    "likelihood_step",
    "tied_where_unknown",
]
