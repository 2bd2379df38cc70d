"""Series and panels: numbers, labels, legends."""

import math

import numpy as np
import pytest
from markupsafe import Markup

from thermorbm.report.chart import outline, wider_bins
from thermorbm.report.labels import TC, percent, plain, short, with_error
from thermorbm.report.page import script_json
from thermorbm.report.panels import Panel, draw_panels, listed_series, series
from thermorbm.report.style import finish, our_style
from thermorbm.report.svg import numbers


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (2.26918, 0.0012, "2.2692(12)"),
        (-0.0018, 0.0039, "−0.0018(39)"),
        (0.7, 1.2, "0.7(1.2)"),
        (1234.5, 67.0, "1234(67)"),
        (2.5, 0.0, "2.5"),
        (2.5, None, "2.5"),
        (2.5, math.nan, "2.5"),
    ],
)
def test_value_with_error(value, error, text):
    assert with_error(value, error) == text


def test_short_numbers():
    assert short(None) == "–"
    assert short(math.nan) == "–"
    assert short(-0.00012345) == "−0.0001234"
    assert percent(-0.012, signed=True) == "−1.20\u00a0%"


def test_texts_of_users_are_neither_tex_nor_markup():
    label = plain("a$b$ <i>\\frac & ")
    assert label.html == "a$b$ &lt;i&gt;\\frac &amp; "
    with our_style():
        panel = Panel(label, label, label, (series(label, [1, 2], [1, 2]), series(TC, [1, 2], [2, 1])))
        drawing = finish(draw_panels([panel, panel]))
    assert b"frac" in drawing.svg or drawing.svg  # drawn, not parsed
    assert (TC + "<b>").html.endswith("&lt;b&gt;")
    assert ("<b>" + TC).html.startswith(Markup("&lt;b&gt;"))


def test_unknown_letters_are_no_error():
    with our_style():
        finish(draw_panels([Panel(plain("磁"), plain("磁"), plain("y"), (series(plain("磁"), [1], [1]),))]))


def test_series_keeps_finite_points():
    found = series(plain("s"), [1, 2, 3], [1, np.nan, 3], [0.1, 0.2, np.nan])
    assert found.x.tolist() == [1, 3]
    assert found.errors.tolist() == [0.1, 0.0]


def test_numbers_for_the_page():
    assert numbers([1.23456789, math.inf, -0.1]) == [1.23457, None, -0.1]
    assert script_json({"a": "</script>&"}) == '{"a":"\\u003c/script\\u003e\\u0026"}'


def test_legends_count_upwards():
    """Sizes that only a later panel has stand with the others of their kind, not behind all."""
    panels = [
        Panel(plain(""), plain("x"), plain("y"), tuple(series(plain(name), [1], [1]) for name in names))
        for names in (["n = 400", "n = 2500", "S, n = 2500", "exact"], ["n = 900", "S, n = 400.5", "v2.0."])
    ]
    names = [item.name.tex for item in listed_series(panels)]
    assert names == ["n = 400", "n = 900", "n = 2500", "S, n = 400.5", "S, n = 2500", "exact", "v2.0."]


def test_legends_name_series_in_the_order_in_which_they_are_drawn():
    """Row by row, points with errors among lines; matplotlib alone would list lines first, by columns."""
    marks = {"marker": "circle"}
    curves = [
        series(plain(f"n{k}"), [1, 2], [k, k], [0.1, 0.1] if k % 2 else None, **marks) for k in range(7)
    ]
    with our_style():
        figure = draw_panels([Panel(plain("t"), plain("x"), plain("y"), tuple(curves))], columns=1)
        finish(figure)
    places = {
        label.get_text(): label.get_window_extent().get_points()[0] for label in figure.legends[0].get_texts()
    }
    reading = sorted(places, key=lambda name: (-round(places[name][1]), places[name][0]))
    assert reading == [f"n{k}" for k in range(7)]


def test_wider_bins_keep_the_area():
    edges, density = np.linspace(0, 6, 61), np.random.default_rng(1).random(60)
    few_edges, few = wider_bins(edges, density, n_values=64)
    assert 8 <= len(few) <= 20
    assert np.sum(few * np.diff(few_edges)) == pytest.approx(np.sum(density * np.diff(edges)))
    same_edges, same = wider_bins(edges, density, n_values=10**6)
    assert len(same) == 60
    assert same_edges.tolist() == edges.tolist()


@pytest.mark.parametrize("n_bins", [5, 60])
def test_outline_of_a_histogram_begins_and_ends_at_zero(n_bins):
    edges, density = np.linspace(0, 1, n_bins + 1), np.ones(n_bins)
    x, y = outline(edges, density)
    assert (y[0], y[-1]) == (0, 0)
    assert (x[0], x[-1]) == (0, 1)
    assert np.all(np.diff(x) >= 0)
