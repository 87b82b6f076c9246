"""The commands in the files of hosts: read from these files and run by a shell, as the hosts do.

They build with the blogsmith of the tests; `test_publish_rehearsal.py` installs the lock in an environment.
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
from blogsmith.publish.dependency_lock import LOCK
from blogsmith.publish.setup import SetupRequest, plan_setup
from blogsmith.publish.targets import TARGETS
from tests.publish_locks import use_made_up_index
from tests.publish_sites import publish_site, run
from tests.recorded import unsealed
from tests.site_files import NOW, build

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


@pytest.fixture(autouse=True)
def index(monkeypatch: pytest.MonkeyPatch) -> None:
    use_made_up_index(monkeypatch)


HOSTS: Mapping[str, tuple[Callable[[Path], list[str]], str]] = {
    "github-pages": (github_commands, "BASE_URL"),
    "gitlab": (gitlab_commands, "CI_PAGES_URL"),
    "netlify": (netlify_commands, "URL"),
    "cloudflare": (cloudflare_commands, ""),
}
"""Host → how its commands are read, and its environment variable with the URL of the site."""


def recorded_site(root: Path, target: str) -> Path:
    """Create a site with a result of another machine, and the files of a host."""
    settings = f"base_url: {HOME}\n" if target == "cloudflare" else ""
    publish_site(root, settings, is_bare=True, **{"content/posts/b.md": _CELL})
    assert build(root, execution=ExecutionOptions(execute="stale")).ok
    (record,) = (root / "_freeze").rglob("outputs.json")
    text = re.sub(r'"python": ".*"', '"python": "3.9.1"', unsealed(record.read_bytes()).decode())
    record.write_text(text, "utf-8")
    assert run("publish", "setup", target, "--site", str(root)) == 0
    return root


def type_commands(root: Path, commands: list[str], folder: Path, **environment: str) -> None:
    """Run each command in a shell that ends at the first error, with the programs of `folder` first."""
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
    assert install == f"python -m pip install --require-hashes --requirement {LOCK}"
    assert "--frozen --strict" in builds[0]
    # `publish check` rehearses these
    setup = plan_setup(root, SetupRequest(target=target, now=NOW))
    rehearsed = TARGETS[target].commands(setup.site)
    assert rehearsed == (install, *builds)[: len(rehearsed)]
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
