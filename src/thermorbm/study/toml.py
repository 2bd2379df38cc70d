"""Studies from TOML files: strict, with errors that name the file, the key and the nearest valid name."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from thermorbm.errors import FileError, InputError, unknown_name
from thermorbm.lattice import Lattice
from thermorbm.storage import check_readable
from thermorbm.study.named import NamedHamiltonian, infinite_critical_temperature, is_plain
from thermorbm.study.spec import (
    PARTS,
    Control,
    DataFile,
    EnergyGrid,
    Extrapolation,
    Family,
    Scaling,
    Sector,
    Study,
    Variant,
)
from thermorbm.study.toml_tables import MOST_VALUES, Table

Made = TypeVar("Made")
Number = TypeVar("Number", int, float)

LARGEST_FILE = 10_000_000  # bytes
# In an installed package beside the code; in a working copy at its top.
_PLACES = (Path(__file__).parents[1] / "studies", Path(__file__).parents[3] / "studies")
NU = "the exponent of the correlation length, 1 for the square lattice"
OMEGA = "the exponent of corrections to scaling, 1.75 for the square lattice, 0.83 for the cubic"
LEAST_COLDEST = 1e-3  # below it nothing moves, and 1/T leaves the range of numbers


def builtin_studies() -> dict[str, Path]:
    """Paths of the built-in studies by name."""
    place = next((place for place in _PLACES if place.is_dir()), None)
    return {} if place is None else {path.stem: path for path in sorted(place.glob("*.toml"))}


def find_study(name: str) -> Path:
    """The TOML file of a built-in study, or the one at that path; a name that ends in .toml is a path."""
    studies = builtin_studies()
    if name in studies:
        return studies[name]
    path = Path(name)
    if path.suffix == ".toml" or path.is_file():
        return path
    if path.is_dir():
        raise InputError("study", name, "a built-in study or a TOML file", "this is a directory")
    raise unknown_name("study", name, [*studies, "FILE.toml"])


def load_study(path: str | Path) -> Study:
    """The study in a TOML file; names of users' data files are taken relative to the file's directory."""
    values = _parse(Path(path))
    try:
        return read_study(values, Path(path).resolve().parent)
    except InputError as error:
        raise FileError(path, str(error)) from error


def _parse(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise FileError(path, "does not exist", f"to write a commented study there: thermorbm init {path}")
    check_readable(path)
    if path.stat().st_size > LARGEST_FILE:
        raise FileError(path, f"is larger than {LARGEST_FILE} bytes", "a study is a short TOML file")
    try:
        return tomllib.loads(path.read_bytes().decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileError(path, f"is not valid TOML: {error}") from error
    except (RecursionError, ValueError) as error:  # thousands of nested brackets, or of digits
        raise FileError(path, "is not a study: nested too deeply, or a number too long") from error


def read_study(values: Mapping[str, Any], base: Path) -> Study:
    """The study in parsed TOML."""
    top = Table(values)
    study = top.given(Study, "name", "title", "seed", "precision", "device")
    study["control"] = _control(top.table("control"))
    study["extrapolations"] = tuple(
        _joined(each, Extrapolation, "nu", NU) for each in top.each("extrapolation")
    )
    study["scalings"] = tuple(_joined(each, Scaling, "omega", OMEGA) for each in top.each("scaling"))
    data, families = top.each("data"), top.each("family")
    top.finish()
    names = [table.text("name") for table in families]
    files = _assigned([_data_file(table, base) for table in data], names)
    return Study(
        families=tuple(_family(table, files.get(table.text("name"), ())) for table in families), **study
    )


def _control(table: Table) -> Control:
    given = table.given(Control, "name", "symbol", "unit")
    table.finish()
    control = Control(**given)
    return control if control.is_temperature else Control(**{"symbol": control.name, "unit": "", **given})


def _joined(table: Table, make: type[Made], exponent: str, wanted: str) -> Made:
    """Families on lattices of several sides, and the exponent by which they are joined."""
    given = table.given(make, "name", "families", exponent)
    table.finish()
    if exponent not in given:
        raise table.refused(exponent, None, wanted)
    return _located(table, make, given)


def _data_file(table: Table, base: Path) -> DataFile:
    temperature = table.number("temperature")
    given = table.given(DataFile, "value", "parameter_array", "array", "family")
    files = tuple(base / name for name in table.texts("file"))
    table.finish()
    if temperature is not None:
        if "value" in given:
            raise table.refused("value", given["value"], "absent where a temperature is given")
        given["value"] = temperature
    return _located(table, DataFile, {"files": files, **given})


def _assigned(files: Sequence[DataFile], names: Sequence[str]) -> dict[str, tuple[DataFile, ...]]:
    """Users' files by the name of the family they belong to: the only one, unless they say it."""
    if files and not names:
        raise InputError("family", "nothing", "a [[family]] table for the [[data]]", "it says what to train")
    chosen: dict[str, tuple[DataFile, ...]] = {}
    for place, file in enumerate(files, 1):
        if file.family is None and len(names) > 1:
            raise InputError(f"data.{place}.family", "nothing", "the name of one of several families")
        name = names[0] if file.family is None else file.family
        if name not in names:
            raise unknown_name(f"data.{place}.family", name, names)
        chosen[name] = (*chosen.get(name, ()), file)
    return chosen


