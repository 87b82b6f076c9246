"""Small sites in one text file: `=== path` starts a file, `=== expected` the expected output.

`=== path [hex]` contains bytes as hexadecimal digits, for encodings that no editor would keep. A site
without `blogsmith.yaml` gets an empty one, unless the file contains `=== no blogsmith.yaml`. A file with
`=== trusted` is a site whose own plugins may run. `=== with latex` and `=== without latex` say whether LaTeX
is installed.
"""

from __future__ import annotations

import datetime as dt
import os
import platform
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from blogsmith.base.diagnostics.format import format_diagnostic
from blogsmith.build.site import build_site
from blogsmith.project.report import BuildOptions, BuildReport
from blogsmith.project.trust.consent import trust
from tests.page_checks import dead_fragments

NOW = dt.datetime(2026, 6, 1, 12, 0, tzinfo=dt.UTC)
"""The build time of all tests."""


@dataclass(frozen=True, slots=True)
class SiteText:
    """A site and its expected output."""

    files: dict[str, bytes]
    """Path → content."""
    expected: str
    """The text after `=== expected`, without surrounding empty lines."""
    head: str
    """Everything before `=== expected`, to write the file again."""
    trusted: bool = False
    """Whether `blogsmith trust` was run on it."""
    latex: bool | None = None
    """Whether LaTeX must be installed; None if it does not matter."""


def read_site_text(path: Path) -> SiteText:
    """Parse a site file."""
    text = path.read_text(encoding="utf-8")
    head, _, expected = text.partition("=== expected\n")
    files: dict[str, bytes] = {}
    marks = set()
    for section in ("\n" + head).split("\n=== ")[1:]:
        name, _, body = section.partition("\n")
        if name in ("no blogsmith.yaml", "trusted", *_LATEX):
            marks.add(name)
            continue
        # a record of another Python version is a warning in itself
        body = body.replace('"python": "here"', f'"python": "{platform.python_version()}"')
        is_hex = name.endswith(" [hex]")
        files[name.removesuffix(" [hex]")] = bytes.fromhex(body) if is_hex else f"{body}\n".encode()
    if "no blogsmith.yaml" not in marks:
        files.setdefault("blogsmith.yaml", b"title: Test\n")
    latex = next((_LATEX[mark] for mark in marks if mark in _LATEX), None)
    return SiteText(files, expected.strip("\n"), head, "trusted" in marks, latex)


_LATEX = {"with latex": True, "without latex": False}


def has_latex() -> bool:
    """Return whether the programs of LaTeX are installed. They are optional, in CI too."""
    return all(map(shutil.which, ("latex", "dvisvgm")))


def write_site_files(site: SiteText, root: Path) -> None:
    """Write the site's files to `root`."""
    for name, data in site.files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)


def put(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files under `root`, by path, and return `root`."""
    for name, data in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data if isinstance(data, bytes) else data.encode())
    return root


_BARE = """\
<!DOCTYPE html><html lang=en><title>{{ page.title }}</title>
<h1 id="{{ page.title_id or 'title' }}">{{ page.title_html }}</h1>{{ page.content }}
{% for one in page.pages %}<a href={{ one.url | url }}>{{ one.title }}</a>{% endfor %}
"""
_LAYOUTS = ("post", "page", "home", "section", "tag", "tags", "series", "archive", "not_found")


def put_bare(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write a site with a minimal theme of its own, which is built in a tenth of the time."""
    put(root, {f"themes/bare/layouts/{name}.html": _BARE for name in _LAYOUTS})
    put(root, {"themes/bare/theme.yaml": "name: bare\n", **files})
    with (root / "blogsmith.yaml").open("a") as config:
        config.write("theme: bare\n")
    return root


def build(root: Path, **options: object) -> BuildReport:
    """Build the site at `root` at the time of the tests. A link to a missing id on its page is a failure."""
    asked = BuildOptions(now=NOW, **options)  # type: ignore[arg-type]
    report = build_site(root, asked)
    check_links(report, asked, root)
    return report


def check_links(report: BuildReport, asked: BuildOptions, root: Path) -> None:
    """Fail if a page of a built site links to an id that it lacks."""
    # a broken link of the author, lowered to a warning by the settings, is printed as written
    if report.ok and asked.write and "link-anchor" not in {one.code for one in report.diagnostics}:
        assert dead_links(asked.output or root / "public") == []


def dead_links(public: Path) -> list[str]:
    """Return every `href="#x"` in the pages below a folder whose page has no `id="x"`."""
    pages = sorted(public.rglob("*.html"))
    return [
        f"{page.relative_to(public)}: {name}"
        for page in pages
        for name in dead_fragments(page.read_text("utf-8", "replace"))
    ]


def build_text(site: SiteText, root: Path) -> BuildReport:
    """Write `site` to `root` and build it; the user's trust is recorded in a hidden folder there."""
    write_site_files(site, root)
    environ = {"XDG_STATE_HOME": str(root / ".state")}
    if site.latex is False:
        environ["PATH"] = str(root / "no-programs")
    with patch.dict(os.environ, environ):
        if site.trusted:
            trust(root)
        return build(root)


def printed(report: BuildReport) -> str:
    """Return the report's diagnostics as the command line prints them, without colour."""
    return "\n".join(format_diagnostic(diagnostic, color=False) for diagnostic in report.diagnostics)
