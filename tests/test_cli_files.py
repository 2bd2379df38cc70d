"""`info` for every file that we write, `init`, and the order of the commands."""

import json
from pathlib import Path

import numpy as np
import pytest

import thermorbm as tr
from thermorbm.cli import run
from thermorbm.cli.app import ORDER
from thermorbm.cli.files import PARTS
from thermorbm.runner.rundir import FILES, OURS, open_run, prepare
from thermorbm.study.plan import plan_study
from thermorbm.study.toml import load_study


@pytest.fixture(autouse=True)
def in_an_empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def shown(capsys, file):
    assert run(["info", file, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert run(["info", file]) == 0
    assert file in capsys.readouterr().out
    return content


def test_info_knows_datasets_machines_and_checkpoints(capsys):
    data = tr.sample((4, 4), temperature=3.0, n_samples=200, seed=1)
    data.save("data.h5")
    tr.train(data, n_hidden=3, epochs=1, seed=7, checkpoint="c.h5").rbm.save("rbm.h5")
    tr.SymmetricRBM(np.zeros((2, 3, 3)), (4, 4)).save("symmetric.h5")
    assert shown(capsys, "data.h5")["certified"] is True
    machine = shown(capsys, "rbm.h5")
    assert (machine["kind"], machine["n_hidden"], machine["recipe"], machine["seed"]) == ("rbm", 3, "fast", 7)
    assert machine["data"]["temperature"] == 3.0
    assert shown(capsys, "symmetric.h5")["n_hidden"] == 32
    checkpoint = shown(capsys, "c.h5")
    assert (checkpoint["kind"], checkpoint["run"]["seed"]) == ("checkpoint", 7)
    assert "3x16" in checkpoint["arrays"].values()


def test_info_knows_run_directories(capsys, tmp_path):
    """And shows what `status` does."""
    prepare(open_run(tmp_path / "run", "mine"), "", [])
    assert run(["info", "run", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["kind"], content["study"]) == ("run directory", "mine")
    assert run(["info", "run"]) == 0
    by_info = capsys.readouterr().out
    assert run(["status", "run"]) == 0
    assert by_info == capsys.readouterr().out


def test_info_knows_every_file_of_a_published_study(capsys):
    """And those that a run writes beside them."""
    paper = Path(__file__).parents[1] / "results" / "paper"
    content = shown(capsys, str(paper / "results.json"))
    assert (content["kind"], content["study"], content["machines"] > 100) == (
        "results of a study",
        "paper",
        True,
    )
    for path in (
        path for path in paper.rglob("*") if path.is_file() and path.suffix not in (".json", ".toml")
    ):
        assert run(["info", str(path), "--json"]) == 0, path
        assert json.loads(capsys.readouterr().out)["run directory"] == str(paper)
    assert set(FILES) <= PARTS.keys() | {"study.toml"}
    assert set(OURS) <= PARTS.keys()


def test_info_knows_studies_and_refuses_what_is_not_ours(capsys, tmp_path):
    assert run(["init", "mine.toml"]) == 0
    content = shown(capsys, "mine.toml")
    assert (content["kind"], content["name"]) == ("study", "mine")
    assert content["families"][0].startswith("2d: 16x16, 9 temperatures")
    assert content["tasks"] > 20
    (tmp_path / "notes.txt").write_text("mine")
    assert run(["info", "notes.txt"]) == 2
    assert "is not a file of thermorbm" in capsys.readouterr().err


def test_init_writes_a_study_that_can_be_planned(capsys, tmp_path):
    assert run(["init", "first.toml"]) == 0
    study = load_study(tmp_path / "first.toml")
    assert study.name == "first"
    assert {task.kind for task in plan_study(study).tasks.values()} >= {"sample", "train"}
    assert run(["init", "ü.toml"]) == 0
    assert load_study(tmp_path / "ü.toml").name == "mine"
    capsys.readouterr()
    assert run(["init", "first.toml"]) == 2
    assert "first.toml" in capsys.readouterr().err
    assert run(["init", "first.toml", "--force"]) == 0
    assert run(["init", "first"]) == 2
    assert "does not end in .toml" in capsys.readouterr().err


def test_help_lists_commands_in_the_order_of_the_work(capsys):
    assert run(["--help"]) == 0
    text = capsys.readouterr().out
    listed = text[text.index("Commands:") :]
    places = [listed.index(f"\n  {name} ") for name in ORDER]
    assert places == sorted(places)
    assert listed.splitlines()[1].split()[0] == "run"


@pytest.mark.parametrize(
    "provenance",
    [
        {"training": [], "data": "\x1b[2J", "verdict": 3},
        {"training": {"recipe": "x"}, "verdict": {"value": "high", "error": None}},
        {"data": {"mean_abs_magnetization": "x", "shape": "44"}, "versions": {"value": [], "error": {}}},
    ],
)
def test_what_machines_of_others_say_of_themselves_is_shown_and_not_believed(provenance, capsys):
    machine = tr.RBM(np.zeros((2, 16)), np.zeros(16), np.zeros(2), provenance)
    machine.save("rbm.h5")
    tr.Dataset.from_spins(np.ones((20, 16), np.int8), (4, 4), 2.0, provenance={"method": ["x"]}).save("d.h5")
    assert run(["info", "rbm.h5"]) == 0
    assert run(["info", "d.h5"]) == 0
    assert run(["analyse", "rbm.h5", "d.h5"]) in (0, 2)
    assert run(["generate", "rbm.h5", "-n", "4", "-o", "new.h5"]) in (0, 2)
    said = capsys.readouterr()
    assert "\x1b[2J" not in said.out + said.err
    assert "<table>" in machine._repr_html_()
