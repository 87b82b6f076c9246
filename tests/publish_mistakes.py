"""Errors during setup for a host, for the examples of codes in the manual."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from blogsmith.base.diagnostics.model import Diagnostic, SiteError
from blogsmith.publish.author_files import compare_files
from blogsmith.publish.dependency_lock import LOCK
from blogsmith.publish.host_rehearsal import CommandResult, install_problem, pages_problem
from blogsmith.publish.pages_branch import plan_update
from blogsmith.publish.rehearsal_command import require_trust
from blogsmith.publish.setup import SetupRequest, plan_setup
from tests.site_files import NOW, put


def _site(root: Path) -> None:
    put(root, {"blogsmith.yaml": "title: Notes\n"})


def _publish(root: Path, target: str, **asked: str) -> tuple[Diagnostic, ...]:
    try:
        setup = plan_setup(root, SetupRequest(target=target, now=NOW, **asked))  # type: ignore[arg-type]
        compare_files(setup.root, setup.files)
    except SiteError as error:
        return error.diagnostics
    return setup.problems


def _publish_nowhere(root: Path) -> tuple[Diagnostic, ...]:
    _site(root)
    return _publish(root, "cloudflare")


def _publish_file(root: Path) -> tuple[Diagnostic, ...]:
    _site(root)
    (root / ".gitlab-ci.yml").symlink_to("/etc/hosts")
    return _publish(root, "gitlab")


def _publish_name(root: Path) -> tuple[Diagnostic, ...]:
    _site(root)
    return _publish(root, "nginx", base_url="https://example.org", destination="/srv/$host")


def _publish_repository(root: Path) -> tuple[Diagnostic, ...]:
    (root / ".git").mkdir()
    (root / "site").mkdir()
    _site(root / "site")
    return _publish(root / "site", "github-pages")


def _publish_results(root: Path) -> tuple[Diagnostic, ...]:
    _site(root)
    (root / ".gitignore").write_text("/public/\n/_freeze/\n", encoding="utf-8")
    return _publish(root, "github-pages")


def _publish_target(root: Path) -> tuple[Diagnostic, ...]:
    _site(root)
    return _publish(root, "rsync", base_url="https://example.org")


def _publish_git(root: Path) -> tuple[Diagnostic, ...]:
    try:
        plan_update(root, root / "public", "", root / "work")
    except SiteError as error:
        return error.diagnostics
    return ()


def _publish_install(root: Path) -> tuple[Diagnostic, ...]:
    said = f"ERROR: THESE PACKAGES DO NOT MATCH THE HASHES.\n (from -r {LOCK} (line 2))"
    return (install_problem(CommandResult("pip", 1, said, 0.0), "# lock\njinja2==3.1.6 \\\n"),)


def _publish_lock(root: Path) -> tuple[Diagnostic, ...]:
    _site(root)
    put(root, {LOCK: "numpy\n"})
    return _publish(root, "github-pages")


def _publish_pages(root: Path) -> tuple[Diagnostic, ...]:
    return (pages_problem(["index.html", "posts/a/index.html"]),)


def _publish_trust(root: Path) -> tuple[Diagnostic, ...]:
    _site(root)
    try:
        require_trust(root)
    except SiteError as error:
        return error.diagnostics
    return ()


PUBLISHING: Mapping[str, Callable[[Path], tuple[Diagnostic, ...]]] = MappingProxyType(
    {
        "publish-base-url": _publish_nowhere,
        "publish-file": _publish_file,
        "publish-git": _publish_git,
        "publish-install": _publish_install,
        "publish-lock": _publish_lock,
        "publish-pages": _publish_pages,
        "publish-trust": _publish_trust,
        "publish-name": _publish_name,
        "publish-repository": _publish_repository,
        "publish-results": _publish_results,
        "publish-target": _publish_target,
    }
)
"""Code → function that causes its error in an empty folder."""
