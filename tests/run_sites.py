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
    """A site whose posts are code: cells with an empty line between them, or Markdown that begins so."""
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
    """Everything recorded, without the seconds of the run."""
    files = (file for file in sorted((root / "_freeze").rglob("*")) if file.is_file())
    return {
        str(file.relative_to(root)): re.sub(rb'"seconds": [^,\n]+', b"", file.read_bytes()) for file in files
    }


def command(
    root: Path, *arguments: str, env: dict[str, str], said: int | IO[bytes] = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """`blogsmith build --execute` as a process of its own. said: where its messages go."""
    return subprocess.Popen(
        [sys.executable, "-m", "blogsmith", "build", "--execute", *arguments],
        cwd=root,
        env=env,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=said,
    )
