"""Row 22: cell output is text or markup of an allowlist, even if a record is forged."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from blogsmith.cli.main import main
from blogsmith.project.report import ExecutionOptions
from tests.page_checks import dangers, elements, parse
from tests.run_sites import STALE, page, records, site
from tests.site_files import build, printed

pytestmark = pytest.mark.skipif(os.name != "posix", reason="cells run on Linux and macOS only")
X = "</pre><script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x1b]0;x\x07\u202e"

# -- cells that run --

SAYING = """\
import sys
X = %r
print(X)
print(X, file=sys.stderr)
class Odd:
    def __repr__(self): return X
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {%r: X, "text/plain": X}
Odd()
"""


def acting(html: str) -> list[str]:
    """Return scripts and event handlers in the main part of a page."""
    shown = html.partition("<main")[2].partition("</main>")[0]
    return [tag for tag, element in elements(parse(shown)) if tag == "script" or element.get("onerror")]


def test_row_22_what_a_cell_prints_and_shows_is_text(tmp_path: Path) -> None:
    mimes = ("text/html", "text/latex", "text/markdown", "application/javascript", "application/json")
    cells = [f"```{{python}}\n#| error: true\n{SAYING % (X, mime)}```\n" for mime in mimes]
    root = site(tmp_path, a="\n".join(cells))
    report = build(root, execution=STALE)
    assert report.ok, printed(report)
    html = page(root)
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 2 * len(mimes), "it is there to be read"
    assert acting(html) == []
    assert "\x1b" not in html


def test_row_22_an_exception_is_text(tmp_path: Path) -> None:
    code = f"class Bad(Exception): pass\nBad.__name__ = Bad.__qualname__ = {X!r}\nraise Bad({X!r})"
    root = site(tmp_path, a=f"```{{python}}\n#| error: true\n{code}\n```")
    assert build(root, execution=STALE).ok
    assert "&lt;script&gt;" in page(root) and acting(page(root)) == []


def test_row_22_hostile_forms_of_a_value(tmp_path: Path) -> None:
    for name in ("_repr_html_", "_repr_svg_", "_repr_latex_", "_repr_markdown_", "_repr_png_"):
        code = f"class V:\n    def {name}(self): return {X!r}\n    def __repr__(self): return 'plain'\nV()"
        root = site(tmp_path / name, a=code)
        report = build(root, execution=STALE)
        assert report.ok or {d.code for d in report.diagnostics} <= {
            "cell-picture",
            "cell-alt",
            "math-syntax",
        }
        assert not report.ok or acting(page(root)) == []


def test_row_22_a_value_in_the_text_is_text(tmp_path: Path) -> None:
    root = site(tmp_path, a=f"```{{python}}\nx = {X!r}\n```\n\nHere {{= x =}} and *{{= x =}}*.")
    assert build(root, execution=STALE).ok
    assert page(root).count("&lt;script&gt;") >= 2 and acting(page(root)) == []


def test_row_22_the_judge_sees_what_acts() -> None:
    assert acting("<main><script>1</script></main>") == ["script"]
    assert dangers("<p onclick=x>") == ["onclick="]


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
    """A parser that finds content from a record that could run or load something."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._is_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        # JSON for search engines quotes the text and does not run.
        self._is_script = tag == "script" and given.get("type") != "application/ld+json"
        handlers = [name for name in given if name.startswith("on")]
        addresses = [value for value in given.values() if re.match(r"\s*(javascript|data):|x$", value)]
        if handlers or addresses or tag in ("iframe", "object", "embed", "base"):
            self.found.append(f"<{tag} {given}>")

    def handle_data(self, data: str) -> None:
        if self._is_script and "alert" in data:
            self.found.append(data)


def shown(root: Path, data: dict[str, Any]) -> str:
    """Build the page of a forged record, assert that it is harmless, and return it."""
    (root / "_freeze/posts/a/outputs.json").write_text(json.dumps(data))
    report = build(root)
    assert "\x1b" not in printed(report)
    html = page(root)
    reader = Harm()
    reader.feed(html)
    assert reader.found == []
    assert "\x1b" not in html
    return html


def test_row_22_the_words_of_a_record_may_be_hostile(recorded: tuple[Path, dict[str, Any]]) -> None:
    root, data = recorded
    for path in leaves(data):
        shown(root, changed(data, path, X))


