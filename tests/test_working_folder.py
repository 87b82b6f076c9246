"""Nothing is imported from the folder where blogsmith is started: it may be an untrusted site."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from blogsmith.render.lexing import lex_in_time
from tests.rows import thinned

ROOT = Path(__file__).parent.parent
SHADOWS = (
    *("__future__", "click", "json", "typing", "traceback", "subprocess", "tempfile", "msgspec", "yaml"),
    *("jinja2", "pygments", "markdown_it", "PIL"),
)
"""Modules that we import, and that Python itself does not import before."""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Create an untrusted site: whatever is imported from it leaves a file."""
    root = tmp_path / "site"
    (root / "content").mkdir(parents=True)
    (root / "blogsmith.yaml").write_text("title: A\n")
    (root / "content" / "a.md").write_text("# A\n\n```python\nx = 1\n```\n")
    for name in SHADOWS:
        (root / f"{name}.py").write_text(f"open({str(tmp_path / 'ran-')!r} + {name!r}, 'w').close()\n")
    return root


def ran(site: Path) -> list[str]:
    return sorted(path.name for path in site.parent.glob("ran-*"))


def start(site: Path, *arguments: str, environ: dict[str, str] | None = None) -> str:
    """Return the output of a build by this Python."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [sys.executable, *arguments, "build"],
        cwd=site,
        env={**clean, "PYTHONDONTWRITEBYTECODE": "1", **(environ or {})},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_module_of_an_installed_blogsmith(site: Path) -> None:
    start(site, "-m", "blogsmith")
    assert ran(site) == []
    assert (site / "public" / "a" / "index.html").is_file()


@pytest.mark.parametrize("path", thinned(["", ":", ".", os.pathsep.join(["", "/nowhere"])], every=2))
def test_an_entry_of_pythonpath_that_means_the_folder(site: Path, path: str) -> None:
    packages = [entry for entry in sys.path if entry.endswith("-packages")]
    code = f"import sys; sys.path += {[*packages, str(ROOT)]!r}; del sys.path[0]; "
    code += "from blogsmith.__main__ import run; sys.exit(run())"
    start(site, "-c", code, environ={"PYTHONPATH": path})
    assert ran(site) == []


def test_a_checkout_that_is_not_installed(tmp_path: Path) -> None:
    """If started in it, the package is found there, also by its child processes."""
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    for name in ("blogsmith", "themes", "plugins"):
        shutil.copytree(ROOT / name, checkout / name, ignore=shutil.ignore_patterns("__pycache__"))
    (checkout / "blogsmith.yaml").write_text("title: A\n")
    (checkout / "click.py").write_text(f"open({str(tmp_path / 'ran-click')!r}, 'w').close()\n")
    packages = [entry for entry in sys.path if entry.endswith("-packages")]
    (tmp_path / "path").mkdir()
    for entry in packages:
        for package in Path(entry).iterdir():
            # all except our own, and anything that refers to it
            if "blogsmith" not in package.name and package.suffix != ".pth":
                (tmp_path / "path" / package.name).symlink_to(package)
    start(checkout, "-S", "-m", "blogsmith", environ={"PYTHONPATH": str(tmp_path / "path")})
    assert ran(checkout) == []
    assert (checkout / "public" / "index.html").is_file()


def test_the_child_that_colours_code(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site)
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setattr("blogsmith.render.lexing.has_alarm", lambda: False)
    monkeypatch.setattr("blogsmith.render.lexing._is_tame", lambda source, alias: False)
    pieces = lex_in_time("x = 1\n", "python", 30.0)
    assert "".join(text for _, text in pieces) == "x = 1\n"
    assert ran(site) == []
