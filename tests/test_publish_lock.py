"""The lock of a published site and the wheel next to it: creation, updates and reports."""

from __future__ import annotations

import io
import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from blogsmith import __version__
from blogsmith.base.diagnostics.model import SiteError
from blogsmith.publish import package_wheel, pip_resolver
from blogsmith.publish.dependency_lock import (
    LOCK,
    InstallSource,
    LockedPackage,
    LockInputs,
    format_lock,
    lock_source,
    parse_git_source,
    parse_lock,
)
from blogsmith.publish.install_plan import InstallPlan, lock_problems, plan_install, write_install
from blogsmith.publish.pip_resolver import install_error
from tests.publish_locks import DIGEST, FILES, PACKAGES, MadeUpIndex, use_made_up_index
from tests.publish_sites import run
from tests.rows import each_row
from tests.site_files import put_bare

COMMIT = "0123456789abcdef0123456789abcdef01234567"
GIT = f"https://example.org/ada/blogsmith.git@{COMMIT}"
INPUTS = LockInputs(__version__, (), "3.12")
WHEEL = f"publish/blogsmith_site-{__version__}-py3-none-any.whl"


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> MadeUpIndex:
    return use_made_up_index(monkeypatch)


def write(root: Path, plan: InstallPlan) -> None:
    write_install(root, plan)
    (root / LOCK).write_text(plan.lock, "utf-8")


# the form of a lock


@each_row("source", [InstallSource(), InstallSource("git", GIT), InstallSource("index")])
def test_a_lock_is_read_as_it_was_written(source: InstallSource) -> None:
    inputs = LockInputs("0.1.0", ("diagrams", "search"), "3.12", source)
    wheel = LockedPackage("./publish/x.whl", "", (DIGEST,), ("diagrams", "search"))
    many = LockedPackage("pillow", "13.0.0", (DIGEST, "b" * 64))
    text = format_lock(inputs, ("linux-x86_64", "darwin-arm64"), (many, wheel), "pip install")
    lock = parse_lock(text)
    assert lock.inputs == inputs.format()
    assert lock.platforms == ("darwin-arm64", "linux-x86_64")
    assert [(one.name, one.version, one.digests, one.extras) for one in lock.packages] == [
        (wheel.name, "", wheel.digests, wheel.extras),
        ("pillow", "13.0.0", many.digests, ()),
    ]
    assert text.split("\n")[lock.packages[1].line - 1].startswith("pillow==13.0.0")
    assert lock_source(lock) == source


@each_row(
    ("text", "is_valid"),
    [
        (GIT, True),
        (f"ssh://git@example.org/ada/blogsmith.git@{COMMIT}", True),
        (f"file:///srv/blogsmith@{COMMIT}", False),
        ("https://example.org/ada/blogsmith.git", False),
        (f"https://example.org/ada/blogsmith.git@{COMMIT[:7]}", False),
        ("https://example.org/ada/blogsmith.git@main", False),
        (f"https://ada:secret@example.org/blogsmith.git@{COMMIT}", False),
        (f"https://example.org/$(id)@{COMMIT}", False),
        (f"--upload-pack=id@{COMMIT}", False),
        ("", False),
    ],
)
def test_a_source_in_git_is_a_whole_commit_without_a_password(text: str, is_valid: bool) -> None:
    assert (parse_git_source(text) is not None) == is_valid


# the wheel


def test_the_wheel_has_the_files_of_this_package_and_their_digests() -> None:
    files = package_wheel.installed_files()
    for path in (
        "blogsmith/publish/command.py",
        "blogsmith/themes/paper/theme.yaml",
        "blogsmith/plugins/mermaid.py",
    ):
        assert path in files
    info = f"blogsmith_site-{__version__}.dist-info"
    assert {f"{info}/METADATA", f"{info}/WHEEL", f"{info}/entry_points.txt", f"{info}/licenses/LICENSE"} <= {
        *files
    }
    assert not [path for path in files if "__pycache__" in path or path.endswith((".pyc", "direct_url.json"))]
    data = package_wheel.pack_wheel(files)
    assert data == package_wheel.pack_wheel(files)
    assert package_wheel.read_wheel(data) == files
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        record = archive.read(f"{info}/RECORD").decode().splitlines()
    assert [line.rpartition(",sha256=")[0] for line in record[:-1]] == list(files)
    assert record[-1] == f"{info}/RECORD,,"


@pytest.mark.parametrize("data", [b"", b"PK", b"no wheel" * 100])
def test_a_file_that_is_not_a_wheel_is_replaced(data: bytes, tmp_path: Path, index: MadeUpIndex) -> None:
    (tmp_path / "publish").mkdir()
    (tmp_path / WHEEL).write_bytes(data)
    write(tmp_path, plan_install(tmp_path, INPUTS))
    assert package_wheel.read_wheel((tmp_path / WHEEL).read_bytes()) == FILES


