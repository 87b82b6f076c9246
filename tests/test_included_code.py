"""Files that posts show parts of: permission to read them, the selected parts, and rebuilds."""

from __future__ import annotations

import os
import time
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from blogsmith.build import site as line
from blogsmith.cli.main import main
from blogsmith.config.schema import Config, Markup
from blogsmith.model.documents import IncludedFile
from blogsmith.read.included_files import MOST_BYTES, MOST_FILES, included_names, read_included
from blogsmith.syntax.included_code import (
    Region,
    find_lines,
    find_object,
    find_region,
    object_names,
    region_names,
)
from tests.build_scripts import compare
from tests.rows import each_row
from tests.site_files import put, put_bare

POST = PurePosixPath("content/posts/a.md")


def read(root: Path, name: str, config: Config | None = None) -> IncludedFile:
    return read_included(root, config or Config(), POST, (name,))[name]


@each_row(
    ("text", "names"),
    [
        ('```python file="src/a.py"', ("src/a.py",)),
        ("```{python file='src/a.py' region=x}", ("src/a.py",)),
        ("{% include code.html file=src/a.py %}", ("src/a.py",)),
        ('{% code\n  file = "a b.py"\n  region="x" %}', ("a b.py",)),
        ('file="a" file="b" file="a"', ("a", "b")),
        ("a profile=x and a file", ()),
        ('file=""', ()),
    ],
)
def test_names_of_files(text: str, names: tuple[str, ...]) -> None:
    assert included_names(text) == names


def test_a_bound_of_names() -> None:
    assert len(included_names(" ".join(f"file={n}" for n in range(1000)))) == MOST_FILES


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("beside.py", "content/posts/beside.py"),
        ("src/a.py", "src/a.py"),
        ("../../src/a.py", "src/a.py"),
        ("/src/a.py", "src/a.py"),
        ("./beside.py", "content/posts/beside.py"),
    ],
)
def test_where_files_are_looked_for(name: str, path: str, tmp_path: Path) -> None:
    root = put(tmp_path, {"src/a.py": "x = 1\n", "content/posts/beside.py": "y = 2\n"})
    found = read(root, name)
    assert (found.path, found.problem) == (path, "")
    assert path in found.looked_at


def test_what_stands_beside_the_post_comes_first(tmp_path: Path) -> None:
    root = put(tmp_path, {"a.py": "far\n", "content/posts/a.py": "near\n"})
    assert read(root, "a.py").text == "near\n"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("gone.py", 'file not found: "gone.py"'),
        ("../../../out.py", "is outside the site"),
        ("a\\b.py", "is outside the site"),
        ("src", '"src" is not a regular file'),
        ("src/.env", "is hidden or temporary, and not shown"),
        (".git/config", "is hidden or temporary, and not shown"),
        ("_freeze/x.json", "is not a file that a post may show"),
        ("public/x.html", "is not a file that a post may show"),
        ("src/latin.py", "is not a text file"),
        ("src/large.py", "is larger than 1000 kB"),
        ("src/out.py", "points outside the site"),
        ("src/pipe", "is not a regular file"),
        ("src/hidden.py", "is hidden or temporary, and not shown"),
    ],
)
def test_files_that_are_not_shown(name: str, problem: str, tmp_path: Path) -> None:
    root = put(
        tmp_path / "site",
        {
            "src/.env": "KEY=1\n",
            ".git/config": "x\n",
            "_freeze/x.json": "{}\n",
            "public/x.html": "x\n",
            "src/latin.py": b"\xe9\n",
            "src/large.py": "x" * (MOST_BYTES + 1),
        },
    )
    (tmp_path / "out.py").write_text("secret\n")
    (root / "src/out.py").symlink_to(tmp_path / "out.py")
    (root / "src/hidden.py").symlink_to(root / "src/.env")
    os.mkfifo(root / "src/pipe")
    found = read(root, name)
    assert problem in found.problem
    assert not found.text


def test_strangers_show_what_is_published_anyway(tmp_path: Path) -> None:
    root = put(tmp_path, {"src/a.py": "x\n", "static/b.py": "y\n", "content/posts/draft.md": "z\n"})
    untrusted = Config(markup=Markup(untrusted=True))
    assert read(root, "/static/b.py", untrusted).text == "y\n"
    assert read(root, "src/a.py", untrusted).problem
    assert read(root, "draft.md", untrusted).problem


