"""HTML for the W3C's Nu checker: our own site, those of `tests/sites/`, and sites of other test modules."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from blogsmith.render.outputs.html import clean_html
from tests.test_sites import SITES

from . import tools
from .conftest import Served
from .test_cells import FOREIGN
from .test_cells import page as cells
from .test_languages import sites as languages
from .test_pictures import site as pictures
from .test_teaching import site as teaching
from .test_themes import terminals

__all__ = ["cells", "languages", "pictures", "teaching", "terminals"]

OF_JAVA = (
    # Deep formulas need a larger stack than Java's default.
    "-Xss4m",
    # It ends after seconds; in this time the second compiler costs more than it gains.
    "-XX:+IgnoreUnrecognizedVMOptions",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
)


# The checker knows MathML 3. Browsers ignore these attributes, and screen readers read them.
_OF_MATHML_4 = re.compile(r"Attribute “(?:intent|arg)” not allowed on element “m[a-z]+” at this point")


def errors(*folders: Path) -> list[str]:
    """Return every error in the HTML files below `folders`, with its file and line."""
    java, checker = tools.program("java"), tools.file(tools.NU)
    command = (java, *OF_JAVA, "-jar", checker, "--format", "json", "--exit-zero-always", "--errors-only")
    done = subprocess.run([*command, "--skip-non-html", "--stdout", *folders], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    messages = json.loads(done.stdout)["messages"]
    found = [f"{_place(message)}: {message['message']}" for message in messages]
    return [error for error in found if not _OF_MATHML_4.search(error)]


def _place(message: dict[str, str]) -> str:
    return f"{unquote(urlsplit(message['url']).path)}:{message.get('lastLine', '-')}"


def test_every_site_of_these_tests(
    own_site: Served,
    terminals: Mapping[str, Served],
    languages: Mapping[str, Served],
    teaching: Served,
    pictures: Served,
    cells: Served,
    tmp_path: Path,
) -> None:
    """All sites are checked in one run, because starting the checker takes longer than a hundred pages.

    One page contains an error, which must be found.
    """
    wrong = tmp_path / "x.html"
    wrong.write_text('<!DOCTYPE html><html lang="en"><title>x</title><p id="a">\n<h1 id="a">x</h1>')
    kept = "".join(clean_html(html, f"output {number}").html for number, html in enumerate(FOREIGN))
    (tmp_path / "y.html").write_text(f'<!DOCTYPE html><html lang="en"><title>y</title>{kept}')
    sites = (own_site, terminals["dark"], *languages.values(), teaching)
    parts = (pictures.folder / "sub/posts", cells.folder / "b/about")
    found = errors(tmp_path, *(site.folder for site in sites), *parts, *(site / "expected" for site in SITES))
    assert found == [f"{wrong}:2: Duplicate ID “a”."], "\n".join(found)