def _family(table: Table, data: tuple[DataFile, ...]) -> Family:
    training, tables, shape = _training(table, Variant()), table.each("variant"), _shape(table)
    named = _named(table, shape)
    energies = _energies(table, shape, named)
    given = table.given(
        Family, "name", "temperatures", "samples", "held_out", "method", "all_filters", "parts"
    )
    if named is None:
        of_data = {"hamiltonian": "unknown"} if data else {}
        given |= of_data | table.given(Family, "hamiltonian")
    else:
        given = {"method": "auto", **given, "hamiltonian": named.name, "named": named}
    given["parts"] = given.get("parts") or _parts(named, shape)
    table.finish()
    main = _located(table, Variant, training)
    variants = (*([main] if main.hidden else []), *(_variant(inner, main) for inner in tables))
    more = {"shape": shape, "variants": variants, "energies": energies, "data": data}
    return _located(table, Family, given | more)


def _shape(table: Table) -> tuple[int, ...] | None:
    """Sides as a list of whole numbers, or written as "64x64"."""
    given = table.raw("shape")
    if given is None:
        return None
    try:
        return Lattice.parse(given).shape if isinstance(given, str) else Lattice(table.wholes("shape")).shape
    except InputError as error:
        raise InputError(table.path("shape"), error.got, error.wanted, error.remedy) from error


def _named(table: Table, shape: tuple[int, ...] | None) -> NamedHamiltonian | None:
    """The keys that name a Hamiltonian; None where there are none, or they say the ferromagnet with J = 1."""
    keys = ("lattice", "coupling", "field", "p", "disorder_seed", "open", "sites")
    chosen = table.given(NamedHamiltonian, *keys)
    if bonds := table.listed("bonds"):
        chosen["bonds"] = _bond(bonds)
    if not chosen:
        return None
    if "hamiltonian" in table:
        wanted = f"absent beside {', '.join(chosen)}: names of lattices go into `lattice`"
        raise table.refused("hamiltonian", table.raw("hamiltonian"), wanted)
    named = _located(table, NamedHamiltonian, chosen)
    return None if is_plain(_located(table, named.of, {"shape": shape})) else named


def _bond(row: Any) -> Any:
    """Lists as tuples, so that a family can be compared and hashed."""
    return tuple(_bond(item) for item in row) if isinstance(row, list) else row


def _parts(named: NamedHamiltonian | None, shape: tuple[int, ...] | None) -> tuple[str, ...]:
    """All of them; the paper's starts of generated configurations are for spins that all order alike."""
    if named is None:
        return PARTS
    ground = named.of(shape).ground_state
    is_uniform = ground is not None and bool((ground == ground[0]).all())
    return PARTS if is_uniform else tuple(part for part in PARTS if part != "generation")


def _training(table: Table, like: Variant) -> dict[str, Any]:
    """The keys that a family and its variants share; what is not given is as in `like`."""
    inherited = {"hidden": like.hidden, "recipe": like.recipe, "seeds": like.seeds}
    changes = {} if "recipe" in table else like.changes  # changes belong to a recipe
    return {
        **inherited,
        **table.given(Variant, *inherited),
        "changes": {**changes, **_changes(table.table("changes"))},
        # Not inherited: variants have other sizes and recipes.
        "size_changes": _changes_at(table.table("size_changes"), int, "a number of hidden units"),
        "value_changes": _changes_at(table.table("value_changes"), float, "a temperature"),
    }


