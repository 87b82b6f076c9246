r"""`make drawings`: sixty drawings by LaTeX and by us, as images for people to look at.

    python -m tests.browser.drawings [FOLDER]

The posts are in `tests/drawings/`. Every `tikzcd`, which we draw, is followed by the same diagram from LaTeX.
A second build, which finds no LaTeX, must give the same pages. FOLDER (default `.cache/drawings`) gets
`<post>-<look>.png`: all drawings of a post on a light and on a dark page, and the page on a phone. Needs
`latex`, `dvisvgm` and Chromium.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from msgspec import structs

from tests.run_sites import STALE
from tests.site_files import build, has_latex, printed, put

from .page_images import picture
from .reader import Look, Reader, reading
from .server import served

ROOT = Path(__file__).parents[2]
POSTS = ROOT / "tests" / "drawings"
COUNTS = {"tikzcd": 20, "tikz": 20, "circuitikz": 10, "pgfplots": 10}
"""Post → number of its drawings."""
LOOKS = {"light": Look(1280), "dark": Look(1280, "dark"), "phone": Look(390), "phone-dark": Look(390, "dark")}
_CONFIG = "title: Drawings\nmath: {macros: [quiver.tex]}\n"
_CD = re.compile(r"\$\$\n(\\begin\{tikzcd\}.*?\\end\{tikzcd\})\n\$\$", re.DOTALL)
_BY_TEX = '```tikz {{alt="The same from LaTeX."}}\n\\usepackage{{tikz-cd}}\n{}\n```'
_FIGURE = re.compile('<figure class="diagram"')
# On a wide page: a heading and what follows it become one cell of a grid.
_GRID = """
const content = document.querySelector(".post-content"), grid = document.createElement("div");
grid.style = "display:grid;grid-template-columns:repeat(3,1fr);gap:1rem;padding:1rem;font-size:16px";
for (const heading of [...content.querySelectorAll("h2")]) {
  const cell = document.createElement("section");
  cell.className = "post-content"; cell.style = "min-width:0;max-width:none;padding:0;margin:0";
  for (let next; (next = heading.nextElementSibling) && next.tagName !== "H2";) cell.append(next);
  heading.style = "font-size:.8rem;margin:0";
  cell.prepend(heading); grid.append(cell);
}
document.body.replaceChildren(grid);
"""


def posts() -> dict[str, str]:
    """Return the posts by name, with the diagrams of LaTeX after ours."""
    texts = {name: (POSTS / f"{name}.md").read_text("utf-8") for name in COUNTS}
    cd = _CD.sub(lambda found: f"{found[0]}\n\n{_BY_TEX.format(found[1])}", texts["tikzcd"])
    return {**texts, "tikzcd": cd}


def draw(root: Path) -> dict[str, bytes]:
    """Build the site at `root` with LaTeX and again without it. Return its pages by name of the post.
    SystemExit if LaTeX rejects a drawing, or if the pages differ."""
    styles = (POSTS / "quiver.tex").read_text("utf-8")
    put(root, {"blogsmith.yaml": _CONFIG, "quiver.tex": styles})
    put(root, {f"content/{name}.md": text for name, text in posts().items()})
    report = build(root, execution=STALE)
    if report.diagnostics:
        raise SystemExit(printed(report))
    first = _pages(root)
    with patch.dict(os.environ, {"PATH": str(root / "empty")}):
        again = build(root, execution=structs.replace(STALE, execute=None, frozen=True))
    if again.diagnostics or _pages(root) != first:
        raise SystemExit(f"without LaTeX the pages differ\n{printed(again)}")
    for name, count in COUNTS.items():
        found = len(_FIGURE.findall(first[name].decode()))
        if found != count:
            raise SystemExit(f"{name}: {found} drawings, expected {count}")
    return first


def _pages(root: Path) -> dict[str, bytes]:
    return {name: (root / "public" / name / "index.html").read_bytes() for name in COUNTS}


def sheet(reader: Reader, url: str, look: Look) -> bytes:
    """Return the drawings of a page as PNG; in a grid if the window is wide."""
    return picture(reader, url, look, _GRID if look.width_px > 1000 else "")


def main(arguments: Sequence[str]) -> int:
    """Draw everything and write the sheets."""
    folder = Path(arguments[0]) if arguments else ROOT / ".cache" / "drawings"
    if not has_latex():
        raise SystemExit("latex or dvisvgm is missing: apt install texlive-pictures dvisvgm")
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as scratch:
        draw(root := Path(scratch) / "site")
        with served(root / "public") as origin, reading(Path(scratch) / "profile") as reader:
            for name in COUNTS:
                for look, settings in LOOKS.items():
                    image = sheet(reader, f"{origin}/{name}/", settings)
                    (folder / f"{name}-{look}.png").write_bytes(image)
    print(f"{sum(COUNTS.values())} drawings, the same without LaTeX; see {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
