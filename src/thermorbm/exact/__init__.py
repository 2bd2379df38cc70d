"""Truth: exact results for the Ising model, H = -sum_<ij> s_i s_j with J = k_B = 1, on periodic lattices.

`onsager` is the infinite square lattice, `kaufman` the L x L torus, `energy_distribution` any torus in 2d and
`ring_energy_distribution` the ring, `cubic_series` and `cubic_magnetization` what is known in 3d.
`triangular`, `honeycomb` and `kagome` are infinite lattices with either sign of J, `critical_temperature` has
T_c of these. Any Hamiltonian of up to 20 spins is enumerated by `boltzmann`, any strip up to 25 spins wide
and torus up to 12 has its `transfer_matrix`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from thermorbm.exact.thermodynamics import KC_3D as KC_3D, TC_2D as TC_2D, TC_3D as TC_3D

if TYPE_CHECKING:
    from thermorbm.exact.critical import (
        TC_HONEYCOMB as TC_HONEYCOMB,
        TC_KAGOME as TC_KAGOME,
        TC_TRIANGULAR as TC_TRIANGULAR,
        critical_temperature as critical_temperature,
    )
    from thermorbm.exact.energies import (
        LARGEST_SIDE as LARGEST_SIDE,
        EnergyDistribution as EnergyDistribution,
        EnergyMoments as EnergyMoments,
        energy_distribution as energy_distribution,
        ring_energy_distribution as ring_energy_distribution,
    )
    from thermorbm.exact.enumeration import (
        MOST_SPINS as MOST_SPINS,
        Boltzmann as Boltzmann,
        boltzmann as boltzmann,
        enumerate_states as enumerate_states,
        enumerated_energy_distribution as enumerated_energy_distribution,
    )
    from thermorbm.exact.infinite import onsager as onsager
    from thermorbm.exact.ising_machine import ising_rbm as ising_rbm
    from thermorbm.exact.planar import (
        bulk_energies as bulk_energies,
        bulk_thermodynamics as bulk_thermodynamics,
        honeycomb as honeycomb,
        kagome as kagome,
        triangular as triangular,
    )
    from thermorbm.exact.thermodynamics import (
        MagneticThermodynamics as MagneticThermodynamics,
        Thermodynamics as Thermodynamics,
    )
    from thermorbm.exact.three_d import (
        cubic_magnetization as cubic_magnetization,
        cubic_series as cubic_series,
    )
    from thermorbm.exact.torus import heat_capacity_peak as heat_capacity_peak, kaufman as kaufman
    from thermorbm.exact.transfer import (
        transfer_energies as transfer_energies,
        transfer_matrix as transfer_matrix,
        transfer_width as transfer_width,
    )

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
    return sorted(["KC_3D", "TC_2D", "TC_3D", *(name for names in _HOMES.values() for name in names)])
