"""What parsed results leave open: why a part is absent, and what a variant of an older file is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from thermorbm.records import NotDone

OF_DENSE = ("weights", "likelihood", "visible_energy", "hidden", "generation", "quality")
OF_ONE_TEMPERATURE = ("generation", "quality")
OF_MACHINE = ("weights", "partition", "interactions")
OF_OBSERVATION = ("likelihood", "visible_energy", "hidden", "generation", "quality", "bracket")


def say_why(family: dict[str, Any]) -> None:
    """Puts the reason in the place of every part of the family and its machines that is not there."""
    parts = {part.replace("-", "_") for part in family["parts"]}
    if family.get("thermodynamics") is None:
        family["thermodynamics"] = _reason(bool(parts & {"entropy", "critical"}))
    for machine in family["machines"]:
        reasons = {name: _reason(name in parts) for name in (*OF_OBSERVATION, "weights")}
        reasons["partition"] = reasons["bracket"]
        if machine.get("filters"):
            reasons["interactions"] = _reason(True)
            reasons |= dict.fromkeys(OF_DENSE, NotDone("it is read from dense machines alone"))
        else:
            reasons["interactions"] = NotDone("it is read from symmetric machines alone")
        if machine["value"] is None:
            only = NotDone("it is read from machines for one temperature alone")
            reasons |= dict.fromkeys(OF_ONE_TEMPERATURE, only)
        _fill(machine, OF_MACHINE, reasons)
        for row in machine["observations"]:
            _fill(row, OF_OBSERVATION, reasons)


def _reason(was_wanted: bool) -> NotDone:
    return NotDone("its task failed or is not done yet" if was_wanted else "the study leaves it out")


def _fill(row: dict[str, Any], names: Sequence[str], reasons: Mapping[str, NotDone]) -> None:
    row.update({name: reasons[name] for name in names if row.get(name) is None})


def add_roles(family: dict[str, Any]) -> None:
    """Files and plans of format 1 do not say what a variant is for; its machines do."""
    roles = {machine["group"]: _role_of(machine) for machine in family["machines"]}
    for row in (*family["machines"], *family["indicators"], *family["critical_temperatures"]):
        if row.get("role") is None and row.get("group") is not None:
            row["role"] = roles.get(row["group"], "other")


def _role_of(machine: Mapping[str, Any]) -> str:
    if machine.get("filters"):
        return "symmetric"
    if machine.get("union"):
        return "union" if machine.get("proportions") is None else "union-proportions"
    if machine["group"] == "main":
        return "main"
    if machine["sector"] != "symmetric":
        return "unbalanced"
    return "zero-bias" if machine["recipe"].get("zero_bias") else "other"
