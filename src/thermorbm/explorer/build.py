"""From a run directory to `explore.html`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from thermorbm.errors import FileError, InputError
from thermorbm.explorer.content import FamilyContent, Point, contents, progress_notes
from thermorbm.explorer.datasets import SHOWN, ShownData
from thermorbm.explorer.fit import LEFT_OUT, Fitted, Key, fit, packed_text
from thermorbm.explorer.pictures import static_pictures
from thermorbm.hamiltonians import Hamiltonian
from thermorbm.report.page import script_json
from thermorbm.report.run import Run, read_run
from thermorbm.report.style import BLUE, DIVERGING, GREEN, GREY, ORANGE
from thermorbm.storage import atomic_path, check_target, finite

SCRIPTS = (
    "machine.js", "pictures.js", "charts.js", "figure.js", "state.js", "chains.js", "choice.js", "view.js",
    "clock.js", "drawing.js", "explorer.js",
)  # fmt: skip
COLOURS = {"data": GREY, "dense": BLUE, "symmetric": ORANGE, "as-paper": GREEN}
STOPS = 17  # of the colour scale of weights
MEGABYTE = 1_000_000
REST = 2 * MEGABYTE  # of the page for all but weights
LEAST_MEGABYTES = 3.0


def build_explorer(path: Path | str, target: Path | str | None = None, megabytes: float = 40.0) -> Path:
    """Makes the explorer of a run directory, `explore.html` in it or `target`; gives its path.

    megabytes: how large the file may be. Machines are stored in fewer bytes, and then left out, until it is
    no larger; the page says which.
    """
    if not LEAST_MEGABYTES <= megabytes <= 1000:
        raise InputError("size", megabytes, f"{LEAST_MEGABYTES:g} to 1000 MB")
    run = read_run(Path(path))
    page = Path(target) if target is not None else run.path / "explore.html"
    check_target(page)
    families = contents(run)
    if not families:
        raise FileError(
            run.path, "has no configurations and no machines yet", "wait until the study has some"
        )
    fitted = fit(families, int(megabytes * MEGABYTE) - REST)
    with atomic_path(page) as temporary:
        temporary.write_text(make_page(run, families, fitted), encoding="utf-8", errors="replace")
    return page


def make_page(run: Run, families: Sequence[FamilyContent], fitted: Fitted) -> str:
    """The page as text."""
    environment = Environment(
        loader=PackageLoader("thermorbm.explorer"), autoescape=True, undefined=StrictUndefined
    )
    ids = {key: f"weights-{index}" for index, key in enumerate(fitted.stored)}
    study = run.results.study
    notes = [*progress_notes(run), *fitted.notes, *(note for item in families for note in item.notes)]
    return environment.get_template("explorer.html").render(
        study=study,
        title=study.title or f"Study {study.name}",
        notes=notes,
        pictures=static_pictures(families, study.control.symbol),
        version=version("thermorbm"),
        style=Markup(_resource("explorer.css")),
        script=Markup("\n".join(_resource(name) for name in SCRIPTS)),
        data=Markup(script_json(finite(page_data(run, families, fitted, ids)))),
        weights=[(ids[key], Markup(item.text)) for key, item in fitted.stored.items()],
    )


def page_data(
    run: Run, families: Sequence[FamilyContent], fitted: Fitted, ids: Mapping[Key, str]
) -> dict[str, Any]:
    """All that the page holds beside weights, as JSON can hold it."""
    study = run.results.study
    return {
        "study": study.name,
        "title": study.title,
        "control": {"name": study.control.name, "symbol": study.control.symbol, "unit": study.control.unit},
        "colours": COLOURS,
        "scale": [[round(255 * x) for x in DIVERGING(k / (STOPS - 1))[:3]] for k in range(STOPS)],
        "families": [_family(family, fitted, ids) for family in families],
    }


def _family(family: FamilyContent, fitted: Fitted, ids: Mapping[Key, str]) -> dict[str, Any]:
    hamiltonians: list[Hamiltonian] = []
    for point in family.points:
        if point.data and point.data.hamiltonian and point.data.hamiltonian not in hamiltonians:
            hamiltonians.append(point.data.hamiltonian)
    return {
        "name": family.name,
        "shape": family.shape,
        "n_sites": family.n_sites,
        "critical": family.critical,
        "kinds": [{"key": key, "name": name} for key, name in family.kinds.items()],
        "hamiltonians": [_hamiltonian(item) for item in hamiltonians],
        "points": [_point(family, point, fitted, ids, hamiltonians) for point in family.points],
    }


def _point(
    family: FamilyContent,
    point: Point,
    fitted: Fitted,
    ids: Mapping[Key, str],
    hamiltonians: Sequence[Hamiltonian],
) -> dict[str, Any]:
    machines, missing = dict[str, Any](), dict(point.missing)
    for kind, machine in point.machines.items():
        key = (family.name, point.value, kind)
        entry: dict[str, Any] = {"facts": list(machine.facts)}
        if key in fitted.stored:
            stored = {name: x for name, x in vars(fitted.stored[key]).items() if name != "text"}
            entry |= {"id": ids[key], **stored}
        if key in fitted.missing:
            missing[kind] = LEFT_OUT
        if machine.filters is not None:
            entry["filters"] = _floats(machine.filters)
            entry["n_filters"] = len(machine.filters)
        machines[kind] = entry
    data = None if point.data is None else _data(point.data, hamiltonians)
    return {"value": point.value, "data": data, "machines": machines, "missing": missing}


def _data(data: ShownData, hamiltonians: Sequence[Hamiltonian]) -> dict[str, Any]:
    spins = data.spins[:SHOWN]
    return {
        "n_counted": data.n_counted,
        "n_spins": len(spins),
        "spins": packed_text(np.packbits(spins > 0, axis=None, bitorder="little").tobytes()),
        "means": {name: {"value": mean.value, "text": str(mean)} for name, mean in data.means.items()},
        "energy": None if data.energy is None else vars(data.energy),
        "magnetization": None if data.magnetization is None else vars(data.magnetization),
        "hamiltonian": None if data.hamiltonian is None else hamiltonians.index(data.hamiltonian),
    }


def _hamiltonian(hamiltonian: Hamiltonian) -> dict[str, Any]:
    """Products of spins and fields as the page multiplies them."""
    terms = [
        {
            "order": terms.order,
            "sites": packed_text(terms.sites.astype("<i4").tobytes()),
            "couplings": _floats(terms.couplings),
        }
        for terms in hamiltonian.terms
    ]
    return {"terms": terms, "field": _floats(hamiltonian.field) if hamiltonian.has_field else None}


def _floats(values: Any) -> str:
    return packed_text(np.asarray(values, dtype="<f4").tobytes())


def _resource(name: str) -> str:
    return (files("thermorbm.explorer") / "templates" / name).read_text(encoding="utf-8")
