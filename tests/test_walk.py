"""The path of a new user from nothing to a published post, as described in README and the page on the first
post.

Their commands are run in order, and their post is written where they say. Every obstacle is counted: a
failing command, a warning, a prompt without an answer, a file that no page names.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import pytest

ROOT = Path(__file__).parent.parent
INSTALL = ROOT / "content/docs/install.md"
FIRST_POST = ROOT / "content/docs/first-post.md"
README = ROOT / "README.md"
_CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"(?:^    \S.*\n)+", re.MULTILINE)
_POST = re.compile(
    r'^````markdown(?: title="(?P<path>[^"]+)")?\n(?P<text>.*?)^````$', re.DOTALL | re.MULTILINE
)
_BEGINNINGS = re.compile(r"`(blogsmith new (?:post|page) [^`]+)`")
_INSTALLS = re.compile(r"(?:pipx install|uv tool install)(?: --with \S+)? ('[^']+'|\.)")
_SAID = re.compile(r"warning|error|hint:|\[y/n\]|Traceback", re.IGNORECASE)
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+/")
_GIT = "[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n"
PROGRAMS = MappingProxyType({"pipx": "install", "uv": "tool"})
"""Programs that install blogsmith, which `tests/test_distribution.py` tests."""


@dataclass(slots=True)
class Walk:
    """A user who types the documented commands, and the obstacles."""

    here: Path
    environment: dict[str, str]
    stops: list[str] = field(default_factory=list)
    typed: list[str] = field(default_factory=list)

    def enter(self, line: str) -> None:
        """Run a line of a command block, as in a shell."""
        for command in line.partition("   #")[0].split("&&"):
            words = shlex.split(command)
            self.typed.append(words[0])
            if words[0] == "cd":
                self.here = self.here / words[1]
                if not self.here.is_dir():
                    self.stops.append(f"{line}: there is no such folder")
            elif words[:2] == ["blogsmith", "serve"]:
                self._look(words)
            elif words[0] not in PROGRAMS:
                self._run(words)

    def _run(self, words: list[str]) -> None:
        done = subprocess.run(
            words,
            cwd=self.here,
            env=self.environment,
            capture_output=True,
            text=True,
            # prompts get no answer
            stdin=subprocess.DEVNULL,
        )
        if done.returncode != 0 or _SAID.search(done.stdout + done.stderr):
            self.stops.append(f"{shlex.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")

    def _look(self, words: list[str]) -> None:
        """View the site in the preview, and end it."""
        with subprocess.Popen(
            [*words, "--port", "0"],
            cwd=self.here,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout and process.stderr
            address = _ADDRESS.search(process.stdout.readline())
            if address is None:
                self.stops.append(f"{shlex.join(words)}: it tells no address")
            else:
                with urllib.request.urlopen(address[0], timeout=60) as page:
                    assert b"<title>" in page.read()
            process.send_signal(signal.SIGINT)
            said = process.stderr.read()
            if _SAID.search(said):
                self.stops.append(f"{shlex.join(words)}:\n{said}")

    def write(self, path: str, text: str) -> None:
        """Write an existing file, as the page says."""
        if not (self.here / path).is_file():
            self.stops.append(f"{path} is to be written, and no command has made it")
        (self.here / path).write_text(text, encoding="utf-8")


@pytest.fixture
def walk(tmp_path: Path, package_index: Mapping[str, str]) -> Walk:
    """Return a new user, with an empty home and the programs of this environment."""
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[user]\nname = Ada\nemail = ada@example.org\n[init]\ndefaultBranch = main\n"
    )
    programs = Path(sys.executable).parent
    if not (programs / "blogsmith").exists():
        pytest.skip("blogsmith is not installed as a program here")
    environment = {
        "HOME": str(home),
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "BROWSER": "true",
        "LANG": "C.UTF-8",
        **package_index,
    }
    return Walk(tmp_path, environment)


def commands_in(text: str) -> Iterator[str]:
    """Yield lines of commands, in order, without those of sections that continue elsewhere."""
    for block in _CONSOLE.finditer(text):
        yield from block[1].strip().splitlines()


def test_from_nothing_to_a_published_post(walk: Walk) -> None:
    """The goal is a path without obstacles."""
    if shutil.which("git") is None:
        pytest.skip("git is missing")
    way = FIRST_POST.read_text("utf-8").partition("## In a repository")[0]
    post = _POST.search(way)
    assert post and post["path"]
    before, after = way[: post.start()], way[post.end() :]
    for line in commands_in(before):
        walk.enter(line)
    walk.write(post["path"], post["text"])
    serve, check, *rest = commands_in(after)
    assert serve.startswith("blogsmith serve") and check == f"blogsmith check {post['path']}"
    walk.enter(serve)
    walk.enter(check)
    assert "remove the line `draft: true`" in after
    walk.write(post["path"], post["text"].replace("draft: true\n", ""))
    for line in rest:
        walk.enter(line)
    assert walk.stops == []
    assert {"blogsmith", "git"} <= {*walk.typed}
    page = (walk.here / "public/posts/why-softmax/index.html").read_text("utf-8")
    assert "<math" in page and "<figure" in page and '<span class="value">0.69</span>' in page
    committed = subprocess.run(
        ["git", "ls-files"], cwd=walk.here, env=walk.environment, capture_output=True, text=True, check=True
    ).stdout.split()
    assert ".github/workflows/publish.yml" in committed
    assert "_freeze/posts/why-softmax/outputs.json" in committed
    assert not [name for name in committed if name.startswith(("public/", ".blogsmith/"))]


@pytest.mark.long
def test_the_readme_leads_there_too(walk: Walk) -> None:
    text = README.read_text("utf-8").partition("## Start a site")[2].partition("## Comparison with")[0]
    lines = [line.strip() for block in _INDENTED.findall(text) for line in block.splitlines()]
    assert [line for line in lines if line.split()[0] in PROGRAMS]
    post = _POST.search(text)
    assert post
    for line in lines:
        if line.startswith("blogsmith serve"):
            walk.write("content/posts/why-attention-divides-by-the-root-of-d.md", post["text"])
        walk.enter(line)
    assert walk.stops == []
    walk.enter("blogsmith check --strict")
    walk.enter("blogsmith build --strict")
    assert walk.stops == []


def test_every_line_that_installs_is_of_a_kind_that_is_tried() -> None:
    """By the name of the package or from a checkout, with existing extras."""
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    found = 0
    for file in (INSTALL, README, ROOT / "content/_index.md"):
        for line in _INSTALLS.findall(file.read_text("utf-8")):
            name, _, brackets = line.strip("'").partition("[")
            assert name in (".", "blogsmith-site"), line
            assert {extra for extra in brackets.rstrip("]").split(",") if extra} <= {*extras}, line
            found += 1
    assert found >= 5


def test_every_beginning_in_the_table_works(walk: Walk) -> None:
    lines = _BEGINNINGS.findall(FIRST_POST.read_text("utf-8"))
    assert len(lines) > 4
    for line in ("blogsmith new site .", *lines, "blogsmith check --strict --drafts"):
        walk.enter(line)
    assert walk.stops == []
