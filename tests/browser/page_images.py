"""`make page-images`: an image of every kind of page, light and dark, on a desktop and on a phone.

    python -m tests.browser.page_images [FOLDER] [PATH …]

FOLDER (default `.cache/page-images`) gets `<page>-<width>-<scheme>.png`. PATH names pages of this
repository's site, instead of one page of each kind. The images are for human inspection; no test compares
pixels.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.site_files import build, printed

from .conftest import ADDRESS, ROOT
from .reader import Look, Reader, reading
from .server import served

KINDS = (
    "/",
    "/404.html",
    "/archive/",
    "/docs/",
    "/docs/callouts/",
    "/docs/mathematics/",
    "/posts/",
    "/posts/attention-in-numpy/",
    "/posts/softmax-without-overflow/",
    "/posts/square-root-of-d-k/",
    "/posts/three-masks/",
    "/series/",
    "/series/attention-by-hand/",
    "/tags/",
    "/tags/attention/",
)
"""A page of each kind, and posts with every construct."""
WIDTHS_PX = (1280, 1024, 390)
MAX_HEIGHT_PX = 9_000
# Images below the first screen load only when scrolled to.
LOAD_ALL = """
const images = [...document.images];
images.forEach(image => { image.loading = "eager"; });
return Promise.all(images.map(image => image.decode().catch(() => null))).then(() => images.length);
"""


def picture(reader: Reader, url: str, look: Look, script: str = "") -> bytes:
    """Return the whole page as PNG, cut at `MAX_HEIGHT_PX`. script: Changes of the page before."""
    reader.open(url, look)
    reader.ask(LOAD_ALL)
    reader.ask(script)
    height = min(int(reader.ask("return document.documentElement.scrollHeight")), MAX_HEIGHT_PX)
    clip = {"x": 0, "y": 0, "width": look.width_px, "height": height, "scale": 1}
    answer = reader.tell("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
    return base64.b64decode(answer["data"])


def take(folder: Path, paths: Sequence[str]) -> int:
    """Build the site, write images of each of `paths` in every look, and return their number."""
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    with TemporaryDirectory() as scratch:
        output = Path(scratch) / "public"
        report = build(ROOT, output=output, base_url=ADDRESS, future=True)
        if not report.ok:
            raise SystemExit(printed(report))
        with served(output) as origin, reading(Path(scratch) / "profile") as reader:
            for path in paths:
                for width in WIDTHS_PX:
                    for scheme in ("light", "dark"):
                        name = path.strip("/").replace("/", "_") or "home"
                        file = folder / f"{name}-{width}-{scheme}.png"
                        file.write_bytes(picture(reader, origin + path, Look(width, scheme)))
                        count += 1
    return count


def main(arguments: Sequence[str]) -> int:
    """Take the images and print their folder."""
    folder = Path(arguments[0]) if arguments else ROOT / ".cache" / "page-images"
    print(f"{take(folder, arguments[1:] or KINDS)} pictures in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
