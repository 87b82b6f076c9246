"""A build of an unchanged site is answered from stamps, with the same messages."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from blogsmith.base.storage.cache_file import cache_path, remove_site_cache
from blogsmith.base.storage.folder import Folder
from blogsmith.base.storage.tree import OpenFolderPath
from blogsmith.build import last_build
from blogsmith.build import site as line
from blogsmith.build.last_build import BuildExtent
from blogsmith.cli.main import main
from blogsmith.project import program as program_module
from blogsmith.project.program import open_rows
from blogsmith.project.trust.consent import trust
from blogsmith.write import plan
from tests.cached_rows import change_cache
from tests.site_files import put, put_bare

POST = "---\ntitle: A\ndate: 2026-01-01\n---\n[b](gone.md)\n"
FUTURE = "---\ntitle: F\ndate: 2999-01-01\n---\nlater\n"
HEAVY = (
    *("jinja2", "markdown_it", "pygments", "yaml", "PIL", "rich", "asyncio", "ssl", "multiprocessing"),
    *("subprocess", "tempfile", "json", "shutil"),
    *("blogsmith.build.site", "blogsmith.project.context", "blogsmith.config.load"),
)
NOT_FOR_VERSION = (*HEAVY, "click", "msgspec", "sqlite3", "pathlib", "typing", "dataclasses")

UNUSED = (
    *("pygments", "secrets", "subprocess", "tomllib", "PIL"),
    *("blogsmith.bibliography.csl.processor", "blogsmith.bibliography.bibliography_file"),
    *("blogsmith.site.search.index", "blogsmith.publish"),
)

OUTLASTING = (
    "pygments",
    "blogsmith.tex.convert",
    "blogsmith.tex.parse.parser",
    "blogsmith.render.lexer_dispatch",
)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a site with a warning that has been built, with sources older than any clock tick."""
    files = {
        "blogsmith.yaml": "title: S\nfeeds: false\n",
        "content/posts/a.md": POST.replace("gone.md", "b.md").replace("\n---\n[", "\ntags: [x, X]\n---\n["),
        "content/posts/b.md": "---\ntitle: B\ndate: 2026-01-02\n---\n$x$\n",
        "content/posts/later.md": FUTURE,
        "static/data.txt": "1\n",
    }
    root = put_bare(tmp_path / "site", files)
    monkeypatch.chdir(root)
    time.sleep(0.1)
    assert main(["build"]) == 0
    return root


