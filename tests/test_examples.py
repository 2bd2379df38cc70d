"""Everything in `examples/` runs, on smaller sizes."""

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import thermorbm as tr

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
# Of the lecture; the smaller lattice must not make it fail.
SMALLER = {
    "SIDE, N_SAMPLES, N_HIDDEN = 16, 4000, 32": "SIDE, N_SAMPLES, N_HIDDEN = 8, 1000, 12",
    "epochs=100": "epochs=8",
    "least_updates=600": "epochs=4",
    'start="glorot", seed=1': 'start="glorot", seed=1, epochs=4',
    "spins(0, 1000)": "spins(0, 300)",
    "(1, 10, 100, 1000)": "(1, 10)",
}
N_PICTURES = 5


def test_one_machine_finds_the_transition(capsys):
    """Small, yet its answer must be right within its error."""
    main = runpy.run_path(str(EXAMPLES / "one_machine.py"))["main"]
    found = main(side=8, n_samples=2000, n_hidden=24, epochs=8)
    fine = np.linspace(2.0, 3.0, 1001)
    exact = fine[np.argmax(tr.exact.kaufman(8, fine).heat_capacity)]
    assert abs(found.value - exact) < 0.05 * exact + 4 * found.error  # a small machine may be a little off
    assert "infinite lattice: 2.269" in capsys.readouterr().out


def lecture():
    return json.loads((EXAMPLES / "lecture.ipynb").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_the_lecture_runs_from_top_to_bottom():
    notebook = lecture()
    run = runpy.run_path(str(ROOT / "tools" / "run_notebook.py"))["run"]
    text = json.dumps(notebook)
    assert all(json.dumps(old)[1:-1] in text for old in SMALLER)
    outputs = run(notebook, SMALLER)
    pictures = [item for cell in outputs for item in cell if item["output_type"] == "display_data"]
    assert len(pictures) == N_PICTURES


def test_the_lecture_was_stored_with_pictures_that_show_what_it_says():
    """Filters have one sign in the cold and both in the heat; their sums vary most near T_c."""
    outputs = [output for cell in lecture()["cells"] for output in cell.get("outputs", [])]
    assert [output["output_type"] for output in outputs].count("display_data") == N_PICTURES
    text = "".join("".join(output.get("text", [])) for output in outputs)
    cold, critical, hot = map(int, re.findall(r"(\d+)% of the weights of a filter have one sign", text))
    assert cold > 85 > 65 > critical >= hot
    variances = list(map(float, re.findall(r"Var \|filter sum\| = ([\d.]+)", text)))
    assert variances[1] == max(variances)
    ours, exact = map(
        float, re.search(r"T_c by the machine: ([\d.]+).*\n.*peaks at ([\d.]+);", text).groups()
    )
    assert ours == pytest.approx(exact, rel=0.03)


@pytest.mark.slow
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
    assert "Where is the transition?" in page
    assert "Ising" not in page
    assert "not as expected" not in page
