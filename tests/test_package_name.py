"""The package is called blogsmith-site: blogsmith in registries is a different program."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from blogsmith import __version__
from blogsmith.base.diagnostics.extras import (
    EXTRAS,
    install_command,
    module_install_command,
    python_install_command,
)
from blogsmith.cells.requirements import installed_versions
from blogsmith.execute.probe import program
from tests.rows import each_row

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
INSTALLER = (
    r"\b(?:pip3?|pipx|uv|poetry|conda)\b[^\n`]{0,40}\b(?:install|add|inject|run)\b(?:\s+[^\s,;`&|#]+)*?\s+"
)
FROM_INDEX = re.compile(rf"{INSTALLER}['\"]?blogsmith[-_]site(?!\\s*@)(?![\\w-])")
"""Matches an installer with our name and no source: no index has it."""
FOREIGN = re.compile(rf"(?:{INSTALLER}|\buvx )['\"]?blogsmith(?![\w./-])|\bblogsmith\[")
"""Matches an installer with the name `blogsmith`, also with an extra."""


def texts() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    found = [ROOT / name for name in listed.stdout.splitlines()]
    suffixes = (".py", ".md", ".toml", ".yaml", ".yml", ".txt", ".html", ".js", ".json", "", ".cfg")
    return [file for file in found if file.suffix in suffixes and file.is_file() and file != Path(__file__)]


def test_no_text_of_ours_installs_the_foreign_package() -> None:
    named = []
    for file in texts():
        for number, line in enumerate(file.read_text("utf-8", "replace").splitlines(), 1):
            if FOREIGN.search(line):
                named.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()[:100]}")
    assert named == []


def test_no_document_installs_from_an_index_that_lacks_the_package() -> None:
    documents = [file for file in texts() if file.suffix == ".md" and file.name != "CHANGELOG.md"]
    named = [
        f"{file.relative_to(ROOT)}: {line.strip()[:100]}"
        for file in documents
        for line in file.read_text("utf-8", "replace").splitlines()
        if FROM_INDEX.search(line) and "pipx inject" not in line
    ]
    assert named == []
    for text in (
        "pipx install 'blogsmith-site[lab]'",
        "pip install blogsmith-site",
        "uv tool upgrade blogsmith-site",
    ):
        assert FROM_INDEX.search(text) or "upgrade" in text


@each_row(
    "text",
    [
        "pip install blogsmith",
        "pip install 'blogsmith[lab]'",
        "pipx install blogsmith",
        "uv tool install blogsmith",
        "uvx blogsmith build",
        "python -m pip install --upgrade blogsmith",
        "the extra blogsmith[jupyter] brings it",
        'pipx install "blogsmith"',
    ],
)
def test_the_foreign_package_is_recognized(text: str) -> None:
    assert FOREIGN.search(text)


@each_row(
    "text",
    [
        "pipx install .",
        "pipx inject blogsmith-site numpy",
        "pip install 'blogsmith-site[lab]'",
        "pip install git+https://example.org/blogsmith.git",
        "pip install numpy, and blogsmith finds it",
        "blogsmith.lab",
    ],
)
def test_ours_is_not_the_foreign_package(text: str) -> None:
    assert not FOREIGN.search(text)


def test_the_installed_package_has_our_name_and_the_command_keeps_its() -> None:
    assert PROJECT["name"] == "blogsmith-site"
    assert set(PROJECT["scripts"]) == {"blogsmith"}
    assert metadata.metadata("blogsmith-site")["Name"] == "blogsmith-site"


def test_our_own_version_is_that_of_our_package() -> None:
    """Results made with `blogsmith.lab` are compared with it."""
    assert installed_versions(["blogsmith"])["blogsmith"] == program.version("blogsmith") == __version__


@pytest.mark.parametrize("extra", EXTRAS)
def test_hints_name_what_the_extra_brings(extra: str) -> None:
    assert list(EXTRAS[extra]) == PROJECT["optional-dependencies"][extra]


def test_the_plugin_for_mermaid_names_what_the_extra_brings() -> None:
    (package,) = PROJECT["optional-dependencies"]["diagrams"]
    assert f'PACKAGE = "{package}"' in (ROOT / "plugins" / "mermaid.py").read_text("utf-8")


UV_TOOLS = {
    '[tool]\nrequirements = [{ name = "blogsmith-site" }]\n': "uv tool install --with numpy blogsmith-site",
    # earlier extras are requested again, otherwise they would be removed
    '[tool]\nrequirements = [{ name = "blogsmith-site", extras = ["lab", "diagrams"] }, '
    '{ name = "scipy", specifier = "<2" }]\n': (
        "uv tool install --with 'scipy<2' --with numpy 'blogsmith-site[lab,diagrams]'"
    ),
    '[tool]\nrequirements = [{ name = "blogsmith-site", directory = "/src/a b" }]\n': (
        "uv tool install --with numpy '/src/a b'"
    ),
    # cannot be expressed in a command
    '[tool]\nrequirements = [{ name = "blogsmith-site", git = "https://example.org/b" }]\n': "",
    '[tool]\nrequirements = [{ name = "blogsmith-site" }]\n[tool.options]\nindex = []\nno-index = true\n': "",
    "[tool": "",
    "[tool]\nrequirements = [3]\n": "",
}
"""Receipt of an installation by uv → command; empty for one that leaves the receipt unchanged."""


def test_the_command_for_another_python_is_that_of_its_environment(tmp_path: Path) -> None:
    here = python_install_command(sys.executable, "numpy")
    assert here == install_command("numpy")
    for name, has_pip in (("plain", True), ("uv", False)):
        programs = tmp_path / name / "bin"
        programs.mkdir(parents=True)
        (programs.parent / "pyvenv.cfg").touch()
        if has_pip:
            (programs / "pip").touch()
    python = tmp_path / "plain/bin/python"
    assert python_install_command(str(python), "numpy") == f"{python} -m pip install numpy"
    python = tmp_path / "uv/bin/python"
    assert python_install_command(str(python), "numpy") == f"uv pip install --python {python} numpy"
    assert python_install_command("/usr/bin/python3", "numpy") == "/usr/bin/python3 -m pip install numpy"


def test_commands_are_for_the_shell_of_the_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pipx_metadata.json").touch()
    monkeypatch.setattr("blogsmith.base.diagnostics.extras.os", SimpleNamespace(name="nt"))
    assert install_command("a b<2", prefix=tmp_path).endswith(' "a b<2"')


def test_packages_are_named_for_modules_that_are_known() -> None:
    assert module_install_command("/p/python", "sklearn").endswith("install scikit-learn")
    assert module_install_command("/p/python", "my_own") == ""
    assert module_install_command("", "numpy") == ""


def test_the_command_is_that_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipx, tool, plain = (tmp_path / name for name in ("blogsmith-site", "tool", "plain"))
    for folder in (pipx, tool, plain):
        folder.mkdir()
    (pipx / "pipx_metadata.json").touch()
    (tool / "uv-receipt.toml").touch()
    assert install_command("numpy", "a<2", prefix=pipx) == "pipx inject blogsmith-site numpy 'a<2'"
    assert install_command("numpy", prefix=tool) == f"uv pip install --python {tool} numpy"
    for written, expected in UV_TOOLS.items():
        (tool / "uv-receipt.toml").write_text(written)
        there = f"uv pip install --python {tool} numpy"
        assert install_command("numpy", prefix=tool) == (expected or there)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    assert install_command("numpy", prefix=plain) == f"{shlex.quote(sys.executable)} -m pip install numpy"
    # an environment of uv has no pip
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert install_command("numpy", prefix=plain) == f"uv pip install --python {plain} numpy"
