"""The report as files: everything is there, whatever is missing is said, nothing of users' is markup."""

import csv
import html
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

from thermorbm.errors import FileError
from thermorbm.report import build
from thermorbm.report.drawing import draw_all
from thermorbm.report.run import Missing, Run, read_run
from thermorbm.report.section import Gap, Judgement, RunFigure, judge_all, make_tables
from thermorbm.report.sections import SECTIONS, SUMMARY, all_figures
from thermorbm.report.style import DOUBLE, SINGLE, new_figure, our_style
from thermorbm.study.results import make_results

CLAIMS = [claim for section in SECTIONS for claim in section.claims]
EXPECTED = {
    "overview",
    "fig-1", "fig-2-2d", "fig-2-3d", "fig-3a-2d", "fig-3a-3d", "fig-3b-2d", "fig-3c-2d", "fig-4a-2d",
    "fig-4bc-2d", "fig-5-2d", "fig-6-2d", "fig-7", "fig-8", "tab-1-2d", "app-a-2d", "app-a-3d",
    "certificates-2d",
    "critical-2d", "supp-heat-capacity", "supp-training-2d", "supp-zero-bias-2d", "supp-filter-sums",
    "supp-correlation-2d", "supp-reconstruction-2d", "supp-filters-2d-2.25-h4", "text-chains-2d",
    "text-signs-2d", "text-proportions-2d",
}  # fmt: skip


def figure_ids(page):
    return set(re.findall(r'<figure id="([^"]+)"', page))


