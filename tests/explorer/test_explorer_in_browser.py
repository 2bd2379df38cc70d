"""The explorer in headless Chromium: slider, chains, drawing, figure, and what it says where it cannot."""

import base64
import re
import shutil
from dataclasses import replace
from functools import partial
from importlib.resources import files
from xml.etree import ElementTree

import numpy as np
import pytest

from chromium import CHROMIUM, DRIVER, MISSING, start_browser
from explorer_browser import choose, compare_chains, complaints, open_page, shown_machine, wait_for
from oracles.xoshiro128 import xoshiro128_starstar
from thermorbm.dataset import Dataset
from thermorbm.explorer import build_explorer
from thermorbm.explorer.build import make_page
from thermorbm.explorer.content import FamilyContent, Point, ShownMachine, picture_shape
from thermorbm.explorer.datasets import shown_data
from thermorbm.explorer.fit import fit, with_weights
from thermorbm.hamiltonians.named import hamiltonian
from thermorbm.model import RBM, SymmetricRBM
from thermorbm.report.run import read_run
from thermorbm.study.spec import Control

pytestmark = pytest.mark.skipif(not CHROMIUM or not DRIVER, reason=MISSING)


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    made = start_browser(tmp_path_factory.mktemp("profile"), "1200,1000")
    yield made
    made.quit()


@pytest.fixture
def browser(driver, explored_run):
    """The page of the small study, at T = 2.5 with nothing running; no test may leave complaints."""
    open_page(driver, explored_run / "explore.html")
    choose(driver, 0, 1)
    yield driver
    assert complaints(driver) == []


def text(browser, selector):
    return browser.find_element("css selector", selector).text


def is_shown(browser, selector):
    return browser.find_element("css selector", selector).is_displayed()


def test_it_opens_near_the_transition_and_runs(driver, explored_run):
    open_page(driver, explored_run / "explore.html")
    assert text(driver, "h1") == "Small <script>alert(1)</script> & <b>bold</b> study"
    assert driver.find_elements("css selector", "h1 b, h1 script") == []
    assert text(driver, "#value-text").startswith("T = 2.5 (above Tc = 2.269")
    wait_for(driver, lambda d: int(re.search(r"step (\d+)", text(d, "#pane-0 .numbers"))[1]) >= 3)
    assert not is_shown(driver, "#problem")
    assert complaints(driver) == []


def test_the_slider_goes_to_another_temperature(browser):
    from selenium.webdriver.common.keys import Keys

    slider = browser.find_element("id", "value")
    slider.send_keys(Keys.ARROW_RIGHT)
    wait_for(browser, lambda d: text(d, "#value-text").startswith("T = 3.5"))
    slider.send_keys(Keys.HOME)
    wait_for(browser, lambda d: text(d, "#value-text").startswith("T = 2 (below"))
    assert text(browser, "#pane-1 .missing") == "No chain at T = 2: there is no such machine here."
    assert not is_shown(browser, "#pane-1 canvas.spins")
    assert is_shown(browser, "#pane-0 canvas.spins")


@pytest.mark.parametrize("start", ["random", "hidden", "data"])
def test_two_hundred_steps_and_again_the_same(browser, start):
    browser.find_element("css selector", f"[data-start={start}]").click()
    browser.find_element("id", "steps").click()
    first = [text(browser, f"#pane-{pane} .numbers") for pane in (0, 1)]
    assert all(words.startswith("step 200 · E/N ") for words in first)
    browser.find_element("css selector", f"[data-start={start}]").click()
    browser.find_element("id", "steps").click()
    assert [text(browser, f"#pane-{pane} .numbers") for pane in (0, 1)] == first
    rows = [row.text for row in browser.find_elements("css selector", "#averages tbody tr")]
    assert "1200 configurations" in rows[0]
    assert len(rows) == 3
    for row in rows[1:]:
        assert re.search(r" −?\d\.\d+\(\d+\) 0\.\d+\(\d+\) 200 steps$", row)
    assert re.search(r"hidden units\) \d+", text(browser, "#speed-report"))


