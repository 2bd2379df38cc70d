"""Progress: bars where somebody looks and work lasts, nothing where not, and what is logged."""

import io
import logging
import sys
import types

import pytest

import thermorbm as tr
from thermorbm import shown


class Terminal(io.StringIO):
    def isatty(self):
        return True


def terminal(monkeypatch, patience=0.0):
    """A screen in the place of stderr; called in the test, because pytest sets stderr before it."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(shown, "PATIENCE_SECONDS", patience)
    return screen


@pytest.fixture(scope="module")
def data():
    return tr.sample((4, 4), temperature=3.0, n_samples=200, seed=1)


def test_bars_in_a_terminal(monkeypatch, data):
    screen = terminal(monkeypatch)
    tr.train(data, n_hidden=2, epochs=1)
    tr.sample((4, 4), temperatures=[2.0, 3.0], n_samples=20)
    shown = screen.getvalue()
    assert "training" in shown
    assert "T = 3 (2 of 2)" in shown


def test_no_bars_where_not_wanted(monkeypatch, data):
    screen = terminal(monkeypatch)
    tr.train(data, n_hidden=2, epochs=1, progress=False)
    tr.sample((4, 4), temperature=3.0, n_samples=20, progress=False)
    assert screen.getvalue() == ""


def test_no_bars_for_short_work(monkeypatch, data):
    screen = terminal(monkeypatch, patience=60.0)
    tr.train(data, n_hidden=2, epochs=1)
    assert screen.getvalue() == ""


def test_no_bars_without_a_terminal(data, capsys):
    tr.train(data, n_hidden=2, epochs=1)
    assert capsys.readouterr() == ("", "")


def test_a_notebook_is_told_by_its_shell(monkeypatch):
    assert not shown.in_notebook()
    shell = type("ZMQInteractiveShell", (), {})()
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    assert shown.in_notebook()


def test_the_users_own_progress_is_called(data):
    steps, stages = [], []
    tr.train(data, n_hidden=2, epochs=1, progress=steps.append)
    tr.sample((4, 4), temperature=3.0, n_samples=20, progress=lambda *stage: stages.append(stage))
    assert steps[-1].update == steps[-1].n_updates
    assert stages[-1][0] == "sample"


def test_what_is_done_is_logged(data, caplog):
    with caplog.at_level(logging.INFO, logger="thermorbm"):
        tr.train(data, n_hidden=2, epochs=1)
        tr.sample((4, 4), temperature=3.0, n_samples=20)
    assert [record.getMessage().split()[0] for record in caplog.records] == [
        "training",
        "trained:",
        "sampled",
    ]
