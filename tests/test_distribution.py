"""Distribution: the wheel and the source archive, their content, and that they work anywhere."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from blogsmith import __version__
from tests.distribution_files import (
    OLDEST,
    ROOT,
    Distribution,
    build_distribution,
    build_wheel_of,
    copy_checkout,
    find_pythons,
)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LICENSES = {
    "blogsmith/themes/paper/static/fonts/OFL.txt",
    *(f"blogsmith/themes/paper/static/fonts/OFL-paper-{name}.txt" for name in ("serif", "sans", "mono")),
    "blogsmith/languages/CLDR-LICENSE.txt",
    "blogsmith/preview/client/vendor/LICENSE",
}


@pytest.fixture(scope="module")
def pythons() -> Mapping[tuple[int, int], str]:
    """Return the Python versions on this machine; each query costs a fifth of a second."""
    return find_pythons()


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checkout")
    copy_checkout(folder)
    return folder


@pytest.fixture(scope="module")
def distribution(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Distribution:
    return build_distribution(checkout, tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def names(distribution: Distribution) -> list[str]:
    """Return the paths in the wheel."""
    with zipfile.ZipFile(distribution.wheel) as wheel:
        return wheel.namelist()


def test_the_wheel_holds_package_themes_and_plugins_and_nothing_else(
    checkout: Path, distribution: Distribution, names: list[str]
) -> None:
    own = {name for name in names if not name.startswith(f"blogsmith_site-{__version__}.dist-info/")}
    expected = {path for path, _ in files_of_package(checkout)}
    assert own == expected
    assert len(names) == len({*names})
    with zipfile.ZipFile(distribution.wheel) as wheel:
        for path, file in files_of_package(checkout):
            assert wheel.read(path) == file.read_bytes()


def files_of_package(checkout: Path) -> Iterator[tuple[str, Path]]:
    """Yield path in the wheel and file of the checkout."""
    for folder, prefix in (("blogsmith", ""), ("themes", "blogsmith/"), ("plugins", "blogsmith/")):
        for file in (checkout / folder).rglob("*"):
            if file.is_file():
                yield prefix + file.relative_to(checkout).as_posix(), file


def test_the_wheel_has_what_a_site_is_begun_with(names: list[str]) -> None:
    assert {
        *("blogsmith/starter/gitignore", "blogsmith/starter/content/posts/hello/index.md"),
        *("blogsmith/starter_texts/de.yaml", "blogsmith/elements/index.md", "blogsmith/elements/clip.mp4"),
        *("blogsmith/themes/paper/theme.yaml", "blogsmith/themes/terminal/theme.yaml"),
        *(
            "blogsmith/starter_theme/theme.yaml",
            "blogsmith/plugins/mermaid.py",
            "blogsmith/languages/de.yaml",
        ),
    } <= {*names}
    assert not [name for name in names if "test" in name.split("/")[0] or "__pycache__" in name]


def test_licences_of_others_come_along(distribution: Distribution, names: list[str]) -> None:
    assert {*names} >= LICENSES
    info = f"blogsmith_site-{__version__}.dist-info/licenses/"
    listed = {name.removeprefix(info) for name in names if name.startswith(info)}
    assert listed == {"LICENSE", *(name.replace("blogsmith/themes", "themes") for name in LICENSES)}
    with zipfile.ZipFile(distribution.wheel) as wheel:
        metadata = wheel.read(f"blogsmith_site-{__version__}.dist-info/METADATA").decode()
    assert "\nLicense-Expression: MIT\n" in metadata
    assert f"\nRequires-Python: >={OLDEST[0]}.{OLDEST[1]}\n" in metadata


def test_the_source_archive_gives_the_same_wheel(distribution: Distribution, tmp_path: Path) -> None:
    again = build_wheel_of(distribution.archive, tmp_path)
    assert again.name == distribution.wheel.name
    assert again.read_bytes() == distribution.wheel.read_bytes()


def test_the_source_archive_can_be_tested(distribution: Distribution) -> None:
    with tarfile.open(distribution.archive) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "Makefile", "tests/conftest.py", "content/docs/install.md", "LICENSE"} <= names
    assert not [name for name in names if name.startswith((".venv", "public/", ".cache"))]


def test_it_works_from_where_it_was_put(distribution: Distribution, tmp_path: Path) -> None:
    """In an environment with the packages of this one, but without this checkout."""
    place = tmp_path / "installed"
    with zipfile.ZipFile(distribution.wheel) as wheel:
        wheel.extractall(place)
    packages = sysconfig.get_path("purelib")
    # `-S`: no editable install that points at the checkout is visible
    start = f"import sys; sys.path[:] = {[str(place), *standard_paths(), packages]}; "
    start += "from blogsmith.__main__ import run; run()"
    begin_and_check([sys.executable, "-S", "-I", "-c", start], tmp_path)


def standard_paths() -> list[str]:
    """Return the paths of the standard library."""
    answer = subprocess.run(
        [sys.executable, "-S", "-I", "-c", "import sys; print(*sys.path, sep='\\n')"],
        capture_output=True,
        text=True,
        check=True,
    )
    return answer.stdout.split("\n")[:-1]


def begin_and_check(command: list[str], folder: Path) -> None:
    """Create, build and check a site with the installed program, without warnings."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["XDG_STATE_HOME"] = str(folder / "state")
    for arguments in (
        ["new", "site", "notes"],
        ["check", "--strict"],
        ["build", "--strict"],
        ["check", "--strict"],
    ):
        done = subprocess.run(
            [*command, *arguments],
            cwd=folder if arguments[0] == "new" else folder / "notes",
            env=environment,
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr) == (0, ""), done
    page = (folder / "notes/public/posts/hello/index.html").read_text("utf-8")
    assert "<math" in page and 'class="output' in page
    assert str(ROOT) not in page


@pytest.mark.long
@pytest.mark.parametrize("kind", ["wheel", "archive"])
@pytest.mark.parametrize("which", ["oldest", "newest"])
def test_it_is_installed_by_pip(
    distribution: Distribution,
    pythons: Mapping[tuple[int, int], str],
    tmp_path: Path,
    which: str,
    kind: str,
) -> None:
    if which == "newest" and len(pythons) == 1:
        pytest.skip("there is one Python here; BLOGSMITH_PYTHONS names others by their paths")
    if which == "oldest" and OLDEST not in pythons:
        pytest.skip("Python 3.11 is not here; BLOGSMITH_PYTHONS names others by their paths")
    version = OLDEST if which == "oldest" else max(pythons)
    environment = tmp_path / "environment"
    subprocess.run([pythons[version], "-m", "venv", str(environment)], check=True)
    programs = environment / ("Scripts" if os.name == "nt" else "bin")
    file = str(getattr(distribution, kind))
    pip = [str(programs / "python"), "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", file], check=True)
    subprocess.run([*pip, "check"], check=True)
    begin_and_check([str(programs / "blogsmith")], tmp_path)
