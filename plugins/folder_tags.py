"""Tags from folders: `content/posts/attention/kernels/flash.md` is tagged `attention` and `kernels`."""

import dataclasses

from blogsmith.hooks import Document, Hooks


def register(hooks: Hooks) -> None:
    @hooks.page_read
    def add_tags(document: Document) -> Document:
        folders = document.path.parent.parts
        # Skip `content/` and the section. A bundle has a folder of its own, which is not a tag.
        names = folders[2:-1] if document.path.name == "index.md" else folders[2:]
        if document.path.name == "_index.md" or not names:
            return document
        known = {tag.casefold() for tag in document.front.tags}
        tags = (*document.front.tags, *(name for name in names if name.casefold() not in known))
        return dataclasses.replace(document, front=dataclasses.replace(document.front, tags=tags))
