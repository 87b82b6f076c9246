"""What running cells say on the terminal of a preview: how many ran, and with `-v` what they print."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from urllib.parse import unquote

from ...base.diagnostics.counts import plural
from ...base.diagnostics.format import printable
from ...model.units import format_duration

Say = Callable[[str], None]


class RunLines:
    """Hears run events, from any thread; prints whole lines."""

    def __init__(self, say: Say, clock: Callable[[], float], *, loud: bool) -> None:
        """clock: seconds that only run forward. loud: print what cells print, too."""
        self._say = say
        self._clock = clock
        self._loud = loud
        self._lock = threading.Lock()
        self._began_s: dict[str, float] = {}
        self._ran: dict[str, int] = {}
        self._open: dict[tuple[str, object], str] = {}
        """Page and cell → the line it has begun."""
        self._after: dict[str, list[str]] = {}
        """Page → the states that its sessions went on from."""
        self._refused: set[tuple[str, object]] = set()
        """Page, and why none of its states is kept: said once."""

    def on_event(self, event: Mapping[str, object]) -> None:
        """Take a run event."""
        page, state, cell = str(event["page"]), event["state"], event.get("cell")
        with self._lock:
            if state == "started":
                self._began_s.setdefault(page, self._clock())
                self._note_resumed(page, event)
            elif state == "output" and self._loud:
                self._print(page, cell, str(event["text"]))
            elif state == "ended":
                self._ran[page] = self._ran.get(page, 0) + 1
                self._flush(page, cell)
                self._note_refused(page, event)
            elif state in ("finished", "stopped"):
                self._end_run(page, "" if state == "finished" else ", stopped")

    def _note_resumed(self, page: str, event: Mapping[str, object]) -> None:
        after = event.get("after")
        if isinstance(after, int):
            session = "" if event["session"] == "main" else f" of the session {event['session']}"
            said = printable(f"after cell {after}{session}")
            self._after.setdefault(page, []).append(said)
            if self._loud:
                self._say(f"{_name(page)}: cell {after + 1} of {event['of']}, from the state {said}")

    def _note_refused(self, page: str, event: Mapping[str, object]) -> None:
        reason = event.get("refused")
        if reason and self._loud and (page, reason) not in self._refused:
            self._refused.add((page, reason))
            said = f"the state after cell {event['cell']} is not kept: {reason}"
            self._say(f"{_name(page)}: {printable(said)}")

    def _print(self, page: str, cell: object, text: str) -> None:
        *lines, rest = (self._open.pop((page, cell), "") + text).split("\n")
        for line in lines:
            self._line(page, line)
        if rest:
            self._open[page, cell] = rest

    def _flush(self, page: str, cell: object) -> None:
        if rest := self._open.pop((page, cell), ""):
            self._line(page, rest)

    def _line(self, page: str, text: str) -> None:
        self._say(f"{_name(page)} | {printable(text)}")

    def _end_run(self, page: str, note: str) -> None:
        began_s, ran = self._began_s.pop(page, None), self._ran.pop(page, 0)
        resumed = " and ".join(self._after.pop(page, ()))
        after = f", from the state {resumed}" if resumed else ""
        for key in [key for key in self._open if key[0] == page]:
            self._flush(*key)
        if began_s is not None:
            seconds = format_duration(self._clock() - began_s)
            self._say(f"{_name(page)}: {plural(ran, 'cell')} ran in {seconds}{after}{note}")


def _name(page: str) -> str:
    return printable(unquote(page))
