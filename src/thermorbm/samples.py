"""Certified samples of a Hamiltonian as datasets: `thermorbm.sample`."""

from __future__ import annotations

import logging
import platform
import warnings
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any, overload

import numpy as np

from thermorbm.checks import check_seed, positive_temperature
from thermorbm.dataset import Dataset
from thermorbm.errors import CertificateWarning, InputError
from thermorbm.hamiltonians import Hamiltonian, as_hamiltonian
from thermorbm.lattice import Lattice
from thermorbm.sampling.sampler import Draw, Sector, draw_together, sharing_ladder
from thermorbm.sampling.schedule import Progress
from thermorbm.series import Series
from thermorbm.shown import shown_progress

Model = Hamiltonian | Lattice | Sequence[int] | int

_log = logging.getLogger(__name__)


@overload
def sample(
    model: Model,
    temperature: float,
    n_samples: int = ...,
    seed: int = ...,
    method: str = ...,
    sector: Sector = ...,
    threads: int | None = ...,
    progress: Progress | bool | None = ...,
) -> Dataset: ...
@overload
def sample(
    model: Model,
    *,
    temperatures: Iterable[float],
    n_samples: int = ...,
    seed: int = ...,
    method: str = ...,
    sector: Sector = ...,
    threads: int | None = ...,
    progress: Progress | bool | None = ...,
) -> Series: ...
def sample(
    model: Model,
    temperature: float | None = None,
    n_samples: int = 10_000,
    seed: int = 0,
    method: str = "auto",
    sector: Sector = "symmetric",
    threads: int | None = None,
    progress: Progress | bool | None = None,
    *,
    temperatures: Iterable[float] | None = None,
) -> Dataset | Series:
    """Independent, certified Boltzmann samples of a Hamiltonian at `temperature` (units of J/k_B).

    model: a Hamiltonian; a lattice, or its sides as in (8, 8), stands for its ferromagnet with J = 1.
    temperatures: several instead of one; the result is then a Series, each with a seed of its own. Where
    "tempering" samples two or more of them, they are rungs of one ladder.
    method: "metropolis" (single flips, multispin-coded where couplings are few), "tempering" (chains that
    change places with hotter ones), "swendsen-wang" or "wolff" (pairs without frustration or field); "auto"
    is metropolis, or tempering where terms compete.
    sector: "symmetric" flips every sample by a random symmetry of the Hamiltonian, "positive" makes m >= 0, a
    number in [0, 1] is the probability of m > 0 (where m is not 0). Where the ground state is not uniform, m
    is the overlap with it.
    threads: cores to use, all by default. progress: bars in terminals and notebooks unless False;
    progress(stage, done, total) is called now and then. The result depends on nothing but model,
    temperatures, n_samples, seed, method and sector. A certificate that fails raises a CertificateWarning and
    stays with the dataset.
    """
    H = as_hamiltonian(model)
    values = _checked_temperatures(temperature, temperatures)
    seeds = [seed] if temperatures is None else _seeds(seed, len(values))
    members: list[Dataset] = []
    with shown_progress(progress) as listener:
        for group in _groups(H, values, method):
            stage = "" if temperatures is None else _stage(values, group)
            members += _sampled(
                H, [values[place] for place in group], n_samples, [seeds[place] for place in group],
                method, sector, threads, _named(stage, listener),
            )  # fmt: skip
    return members[0] if temperatures is None else Series(members)


def _groups(H: Hamiltonian, temperatures: Sequence[float], method: str) -> list[list[int]]:
    """Places of temperatures that are sampled together, on one ladder, and of the others one by one."""
    for each in temperatures:
        positive_temperature(each)
    together = sharing_ladder(H, temperatures, method) if len(temperatures) > 1 else []
    alone = [[place] for place, T in enumerate(temperatures) if T not in together]
    return [[temperatures.index(T) for T in together], *alone] if together else alone


def _stage(temperatures: Sequence[float], group: Sequence[int]) -> str:
    """Which temperatures are under way, for progress."""
    among = [temperatures[place] for place in group]
    span = f"{among[0]:g}" if len(among) == 1 else f"{min(among):g} to {max(among):g}"
    count = str(group[0] + 1) if len(among) == 1 else f"{len(among)} together"
    return f"T = {span} ({count} of {len(temperatures)}), "


def _sampled(
    H: Hamiltonian,
    temperatures: Sequence[float],
    n_samples: int,
    seeds: Sequence[int],
    method: str,
    sector: Sector,
    threads: int | None,
    progress: Progress | None,
) -> list[Dataset]:
    draws = draw_together(H, temperatures, n_samples, seeds, method, sector, threads, progress)
    ladder = {"ladder": [float(T) for T in temperatures]} if len(temperatures) > 1 else {}
    members = []
    for T, seed, result in zip(temperatures, seeds, draws, strict=True):
        side = sector if isinstance(sector, str) else float(sector)
        provenance = {"seed": int(seed), "method": result.method, "sector": side, **ladder}
        members.append(_dataset(H, T, result, provenance))
    return members


def _dataset(H: Hamiltonian, temperature: float, result: Draw, provenance: dict[str, Any]) -> Dataset:
    if not result.certificate.passed:
        warnings.warn("; ".join(result.certificate.failures), CertificateWarning, stacklevel=4)
    origin = {**provenance, "versions": _versions()}
    data = Dataset(
        result.packed, H.lattice, temperature, origin, result.certificate, H.n_sites, hamiltonian=H
    )
    _log.info("sampled %r: %r", data, data.certificate)
    return data


def _checked_temperatures(one: float | None, several: Iterable[float] | None) -> list[float]:
    if several is None and one is not None:
        return [one]
    if several is None or one is not None:
        raise InputError("temperature", one, "one number, or temperatures=[...] alone")
    values = list(several) if isinstance(several, Iterable) else [several]
    if len(values) < 2 or len(set(values)) < len(values):
        raise InputError("temperatures", values, "two or more, all different", "give one as temperature=T")
    return values


def _seeds(seed: int, n: int) -> list[int]:
    """A seed for each of n temperatures, the same whatever their number."""
    check_seed("seed", seed)
    children = np.random.SeedSequence(seed).spawn(n)
    return [int(child.generate_state(1)[0]) for child in children]


def _named(prefix: str, progress: Progress | None) -> Progress | None:
    """The same with stages that say of which temperature they are."""
    if progress is None or not prefix:
        return progress
    return lambda stage, done, total: progress(prefix + stage, done, total)


def _versions() -> dict[str, Any]:
    packages = {name: version(name) for name in ("thermorbm", "numpy", "numba")}
    return {**packages, "python": platform.python_version()}
