"""A build of a site in which nothing has changed is answered from stamps, and by the same words."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from blogsmith.cli.main import main
from blogsmith.pipeline import build as line
from blogsmith.pipeline import build_stamps
from blogsmith.storage.cache import CACHE
from blogsmith.trust.consent import trust
from tests.site_files import put_bare

STAMP = f"{CACHE}/{build_stamps.FILES[True]}"
POST = "---\ntitle: A\ndate: 2026-01-01\n---\n[b](gone.md)\n"
FUTURE = "---\ntitle: F\ndate: 2999-01-01\n---\nlater\n"
HEAVY = ("jinja2", "markdown_it", "pygments", "msgspec", "yaml", "PIL", "sqlite3", "blogsmith.pipeline.build")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site with a warning that has been built, its sources older than any clock's tick."""
    files = {
        "blogsmith.yaml": "title: S\n",
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
    """The sites that are really built from now on."""
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


def test_nothing_heavy_is_imported(site: Path) -> None:
    code = (
        "import sys; from blogsmith.cli.main import main; code = main(['build']);"
        f"print(*sorted(set(sys.modules) & set({HEAVY!r})), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=site, capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr.splitlines()[-1] == ""


def rewrite(path: str) -> Callable[[Path], object]:
    """The same size and time: only when its record was changed is another one."""

    def change(root: Path) -> None:
        file = root / path
        status = file.stat()
        data = file.read_bytes()
        file.write_bytes(data[:-2] + b"!\n")
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))

    return change


CHANGES: dict[str, Callable[[Path], object]] = {
    "text": rewrite("content/posts/a.md"),
    "data": rewrite("static/data.txt"),
    "template": rewrite("themes/bare/layouts/post.html"),
    "settings": lambda root: (root / "blogsmith.yaml").write_text("title: T\ntheme: bare\n"),
    "a new post": lambda root: (root / "content/c.md").write_text("c\n"),
    "a post is gone": lambda root: (root / "content/posts/b.md").unlink(),
    "a link": lambda root: (root / "static/link.txt").symlink_to("data.txt"),
    "layouts of the site": lambda root: (root / "layouts").mkdir(),
    "output": rewrite("public/posts/a/index.html"),
    "output is gone": lambda root: (root / "public/posts/a/index.html").unlink(),
    "a file beside the output": lambda root: (root / "public/mine.txt").write_text("mine"),
    "record": lambda root: (root / STAMP).write_bytes((root / STAMP).read_bytes()[:-1] + b" "),
    "record is gone": lambda root: (root / STAMP).unlink(),
    "trust": trust,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_has_changed_is_seen(change: Callable[[Path], object], site: Path, builds: list[Path]) -> None:
    change(site)
    main(["build"])
    assert builds == [site]


@pytest.mark.parametrize("options", [["--drafts"], ["--strict"], ["--base-url", "https://x.org"], ["-v"]])
def test_other_options(options: list[str], site: Path, builds: list[Path]) -> None:
    main(["build", *options])
    assert builds == [site]


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


def test_a_clock_that_went_back(site: Path, builds: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(int(dt.datetime(2026, 1, 2, 1, tzinfo=dt.UTC).timestamp())))
    assert main(["build"]) == 0
    assert builds == [site]


def test_sources_as_young_as_the_build(
    site: Path, builds: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    young = site / "content/c.md"
    young.write_text("c\n")
    start_build = build_stamps.start_build

    def start_soon(root: Path) -> build_stamps.BuildStart | None:
        """As if the build had begun 10 ms after the text was written, however busy the machine is."""
        start = start_build(root)
        return start and replace(start, now_ns=young.stat().st_ctime_ns + 10_000_000)

    with monkeypatch.context() as patch:
        patch.setattr(line, "start_build", start_soon)
        assert main(["build"]) == 0
        # it may have been written again within one tick of the clock: in doubt a build is made
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


def test_the_record_of_another_folder(site: Path, builds: list[Path]) -> None:
    data = (site / STAMP).read_bytes()
    assert main(["clean"]) == 0
    assert not (site / STAMP).exists()
    other = site.rename(site.with_name("moved"))
    (other / STAMP).write_bytes(data)
    assert main(["build", "--site", str(other)]) == 0
    assert builds == [other]
