"""Built-in studies: TOML files that come with the package."""

from __future__ import annotations

from pathlib import Path

from thermorbm.errors import InputError, unknown_name

# In an installed package beside the code; in a working copy at its top.
_PLACES = (Path(__file__).parents[1] / "studies", Path(__file__).parents[3] / "studies")


def builtin_studies() -> dict[str, Path]:
    """Paths of the built-in studies by name."""
    place = next((place for place in _PLACES if place.is_dir()), None)
    return {} if place is None else {path.stem: path for path in sorted(place.glob("*.toml"))}


def find_study(name: str) -> Path:
    """The TOML file of a built-in study, or the one at that path; a name that ends in .toml is a path."""
    known = builtin_studies()
    if name in known:
        return known[name]
    path = Path(name)
    if path.suffix == ".toml" or path.is_file():
        return path
    if path.is_dir():
        raise InputError("study", name, "a built-in study or a TOML file", "this is a directory")
    raise unknown_name("study", name, [*known, "FILE.toml"])
