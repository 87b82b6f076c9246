"""Commands, plugins and themes of installed packages: entry points, and consent by version and digest."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = '''\
"""Adds a callout kind."""


def register(hooks):
    hooks.callout_kind("aside", "Aside {word}")
'''
COMMAND = '''\
import click


@click.command()
def hello():
    """Say hello."""
    click.echo("hello from a package")


broken = 3
'''
ENTRY_POINTS = """\
[blogsmith.commands]
hello = arrows.cli:hello
broken = arrows.cli:broken
missing = arrows.nowhere:command
build = arrows.cli:hello

[blogsmith.plugins]
aside = arrows.aside
gone = arrows.gone

[blogsmith.themes]
quiet = arrows.quiet
"""


def put_package(folder: Path, version: str = "1.2.0", word: str = "one") -> None:
    """Write what pip would unpack of a wheel."""
    files = {
        "arrows/__init__.py": "",
        "arrows/cli.py": COMMAND,
        "arrows/aside.py": PLUGIN.format(word=word),
        "arrows/quiet/theme.yaml": "extends: paper\n",
        "arrows/quiet/partials/site_footer.html": f"<footer>Quiet {word}</footer>\n",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    # pip removes the compiled code of the old version, too
    shutil.rmtree(folder / "arrows/__pycache__", ignore_errors=True)
    for old in folder.glob("*.dist-info"):
        for file in old.iterdir():
            file.unlink()
        old.rmdir()
    info = folder / f"arrows_plugin-{version}.dist-info"
    info.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: arrows-plugin\nVersion: {version}\n"
    (info / "METADATA").write_text(metadata, "utf-8")
    (info / "entry_points.txt").write_text(ENTRY_POINTS, "utf-8")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    put_package(tmp_path / "packages")
    root = tmp_path / "site"
    (root / "content").mkdir(parents=True)
    (root / "content" / "_index.md").write_text("# Hello\n\n> [!ASIDE]\n> Text.\n", "utf-8")
    return root


def run(site: Path, *arguments: str) -> tuple[int, str]:
    """Run the command where the package is installed. Return the exit code and both streams."""
    env = {
        **os.environ,
        "PYTHONPATH": str(site.parent / "packages"),
        "XDG_STATE_HOME": str(site.parent / "state"),
        "NO_COLOR": "1",
    }
    result = subprocess.run(
        [sys.executable, "-m", "blogsmith", *arguments], cwd=site, env=env, capture_output=True, text=True
    )
    return result.returncode, result.stdout + result.stderr


def test_an_installed_command_runs_and_is_in_the_help(site: Path) -> None:
    assert run(site, "hello") == (0, "hello from a package\n")
    code, text = run(site, "--help")
    assert code == 0
    assert "Installed:" in text
    assert "Say hello." in text
    # a name of the core stays the core's
    assert run(site, "build", "--help")[1].startswith("Usage: blogsmith build")


@pytest.mark.parametrize(
    ("name", "reason"),
    [("broken", "is not a click command"), ("missing", "No module named 'arrows.nowhere'")],
)
def test_a_command_that_cannot_load_says_why(name: str, reason: str, site: Path) -> None:
    code, text = run(site, name, "--option")
    assert code == 1
    assert f"cannot load {name} (arrows-plugin 1.2.0)" in text
    assert reason in text
    assert "Traceback" not in text


def test_an_installed_plugin_needs_consent_for_its_version_and_files(site: Path) -> None:
    (site / "blogsmith.yaml").write_text("title: Notes\nplugins: [aside]\n", "utf-8")
    code, text = run(site, "build")
    assert code == 1
    assert 'blogsmith.yaml:2:11: error: plugin "aside" of "arrows-plugin" 1.2.0 is not trusted' in text
    assert "run `blogsmith trust` to allow it for this site" in text
    code, text = run(site, "trust")
    assert "aside (arrows-plugin 1.2.0)" in text
    assert run(site, "build")[0] == 0
    assert "Aside one" in (site / "public" / "index.html").read_text("utf-8")

    put_package(site.parent / "packages", word="two")
    code, text = run(site, "build")
    assert code == 1
    assert "since it was trusted, aside (arrows-plugin 1.2.0) has changed" in text
    put_package(site.parent / "packages", version="1.3.0")
    code, text = run(site, "build")
    assert code == 1
    assert "aside (arrows-plugin 1.2.0) was removed" in text
    assert "aside (arrows-plugin 1.3.0) is new" in text


def test_a_new_version_renders_pages_again(site: Path) -> None:
    (site / "blogsmith.yaml").write_text("title: Notes\nplugins: [aside]\n", "utf-8")
    run(site, "trust")
    assert run(site, "build")[0] == 0
    put_package(site.parent / "packages", version="1.3.0", word="two")
    run(site, "trust")
    assert run(site, "build")[0] == 0
    assert "Aside two" in (site / "public" / "index.html").read_text("utf-8")


def test_a_file_of_the_site_takes_precedence(site: Path) -> None:
    (site / "blogsmith.yaml").write_text("title: Notes\nplugins: [aside]\n", "utf-8")
    (site / "plugins").mkdir()
    (site / "plugins" / "aside.py").write_text(PLUGIN.format(word="of the site"), "utf-8")
    assert 'plugin "aside" is not trusted' in run(site, "build")[1]
    assert "arrows" not in run(site, "trust")[1]
    assert run(site, "build")[0] == 0
    assert "Aside of the site" in (site / "public" / "index.html").read_text("utf-8")


def test_an_entry_point_without_a_module_is_a_missing_plugin(site: Path) -> None:
    (site / "blogsmith.yaml").write_text("title: Notes\nplugins: [gone]\n", "utf-8")
    run(site, "trust")
    code, text = run(site, "build")
    assert code == 1
    assert 'plugin not found: "gone"' in text


def test_an_installed_theme_needs_no_consent(site: Path) -> None:
    (site / "blogsmith.yaml").write_text("title: Notes\ntheme: quiet\n", "utf-8")
    (site / "content" / "_index.md").write_text("# Hello\n", "utf-8")
    for word in ("one", "two"):
        put_package(site.parent / "packages", word=word)
        assert run(site, "build")[0] == 0
        assert f"<footer>Quiet {word}</footer>" in (site / "public" / "index.html").read_text("utf-8")
    (site / "blogsmith.yaml").write_text("title: Notes\ntheme: quite\n", "utf-8")
    assert "did you mean `quiet`?" in run(site, "build")[1]