def test_errors_of_averages_come_from_blocks(browser):
    """Of 16 to 31 blocks whose length is a power of two, as computed here."""
    values = np.cumsum(np.random.default_rng(1).standard_normal(1000)) / 40
    for n in (10, 16, 100, 1000):
        mean, error = browser.execute_script(
            "const average = Chains.makeAverage(); arguments[0].forEach(average.add);"
            "return [average.mean(), average.error()];",
            values[:n].tolist(),
        )
        length = 1
        while n // length >= 32:
            length *= 2
        blocks = values[: n // length * length].reshape(-1, length).mean(axis=1)
        assert mean == pytest.approx(values[:n].mean())
        if n < 16:
            assert error is None  # nan
        else:
            assert error == pytest.approx(blocks.std(ddof=1) / np.sqrt(len(blocks)))
    assert browser.execute_script("return App.measured(-1.22904, 0.0153)") == "−1.229(15)"


def test_other_seeds_give_other_chains(browser):
    browser.find_element("id", "steps").click()
    first = text(browser, "#pane-0 .numbers")
    browser.execute_script(
        "document.getElementById('seed').value = 2;"
        "document.getElementById('seed').dispatchEvent(new Event('change'))"
    )
    browser.find_element("id", "steps").click()
    assert text(browser, "#pane-0 .numbers") != first


def test_the_random_numbers_are_those_of_xoshiro(browser):
    made = browser.execute_script(
        "const random = Thermorbm.generator(arguments[0]);"
        "return Array.from({length: 100}, function () { return random.next(); });",
        12345,
    )
    assert made == xoshiro128_starstar(12345, 100)


INPUTS = """
const [kind, v, h] = arguments, done = arguments[arguments.length - 1], spec = App.point().machines[kind];
Thermorbm.unpack(document.getElementById(spec.id).textContent).then(function (bytes) {
  const machine = Thermorbm.makeMachine(spec, bytes);
  const x = new Float64Array(machine.nHidden), y = new Float64Array(machine.nVisible);
  machine.hiddenInputs(v, x);
  machine.visibleInputs(h, y);
  done({W: Array.from(machine.arrays.W), x: Array.from(x), y: Array.from(y), error: spec.weight_error});
});
"""


@pytest.mark.parametrize(
    ("family", "point", "kind"),
    [
        ("2d", 1, "dense"),
        ("2d", 1, "as-paper"),
        ("2d", 2, "symmetric"),
        ("3d", 0, "dense"),
        ("3d", 0, "symmetric"),
    ],
)
def test_weights_in_the_browser_are_those_of_the_machine(browser, explored_run, family, point, kind):
    choose(browser, ["2d", "3d"].index(family), point)
    compare_inputs(browser, shown_machine(explored_run, family, point, kind)[1], kind)


def compare_inputs(browser, machine, kind):
    """Every weight within the error that the page states; inputs of both layers like those in Python."""
    v = np.random.default_rng(1).choice([-1, 1], (1, machine.n_visible))
    h = np.random.default_rng(2).choice([-1, 1], (1, machine.n_hidden))
    made = browser.execute_async_script(INPUTS, kind, v[0].tolist(), h[0].tolist())
    weights = machine.filters if kind == "symmetric" else machine.W
    rounded = np.array(made["W"]).reshape(weights.shape)
    assert np.abs(rounded - weights).max() <= made["error"] * (1 + 1e-6)
    same = with_weights(machine, rounded)
    np.testing.assert_allclose(made["x"], same.hidden_inputs(v)[0], atol=1e-5)
    np.testing.assert_allclose(made["y"], same.visible_inputs(h)[0], atol=1e-5)


@pytest.mark.parametrize(
    ("family", "point", "kind", "start"),
    [
        ("2d", 1, "dense", "random"),
        ("2d", 1, "dense", "p_h"),
        ("2d", 1, "symmetric", "random"),
        ("3d", 0, "symmetric", "p_h"),
    ],
)
def test_chains_agree_with_those_in_python(browser, explored_run, family, point, kind, start):
    choose(browser, ["2d", "3d"].index(family), point)
    compare_chains(browser, explored_run, family, point, kind, start, 1000)


def test_the_mouse_draws_on_both_machines(browser):
    from selenium.webdriver.common.action_chains import ActionChains

    browser.find_element("css selector", "[data-start=drawing]").click()
    canvas = browser.find_element("css selector", "#pane-0 canvas.spins")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    up = "return App.panes.map(function (pane) { return pane.chain.v.reduce((n, s) => n + (s > 0), 0); });"
    assert browser.execute_script(up) == [0, 0]
    ActionChains(browser).move_to_element(canvas).click_and_hold().move_by_offset(60, 40).release().perform()
    left, right = browser.execute_script(up)
    assert 5 <= left == right < 64
    browser.find_element("id", "step").click()
    assert text(browser, "#pane-0 .numbers").startswith("step 1 ·")


def test_keys_draw_too(browser):
    from selenium.webdriver.common.keys import Keys

    browser.find_element("css selector", "[data-start=drawing]").click()
    browser.execute_script("document.getElementById('brush-size').value = '0'")
    canvas = browser.switch_to.active_element
    assert canvas.get_attribute("class") == "spins drawable"
    canvas.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.SPACE)
    drawn = browser.execute_script(
        "return Array.from(App.panes[1].chain.v.keys()).filter(k => App.panes[1].chain.v[k] > 0)"
    )
    assert drawn == [9]


