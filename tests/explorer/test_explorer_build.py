"""The page of a run directory: what is in it, how large it is, and what it says of what is missing."""

import json
import re
import shutil

import pytest

from thermorbm.cli import run
from thermorbm.explorer import build_explorer
from thermorbm.explorer.content import NOT_KEPT, NOT_TRAINED, contents
from thermorbm.explorer.fit import fit
from thermorbm.report.run import read_run

WEIGHTS = re.compile(r'<script type="text/plain" id="weights-\d+">([A-Za-z0-9+/=]*)</script>')


def data_of(page):
    (found,) = re.findall(r'id="explorer-data">(.*?)</script>', page.read_text(encoding="utf-8"))
    return json.loads(found)


def test_every_machine_of_the_smallest_size_is_there(explored_run):
    page = explored_run / "explore.html"
    data = data_of(page)
    assert [family["name"] for family in data["families"]] == ["2d", "3d"]
    kinds = [
        {key for key, spec in p["machines"].items() if "id" in spec} for p in data["families"][0]["points"]
    ]
    assert kinds == [{"dense"}, {"dense", "as-paper", "symmetric"}, {"dense", "symmetric"}]
    assert data["families"][0]["points"][0]["missing"]["symmetric"] == NOT_TRAINED
    assert len(WEIGHTS.findall(page.read_text(encoding="utf-8"))) == 6 + 2


def test_texts_of_users_are_no_markup(explored_run):
    text = (explored_run / "explore.html").read_text(encoding="utf-8")
    assert "<script>alert" not in text
    assert "<b>bold" not in text
    assert "Small &lt;script&gt;" in text


def test_nothing_is_asked_of_a_network(explored_run):
    text = (explored_run / "explore.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert not re.search(r'(?:src|href)="(?!data:)', text)


def test_histograms_are_those_of_the_data(explored_run):
    point = data_of(explored_run / "explore.html")["families"][0]["points"][1]
    row = json.loads((explored_run / "results.json").read_text())["families"][0]["data"][1]
    assert point["data"]["n_counted"] == 1200
    for name in ("energy", "magnetization"):
        assert sum(point["data"][name]["counts"]) == 1200
    for name, stored in (("energy", "energy_per_spin"), ("abs_magnetization", "abs_magnetization_per_spin")):
        assert point["data"]["means"][name]["value"] == pytest.approx(row["thermal"][stored]["value"])


def test_a_smaller_page_has_fewer_bytes_per_weight_and_then_fewer_machines(explored_run):
    families = contents(read_run(explored_run))
    whole = fit(families, 10**9)
    size = sum(len(item.text) for item in whole.stored.values())
    assert {item.format for item in whole.stored.values()} == {"float16"}
    assert not whole.missing

    rounded = fit(families, size - 1)
    assert {key[2]: item.format for key, item in rounded.stored.items()} == {
        "dense": "int8", "as-paper": "int8", "symmetric": "float16",
    }  # fmt: skip
    assert not rounded.missing

    smaller = sum(len(item.text) for item in rounded.stored.values())
    thin = fit(families, smaller - 1)
    assert thin.missing == {("2d", 2.5, "as-paper")}
    assert sum(len(item.text) for item in thin.stored.values()) < smaller
    assert "1 of 8 machines are left out" in thin.notes[0]
    assert fit(families, 0).stored == {}


def test_published_results_show_what_was_kept(copied_run):
    shutil.rmtree(copied_run / "cache")
    data = data_of(build_explorer(copied_run))
    low, middle, _ = data["families"][0]["points"]
    assert low["missing"]["dense"] == NOT_KEPT
    assert low["machines"]["dense"]["n_filters"] == 5
    assert middle["machines"]["dense"]["n_filters"] == 16  # all of them, as the study asked
    assert low["data"]["n_spins"] == 0
    assert sum(low["data"]["energy"]["counts"]) == 1200


def test_a_study_under_way_says_so(copied_run, capsys):
    for place in ("reduced", "cache"):
        for file in (copied_run / place / "train").glob("2d-symmetric*"):
            file.unlink()
    assert run(["explore", str(copied_run), "-o", str(copied_run.parent / "page.html")]) == 0
    page = copied_run.parent / "page.html"
    assert capsys.readouterr().out.strip() == str(page)
    assert run(["explore", str(copied_run), "-o", str(page)]) == 2  # it might be anything
    assert "exists already; choose another name or use --force" in capsys.readouterr().err
    text = page.read_text(encoding="utf-8")
    assert "tasks are done, 2 machines are not trained yet. The page" in text
    assert "No symmetric machines were trained on 2d." in text


def test_a_damaged_machine_is_named(copied_run):
    (file,) = (copied_run / "cache" / "train").glob("2d-T2-*")
    file.write_bytes(file.read_bytes()[:-100])
    page = build_explorer(copied_run)
    assert "The machine main at 2 cannot be read" in page.read_text(encoding="utf-8")
    assert "id" not in data_of(page)["families"][0]["points"][0]["machines"]["dense"]


def test_damaged_configurations_are_named(copied_run):
    (file,) = (copied_run / "cache" / "sample").glob("2d-T2-*")
    file.write_bytes(b"nothing")
    assert "Configurations at 2 cannot be read" in build_explorer(copied_run).read_text(encoding="utf-8")


def test_results_alone(copied_run):
    """Without the plan and without arrays there is nothing to show."""
    for name in ("reduced", "cache"):
        shutil.rmtree(copied_run / name)
    (copied_run / "plan.json").unlink()
    data = data_of(build_explorer(copied_run))
    assert data["families"][0]["points"][0]["data"] is None


def test_bad_input_is_refused_in_one_line(explored_run, tmp_path, capsys):
    for arguments, problem in (
        ([str(tmp_path)], "is not a run directory"),
        ([str(explored_run), "-o", str(tmp_path / "no" / "page.html")], "does not exist"),
        ([str(explored_run), "--size", "1"], "3 to 1000 MB"),
        ([str(explored_run), "--size", "much"], "is not a number"),
    ):
        assert run(["explore", *arguments]) == 2
        error = capsys.readouterr().err
        assert problem in error
        assert len(error.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
