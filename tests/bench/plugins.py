"""`python -m tests.bench.plugins`: what it costs that plugins of a site run in a process of their own.

Builds the same posts twice, without the cache: with bundled plugins, and with copies of them in the site.
The builds take turns. The goal is a ratio of the processor time of all processes.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import median

from .build_runs import prepare_machine, run_build, run_version
from .build_sites import Site, write_site
from .build_subjects import ROOT, blogsmith

GOAL = 1.10
"""Maximum ratio of the processor time of a build."""
PAGES = ("cloudflare_redirects", "external_links", "folder_tags", "hf_space")
"""Plugins whose functions are called a few times for each page."""
FORMULAS = ("latex2mathml",)
"""A plugin that is called for each formula."""
_SPACE = '\n<div class="hf-space" data-src="owner/space"></div>\n'


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.plugins")
    parser.add_argument("--posts", type=int, default=100, metavar="N")
    parser.add_argument("--rounds", type=int, default=5, metavar="N")
    options = parser.parse_args()
    prepare_machine(1)
    with tempfile.TemporaryDirectory(prefix="plugins") as name:
        for plugins in (PAGES, FORMULAS):
            folder = Path(name, plugins[0])
            sites = [make_site(folder / kind, plugins, kind, options.posts) for kind in ("bundled", "own")]
            runs = [[run_without_cache(site) for site in sites] for _ in range(options.rounds)]
            bundled_s, own_s = (median(times) for times in zip(*runs, strict=True))
            ratio = median(own / bundled for bundled, own in runs)
            print(f"{', '.join(plugins)}: {options.posts} posts, {options.rounds} rounds")
            print(f"  bundled {bundled_s:.2f} s, own process {own_s:.2f} s, ratio {ratio:.3f}, goal {GOAL}")


def make_site(root: Path, plugins: tuple[str, ...], kind: str, posts: int) -> Site:
    """Write a site with these plugins, or with trusted copies of them. kind: `bundled` or `own`."""
    subject = blogsmith()
    names = plugins if kind == "bundled" else tuple(f"own_{name}" for name in plugins)
    files = {
        **subject.files,
        "blogsmith.yaml": f"{subject.files['blogsmith.yaml']}plugins: [{', '.join(names)}]\n",
    }
    if kind == "own":
        sources = {name: (ROOT / f"plugins/{name}.py").read_text("utf-8") for name in plugins}
        files |= {f"plugins/own_{name}.py": text for name, text in sources.items()}
    command = (*subject.command, "--jobs", "1")
    trust = (*subject.command[:-1], "trust")
    site = write_site(replace(subject, files=files, command=command, version=trust), root, posts)
    for post in (root / subject.posts).rglob("*.md"):
        post.write_text(post.read_text("utf-8") + _SPACE, "utf-8")
    run_version(site)
    return site


def run_without_cache(site: Site) -> float:
    """Build the site. Return the seconds of processor time."""
    for folder in (site.user_cache, site.root / site.subject.output):
        shutil.rmtree(folder, ignore_errors=True)
    return run_build(site).cpu_s


if __name__ == "__main__":
    main()