@pytest.mark.parametrize("new", [-1, 10**400, -1e308])
def test_row_22_the_numbers_of_a_record_may_be_hostile(
    recorded: tuple[Path, dict[str, Any]], new: float
) -> None:
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
def test_row_22_a_record_that_no_run_gives_counts_as_damaged(
    recorded: tuple[Path, dict[str, Any]], path: tuple[Any, ...], new: object
) -> None:
    root, data = recorded
    shown(root, changed(data, ("sessions", "main", *path), new))
    assert [d.code for d in build(root).diagnostics][:1] == ["freeze-damaged"]


@pytest.mark.parametrize("mime", ["text/html", "text/latex", "application/javascript", "image/svg+xml", X])
def test_row_22_what_a_record_shows_is_data(recorded: tuple[Path, dict[str, Any]], mime: str) -> None:
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


def test_row_22_links_out_of_the_site_lead_nowhere(
    tmp_path: Path, recorded: tuple[Path, dict[str, Any]]
) -> None:
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
    assert {file.name for file in (root / "_freeze").iterdir()} <= {".gitattributes"}
    shutil.rmtree(root / "_freeze")
    (root / "_freeze").symlink_to(outside)
    assert main(["freeze", "prune", "--site", str(root)]) == 1
    assert (records(tmp_path), sorted(outside.rglob("*"))) == before


def test_row_22_a_picture_that_is_a_link_is_not_copied(tmp_path: Path) -> None:
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
        "<!-- a&#45;b --><script>1</script>",
        "<!-- a&#45;b --><rect onload='1'></g>",
        "<!-- <script> -->&nbsp;",
    ],
)
def test_row_22_a_picture_with_a_script_in_it_is_not_shown(tmp_path: Path, inside: str) -> None:
    svg = f"<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'>{inside}</svg>"
    root = site(tmp_path / "s", a=f"class S:\n    def _repr_svg_(self): return {svg!r}\nS()")
    assert [d.code for d in build(root, execution=STALE).diagnostics if d.severity == "error"] == [
        "cell-picture"
    ]


@pytest.mark.parametrize(
    "text",
    ["x" * 1_300_000, "".join(f"\x1b[38;2;{n % 256};{n // 256};7mx" for n in range(70_000))],
    ids=["long", "colours"],
)
def test_row_22_a_printed_text_that_no_cell_prints(text: str, tmp_path: Path) -> None:
    root = site(tmp_path, a="print(1)")
    assert build(root, execution=STALE).ok
    name = next(name for name in records(root) if name.endswith(".json"))
    file = root / name
    data = json.loads(file.read_bytes())
    data.pop("seal")
    (session,) = data["sessions"].values()
    session.pop("seal")
    for one in session["cells"]:
        one.pop("seal")
        one["outputs"][0]["text"] = [text]
    file.write_text(json.dumps(data))
    started = time.process_time()
    report = build(root, execution=ExecutionOptions(frozen=True))
    assert time.process_time() - started < 4
    assert "text with more than 1,200,000 characters" in printed(report)
    os.truncate(file, 200_000_000)
    started = time.process_time()
    report = build(root, execution=ExecutionOptions(frozen=True))
    assert time.process_time() - started < 1
    assert "cannot read the recorded results: File too large" in printed(report)


# no quotes: an override, an isolate that is not closed, and an end too many
@pytest.mark.parametrize("inner", ["\u202eab", "\u2067ab", "a\u2069\u202eb"])
def test_row_22_direction_controls_do_not_change_the_text_around_a_value(inner: str, tmp_path: Path) -> None:
    code = f"class V:\n    def __repr__(self): return {inner!r}\n    __str__ = __repr__\nv = V()"
    root = site(tmp_path, a=f"```{{python}}\n{code}\n```\n\nHere {{= v =}} ends.")
    report = build(root, execution=STALE)
    assert report.ok, printed(report)
    (shown,) = re.findall(r'<span class="value">([^<]*)</span> ends', page(root))
    depths = list(accumulate((one in "\u2066\u2067\u2068") - (one == "\u2069") for one in shown))
    assert shown[0] == "\u2068" and min(depths[:-1]) > 0 and depths[-1] == 0
