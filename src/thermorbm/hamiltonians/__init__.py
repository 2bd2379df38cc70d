"""Hamiltonians of two-state spins: the one home of every coupling."""

from thermorbm.hamiltonians.energy import Hamiltonian, as_hamiltonian
from thermorbm.hamiltonians.named import NAMES, hamiltonian
from thermorbm.hamiltonians.orders import order_overlaps

__all__ = ["NAMES", "Hamiltonian", "as_hamiltonian", "hamiltonian", "order_overlaps"]
