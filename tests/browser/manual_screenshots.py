"""`make screenshots`: the screenshots of the manual, in content/docs/figures.

    python -m tests.browser.manual_screenshots [NAME …]

Each exists in a light and a dark version, of a site that is built, served, imported or edited for it.
`tests/browser/test_manual_screenshots.py` makes them again and compares, so an outdated one is found.
"""

from __future__ import annotations

import base64
import html
import io
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from PIL import Image

from blogsmith.cli.main import main as run_command
from tests.docs_sources import ROOT
from tests.lsp_desk import Desk
from tests.serve_process import running
from tests.site_files import build, printed, put

from .conftest import ADDRESS
from .page_images import LOAD_ALL
from .preview_tab import Tab
from .reader import Look, Reader, reading
from .server import served

FIGURES = ROOT / "content/docs/figures"
TUTORIAL = ROOT / "content/docs/moving-a-blog.md"
MAX_BYTES = 65_000
SCHEMES = ("light", "dark")
_WINDOW = Look(width_px=960)
_SCALE = 1.5
"""Pixels of an image per pixel of the page."""
_QUALITY = 80

POST = r"""---
title: Softmax in one page
date: 2026-03-01
tags: [softmax]
---

Scores $x \in \mathbb{R}^n$ become weights that are positive and sum to one:

$$ p_i = \frac{e^{x_i}}{\sum_j e^{x_j}}. \label{eq:softmax} $$

> [!TIP] Subtract the maximum of the scores before you exponentiate.

By \eqref{eq:softmax} a shift of all scores changes nothing.

```python title="softmax.py" {3}
def softmax(x):
    # Without the shift, the exponential overflows.
    e = np.exp(x - x.max())
    return e / e.sum()
```
"""
WRONG = POST.replace(r"$$ p_i = \frac", r"$$ p_i = \softmx(x) = \frac").replace(
    "eq:softmax} a", "eq:sofmax} a"
)
"""The same post with two errors."""
_PATH = "content/posts/softmax.md"

