"""`blogsmith theme list` and `blogsmith theme preview`: the installed themes, and every element in each.

The preview builds one small site per theme into a temporary folder. A page with a menu of the themes shows
them in a frame, without a script.
"""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from html import escape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ..base.diagnostics.model import SiteError
from ..base.storage.temporary import temporary_folder
from ..build.site import build_site
from ..config.load import parse_config
from ..project.bundled_folders import bundled_folder
from ..project.report import BuildOptions
from ..render.templates.files import ThemeFolder, theme_folders
from .new_elements import write_elements

HOST = "127.0.0.1"
_SETTINGS = """\
title: {name}
theme: {name}
toc: true
menu:
  - {{ title: Elements, url: /elements/ }}
"""
_FRONT = """\
---
title: {name}
description: {description}
---

[A page with every element](elements/index.md) in theme `{name}`.
"""
_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Themes</title>
<style>
  :root {{ color-scheme: light dark; font: 1rem/1.4 system-ui, sans-serif; }}
  body {{ display: grid; grid-template-rows: auto 1fr; height: 100vh; margin: 0; }}
  nav {{ display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; padding: .5rem 1rem; border-bottom: 1px solid; }}
  nav a {{ color: inherit; min-height: 24px; }}
  iframe {{ width: 100%; height: 100%; border: 0; }}
</style>
</head>
<body>
<nav aria-label="Themes">
{links}
</nav>
<iframe name="look" title="Page in the chosen theme" src="/{first}/elements/"></iframe>
</body>
</html>
"""


def list_themes(root: Path, current: str) -> list[str]:
    """Return one line for each theme that the site can use, sorted by name. A line contains the name, the
    description and the origin of the theme. current: the theme of the site. Its line is marked; if no folder
    contains this theme, the line is the last."""
    folders = theme_folders(root, bundled_folder("themes"))
    width = max(len(folder.name) for folder in folders)
    is_known = any(folder.name == current for folder in folders)
    lost = [] if is_known else [f"* {current:{width}}  unknown theme: choose one of these in blogsmith.yaml"]
    return [
        f"{'*' if folder.name == current else ' '} {folder.name:{width}}  {folder.settings.description}"
        f" ({_origin(folder, root)})"
        for folder in folders
    ] + lost


def _origin(folder: ThemeFolder, root: Path) -> str:
    if folder.root.is_relative_to(bundled_folder("themes").resolve()):
        return "bundled"
    return folder.label if folder.root.is_relative_to(root.resolve()) else "installed"


def preview_themes(root: Path, current: str, port: int, ready: Callable[[str], None]) -> None:
    """Build and serve a page with every element in each theme, for this machine only, until interrupted.
    ready: function that is called with the URL. Raise SiteError if a theme has errors, OSError if the port is
    in use."""
    folders = theme_folders(root, bundled_folder("themes"))
    # the theme of the site first, because the page shows it at the start
    folders.sort(key=lambda folder: folder.name != current)
    with temporary_folder() as folder, _served(folder, port) as server:
        url = f"http://{HOST}:{server.server_port}/"
        for theme in folders:
            _build(theme, folder, url)
        names = [theme.name for theme in folders]
        (folder / "index.html").write_text(picker(names), "utf-8")
        ready(url)
        server.serve_forever()


def picker(names: Sequence[str]) -> str:
    """Return a page that contains a menu of these themes, and a frame that shows the first one."""
    links = "\n".join(
        f'<a href="/{escape(name)}/elements/" target="look">{escape(name)}</a>' for name in names
    )
    return _PAGE.format(links=links, first=escape(names[0]))


def _build(theme: ThemeFolder, output: Path, url: str) -> None:
    """Build a site with every element in a theme, from a temporary folder."""
    with temporary_folder() as root:
        settings = _SETTINGS.format(name=theme.name)
        (root / "blogsmith.yaml").write_text(settings, "utf-8")
        (root / "content").mkdir()
        description = theme.settings.description.replace(":", " –")
        front = _FRONT.format(name=theme.name, description=description)
        (root / "content" / "index.md").write_text(front, "utf-8")
        # also themes that it extends, which the site may contain
        if not theme.root.is_relative_to(bundled_folder("themes").resolve()):
            shutil.copytree(theme.root.parent, root / "themes")
        write_elements(root, parse_config(settings).config, "Elements")
        report = build_site(
            root,
            BuildOptions(
                now=dt.datetime.now(dt.UTC),
                drafts=True,
                output=output / theme.name,
                base_url=f"{url}{theme.name}/",
            ),
        )
    if not report.ok:
        raise SiteError(*(found for found in report.diagnostics if found.severity == "error"))


class _Handler(SimpleHTTPRequestHandler):
    """Handler that serves files to this machine only. It rejects requests for another host name."""

    def send_head(self) -> Any:
        host = (self.headers.get("Host") or "").partition(":")[0]
        if host not in (HOST, "localhost"):
            self.send_error(403)
            return None
        return super().send_head()

    def log_message(self, *arguments: Any) -> None:
        """Print nothing for a request."""


@contextmanager
def _served(folder: Path, port: int) -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer((HOST, port), partial(_Handler, directory=str(folder)))
    server.daemon_threads = True
    try:
        yield server
    finally:
        server.server_close()
