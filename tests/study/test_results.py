"""Typed results: what is written is read again, from this version and from the one before."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from thermorbm.errors import FileError
from thermorbm.records import BadRecord, NotDone, as_plain, from_plain, other_values
from thermorbm.stats import Estimate
from thermorbm.study.results import FORMAT, read_results, write_results

PUBLISHED = Path(__file__).parents[2] / "results"


NOT_WANTED = NotDone("not wanted")


@dataclass(frozen=True)
class Inner:
    estimate: Estimate
    other: Mapping[str, int] = other_values()


@dataclass(frozen=True)
class Outer:
    name: str = field(metadata={"stored": "called"})
    rows: tuple[Inner, ...]
    side: str | float
    part: Inner | NotDone = NOT_WANTED


def test_a_record_survives_json() -> None:
    outer = Outer("x", (Inner(Estimate(1.0, 0.5), {"more": 3}),), 0.25)
    plain = as_plain(outer)
    assert plain["called"] == "x"
    assert plain["rows"] == [{"estimate": {"value": 1.0, "error": 0.5}, "more": 3}]
    assert plain["part"] is None
    again = from_plain(Outer, json.loads(json.dumps(plain)))
    assert (again.name, again.rows, again.side) == (outer.name, outer.rows, 0.25)
    assert isinstance(again.part, NotDone)


def test_null_is_a_number_that_is_not_known() -> None:
    inner = from_plain(Inner, {"estimate": {"value": 1, "error": None}})
    assert inner.estimate.value == 1.0
    assert math.isnan(inner.estimate.error)


@pytest.mark.parametrize(
    ("plain", "place"),
    [
        ({"called": 3, "rows": [], "side": 1.0}, "called"),
        ({"called": "x", "rows": [{"estimate": 1.0}], "side": 1.0}, r"rows\[0\]"),
        ({"called": "x", "rows": [], "side": 1.0, "unknown": 1}, "unknown"),
        ({"called": "x", "rows": []}, "side"),
        ({"called": "x", "rows": 7, "side": "a"}, "rows"),
    ],
)
def test_what_does_not_fit_is_named(plain: dict[str, object], place: str) -> None:
    with pytest.raises(BadRecord, match=place):
        from_plain(Outer, plain)


@pytest.mark.parametrize("name", ["paper", "paper-plus"])
def test_published_results_of_format_1_are_read_and_written_without_loss(name: str, tmp_path: Path) -> None:
    before = PUBLISHED / name / "results.json"
    results = read_results(before)
    write_results(tmp_path / "results.json", results)
    assert _lost(json.loads(before.read_text()), json.loads((tmp_path / "results.json").read_text())) == []
    write_results(tmp_path / "again.json", read_results(tmp_path / "results.json"))
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "results.json").read_bytes()


def test_roles_and_reasons_of_format_1() -> None:
    results = read_results(PUBLISHED / "paper" / "results.json")
    roles = {machine.role for family in results.families for machine in family.machines}
    assert {"main", "union", "symmetric", "zero-bias", "unbalanced"} <= roles
    for family in results.families:
        for machine in family.machines:
            assert bool(machine.interactions) == (machine.role == "symmetric")
            if machine.role == "symmetric":
                assert machine.weights == NotDone("it is read from dense machines alone")


def test_a_newer_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"format": FORMAT + 1, "families": []}))
    with pytest.raises(FileError, match=f"has format {FORMAT + 1}"):
        read_results(path)


def test_a_damaged_file_says_where(tmp_path: Path) -> None:
    content = json.loads((PUBLISHED / "paper" / "results.json").read_text())
    content["families"][0]["machines"][0]["n_hidden"] = "many"
    path = tmp_path / "results.json"
    path.write_text(json.dumps(content))
    with pytest.raises(FileError, match=r"families\[0\].machines\[0\].n_hidden"):
        read_results(path)


def _lost(before: object, after: object, path: str = "") -> list[str]:
    """Places at which `after` does not have what `before` has."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [
            line
            for key, value in before.items()
            if value is not None and key != "format"
            for line in _lost(value, after.get(key), f"{path}.{key}")
        ]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [
            line
            for n, pair in enumerate(zip(before, after, strict=True))
            for line in _lost(*pair, f"{path}[{n}]")
        ]
    return [] if before == after else [path]
