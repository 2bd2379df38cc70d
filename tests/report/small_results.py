"""Results of a study by hand, with as much in them as a test needs."""

from thermorbm.records import NotDone
from thermorbm.report.run import FamilyView, Run
from thermorbm.study.results import (
    FamilyResults,
    MachineResults,
    Results,
    StudyInfo,
    TaskCounts,
    Timings,
    Verdict,
)
from thermorbm.study.spec import Control


def a_machine(n_hidden=4, **changes):
    values = {
        "variant": "main", "role": "main", "value": 2.25, "union": False, "sector": "symmetric",
        "n_hidden": n_hidden, "seed_index": 0, "seed": 1, "recipe": {"name": "fast"}, "n_visible": 16,
        "n_train": 9, "n_held_out": 3, "verdict": Verdict("converged"), "last_record": {},
        "precision": "single", "threads": 1,
    }  # fmt: skip
    return MachineResults(**{**values, **changes})


def a_family(name="2d", **changes):
    values = {
        "name": name, "shape": (4, 4), "n_sites": 16, "hamiltonian": "ising", "parts": (),
        "critical_temperature": 2.269, "data": (), "energies": (), "machines": (),
        "thermodynamics": NotDone("not wanted"), "indicators": (), "critical_temperatures": (),
    }  # fmt: skip
    return FamilyResults(**{**values, **changes})


def a_run(path, *families, extrapolations=()):
    study = StudyInfo("small", "Small", 1, "single", Control())
    timings = Timings("here", "processor", 1.0, {"train": 1.0})
    return Run(path, Results(study, {}, families, tuple(extrapolations), TaskCounts(0, 0), timings))


def a_view(path, **changes):
    """A family as sections see it."""
    family = a_family(**changes)
    return FamilyView(a_run(path, family), family)
