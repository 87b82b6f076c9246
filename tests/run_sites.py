"""Small sites whose posts are code, for tests that run whole builds."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import IO

from blogsmith.project.report import ExecutionOptions
from tests.site_files import put_bare

STALE = ExecutionOptions(execute="stale")


def site(root: Path, config: str = "", **posts: str) -> Path:
    """Create a site whose posts are code: cells separated by empty lines, or Markdown."""
    (root / "content" / "posts").mkdir(parents=True)
    put_bare(root, {"blogsmith.yaml": f"title: T\n{config}"})
    layout = root / "themes/bare/layouts/post.html"
    summary = "</title><meta name=description content='{{ page.description }}'>"
    layout.write_text(layout.read_text("utf-8").replace("</title>", summary), "utf-8")
    for name, text in posts.items():
        body = text if "```" in text else "\n\n".join(f"```{{python}}\n{c}\n```" for c in text.split("\n\n"))
        (root / "content" / "posts" / f"{name}.md").write_text(f"---\ntitle: {name}\n---\n{body}\n")
    return root


def page(root: Path, name: str = "a") -> str:
    return (root / "public" / "posts" / name / "index.html").read_text("utf-8")


def records(root: Path) -> dict[str, bytes]:
    """Return all records, without the seconds of the run and the seals over them."""
    files = (file for file in sorted((root / "_freeze").rglob("*")) if file.is_file())
    return {
        str(file.relative_to(root)): re.sub(rb'"(seconds|seal)": [^,\n]+', b"", file.read_bytes())
        for file in files
    }


def command(
    root: Path, *arguments: str, env: dict[str, str], said: int | IO[bytes] = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """Run `blogsmith build --execute` as a separate process. said: destination of its messages."""
    return subprocess.Popen(
        [sys.executable, "-m", "blogsmith", "build", "--execute", *arguments],
        cwd=root,
        env=env,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=said,
    )
