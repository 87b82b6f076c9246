"""Script that the preview adds to a page. Also conversion between paths of the site and URL paths."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from html import escape
from types import MappingProxyType
from urllib.parse import quote, unquote

from ...render.policy.policy import add_sources
from ..protocol import PREFIX

_END_OF_HEAD = b"</head>"
POLICY_SOURCES = MappingProxyType(
    {
        "script-src": ("'self'",),
        "connect-src": ("'self'",),
        "worker-src": ("'self'",),
        # a formula that is added while the page is open may be the first with a `style` attribute
        "style-src-attr": ("'unsafe-inline'",),
    }
)
"""Sources that the preview's scripts add to the policy of a page."""


@dataclass(frozen=True, slots=True)
class ScriptTag:
    """Script element of one preview."""

    token: str
    """Secret that pages send with an action."""
    editor: str = ""
    """Value of the attribute `data-editor`, which determines how a source file is opened."""

    def insert(self, html: bytes, version: str, source: str) -> bytes:
        """Return the page with the script at the end of its `<head>`. Its Content-Security-Policy permits the
        script. source: source path of the page; empty for a generated page."""
        data = {"version": version, "source": source, "token": self.token, "editor": self.editor}
        attributes = "".join(f' data-{name}="{escape(value)}"' for name, value in data.items())
        script = f'<script type="module" src="{PREFIX}live.js" data-blogsmith{attributes}></script>\n'
        before, end, behind = add_sources(html, POLICY_SOURCES).partition(_END_OF_HEAD)
        return before + script.encode() + end + behind


def content_version(html: bytes) -> str:
    """Return a version that identifies the content of a page."""
    return hashlib.blake2b(html, digest_size=8).hexdigest()


# Conversion between paths in the site's table of files and paths in browsers.


def browser_path(path: str) -> str:
    """Return a path of the site as `location.pathname` of a browser contains it. The base path is already
    encoded."""
    return quote(path, safe="/%")


def path_of(decoded: str, base_path: str) -> str:
    """Return the path of the site for a decoded URL path. The base path in it is encoded again."""
    plain = unquote(base_path)
    is_inside = plain != base_path and decoded.startswith(f"{plain}/")
    return base_path + decoded[len(plain) :] if is_inside else decoded
