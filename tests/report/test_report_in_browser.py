"""The page in headless Chromium: no errors, no requests, everything to be seen, heard and printed."""

import base64
import json
import re
from importlib.resources import files

import pytest

from chromium import CHROMIUM, DRIVER, MISSING, start_browser

FOLDS = "document.querySelectorAll('details.fold').forEach(fold => { fold.open = arguments[0]; });"
CURSORS = "return Array.from(document.querySelectorAll('.cursor')).filter(c => c.getAttribute('d')).length;"
# Rules of WCAG 2 at levels A and AA, and what axe calls best practice: names, landmarks, order of headings.
AXE = """
const [rules, done] = arguments;
const places = fault => fault.nodes.slice(0, 3).map(node => node.html.slice(0, 200));
axe.run({resultTypes: ["violations"], runOnly: rules})
    .then(found => done(found.violations.map(fault => fault.id + ": " + places(fault))));
"""

pytestmark = pytest.mark.skipif(not CHROMIUM or not DRIVER, reason=MISSING)


@pytest.fixture(scope="module")
def browser(finished_run, tmp_path_factory):
    driver = start_browser(tmp_path_factory.mktemp("profile"))
    driver.get((finished_run / "report.html").as_uri())
    yield driver
    driver.quit()


@pytest.fixture
def unfolded(browser):
    """The page with all sections open."""
    browser.execute_script(FOLDS, True)
    yield browser
    browser.execute_script(FOLDS, False)


def wait_for(driver, condition):
    from selenium.webdriver.support.wait import WebDriverWait

    return WebDriverWait(driver, 30, poll_frequency=0.05).until(condition)


def elements(driver, selector):
    return driver.find_elements("css selector", selector)


def bring(driver, place):
    driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", place)
    return place


def point_at(driver, panel, right=0, down=0):
    """The pointer goes to the middle of a panel, or beside it."""
    from selenium.webdriver.common.action_chains import ActionChains

    bring(driver, panel)
    ActionChains(driver).move_to_element_with_offset(panel, right, down).perform()


def test_the_first_screen_needs_no_scrolling(browser):
    """All four cards begin above the lower edge, the upper two end there too."""
    browser.execute_script("scrollTo(0, 0)")
    cards = [card.rect for card in elements(browser, ".card")]
    assert len(cards) == 4
    assert max(card["y"] for card in cards) < 700
    assert max(card["y"] + card["height"] for card in cards[:2]) < 900
    assert elements(browser, "#card-claims .mark")[0].is_displayed()


def test_every_figure_is_drawn(unfolded, page):
    figures = elements(unfolded, "main figure")
    assert [figure.get_attribute("id") for figure in figures] == re.findall(r'<figure id="([^"]+)"', page)
    for figure in figures:
        panels = figure.find_elements("css selector", ".place > div:not([hidden]) > svg.panel")
        for panel in panels:
            assert panel.size["height"] > 60
        if not panels:
            image = bring(unfolded, figure.find_element("css selector", "img"))
            wait_for(
                unfolded, lambda d, i=image: d.execute_script("return arguments[0].naturalWidth", i) > 100
            )
            assert image.size["width"] > 100


def test_sections_are_folded_and_links_open_them(browser):
    fold = elements(browser, "#section-entropy details.fold")[0]
    assert fold.get_attribute("open") is None
    bring(browser, elements(browser, "nav a[href='#section-entropy']")[0]).click()
    wait_for(browser, lambda d: elements(d, "#section-entropy figure")[0].is_displayed())
    browser.execute_script(FOLDS, False)


def test_a_mark_unfolds_into_its_claim(browser):
    mark = bring(browser, elements(browser, "#card-claims .mark summary")[0])
    mark.click()
    wait_for(browser, lambda d: elements(d, "#card-claims .mark[open] p")[0].text)
    mark.click()


def test_a_click_in_the_legend_hides_and_shows_a_series(unfolded):
    button = bring(unfolded, elements(unfolded, "#fig-8 .legend button[data-name]")[0])
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert elements(unfolded, "#fig-8 .curves > g.off")
    button.click()
    assert not elements(unfolded, "#fig-8 .curves > g.off")


