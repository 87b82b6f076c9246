"""Supply chain: lock files with hashes, workflows with actions by commit, the SBOM of a wheel."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from blogsmith.publish import github_pages
from blogsmith.publish.package_wheel import installed_files
from scripts.sbom import Locked, make_sbom, read_lock
from tests.test_publish_setup import read_workflow, schema

ROOT = Path(__file__).parent.parent
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
ACTION = re.compile(r"uses: ([\w-]+/[\w./-]+)@([0-9a-f]{40}) # v\d+\.\d+\.\d+\n")


def requirements(file: str) -> Iterator[Requirement]:
    """Yield the requirements that a lock file must satisfy."""
    if file == "tools.txt":
        lines = (ROOT / ".ci/tools.in").read_text("utf-8").split("\n")
        yield from (Requirement(line) for line in lines if line and not line.startswith("#"))
        return
    read = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    extras = read["project"]["optional-dependencies"]
    needed = [*read["project"]["dependencies"], *read["build-system"]["requires"]]
    names = [*needed, *extras["test"], *extras["lab"]]
    yield from (one for one in map(Requirement, names) if one.name != "blogsmith-site")


@pytest.mark.parametrize("file", ["requirements.txt", "tools.txt"])
def test_a_lock_file_satisfies_every_requirement(file: str) -> None:
    """If this fails, `make lock LOCK_FLAGS=` writes both lock files again."""
    text = (ROOT / ".ci" / file).read_text("utf-8")
    lock = read_lock(text)
    pins = re.findall(r"^([\w.-]+)==", text, re.MULTILINE)
    assert len(pins) == sum(map(len, lock.values())), "a package without a version or hash"
    for one in requirements(file):
        versions = [version for version, _ in lock.get(canonicalize_name(one.name), ())]
        assert versions and all(one.specifier.contains(version) for version in versions), (one, versions)


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_a_workflow_is_valid_and_runs_only_pinned_code(file: Path) -> None:
    text = file.read_text("utf-8")
    loaded = read_workflow(text)
    jsonschema.validate(loaded, schema("github-workflows"))
    assert loaded["permissions"] == {"contents": "read"}
    assert len(ACTION.findall(text)) == text.count("uses:")
    steps = [step for job in loaded["jobs"].values() for step in job["steps"]]
    for step in steps:
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
        if "pip install" in step.get("run", ""):
            assert re.search(r"--require-hashes|--no-deps --no-build-isolation", step["run"]), step["run"]


def test_an_action_has_one_commit_in_our_workflows_and_in_those_we_write() -> None:
    texts = [*(file.read_text("utf-8") for file in WORKFLOWS), Path(github_pages.__file__).read_text("utf-8")]
    commits: dict[str, set[str]] = {}
    for action, commit in ACTION.findall("".join(texts)):
        commits.setdefault(action, set()).add(commit)
    assert {action for action, found in commits.items() if len(found) > 1} == set()


def test_a_release_is_attested_before_it_is_uploaded() -> None:
    jobs = read_workflow((ROOT / ".github/workflows/release.yml").read_text("utf-8"))["jobs"]
    build = [step.get("uses", "").partition("@")[0] for step in jobs["build"]["steps"]]
    assert {"actions/attest-build-provenance", "actions/attest", "actions/upload-artifact"} <= {*build}
    assert jobs["build"]["permissions"] == {"contents": "read", "id-token": "write", "attestations": "write"}
    assert jobs["publish"]["needs"] == "build"


@pytest.fixture(scope="module")
def lock() -> Locked:
    return read_lock((ROOT / ".ci/requirements.txt").read_text("utf-8"))


def test_the_sbom_is_valid_and_names_packages_fonts_and_scripts(lock: Locked) -> None:
    files = installed_files()
    bom = make_sbom(files, lock)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bom)) is None
    assert bom == make_sbom(files, lock)
    parts: dict[str, dict[str, Any]] = {one["name"]: one for one in bom["components"]}
    fonts_and_scripts = {path for path in files if path.endswith((".woff", ".woff2", ".js"))}
    assert {name for name, one in parts.items() if one["type"] == "file"} == fonts_and_scripts
    for path, licence in (
        ("blogsmith/themes/paper/static/fonts/paper-serif.woff2", "OFL-1.1"),
        ("blogsmith/preview/client/vendor/idiomorph.esm.js", "0BSD"),
        ("blogsmith/themes/paper/static/search.js", "MIT"),
    ):
        assert parts[path]["licenses"] == [{"license": {"id": licence}}]
    direct = {one.name for one in requirements("requirements.txt")} & {*parts}
    assert {"jinja2", "pillow", "merman", "fonttools"} <= direct
    packages = [one for one in parts.values() if one["type"] == "library"]
    for one in packages:
        assert one["licenses"] and one["externalReferences"][0]["hashes"], one["name"]
    # through markdown-it-py, through an extra of fonttools, only on some systems
    assert {"mdurl", "brotli", "merman"} <= {one["name"] for one in packages}
    known = {one["bom-ref"] for one in packages} | {bom["metadata"]["component"]["bom-ref"]}
    assert {one["ref"] for one in bom["dependencies"]} == known


def test_a_package_that_the_lock_lacks_stops_the_sbom(lock: Locked) -> None:
    with pytest.raises(KeyError, match="mdurl"):
        make_sbom(installed_files(), {name: one for name, one in lock.items() if name != "mdurl"})
