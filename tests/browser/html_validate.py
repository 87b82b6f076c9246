"""`make html-validate`: check every page of our own site in each theme, and of the example sites.

    python -m tests.browser.html_validate

html-validate uses its standard rules. The Nu HTML checker reads the same pages; tests use it for some of
them. Exits with 1 if either finds errors.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.site_files import build, printed

from .conftest import ADDRESS, ROOT
from .test_markup import errors
from .test_themes import build_themed
from .tools import MODULES

PROGRAM = MODULES / ".bin" / "html-validate"
THEMES = sorted(path.parent.name for path in (ROOT / "themes").glob("*/theme.yaml"))
EXAMPLES = sorted(path for path in (ROOT / "tests" / "examples").iterdir() if path.is_dir())


def main() -> int:
    """Build the sites and validate them."""
    found = 0
    for theme in THEMES:
        with tempfile.TemporaryDirectory(prefix="html-validate-") as name:
            build_themed(Path(name), theme, {"public": ""}, all_pages())
            found += faults(f"theme {theme}", Path(name) / "public")
    for example in EXAMPLES:
        with tempfile.TemporaryDirectory(prefix="html-validate-") as name:
            report = build(example, output=Path(name) / "public", base_url=ADDRESS)
            assert report.ok, printed(report)
            found += faults(f"example {example.name}", Path(name) / "public")
    return min(found, 1)


def faults(title: str, output: Path) -> int:
    """Print the errors in a built site and return their number; html-validate counts as one."""
    pages = sorted(str(page) for page in output.rglob("*.html"))
    done = subprocess.run((PROGRAM, "--preset", "standard", *pages), check=False)
    others = errors(output)
    print(*others, sep="\n", end="\n" if others else "")
    found = len(others) + bool(done.returncode)
    print(f"{title}: {len(pages)} pages, {'faults above' if found else 'no fault'}", flush=True)
    return found


def all_pages() -> list[str]:
    """Return the names of our own pages, in the form that `build_themed` accepts."""
    pages = (ROOT / "content").rglob("*.md")
    return [page.parent.name if page.stem == "index" else page.stem for page in pages]


if __name__ == "__main__":
    sys.exit(main())
