"""What stands for a page whose text is not known yet: what its front matter says."""

from __future__ import annotations

from html import escape

from ..model.documents import Body, Document
from ..model.texts import NO_TEXT


def placeholder_body(document: Document) -> Body:
    """A body without content, for lists and neighbours."""
    front, path = document.front, document.path
    stem = path.stem.removesuffix(f".{front.lang}")
    name = path.parent.name if stem in ("index", "_index") else stem
    title = front.title or name.replace("-", " ").replace("_", " ").capitalize()
    return Body(
        content=NO_TEXT,
        title_html=escape(title, quote=False),
        title_text=title,
        description_html=escape(front.description, quote=False),
        description_text=front.description,
    )