def _variant(table: Table, main: Variant) -> Variant:
    symmetric = table.given(Variant, "filters", "kernel", "point_group")
    if symmetric.get("filters"):
        if "hidden" in table:
            raise table.refused("hidden", list(table.wholes("hidden")), "absent where filters are given")
        main = Variant(seeds=main.seeds)  # recipes of dense machines do not suit symmetric ones
    else:
        for key in ("kernel", "point_group"):
            if key in table:
                raise table.refused(key, symmetric[key], "absent where no filters are given")
    training = _training(table, main)
    if table.flag("zero_bias"):
        training["changes"]["zero_bias"] = True
    keys = ("temperatures", "union", "proportions", "samples", "as_paper", "precision", "parts")
    given = {"name": table.text("name"), "sector": _sector(table), **table.given(Variant, *keys)}
    table.finish()
    if not training["hidden"] and not symmetric.get("filters"):
        raise table.refused("hidden", None, "one or more numbers of hidden units")
    return _located(table, Variant, training | symmetric | given)


def _sector(table: Table) -> Sector:
    sector = table.raw("sector", "symmetric")
    if isinstance(sector, bool) or not isinstance(sector, str | int | float):
        raise table.refused("sector", sector, "'symmetric', 'positive' or a fraction of m > 0 in [0, 1]")
    return sector


def _changes(table: Table) -> dict[str, Any]:
    """Fields of a recipe; the recipe itself checks their names and values."""
    changes = {key: table.raw(key) for key in table}
    for key, value in changes.items():
        if not isinstance(value, bool | int | float | str) or key == "name":
            raise table.refused(key, value, "a number, a text or a flag, and no other name for the recipe")
    return changes


def _changes_at(table: Table, kind: type[Number], wanted: str) -> dict[Number, dict[str, Any]]:
    """The same for single sizes or temperatures, which are the keys."""
    changes = {}
    for key in table:
        try:
            number = kind(key)
        except ValueError:
            raise table.refused(key, key, f"{wanted} before its changes") from None
        changes[number] = _changes(table.table(key))
    return changes


def _energies(
    table: Table, shape: tuple[int, ...] | None, named: NamedHamiltonian | None
) -> EnergyGrid | None:
    """The grid as a list of temperatures, or its ends and number of points: then it is densest around T_c."""
    inner = table.table("energies")
    if "energies" not in table:
        return None
    temperatures, ends = inner.numbers("temperatures"), (inner.number("coldest"), inner.number("hottest"))
    n_points = inner.whole("points") if "points" in inner else inner.raw("points")
    inner.raw("samples")  # read below: a misspelled key is named first
    inner.finish()
    if n_points is not None:
        if temperatures:
            raise inner.refused("temperatures", list(temperatures), "absent where points are given")
        temperatures = _grid(inner, infinite_critical_temperature(named, shape), *ends, n_points)
    return _located(inner, EnergyGrid, {"temperatures": temperatures, "samples": inner.whole("samples")})


def _grid(
    table: Table, critical: float | None, coldest: float | None, hottest: float | None, n_points: int
) -> tuple[float, ...]:
    from thermorbm.estimators import integration_grid

    if critical is None:
        raise table.refused("points", n_points, "absent where T_c is not known: list the temperatures")
    if coldest is None or hottest is None or not LEAST_COLDEST <= coldest < critical < hottest < math.inf:
        raise table.refused(
            "coldest", coldest, f"below T_c = {critical:.4f} and >= {LEAST_COLDEST:g}, and hottest above T_c"
        )
    if not 4 <= n_points <= MOST_VALUES:
        raise table.refused("points", n_points, f"between 4 and {MOST_VALUES}")
    # Rounded, so that names and hashes do not hang on the last bit.
    return tuple(round(float(value), 5) for value in integration_grid(coldest, hottest, critical, n_points))


def _located(table: Table, make: Callable[..., Made], values: Mapping[str, Any]) -> Made:
    """make(**values), with the table's path before the name of a refused key."""
    try:
        return make(**values)
    except InputError as error:
        raise InputError(table.path(error.name), error.got, error.wanted, error.remedy) from error
