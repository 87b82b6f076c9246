"""The manual's page "A theme in fifteen minutes": every step is done and works."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from blogsmith.cli.main import main
from tests.docs_sources import ROOT

PAGE = ROOT / "content" / "docs" / "theme-tutorial.md"
_FENCE = re.compile(
    r'^```(?P<lang>\w+)(?: title="(?P<file>[^"]+)")?\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL
)


def steps() -> Iterator[tuple[str, str]]:
    """Yield each command, as `$` and its arguments, and each file, as path and content."""
    for fence in _FENCE.finditer(PAGE.read_text("utf-8")):
        if fence["lang"] == "console":
            yield from (("$", line.removeprefix("$ ")) for line in fence["text"].splitlines())
        else:
            yield fence["file"], fence["text"]


def follow(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for name, text in steps():
        if name != "$":
            file = Path(name)
            assert file.parent.is_dir(), f"{file} lies in a folder that no step has made"
            settings = file.read_text("utf-8") if name == "blogsmith.yaml" else ""
            # a step shows only the line of the settings that it replaces
            file.write_text(settings.replace("theme: paper\n", text) or text, "utf-8")
            assert text in file.read_text("utf-8")
        elif text.startswith("cd "):
            monkeypatch.chdir(Path(text.removeprefix("cd ")))
        else:
            program, *arguments = text.split()
            assert (program, main(arguments)) == ("blogsmith", 0), text


def test_its_steps_make_a_theme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    follow(tmp_path, monkeypatch)
    public = tmp_path / "notes" / "public"
    html = (public / "posts" / "hello" / "index.html").read_text("utf-8")
    assert '<p class="post-thanks">Thank you for reading.</p>' in html
    assert "written by hand and built by a machine." in html
    assert 'data-header="bar" data-toc="right"' in html
    assert re.search(r'<script type="module" src="/assets/mine/progress\.js\?v=', html)
    assert '<meta name="theme-color" content="#14161a" media="(prefers-color-scheme: dark)">' in html
    (sheet,) = re.findall(r'<link rel="stylesheet" href="/(assets/mine/posts-[^"]+)">', html)
    css = (public / sheet).read_text("utf-8")
    assert "--paper:light-dark(#fffdf8,#14161a)" in css
    assert "@media screen{.progress{" in css
    assert ":root{--measure:34rem}" in css


def test_every_file_is_written_where_the_manual_says() -> None:
    files = [name for name, _ in steps() if name != "$"]
    assert files[0] == "blogsmith.yaml"
    assert all(name.startswith("themes/mine/") for name in files[1:])
    assert len([name for name, _ in steps() if name == "$"]) == 5
