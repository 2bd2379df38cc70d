"""Studies that name a Hamiltonian: keys in TOML, what they plan, and one line for what cannot be."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import thermorbm as tr
from thermorbm.errors import FileError, InputError
from thermorbm.study.named import NamedHamiltonian, bond_label, described, hamiltonian_of, has_square_symmetry
from thermorbm.study.plan import plan_study
from thermorbm.study.steps import import_
from thermorbm.study.toml import builtin_studies, load_study, read_study

SYMMETRIC = {"name": "symmetric", "filters": [3], "kernel": 2}
TRIANGULAR = {"lattice": "triangular", "coupling": -1}
# Of all tasks of `tiny` in single precision. Another one means that runs of hours are done again: then a step
# has a new version, and this number changes with it.
TASKS_OF_TINY = "3b7fc96f2cf327ef"
# Of the tasks that sample families which need no tempering, from before there were ladders. They change with
# temperatures and numbers of samples in studies/*.toml, and with nothing that only frustrated families need.
SAMPLING_TASKS = {
    "desk": "75061c5b894d3f23",
    "frustrated": "6118f377e500fb05",
    "paper": "8580ddada468ba2d",
    "paper-2d": "317953432b3cf18e",
    "paper-3d": "c5cc7b78a67bce44",
    "paper-plus": "af229c947df065c1",
    "paper-union": "dce6b23b7860f8cc",
    "scaling": "900bfc76aabebc02",
    "tiny": "610bf7d2e01181af",
}
TEMPERED = ("triangular-af", "kagome-af", "j1-j2")


def study(variant=None, **family):
    known = {"name": "f", "shape": [6, 6], "temperatures": [1.0, 2.0], "samples": 100, "hidden": [4]}
    table = {key: value for key, value in {**known, **family}.items() if value is not None}
    return {"name": "s", "family": [{**table, **({"variant": [variant]} if variant else {})}]}


def read(variant=None, **family):
    return read_study(study(variant, **family), Path())


def tasks_of(chosen):
    return plan_study(replace(chosen, precision="fp32")).tasks


def digest(ids):
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()[:16]


def test_the_tasks_of_plain_studies_are_what_they_were():
    assert digest(tasks_of(load_study(builtin_studies()["tiny"]))) == TASKS_OF_TINY


@pytest.mark.parametrize(("name", "wanted"), SAMPLING_TASKS.items())
def test_families_without_tempering_are_sampled_as_they_were(name, wanted):
    tasks = tasks_of(load_study(builtin_studies()[name])).values()
    plain = [task for task in tasks if task.labels["family"] not in TEMPERED]
    assert digest(task.id for task in plain if task.kind in ("sample", "energies")) == wanted
    assert not any(task.kind == "ladder" for task in plain)


@pytest.mark.parametrize(
    "keys",
    [{"lattice": "square"}, {"coupling": 1}, {"field": 0.0}, {"lattice": "hypercubic", "coupling": [1, 1]}],
)
def test_the_ferromagnet_under_another_name_has_the_same_tasks(keys):
    assert set(tasks_of(read(**keys))) == set(tasks_of(read()))


@pytest.mark.parametrize(
    ("keys", "wanted"),
    [
        (TRIANGULAR, {"name": "triangular", "coupling": -1.0}),
        ({"lattice": "kagome", "coupling": [-1, -1, -0.5]}, {"name": "kagome", "coupling": (-1, -1, -0.5)}),
        ({"field": 0.1}, {"name": "square", "field": 0.1}),
        ({"lattice": "j1j2", "coupling": [1, -0.4]}, {"name": "j1j2", "coupling": (1, -0.4)}),
        ({"lattice": "pm-j", "p": 0.8, "disorder_seed": 3}, {"name": "pm-j", "p": 0.8, "seed": 3}),
        ({"open": [0]}, {"name": "square", "open": (True, False)}),
        ({"open": 1, "coupling": 2}, {"name": "square", "coupling": 2.0, "open": (False, True)}),
    ],
)
def test_keys_are_those_of_the_library_and_the_command_line(keys, wanted):
    family = read(**keys).families[0]
    assert family.model == tr.hamiltonian(shape=(6, 6), **wanted)
    (sampled, *_) = [task for task in tasks_of(read(**keys)).values() if task.kind == "sample"]
    assert hamiltonian_of(sampled.parameters) == family.model
    stored = json.loads(json.dumps(sampled.parameters["named"]))
    assert NamedHamiltonian.from_parameters(stored) == family.named


def test_spins_without_a_lattice():
    spin_glass = read(lattice="sk", shape=[8], disorder_seed=2).families[0]
    assert spin_glass.model == tr.hamiltonian("sk", 8, seed=2)
    ring = read(shape=None, bonds=[[0, 1, 1.0], [1, 2, -0.5], [2, 0]]).families[0]
    assert ring.model == tr.hamiltonian(bonds=[(0, 1, 1.0), (1, 2, -0.5), (2, 0)])
    cells = read(shape=[3, 3], sites=2, bonds=[[0, 1, [0, 0], 1.0], [1, 0, [0, 1], 0.5]]).families[0]
    assert cells.n_sites == 18
    for family in (spin_glass, ring, cells):
        assert family.lattice is None
        kinds = {task.kind for task in tasks_of(replace(read(), families=(family,))).values()}
        assert {"sample", "measure", "train", "bracket"} <= kinds


def test_what_is_planned_for_a_frustrated_lattice():
    family = read(SYMMETRIC, **TRIANGULAR).families[0]
    assert (family.hamiltonian, family.method) == ("triangular", "auto")
    assert "generation" not in family.parts  # its starts are for spins that all order alike
    assert "generation" in read(lattice="triangular").families[0].parts
    tasks = tasks_of(read(SYMMETRIC, **TRIANGULAR)).values()
    (first, *_) = [task for task in tasks if task.kind == "interactions"]
    assert first.parameters["by_vector"]


def test_the_grid_of_energies_is_densest_at_the_critical_temperature_of_the_lattice():
    grid = {"energies": {"coldest": 1.0, "hottest": 40.0, "points": 20, "samples": 10}}
    chosen = read(lattice="triangular", **grid).families[0].energies.temperatures
    steps = np.diff(np.log(chosen))
    assert abs(chosen[int(np.argmin(steps))] / tr.exact.TC_TRIANGULAR - 1) < 0.3
    with pytest.raises(InputError, match="absent where T_c is not known"):
        read(**TRIANGULAR, **grid)


def test_words_vectors_and_symmetry():
    H = tr.hamiltonian("triangular", (24, 24), coupling=-1.0, field=0.1)
    assert described(H) == "triangular 24x24, coupling -1, field 0.1"
    assert described(tr.hamiltonian("j1j2", (6, 6), coupling=(1, -0.5))) == "j1j2 6x6, coupling (1, -0.5)"
    assert [bond_label(product, H) for product in H.products] == [(1, 0), (0, 1), (1, 1)]
    cells = tr.hamiltonian("honeycomb", (6, 6))
    assert [bond_label(product, cells) for product in cells.products] == [
        (0, 1, 0, 0), (1, 0, 1, 0), (1, 0, 0, 1)
    ]  # fmt: skip
    square = {name: tr.hamiltonian(name, (6, 6), coupling=J) for name, J in (("square", 1), ("j1j2", (1, 2)))}
    assert all(has_square_symmetry(model) for model in square.values())
    assert has_square_symmetry(tr.hamiltonian("plaquette", (4, 4)))
    for name, J in (("triangular", 1), ("square", (1, 0.5)), ("baxter-wu", 1), ("honeycomb", 1)):
        assert not has_square_symmetry(tr.hamiltonian(name, (6, 6), coupling=J))


HONEYCOMB = {"lattice": "honeycomb"}
BAD = [
    ({"lattice": "triangulr"}, None, "family.f.lattice must be one of .*did you mean 'triangular'"),
    ({"latice": "triangular"}, None, "key in .*did you mean 'lattice'"),
    ({"lattice": "triangular", "couplings": 1}, None, "did you mean 'coupling'"),
    ({"lattice": "triangular", "coupling": float("nan")}, None, "family.f.coupling must be a finite number"),
    ({"coupling": float("inf")}, None, "family.f.coupling must be a finite number"),
    ({"coupling": [1, 2, 3]}, None, "family.f.coupling must be one number, or 2"),
    ({"field": float("inf")}, None, "family.f.field must be finite"),
    ({"lattice": "pm-j", "p": 1.5}, None, r"family.f.p must be .* in \[0, 1\]"),
    ({"lattice": "triangular", "disorder_seed": 1}, None, "family.f.disorder_seed must be left out"),
    ({"lattice": "pm-j", "disorder_seed": -1}, None, "family.f.disorder_seed must be a whole number"),
    ({"open": [2]}, None, "family.f.open must be axes from 0 to 1"),
    ({"lattice": "triangular", "hamiltonian": "ising"}, None, "hamiltonian must be absent beside lattice"),
    ({**TRIANGULAR, "method": "wolff"}, None, "family.f.method must be .*percolate"),
    ({"field": 0.1, "method": "swendsen-wang"}, None, "ghost spin"),
    ({"lattice": "baxter-wu", "method": "wolff"}, None, "products of three or four spins"),
    ({"lattice": "pm-j"}, SYMMETRIC, "filters must be absent for .*differ from place to place: train dense"),
    (HONEYCOMB, {**SYMMETRIC, "point_group": True}, "point_group must be false here"),
    ({"open": [0]}, SYMMETRIC, "filters must be absent at open edges"),
    ({"lattice": "triangular"}, {**SYMMETRIC, "point_group": True}, "point_group must be false here"),
    (
        {"lattice": "j1j2", "coupling": [1, 1, 1], "shape": [2, 4]}, None,
        "family.f.shape must be larger than its own bonds, .*a bond would join a site to itself",
    ),
    ({"lattice": "triangular", "shape": [6]}, None, "family.f.shape must be a shape of 2 sides"),
    ({"lattice": "triangular", "shape": None}, None, "family.f.shape must be the sides of the lattice"),
    ({"shape": None, "sites": 3, "bonds": [[0, 3, 1.0]]}, None, r"family.f.* must be .*0 to 2"),
    ({"sites": 2, "bonds": [[0, 2, [0, 1], 1.0]]}, None, "family.f.bond must be between sites 0 to 1"),
    ({"field": 0.1}, {"name": "odd", "hidden": [4], "sector": 0.6}, "sector must be 'symmetric' here"),
]  # fmt: skip


@pytest.mark.parametrize(("keys", "variant", "message"), BAD)
def test_what_cannot_be_is_refused_in_one_line(keys, variant, message):
    with pytest.raises(InputError, match=message) as caught:
        read(variant, **keys)
    assert len(str(caught.value).splitlines()) == 1


def test_families_of_different_hamiltonians_are_not_extrapolated():
    values = study(**TRIANGULAR)
    values["family"].append({**values["family"][0], "name": "g", "shape": [9, 9], "coupling": 1})
    values["extrapolation"] = [{"name": "e", "families": ["f", "g"], "nu": 1.0}]
    with pytest.raises(InputError, match="lattices with one Hamiltonian"):
        read_study(values, Path())


def imported(tmp_path, spins, **keys):
    """The result of the step that takes users' configurations of a named Hamiltonian."""
    np.save(tmp_path / "spins.npy", spins)
    values = study(temperatures=None, samples=None, **keys)
    values["data"] = [{"file": "spins.npy", "temperature": 1.5}]
    tasks = tasks_of(read_study(values, tmp_path)).values()
    (task,) = [task for task in tasks if task.kind == "import"]
    return import_.run(task, None, None, None)


def test_users_configurations_have_the_hamiltonian_that_the_study_names(tmp_path):
    spins = np.where(np.random.default_rng(1).random((20, 36)) < 0.5, 1, -1).astype(np.int8)
    made = imported(tmp_path, spins, **TRIANGULAR).large
    assert made.hamiltonian == tr.hamiltonian("triangular", (6, 6), coupling=-1)
    assert made.temperature == 1.5
    two_per_cell = np.concatenate([spins, spins], axis=1)
    for layout in ((20, 72), (20, 6, 6, 2)):
        made = imported(tmp_path, two_per_cell.reshape(layout), **HONEYCOMB).large
        assert made.hamiltonian == tr.hamiltonian("honeycomb", (6, 6))


def test_users_configurations_that_do_not_fit_the_cell(tmp_path):
    spins = np.ones((20, 36), np.int8)
    with pytest.raises(FileError, match=r"\(n, 72\), got \(20, 36\); or \(n, 6, 6, 2\); cells of 2 sites"):
        imported(tmp_path, spins, **HONEYCOMB)
