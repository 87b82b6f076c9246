"""Edits of a site that a browser shows, and how long each takes to become visible."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

from .preview_browser import State, Tab, Wanted
from .preview_servers import MeasureError, Server
from .preview_sites import (
    Site,
    cell_output,
    color,
    edited,
    pauses,
    save,
    saves,
    styles,
    with_cell,
    words,
)
from .preview_table import OURS, Kept, Taken

WARM_UPS = 3
"""Number of edits before the measured ones."""
MISSES = 2
"""If more edits than this are never shown, the measurement ends."""
BURST = 1000
BURST_S = 10.0
# The first measured cell prints the sum of this many numbers.
_SUMMANDS = 1000


@dataclass(frozen=True, slots=True)
class Session:
    """A site, its server, and the tab that shows its page."""

    site: Site
    server: Server
    tab: Tab
    patience_s: float
    """Timeout for an edit to become visible."""
    seed: int
    """Seed of the pauses between edits."""
    shortest_s: float
    """The shortest of these pauses."""

    def pauses(self) -> Iterator[float]:
        """Return an iterator of the seconds before each edit."""
        return pauses(self.seed, self.shortest_s)

    def open(self) -> None:
        self.tab.open(self.server.origin + self.site.page)


@dataclass(frozen=True, slots=True)
class Edit:
    """A file that is saved, and the content that the browser is then expected to show."""

    file: Path
    text: str
    wanted: Wanted


def text_edits(session: Session, edits: int) -> Taken:
    """Measure milliseconds from a save to its new word in the page."""
    site = session.site
    made = (Edit(site.file, edited(site.number, word), Wanted("text", word)) for word in words("t"))
    return _measure(session, made, edits)


def style_edits(session: Session, edits: int) -> Taken:
    """Measure milliseconds from a save of the site's style sheet to its colour in the page."""
    file = session.site.styles
    made = (Edit(file, styles(n), Wanted("style", color(n), "h1", "border-bottom-color")) for n in count(1))
    return _measure(session, made, edits)


def cell_edits(session: Session, edits: int) -> Taken:
    """Measure milliseconds from a save of a cell to its new output in the page."""
    site = session.site
    made = (
        Edit(site.file, with_cell(site.number, "cells", n), Wanted("text", cell_output(n)))
        for n in count(_SUMMANDS)
    )
    return _measure(session, made, edits)


def errors_and_fixes(session: Session, edits: int) -> tuple[Taken, Taken]:
    """Measure milliseconds from an error to its message, and from its correction to the page."""
    site = session.site
    kind = "overlay" if site.subject.name == OURS else "error"
    mistakes = (
        Edit(site.file, edited(site.number, "broken", word), Wanted(kind, f"\\{word}")) for word in words("e")
    )
    fixes = (Edit(site.file, edited(site.number, word), Wanted("fixed", word)) for word in words("f"))
    shown: list[float | None] = []
    gone: list[float | None] = []
    chosen = zip(saves(WARM_UPS + edits), mistakes, fixes, session.pauses(), strict=False)
    for style, mistake, fix, pause in chosen:
        shown.append(_milliseconds(session, mistake, style, pause))
        gone.append(_milliseconds(session, fix, style, pause))
        _end_early(shown, gone)
    return _taken(shown), _taken(gone)


def burst(session: Session) -> Taken:
    """Measure milliseconds from the last of many saves to its word in the page."""
    site, tab = session.site, session.tab
    chosen = list(islice(words("b"), BURST))
    tab.prepare()
    before = tab.state()
    tab.want(Wanted("text", chosen[-1]))
    saved, began = 0.0, time.monotonic()
    for number, (word, style) in enumerate(zip(chosen, saves(BURST), strict=True)):
        time.sleep(max(0.0, began + number * BURST_S / BURST - time.monotonic()))
        saved = save(site.file, edited(site.number, word), style)
    taken = 1000 * (tab.seen_at(session.patience_s) - saved)
    return Taken((taken,), kept_in([(before, tab.state())]))


def _measure(session: Session, made: Iterable[Edit], edits: int) -> Taken:
    """Measure the milliseconds of the edits, after some warm-up."""
    tab = session.tab
    times: list[float | None] = []
    pages: list[tuple[State, State]] = []
    tab.prepare()
    for style, edit, pause in zip(saves(WARM_UPS + edits), made, session.pauses(), strict=False):
        before = tab.state()
        times.append(_milliseconds(session, edit, style, pause))
        pages.append((before, tab.state()))
        if not pages[-1][1].open:
            tab.prepare()
        _end_early(times)
    return _taken(times, kept_in(pages[WARM_UPS:]))


def _milliseconds(session: Session, edit: Edit, style: str, pause_s: float) -> float | None:
    """Return the milliseconds from the end of the save to the frame that shows it; None if there is none."""
    session.tab.want(edit.wanted)
    time.sleep(pause_s)
    saved = save(edit.file, edit.text, style)
    try:
        return 1000 * (session.tab.seen_at(session.patience_s) - saved)
    except MeasureError:
        said = session.server.said().splitlines()[-1:]
        print(f"never shown: {edit.wanted.value}, saved {style}; said last: {said}", file=sys.stderr)
        return None


def _end_early(*several: list[float | None]) -> None:
    """Raise MeasureError after too many edits that are not shown, instead of waiting for all of them."""
    for times in several:
        if times.count(None) > MISSES:
            raise MeasureError(f"{times.count(None)} of the first {len(times)} edits are never shown")


def _taken(times: list[float | None], kept: Kept | None = None) -> Taken:
    """Return the results without warm-up."""
    measured = tuple(value for value in times[WARM_UPS:] if value is not None)
    if not measured:
        raise MeasureError("no edit is ever shown")
    return Taken(measured, kept, missed=times.count(None))


def kept_in(pages: list[tuple[State, State]]) -> Kept:
    """Return the state that edits preserved, from the state before and after each."""
    return Kept(
        edits=len(pages),
        reloads=sum(after.loads - before.loads for before, after in pages),
        scroll=sum(abs(after.scroll_px - before.scroll_px) < 1 for before, after in pages),
        details=sum(after.open == before.open for before, after in pages),
    )
