"""The benchmark of builds measures what it claims: posts build without errors, and edits reach the output."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from blogsmith.project.report import BuildReport
from tests.site_files import build

from . import build as command
from .build_corpus import CODE_BLOCKS, FOOTNOTES, FORMULAS, make_post
from .build_goals import goal_lines, goal_rows
from .build_growth import Growth, flatness_line, growth_line
from .build_rounds import STEPS, Measured
from .build_runs import Run
from .build_sites import output_formulas, write_site
from .build_subjects import ELEVENTY, OURS, PACKAGES, blogsmith, eleventy, hugo
from .posts import post


def test_posts_differ_and_repeat() -> None:
    assert post(1) == post(1) != post(2)
    assert make_post(1, str) == make_post(1, str) != make_post(2, str)
    assert make_post(1, str) != make_post(1, str, seed=2)


def test_what_a_post_holds() -> None:
    texts = [make_post(number, "{}.md".format).body for number in range(30)]
    for number, text in enumerate(texts):
        prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        assert len(re.findall(r"\$\$.+?\$\$|\$[^$]+\$", prose, re.DOTALL)) == FORMULAS
        assert text.count("```python\n") == CODE_BLOCKS
        assert len(re.findall(r"\[\^\d\][^:]", text)) == FOOTNOTES
        assert text.count("> [!") == 3
        links = [int(found) for found in re.findall(r"\(post-(\d+)\.md\)", text)]
        assert len(links) == (2 if number else 0)
        assert all(link < number for link in links)
    assert 13_000 < sum(map(len, texts)) / len(texts) < 17_000


def test_the_corpus_builds_without_a_diagnostic(tmp_path: Path) -> None:
    site = write_site(blogsmith(), tmp_path / "site", posts=12)
    report: BuildReport = build(site.root, output=site.output)
    assert report.diagnostics == ()
    assert output_formulas(site) == 12 * FORMULAS


@pytest.mark.long
def test_the_command_prints_every_goal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The build inherits the cores of this process.
    monkeypatch.delattr("os.sched_setaffinity", raising=False)
    figures = tmp_path / "figures.json"
    options = ["--posts", "3", "--rounds", "1", "--no-rivals", "--json", str(figures)]
    assert command.main(options) == 0
    printed = capfd.readouterr().out
    assert f"formulas shown: {OURS} {3 * FORMULAS}" in printed
    assert re.search(r"^cold, to Eleventy +– +– ×", printed, re.MULTILINE)
    assert re.search(r"^nothing changed +\d+ +\d+ ms", printed, re.MULTILINE)
    runs = json.loads(figures.read_text())["runs"]
    assert [run["step"] for run in runs] == list(STEPS)
    assert all(run["run"]["cpu_s"] > 0 and run["run"]["peak_bytes"] > 10**7 for run in runs)


def test_goals_are_judged_by_the_clock() -> None:
    ours = {
        **{"cold": 12.0, "unchanged": 0.06, "post": 0.7, "title": 0.4, "template": 2.0},
        **{"check": 0.3, "empty": 0.2, "version": 0.07},
    }
    measured = [
        Measured(OURS, step, number, Run(ours[step] * (number + 1), 1.0, 150 * 10**6))
        for number in range(3)
        for step in STEPS
    ]
    measured += [Measured(ELEVENTY, "cold", number, Run(10.0 * (number + 1), 2.0, 0)) for number in range(3)]
    rows = goal_rows(measured, {OURS: 90, ELEVENTY: 100}, posts=1000)
    assert [(row.wall and round(row.wall, 2), row.verdict) for row in rows] == [
        (1.2, "aim"),
        (None, ""),
        (120, "aim"),
        (1.4, "MISSED"),
        (0.8, "must"),
        (0.6, "aim"),
        (0.2, "must"),
        (150, "must"),
        (0.4, "must"),
        (0.14, "MISSED"),
        (0.9, "aim"),
    ]
    assert [row.cpu for row in rows[:3]] == [0.5, None, 1000]
    assert goal_lines(rows)[1].split() == [
        "cold,",
        "to",
        "Eleventy",
        "1.20",
        "0.50",
        "×",
        "1.5",
        "1.2",
        "aim",
    ]
    # Goals for a site of another size do not apply.
    assert [row.goal is None for row in goal_rows(measured, {OURS: 90}, posts=50)] == [True] * 8 + [False] * 3


def test_growth_is_the_cost_of_a_post_without_the_start() -> None:
    empty = Run(0.4, 0.3, 50 * 10**6)
    few = Growth(100, empty, Run(1.4, 1.3, 60 * 10**6), empty, empty)
    many = Growth(1000, empty, Run(10.4, 13.3, 100 * 10**6), empty, empty)
    assert growth_line(few).split() == ["100", "1.40", "10.00", "10.00", "60", "0.400", "0.400"]
    assert flatness_line((few, many)).endswith("wall 1.00, CPU 1.30; must be at most 1.2 in CPU: MISSED")


def test_rivals_count_where_they_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}" if name == "node" else None)
    assert hugo() is None
    assert eleventy(tmp_path) is None
    for name in (*PACKAGES, "@11ty/eleventy/cmd.cjs"):
        (tmp_path / "node_modules" / name).mkdir(parents=True)
    found = eleventy(tmp_path)
    assert found
    site = write_site(found, tmp_path / "site", posts=1)
    site.edit_template("marka")
    site.edit_template("markb")
    assert (site.root / found.template).read_text().count("<p>mark") == 1
