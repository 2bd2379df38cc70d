"""A study as plain data: families of configurations, and variants of machines trained on them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from thermorbm.checks import (
    check_count,
    check_counts,
    check_distinct,
    check_member,
    check_name,
    check_rising,
    check_seed,
    check_temperatures,
)
from thermorbm.errors import InputError
from thermorbm.hamiltonians import Hamiltonian, as_hamiltonian
from thermorbm.lattice import Lattice
from thermorbm.sampling.choice import CLUSTERS, METHODS
from thermorbm.sampling.sectors import check_sector as check_sector_of
from thermorbm.study.named import NamedHamiltonian, has_square_symmetry, infinite_critical_temperature

PARTS = (
    "thermal",
    "weights",
    "likelihood",
    "visible-energy",
    "hidden",
    "generation",
    "quality",
    "bracket",
    "entropy",
    "critical",
)
PRECISIONS = ("fp32", "bf16")
DEVICES = ("cpu", "cuda")
HAMILTONIANS = ("ising", "unknown")

Sector = str | float


@dataclass(frozen=True)
class Control:
    """What is varied between datasets; the temperature in units of J/k_B unless a study says otherwise."""

    name: str = "temperature"
    symbol: str = "T"
    unit: str = "J/k_B"

    @property
    def is_temperature(self) -> bool:
        return self.name == "temperature"

    def at(self, value: float) -> str:
        """A value in the name of a task: T2.25."""
        return f"{'T' if self.is_temperature else 'x'}{value:.10g}"


@dataclass(frozen=True)
class Variant:
    """Machines that are alike but for temperature, size and seed.

    hidden: numbers of hidden units, one dense machine each. filters: numbers of filters of side `kernel`, one
    symmetric machine each; a variant has one of the two. point_group: filters in all turns and reflections.
    recipe, changes: how to train, and which fields of the recipe are set otherwise. size_changes,
    value_changes: the same for single numbers of hidden units and single temperatures, in this order:
    machines near T_c may need a smaller rate and stay in one curve with the others. seeds: machines per
    temperature and size, from different seeds. temperatures: some of the family's, None for all. sector: of
    the configurations, "symmetric", "positive" or the fraction with m > 0. union: one machine for all
    temperatures together, `proportions` says how many configurations each contributes, relative to the
    largest. samples: training configurations per temperature, None for all. as_paper: trained as the paper's
    machines were; the report judges the paper's claims on them beside those of the others. precision: of the
    matrix products in training, None for the study's. parts: what is read from them, None for all that the
    family asks for.
    """

    name: str = "main"
    hidden: tuple[int, ...] = ()
    filters: tuple[int, ...] = ()
    kernel: int = 3
    point_group: bool = False
    recipe: str = "fast"
    changes: Mapping[str, Any] = field(default_factory=dict)
    size_changes: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    value_changes: Mapping[float, Mapping[str, Any]] = field(default_factory=dict)
    seeds: int = 1
    temperatures: tuple[float, ...] | None = None
    sector: Sector = "symmetric"
    union: bool = False
    proportions: tuple[float, ...] | None = None
    samples: int | None = None
    as_paper: bool = False
    precision: str | None = None
    parts: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        check_name("name", self.name)
        if self.precision is not None:
            check_member("precision", self.precision, (*PRECISIONS, "int8"))
        for part in self.parts or ():
            check_member("parts", part, PARTS)
        check_counts("hidden", self.hidden)
        check_counts("filters", self.filters)
        check_count("kernel", self.kernel)
        for n_hidden in self.size_changes:
            if n_hidden not in self.hidden:
                raise InputError("size_changes", n_hidden, f"for sizes of this variant, {list(self.hidden)}")
        if self.value_changes and self.union:
            raise InputError("value_changes", list(self.value_changes), "absent where union = true")
        if self.filters and self.union:
            raise InputError("union", True, "false for symmetric machines", "they are for one temperature")
        check_count("seeds", self.seeds)
        if self.samples is not None:
            check_count("samples", self.samples)
        check_sector("sector", self.sector)
        if self.temperatures is not None:
            check_rising("temperatures", self.temperatures)
        if self.proportions is not None:
            self._check_proportions(self.proportions)

    def _check_proportions(self, proportions: tuple[float, ...]) -> None:
        if not self.union:
            raise InputError("proportions", list(proportions), "absent unless union = true")
        if not all(0 <= p < math.inf for p in proportions) or not any(proportions):
            raise InputError("proportions", list(proportions), "numbers >= 0, not all 0")


@dataclass(frozen=True)
class EnergyGrid:
    """Temperatures at which only energies are measured, for thermodynamic integration."""

    temperatures: tuple[float, ...]
    samples: int

    def __post_init__(self) -> None:
        check_temperatures("temperatures", self.temperatures)
        check_count("samples", self.samples, least=2)


@dataclass(frozen=True)
class DataFile:
    """Users' configurations at one value of the control parameter, or at several given by an array.

    files: joined in order. value: of the control parameter; None if `parameter_array`, which holds one value
    per configuration, or a dataset of thermorbm itself says it. array: the name of the configurations in
    files that hold several arrays.
    """

    files: tuple[Path, ...]
    value: float | None = None
    parameter_array: str | None = None
    array: str | None = None
    family: str | None = None

    def __post_init__(self) -> None:
        if not self.files:
            raise InputError("file", [], "one or more file names")
        if self.value is not None and not math.isfinite(self.value):
            raise InputError("temperature", self.value, "a finite number")
        if self.value is not None and self.parameter_array is not None:
            raise InputError("parameter_array", self.parameter_array, "absent where a value is given")


@dataclass(frozen=True)
class Family:
    """Configurations on one lattice at several temperatures, and the machines trained on them.

    shape: sides of the lattice in cells, None if users' data have none. named: the Hamiltonian, None for the
    ferromagnet or an unknown one; `hamiltonian` is then its name. temperatures: those to sample, empty for
    users' data. samples: training configurations per temperature. held_out: further ones that training
    does not see; None for a tenth. all_filters: temperatures at which every filter is kept for the report.
    """

    name: str
    shape: tuple[int, ...] | None = None
    temperatures: tuple[float, ...] = ()
    samples: int = 0
    held_out: int | None = None
    method: str = "metropolis"
    hamiltonian: str = "ising"
    variants: tuple[Variant, ...] = ()
    energies: EnergyGrid | None = None
    data: tuple[DataFile, ...] = ()
    all_filters: tuple[float, ...] = ()
    parts: tuple[str, ...] = PARTS
    named: NamedHamiltonian | None = None

    def __post_init__(self) -> None:
        check_name("name", self.name)
        if self.shape is not None:
            Lattice(self.shape)
        check_member("method", self.method, METHODS)
        if self.named is None:
            check_member("hamiltonian", self.hamiltonian, HAMILTONIANS)
        if self.method in CLUSTERS and self.model is not None and self.model.no_clusters:
            raise InputError("method", self.method, "'auto' here", self.model.no_clusters)
        for part in self.parts:
            check_member("parts", part, PARTS)
        if self.held_out is not None:
            check_count("held_out", self.held_out, least=2)
        check_distinct("variant names", [variant.name for variant in self.variants])
        for variant in self.variants:
            self._check_symmetric(variant)
        if self.data:
            self._check_imported()
        else:
            self._check_sampled()

    @cached_property
    def model(self) -> Hamiltonian | None:
        """H of the configurations, None where it is not known."""
        if self.named is not None:
            return self.named.of(self.shape)
        is_ising = self.hamiltonian == "ising" and self.shape is not None
        return as_hamiltonian(Lattice(self.shape)) if is_ising and self.shape is not None else None

    @property
    def lattice(self) -> Lattice | None:
        """The grid of the sites, None where cells have several or there is none."""
        if self.named is not None:
            return None if self.model is None else self.model.lattice
        return None if self.shape is None else Lattice(self.shape)

    @property
    def critical_temperature(self) -> float | None:
        """T_c of the infinite lattice, None where it is not known."""
        is_known = self.named is not None or self.hamiltonian == "ising"
        return infinite_critical_temperature(self.named, self.shape) if is_known else None

    @property
    def n_sites(self) -> int | None:
        if self.named is not None and self.model is not None:
            return self.model.n_sites
        return None if self.lattice is None else self.lattice.n_sites

    def _check_symmetric(self, variant: Variant) -> None:
        if not variant.filters:
            return
        if self.named is not None and self.model is not None:
            _check_uniform(self.model, variant)
        if self.shape is None:
            raise InputError("shape", None, "the sides of the periodic lattice", "symmetric machines need it")
        if variant.kernel > min(self.shape):
            key = f"variant.{variant.name}.kernel"
            raise InputError(
                key, variant.kernel, f"at most the shortest side of the lattice, {min(self.shape)}"
            )

    def _check_sampled(self) -> None:
        if self.shape is None and self.named is None:
            raise InputError("shape", None, "the sides of the lattice", "for example [64, 64]")
        check_temperatures("temperatures", self.temperatures)
        check_count("samples", self.samples, least=2)
        for variant in self.variants:
            if self.named is not None and self.model is not None:
                check_sector_of(self.model, variant.sector)
            place = f"variant.{variant.name}"
            check_subset(f"{place}.temperatures", variant.temperatures or (), self.temperatures)
            check_subset(f"{place}.value_changes", tuple(variant.value_changes), self.temperatures)
        check_subset("all_filters", self.all_filters, self.temperatures)

    def _check_imported(self) -> None:
        for name, given in (("temperatures", self.temperatures), ("samples", self.samples)):
            if given:
                raise InputError(name, given, "absent in a family whose configurations come from [[data]]")
        if self.energies is not None:
            raise InputError(
                "energies", "a table", "absent in a family whose configurations come from [[data]]"
            )
        for variant in self.variants:
            if variant.sector != "symmetric":
                raise InputError(f"variant.{variant.name}.sector", variant.sector, "absent for users' data")


@dataclass(frozen=True)
class Extrapolation:
    """Families on lattices of several sides, whose critical temperatures tell that of the infinite lattice.

    nu: the exponent of the correlation length; peaks shift as L^(-1/nu).
    """

    name: str
    families: tuple[str, ...]
    nu: float

    def __post_init__(self) -> None:
        _check_several(self.name, self.families, 2)
        if not 0 < self.nu < math.inf:
            raise InputError("nu", self.nu, "a number > 0", "1 for the square lattice")

    def check(self, by_name: Mapping[str, Family]) -> None:
        """Refuses families that do not belong together."""
        chosen = _chosen(self.families, by_name)
        for family in chosen:
            if len(set(family.shape or ())) != 1 or "critical" not in family.parts:
                raise InputError("families", family.name, "cubic lattices, with the part 'critical'")
        _check_sides(chosen)
        if len({(family.hamiltonian, family.named) for family in chosen}) > 1:
            raise InputError("families", list(self.families), "lattices with one Hamiltonian")
        variants = {tuple((item.name, len(item.hidden)) for item in family.variants) for family in chosen}
        if len(variants) > 1:
            wanted, remedy = "the same variants and numbers of sizes", "sizes are matched in their order"
            raise InputError("families", list(self.families), wanted, remedy)


@dataclass(frozen=True)
class Scaling:
    """Families on lattices of three or more sides around T_c, whose configurations tell T_c and exponents.

    omega: corrections to scaling fall as L^(-omega).
    """

    name: str
    families: tuple[str, ...]
    omega: float

    def __post_init__(self) -> None:
        _check_several(self.name, self.families, 3)
        if not 0 < self.omega < math.inf:
            raise InputError("omega", self.omega, "a number > 0", "0.83 for the cubic lattice")

    def check(self, by_name: Mapping[str, Family]) -> None:
        """Refuses families that do not belong together."""
        chosen = _chosen(self.families, by_name)
        for family in chosen:
            is_ising = len(set(family.shape or ())) == 1 and family.hamiltonian == "ising"
            if not is_ising or len(family.temperatures) < 2:
                wanted = "cubic lattices of the Ising model, at two or more temperatures"
                raise InputError("families", family.name, wanted)
            if "thermal" not in family.parts:
                wanted = "families with the part 'thermal', which reads energies"
                raise InputError("families", family.name, wanted)
        _check_sides(chosen)


def _check_several(name: str, families: tuple[str, ...], least: int) -> None:
    check_name("name", name)
    check_distinct("families", families)
    if len(families) < least:
        number = {2: "two", 3: "three"}[least]
        raise InputError("families", list(families), f"{number} or more names of families")


def _chosen(names: Sequence[str], by_name: Mapping[str, Family]) -> list[Family]:
    for name in names:
        check_member("families", name, tuple(by_name))
    return [by_name[name] for name in names]


def _check_sides(families: Sequence[Family]) -> None:
    """Lattices of one dimension and of different sides."""
    shapes = [family.shape or (0,) for family in families]
    if len({len(shape) for shape in shapes}) > 1:
        raise InputError("families", [family.name for family in families], "lattices of one dimension")
    check_distinct("sides", [shape[0] for shape in shapes])


@dataclass(frozen=True)
class Study:
    """All that is asked for. precision: of the matrix products in training, "auto", "fp32" or "bf16". device:
    where machines are trained, "cpu" or "cuda".
    """

    name: str
    families: tuple[Family, ...]
    title: str = ""
    seed: int = 1
    precision: str = "auto"
    device: str = "cpu"
    control: Control = Control()
    extrapolations: tuple[Extrapolation, ...] = ()
    scalings: tuple[Scaling, ...] = ()

    def __post_init__(self) -> None:
        check_name("name", self.name)
        check_seed("seed", self.seed)
        check_member("precision", self.precision, ("auto", *PRECISIONS))
        check_member("device", self.device, DEVICES)
        if not self.families:
            raise InputError("family", "nothing", "one or more [[family]] tables")
        check_distinct("family names", [family.name for family in self.families])
        check_distinct("extrapolation names", [item.name for item in self.extrapolations])
        check_distinct("scaling names", [item.name for item in self.scalings])
        by_name = {family.name: family for family in self.families}
        joined: list[Extrapolation | Scaling] = [*self.extrapolations, *self.scalings]
        for item in joined:
            item.check(by_name)
        if not self.control.is_temperature:
            self._check_other_control()

    def _check_other_control(self) -> None:
        for family in self.families:
            if not family.data:
                raise InputError("control.name", self.control.name, "temperature where we sample ourselves")
            if family.hamiltonian != "unknown":
                remedy = "the Ising model is used at a temperature"
                raise InputError(f"family.{family.name}.hamiltonian", family.hamiltonian, "unknown", remedy)


def _check_uniform(model: Hamiltonian, variant: Variant) -> None:
    """Refuses symmetric machines where sites are not all alike."""
    key, got = f"variant.{variant.name}.filters", list(variant.filters)
    if model.grid is None or model.products is None:
        remedy = "its couplings differ from place to place: train dense machines"
        raise InputError(key, got, f"absent for {model!r}", remedy)
    if not model.uniform:
        raise InputError(key, got, "absent at open edges", "no two sites are alike: train dense machines")
    if variant.point_group and not has_square_symmetry(model):
        point_group = f"variant.{variant.name}.point_group"
        raise InputError(point_group, True, "false here", "H has no such turns and reflections")


def check_subset(key: str, values: Sequence[float], allowed: Sequence[float]) -> None:
    for value in values:
        if value not in allowed:
            raise InputError(key, value, "among the family's temperatures", "add it there first")


def check_sector(key: str, sector: Sector) -> None:
    named = isinstance(sector, str) and sector in ("symmetric", "positive")
    fraction = not isinstance(sector, str | bool) and 0 <= sector <= 1
    if not (named or fraction):
        raise InputError(key, sector, "'symmetric', 'positive' or a fraction of m > 0 in [0, 1]")