def test_every_figure_of_the_paper_is_on_the_page_and_in_files(page, finished_run):
    assert figure_ids(page) >= EXPECTED
    for name in figure_ids(page):
        assert (finished_run / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert b"<svg" in (finished_run / "figures" / f"{name}.svg").read_bytes()[:500]


def test_nothing_is_left_out_because_of_surprises(page):
    assert "the report failed" not in page
    assert "The report itself failed" not in page


def test_a_section_without_content_stands_at_the_end(page):
    """Nobody unfolds it in vain; links to it still lead to the reason."""
    assert '<section id="section-scaling"' not in page
    reason = page.index('<h3 id="section-scaling">')
    assert reason > page.index('<section id="left-out"') > page.rindex('<section id="section-')


def test_links_within_the_page_lead_somewhere(page):
    ids = set(re.findall(r'\sid="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= ids


def test_claims_are_counted_in_a_sentence(page, finished_run):
    with open(finished_run / "tables" / "claims.csv", newline="") as file:
        verdicts = Counter(row["verdict"] for row in csv.DictReader(file))
    words = f"Of these {verdicts.total()} cases a claim holds in {verdicts['holds']}, does not hold in "
    assert words + f"{verdicts['does not hold']}, " in page


def test_summary_comes_first(page):
    order = ("summary", "symbols", "study", "claims", "section-critical", "section-weights")
    places = [page.index(f'id="{name}"') for name in order]
    assert places == sorted(places)
    assert page.index('id="section-methods"') < page.index('id="section-provenance"')


def test_page_is_small_and_asks_for_nothing(page):
    assert len(page.encode()) < 6_000_000
    outside = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert "http://" not in outside
    assert "https://" not in outside
    assert re.findall(r'(?:src|href)="(?!data:|#)', outside) == []


def test_names_of_users_are_not_markup(page):
    assert "<script>alert(1)" not in page
    assert "Small &lt;script&gt;alert(1)&lt;/script&gt; &amp; &lt;b&gt;bold&lt;/b&gt; study" in page


def test_claims_table_has_every_claim(page, finished_run):
    with open(finished_run / "tables" / "claims.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["id"] for row in rows} == {claim.id for claim in CLAIMS}
    assert {row["verdict"] for row in rows} <= {"holds", "does not hold", "inconclusive", "not tested"}
    assert all(row["measured"] and row["rule"] for row in rows)
    assert page.count('class="verdict') == len(rows)


def test_critical_temperatures_have_targets(page):
    table = page[page.index('id="section-critical"') : page.index('id="section-entropy"')]
    assert table.count("<tr>") > 10
    assert "Var |Σ<sub>j</sub>" in table


def test_unknown_hamiltonian_without_lattice(own_data_run):
    page = (own_data_run / "report.html").read_text(encoding="utf-8")
    assert "the report failed" not in page
    assert "The report itself failed" not in page
    assert "p&lt;b&gt;$" in page
    assert "p<b>$" not in page
    assert {"fig-1", "fig-2-crystal", "fig-5-crystal", "fig-7", "fig-8"} <= figure_ids(page)
    assert "fig-3a-crystal" not in figure_ids(page)
    assert "the configurations have no lattice" in page
    assert "Nothing is known of the model behind them" in page


def test_own_data_are_spoken_of_in_their_own_words(own_data_run):
    """No temperature, no Ising model and no paper where there are none; what was learned comes first."""
    page = (own_data_run / "report.html").read_text(encoding="utf-8")
    words = html.unescape(re.sub(r"<(style|script)[^>]*>.*?</\1>|<[^>]+>", " ", page, flags=re.DOTALL))
    assert (
        re.findall(
            r"temperature|Ising|paper|A perfect machine|Supp\.|Fig\. |Tab\. |\bT\b|T\s+c\b|Kaufman|Onsager",
            words,
        )
        == []
    )
    assert "pressure" in words
    assert 'id="claims"' not in page
    assert re.findall(r'<article class="card" id="card-(\w+)"', page) == [
        "transition", "entropy", "learnt", "order",
    ]  # fmt: skip
    with open(own_data_run / "tables" / "claims.csv", newline="") as file:
        assert list(csv.DictReader(file)) == []


def test_the_first_screen_says_what_was_found(page):
    """Four cards, each with a picture and with sentences that hold numbers."""
    cards = re.findall(r'<article class="card" id="card-(\w+)">(.*?)</article>', page, flags=re.DOTALL)
    assert [name for name, _ in cards] == ["transition", "entropy", "learnt", "claims"]
    for name, content in cards:
        sentences = re.sub(r"<[^>]+>", "", re.search(r"<p>(.*?)</p>", content, flags=re.DOTALL)[1])
        assert re.search(r"\d", sentences), name
        assert sentences.strip().endswith("."), name
    contents = dict(cards)
    assert contents["transition"].count('<svg class="panel"') == 1
    assert contents["entropy"].count('<svg class="panel"') == 2  # evenly and by logarithm
    assert contents["learnt"].count("<img ") == 12
    assert contents["claims"].count('<details class="mark') == len(CLAIMS)


def test_figures_of_files_fit_a_column_or_two(finished_run):
    widths = {
        round(float(re.search(r'width="([\d.]+)pt"', file.read_text())[1]) / 72, 3)
        for file in (finished_run / "figures").glob("*.svg")
    }
    assert widths == {SINGLE, DOUBLE}


def test_same_results_give_the_same_files_from_several_processes(finished_run):
    chosen = [figure for figure in all_figures() if figure.title in ("At a glance", "Filters", "Sign rule")]
    charts = [item for items in draw_all(read_run(finished_run), chosen, n_workers=2) for item in items]
    files = {chart.id: chart.drawing for chart in charts if not isinstance(chart, Gap)}
    assert len(files) == 4
    for name, drawing in files.items():
        assert (finished_run / "figures" / f"{name}.svg").read_bytes() == drawing.svg
        assert (finished_run / "figures" / f"{name}.png").read_bytes() == drawing.png


def slow_then_quick(run):
    time.sleep(0.5)
    raise Missing("slow")


def quick(run):
    raise Missing("quick")


def broken(run):
    raise RuntimeError("a bug")


def killed(run):
    os.kill(os.getpid(), signal.SIGKILL)


def figure(function):
    return RunFigure("", "", function.__name__, function)


def test_figures_stay_in_order_whoever_is_ready_first(finished_run):
    drawn = draw_all(read_run(finished_run), [figure(slow_then_quick), *[figure(quick)] * 3], n_workers=2)
    assert [item.reason for (item,) in drawn] == ["slow", "quick", "quick", "quick"]


def test_an_error_in_a_drawing_process_is_shown_in_its_place(finished_run):
    (_, (gap,)) = draw_all(read_run(finished_run), [figure(quick), figure(broken)], n_workers=2)
    assert gap.is_failure
    assert gap.reason.startswith("RuntimeError: a bug (test_build.py, line ")


def test_a_drawing_process_that_is_killed(finished_run):
    with pytest.raises(FileError, match="was killed, perhaps because memory ran out; try: thermorbm report"):
        draw_all(read_run(finished_run), [figure(killed), figure(quick)], n_workers=2)


SLEEPERS = """\
import sys, time
from pathlib import Path
from thermorbm.report.drawing import draw_all
from thermorbm.report.run import read_run
from thermorbm.report.section import RunFigure

def sleep(run):
    print("sleeping", flush=True)
    time.sleep(600)

if __name__ == "__main__":
    draw_all(read_run(Path(sys.argv[1])), [RunFigure("", "", "", sleep)] * 2, n_workers=2)
"""


def test_drawing_processes_end_with_a_parent_that_is_killed(finished_run, tmp_path):
    (tmp_path / "sleepers.py").write_text(SLEEPERS)
    command = [sys.executable, str(tmp_path / "sleepers.py"), str(finished_run)]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdout=pipe, stderr=nothing, text=True) as parent:
        assert [parent.stdout.readline() for _ in range(2)] == ["sleeping\n"] * 2
        parent.kill()
        assert parent.communicate(timeout=60)[0] == ""  # nobody holds the other end any more


def left_out(path):
    """What has no figure, without rendering."""
    run = read_run(path)
    with our_style():
        results = [item for figure in all_figures() for item in figure.attempts(run)]
    return [item for item in results if isinstance(item, Gap)]


def test_arrays_that_are_gone_leave_figures_out(copied_run):
    shutil.rmtree(copied_run / "reduced")
    gaps = left_out(copied_run)
    titles = {"Fig. 2, Couplings and biases (2d)", "Fig. 3a, Filters (2d)", "Supp., Training curves (2d)"}
    assert titles <= {gap.what for gap in gaps}
    assert not any(gap.is_failure for gap in gaps)


def no_machines(content):
    for family in content["families"]:
        family.update(machines=[], indicators=[], critical_temperatures=[])


def failed_tasks(content):
    content["tasks"].update(failed=[{"task": "train/<b>x</b>", "error": "no"}], missing=["weights/y"])
    for family in content["families"]:
        for machine in family["machines"]:
            machine.update(weights=None, observations=[])
        family["thermodynamics"] = None


def nothing_measured(content):
    for family in content["families"]:
        for row in family["data"]:
            row.update(thermal={}, certificate=None)
        family["parts"] = []


def no_families(content):
    content["families"] = []


@pytest.mark.parametrize("change", [no_machines, failed_tasks, nothing_measured, no_families])
def test_what_is_missing_is_said(copied_run, change_results, quick_figures, change):
    change_results(copied_run, change)
    page = build(copied_run).read_text(encoding="utf-8")
    assert "the report failed" not in page
    assert "The report itself failed" not in page
    assert "<b>x</b>" not in page
    if change is failed_tasks:
        assert "1 of" in page
        assert "tasks failed" in page
    if change is not no_families:
        assert "left out, because" in page


def losses(content):
    """One part after the other of the first family, as it looks in results that do not have it."""
    family = content["families"][0]
    for key in ("shape", "critical_temperature", "thermodynamics"):
        yield key, lambda key=key: family.update({key: None})
    for key in ("data", "energies", "machines", "indicators", "critical_temperatures"):
        yield key, lambda key=key: family.update({key: []})
    for key in ("weights", "partition"):
        yield key, lambda key=key: [machine.update({key: None}) for machine in family["machines"]]
    rows = [row for machine in family["machines"] for row in machine["observations"]]
    for key in ("likelihood", "visible_energy", "hidden", "generation", "quality", "bracket"):
        yield key, lambda key=key: [row.update({key: None}) for row in rows]
    yield "observations", lambda: [machine.update(observations=[]) for machine in family["machines"]]
    yield "curves", lambda: [item.update(curves={}) for item in family["indicators"]]
    yield "entropy", lambda: family["thermodynamics"].update(entropy=None, curves={}, grid_curves={})


def test_every_single_loss_is_survived(finished_run, monkeypatch):
    """Takes away one part of the results after the other: nothing may fail, all claims are judged."""
    monkeypatch.setattr("thermorbm.report.chart.draw_panels", lambda panels, **layout: new_figure(1, 1))
    original = (finished_run / "results.json").read_text()
    for place, (name, _) in enumerate(losses(json.loads(original))):
        content = json.loads(original)
        list(losses(content))[place][1]()
        run = Run(finished_run, make_results(content))
        findings = [finding for item in judge_all(SECTIONS, run) for finding in item.findings]
        assert len({id(item) for item in findings}) >= len(CLAIMS)
        assert [item for item in findings if item.judgement is Judgement.BROKEN] == [], name
        assert [gap for section in (SUMMARY, *SECTIONS) for gap in make_tables(section, run)[1]] == [], name
        with our_style():
            results = [item for figure in all_figures() for item in figure.attempts(run)]
        assert [item for item in results if isinstance(item, Gap) and item.is_failure] == [], name


def test_no_results_yet(tmp_path, finished_run):
    with pytest.raises(FileError, match="not a run directory"):
        build(tmp_path)
    shutil.copy(finished_run / "run.json", tmp_path / "run.json")
    with pytest.raises(FileError, match="not there yet"):
        build(tmp_path)


def test_arrays_outside_the_directory_are_not_read(finished_run):
    assert read_run(finished_run).arrays("../../etc/passwd") == {}


def test_matplotlib_stays_as_it_was(finished_run):
    """No pyplot, no open figures, no changed settings."""
    program = (
        "import sys, matplotlib\n"
        "def settings():  # looking at the backend would choose one\n"
        "    return {key: matplotlib.rcParams[key] for key in matplotlib.rcParams if key != 'backend'}\n"
        "before = settings()\n"
        "from pathlib import Path\n"
        "from thermorbm.report.run import read_run\n"
        "from thermorbm.report.sections import all_figures\n"
        "from thermorbm.report.style import finish, our_style\n"
        f"run = read_run(Path({str(finished_run)!r}))\n"
        "with our_style():\n"
        "    (overview,) = next(all_figures()[0].attempts(run))\n"
        "    finish(overview.figure)\n"
        "assert 'matplotlib.pyplot' not in sys.modules and 'torch' not in sys.modules\n"
        "assert settings() == before\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)
