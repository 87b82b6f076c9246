"""Completion as authors use it: the Tab key in real shells, and the names that it finds."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from blogsmith.cli.completion_types import SectionType, ThemeFileType
from tests.serve_process import PROGRAM

PATIENCE_S = 60.0
"""Seconds; nothing needs a tenth of it, unless the machine is overloaded."""
SETUP = {
    "bash": (
        ["bash", "--norc", "--noprofile", "-i"],
        "bind 'set enable-bracketed-paste off'; source <(blogsmith completion bash)",
    ),
    "zsh": (["zsh", "-f", "-i"], 'autoload -Uz compinit && compinit -D; eval "$(blogsmith completion zsh)"'),
    "fish": (["fish", "--no-config", "-i"], "blogsmith completion fish | source"),
}
"""Shell → command to start it, and command to load our script."""
TYPED = [
    ("blogsmith che", "check"),
    ("blogsmith execute content/de", "content/deep"),
    ("blogsmith freeze status content/posts/fir", "content/posts/first-post.md"),
    ("blogsmith new post --section po", "posts"),
    ("blogsmith theme copy layouts/po", "layouts/post.html"),
    ("blogsmith import --from jek", "jekyll"),
    ("blogsmith build --no-c", "--no-cache"),
]
"""Input before Tab → the completed input."""
_CONTROLS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Create a site with two nested sections, and a bundle."""
    root = tmp_path / "site"
    for name in ("content/posts/first-post.md", "content/posts/bundle/index.md", "content/deep/er/a.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("# Words\n", encoding="utf-8")
    (root / "blogsmith.yaml").write_text("title: T\n", encoding="utf-8")
    return root


@contextmanager
def terminal_of(argv: list[str], folder: Path) -> Iterator[int]:
    """Yield a shell in a separate terminal."""
    ours, theirs = pty.openpty()
    shell = subprocess.Popen(
        argv,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env=_environment(folder),
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield ours
    finally:
        shell.kill()
        shell.wait()
        os.close(ours)


def _environment(folder: Path) -> dict[str, str]:
    path = f"{PROGRAM.parent}:{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(folder.parent), "TERM": "xterm", "LC_ALL": "C.UTF-8"}


def read_until(terminal: int, wanted: str) -> str:
    """Return the terminal output once it contains `wanted`, or all output after the timeout."""
    text, end = "", time.monotonic() + PATIENCE_S
    while wanted not in text and time.monotonic() < end:
        if select.select([terminal], [], [], 0.5)[0]:
            text += _CONTROLS.sub("", os.read(terminal, 4096).decode("utf-8", "replace")).replace("\r", "")
    return text


@pytest.mark.parametrize("shell", SETUP)
def test_tab_completes(shell: str, site: Path) -> None:
    if not shutil.which(shell):
        reason = f"no {shell} here"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    argv, setup = SETUP[shell]
    if shell == "fish":
        # fish queries its terminal and waits; without one it prints the completions
        asked = "; ".join(f"complete --do-complete '{typed}'" for typed, _ in TYPED)
        told = subprocess.run(
            [*argv[:-1], "-c", f"{setup}; {asked}"],
            cwd=site,
            env=_environment(site),
            capture_output=True,
            text=True,
        )
        found = [line.partition("\t")[0].rstrip("/") for line in told.stdout.splitlines()]
        assert found == [expected for _, expected in TYPED], told
        return
    with terminal_of(argv, site) as terminal:
        os.write(terminal, f"{setup}; echo REA''DY\n".encode())
        assert "READY" in read_until(terminal, "READY")
        for typed, expected in TYPED:
            # shells redraw only the changed part of a line; echo prints all of it
            os.write(terminal, f"{typed}\t\x01echo :: \n".encode())
            wanted = f"\n:: {typed.rpartition(' ')[0]} {expected}"
            assert wanted in read_until(terminal, wanted), typed


def test_sections_are_folders_of_posts_and_no_bundles(site: Path) -> None:
    assert list(SectionType().names(site)) == ["deep", "deep/er", "posts"]
    assert list(SectionType().names(None)) == []
    (site / "content").rename(site / "elsewhere")
    (site / "content").symlink_to(site / "elsewhere")
    (site / "content" / "out").symlink_to("/")
    assert list(SectionType().names(site)) == ["deep", "deep/er", "posts"]


def test_names_of_theme_files(site: Path) -> None:
    files = list(ThemeFileType().names(site))
    assert {"layouts/post.html", "partials/toc.html", "theme.css"} <= {*files}
    assert files == sorted(files)


@pytest.mark.parametrize("settings", ["theme: missing\n", "title: [\n", "\x00"])
def test_broken_settings_complete_to_nothing_or_to_the_theme_of_all(settings: str, site: Path) -> None:
    (site / "blogsmith.yaml").write_text(settings, encoding="utf-8")
    assert isinstance(list(ThemeFileType().names(site)), list)
