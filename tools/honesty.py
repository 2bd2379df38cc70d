"""Recomputes ten headline numbers of published results from fresh seeds, at temperatures not in the study.

    python tools/honesty.py results/paper [FAMILY] [--seed 77]

The results are a published study or a run directory. From new configurations: energy, heat capacity and
susceptibility at two new temperatures beside the reweighted curves of the study, the peaks of heat capacity
and susceptibility from a series that has none of its temperatures, and from a new symmetric machine the
entropy and J T. Ends with 1 if a difference is beyond four standard errors; the entropy may be off by 0.0005
per spin beside them, as the documentation says.
"""

from __future__ import annotations

import argparse
import math
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import thermorbm as tr
from thermorbm.observables import interactions
from thermorbm.reading.configurations import averages, thermal_averages
from thermorbm.reading.entropy import edges, log_partition
from thermorbm.report.publish import unpack
from thermorbm.report.run import FamilyView, read_run
from thermorbm.stats import Estimate

LIMIT = 4.0  # standard errors
LARGE = ("cache", "figures", "checkpoints", "logs")  # of a run directory, and not needed
PROMISED = 0.0005  # of the entropy, nats per spin
SAMPLES, PER_TEMPERATURE, N_TEMPERATURES = 20_000, 4_000, 14
LOCAL = {
    "energy": "energy_per_spin",
    "heat_capacity": "heat_capacity_per_spin",
    "susceptibility": "susceptibility_per_spin",
}


@dataclass(frozen=True)
class Check:
    """A number of the results beside the same one recomputed. allowance: what they may differ by anyway."""

    name: str
    published: Estimate
    recomputed: Estimate
    allowance: float = 0.0

    @property
    def deviation(self) -> float:
        """In standard errors, beyond the allowance."""
        difference = abs(self.published.value - self.recomputed.value) - self.allowance
        return max(0.0, difference) / math.hypot(self.published.error, self.recomputed.error)

    def __str__(self) -> str:
        return f"| {self.name} | {self.published} | {self.recomputed} | {self.deviation:.1f} |"


def new_temperatures(family: FamilyView) -> tuple[float, float]:
    """Midway between temperatures of the study, next but one to T_c on either side."""
    values = np.array([row.value for row in family.results.balanced_data()])
    middles, critical = (values[1:] + values[:-1]) / 2, family.critical
    if critical is None or not (middles < critical).any() or not (middles > critical).any():
        sys.exit(f"{family.name} has no temperatures on both sides of a known T_c")
    return float(middles[middles < critical][-1]), float(middles[middles > critical][0])


def local_checks(family: FamilyView, seed: int) -> Iterator[Check]:
    curves, lattice = family.run.arrays(family.thermodynamics.file), tr.Lattice(family.shape)
    for k, temperature in enumerate(new_temperatures(family)):
        data = tr.sample(lattice, temperature=temperature, n_samples=SAMPLES, seed=seed + k)
        fresh = {**averages(data), **thermal_averages(data)}
        for name in LOCAL.values():
            yield Check(f"{name} at T = {temperature:g}", _at(curves, name, temperature), fresh[name])


def peak_checks(family: FamilyView, seed: int) -> Iterator[Check]:
    """Peaks of the same lattice from temperatures that spread evenly in their logarithm around T_c."""
    lattice, width = tr.Lattice(family.shape), 3.2 / min(family.shape)
    temperatures = family.critical * np.exp(np.linspace(-width / 2, width, N_TEMPERATURES))
    series = tr.sample(lattice, temperatures=temperatures, n_samples=PER_TEMPERATURE, seed=seed)
    for key in ("heat_capacity", "susceptibility"):
        rows = [row for row in family.results.critical_temperatures if row.indicator == LOCAL[key]]
        published = next((row.estimate for row in rows if row.variant is None and row.estimate), None)
        if published is None:
            sys.exit(f"{family.name} has no peak of the {key.replace('_', ' ')}")
        point = series.critical_temperature(key)
        yield Check(f"T_c by {key.replace('_', ' ')}", published, Estimate(point.value, point.error))


def machine_checks(family: FamilyView, seed: int) -> Iterator[Check]:
    """Entropy and J T from a symmetric machine at a new temperature above T_c."""
    temperature = new_temperatures(family)[1]
    machines = [row for row in family.results.first_seeds("symmetric") if row.interactions]
    if not machines:
        sys.exit(f"{family.name} has no symmetric machines")
    like = machines[0]
    data = tr.sample(tr.Lattice(family.shape), temperature=temperature, n_samples=SAMPLES, seed=seed)
    training, held_out = tr.hold_out(data, SAMPLES // 4)
    options = {"filters": like.filters, "kernel": like.kernel, "zero_bias": True}
    machine = tr.train(training, model="symmetric", seed=seed, **options).rbm
    likelihood = edges(machine, held_out, log_partition(machine, seed), seed, follows_h=True).nll
    curves = family.run.arrays(family.thermodynamics.file)
    published = _at(curves, "entropy_per_spin", temperature)
    yield Check(f"entropy at T = {temperature:g} by NLL", published, likelihood, PROMISED)
    warmer = [row for row in machines if row.value > family.critical]  # cold data leave couplings open
    theirs = [
        min(row.interactions.pairs, key=lambda pair: sum(pair.r)).coupling * row.value for row in warmer
    ]
    scatter = float(np.std(theirs, ddof=1))
    ours = Estimate(interactions(machine).nearest * temperature, scatter)
    yield Check(f"J T at T = {temperature:g}", Estimate(float(np.mean(theirs)), scatter), ours)


def _at(curves: dict, name: str, temperature: float) -> Estimate:
    """The reweighted curve of the study between its points."""
    if "reweighted.temperature" not in curves:
        sys.exit("the results hold no reweighted curves; run the study again")
    grid = curves["reweighted.temperature"]
    columns = (curves[f"reweighted.{name}"], curves[f"reweighted.{name}.errors"])
    return Estimate(*(float(np.interp(temperature, grid, column)) for column in columns))


def all_checks(family: FamilyView, seed: int) -> list[Check]:
    seeds = (int(state) for state in np.random.SeedSequence(seed).generate_state(3))
    makers = (local_checks, peak_checks, machine_checks)
    return [check for make in makers for check in make(family, next(seeds))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("family", nargs="?", default="2d")
    parser.add_argument("--seed", type=int, default=77)
    options = parser.parse_args()
    with TemporaryDirectory() as place:
        # Published results keep their curves in an archive, which is taken out in a copy.
        copy = shutil.copytree(options.run, Path(place) / "run", ignore=shutil.ignore_patterns(*LARGE))
        unpack(copy)
        families = {family.name: family for family in read_run(copy).families}
        if options.family not in families:
            sys.exit(f"{options.run} has the families {', '.join(families)}, not {options.family}")
        checks = all_checks(families[options.family], options.seed)
    print("| number | published | recomputed | standard errors |\n|---|---|---|---|")
    print("\n".join(map(str, checks)))
    sys.exit(any(check.deviation > LIMIT for check in checks))


if __name__ == "__main__":
    main()
