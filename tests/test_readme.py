"""The examples of the README run as printed, on smaller sizes."""

import re
from pathlib import Path

import pytest

from thermorbm.exact import energy_distribution

README = Path(__file__).parents[1] / "README.md"
EXAMPLES = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
SMALLER = {
    "(64, 64)": "(8, 8)",
    "kaufman(64, ": "kaufman(8, ",
    "50_000": "500",
    "n_hidden=400, seed=1": "n_hidden=8, seed=1, epochs=2",
    "held_out.spins(0, 100)": "held_out.spins()",
}


def test_there_are_examples():
    assert len(EXAMPLES) == 2


@pytest.mark.parametrize("example", EXAMPLES)
def test_example_runs(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for large, small in SMALLER.items():
        assert large in "".join(EXAMPLES)
        example = example.replace(large, small)
    exec(compile(example, "README.md", "exec"), {})
    assert capsys.readouterr().out


def test_examples_say_what_is_true(tmp_path, monkeypatch, capsys):
    """The printed energies agree with the exact ones beside them."""
    monkeypatch.chdir(tmp_path)
    exec(compile(EXAMPLES[1], "README.md", "exec"), {})
    sampled, exact = map(float, capsys.readouterr().out.splitlines()[-1].split())
    error = (energy_distribution(4, 2.25).variance / 1000) ** 0.5 / 16
    assert sampled == pytest.approx(exact, abs=4 * error)
