"""The README: its code runs as printed, and its numbers are those of the published results."""

import re
import runpy
from pathlib import Path

import pytest

import thermorbm as tr

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
(EXAMPLE,) = re.findall(r"^```python\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)


def test_the_ten_lines_run_and_say_what_is_true(capsys):
    assert len([line for line in EXAMPLE.splitlines() if line.strip()]) <= 10
    space = {}
    exec(compile(EXAMPLE, "README.md", "exec"), space)
    assert len(capsys.readouterr().out.splitlines()) >= 3
    entropy, exact = space["entropy"], tr.exact.kaufman(8, 2.6).entropy
    assert (
        entropy.lower.value - 4 * entropy.lower.error < exact < entropy.upper.value + 4 * entropy.upper.error
    )
    coupling = space["infer_couplings"](space["series"][3]).couplings[(0, 1)]
    assert coupling.value == pytest.approx(1 / 2.6, abs=4 * coupling.error)


def test_numbers_are_those_of_the_published_results():
    """Otherwise: python tools/update_readme.py."""
    tool = runpy.run_path(str(ROOT / "tools" / "update_readme.py"))
    numbers = tool["readme_numbers"](ROOT / "results" / "paper", ROOT / "results" / "paper-plus")
    assert tool["replaced"](TEXT, numbers) == TEXT
    rows = [line for line in numbers.splitlines() if line.startswith("| ") and "paper |" not in line]
    assert len(rows) == 5


def test_links_lead_to_files():
    targets = re.findall(r"\]\((?!https?://)([^)#]+)", TEXT)
    assert [target for target in targets if not (ROOT / target).exists()] == []
    assert "10.3390/e24121701" in TEXT
    assert "arXiv:2210.06203" in TEXT
