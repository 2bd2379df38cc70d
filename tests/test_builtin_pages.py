"""Report and explorer of built-in studies as users get them, opened in headless Chromium."""

import base64
import re

import pytest

from chromium import CHROMIUM, DRIVER, MISSING, start_browser
from explorer_browser import Silent, choose, compare_chains, complaints, open_page
from thermorbm.explorer import build_explorer
from thermorbm.report import build
from thermorbm.study.run import run_study
from thermorbm.study.toml import find_study

MOST_BYTES = {"report": 6_000_000, "explorer": 10_000_000}
# Point and kind of machines whose chains are compared with those in Python.
COMPARED = {"tiny": [(3, "dense")], "desk": [(10, "dense"), (14, "symmetric")]}
FAILURES = "return document.querySelectorAll('.failure').length"

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not CHROMIUM or not DRIVER, reason=MISSING)]


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    made = start_browser(tmp_path_factory.mktemp("profile"))
    yield made
    made.quit()


@pytest.mark.parametrize("name", ["tiny", "desk"])
def test_pages_of_a_built_in_study(driver, tmp_path, name):
    summary = run_study(find_study(name), tmp_path / "run", Silent(), n_workers=2)
    assert summary.is_complete
    if name == "tiny":  # a first look whose machines are not done would be a bad one
        verdicts = {machine.verdict.status for machine in summary.results.families[0].machines}
        assert verdicts == {"converged"}
    check_report(driver, build(tmp_path / "run", 2))
    check_explorer(driver, tmp_path / "run", COMPARED[name])


def check_report(driver, page):
    assert page.stat().st_size <= MOST_BYTES["report"]
    driver.get(page.as_uri())
    assert len(driver.find_elements("css selector", ".card p")) >= 4
    assert driver.execute_script(FAILURES) == 0
    printed = base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) > 10
    assert complaints(driver) == []


def check_explorer(driver, run, compared):
    page = build_explorer(run)
    assert page.stat().st_size <= MOST_BYTES["explorer"]
    open_page(driver, page)
    for point, kind in compared:
        choose(driver, 0, point)
        driver.find_element("css selector", "[data-start=random]").click()  # what ran before is over
        driver.find_element("id", "steps").click()
        assert driver.find_element("css selector", "#pane-0 .numbers").text.startswith("step 200")
        compare_chains(driver, run, "2d", point, kind, "random", 200)
    assert base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", {})["data"]).startswith(b"%PDF")
    assert complaints(driver) == []