_EDITOR = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>softmax.md</title><style>
:root {{ color-scheme: light dark }}
body {{ margin: 0; background: light-dark(#fff, #1e1e1e); color: light-dark(#222, #d4d4d4); width: 960px }}
* {{ font: 15px/1.6 monospace }}
ol {{ margin: 0; padding: 12px 12px 12px 56px }}
li::marker {{ color: light-dark(#888, #777) }}
li {{ white-space: pre-wrap }}
u {{ text-decoration: underline wavy light-dark(#c00, #f66) }}
table {{ border-top: 1px solid light-dark(#ccc, #444); padding: 10px 14px; border-spacing: 0 4px }}
td {{ vertical-align: top; padding-right: 14px; white-space: pre-wrap }}
td:first-child {{ color: light-dark(#c00, #f66) }}
</style><ol>{lines}</ol><table>{rows}</table>"""


ALL_FONTS = """
const visit = group => [...group.cssRules].forEach(rule => {
  if (rule instanceof CSSFontFaceRule) {
    group.insertRule(rule.cssText.replace("optional", "block"), group.cssRules.length);
  } else if (rule instanceof CSSMediaRule || rule instanceof CSSSupportsRule) {
    visit(rule);
  }
});
[...document.styleSheets].forEach(visit);
"""
"""Script that uses optional fonts, too, however late they arrive."""


@dataclass(frozen=True, slots=True)
class Studio:
    """A browser, a folder and a site, for one screenshot."""

    reader: Reader
    folder: Path
    """An empty folder."""
    origin: str
    """Origin of this repository's site."""

    def capture(self, height_px: int = 600, *, end_of: str = "") -> bytes:
        """Return the first `height_px` of the window as PNG, or the last ones of the element `end_of`."""
        self.reader.ask(ALL_FONTS)
        self.reader.wait_for_fonts()
        self.reader.ask(LOAD_ALL)
        corner = "return [0, 0, innerWidth]"
        if end_of:
            corner = (
                "const end = document.querySelector(arguments[0]);"
                "end.scrollIntoView({block: 'end'});"
                "const {x, bottom, width} = end.getBoundingClientRect();"
                "return [x - 16, bottom + 12 + scrollY - arguments[1], width + 32]"
            )
        x, y, width = self.reader.ask(corner, end_of, height_px)
        clip = {"x": x, "y": y, "width": width, "height": height_px, "scale": _SCALE}
        # beyond the window the browser lays the page out again, with other heights
        answer = self.reader.tell(
            "Page.captureScreenshot", format="png", captureBeyondViewport=not end_of, clip=clip
        )
        return base64.b64decode(answer["data"])

    @contextmanager
    def site(self, settings: str, post: str = POST) -> Iterator[str]:
        """Build a site with one post, and serve it."""
        root = put(self.folder / "site", {"blogsmith.yaml": settings, _PATH: post})
        report = build(root)
        assert report.ok, printed(report)
        with served(root / "public") as origin:
            yield origin


def preview_errors(studio: Studio, look: Look) -> bytes:
    """Save a post with errors while the preview shows it."""
    root = put(studio.folder / "notes", {"blogsmith.yaml": "title: Notes\n", _PATH: POST})
    with running(root) as serving:
        tab = Tab(serving, studio.reader)
        tab.open("/posts/softmax/", look)
        tab.save({_PATH: WRONG})
        tab.wait_own("return shadow.querySelector('dialog').open")
        image = studio.capture()
        studio.reader.tell("Page.navigate", url="about:blank")
    return image


def search(studio: Studio, look: Look) -> bytes:
    """Search this repository's site for a formula."""
    studio.reader.open(f"{studio.origin}/posts/three-masks/", look)
    studio.reader.press("/")
    studio.reader.wait_for(lambda: studio.reader.find(".search-field").is_displayed())
    studio.reader.press("softmax(QK^T/sqrt(d_k))")
    studio.reader.wait_for(
        lambda: studio.reader.ask(
            "const shown = [...document.querySelectorAll('.search-excerpt, .search-formula')];"
            "return shown.filter(one => one.hasChildNodes()).length > 5"
        )
    )
    return studio.capture()


def theme(name: str) -> Callable[[Studio, Look], bytes]:
    """Return the function that shows a post in a theme."""

    def take(studio: Studio, look: Look) -> bytes:
        settings = f"title: Notes\nsearch: true\ntheme: {name}\ntheme_options: {{scheme: auto}}\n"
        with studio.site(settings) as origin:
            studio.reader.open(f"{origin}/posts/softmax/", look)
            return studio.capture(700)

    return take


def example(name: str, page: str) -> Callable[[Studio, Look], bytes]:
    """Return the function that shows a page of an example site."""

    def take(studio: Studio, look: Look) -> bytes:
        root = shutil.copytree(ROOT / "tests" / "examples" / name, studio.folder / "site")
        report = build(root)
        assert report.ok, printed(report)
        with served(root / "public") as origin:
            studio.reader.open(f"{origin}{page}", replace(look, width_px=1216))
            # some of the sites prefer a scheme
            chosen = (
                "const {dataset} = document.documentElement; dataset.scheme = dataset.theme = arguments[0]"
            )
            studio.reader.ask(chosen, look.scheme)
            return studio.capture(650)

    return take


def provenance(studio: Studio, look: Look) -> bytes:
    """Show a result that was recorded on a GPU."""
    studio.reader.open(f"{studio.origin}/posts/attention-in-tiles/", look)
    return studio.capture(320, end_of="#cell-measured-on-gpu .provenance")


def import_report(studio: Studio, look: Look) -> bytes:
    """Import the blog of the tutorial, and show the report as a page."""
    old, new = studio.folder / "old", studio.folder / "new"
    fences = re.findall(r'^```\w+ title="old/([^"]+)"\n(.*?)^```$', TUTORIAL.read_text("utf-8"), re.M | re.S)
    put(old, dict(fences))
    assert run_command(["import", str(old), str(new), "--quiet"]) == 0
    with studio.site("title: Old notes\n", (new / "import-report.md").read_text("utf-8")) as origin:
        studio.reader.open(f"{origin}/posts/softmax/", replace(look, width_px=680))
        return studio.capture(820)


def editor(studio: Studio, look: Look) -> bytes:
    """Draw a post with the messages of the language server."""
    desk = Desk(studio.folder / "notes", {"blogsmith.yaml": "title: Notes\n", _PATH: WRONG})
    desk.open(_PATH)
    told = desk.told[desk.uri(_PATH)].diagnostics
    lines = WRONG.splitlines()
    shown = [html.escape(line) for line in lines]
    rows = []
    for one in told:
        row, start, end = one.range.start.line, one.range.start.character, one.range.end.character
        before, marked, after = lines[row][:start], lines[row][start:end], lines[row][end:]
        shown[row] = f"{html.escape(before)}<u>{html.escape(marked)}</u>{html.escape(after)}"
        rows.append(f"<tr><td>error<td>{row + 1}:{start + 1}<td>{html.escape(str(one.message))}")
    items = "".join(f"<li>{line or ' '}</li>" for line in shown[:14])
    page = _EDITOR.format(lines=items, rows="".join(rows))
    put(studio.folder / "editor", {"index.html": page})
    with served(studio.folder / "editor") as origin:
        studio.reader.open(f"{origin}/", look)
        height = int(studio.reader.ask("return document.documentElement.getBoundingClientRect().height"))
        return studio.capture(height)


SHOTS: Mapping[str, Callable[[Studio, Look], bytes]] = MappingProxyType(
    {
        "preview-errors": preview_errors,
        "search": search,
        "theme-paper": theme("paper"),
        **{f"theme-{name}": theme(name) for name in ("distill", "scholar", "notebook", "terminal")},
        "provenance": provenance,
        "import-report": import_report,
        "editor": editor,
        "example-kernel-engineer": example("kernel-engineer", "/posts/tiles/"),
        "example-lab": example("lab", "/"),
        "example-lecturer": example("lecturer", "/lectures/rank/"),
        "example-mathematician": example("mathematician", "/posts/cantor/"),
        "example-notes": example("notes", "/notes/sqrt-two/"),
    }
)


def file(name: str, scheme: str) -> Path:
    """Return the path of a screenshot."""
    return FIGURES / f"{name}-{scheme}.webp"


def take(name: str, scheme: str, reader: Reader, origin: str) -> Image.Image:
    """Return the screenshot `name` in a colour scheme."""
    with TemporaryDirectory() as folder:
        png = SHOTS[name](Studio(reader, Path(folder), origin), replace(_WINDOW, scheme=scheme))
    return Image.open(io.BytesIO(png)).convert("RGB")


def main(names: Sequence[str]) -> int:
    """Write the named screenshots, or all."""
    with TemporaryDirectory() as folder:
        public = Path(folder) / "public"
        report = build(ROOT, output=public, base_url=ADDRESS, future=True, keep_going=True)
        if report.pages == 0:
            raise SystemExit(printed(report))
        with served(public) as origin, reading(Path(folder) / "profile") as reader:
            for name in names or SHOTS:
                for scheme in SCHEMES:
                    path = file(name, scheme)
                    take(name, scheme, reader, origin).save(path, "WEBP", quality=_QUALITY, method=6)
                    print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
