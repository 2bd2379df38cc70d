"""Everything in `examples/` runs, on smaller sizes."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np

import thermorbm as tr

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
# Of the lecture; the smaller lattice must not make it fail.
SMALLER = {
    "SIDE, N_SAMPLES, N_HIDDEN = 16, 4000, 32": "SIDE, N_SAMPLES, N_HIDDEN = 8, 1000, 12",
    "least_updates=600": "epochs=4",
    "n_hidden=N_HIDDEN, seed=1).rbm": "n_hidden=N_HIDDEN, seed=1, epochs=4).rbm",
    "spins(0, 1000)": "spins(0, 300)",
}


def test_one_machine_finds_the_transition(capsys):
    """Small, yet its answer must be right within its error."""
    main = runpy.run_path(str(EXAMPLES / "one_machine.py"))["main"]
    found = main(side=8, n_samples=2000, n_hidden=24, epochs=8)
    fine = np.linspace(2.0, 3.0, 1001)
    exact = fine[np.argmax(tr.exact.kaufman(8, fine).heat_capacity)]
    assert abs(found.value - exact) < 0.05 * exact + 4 * found.error  # a small machine may be a little off
    assert "infinite lattice: 2.269" in capsys.readouterr().out


def test_the_lecture_runs_from_top_to_bottom():
    notebook = json.loads((EXAMPLES / "lecture.ipynb").read_text(encoding="utf-8"))
    run = runpy.run_path(str(ROOT / "tools" / "run_notebook.py"))["run"]
    text = json.dumps(notebook)
    assert all(json.dumps(old)[1:-1] in text for old in SMALLER)
    outputs = run(notebook, SMALLER)
    pictures = [item for found in outputs for item in found if item["output_type"] == "display_data"]
    assert len(pictures) == 5
    shown = [output["output_type"] for cell in notebook["cells"] for output in cell.get("outputs", [])]
    assert shown.count("display_data") == 5  # it was stored with what it shows


def test_own_data_from_another_program(tmp_path):
    """The two commands of the example, beside a copy of its study."""
    study = tmp_path / "study.toml"
    text = (EXAMPLES / "own_data" / "study.toml").read_text()
    text = text.replace("shape = [16, 16]", "shape = [8, 8]").replace("hidden = [32]", "hidden = [8]")
    quick = "[family.changes]\nepochs = 2\nleast_updates = 0\n\n[[family.variant]]"
    study.write_text(text.replace("[[family.variant]]", quick))
    small = ["--side", "8", "--chains", "80", "--sweeps", "20", "--kept", "2"]
    make = [sys.executable, str(EXAMPLES / "own_data" / "majority_vote.py"), *small]
    subprocess.run([*make, "--out", str(tmp_path / "majority_vote.npz")], check=True, capture_output=True)
    run = [sys.executable, "-m", "thermorbm", "run", str(study), "--out", str(tmp_path / "run")]
    done = subprocess.run([*run, "--workers", "1"], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == f"report: {tmp_path / 'run' / 'report.html'}"
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "the Hamiltonian is not known" in page
    assert "not as expected" not in page
