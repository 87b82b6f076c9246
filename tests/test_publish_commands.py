"""What the files of hosts have machines type: taken out of them and run by a shell, as these machines do.

The short form runs them where the tests run. The long one, `make test-publish`, builds our package and runs
all of them in a new environment that has nothing but pip.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml

from blogsmith.project.report import ExecutionOptions
from tests.publish_sites import publish_site, run
from tests.site_files import build

ROOT = Path(__file__).parent.parent
HOME = "https://ada.example.org/notes"
_CELL = "---\ntitle: B\ndate: 2026-01-01\n---\n```python\n#| eval: true\nprint(6 * 7)\n```\n"


def github_commands(root: Path) -> list[str]:
    steps = yaml.safe_load((root / ".github/workflows/publish.yml").read_text("utf-8"))["jobs"]["build"][
        "steps"
    ]
    return [step["run"] for step in steps if "run" in step and step.get("if") != _PULL_REQUEST]


_PULL_REQUEST = "github.event_name == 'pull_request'"


def gitlab_commands(root: Path) -> list[str]:
    pipeline = yaml.safe_load((root / ".gitlab-ci.yml").read_text("utf-8"))
    return [*pipeline[".site"]["before_script"], *pipeline["pages"]["script"]]


def netlify_commands(root: Path) -> list[str]:
    return [tomllib.loads((root / "netlify.toml").read_text("utf-8"))["build"]["command"]]


def cloudflare_commands(root: Path) -> list[str]:
    return [tomllib.loads((root / "wrangler.toml").read_text("utf-8"))["build"]["command"]]


HOSTS: Mapping[str, tuple[Callable[[Path], list[str]], str]] = {
    "github-pages": (github_commands, "BASE_URL"),
    "gitlab": (gitlab_commands, "CI_PAGES_URL"),
    "netlify": (netlify_commands, "URL"),
    "cloudflare": (cloudflare_commands, ""),
}
"""Host → how its commands are read, and the variable in which it gives the address of the site."""


def recorded_site(root: Path, target: str) -> Path:
    """A site with a result of another machine, and the files of a host."""
    settings = f"base_url: {HOME}\n" if target == "cloudflare" else ""
    publish_site(root, settings, is_bare=True, **{"content/posts/b.md": _CELL})
    assert build(root, execution=ExecutionOptions(execute="stale")).ok
    (record,) = (root / "_freeze").rglob("outputs.json")
    text = re.sub(r'"python": ".*"', '"python": "3.9.1"', record.read_text("utf-8"))
    record.write_text(text, "utf-8")
    assert run("publish", "setup", target, "--site", str(root)) == 0
    return root


def type_commands(root: Path, commands: list[str], folder: Path, **environment: str) -> None:
    """Each by a shell that ends at the first mistake, with the programs of `folder` before others."""
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    for command in commands:
        done = subprocess.run(
            ["sh", "-eu", "-c", command],
            cwd=root,
            env={**os.environ, "PATH": path, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


def check_published(root: Path, target: str) -> None:
    public = root / "public"
    html = (public / "posts/b/index.html").read_text("utf-8")
    assert f"{HOME}/posts/b/" in (public / "sitemap.xml").read_text("utf-8")
    assert "42" in html
    assert (public / "404.html").is_file()
    assert (public / ".blogsmith-manifest.json").exists() == (target in ("netlify", "cloudflare"))
    assert (public / "index.html.gz").exists() == (target == "gitlab")


@pytest.mark.parametrize("target", HOSTS)
def test_the_commands_of_a_host(target: str, tmp_path: Path) -> None:
    root = recorded_site(tmp_path, target)
    read, variable = HOSTS[target]
    install, *builds = [part for command in read(root) for part in command.split(" && ")]
    assert install == "python -m pip install --requirement requirements.txt"
    assert "--frozen --strict" in builds[0]
    named = {variable: HOME} if variable else {}
    type_commands(root, builds, Path(sys.executable).parent, **named)
    check_published(root, target)


def test_a_result_that_is_missing_stops_them(tmp_path: Path) -> None:
    root = recorded_site(tmp_path, "netlify")
    read, variable = HOSTS["netlify"]
    build_command = next(command for command in read(root) if "blogsmith build" in command).split(" && ")[-1]
    (root / "content/posts/b.md").write_text(_CELL.replace("6 * 7", "6 * 8"), "utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-c", build_command],
        cwd=root,
        env={**os.environ, "PATH": path, variable: HOME},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 3


def test_what_builds_keep_is_used_by_the_next_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The two folders that workflows keep, in a new checkout at the same path: nothing is made anew."""
    root, kept = tmp_path / "work", tmp_path / "kept"
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    publish_site(root, is_bare=True)
    assert run("build", "--frozen", "--site", str(root)) == 0
    (root / ".blogsmith").rename(kept)
    for path in sorted(root.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    publish_site(root, is_bare=True)
    kept.rename(root / ".blogsmith")
    report = build(root, remembers=True, execution=ExecutionOptions(frozen=True))
    assert report.ok
    assert report.rebuilt == {}
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    assert build(root, remembers=True, execution=ExecutionOptions(frozen=True)).rebuilt != {}


@pytest.mark.long
@pytest.mark.parametrize("target", HOSTS)
def test_in_a_new_environment(target: str, tmp_path: Path, wheels: Path) -> None:
    root = recorded_site(tmp_path / "site", target)
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "new")], check=True)
    read, variable = HOSTS[target]
    named = {variable: HOME} if variable else {}
    state = {"XDG_STATE_HOME": str(tmp_path / "state"), "PIP_FIND_LINKS": str(wheels)}
    type_commands(root, read(root), tmp_path / "new" / "bin", **named, **state)
    check_published(root, target)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our package as it would be published."""
    folder = tmp_path_factory.mktemp("wheels")
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    ]
    subprocess.run(command, check=True)
    return folder
