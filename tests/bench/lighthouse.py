"""`make bench-pages`: Lighthouse scores of our pages on a slow phone, and the cost of each part of a page.

    python -m tests.bench.lighthouse [SITE] [--page PATH]… [--rounds N] [--parts]

SITE is a built site, by default our own after a new build. Lighthouse's mobile profile (1.6 Mbit/s, 150 ms,
a CPU four times slower) judges the pages with these paths, by default the front page and three of our own
posts; the table shows medians, and the result is 1 if a page misses `LEAST_SCORES` or `MAX_BLOCKING_MS`. The
same pages without scripts, external style sheets and fonts are the reference: if the load of this machine is
too high for the goals, a page must be as quick as they are. `--parts` also measures the pages without one of
these parts.

The time of the main text has no goal of its own: on that phone a style sheet costs a round trip of 150 ms at
the first page and nothing at the next ones, and so do fonts. The main text of our longest post was 0.84 s
later than in the reference; 0.55 s were bytes.

Lighthouse computes its times from the requests on this machine. Anything that arrived before the first text
was drawn counts as if the text had waited for it, even fonts that block no text (`font-display: optional`).
The work of other processes increases its times, so the load is printed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tests.browser.server import served
from tests.browser.tools import program

REPOSITORY = Path(__file__).parent.parent.parent
SCRIPT = Path(__file__).with_name("lighthouse.mjs")
PACKAGES = REPOSITORY / ".cache"
"""Folder where `make bench-pages` installs Lighthouse with npm."""
PAGES = ("/", "/posts/attention-in-tiles/", "/posts/many-heads/", "/posts/square-root-of-d-k/")
LEAST_SCORES: Mapping[str, int] = MappingProxyType(
    {"performance": 97, "accessibility": 100, "best-practices": 100, "seo": 100}
)
MAX_BLOCKING_MS = 180
"""Maximum of the time in which a page does not answer a tap, as a median."""
TEXTS = (".html", ".css", ".js", ".json", ".xml", ".svg", ".txt")

Look = dict[str, Any]
"""A line of JSON that `lighthouse.mjs` prints."""


class Handler(SimpleHTTPRequestHandler):
    """Handler that serves files as web hosts do: compressed, on persistent connections, with caching."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if path.is_dir():
            path /= "index.html"
        if not path.is_file():
            self.send_error(404)
            return
        body = path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Cache-Control", "max-age=600")
        if path.suffix in TEXTS:
            body = gzip.compress(body, 6)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Log nothing."""


def leave_out_scripts(page: str, _: Path) -> str:
    """Return the page without the scripts of its widgets."""
    return re.sub(r'<script type="module"[^>]*></script>\n?', "", page)


def leave_out_faces(page: str, site: Path) -> str:
    """Return the page in system fonts."""
    for face in site.rglob("*.woff2"):
        face.unlink()
    return re.sub(r'<link rel="preload" as="font"[^>]*>\n?', "", page)


def inline_sheets(page: str, site: Path) -> str:
    """Return the page with inlined style sheets."""
    return _with_sheets(page, site, lambda text: f"<style>{text}</style>")


def join_sheets(page: str, site: Path) -> str:
    """Return the page with a single style sheet."""

    def link(text: str) -> str:
        name = f"joined-{len(list(site.glob('joined-*')))}.css"
        (site / name).write_text(text, encoding="utf-8")
        return f'<link rel="stylesheet" href="/{name}">'

    return _with_sheets(page, site, link)


def _with_sheets(page: str, site: Path, make: Callable[[str], str]) -> str:
    texts = []
    for address in re.findall(r'<link rel="stylesheet" href="/([^"?]+)', page):
        folder = "/" + address.rpartition("/")[0]
        text = (site / address).read_text(encoding="utf-8")
        texts.append(re.sub(r'url\((["\']?)(?!data:|/|["\'])', rf"url(\1{folder}/", text))
    page = re.sub(r'<link rel="stylesheet"[^>]*>\n?', "", page)
    page = re.sub(r"style-src [^;\"]*", "style-src 'self' 'unsafe-inline'", page)
    return page.replace("</head>", make("\n".join(texts)) + "</head>", 1)


PARTS: Mapping[str, tuple[Callable[[str, Path], str], ...]] = MappingProxyType(
    {
        "as it is": (),
        "without scripts": (leave_out_scripts,),
        "one style sheet": (join_sheets,),
        "style sheet inside": (inline_sheets,),
        "without faces": (leave_out_faces,),
    }
)
BARE = (leave_out_scripts, inline_sheets, leave_out_faces)
"""Changes that give a page its minimal cost."""


def look(site: Path, rounds: int, pages: Sequence[str] = PAGES) -> list[Look]:
    """Run Lighthouse on each page in each round and return its results.

    Raises:
        SystemExit: Lighthouse, a browser or a page is missing, or Lighthouse failed.
    """
    if missing := [page for page in pages if not (site / page.strip("/") / "index.html").is_file()]:
        raise SystemExit(f"page not found: {', '.join(missing)}; name pages of the site with --page")
    browser = program("chromium", "chromium-browser", "google-chrome")
    with served(site, Handler) as origin:
        command = [
            "node",
            str(SCRIPT),
            str(PACKAGES),
            browser,
            str(rounds),
            *(origin + page for page in pages),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"Lighthouse failed:\n{done.stderr.strip()}")
    looks = [json.loads(line) for line in done.stdout.splitlines()]
    return [{**each, "address": each["address"].removeprefix(origin)} for each in looks]


def page_line(name: str, looks: Sequence[Look]) -> str:
    """Return the line of a page: medians of its results."""
    middle = partial(_median, looks)
    scores = " ".join(
        f"{statistics.median(each['scores'][key] for each in looks):3.0f}" for key in LEAST_SCORES
    )
    return (
        f"{name:32} {scores}  {middle('lcp_ms') / 1000:5.2f} s  {middle('fcp_ms') / 1000:5.2f} s"
        f"  {middle('blocking_ms'):4.0f} ms  {middle('shift'):5.3f}  {middle('bytes') / 1000:6.1f} kB"
    )


def _median(looks: Sequence[Look], key: str) -> float:
    return statistics.median(float(each[key]) for each in looks)


def meets_goals(page: Sequence[Look], bare: Sequence[Look]) -> bool:
    """Return whether the medians of a page meet the goals, or are as good as those of `bare` if this
    machine is too busy for them."""
    scores = {key: statistics.median(each["scores"][key] for each in page) for key in LEAST_SCORES}
    speed = statistics.median(each["scores"]["performance"] for each in bare)
    least = {**LEAST_SCORES, "performance": min(LEAST_SCORES["performance"], speed)}
    is_quick = _median(page, "blocking_ms") <= max(MAX_BLOCKING_MS, _median(bare, "blocking_ms"))
    return is_quick and all(scores[key] >= least[key] for key in LEAST_SCORES)


def changed_site(
    site: Path, folder: Path, changes: Sequence[Callable[[str, Path], str]], pages: Sequence[str] = PAGES
) -> Path:
    """Return the site, or a copy where the measured pages are changed."""
    if not changes:
        return site
    shutil.copytree(site, folder)
    for page in pages:
        file = folder / page.strip("/") / "index.html"
        text = file.read_text(encoding="utf-8")
        for change in changes:
            text = change(text, folder)
        file.write_text(text, encoding="utf-8")
    return folder


def main(arguments: Sequence[str]) -> int:
    """Print the table; return 1 if a page does not meet the goals."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.lighthouse")
    parser.add_argument("site", type=Path, nargs="?")
    parser.add_argument("--page", action="append", default=[])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--parts", action="store_true")
    options = parser.parse_args(arguments)
    pages = options.page or PAGES
    with tempfile.TemporaryDirectory() as folder:
        site = options.site or Path(folder) / "site"
        if not options.site:
            subprocess.run(
                [sys.executable, "-m", "blogsmith", "build", "-q", "-o", str(site)],
                cwd=REPOSITORY,
                check=True,
            )
        parts = {"none of these": BARE, **(PARTS if options.parts else {"as it is": ()})}
        found = {}
        for part, changes in parts.items():
            looks = look(changed_site(site, Path(folder) / part, changes, pages), options.rounds, pages)
            print(
                f"{part}; median of {options.rounds}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
            )
            print(f"{'':32} perf a11y best seo    LCP      FCP  blocking  shift    bytes")
            found[part] = {page: [each for each in looks if each["address"] == page] for page in pages}
            for page, of_page in found[part].items():
                print(page_line(page, of_page), flush=True)
        is_met = all(meets_goals(found["as it is"][page], found["none of these"][page]) for page in pages)
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
