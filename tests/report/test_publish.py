"""What is kept of a study: enough for the report, and nothing large."""

import shutil
import tarfile

import numpy as np
import pytest
from PIL import Image

from thermorbm.cli import run
from thermorbm.errors import FileError
from thermorbm.report import publish as module
from thermorbm.report.publish import ARCHIVE, _thinned, publish, unpack
from thermorbm.runner.store import Reduced, read_reduced, write_reduced
from thermorbm.study.steps import STEPS


def names(path):
    return {file.name for file in path.iterdir()}


def test_what_is_kept(published_run, finished_run):
    target = published_run
    assert names(target) == {"study.toml", "run.json", "results.json", "tables", "figures", ARCHIVE}
    assert (target / "results.json").read_bytes() == (finished_run / "results.json").read_bytes()
    assert names(target / "tables") == names(finished_run / "tables")
    assert names(target / "figures") == {name for name in names(finished_run / "figures") if ".png" in name}


def test_pictures_are_the_same_in_fewer_bytes(published_run, finished_run):
    small, before = published_run / "figures" / "fig-7.png", finished_run / "figures" / "fig-7.png"
    with Image.open(small) as after, Image.open(before) as large:
        assert after.size == large.size
        assert after.mode == "P"
    assert small.stat().st_size < 0.6 * before.stat().st_size


def test_numbers_of_single_configurations_stay_behind(tmp_path):
    """What figures show of a result is kept as it is, but for arrays with a number per configuration."""
    task = STEPS["measure"].task("d", {})
    arrays = {"samples.energy": np.arange(9), "magnetization.edges": np.linspace(-1, 1, 5)}
    for name, kept in (("with", {"magnetization.edges"}), ("without", set())):
        path, back = tmp_path / f"{name}.h5", tmp_path / f"{name}-back.h5"
        write_reduced(path, Reduced(task, {"x": 1}, arrays))
        back.write_bytes(_thinned(path, with_arrays=name == "with"))
        assert set(read_reduced(back).arrays) == kept
        assert read_reduced(back).values == {"x": 1}
    write_reduced(path, Reduced(task, {}, {"a": np.arange(3)}))
    assert _thinned(path, with_arrays=True) == path.read_bytes()


def test_report_and_tables_come_back(copied_publication, finished_run, quick_figures):
    place = copied_publication
    shutil.rmtree(place / "tables")
    (place / "results.json").unlink()
    assert run(["report", str(place), "--workers", "1"]) == 0
    for table in (finished_run / "tables").glob("*.csv"):
        assert (place / "tables" / table.name).read_bytes() == table.read_bytes(), table.name
    assert not unpack(place)  # once is enough


def test_what_was_published_is_replaced_by_the_next_with_the_same_bytes(
    published_run, copied_publication, finished_run
):
    """And what a publishing that was killed left there goes away."""
    target = copied_publication
    (target / "figures" / "old.png").write_bytes(b"")
    (target / ARCHIVE).write_bytes(b"old")
    shutil.copytree(target / "tables", target / ".publish.x.tmp" / "tables")
    sizes = publish(finished_run, target)
    assert not (target / "figures" / "old.png").exists()
    assert not list(target.glob(".publish*"))
    assert (target / ARCHIVE).read_bytes() == (published_run / ARCHIVE).read_bytes()
    on_disk = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
    assert sum(sizes.values()) == on_disk - (target / "run.json").stat().st_size


def test_refusals(published_run, finished_run, copied_run, tmp_path):
    with pytest.raises(FileError, match="has no report yet"):
        publish(copied_run, tmp_path / "new")
    with pytest.raises(FileError, match="is the run directory itself"):
        publish(finished_run, finished_run)
    (copied_run / "cache").mkdir()
    with pytest.raises(FileError, match="is a run directory with its machines"):
        publish(finished_run, copied_run)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").touch()
    with pytest.raises(FileError, match="is not empty and not a run directory"):
        publish(finished_run, tmp_path / "other")
    damaged = tmp_path / "damaged"
    shutil.copytree(published_run, damaged)
    (damaged / ARCHIVE).write_bytes((damaged / ARCHIVE).read_bytes()[:-100])
    with pytest.raises(FileError, match="cannot be unpacked"):
        unpack(damaged)
    assert not (damaged / "reduced").exists()


def test_the_command_names_the_place(finished_run, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(module, "_archive", lambda run: b"")  # which takes the longest
    assert run(["publish", str(finished_run), str(tmp_path / "kept")]) == 0
    seen = capsys.readouterr()
    assert seen.out.strip() == str(tmp_path / "kept")
    assert "MB together" in " ".join(seen.err.split())


def test_arrays_that_no_figure_shows_are_left_out(published_run, finished_run, tmp_path):
    with tarfile.open(published_run / ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    before = {file.name: file for file in (finished_run / "reduced" / "weights").glob("*.h5")}
    after = {file.name: read_reduced(file) for file in (tmp_path / "reduced" / "weights").glob("*.h5")}
    assert set(after) == set(before)
    thin = {name for name, result in after.items() if not result.arrays}
    assert any("T2.25-h9" in name for name in thin)
    assert not any("T2.25-h4" in name and name.startswith("2d-T") for name in thin)
    for name, result in after.items():
        assert result.values == read_reduced(before[name]).values
