"""Looks at the whole site: after every change one, in small steps, exact at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ...base.diagnostics.model import SiteError
from ...build.incremental import IncrementalPipeline
from ...watch.pending_changes import PendingChanges
from ..events.publisher import EventPublisher
from ..pages.awaited import awaited_sources
from ..pages.site import ServedSite
from .fast_path import MANY, FastPath

REST_S = 0.08
"""After a save the look waits so long: the browser fetches the edited page meanwhile."""
PATIENCE_S = 1.0
"""So long a look may be begun anew by further saves; then it comes to its end, and another one follows."""


class FullUpdate:
    """Belongs to one engine. What is left to do is done step by step, by `go_on`."""

    def __init__(
        self,
        line: IncrementalPipeline,
        site: ServedSite,
        publisher: EventPublisher,
        saves: PendingChanges,
        edits: FastPath,
        *,
        clock: Callable[[], float],
        awaited_paths: Callable[[], Sequence[str]],
        request_cells: Callable[[], None],
        rested: Callable[[], None],
    ) -> None:
        """awaited_paths: what browsers have asked for that is not answered yet.

        request_cells: has cells run. rested: called whenever there is nothing left to do.
        """
        self._line = line
        self._site = site
        self._publisher = publisher
        self._changes = saves
        self._fast_path = edits
        self._clock = clock
        self._awaited_paths = awaited_paths
        self._request_cells = request_cells
        self._rested = rested
        self._work: Iterator[None] | None = None
        self._resume_s = 0.0
        self._is_under_way = False
        self._another = False
        """Files have changed that the look under way does not know of."""
        self._behind_since_s: float | None = None
        """When the first file changed that no look has come to its end with."""

    @property
    def wait_s(self) -> float | None:
        """How long until there is something to do, 0 or less: now; None: nothing is left."""
        return None if self._work is None else self._resume_s - self._clock()

    def begin(self, rest_s: float = REST_S) -> None:
        """Something has changed. A look under way is broken off, unless that happens all the time."""
        now_s = self._clock()
        if self._behind_since_s is None:
            self._behind_since_s = now_s
        is_late = self._site.present is None or now_s - self._behind_since_s > PATIENCE_S
        if self._is_under_way and is_late:
            self._another = True
            return
        self.break_off()
        self._work = self._update()
        self._resume_s = now_s + rest_s

    def break_off(self) -> None:
        """Do no more of the look under way; what it knew of is to be looked at again."""
        if self._is_under_way:
            self._changes.abort()
        self._is_under_way, self._work = False, None

    def go_on(self) -> None:
        """Take a step."""
        if self._work is None:
            return
        try:
            next(self._work)
        except StopIteration:
            self._work = None
            retry_s = self._changes.unreported.retry_s
            if self._another:
                self._another = False
                self.begin()
            elif retry_s is not None:
                self.begin(rest_s=retry_s)

    def _update(self) -> Iterator[None]:
        before = self._site.present
        began_s = self._clock()
        taken = self._changes.begin()
        self._is_under_way = True
        request = replace(
            self._fast_path.request_for(taken.paths, everything=taken.everything),
            awaited=lambda resolved: awaited_sources(resolved, self._awaited_paths()),
        )
        try:
            for present in self._line.update_all(before, request):
                if present is not None:
                    self._site.present = present
                    self._publisher.broken = ()
                yield
        except SiteError as error:
            self._is_under_way, self._behind_since_s = False, None
            self._publisher.broken = error.diagnostics
            # whatever is mended, the settings are to be read again
            self._changes.abort(everything=True)
            self._publisher.problems(self._site)
            self._publisher.print_problems()
            return
        self._is_under_way, self._behind_since_s = False, None
        self._changes.finish()
        if before is not None and self._site.present is not None:
            old, new = (site.resolved.files.stamps for site in (before, self._site.present))
            self._changes.unreported.note(old, new, {*taken.paths, *self._changes.paths})
        if self._another:
            # what was saved meanwhile is not in what this look has found
            self._fast_path.render(self._changes.paths[:MANY])
        self._publisher.files(before, self._site.present, taken.paths)
        self._fast_path.compare({})
        if self._another:
            return
        self._request_cells()
        yield
        for _ in self._site.sweep():
            yield
        self._publisher.problems(self._site)
        self._publisher.on_complete(self._site, self._clock() - began_s)
        self._rested()
