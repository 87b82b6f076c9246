"""What the preview adds to a page: one script, which knows what it looks at."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from html import escape

from ..answer import PREFIX

_END_OF_HEAD = b"</head>"


@dataclass(frozen=True, slots=True)
class Tag:
    """The script element of one preview."""

    token: str
    """Sent along with what a page asks the preview to do."""
    editor: str = ""
    """As `data-editor`: how a source file is opened."""

    def put_in(self, html: bytes, version: str, source: str) -> bytes:
        """The page with the script at the end of its head. source: path of its Markdown file, or empty."""
        data = {"version": version, "source": source, "token": self.token, "editor": self.editor}
        attributes = "".join(f' data-{name}="{escape(value)}"' for name, value in data.items())
        script = f'<script type="module" src="{PREFIX}live.js" data-blogsmith{attributes}></script>\n'
        before, end, behind = html.partition(_END_OF_HEAD)
        return before + script.encode() + end + behind


def version_of(html: bytes) -> str:
    """Names the bytes of a page."""
    return hashlib.blake2b(html, digest_size=8).hexdigest()