@pytest.fixture
def builds(site: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Record the sites that are really built from now on."""
    done: list[Path] = []
    build_site = line.build_site

    def build(root: Path, *arguments: object) -> object:
        done.append(root)
        return build_site(root, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(line, "build_site", build)
    return done


def test_the_same_words(site: Path, builds: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["build"]) == 0
    assert builds == []
    answered = capsys.readouterr()
    assert main(["build", "--no-cache"]) == 0
    assert builds == [site]
    built = capsys.readouterr()
    assert answered.err == built.err != ""
    assert answered.out.rpartition(" in ")[0] == built.out.rpartition(" in ")[0]
    assert "(0 written" in answered.out
    assert answered.out.partition("(")[2] == built.out.partition("(")[2]


def test_the_words_after_an_edit(site: Path, builds: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    """After an edit of one page, the warning about another page is reported again."""
    (site / "content/posts/b.md").write_text("---\ntitle: B\ndate: 2026-01-02\n---\n$x$\n\n$x x$\n")
    capsys.readouterr()
    assert main(["build"]) == 0
    assert builds == [site]
    edited = capsys.readouterr()
    assert "(1 written" in edited.out and "2 formulas" in edited.out
    assert main(["build", "--no-cache"]) == 0
    built = capsys.readouterr()
    assert edited.err == built.err != ""
    assert edited.out.partition(" in ")[0] == built.out.partition(" in ")[0]
    assert "(0 written" in built.out


@pytest.mark.parametrize(
    ("command", "heavy"),
    [("build", HEAVY), ("check", HEAVY), ("--version", NOT_FOR_VERSION), ("-V", NOT_FOR_VERSION)],
)
def test_nothing_heavy_is_imported(command: str, heavy: tuple[str, ...], site: Path) -> None:
    if command == "check":
        assert main(["check"]) == 0
    code = (
        f"import sys; from blogsmith.cli.main import main; code = main([{command!r}]);"
        f"print(*sorted(set(sys.modules) & set({heavy!r})), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=site, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr.splitlines()[-1] == ""


def test_what_no_page_uses_is_not_imported(site: Path) -> None:
    """A build after an edit does not import unused features and their parts of the standard library."""
    (site / "content/posts/b.md").write_text("---\ntitle: B\ndate: 2026-01-02\n---\n$x$\n\n$x x$\n")
    time.sleep(0.1)
    code = (
        "import sys; from blogsmith.cli.main import main; code = main(['build']);"
        f"print(*sorted(set(sys.modules) & set({UNUSED!r})), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=site, capture_output=True, text=True)
    assert done.returncode == 0
    assert "(1 written" in done.stdout
    assert done.stderr.splitlines()[-1] == ""


def test_what_outlasts_an_edit_is_not_made_again(site: Path) -> None:
    """Formulas and code unchanged in the text: neither TeX nor lexers are needed for them."""
    text = "---\ntitle: B\ndate: 2026-01-02\n---\n$x$\n\n$$x = y \\tag{1}$$\n\n```python\nx = 1\n```\n"
    (site / "content/posts/b.md").write_text(text)
    time.sleep(0.1)
    assert main(["build"]) == 0
    (site / "content/posts/b.md").write_text(f"{text}\nA word.\n")
    time.sleep(0.1)
    code = (
        "import sys; from blogsmith.cli.main import main; code = main(['build']);"
        f"print(*sorted(set(sys.modules) & set({OUTLASTING!r})), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=site, capture_output=True, text=True)
    assert done.returncode == 0
    assert "(1 written" in done.stdout
    assert done.stderr.splitlines()[-1] == ""


def test_outputs_are_read_only_where_stamps_do_not_tell(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an edit no file of the old site is read, unless it was changed; then it is restored."""
    read: list[str] = []
    digest_on_disk = plan._digest_on_disk

    def watched(descent: OpenFolderPath, path: str) -> str:
        read.append(path)
        return digest_on_disk(descent, path)

    monkeypatch.setattr(plan, "_digest_on_disk", watched)
    (site / "content/posts/b.md").write_text("---\ntitle: B\ndate: 2026-01-02\n---\n$y$\n")
    time.sleep(0.1)
    assert main(["build"]) == 0
    assert not read
    other = site / "public/posts/a/index.html"
    text, status = other.read_text(), other.stat()
    other.write_text(text.replace("title", "TITLE"))
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert main(["build"]) == 0
    assert other.read_text() == text
    assert read


def rewrite(path: str) -> Callable[[Path], object]:
    """Replace a file of the same size and time: only the time of its record differs."""

    def change(root: Path) -> None:
        file = root / path
        status = file.stat()
        data = file.read_bytes()
        file.write_bytes(data[:-2] + b"!\n")
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))

    return change


def exchange(file: Path) -> None:
    """Replace a file by another one with the same content, size and time."""
    other = file.with_suffix(".new")
    status = file.stat()
    other.write_bytes(file.read_bytes())
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(file)