def test_one_click_saves_a_figure(browser, tmp_path):
    browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    browser.find_element("id", "steps").click()
    browser.find_element("id", "figure").click()
    # The file has its name before it has its content.
    wait_for(browser, lambda d: any("</svg>" in file.read_text() for file in tmp_path.glob("*.svg")))
    (file,) = tmp_path.glob("*.svg")
    assert file.name == "explore-2d-T-2.5.svg"
    root = ElementTree.fromstring(file.read_text(encoding="utf-8"))
    space = "{http://www.w3.org/2000/svg}"
    assert root.tag == space + "svg"
    words = [element.text for element in root.iter(space + "text")]
    assert words[0] == "Small <script>alert(1)</script> & <b>bold</b> study, T = 2.5"
    assert {"Data", "Dense, 16 hidden units", "Symmetric, 2 filters of side 3"} <= set(words)
    assert list(root.iter(space + "script")) == []
    assert len(list(root.iter(space + "polyline"))) == 4


def test_filters_are_sorted_by_their_sum_and_can_be_chosen(browser):
    from selenium.webdriver.common.keys import Keys

    sums = browser.execute_script(
        "return App.panes[0].tiles.order.map(unit => App.panes[0].tiles.sums[unit])"
    )
    assert sums == sorted(sums, reverse=True)
    mosaic = browser.find_element("css selector", "#filters-0 .mosaic")
    mosaic.send_keys(Keys.ARROW_RIGHT)
    assert text(browser, "#filters-0 .chosen p").startswith(f"Filter 2 of 16, sum {sums[1]:.3f}")


def test_another_machine_in_a_pane(browser):
    from selenium.webdriver.support.select import Select

    Select(browser.find_element("css selector", "#pane-1 select")).select_by_value("as-paper")
    wait_for(browser, lambda d: "as the paper's" in text(d, "#filters-1 h3"))
    browser.find_element("id", "steps").click()
    assert text(browser, "#pane-1 .numbers").startswith("step 200")


# Boxes of machines that are narrower than the longest name in them with its arrow, and tables that are cut.
CUT_OFF = """
const pen = document.createElement("canvas").getContext("2d");
const boxes = [...document.querySelectorAll("select.kind")].filter(box => {
  pen.font = getComputedStyle(box).font;
  const widths = [...box.options].map(option => pen.measureText(option.text).width);
  return box.offsetParent && box.clientWidth < Math.max(...widths) + 20;
});
const tables = [...document.querySelectorAll(".scroll")].filter(box => box.scrollWidth > box.clientWidth);
return [...boxes, ...tables].map(box => box.textContent);
"""