def test_the_pointer_shows_values_with_errors_and_the_same_temperature_elsewhere(browser):
    panel = elements(browser, "#card-entropy svg.panel")[0]
    point_at(browser, panel)
    tip = elements(browser, "#tip")[0]
    wait_for(browser, lambda d: tip.is_displayed())
    assert re.search(r"\d\.\d+\(\d+\)", tip.text)
    assert elements(browser, ".strip.near")
    browser.execute_script(FOLDS, True)
    point_at(browser, panel, 20)
    assert wait_for(browser, lambda d: d.execute_script(CURSORS) > 5)
    browser.execute_script(FOLDS, False)


def test_arrow_keys_do_what_the_pointer_does(browser):
    from selenium.webdriver.common.keys import Keys

    panel = bring(browser, elements(browser, "#card-entropy svg.panel")[0])
    browser.execute_script("arguments[0].focus()", panel)
    panel.send_keys(Keys.ARROW_RIGHT)
    tip = elements(browser, "#tip")[0]
    wait_for(browser, lambda d: tip.is_displayed())
    before = tip.text
    for _ in range(40):
        panel.send_keys(Keys.ARROW_RIGHT)
    assert tip.text != before
    panel.send_keys(Keys.ESCAPE)
    assert not tip.is_displayed()


def test_scales_switch(unfolded):
    figure = next(
        f for f in elements(unfolded, "figure") if f.find_elements("css selector", ".legend .scale")
    )
    shown = [d.get_attribute("hidden") is None for d in figure.find_elements("css selector", ".place > div")]
    bring(unfolded, figure.find_element("css selector", ".scale")).click()
    after = [d.get_attribute("hidden") is None for d in figure.find_elements("css selector", ".place > div")]
    assert sum(after) == sum(shown)
    assert after != shown


def test_narrow_windows_need_no_sideways_scrolling(unfolded):
    metrics = {"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    unfolded.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        wait_for(unfolded, lambda d: d.execute_script("return window.innerWidth") == 390)
        assert unfolded.execute_script("return document.documentElement.scrollWidth") <= 390
    finally:
        unfolded.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_panels_stand_side_by_side_in_print(unfolded):
    """However many there are: one below the other would fill a page each."""
    unfolded.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        for number in (2, 3, 4):
            panels = elements(unfolded, f"figure .panels.count-{number} .place")[:2]
            assert len({panel.rect["y"] for panel in panels}) <= 1
    finally:
        unfolded.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_print_unfolds_every_section(browser):
    closed = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert closed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", closed)) > 10
    assert not elements(browser, "details.fold[open]")  # and folds them again


@pytest.mark.parametrize(
    ("scheme", "rules"),
    [("light", ["wcag2a", "wcag2aa", "best-practice"]), ("dark", ["color-contrast"])],
    ids=["light", "dark"],
)
def test_everyone_can_read_it(unfolded, scheme, rules):
    """axe-core finds no fault: contrast, alternative texts, names, landmarks, headings."""
    feature = {"name": "prefers-color-scheme", "value": scheme}
    unfolded.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    try:
        unfolded.execute_script((files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8"))
        assert unfolded.execute_async_script(AXE, rules) == []
    finally:
        unfolded.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_names_of_users_did_not_become_code(browser):
    assert browser.title == "Small <script>alert(1)</script> & <b>bold</b> study"
    assert elements(browser, "h1 b, h1 script") == []


def test_without_scripts_everything_is_there(browser):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.refresh()
        assert elements(browser, "#card-entropy svg.panel")[0].size["height"] > 100
        elements(browser, "#section-entropy details.fold > summary")[0].click()
        wait_for(browser, lambda d: elements(d, "#section-entropy svg.panel")[0].is_displayed())
        assert not elements(browser, ".scale")[0].is_displayed()  # what would do nothing is not shown
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
        browser.refresh()


def test_nothing_went_wrong_and_nothing_was_asked_for(browser):
    """Last, so that it sees what the other tests did."""
    assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert asked
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