def test_a_program_that_is_not_installed_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    with pytest.raises(SiteError) as caught:
        package_wheel.installed_files()
    assert "pip install ." in caught.value.diagnostics[0].hint


# setup


def test_a_lock_that_fits_asks_no_index(tmp_path: Path, index: MadeUpIndex) -> None:
    write(tmp_path, plan_install(tmp_path, INPUTS))
    assert len(index.requests) == 1
    again = plan_install(tmp_path, INPUTS)
    assert (again.data, again.lock) == (None, (tmp_path / LOCK).read_text("utf-8"))
    assert len(index.requests) == 1


@pytest.mark.parametrize(
    "inputs",
    [
        LockInputs("0.9.0", (), "3.12"),
        LockInputs(__version__, ("search",), "3.12"),
        LockInputs(__version__, (), "3.13"),
        LockInputs(__version__, (), "3.12", InstallSource("git", GIT)),
    ],
)
def test_a_lock_for_something_else_is_made_again(
    inputs: LockInputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = use_made_up_index(monkeypatch)
    write(tmp_path, plan_install(tmp_path, INPUTS))
    (problem,) = lock_problems(tmp_path, inputs)
    assert problem.code == "publish-lock"
    assert inputs.format() in problem.message
    plan = plan_install(tmp_path, inputs)
    assert len(index.requests) == 2
    assert parse_lock(plan.lock).inputs == inputs.format()


def test_versions_installed_here_are_locked_again(
    tmp_path: Path, index: MadeUpIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, plan_install(tmp_path, INPUTS))
    monkeypatch.setattr(pip_resolver, "installed_version", lambda name: "99.0")
    index.packages = (LockedPackage("click", "99.0", ("c" * 64,)),)
    assert parse_lock(plan_install(tmp_path, INPUTS).lock).versions == {"click": "99.0"}


def test_a_second_platform_adds_its_files(
    tmp_path: Path, index: MadeUpIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, plan_install(tmp_path, INPUTS))
    monkeypatch.setattr(pip_resolver, "own_platform", lambda: "darwin-arm64")
    index.packages = tuple(LockedPackage(one.name, one.version, ("d" * 64,)) for one in PACKAGES)
    lock = parse_lock(plan_install(tmp_path, INPUTS).lock)
    assert lock.platforms == ("darwin-arm64", "linux-x86_64")
    assert [len(one.digests) for one in lock.packages] == [1, 2, 2]
    assert [is_for_host for _, _, is_for_host in index.requests] == [True, True, False]


def test_the_wheel_of_an_earlier_version_goes(
    tmp_path: Path, index: MadeUpIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, plan_install(tmp_path, INPUTS))
    monkeypatch.setattr(package_wheel, "wheel_name", lambda: "blogsmith_site-9.9.9-py3-none-any.whl")
    (tmp_path / "publish/mine-1.0-py3-none-any.whl").write_bytes(b"mine")
    write(tmp_path, plan_install(tmp_path, LockInputs("9.9.9", (), "3.12")))
    left = sorted(file.name for file in (tmp_path / "publish").iterdir())
    assert left == ["blogsmith_site-9.9.9-py3-none-any.whl", "mine-1.0-py3-none-any.whl", "requirements.txt"]


def test_a_wheel_of_the_lock_that_was_changed_stays(
    tmp_path: Path, index: MadeUpIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, plan_install(tmp_path, INPUTS))
    (tmp_path / WHEEL).write_bytes(b"changed")
    monkeypatch.setattr(package_wheel, "wheel_name", lambda: "blogsmith_site-9.9.9-py3-none-any.whl")
    assert plan_install(tmp_path, LockInputs("9.9.9", (), "3.12")).old_wheel == ""


@pytest.mark.parametrize("options", [("--from-git", GIT), ("--from-index",), ()])
def test_the_source_is_kept_until_another_is_named(
    options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = use_made_up_index(monkeypatch)
    monkeypatch.setattr("blogsmith.publish.install_plan._check_index_wheel", lambda *_: None)
    root = put_bare(tmp_path, {"blogsmith.yaml": "title: T\nbase_url: https://example.org\n"})
    command = ("publish", "setup", "gitlab", "--site", str(root))
    assert run(*command, *options) == 0
    first = (root / LOCK).read_text("utf-8")
    assert run(*command) == 0
    assert (root / LOCK).read_text("utf-8") == first
    pipeline = (root / ".gitlab-ci.yml").read_text("utf-8")
    wanted = index.requests[0][0]
    if not options:
        assert (root / WHEEL).is_file()
        return
    assert not (root / WHEEL).exists()
    if options[0] == "--from-index":
        assert f"\nblogsmith-site=={__version__} " in first
        assert wanted == [f"blogsmith-site=={__version__}"]
    else:
        assert wanted == [f"blogsmith-site @ git+{GIT}", "hatchling"]
        assert "blogsmith-site==" not in first
        assert f"pip install --no-deps --no-build-isolation ''blogsmith-site @ git+{GIT}''" in pipeline
        # the slim image has no git
        assert "-slim" not in pipeline
    assert run(*command, "--from-wheel", "--force") == 0
    assert (root / WHEEL).is_file()


@each_row(
    "options",
    [
        ("--from-git", "https://example.org/x"),
        ("--from-git", GIT, "--from-index"),
        ("--from-index", "--from-wheel"),
    ],
)
def test_sources_that_cannot_be(
    options: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = put_bare(tmp_path, {"blogsmith.yaml": "title: T\nbase_url: https://example.org\n"})
    assert run("publish", "setup", "gitlab", "--site", str(root), *options) == 2
    assert "--from-" in capsys.readouterr().err
    assert not (root / ".gitlab-ci.yml").exists()


def test_an_index_with_another_program_under_our_name(
    tmp_path: Path, index: MadeUpIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = package_wheel.pack_wheel({**FILES, "blogsmith/__init__.py": b"import os"})
    monkeypatch.setattr(pip_resolver, "download_wheel", lambda requirement, folder: other)
    source = InstallSource("index")
    with pytest.raises(SiteError) as caught:
        plan_install(tmp_path, LockInputs(__version__, (), "3.12", source))
    assert "in the package index differs from the program" in caught.value.diagnostics[0].message
    monkeypatch.setattr(pip_resolver, "download_wheel", lambda *_: package_wheel.pack_wheel(FILES))
    assert plan_install(tmp_path, LockInputs(__version__, (), "3.12", source)).wheel == ""


# what is wrong with a lock


def test_a_wheel_whose_digest_differs_is_an_error_at_its_line(tmp_path: Path, index: MadeUpIndex) -> None:
    write(tmp_path, plan_install(tmp_path, INPUTS))
    assert lock_problems(tmp_path, INPUTS) == ()
    (tmp_path / WHEEL).write_bytes(b"other")
    (problem,) = lock_problems(tmp_path, INPUTS)
    assert problem.message == f'invalid wheel "{WHEEL}": its SHA-256 is not the one in the lock'
    assert (problem.path, problem.place and problem.place.line) == (LOCK, 6)
    (tmp_path / WHEEL).unlink()
    (problem,) = lock_problems(tmp_path, INPUTS)
    assert problem.message == f'wheel not found: "{WHEEL}"'


def test_a_lock_reads_no_wheel_outside_the_site(tmp_path: Path, index: MadeUpIndex) -> None:
    (tmp_path / "outside.whl").write_bytes(b"outside")
    root = tmp_path / "site"
    root.mkdir()
    write(root, plan_install(root, INPUTS))
    text = (root / LOCK).read_text("utf-8").replace(f"./{WHEEL}", "./publish/../../outside.whl")
    (root / LOCK).write_text(text, "utf-8")
    assert [problem.code for problem in lock_problems(root, INPUTS)] == ["publish-lock"]


def test_an_author_s_own_file_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"blogsmith.yaml": "title: T\nbase_url: https://example.org\n", LOCK: "numpy\n"}
    root = put_bare(tmp_path, files)
    assert run("publish", "setup", "gitlab", "--site", str(root), "--force") == 1
    assert "the lock was not written by blogsmith [publish-lock]" in capsys.readouterr().err
    assert (root / LOCK).read_text("utf-8") == "numpy\n"


def test_a_requirement_by_name_at_the_top_is_a_warning(
    tmp_path: Path, index: MadeUpIndex, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "blogsmith.yaml": "title: T\nbase_url: https://example.org\n",
        "requirements.txt": "numpy\nblogsmith_site[lab] >= 0.1\n",
    }
    root = put_bare(tmp_path, files)
    assert run("publish", "setup", "netlify", "--site", str(root)) == 0
    said = capsys.readouterr().err
    assert "requirements.txt:2:1: warning:" in said
    assert "^^^^^^^^^^^^^^" in said
    assert (root / "requirements.txt").read_text("utf-8") == files["requirements.txt"]


@each_row(
    ("stderr", "message"),
    [
        (
            "WARNING: Retrying after NewConnectionError\nERROR: Could not find a version that satisfies the "
            "requirement click>=8.2 (from versions: none)\n",
            "package index not reached: pip cannot connect to it",
        ),
        (
            "ERROR: Could not find a version that satisfies the requirement blogsmith-site==0.1.0 (from "
            "versions: none)\nERROR: No matching distribution found for blogsmith-site==0.1.0\n",
            "package not found: no index has blogsmith-site in this version",
        ),
        (
            "ERROR: Could not find a version that satisfies the requirement click>=99 (versions: 8.2)\n",
            "it fails: Could not find a version that satisfies the requirement click>=99 (versions: 8.2)",
        ),
        ("", "it fails: pip gives no reason"),
    ],
)
def test_reasons_of_pip(stderr: str, message: str) -> None:
    (found,) = install_error(stderr, "it fails").diagnostics
    assert found.message == message
    assert found.hint
