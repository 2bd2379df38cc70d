"""docs/reproduction.md comes from published results: all parts, links to figures, no number of its own."""

import csv
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAPER, PLUS = ROOT / "results" / "paper", ROOT / "results" / "paper-plus"


@pytest.fixture
def reproduction(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import reproduction as module

    return module


@pytest.fixture
def example(copied_publication, tmp_path):
    (tmp_path / "docs").mkdir()
    return copied_publication


def made(reproduction, example):
    place = example.parent / "docs" / "reproduction.md"
    reproduction.main([str(example)], place)
    return place.read_text(encoding="utf-8")


def test_every_part_and_claim_is_there(reproduction, example):
    text = made(reproduction, example)
    with open(example / "tables" / "claims.csv", newline="") as file:
        claims = list(csv.DictReader(file))
    for row in claims:
        assert f"### {row['part']} " in text
        assert row["measured"].replace("|", "&#124;") in text
    first_page = text[text.index("## What of the paper holds") : text.index("## The study")]
    tested = [row for row in claims if row["verdict"] != "not tested"]
    assert tested
    assert all(row["claim"].replace("|", "&#124;") in first_page for row in tested)
    assert "## Table 2 side by side" in text
    assert re.search(r"\| all \| \d+ \| ", text)


def test_links_lead_to_figures(reproduction, example):
    links = re.findall(r"!\[[^]]*\]\(([^)]+)\)", made(reproduction, example))
    assert len(links) > 20
    for item in links:
        assert (example.parent / "docs" / item).is_file()
    drawn = {file.name for file in (example / "figures").iterdir()}
    left_out = drawn - {Path(item).name for item in links}
    assert left_out <= {"overview.png"}


def test_numbers_come_from_the_results(reproduction, example):
    before = made(reproduction, example)
    content = json.loads((example / "results.json").read_text())
    rows = content["families"][0]["critical_temperatures"]
    row = next(row for row in rows if row["indicator"] == "pseudo_likelihood_per_spin")
    row |= {
        "estimate": {"value": 7.7777, "error": 0.00012},
        "problem": None,
        "at_edge": False,
        "resolved": True,
    }
    (example / "results.json").write_text(json.dumps(content))
    after = made(reproduction, example)
    assert "7.77770(12)" in after
    assert "7.77770(12)" not in before


def test_words_may_name_what_was_measured(reproduction, example):
    study = reproduction.read_study(example)
    filled = reproduction.fill(study, "a {measured:permutation:2d} b {measured:none:2d} {tc:2d:none:4:x}")
    expected = next(row["measured"] for row in study.claims if row["id"] == "permutation")
    assert filled == f"a {expected} b not measured not measured"
    row = study.run.results.families[0].machines[0]
    name = f"machine:2d:{row.variant}:{row.n_hidden}:{row.value}"
    filled = reproduction.fill(study, f"{{{name}:weights.W.variance}} {{{name}:none.x}}")
    assert filled == f"{row.weights.W.variance:.3g} not measured"


def test_words_for_a_family_go_before_words_for_any(reproduction, example):
    study = reproduction.read_study(example)
    words = [{"claim": "a", "text": "any, {family}"}, {"claim": "a", "family": "3d", "text": "own"}]
    found = [reproduction.reason(study, words, "a", family) for family in ("2d", "3d")]
    assert found == ["any, 2d", "own"]
    assert reproduction.reason(study, words, "b", "2d") == "Not explained."


def row_of(claim, family, verdict):
    return {
        "id": claim,
        "claim": claim,
        "family": family,
        "verdict": verdict,
        "measured": f"{claim} {family}",
    }


def test_claims_stand_in_four_groups(reproduction, example):
    """By machines trained well and as the paper's; a claim on the data alone is the same for both."""
    study = reproduction.read_study(example)
    verdicts = {"a": ("holds", "holds"), "b": ("does not hold", "holds"), "c": ("holds", "does not hold"),
                "d": ("does not hold", "does not hold"), "e": ("holds", "inconclusive"),
                "f": ("not tested", "holds"), "g": ("not tested", "does not hold")}  # fmt: skip
    study.claims[:] = [row_of("data", "2d", "holds")] + [
        row_of(name, "2d" + end, verdict)
        for name, pair in verdicts.items()
        for end, verdict in zip(("", "-as-paper"), pair, strict=True)
    ]
    text = reproduction.groups(study, [{"claim": "b", "family": "2d", "text": "because"}])
    titles_and_tables = re.split(r"\*\*([^*]+)\*\* \(\d+\)", text)[1:]
    found = [re.findall(r"^\| (\w+) \| 2d", table, re.M) for table in titles_and_tables[1::2]]
    assert found == [["data", "a"], ["b"], ["c"], ["d"], ["f"], ["g"], ["e"]]
    assert "| b | 2d | because *Trained well*: b 2d. *As the paper's*: b 2d-as-paper. |" in text
    assert "| d | 2d | Not explained. " in text


def test_what_does_not_hold_is_explained(reproduction):
    assert "Not explained" not in reproduction.PAGE.read_text(encoding="utf-8")


def test_usage(reproduction):
    with pytest.raises(SystemExit, match="usage"):
        reproduction.main([])


def test_the_committed_page_is_that_of_the_committed_results(reproduction):
    if not PAPER.exists() or not reproduction.PAGE.exists():
        pytest.skip("results/paper and docs/reproduction.md are not there yet: tools/reproduction.py")
    place = ROOT / "docs" / ".reproduction-test.md"
    try:
        reproduction.main([str(path) for path in (PAPER, PLUS) if path.exists()], place)
        assert place.read_text(encoding="utf-8") == reproduction.PAGE.read_text(encoding="utf-8")
    finally:
        place.unlink(missing_ok=True)
