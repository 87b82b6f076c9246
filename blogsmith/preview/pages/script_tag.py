"""The script that the preview adds to a page, and the addresses it uses."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from html import escape
from types import MappingProxyType
from urllib.parse import quote, unquote

from ...render.policy.policy import with_sources
from ..protocol import PREFIX

_END_OF_HEAD = b"</head>"
NEEDS = MappingProxyType(
    {
        "script-src": ("'self'",),
        "connect-src": ("'self'",),
        "worker-src": ("'self'",),
        # a formula that is written while the page is open may bring the first attribute
        "style-src-attr": ("'unsafe-inline'",),
    }
)
"""What the preview's scripts add to the policy of a page."""


@dataclass(frozen=True, slots=True)
class ScriptTag:
    """The script element of one preview."""

    token: str
    """Sent along with what a page asks the preview to do."""
    editor: str = ""
    """As `data-editor`: how a source file is opened."""

    def put_in(self, html: bytes, version: str, source: str) -> bytes:
        """The page with the script at the end of its head, and with leave for it in the page's policy.

        source: path of its Markdown file, or empty.
        """
        data = {"version": version, "source": source, "token": self.token, "editor": self.editor}
        attributes = "".join(f' data-{name}="{escape(value)}"' for name, value in data.items())
        script = f'<script type="module" src="{PREFIX}live.js" data-blogsmith{attributes}></script>\n'
        before, end, behind = with_sources(html, NEEDS).partition(_END_OF_HEAD)
        return before + script.encode() + end + behind


def version_of(html: bytes) -> str:
    """Names the bytes of a page."""
    return hashlib.blake2b(html, digest_size=8).hexdigest()


# Paths of pages as their table has them, and as browsers show them.


def address(path: str) -> str:
    """A path of the site as it stands in `location.pathname`; the base path is encoded already."""
    return quote(path, safe="/%")


def path_of(decoded: str, base_path: str) -> str:
    """The path of the site that a decoded address means."""
    plain = unquote(base_path)
    is_inside = plain != base_path and decoded.startswith(f"{plain}/")
    return base_path + decoded[len(plain) :] if is_inside else decoded