CHANGES: dict[str, Callable[[Path], object]] = {
    "text": rewrite("content/posts/a.md"),
    "data": rewrite("static/data.txt"),
    "template": rewrite("themes/bare/layouts/post.html"),
    "settings": lambda root: (root / "blogsmith.yaml").write_text("title: T\ntheme: bare\n"),
    "a new post": lambda root: (root / "content/c.md").write_text("c\n"),
    "a post that no build reads": lambda root: put(root, {"posts/c.md": "c\n"}),
    "a page beside the settings": lambda root: put(root, {"c.md": "---\ntitle: C\n---\n"}),
    "a post is gone": lambda root: (root / "content/posts/b.md").unlink(),
    "a link": lambda root: (root / "static/link.txt").symlink_to("data.txt"),
    "layouts of the site": lambda root: (root / "layouts").mkdir(),
    "words of the site": lambda root: (root / "languages").mkdir(),
    "output": rewrite("public/posts/a/index.html"),
    "output is gone": lambda root: (root / "public/posts/a/index.html").unlink(),
    "a file beside the output": lambda root: (root / "public/mine.txt").write_text("mine"),
    "records of cells": lambda root: (root / "_freeze").mkdir(),
    "a file that replaces another one": lambda root: exchange(root / "content/posts/a.md"),
    "the row is damaged": lambda root: change_cache(
        root, "UPDATE rows SET data = X'78' WHERE kind = 'build'"
    ),
    "the row is gone": lambda root: change_cache(root, "DELETE FROM rows WHERE kind = 'build'"),
    "the cache is gone": remove_site_cache,
    "trust": trust,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_has_changed_is_seen(change: Callable[[Path], object], site: Path, builds: list[Path]) -> None:
    change(site)
    main(["build"])
    assert builds == [site]


def test_posts_that_no_build_reads_are_reported_each_time(
    site: Path, builds: list[Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The warning is repeated without a build, as long as the first file of the folder is the same."""
    find_extent = line._extent

    def without_other_files(*arguments: Any) -> BuildExtent | None:
        found = find_extent(*arguments)
        return found and replace(found, reads_all=False)

    monkeypatch.setattr(line, "_extent", without_other_files)
    reports = []
    for files in ({"posts/c.md": "c\n"}, {}, {"posts/d.md": "d\n"}, {"posts/b.md": "b\n"}, {}):
        put(site, files)
        time.sleep(0.1)
        capsys.readouterr()
        assert main(["build"]) == 0
        found = [one for one in capsys.readouterr().err.splitlines() if "file-unread" in one]
        reports.append((len(builds), *(one.partition(":")[0] for one in found)))
    assert reports == [
        (1, "posts/c.md"),
        (1, "posts/c.md"),
        (1, "posts/c.md"),
        (2, "posts/b.md"),
        (2, "posts/b.md"),
    ]
    (site / "posts").rename(site / "notes")
    assert main(["build"]) == 0
    assert (len(builds), "file-unread" in capsys.readouterr().err) == (3, False)


def test_a_disk_whose_folders_have_no_times(
    site: Path, builds: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stamps are useless there, so the site is always built."""
    own_status = Folder.own_status

    def without_time(folder: Folder) -> os.stat_result:
        times = {"st_atime_ns": 0, "st_mtime_ns": 0, "st_ctime_ns": 0}
        return os.stat_result(tuple(own_status(folder)), times)

    remove_site_cache(site)
    monkeypatch.setattr(Folder, "own_status", without_time)
    assert main(["build"]) == main(["build"]) == 0
    assert len(builds) == 2


def test_a_variable_that_cells_see(site: Path, builds: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    config = site / "blogsmith.yaml"
    config.write_text(config.read_text() + "execute: {env: [BLOGSMITH_TEST_VALUE]}\n")
    monkeypatch.setenv("BLOGSMITH_TEST_VALUE", "1")
    time.sleep(0.1)
    assert main(["build"]) == main(["build"]) == 0
    assert len(builds) == 1
    monkeypatch.setenv("BLOGSMITH_TEST_VALUE", "2")
    assert main(["build"]) == 0
    assert len(builds) == 2


PROGRAM_CHANGES: dict[str, tuple[int, Callable[[Path], object]]] = {
    "edited": (1, lambda program: (program / "part/module.py").write_text("x = 2\n")),
    "a new module": (1, lambda program: (program / "part/more.py").write_text("")),
    "a module is gone": (1, lambda program: (program / "part/module.py").unlink()),
    "what Python keeps": (0, lambda program: (program / "part/__pycache__").mkdir()),
    "a module beside what Python has kept": (1, lambda program: (program / "kept/more.py").write_text("")),
    "what Python keeps of it": (0, lambda program: (program / "kept/__pycache__/more.pyc").write_text("")),
}


@pytest.mark.parametrize(("count", "change"), PROGRAM_CHANGES.values(), ids=PROGRAM_CHANGES)
def test_a_program_that_is_another_one(
    count: int,
    change: Callable[[Path], object],
    site: Path,
    builds: list[Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = site.with_name("program")
    (program / "part").mkdir(parents=True)
    (program / "part/module.py").write_text("x = 1\n")
    (program / "kept/__pycache__").mkdir(parents=True)
    (program / "kept/module.py").write_text("x = 1\n")
    monkeypatch.setattr(program_module, "program_folders", lambda: (str(program),))
    time.sleep(0.1)
    remove_site_cache(site)
    assert main(["build"]) == main(["build"]) == 0
    assert len(builds) == 1
    change(program)
    assert main(["build"]) == 0
    assert len(builds) == 1 + count


@pytest.mark.parametrize("options", [["--drafts"], ["--strict"], ["--base-url", "https://x.org"], ["-v"]])
def test_other_options(options: list[str], site: Path, builds: list[Path]) -> None:
    main(["build", *options])
    assert builds == [site]


def test_a_quiet_build_asks_as_well(
    site: Path, builds: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["build", "-q"]) == 0
    assert (builds, capsys.readouterr().out) == ([], "")


def test_a_check_has_a_record_of_its_own(site: Path, builds: list[Path]) -> None:
    assert main(["check"]) == 0
    assert builds == [site]
    assert main(["check"]) == 0
    assert main(["build"]) == 0
    assert builds == [site]


def test_a_post_whose_day_has_come(site: Path, builds: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(dt.datetime(2999, 1, 2, tzinfo=dt.UTC).timestamp())))
    assert main(["build"]) == 0
    assert builds == [site]
    assert (site / "public/posts/later/index.html").is_file()


def test_a_post_that_has_expired(site: Path, builds: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    (site / "content/posts/b.md").write_text("---\ntitle: B\nexpiryDate: 2998-01-01\n---\n$x$\n")
    (site / "content/posts/a.md").write_text("---\ntitle: A\n---\n$y$\n")
    assert main(["build"]) == 0
    assert (site / "public/posts/b/index.html").is_file()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(dt.datetime(2998, 1, 2, tzinfo=dt.UTC).timestamp())))
    assert main(["build"]) == 0
    assert not (site / "public/posts/b/index.html").exists()


def test_a_clock_that_went_back(site: Path, builds: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(dt.datetime(2026, 1, 2, 1, tzinfo=dt.UTC).timestamp())))
    assert main(["build"]) == 0
    assert builds == [site]


def test_sources_as_young_as_the_build(
    site: Path, builds: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    build_site = line.build_site

    def write_and_build(root: Path, *arguments: object) -> object:
        (site / "content/c.md").write_text("c\n")
        return build_site(root, *arguments)  # type: ignore[arg-type]

    remove_site_cache(site)
    with monkeypatch.context() as patch:
        patch.setattr(line, "build_site", write_and_build)
        assert main(["build"]) == 0
    # it may have been written again within one tick of the clock, so the site is built
    assert main(["build"]) == 0
    assert len(builds) == 2
    time.sleep(0.1)
    assert main(["build"]) == 0
    assert main(["build"]) == 0
    assert len(builds) <= 3


def test_mistakes_are_looked_at_again(site: Path, builds: list[Path]) -> None:
    (site / "content/c.md").write_text("$\\wrong$\n")
    assert [main(["build"]) for _ in range(3)] == [1, 1, 1]
    assert len(builds) == 3


def test_the_record_of_another_folder(
    site: Path, builds: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """A moved site has no cache yet; that of another folder is replaced, with a message."""
    data = cache_path(site).read_bytes()
    assert main(["clean"]) == 0
    assert not cache_path(site).exists()
    other = site.rename(site.with_name("moved"))
    assert main(["build", "--site", str(other)]) == 0
    cache_path(other).write_bytes(data)
    capsys.readouterr()
    assert main(["build", "--site", str(other)]) == 0
    assert builds == [other, other]
    assert capsys.readouterr().out.count("it was written for another folder") == 1


def test_a_folder_whose_name_is_no_text(site: Path, builds: list[Path]) -> None:
    """Nothing is cached for the build as a whole: names in it cannot be stored in a row."""
    other = site.rename(site.with_name("\udcff"))
    assert [main(["build", "--site", str(other)]) for _ in range(2)] == [0, 0]
    assert len(builds) == 2


def test_few_builds_with_other_options_are_kept(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(last_build, "_SPARE", 1)
    for name in ("a", "b", "later"):
        assert main(["check", f"content/posts/{name}.md"]) == 0
    with open_rows(site) as rows:
        names = sorted(rows.rows("build"))
    assert len(names) == 3
    assert any(name.startswith("files in ") for name in names)
