"""Cells in whole builds: what runs, what is recorded, what pages show, and messages of commands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path, PurePosixPath
from textwrap import dedent
from typing import Any, Literal

import pytest

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.cli.main import main
from blogsmith.project.report import BuildReport, ExecutionOptions
from blogsmith.project.select import select_posts
from blogsmith.project.trust.consent import trust
from tests.site_files import build, put_bare

POST = """\
---
title: A
---
The sum is {= total =}.

```{python}
#| label: read
import lib.table
numbers = [int(n) for n in open("numbers.txt").read().split()]
```

Then it is added up.

```{python}
#| label: add
#| fig-cap: A caption
total = sum(numbers) * lib.table.factor
print(total)
class Dot:
    def _repr_svg_(self):
        return '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>'
Dot()
```

And {= total:05d =} again.
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Create a site whose post reads a file, imports a module and uses a variable."""
    root = tmp_path / "site"
    put_bare(root, {"blogsmith.yaml": "title: T\nexecute: {env: [SHIFT]}\n"})
    write(root, "content/posts/a.md", POST.replace("The sum is {= total =}.\n\n", ""))
    write(root, "content/posts/numbers.txt", "1 2 3\n")
    write(root, "lib/__init__.py", "")
    write(root, "lib/table.py", "factor = 10\n")
    return root


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, encoding="utf-8")


def change(root: Path, name: str, old: str, new: str) -> None:
    text = (root / name).read_text("utf-8")
    assert old in text
    write(root, name, text.replace(old, new))


def run(root: Path, execute: Literal["", "stale", "all"] = "stale", **options: Any) -> BuildReport:
    return build(root, execution=ExecutionOptions(execute=execute, **options))


def page(root: Path, name: str = "posts/a") -> str:
    return (root / "public" / name / "index.html").read_text("utf-8")


def explained(root: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["freeze", "explain", "--site", str(root)]) == 0
    return capsys.readouterr().out


def test_a_site_that_is_not_trusted_runs_nothing(site: Path) -> None:
    report = build(site)
    assert report.ok and report.executed_cells == 0
    assert [found.code for found in report.diagnostics] == ["cell-pending"]
    assert 'data-status="pending"' in page(site)
    assert not (site / "_freeze").exists()


def test_a_trusted_site_runs_what_was_never_run(site: Path) -> None:
    trust(site)
    report = build(site)
    assert report.ok and report.executed_cells == 2 and not report.diagnostics
    assert '<pre class="output output-stdout">60\n</pre>' in page(site)
    assert '<span class="value">00060</span>' in page(site)


def test_what_is_recorded_is_not_run_again_and_the_page_stays(site: Path) -> None:
    assert run(site).executed_cells == 2
    first, record = page(site), (site / "_freeze/posts/a/outputs.json").read_bytes()
    assert run(site).executed_cells == 0
    assert page(site) == first
    assert run(site, "all").executed_cells == 2
    assert page(site) == first
    assert (site / "_freeze/posts/a/outputs.json").read_bytes() == record


HITS = {
    "prose": ("content/posts/a.md", "Then it is added up", "It is added up then"),
    "lines above": ("content/posts/a.md", "title: A\n---\n", "title: A\n---\nOne more paragraph.\n\n"),
    "caption": ("content/posts/a.md", "A caption", "Another caption"),
    "echo": ("content/posts/a.md", "#| label: add", "#| label: add\n#| echo: false"),
    "label": ("content/posts/a.md", "#| label: add", "#| label: sum"),
    "blank behind the code": ("content/posts/a.md", "Dot()\n", "Dot()\n\n"),
    "a file that is not read": ("blogsmith.yaml", "title: T", "title: U"),
}
MISSES = {
    "code": (("content/posts/a.md", "print(total)", "print(total + 1)"), "its code has changed"),
    "earlier cell": (("content/posts/a.md", "int(n)", "int(n) + 1"), "cell read before it has changed"),
    "file read": (("content/posts/numbers.txt", "1 2 3", "1 2 4"), "content/posts/numbers.txt, which"),
    "local module": (("lib/table.py", "10", "11"), "lib/table.py, which"),
    "seed": (("content/posts/a.md", "#| label: add", "#| label: add\n#| seed: 1"), "seed"),
}


@pytest.mark.parametrize("name", HITS)
def test_what_does_not_count(site: Path, name: str) -> None:
    run(site)
    change(site, *HITS[name])
    report = run(site)
    assert report.ok and report.executed_cells == 0
    assert build(site, execution=ExecutionOptions(frozen=True)).ok


@pytest.mark.parametrize("name", MISSES)
def test_what_counts_and_why(site: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    run(site)
    edit, reason = MISSES[name]
    change(site, *edit)
    assert reason in explained(site, capsys)
    frozen = build(site, execution=ExecutionOptions(frozen=True))
    assert frozen.has_only_stale
    assert {found.code for found in frozen.diagnostics} == {"freeze-stale"}
    assert run(site).executed_cells == 2
    assert "stale" not in explained(site, capsys)


def test_a_variable_of_the_environment_counts(
    site: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHIFT", "1")
    run(site)
    assert "1" not in (site / "_freeze/posts/a/outputs.json").read_text().partition('"SHIFT"')[2][:3]
    monkeypatch.setenv("SHIFT", "2")
    assert "the environment variable SHIFT has changed" in explained(site, capsys)
    assert run(site).executed_cells == 2


def test_a_stale_result_is_shown_and_says_so(site: Path) -> None:
    run(site)
    change(site, *MISSES["code"][0])
    report = build(site)
    assert report.ok and [found.code for found in report.diagnostics] == ["cell-stale"]
    assert 'data-status="stale"' in page(site) and ">60\n<" in page(site)


def test_one_failing_post_leaves_the_others_and_the_old_site(site: Path) -> None:
    run(site)
    first = page(site)
    write(site, "content/posts/b.md", "---\ntitle: B\n---\n```{python}\nprint(1)\n1 / 0\n```\n")
    write(site, "content/posts/c.md", "---\ntitle: C\n---\n```{python}\nprint(2)\n```\n")
    report = run(site)
    assert not report.ok
    error = next(found for found in report.diagnostics if found.severity == "error")
    assert (error.code, error.path, error.place and error.place.line) == (
        "cell-error",
        "content/posts/b.md",
        6,
    )
    assert page(site) == first and not (site / "public/posts/c").exists()
    assert (site / "_freeze/posts/c/outputs.json").is_file()
    assert not (site / "_freeze/posts/b").exists()


def test_an_exception_that_is_meant_to_be_shown_names_the_line_of_the_post(site: Path) -> None:
    text = "---\ntitle: B\n---\n```{python}\n#| error: true\n1 / 0\n```\n"
    write(site, "content/posts/b.md", text)
    assert run(site).ok
    assert 'content/posts/b.md", line 6' in page(site, "posts/b")
    write(site, "content/posts/b.md", text.replace("```{python}", "Moved down.\n\n```{python}"))
    assert run(site).executed_cells == 0
    assert 'content/posts/b.md", line 8' in page(site, "posts/b")


def test_a_clean_build_elsewhere_gives_the_same_bytes(site: Path, tmp_path: Path) -> None:
    run(site)
    other = tmp_path / "other"
    for file in (
        *site.glob("content/**/*"),
        *site.glob("_freeze/**/*"),
        *site.glob("lib/*"),
        *site.glob("themes/**/*"),
        site / "blogsmith.yaml",
    ):
        if file.is_file():
            (other / file.relative_to(site)).parent.mkdir(parents=True, exist_ok=True)
            (other / file.relative_to(site)).write_bytes(file.read_bytes())
    assert build(other, execution=ExecutionOptions(frozen=True)).ok
    ours, theirs = (
        {str(p.relative_to(r)): p.read_bytes() for p in (r / "public").rglob("*") if p.is_file()}
        for r in (site, other)
    )
    assert ours == theirs


def test_check_runs_nothing(site: Path) -> None:
    trust(site)
    report = build(site, write=False)
    assert report.executed_cells == 0 and not (site / "_freeze").exists()


def test_execute_records_and_writes_no_site(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["execute", "--site", str(site), "posts/a"]) == 0
    assert "ran 2 of 2 cells" in capsys.readouterr().out
    assert not (site / "public").exists()
    assert build(site, execution=ExecutionOptions(frozen=True)).ok


def test_execute_refuses_a_post_that_is_not_there(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["execute", "--site", str(site), "posts/b"]) == 1
    assert 'post not found: "posts/b" [post-unknown]' in capsys.readouterr().err


KNOWN = tuple(
    PurePosixPath(f"content/{name}")
    for name in ("posts/a.md", "posts/slow/index.md", "notes/b.md", "notes/fast.md", "fast.md", "old/fast.md")
)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("a", "posts/a.md"),
        ("a.md", "posts/a.md"),
        ("slow", "posts/slow/index.md"),
        ("posts/slow", "posts/slow/index.md"),
        ("b.md", "notes/b.md"),
        ("fast", "fast.md"),
    ],
)
def test_a_bare_name_is_enough_where_it_is_the_only_one(tmp_path: Path, name: str, path: str) -> None:
    assert select_posts(tmp_path, [name], KNOWN) == (f"content/{path}",)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("slwo.md", "did you mean `slow`?"),
        ("content/posts/slwo.md", "did you mean `posts/slow`?"),
        ("zzz", "write a source file or a folder, such as `content/posts/attention.md`"),
    ],
)
def test_a_name_of_no_post_gets_a_hint(tmp_path: Path, name: str, hint: str) -> None:
    with pytest.raises(SiteError) as caught:
        select_posts(tmp_path, [name], KNOWN)
    assert [d.hint for d in caught.value.diagnostics] == [hint]


def test_a_bare_name_of_several_posts_is_asked_back(tmp_path: Path) -> None:
    several = [PurePosixPath(f"content/{folder}/a.md") for folder in "pqrs"]
    with pytest.raises(SiteError) as caught:
        select_posts(tmp_path, ["a"], several)
    (found,) = caught.value.diagnostics
    assert found.hint == "write one of `content/p/a.md`, `content/q/a.md`, `content/r/a.md`, …"


def test_frozen_exits_with_3_only_if_nothing_else_is_wrong(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["build", "--site", str(site), "--frozen"]) == 3
    write(site, "content/posts/b.md", "[x](nowhere.md)\n")
    assert main(["build", "--site", str(site), "--frozen"]) == 1
    assert main(["build", "--site", str(site), "--frozen", "--execute"]) == 2
    capsys.readouterr()


def test_freeze_commands_tell_and_tidy(
    site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["freeze", "status", "--site", str(site)]) == 3
    assert "3 missing" in capsys.readouterr().out
    run(site)
    assert main(["freeze", "status", "--site", str(site)]) == 0
    assert "3 fresh" in capsys.readouterr().out
    archive = tmp_path / "results.tar.gz"
    assert main(["freeze", "pack", "--site", str(site), str(archive)]) == 0
    (site / "content/posts/a.md").rename(site / "content/posts/z.md")
    assert main(["freeze", "prune", "--site", str(site), "--dry-run"]) == 0
    assert (site / "_freeze/posts/a").exists()
    assert main(["freeze", "prune", "--site", str(site)]) == 0
    assert not (site / "_freeze/posts/a").exists()
    (site / "content/posts/z.md").rename(site / "content/posts/a.md")
    assert main(["freeze", "unpack", "--site", str(site), str(archive)]) == 0
    assert main(["build", "--site", str(site), "--frozen"]) == 0
    capsys.readouterr()


def test_a_new_site_is_trusted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "site", str(tmp_path / "n")]) == 0
    write(tmp_path / "n", "content/posts/a.md", "```{python}\nprint(6 * 7)\n```\n")
    assert main(["build", "--site", str(tmp_path / "n")]) == 0
    assert "3 run now" in capsys.readouterr().out


def test_v_shows_what_cells_print_while_they_run(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "--site", str(site), "--execute", "-v", "--timings"]) == 0
    printed = capsys.readouterr()
    assert "posts/a | 60" in printed.err
    assert "content/posts/a.md: add" in printed.out


def test_another_python_runs_the_cells(site: Path) -> None:
    write(site, "blogsmith.yaml", f"title: T\nexecute: {{python: {sys.executable}}}\n")
    assert run(site).executed_cells == 2
    write(site, "blogsmith.yaml", "title: T\nexecute: {python: no/such/python}\n")
    report = run(site, "all")
    assert [found.code for found in report.diagnostics if found.severity == "error"] == ["cell-start"]


def test_sessions_are_apart_and_recorded_apart(site: Path) -> None:
    text = dedent("""\
        ```{python}
        x = 1
        ```

        ```{python}
        #| session: other
        print("x" in globals())
        ```
        """)
    write(site, "content/posts/b.md", text)
    assert run(site).executed_cells == 4
    assert ">False\n<" in page(site, "posts/b")
    write(site, "content/posts/b.md", text.replace("x = 1", "x = 2"))
    assert run(site).executed_cells == 1


def test_values_have_their_own_keys(site: Path) -> None:
    run(site)
    change(site, "content/posts/a.md", "{= total:05d =}", "{= total + 1 =}")
    assert not build(site, execution=ExecutionOptions(frozen=True)).ok
    record = json.loads((site / "_freeze/posts/a/outputs.json").read_text())
    assert run(site).ok
    again = json.loads((site / "_freeze/posts/a/outputs.json").read_text())
    assert '<span class="value">61</span>' in page(site)
    assert [c["key"] for c in again["sessions"]["main"]["cells"]] == [
        c["key"] for c in record["sessions"]["main"]["cells"]
    ]


def test_two_builds_at_once_do_no_harm(site: Path) -> None:
    command = [sys.executable, "-m", "blogsmith", "execute", "--all", "--site", str(site)]
    runs = [subprocess.Popen(command, env=dict(os.environ), stdout=subprocess.DEVNULL) for _ in range(3)]
    assert [process.wait(240) for process in runs] == [0, 0, 0]
    assert build(site, execution=ExecutionOptions(frozen=True)).ok
