"""The documentation: every public name has its words, code on pages runs, nothing comes from elsewhere."""

import functools
import http.server
import json
import os
import re
import runpy
import threading
from pathlib import Path

import griffe
import pytest
from filelock import FileLock

import thermorbm as tr
from chromium import CHROMIUM, DRIVER, MISSING, start_browser

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
make_site = runpy.run_path(str(ROOT / "tools" / "make_site.py"))
run_page = runpy.run_path(str(ROOT / "tools" / "run_page.py"))["run_page"]


def test_the_reference_has_every_public_name():
    text = (DOCS / "reference.md").read_text(encoding="utf-8")
    listed = re.findall(r"^##+ tr\.(\w+)$", text, re.MULTILINE)
    assert sorted(listed) == sorted(tr.__all__)


def test_every_name_of_the_reference_has_a_docstring():
    """Functions, classes, methods and properties, also inherited ones; fields are told by their class."""
    pages = [(DOCS / name).read_text(encoding="utf-8") for name in ("reference.md", "reference_science.md")]
    roots = re.findall(r"^::: thermorbm\.(.+)$", "\n".join(pages), re.MULTILINE)
    package = griffe.load("thermorbm", search_paths=[str(ROOT / "src")])
    seen = {}
    for root in roots:
        _collect(package[root], seen)
    assert len(seen) > 300
    assert [path for path, has_docstring in seen.items() if not has_docstring] == []


def _collect(item, seen):
    """Notes of an object, and of what is public in it, whether it has a docstring."""
    item = item.final_target if item.is_alias else item
    if item.canonical_path in seen or not item.canonical_path.startswith("thermorbm."):
        return
    if not item.is_attribute or "property" in item.labels:
        seen[item.canonical_path] = item.has_docstring
    if item.is_class or item.is_module:
        inside = item.all_members
        public = [name for name in inside if not name.startswith("_")]
        for name in item.exports if item.is_module and item.exports else public:
            if name in inside and (
                not inside[name].is_alias or inside[name].target_path.startswith("thermorbm")
            ):
                _collect(inside[name], seen)


def test_every_page_is_in_the_navigation():
    listed = set(re.findall(r"[\w/]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert listed == pages | {"lecture.md"}  # which is made from the notebook


def test_code_of_a_page_runs_and_its_output_stands_below_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = (
        "```python\nx = 6 * 7\nprint(x)\n```\n\n```python\nimport matplotlib.pyplot as plt\n"
        "plt.plot([x, 1])\n```\n\n```bash\necho from the shell\n```\n\n```toml\nnot = code\n```\n"
    )
    text = run_page(page, tmp_path / "page.md")
    assert "```text\n42\n```" in text
    assert "```text\nfrom the shell\n```" in text
    assert "![What this code draws](page-2-1.svg)" in text
    assert (tmp_path / "page-2-1.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert text.endswith("```toml\nnot = code\n```\n")


@pytest.mark.parametrize("block", ["```python\n1 / 0\n```\n", "```bash\nfalse\ntrue\n```\n"])
def test_code_that_fails_ends_the_page(block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((ZeroDivisionError, RuntimeError)):
        run_page(block, tmp_path / "page.md")


def test_a_page_that_fails_ends_the_build(tmp_path, monkeypatch):
    page = DOCS / ".failing-test.txt"  # no page of the site
    monkeypatch.setitem(make_site["executed_pages"].__globals__, "EXECUTED", (page.name,))
    page.write_text("```python\nraise ValueError('as this page should')\n```\n", encoding="utf-8")
    try:
        with pytest.raises(SystemExit, match="as this page should"):
            make_site["run_pages"](tmp_path)
    finally:
        page.unlink()


def test_formulas_become_mathml():
    with_formulas = make_site["with_formulas"]
    text = with_formulas("costs $5, not `$x$`, but $S \\le \\ln 2$.")
    assert text.startswith("costs $5, not `$x$`, but <span><math")
    assert "<mi>ln</mi>" in text
    with pytest.raises(SystemExit, match="cannot write"):
        with_formulas(r"$\Big\langle x$")


@pytest.mark.slow
@pytest.mark.parametrize("page", make_site["executed_pages"](), ids=lambda page: page.stem)
def test_code_of_all_pages_runs(page, tmp_path):
    (tmp_path / "tutorials").mkdir()
    assert make_site["run_page"](page, tmp_path) is None


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The site without the output of code, built once for all processes of the test run."""
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
    with FileLock(shared / "site.lock"):
        if not (shared / "site").exists():
            make_site["main"](run_code=False, build=shared / "site-source", site=shared / "site")
    return shared / "site"


LOADED = re.compile(
    r'<(?:script|img|iframe|source|video)[^>]*\ssrc="(?:https?:)?//|url\(\s*["\']?(?:https?:)?//'
    r'|<link[^>]*rel="(?:stylesheet|preconnect|icon|preload)"[^>]*href="(?:https?:)?//|@import'
)


def test_the_site_has_every_page_and_loads_nothing_from_elsewhere(site):
    pages = {page.relative_to(site).as_posix() for page in site.rglob("*.html")}
    assert {"index.html", "tutorials/paper.html", "lecture.html", "glossary.html"} <= pages
    files = [file for end in ("*.html", "*.css") for file in site.rglob(end) if file.name != "report.html"]
    assert [str(file) for file in files if LOADED.search(file.read_text(encoding="utf-8"))] == []
    reference = (site / "reference.html").read_text(encoding="utf-8")
    assert "Independent, certified Boltzmann samples" in reference
    assert "thermorbm.model.RBM.log_partition" in reference  # inherited


@pytest.mark.skipif(not CHROMIUM or not DRIVER, reason=MISSING)
def test_the_site_in_a_browser(site, tmp_path):
    """Pages, pictures, formulas and links work, and nothing is asked of any other host."""
    with _served(site) as address, start_browser(tmp_path / "profile", "1400,900") as driver:
        driver.get(address + "lecture.html")
        loaded = "return [...document.images].map(image => image.complete && image.naturalWidth > 50)"
        pictures = driver.execute_script(loaded)
        assert len(pictures) >= 5
        assert all(pictures)
        height = "return document.querySelector('math[display=block]').getBoundingClientRect().height"
        assert driver.execute_script(height) > 20
        driver.get(address + "index.html")
        driver.find_element("css selector", ".md-nav a[href='glossary.html']").click()
        assert driver.title.startswith("Glossary")
        assert len(driver.find_elements("css selector", "dl dt")) > 30
        errors = [entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
        assert [entry for entry in errors if "favicon" not in entry["message"]] == []
        assert {
            url for url in _requested(driver) if not url.startswith((address, "data:", "about:"))
        } == set()


def _requested(driver):
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    sent = [each["params"] for each in messages if each["method"] == "Network.requestWillBeSent"]
    return [params["request"]["url"] for params in sent]


class _served:
    """Files of a directory on the loopback interface."""

    def __init__(self, directory):
        handler = functools.partial(_Quiet, directory=str(directory))
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_port}/"

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def test_the_first_steps_run_as_printed(tmp_path, monkeypatch):
    """On fewer temperatures and samples; twelve lines of code."""
    text = (DOCS / "first_steps.md").read_text(encoding="utf-8")
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