def test_narrow_windows_need_no_sideways_scrolling(browser):
    metrics = {"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        wait_for(browser, lambda d: d.execute_script("return window.innerWidth") == 390)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
        assert browser.execute_script(CUT_OFF) == []
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_dark_windows_get_a_dark_page(browser):
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    background = "return getComputedStyle(document.body).backgroundColor"
    assert browser.execute_script(background) == "rgb(255, 255, 255)"
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    try:
        assert browser.execute_script(background) == "rgb(22, 24, 27)"
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(browser, theme):
    """Contrast, names of controls, alternatives of pictures, structure."""
    axe = files(pytest.importorskip("axe_core_python")) / "axe.min.js"
    media = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    try:
        browser.find_element("id", "steps").click()
        browser.find_element("css selector", "[data-start=drawing]").click()
        browser.execute_script(axe.read_text(encoding="utf-8"))
        faults = browser.execute_async_script(
            "const done = arguments[0]; axe.run(document).then(found => done(found.violations));"
        )
        assert faults == []
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_it_prints(browser):
    browser.find_element("id", "steps").click()
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    assert base64.b64decode(printed["data"]).startswith(b"%PDF")


def test_published_results_say_what_is_missing(driver, copied_run):
    shutil.rmtree(copied_run / "cache")
    open_page(driver, build_explorer(copied_run))
    assert "published results leave them out" in text(driver, "#pane-0 .missing")
    assert "No configurations at T = 2.5 are kept" in text(driver, "#data-numbers")
    assert "these filters are what was kept" in text(driver, "#filters-0 .chosen p")
    assert not driver.find_element("id", "steps").is_enabled()
    assert not is_shown(driver, "#problem")
    assert complaints(driver) == []


def test_users_own_data_without_lattice_and_energy(driver, explored_run, tmp_path):
    """A control parameter with a hostile name, no machine but a dense one, and no Hamiltonian."""
    run, rng = read_run(explored_run), np.random.default_rng(1)
    study = replace(run.results.study, control=Control("pressure <i>", "p<b>$", "GPa & more"))
    run = replace(run, results=replace(run.results, study=study))
    data = shown_data(Dataset.from_spins(rng.choice([-1, 1], (50, 13)).astype(np.int8)), is_ising=False)
    machine = RBM(rng.normal(0, 0.3, (3, 13)), np.zeros(13), np.zeros(3))
    shown = ShownMachine(lambda: machine, ["Training: <b>converged</b>."])
    family = FamilyContent(
        "own", None, 13, None, {"dense": "Dense, 3"}, [Point(1.5, data, {"dense": shown}, {})]
    )
    page = tmp_path / "own.html"
    page.write_text(make_page(run, [family], fit([family], 10**6)), encoding="utf-8")
    open_page(driver, page)
    choose(driver, 0, 0)
    driver.find_element("id", "steps").click()
    assert text(driver, "#value-text") == "p<b>$ = 1.5"
    assert text(driver, "#pane-0 .numbers").startswith("step ")
    assert "Hamiltonian of these configurations is not known" in text(driver, "#energy-chart")
    assert "<b>converged</b>" in text(driver, "#exactness")
    assert not is_shown(driver, "#pane-1")
    assert complaints(driver) == []


def test_it_opens_where_something_runs(driver, explored_run, tmp_path):
    """Not at a family of which nothing is kept; going there leaves no empty frames. Cubes have layers."""
    rng = np.random.default_rng(1)
    machine = RBM(rng.normal(0, 0.3, (3, 27)), np.zeros(27), np.zeros(3))
    shown = {"symmetric": ShownMachine(lambda: machine, [])}
    cube = shown_data(Dataset.from_spins(rng.choice([-1, 1], (50, 27)).astype(np.int8)), is_ising=False)
    empty = FamilyContent("none", (3, 3), 9, None, {"dense": "Dense"}, [Point(1.0, None, {}, {})])
    kinds = {"symmetric": "Symmetric"}
    full = FamilyContent("cube", (3, 3, 3), 27, 2.0, kinds, [Point(1.123456789, cube, shown, {})])
    page = tmp_path / "two.html"
    families = [empty, full]
    page.write_text(make_page(read_run(explored_run), families, fit(families, 10**6)), encoding="utf-8")
    open_page(driver, page)
    assert driver.execute_script("return document.getElementById('family').value") == "1"
    assert text(driver, "#value-text") == "T = 1.12346 (below Tc = 2.000)"
    assert "all 3 layers side by side" in text(driver, "#data-numbers")
    assert not is_shown(driver, "#pane-1")
    choose(driver, 0, 0)
    assert text(driver, "#energy-chart").startswith("No chain runs here")
    for empty_part in ("#gallery", "#filters", "#averages"):
        assert not is_shown(driver, empty_part)
    assert complaints(driver) == []


@pytest.mark.parametrize(
    ("name", "options"),
    [("honeycomb", {"field": 0.3}), ("kagome", {"coupling": -1}), ("baxter-wu", {}), ("sk", {"seed": 1})],
)
def test_other_hamiltonians_have_their_energies(driver, explored_run, tmp_path, name, options):
    """Any couplings and fields; where cells have several sites, symmetric machines with them, too."""
    H, rng = hamiltonian(name, 16 if name == "sk" else (3, 6), **options), np.random.default_rng(2)
    spins = rng.choice(np.array([-1, 1], np.int8), (40, H.n_sites))
    data = shown_data(Dataset.from_spins(spins, hamiltonian=H), is_ising=False)
    machines = {"dense": RBM(rng.normal(0, 0.3, (4, H.n_sites)), np.zeros(H.n_sites), np.zeros(4))}
    if H.grid is not None:
        shape, n_cell = H.grid.shape, H.grid.n_cell
        filters = rng.normal(0, 0.3, (2, 2, 3) if n_cell == 1 else (2, 2, 3, n_cell))
        machines["symmetric"] = SymmetricRBM(filters, shape, 0.1, [0.2, -0.1], n_cell=n_cell)
    shown = {key: ShownMachine(partial(machines.get, key), []) for key in machines}
    points = [Point(1.0, data, shown, {})]
    sides = picture_shape(None, points, H.n_sites)
    family = FamilyContent("other", sides, H.n_sites, None, dict.fromkeys(shown, "A machine"), points)
    page = tmp_path / "other.html"
    page.write_text(make_page(read_run(explored_run), [family], fit([family], 10**6)), encoding="utf-8")
    open_page(driver, page)
    choose(driver, 0, 0)
    energies = driver.execute_script(
        "return App.state.spins.map(v => Thermorbm.energyOf(App.state.hamiltonian, v));"
    )
    np.testing.assert_allclose(energies, H.energy(spins[:12]), atol=1e-5)
    for key, machine in machines.items():
        compare_inputs(driver, machine, key)
    driver.find_element("id", "steps").click()
    assert complaints(driver) == []


def test_without_the_means_to_unpack_the_page_says_so(driver, explored_run):
    added = driver.execute_cdp_cmd(
        "Page.addScriptToEvaluateOnNewDocument", {"source": "delete window.DecompressionStream"}
    )
    try:
        driver.get((explored_run / "explore.html").as_uri())
        assert "This browser cannot unpack the machines" in text(driver, "#problem")
    finally:
        driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


def test_without_javascript_there_are_still_pictures(driver, explored_run):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        driver.get((explored_run / "explore.html").as_uri())
        assert "JavaScript is off" in text(driver, "noscript .warning")
        images = driver.find_elements("css selector", "noscript img")
        assert len(images) == 2
        assert all(image.size["width"] > 100 for image in images)
        assert "T = 2, 2.5, 3.5" in images[0].get_attribute("alt")
        assert not is_shown(driver, "main")
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
