"""What is saved is shown at once: the edited post alone is made anew, and tabs that show it are told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from ...base.diagnostics.model import SiteError
from ...build.incremental import IncrementalPipeline, UpdateRequest
from ...build.snapshot import SiteSnapshot
from ...watch.pending_changes import PendingChanges, Save, is_of_site
from ..events.publisher import EventPublisher
from ..pages.site import ServedSite

MANY = 3
"""So many posts saved at once are shown one by one; more by a look at the whole site."""


class FastPath:
    """Belongs to one engine."""

    def __init__(
        self,
        line: IncrementalPipeline,
        site: ServedSite,
        publisher: EventPublisher,
        saves: PendingChanges,
        request_cells: Callable[[], None],
    ) -> None:
        """request_cells: has cells run that are to be run."""
        self._line = line
        self._site = site
        self._publisher = publisher
        self._changes = saves
        self._request_cells = request_cells

    def concern_us(self, save: Save) -> bool:
        """Whether pages may be others after a save: files elsewhere count only where code may read them."""
        present = self._site.present
        if save.everything or present is None or not present.is_whole or any(map(is_of_site, save.paths)):
            return True
        documents = present.resolved.documents
        saved = {path.removeprefix("/") for path in save.paths}
        included = (found for document in documents.values() for found in document.included.values())
        if any(not saved.isdisjoint(found.looked_at) for found in included):
            return True
        return any(self._has_cells(path) for path in documents)

    def show(self, save: Save) -> int:
        """Show what was saved as far as that is quick; how many open pages are others now."""
        present = self._site.present
        if present is None:
            return 0
        self._publisher.style_sheets(present, save.paths)
        if len(save.paths) > MANY or save.everything:
            return 0
        lines = self.render(save.paths)
        count = self.compare(lines)
        # with settings or plugins the consent to run may have ended
        if self._changes.only_pages() and any(self._has_cells(path) for path in lines):
            self._request_cells()
        return count

    def render(self, paths: tuple[str, ...]) -> dict[str, int]:
        """Posts that were saved → their first changed line; what is more than a post is left to a look."""
        lines = {}
        for path in paths:
            present = self._site.present
            known = present.resolved.documents.get(path) if present else None
            if present is None or known is None:
                continue
            edited = _without_site_error(
                partial(self._line.update_page, present, path, self.request_for((path,)))
            )
            if edited is not None:
                self._site.present = edited
                lines[path] = first_difference(known.source.text, edited.resolved.documents[path].source.text)
        return lines

    def results(self, post: str, record: str) -> None:
        """Show new results of a post's cells. record: path of what is recorded of them."""
        present = self._site.present
        if present is not None:
            again = _without_site_error(
                partial(self._line.refresh_results, present, post, self.request_for((record,)))
            )
            if again is not None:
                self._site.present = again
                self.compare({})

    def compare(self, lines: Mapping[str, int]) -> int:
        """Tell browsers which of the pages they show are others now. lines: source path → edited line."""
        found = self._site.changed_pages()
        self._publisher.pages(self._site.present, found, lines)
        self._publisher.problems(self._site)
        return len(found)

    def request_for(self, changed: tuple[str, ...], *, everything: bool = False) -> UpdateRequest:
        """What the line is asked for after these files have changed."""
        return UpdateRequest(changed, everything, self._site.open_sources(), self._publisher.finished)

    def _has_cells(self, path: str) -> bool:
        present = self._site.present
        document = present.resolved.documents.get(path) if present else None
        return bool(present and document and present.resolved.cells(document).page)


def _without_site_error(make: Callable[[], SiteSnapshot | None]) -> SiteSnapshot | None:
    """What `make` gives; None for a mistake that the look at the whole site tells of."""
    try:
        return make()
    except SiteError:
        return None


def first_difference(before: str, after: str) -> int:
    """The first line, counted from 1, in which two texts differ; the last one if the longer goes on."""
    old, new = before.split("\n"), after.split("\n")
    for number, (one, other) in enumerate(zip(old, new, strict=False), 1):
        if one != other:
            return number
    return min(len(old), len(new))