REGIONS = """\
# region outer
a
#region inner
b
# endregion
c
# endregion outer
# [brackets]
d
# [/brackets]
# --8<-- [start:snippet]
e
# --8<-- [end:snippet]
// #region open
f
"""


@each_row(
    ("name", "region"),
    [
        ("outer", Region(2, 6)),
        ("inner", Region(4, 4)),
        ("brackets", Region(9, 9)),
        ("snippet", Region(12, 12)),
        ("open", Region(15, 16)),
        ("other", None),
    ],
)
def test_regions(name: str, region: Region | None) -> None:
    assert find_region(REGIONS, name) == region


def test_names_of_regions() -> None:
    assert region_names(REGIONS) == ("outer", "inner", "brackets", "snippet", "open")


OBJECTS = """\
import functools

@functools.cache
@other
def f(x):
    return x

class A:
    x = 1

    @property
    def y(self):
        return 2

if True:
    async def g(): ...
else:
    def g(): ...

def f(x):
    return -x
"""


@each_row(
    ("name", "region"),
    [
        ("A", Region(8, 13)),
        ("A.y", Region(11, 13)),
        # the last definition is used, as in Python
        ("f", Region(20, 21)),
        ("g", Region(18, 18)),
        ("A.z", None),
        ("", None),
    ],
)
def test_objects(name: str, region: Region | None) -> None:
    assert find_object(OBJECTS, name) == region


def test_names_of_objects() -> None:
    assert object_names(OBJECTS) == ("f", "A", "A.y", "g", "g", "f")
    assert object_names("def broken(:") == ()
    assert find_object("(" * 100_000, "f") is None


@each_row(
    ("written", "region"),
    [
        ("2-3", Region(2, 3)),
        ("2", Region(2, 2)),
        ("2-", Region(2, 4)),
        ("-2", Region(1, 2)),
        ("3-2", None),
        ("0", None),
        ("2-9", None),
        ("-", None),
        ("x", None),
        ("", None),
    ],
)
def test_lines(written: str, region: Region | None) -> None:
    assert find_lines("a\nb\nc\nd\n", written) == region


SITE = {
    "blogsmith.yaml": "title: S\n",
    "src/a.py": "# region f\nx = 1\n# endregion\n",
    "content/posts/a.md": '---\ntitle: A\n---\n{% include code.html file="src/a.py" region="f" %}\n',
    "content/posts/b.md": "---\ntitle: B\n---\ntext\n",
}


def test_a_change_of_a_file_makes_its_pages_anew(tmp_path: Path) -> None:
    root = put_bare(tmp_path / "site", SITE)
    compare(root)
    (root / "src/a.py").write_text("# region f\nx = 2\n# endregion\n")
    report = compare(root)
    assert [*report.rebuilt] == ["content/posts/a.md"]
    assert "2" in (root / "public/posts/a/index.html").read_text()
    # a new file that takes precedence over the one shown
    (root / "content/posts/src").mkdir()
    (root / "content/posts/src/a.py").write_text("# region f\nx = 3\n# endregion\n")
    compare(root)
    assert "3" in (root / "public/posts/a/index.html").read_text()
    (root / "content/posts/src/a.py").unlink()
    (root / "src/a.py").unlink()
    assert [found.code for found in compare(root).diagnostics] == ["include-file"]


def test_a_build_of_nothing_new_looks_at_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = put_bare(tmp_path / "site", SITE)
    monkeypatch.chdir(root)
    builds: list[int] = []
    build_site = line.build_site

    def count_builds(*given: Any) -> Any:
        builds.append(1)
        return build_site(*given)

    monkeypatch.setattr(line, "build_site", count_builds)
    time.sleep(0.1)
    assert main(["build"]) == 0
    assert main(["build"]) == 0
    assert len(builds) == 1
    (root / "src/a.py").write_text("# region f\nx = 2\n# endregion\n")
    assert main(["build"]) == 0
    assert len(builds) == 2
    assert "2" in (root / "public/posts/a/index.html").read_text()


def test_an_edit_of_a_page_that_includes_a_file(tmp_path: Path) -> None:
    root = put_bare(tmp_path / "site", SITE)
    compare(root)
    time.sleep(0.06)
    (root / "content/posts/b.md").write_text(SITE["content/posts/a.md"].replace("title: A", "title: B"))
    compare(root)
    time.sleep(0.06)
    (root / "src/a.py").write_text("# region f\nx = 2\n# endregion\n")
    compare(root)
    assert "2" in (root / "public/posts/b/index.html").read_text()
