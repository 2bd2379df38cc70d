"""The documentation: a reference of every public name, and a site without dead links or other hosts."""

import re
import runpy
import time
from pathlib import Path

import pytest

import thermorbm as tr

ROOT = Path(__file__).parents[1]


def test_the_reference_has_every_public_name():
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    listed = re.findall(r"^##+ tr\.(\w+)$", text, re.MULTILINE)
    assert sorted(listed) == sorted(tr.__all__)


def test_every_page_is_in_the_navigation():
    listed = set(re.findall(r"\w+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    assert listed == {page.name for page in (ROOT / "docs").glob("*.md")}


def test_the_site_builds_and_loads_nothing_from_elsewhere():
    pytest.importorskip("mkdocs")
    pytest.importorskip("mkdocstrings")
    began = time.time()
    runpy.run_path(str(ROOT / "tools" / "make_site.py"))["main"]()
    site = ROOT / "site"
    assert (site / "index.html").stat().st_mtime >= began - 1
    reference = (site / "reference.html").read_text(encoding="utf-8")
    assert "Independent, certified Boltzmann samples" in reference
    loaded = re.compile(
        r'<(?:script|img|iframe)[^>]*src="https?://|<link rel="(?:stylesheet|preconnect)"[^>]*href="https?://'
    )
    pages = [page for page in site.glob("*.html") if page.name != "report.html"]
    assert [page.name for page in pages if loaded.search(page.read_text(encoding="utf-8"))] == []


def test_the_first_steps_run_as_printed(tmp_path, monkeypatch):
    """On fewer temperatures and samples; twelve lines of code."""
    text = (ROOT / "docs" / "first_steps.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    assert len([line for line in example.splitlines() if line.strip()]) <= 12
    for large, small in {
        "[1.8, 2.1, 2.3, 2.6, 3.0]": "[2.1, 3.0]",
        "4000": "400",
        "(8, 8)": "(4, 4)",
        "kaufman(8": "kaufman(4",
    }.items():
        assert large in example
        example = example.replace(large, small)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    exec(compile(example, "first_steps.md", "exec"), {})
    assert (tmp_path / "entropy.png").stat().st_size > 5000
