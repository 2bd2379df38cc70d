"""Truth: exact results for the Ising model, H = -sum_<ij> s_i s_j with J = k_B = 1, on periodic lattices.

`onsager` is the infinite square lattice, `kaufman` the L x L torus, `energy_distribution` any torus in 2d and
`ring_energy_distribution` the ring, `cubic_series` and `cubic_magnetization` what is known in 3d.
`triangular`, `honeycomb` and `kagome` are infinite lattices with either sign of J, `critical_temperature` has
T_c of these. Any Hamiltonian of up to 20 spins is enumerated by `boltzmann`, any strip up to 25 spins wide
and torus up to 12 has its `transfer_matrix`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from thermorbm.exact.thermodynamics import KC_3D, TC_2D, TC_3D

if TYPE_CHECKING:
    from thermorbm.exact.critical import (
        TC_HONEYCOMB,
        TC_KAGOME,
        TC_TRIANGULAR,
        critical_temperature,
    )
    from thermorbm.exact.energies import (
        LARGEST_SIDE,
        EnergyDistribution,
        EnergyMoments,
        energy_distribution,
        ring_energy_distribution,
    )
    from thermorbm.exact.enumeration import (
        MOST_SPINS,
        Boltzmann,
        boltzmann,
        enumerate_states,
        enumerated_energy_distribution,
    )
    from thermorbm.exact.infinite import onsager
    from thermorbm.exact.ising_machine import ising_rbm
    from thermorbm.exact.planar import (
        bulk_energies,
        bulk_thermodynamics,
        honeycomb,
        kagome,
        triangular,
    )
    from thermorbm.exact.thermodynamics import (
        MagneticThermodynamics,
        Thermodynamics,
    )
    from thermorbm.exact.three_d import (
        cubic_magnetization,
        cubic_series,
    )
    from thermorbm.exact.torus import heat_capacity_peak, kaufman
    from thermorbm.exact.transfer import (
        transfer_energies,
        transfer_matrix,
        transfer_width,
    )

__all__ = [
    "KC_3D",
    "LARGEST_SIDE",
    "MOST_SPINS",
    "TC_2D",
    "TC_3D",
    "TC_HONEYCOMB",
    "TC_KAGOME",
    "TC_TRIANGULAR",
    "Boltzmann",
    "EnergyDistribution",
    "EnergyMoments",
    "MagneticThermodynamics",
    "Thermodynamics",
    "boltzmann",
    "bulk_energies",
    "bulk_thermodynamics",
    "critical_temperature",
    "cubic_magnetization",
    "cubic_series",
    "energy_distribution",
    "enumerate_states",
    "enumerated_energy_distribution",
    "heat_capacity_peak",
    "honeycomb",
    "ising_rbm",
    "kagome",
    "kaufman",
    "onsager",
    "ring_energy_distribution",
    "transfer_energies",
    "transfer_matrix",
    "transfer_width",
    "triangular",
]

# Imported on first use: who only wants T_c does not wait for scipy and numba.
_HOMES = {
    "critical": ("TC_HONEYCOMB", "TC_KAGOME", "TC_TRIANGULAR", "critical_temperature"),
    "energies": (
        "EnergyDistribution",
        "EnergyMoments",
        "LARGEST_SIDE",
        "energy_distribution",
        "ring_energy_distribution",
    ),
    "enumeration": (
        "Boltzmann",
        "MOST_SPINS",
        "boltzmann",
        "enumerate_states",
        "enumerated_energy_distribution",
    ),
    "infinite": ("onsager",),
    "ising_machine": ("ising_rbm",),
    "planar": ("bulk_energies", "bulk_thermodynamics", "honeycomb", "kagome", "triangular"),
    "thermodynamics": ("MagneticThermodynamics", "Thermodynamics"),
    "three_d": ("cubic_magnetization", "cubic_series"),
    "torus": ("heat_capacity_peak", "kaufman"),
    "transfer": ("transfer_energies", "transfer_matrix", "transfer_width"),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"thermorbm.exact.{module}"), name)
    raise AttributeError(f"module 'thermorbm.exact' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
