"""Curves as SVG for the page: well formed, readable by everyone, true to the numbers."""

import re
from dataclasses import replace
from importlib.resources import files
from xml.etree import ElementTree

import numpy as np
import pytest

from thermorbm.report.axes import Axis, tick_words, x_limits, y_limits
from thermorbm.report.drawing import page_panels
from thermorbm.report.labels import TC, Label, plain
from thermorbm.report.panels import MARKS, Panel, series
from thermorbm.report.sections.symmetric import MOST_COUPLINGS
from thermorbm.report.style import COLOURS, GREY, colour, marker
from thermorbm.report.svg import (
    COLOUR_NAMES,
    DIGIT,
    SHAPES,
    frame_of,
    panel_numbers,
    panel_svg,
    scales,
    svg_text,
)

STYLE = (files("thermorbm.report") / "templates" / "report.css").read_text()


def a_panel(**changes):
    curve = series(plain("a<b>"), [1, 2, 4], [3, 4, 5], [0.1, 0.2, 0.1], marker="circle", colour=GREY)
    values = {"title": plain("t"), "x_label": plain("x"), "y_label": Label("$S_c$"), "series": (curve,)}
    return Panel(**{**values, **changes})


def parsed(panel):
    return ElementTree.fromstring(str(panel_svg(panel, "id")))


def test_a_panel_is_well_formed_and_says_what_it_is():
    root = parsed(a_panel(marks=((1.5, TC),)))
    assert root.get("role") == "img"
    assert root.get("aria-label") == "t. Sc over x. a<b>"
    assert "".join(root.itertext()).count("Tc") == 1
    assert {group.get("data-name") for group in root.iter("g")} == {"a&lt;b&gt;"}  # HTML, as text


@pytest.mark.parametrize("marker", MARKS)
def test_every_marker_is_drawn_at_its_place(marker):
    panel = a_panel(series=(series(plain("s"), [1, 3], [1, 2], marker=marker, dash=None),))
    frame, (path,) = frame_of(panel), [p for p in parsed(panel).iter("path") if SHAPES[marker] in p.get("d")]
    x, y = (float(number) for number in re.match(r"M([\d.-]+) ([\d.-]+)", path.get("d")).groups())
    left, top, _, _ = frame.inner
    assert x + left == pytest.approx(float(frame.x.place(1.0)), abs=0.06)
    assert y + top == pytest.approx(float(frame.y.place(1.0)), abs=0.06)


def test_what_a_logarithm_does_not_have_is_left_out():
    curve = series(plain("s"), [0, 1, 2], [0.0, 1.0, 100.0], [1.0, 2.0, 3.0], marker="circle")
    letters = str(panel_svg(a_panel(series=(curve,), log_y=True, log_x=True), "id"))
    assert "nan" not in letters
    assert "inf" not in letters


@pytest.mark.parametrize("curves", [(), (series(plain("s"), [], []),), (series(plain("s"), [1], [2]),)])
def test_few_points_or_none_are_no_error(curves):
    root = parsed(a_panel(series=curves))
    assert [float(number) for number in root.get("viewBox").split()] == [0, 0, 460, 290]


def test_axes_hold_all_points_with_their_errors():
    panel = a_panel()
    low, high = y_limits(panel)
    assert low < 2.9
    assert high > 5.1
    assert x_limits(a_panel(x_range=(0, 9))) == (0, 9)


def test_long_numbers_have_room_beside_the_label():
    """The label of y takes up to 20 of the drawing's units, numbers end 6 before the axis."""
    for scale, digits in ((1.0, 1), (1e4, 5), (1e5, 6)):
        tall = replace(a_panel().series[0], y=scale * np.array([3.0, 4.0, 5.0]), errors=None)
        frame = frame_of(a_panel(series=(tall,)))
        assert max(len(words) for _, words in frame.y.ticks(5)) >= digits
        assert frame.x.start - 6 - DIGIT * digits >= 20


def test_a_band_takes_the_place_of_error_bars():
    """The pointer still shows the errors."""
    curve = a_panel().series[0]
    banded = a_panel(series=(replace(curve, band=(curve.y - curve.errors, curve.y + curve.errors)),))
    bars = [len(re.findall(r'class="line"', panel_svg(panel, "id"))) for panel in (a_panel(), banded)]
    assert bars == [2, 1]
    assert panel_numbers(banded)["series"][0]["errors"] == [0.1, 0.2, 0.1]


def test_ticks_are_round_and_alike():
    words = [words for _, words in Axis(2.2, 2.32, 0, 1).ticks(6)]
    assert words == ["2.20", "2.22", "2.24", "2.26", "2.28", "2.30", "2.32"]
    assert [words for _, words in Axis(1e-6, 1, 0, 1, log=True).ticks(4)] == ["10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"]
    assert tick_words([-1500.0, 0.0]) == ["−1500", "0"]
    assert tick_words([0.01, 0.1, 1.0, 10.0]) == ["0.01", "0.1", "1", "10"]


def test_formulas_are_raised_and_lowered():
    letter, index = '<tspan font-style="italic">T</tspan>', '<tspan font-size="9" dy="3">c</tspan>'
    assert svg_text(Label("$T_c$ <b>")) == f'{letter}{index}<tspan dy="-3"> &lt;b&gt;</tspan>'


def test_a_second_scale_where_it_tells_more():
    steep = series(plain("s"), [1, 2], [0.01, 10])
    assert [way.log_y for way in scales(a_panel(series=(steep,)))] == [False, True]
    assert len(scales(a_panel())) == 1
    assert len(scales(a_panel(series=(series(plain("s"), [1, 2], [-1, 10]),)))) == 1
    shown = page_panels("fig", [a_panel(series=(steep,))])
    assert list(shown.numbers) == ["fig-0", "fig-0-other"]
    assert shown.has_scales


def test_numbers_for_the_pointer():
    numbers = panel_numbers(a_panel(over_control=True))
    assert numbers["control"] == 1
    assert numbers["series"] == [
        {"name": "a&lt;b&gt;", "x": [1.0, 2.0, 4.0], "y": [3.0, 4.0, 5.0], "errors": [0.1, 0.2, 0.1]}
    ]


def luminance(colour):
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def test_colours_have_names_and_shades_for_day_and_night():
    """By day those of the figures in files; at night each stands out from the dark by 3 to 1."""
    light, dark = STYLE.split("prefers-color-scheme: dark", 1)
    background = re.search(r"--paper: (#\w{6})", dark)[1]
    for each in (*COLOURS, GREY):
        name = COLOUR_NAMES[each]
        by_day = re.search(rf"--{name}: (#\w+);", light)[1]
        assert {by_day.upper(), (by_day + by_day[1:]).upper()} & {each.upper()}
        night = re.search(rf"--{name}: (#\w+);", dark)[1]
        night = night if len(night) == 7 else "#" + "".join(2 * letter for letter in night[1:])
        assert (luminance(night) + 0.05) / (luminance(background) + 0.05) > 3


def test_couplings_differ_in_colour_and_marker():
    looks = {(colour(index), marker(index)) for index in range(MOST_COUPLINGS)}
    assert len(looks) == MOST_COUPLINGS
