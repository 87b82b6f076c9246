"""`make html-validate`: check every page of our own site, in both themes, with html-validate.

    python -m tests.browser.html_validate

Uses its standard rules; the tests use other validators. Exits with 1 if it finds errors.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from .conftest import ROOT
from .test_themes import build_themed
from .tools import MODULES

PROGRAM = MODULES / ".bin" / "html-validate"
THEMES = ("paper", "terminal")


def main() -> int:
    """Build the site in each theme and validate it."""
    found = 0
    for theme in THEMES:
        with tempfile.TemporaryDirectory(prefix="html-validate-") as name:
            build_themed(Path(name), theme, {"public": ""}, all_pages())
            pages = sorted(str(page) for page in (Path(name) / "public").rglob("*.html"))
            done = subprocess.run((PROGRAM, "--preset", "standard", *pages), check=False)
        found |= done.returncode
        print(f"theme {theme}: {len(pages)} pages, {'faults above' if done.returncode else 'no fault'}")
    return min(found, 1)


def all_pages() -> list[str]:
    """Return the names of our own pages, in the form that `build_themed` accepts."""
    pages = (ROOT / "content").rglob("*.md")
    return [page.parent.name if page.stem == "index" else page.stem for page in pages]


if __name__ == "__main__":
    sys.exit(main())
