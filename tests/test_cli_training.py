"""The commands train, generate and analyse: options, one-line errors, JSON, progress, resumed runs."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import thermorbm
from thermorbm import RBM, Dataset, Lattice
from thermorbm.cli import console, run
from thermorbm.training import trainer

TRAIN = ["train", "data.h5", "--hidden", "5", "--epochs", "2", "--seed", "1", "-o", "rbm.h5"]
GENERATE = ["generate", "rbm.h5", "-n", "30", "--steps", "3", "--seed", "1", "-o", "new.h5"]


@pytest.fixture(autouse=True)
def in_a_directory_with_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.set_num_threads(1)
    spins = np.random.default_rng(1).choice([-1, 1], (400, 16))
    Dataset.from_spins(spins, Lattice((4, 4)), 2.25).save("data.h5")


@pytest.fixture
def machine():
    rng = np.random.default_rng(2)
    known = {"shape": [4, 4], "temperature": 2.25, "mean_abs_magnetization": 0.3}
    RBM(rng.normal(size=(5, 16)), np.zeros(16), np.zeros(5), provenance={"data": known}).save("rbm.h5")


def refused(capsys, arguments):
    """Runs a bad command and returns its only line."""
    before = sorted(os.listdir())
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert err.startswith("error: ")
    assert sorted(os.listdir()) == before
    return err


def test_train_writes_a_machine(capsys):
    assert run([*TRAIN, "--json"]) == 0
    out, err = capsys.readouterr()
    summary = json.loads(out)
    rbm = RBM.load("rbm.h5")
    assert (rbm.n_hidden, rbm.n_visible) == (5, 16)
    assert (summary["file"], summary["n_samples"], summary["n_hidden"]) == ("rbm.h5", 360, 5)
    assert (summary["recipe"], summary["seed"], summary["epochs"]) == ("fast", 1, 2)
    assert summary["verdict"] == "not converged"
    assert summary["drift"] is None  # too few records
    assert rbm.provenance["data"]["shape"] == [4, 4]
    held_out = rbm.pseudo_likelihood(Dataset.load("data.h5").spins(360)) / 16
    assert summary["validation_pseudo_likelihood_per_spin"]["value"] == pytest.approx(held_out.mean())
    assert "epoch 2.0/2: L~/N " in err
    assert sorted(os.listdir()) == ["data.h5", "rbm.h5"]
    assert run([*TRAIN, "--force"]) == 0
    out = capsys.readouterr().out
    for words in ("wrote rbm.h5", "verdict", "not converged", " +- "):
        assert words in out
    np.testing.assert_array_equal(RBM.load("rbm.h5").W, rbm.W)


def test_train_passes_every_option_on(monkeypatch):
    got = {}

    def fake(data, n_hidden, recipe, epochs, seed, **options):
        got.update(options, n=len(data), n_hidden=n_hidden, recipe=recipe, epochs=epochs, seed=seed)
        raise KeyboardInterrupt

    monkeypatch.setattr("thermorbm.training.train", fake)
    Dataset.load("data.h5")[:30].save("more.h5")
    options = "--recipe paper --validation more.h5 --zero-bias --precision fp32 --device cpu --threads 2"
    assert run([*TRAIN, *options.split(), "--checkpoint", "c.h5"]) == 130
    assert len(got.pop("validation")) == 30
    assert str(got.pop("checkpoint")) == "c.h5"
    del got["progress"]
    assert got == {
        "n": 400,
        "n_hidden": 5,
        "recipe": "paper",
        "epochs": 2,
        "seed": 1,
        "zero_bias": True,
        "precision": "fp32",
        "device": "cpu",
        "threads": 2,
        "model": "dense",
        "filters": None,
        "kernel": None,
        "point_group": False,
        "tensorboard": None,
    }


@pytest.mark.parametrize(("choice", "n_filters"), [("--filters 2", 2), ("--point-group", 16)])
def test_a_symmetric_machine_from_training_to_new_configurations(capsys, choice, n_filters):
    options = f"{choice} --kernel 2 --epochs 1 --seed 1 --zero-bias --json -o sym.h5"
    assert run(["train", "data.h5", "--model", "symmetric", *options.split()]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["n_hidden"] == n_filters * made["n_visible"]
    machine = thermorbm.load_machine("sym.h5")
    assert (machine.n_filters, machine.window) == (n_filters, (2, 2))
    assert run(["analyse", "sym.h5", "data.h5", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = machine.pseudo_likelihood(Dataset.load("data.h5").spins()).mean() / machine.n_visible
    assert found["pseudo_likelihood_per_spin"]["value"] == pytest.approx(expected)
    assert run(["generate", "sym.h5", "-n", "10", "--steps", "2", "-o", "new.h5"]) == 0
    assert len(Dataset.load("new.h5")) == 10


def test_bad_symmetric_machines(capsys):
    train = ["train", "data.h5", "-o", "r.h5", "--model", "symmetric"]
    assert "filters must be a whole number >= 1, got 0" in refused(capsys, [*train, "--filters", "0"])
    assert "kernel must be at most the shortest side" in refused(capsys, [*train, "--kernel", "99"])
    assert "n_hidden must be left out" in refused(capsys, [*train, "--hidden", "9"])
    dense = ["train", "data.h5", "-o", "r.h5", "--hidden", "9", "--point-group"]
    assert "point_group must be left out for a dense machine" in refused(capsys, dense)
    Dataset.from_spins(Dataset.load("data.h5").spins()).save("bare.h5")
    assert "periodic lattice" in refused(capsys, ["train", "bare.h5", *train[2:]])


@pytest.mark.parametrize(("options", "n", "held_out"), [([], 360, 40), (["--hold-out", "7"], 393, 7)])
def test_held_out_configurations(monkeypatch, options, n, held_out):
    sizes = []

    def fake(data, *_, validation, **__):
        sizes.extend([len(data), len(validation)])
        raise KeyboardInterrupt

    monkeypatch.setattr("thermorbm.training.train", fake)
    assert run([*TRAIN, *options]) == 130
    assert sizes == [n, held_out]


def test_zero_bias_and_no_held_out_data(capsys):
    assert run([*TRAIN, "--zero-bias", "--hold-out", "0", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["n_samples"] == 400
    assert "validation_cross_entropy" not in summary
    assert (RBM.load("rbm.h5").b == 0).all()


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        (["--hidden", "0"], "n_hidden must be a whole number >= 1, got 0"),
        (["--hidden", "many"], "'many' is not a whole number"),
        (["--recipe", "papr"], "recipe must be one of paper, fast, got 'papr'; did you mean 'paper'?"),
        (["--epochs", "0"], "epochs must be a whole number >= 1, got 0"),
        (["--seed", "-1"], "seed must be a whole number >= 0, got -1"),
        (["--precision", "fp8"], "precision must be one of auto, fp32, bf16, int8, got 'fp8'"),
        (["--device", "abacus"], "device must be"),
        (["--threads", "0"], "threads must be a whole number >= 1, got 0"),
        (["--threads", "100000"], "threads must be at most 1024, got 100000"),
        (["--hidden", "9" * 30], "n_hidden must be at most"),
        (["--device", "meta"], "device must be"),
        (["-o", "data.h5", "--force"], "data.h5: is what the output is made from; choose another name"),
        (["--hold-out", "400"], "n_held_out must be less than the 400 configurations"),
        (["--hold-out", "-1"], "n_held_out must be a whole number >= 0, got -1"),
        (["--hold-out", "5", "--validation", "data.h5"], "--hold-out must be left out where there is"),
        (["--validation", "absent.h5"], "absent.h5: cannot be read: No such file"),
        (["--checkpoint", "rbm.h5"], "--checkpoint must be another file than the output"),
        (["--checkpoint", "no/c.h5"], "directory 'no' does not exist; create it first"),
        (["--checkpoint", "data.h5"], "data.h5: is a dataset file; a checkpoint file is wanted"),
        (["-o", "no/rbm.h5"], "directory 'no' does not exist; create it first"),
        (["--colour", "red"], "No such option: --colour"),
    ],
)
def test_bad_options_of_train(capsys, changes, named):
    assert named in refused(capsys, [*TRAIN, *changes])


def test_data_that_cannot_be_trained_on(capsys, machine):
    assert "--hidden must be the number of hidden units" in refused(
        capsys, ["train", "data.h5", "-o", "r.h5"]
    )
    bad = ["train", "absent.h5", "--hidden", "5", "-o", "r.h5"]
    assert "absent.h5: cannot be read" in refused(capsys, bad)
    bad[1] = "rbm.h5"
    assert "rbm.h5: is a rbm file; a dataset file is wanted" in refused(capsys, bad)
    Dataset.from_spins(np.ones((5, 9))).save("other.h5")
    message = refused(capsys, ["train", "data.h5", "--hidden", "5", "--validation", "other.h5", "-o", "r.h5"])
    assert "validation must be data of 16 sites, like the training data, got 9" in message


def test_an_existing_machine_is_kept_and_noticed_before_the_work(capsys, monkeypatch, machine):
    monkeypatch.setattr("thermorbm.training.train", None)
    before = Path("rbm.h5").read_bytes()
    assert "rbm.h5: exists already; choose another name or use --force" in refused(capsys, TRAIN)
    assert Path("rbm.h5").read_bytes() == before


def test_divergence_is_loud(capsys, monkeypatch):
    step = trainer.Trainer.step

    def poisoned(self):
        self.layers.parameters["W"][0, 0] = float("nan")
        step(self)

    monkeypatch.setattr(trainer.Trainer, "step", poisoned)
    assert run([*TRAIN, "--json"]) == 3
    out, err = capsys.readouterr()
    assert json.loads(out)["verdict"] == "diverged"
    assert "WARNING: training diverged; rbm.h5 holds the last good machine" in err
    assert np.isfinite(RBM.load("rbm.h5").W).all()


def test_an_interrupted_run_continues(capsys, monkeypatch):
    monkeypatch.setattr("thermorbm.training.loop.LEAST_STRIDE", 2)
    assert run(TRAIN) == 0
    whole = RBM.load("rbm.h5")
    step = trainer.Trainer.step

    def interrupted(self):
        if self.update == 3:
            raise KeyboardInterrupt
        step(self)

    command = [*TRAIN, "--force", "--checkpoint", "c.h5"]
    with monkeypatch.context() as patch:
        patch.setattr(trainer.Trainer, "step", interrupted)
        capsys.readouterr()
        assert run(command) == 130
    assert capsys.readouterr().err.endswith("error: interrupted\n")
    assert os.path.exists("c.h5")
    assert "is a checkpoint of another run: its seed is 1, not 2" in refused(
        capsys, [*command, "--seed", "2"]
    )
    assert run(command) == 0
    np.testing.assert_array_equal(RBM.load("rbm.h5").W, whole.W)


@pytest.mark.usefixtures("machine")
def test_generate_writes_a_dataset(capsys):
    assert run([*GENERATE, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    made = Dataset.load("new.h5")
    assert (len(made), made.lattice, made.temperature) == (30, Lattice((4, 4)), 2.25)
    assert (summary["start"], summary["p_h"], summary["steps"]) == ("p_h", 0.65, 3)
    assert (summary["shape"], summary["certificate"]) == ([4, 4], None)
    for start in (["--start", "random"], ["--start", "data", "--data", "data.h5"], ["--p-h", "0.9"]):
        assert run([*GENERATE, *start, "--force"]) == 0
        assert "wrote new.h5" in capsys.readouterr().out
        assert len(Dataset.load("new.h5")) == 30


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(
    ("changes", "named"),
    [
        (["-n", "0"], "n_samples must be a whole number >= 1, got 0"),
        (["-n", "9" * 30], "n_samples must be at most"),
        (["-n", "1000000000000"], "not enough memory"),
        (["-o", "rbm.h5", "--force"], "rbm.h5: is what the output is made from"),
        (["-o", "data.h5", "--force", "--data", "data.h5"], "data.h5: is what the output is made from"),
        (["--steps", "-1"], "steps must be a whole number >= 0, got -1"),
        (["--start", "dta"], "start must be one of p_h, random, data, got 'dta'; did you mean 'data'?"),
        (["--start", "data"], "data must be configurations to start from"),
        (["--p-h", "2"], "p_h must be a probability, got 2.0"),
        (["--p-h", "x"], "'x' is not a number"),
        (["--seed", "-1"], "seed must be a whole number >= 0"),
        (["--data", "absent.h5"], "absent.h5: cannot be read"),
        (["-o", "data.h5"], "data.h5: exists already; choose another name or use --force"),
    ],
)
def test_bad_options_of_generate(capsys, changes, named):
    assert named in refused(capsys, [*GENERATE, *changes])


@pytest.mark.usefixtures("machine")
def test_analyse(capsys):
    assert run(["analyse", "rbm.h5", "data.h5", "--max-samples", "200", "--json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    expected = thermorbm.analyse(RBM.load("rbm.h5"), Dataset.load("data.h5"), max_samples=200)
    assert found["n_samples"] == 200
    assert found["visible_energy"] == {
        "value": expected.visible_energy.value,
        "error": expected.visible_energy.error,
    }
    assert found["training_data"]["temperature"] == 2.25
    assert (found["verdict"], found["certificate"]) == (None, None)
    assert "analysis: 100 % (2/2), done" in err
    bracket = found["entropy_bracket"]
    assert bracket["upper"]["value"] == pytest.approx(
        expected.visible_energy_per_spin.value + found["log_partition"]["value"] / 16
    )
    assert bracket["lower"] is None
    assert run(["analyse", "rbm.h5", "data.h5"]) == 0
    out = capsys.readouterr().out
    for words in ("rbm.h5 on data.h5", "pseudo_likelihood_per_spin", " +- ", "W (std)", "data certified"):
        assert words in out
    for words in ("ln Z verdict", "entropy per spin, upper edge", "no Hamiltonian is known"):
        assert words in out
    assert run(["analyse", "rbm.h5", "data.h5", "--no-bracket", "--json"]) == 0
    assert "log_partition" not in json.loads(capsys.readouterr().out)


@pytest.mark.usefixtures("machine")
def test_bad_analyses(capsys):
    assert "data.h5: is a dataset file; a machine is wanted" in refused(
        capsys, ["analyse", "data.h5", "rbm.h5"]
    )
    assert "absent.h5: cannot be read" in refused(capsys, ["analyse", "rbm.h5", "absent.h5"])
    assert "seed must be a whole number >= 0" in refused(
        capsys, ["analyse", "rbm.h5", "data.h5", "--seed", "-1"]
    )
    few = ["analyse", "rbm.h5", "data.h5", "--max-samples", "1"]
    assert "max_samples must be a whole number >= 2, got 1" in refused(capsys, few)
    Dataset.from_spins(np.ones((5, 9))).save("other.h5")
    assert "data must be of 16, like the machine" in refused(capsys, ["analyse", "rbm.h5", "other.h5"])


def steps(n_updates=100, per_epoch=10, first=1):
    for update in range(first, n_updates + 1):
        scored = update >= per_epoch
        numbers = (0.5, 0.25) if scored else (float("nan"), float("nan"))
        yield SimpleNamespace(
            update=update,
            n_updates=n_updates,
            epoch=update / per_epoch,
            pseudo_likelihood_per_unit=numbers[0],
            cross_entropy=numbers[1],
        )


def test_progress_without_a_terminal_is_a_line_per_tenth(capsys):
    with console.training_progress() as report:
        for step in steps():
            report(step)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[0] == "epoch 1.0/10: L~/N 0.50000, CE 0.25000, 0 s left"
    assert lines[-1] == "epoch 10.0/10: L~/N 0.50000, CE 0.25000, done"


def test_slow_progress_is_shown_every_minute(capsys, monkeypatch):
    clock = iter(range(0, 100_000, 10))
    monkeypatch.setattr(console.time, "monotonic", lambda: next(clock))
    report = console.plain_training_progress()
    for step in steps(n_updates=2000, per_epoch=1000, first=1):
        if step.update <= 20:
            report(step)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("epoch 0.0/2: not scored yet, ")
    assert lines[0].endswith(" s left")


def test_progress_on_a_terminal_is_a_bar(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with console.training_progress() as report:
        for step in steps():
            report(step)
    out, err = capsys.readouterr()
    assert out == ""
    assert "epoch 10.0/10" in err
    assert "L~/N 0.50000, CE 0.25000" in err


def test_help():
    """Each command explains itself with an example, without waiting for torch."""
    for command in ("train", "generate", "analyse"):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "thermorbm", command, "--help"],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0
        assert "Example" in done.stdout
        assert "Exit codes:" in done.stdout
        assert not {"torch", "numba", "numpy"} & {
            line.split("|")[-1].strip() for line in done.stderr.splitlines()
        }
