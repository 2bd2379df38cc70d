"""What finite-size scaling found, as typed values: a part of `results.json` (see `results`)."""

from __future__ import annotations

from dataclasses import dataclass

from thermorbm.stats import Estimate


@dataclass(frozen=True)
class Crossing:
    """Where U4 of two lattices is the same."""

    sides: tuple[int, ...]
    temperature: Estimate
    binder: Estimate


@dataclass(frozen=True)
class Exponents:
    """T_c, U4 at T_c and exponents of the infinite lattice; chi_squared of U4 about its fit."""

    temperature: Estimate
    nu: Estimate
    binder: Estimate
    beta_over_nu: Estimate
    gamma_over_nu: Estimate
    beta: Estimate
    gamma: Estimate
    chi_squared: float
    n_degrees: int


@dataclass(frozen=True)
class KnownExponents:
    """The same from elsewhere, without errors."""

    temperature: float
    nu: float
    binder: float
    beta_over_nu: float
    gamma_over_nu: float


@dataclass(frozen=True)
class Scaling:
    """Finite-size scaling of the configurations of families on lattices of several sides.

    omega: the exponent of corrections. fit: None where it was not made, and problem says why. crossings: of
    neighbouring sides. known: None where nothing is. file: of U4, <|m|> and N <m^2> over the temperature.
    """

    name: str
    families: tuple[str, ...]
    sides: tuple[int, ...]
    omega: float
    fit: Exponents | None = None
    problem: str | None = None
    crossings: tuple[Crossing, ...] = ()
    known: KnownExponents | None = None
    file: str | None = None
