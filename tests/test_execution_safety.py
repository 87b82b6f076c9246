"""Attacks on running code: sites that nobody trusts, records that somebody made up, broken pictures."""

from __future__ import annotations

import copy
import json
import os
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from blogsmith.cli import main
from blogsmith.execute.answers import cell_run
from blogsmith.execute.collected import Collected
from blogsmith.execute.conversation import run_session
from blogsmith.runs import MOST_SDPA, Display
from tests.run_sites import STALE, page, records, site
from tests.sessions import cell, job, value
from tests.site_files import build, printed

pytestmark = pytest.mark.skipif(os.name != "posix", reason="cells run on Linux and macOS only")
X = "</pre><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x1b]0;x\x07\u202e"


@pytest.fixture(autouse=True)
def nobody_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


# -- trust --


@pytest.mark.parametrize(
    "command",
    [
        ["build"],
        ["build", "--frozen"],
        ["build", "--strict-env"],
        ["build", "--frozen", "--strict-env"],
        ["check", "--strict"],
        ["freeze", "status"],
        ["freeze", "explain"],
        ["freeze", "prune"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("python", ["python: evil.sh, ", ""], ids=["own-python", "our-python"])
def test_nothing_of_a_site_that_is_not_trusted_runs(tmp_path: Path, command: list[str], python: str) -> None:
    touch = f"open({str(tmp_path / 'ran')!r}, 'w')"
    post = f"```{{python}}\n#| needs: [mine, numpy]\n#| fallback: skip\n{touch}\n```\n\n{{= {touch} =}}"
    root = site(tmp_path / "s", f"execute: {{{python}preload: [mine, json], env: [HOME]}}\n", a=post)
    (root / "evil.sh").write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\n")
    (root / "evil.sh").chmod(0o755)
    for module in ("mine.py", "sitecustomize.py", "numpy.py", "content/posts/mine.py"):
        (root / module).write_text(touch)
    key, folder = "0" * 32, root / "_freeze" / "posts" / "a"
    folder.mkdir(parents=True)
    machine = {"python": "3.0.0", "packages": {"mine": "1", "numpy": "1"}}
    cells = [{"key": key, "code": key, "packages": ["mine", "numpy"]}]
    sessions = {"main": {"start": key, "machine": machine, "cells": cells}}
    (folder / "outputs.json").write_text(json.dumps({"schema": 1, "sessions": sessions}))
    assert main([*command, "--site", str(root)]) in (0, 1, 3)
    assert not (tmp_path / "ran").exists()


# -- hostile records --

POST = """\
```{python}
#| label: one
#| freeze: true
import json
print("hi")
class A:
    def _repr_html_(self): return "<b>1</b>"
    def _repr_svg_(self): return "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'/>"
A()
```

```{python}
#| error: true
1 / 0
```

{= 6 * 7 =}
"""


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    root = site(tmp_path_factory.mktemp("hostile") / "s", a=POST)
    assert build(root, execution=STALE).ok
    return root, json.loads((root / "_freeze/posts/a/outputs.json").read_bytes())


def leaves(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(part, dict | list):
        for key in part if isinstance(part, dict) else range(len(part)):
            yield from leaves(part[key], (*path, key))
    else:
        yield path


def changed(data: dict[str, Any], path: tuple[Any, ...], new: object) -> dict[str, Any]:
    data = copy.deepcopy(data)
    at: Any = data
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = new
    return data


class Harm(HTMLParser):
    """What in a page comes from a record and could run or load something."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._is_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        # JSON for search engines quotes the text and is not run
        self._is_script = tag == "script" and given.get("type") != "application/ld+json"
        handlers = [name for name in given if name.startswith("on")]
        addresses = [value for value in given.values() if re.match(r"\s*(javascript|data):|x$", value)]
        if handlers or addresses or tag in ("iframe", "object", "embed", "base"):
            self.found.append(f"<{tag} {given}>")

    def handle_data(self, data: str) -> None:
        if self._is_script and "alert" in data:
            self.found.append(data)


def shown(root: Path, data: dict[str, Any]) -> str:
    """The page of a record that nobody of us wrote; that there is one says that nothing failed."""
    (root / "_freeze/posts/a/outputs.json").write_text(json.dumps(data))
    report = build(root)
    assert "\x1b" not in printed(report)
    html = page(root)
    reader = Harm()
    reader.feed(html)
    assert reader.found == []
    assert "\x1b" not in html
    return html


def test_the_words_of_a_record_may_be_hostile(recorded: tuple[Path, dict[str, Any]]) -> None:
    root, data = recorded
    for path in leaves(data):
        shown(root, changed(data, path, X))


@pytest.mark.parametrize("new", [-1, 10**400, -1e308])
def test_the_numbers_of_a_record_may_be_hostile(recorded: tuple[Path, dict[str, Any]], new: float) -> None:
    root, data = recorded
    for path in leaves(data):
        at: Any = data
        for key in path:
            at = at[key]
        if isinstance(at, int | float):
            shown(root, changed(data, path, new))


@pytest.mark.parametrize(
    ("path", "new"),
    [
        (("machine", "packages"), {"": "1"}),
        (("machine", "packages"), {X: "1"}),
        (("machine", "threads"), 10**400),
        (("date",), X),
        (("cells", 0, "packages"), [""]),
        (("cells", 0, "seconds"), 1e308),
        (
            ("cells", 0, "outputs"),
            [{"output_type": "stream", "name": "stdout", "text": [], "dropped": 10**400}],
        ),
    ],
    ids=str,
)
def test_a_record_that_no_run_gives_counts_as_damaged(
    recorded: tuple[Path, dict[str, Any]], path: tuple[Any, ...], new: object
) -> None:
    root, data = recorded
    shown(root, changed(data, ("sessions", "main", *path), new))
    assert [d.code for d in build(root).diagnostics][:1] == ["freeze-damaged"]


@pytest.mark.parametrize("mime", ["text/html", "text/latex", "application/javascript", "image/svg+xml", X])
def test_what_a_record_shows_is_data(recorded: tuple[Path, dict[str, Any]], mime: str) -> None:
    root, data = recorded
    for text in (
        X,
        "<svg onload=alert(1)>",
        "<a href=javascript:alert(1)>x</a>",
        "$\\href{javascript:1}{x}$",
    ):
        outputs = [{"output_type": "display_data", "data": {mime: [text]}}]
        html = shown(root, changed(data, ("sessions", "main", "cells", 0, "outputs"), outputs))
        assert "cell-output" in html or mime == "text/html"


def test_links_out_of_the_site_lead_nowhere(tmp_path: Path, recorded: tuple[Path, dict[str, Any]]) -> None:
    outside = tmp_path / "outside"
    (outside / "a").mkdir(parents=True)
    (outside / "a" / "outputs.json").write_text(json.dumps(recorded[1]))
    before = records(tmp_path), sorted(outside.rglob("*"))
    root = site(tmp_path / "s", a=POST)
    (root / "_freeze").mkdir()
    (root / "_freeze" / "posts").symlink_to(outside)
    report = build(root, execution=STALE)
    assert {d.code for d in report.diagnostics} == {"freeze-damaged", "freeze-write"}
    assert main(["freeze", "prune", "--site", str(root)]) == 0
    (root / "_freeze" / "posts").unlink()
    (root / "_freeze").rmdir()
    (root / "_freeze").symlink_to(outside)
    assert main(["freeze", "prune", "--site", str(root)]) == 1
    assert (records(tmp_path), sorted(outside.rglob("*"))) == before


def test_a_picture_that_is_a_link_is_not_copied(tmp_path: Path) -> None:
    root = site(tmp_path / "s", a=POST)
    assert build(root, execution=STALE).ok
    (picture,) = (root / "_freeze/posts/a").glob("*.svg")
    picture.replace(tmp_path / "elsewhere.svg")
    picture.symlink_to(tmp_path / "elsewhere.svg")
    assert [d.code for d in build(root).diagnostics] == ["freeze-damaged", "cell-pending"]
    assert not list((root / "public").rglob(picture.name))


@pytest.mark.parametrize(
    "inside",
    [
        "<script>1</script>",
        "<x:script xmlns:x='http://www.w3.org/2000/svg'>1</x:script>",
        "<rect onload = '1'/>",
        "<a href='&#106;avascript:1'/>",
        "<foreignObject/>",
    ],
)
def test_a_picture_with_a_script_in_it_is_not_shown(tmp_path: Path, inside: str) -> None:
    svg = f"<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'>{inside}</svg>"
    root = site(tmp_path / "s", a=f"class S:\n    def _repr_svg_(self): return {svg!r}\nS()")
    assert [d.code for d in build(root, execution=STALE).diagnostics if d.severity == "error"] == [
        "cell-picture"
    ]


# -- broken --


def test_a_value_in_the_text_is_cut(tmp_path: Path) -> None:
    run = run_session(job(tmp_path, "x = 1", value(1, "'v' * 10**7")))
    assert run.values[1].text == "v" * 65536 + "…"


@pytest.mark.parametrize("data", ["%%%", "A", "AAAAAAAAA"])
def test_a_form_that_is_no_base64_is_left_out(tmp_path: Path, data: str) -> None:
    code = f"""\
class P:
    def _repr_mimebundle_(self, include, exclude): return {{"image/png": {data!r}, 3: 4, "text/html": 5}}
    def __repr__(self): return "P"
P()"""
    (found,) = run_session(job(tmp_path, code)).cells[0].outputs
    assert isinstance(found, Display)
    assert found.data == {"text/plain": "P"}


@pytest.mark.parametrize(
    "said",
    [None, 3, ["flash aten::f"], [["flash aten::f"], 1, "flash aten::f", "Flash x", "a b\n", "a b" * 99]],
)
def test_what_a_worker_says_of_attention_is_not_believed_in_any_form(said: object) -> None:
    """The author's code can reach into the worker; a record of another form could not be read again."""
    frame = {"status": "ok", "failure": None, "sdpa": said}
    found = cell_run(cell(1, "1"), frame, Collected(100, lambda output: None)).sdpa
    assert found == (("flash aten::f",) if isinstance(said, list) else ())
    many = {**frame, "sdpa": [f"flash aten::f{number}" for number in range(99)]}
    assert len(cell_run(cell(1, "1"), many, Collected(100, lambda output: None)).sdpa) == MOST_SDPA
