"""Machines of two layers of +-1 units: energies, conditionals, Gibbs chains, likelihoods, files."""

from thermorbm.model.dense import RBM as RBM
from thermorbm.model.files import load_machine as load_machine
from thermorbm.model.machine import Machine as Machine
from thermorbm.model.partition import LogPartition as LogPartition
from thermorbm.model.random_units import (
    generator_state as generator_state,
    mean_units as mean_units,
    sample_units as sample_units,
)
from thermorbm.model.symmetric import SymmetricRBM as SymmetricRBM
