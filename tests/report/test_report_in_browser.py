"""The page in headless Chromium: no errors, no requests, every figure drawn, series that toggle."""

import base64
import json
import re
import shutil

import pytest

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--window-size=1200,900",
)  # fmt: skip
DRAWN = """
const place = arguments[0], svg = place.querySelector("svg.main-svg");
return place.dataset.drawn === "yes" && svg !== null && svg.getBoundingClientRect().height > 150
    && place.querySelectorAll(".scatterlayer .trace").length > 0;
"""
VISIBLE = "return arguments[0]._fullData.map(trace => trace.visible);"

pytestmark = pytest.mark.skipif(
    not CHROMIUM or not DRIVER,
    reason="chromium and chromedriver are missing: apt-get install chromium chromium-driver",
)


@pytest.fixture(scope="module")
def browser(finished_run, tmp_path_factory):
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.set_page_load_timeout(120)
    driver.get("about:blank")
    driver.get_log("performance")  # of the page that the browser opens with
    driver.get((finished_run / "report.html").as_uri())
    yield driver
    driver.quit()


def wait_for(driver, condition):
    from selenium.webdriver.support.wait import WebDriverWait

    return WebDriverWait(driver, 30, poll_frequency=0.05).until(condition)


def elements(driver, selector):
    return driver.find_elements("css selector", selector)


def bring(driver, place):
    """Scrolls to a panel and waits until it is drawn."""
    driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", place)
    wait_for(driver, lambda d: d.execute_script(DRAWN, place))


def test_every_figure_is_drawn(browser, page):
    figures = elements(browser, "main figure")
    assert [figure.get_attribute("id") for figure in figures] == re.findall(r'<figure id="([^"]+)"', page)
    for figure in figures:
        panels = figure.find_elements("css selector", ".panel")
        for panel in panels:
            bring(browser, panel)
        if not panels:
            image = figure.find_element("css selector", "img.static")
            assert browser.execute_script("return arguments[0].naturalWidth", image) > 100
            assert image.size["width"] > 100


def test_a_click_in_the_legend_hides_and_shows_a_series(browser):
    panel = elements(browser, "#fig-8 .panel")[0]
    bring(browser, panel)
    before = browser.execute_script(VISIBLE, panel)
    entry = panel.find_elements("css selector", ".legendtoggle")[0]
    entry.click()
    wait_for(browser, lambda d: "legendonly" in d.execute_script(VISIBLE, panel))
    panel.find_elements("css selector", ".legendtoggle")[0].click()
    wait_for(browser, lambda d: d.execute_script(VISIBLE, panel) == before)


def test_the_mouse_shows_values(browser):
    from selenium.webdriver.common.action_chains import ActionChains

    panel = elements(browser, "#fig-8 .panel")[0]
    bring(browser, panel)
    point = panel.find_elements("css selector", ".scatterlayer .points path")[0]
    ActionChains(browser).move_to_element(point).perform()
    wait_for(browser, lambda d: panel.find_elements("css selector", ".hoverlayer .hovertext"))


def test_narrow_windows_need_no_sideways_scrolling(browser):
    metrics = {"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        wait_for(browser, lambda d: d.execute_script("return window.innerWidth") == 390)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_print_has_pictures_instead_of_curves(browser):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        figure = elements(browser, "#fig-8")[0]
        assert figure.find_element("css selector", "img.static").is_displayed()
        assert not figure.find_element("css selector", ".panels").is_displayed()
        printed = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
        assert base64.b64decode(printed["data"]).startswith(b"%PDF")
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_names_of_users_did_not_become_code(browser):
    assert browser.title == "Small <script>alert(1)</script> & <b>bold</b> study"
    assert elements(browser, "h1 b, h1 script") == []


def test_nothing_went_wrong_and_nothing_was_asked_for(browser):
    """Last, so that it sees what the other tests did."""
    assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    assert asked
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
