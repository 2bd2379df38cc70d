"""From measured arrays to physics: thermal averages, entropy by integration, derivatives, T_c with errors."""

from thermorbm.estimators.critical import CriticalPoint, heat_peak, peak, steepest
from thermorbm.estimators.extrapolation import InfiniteLattice, extrapolate
from thermorbm.estimators.histograms import Measurements, histograms
from thermorbm.estimators.integration import (
    ColdEnd,
    HotEnd,
    IntegratedEntropy,
    exact_hot_end,
    infinite_temperature,
    integrate_entropy,
    integration_grid,
    ordered_ground_state,
)
from thermorbm.estimators.reweighted_peak import observable_peak, reweighted_peak
from thermorbm.estimators.reweighting import GroundStates, KnownEntropy, Reweighting, ThermalCurves
from thermorbm.estimators.scaling import BinderCrossing, ScalingFit, binder_crossing, scaling_fit
from thermorbm.estimators.smoothing import FittedCurve
from thermorbm.estimators.thermal import (
    EnergyAverages,
    MagneticAverages,
    energy_averages,
    magnetic_averages,
    mean_over_seeds,
)

__all__ = [
    "BinderCrossing",
    "ColdEnd",
    "CriticalPoint",
    "EnergyAverages",
    "FittedCurve",
    "GroundStates",
    "HotEnd",
    "InfiniteLattice",
    "IntegratedEntropy",
    "KnownEntropy",
    "MagneticAverages",
    "Measurements",
    "Reweighting",
    "ScalingFit",
    "ThermalCurves",
    "binder_crossing",
    "energy_averages",
    "exact_hot_end",
    "extrapolate",
    "heat_peak",
    "histograms",
    "infinite_temperature",
    "integrate_entropy",
    "integration_grid",
    "magnetic_averages",
    "mean_over_seeds",
    "observable_peak",
    "ordered_ground_state",
    "peak",
    "reweighted_peak",
    "scaling_fit",
    "steepest",
]
