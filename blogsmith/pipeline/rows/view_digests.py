"""Digests of pages as templates see them: a finished page depends on nothing else of the site."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from ...model.template_views import PageView
from .page_rows import digest_of

_NESTED = frozenset({"body", "pages", "page_groups"})
_PLAIN = tuple(name for name in PageView.__struct_fields__ if name not in _NESTED)


class ViewDigests:
    """Belongs to one build: a page stands in many lists, and is digested once.

    Texts of pages do not count: whatever shows one says so.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[PageView, bytes]] = {}
        """By identity; the page is kept, or another one might get its number."""

    def digest_of(self, view: PageView) -> bytes:
        """Equal for pages that are equal, those that they list included; NotStorable as in `digest_of`."""
        known = self._known.get(id(view))
        if known is None:
            listed = [self.digest_of(page).hex() for page in view.pages]
            groups = [
                (group.title, [self.digest_of(page).hex() for page in group.pages])
                for group in view.page_groups
            ]
            plain = [getattr(view, name) for name in _PLAIN]
            known = self._known[id(view)] = (view, digest_of(plain, listed, groups))
        return known[1]

    def digest_of_all(self, views: Iterable[PageView]) -> bytes:
        """Of several, in this order."""
        return blake2b(b"".join(map(self.digest_of, views)), digest_size=16).digest()
