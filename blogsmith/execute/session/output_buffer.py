"""The outputs of one cell while it runs: neighbours merged, everything within the limit, the rest counted."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import re
from collections.abc import Callable, Mapping

from ...model.results import Blob, CellOutput, Display, Failure, Stream
from .protocol import Name
from .terminal_text import apply_carriage_returns, cut

# Charged for every output besides its text, or a million outputs of one letter would fit.
_OUTPUT_BYTES = 64
_TAIL = 64 * 1024
_STACK = re.compile(
    r"(?:Fatal Python error: (?:[^\n]*\n){1,3}?)?"
    r"(?:Stack|Current thread 0x[0-9a-f]+(?: \[[^\]\n]*\])?) \(most recent call first\):\n"
)
_BEGUN = re.compile(_STACK.pattern + r'[ ]+File "[^"\n]*", line \d+[^\n]*\n')
_FRAME = re.compile(r'File "<cell (\d+)>", line (\d+)')


class OutputBuffer:
    """Outputs of one cell."""

    def __init__(self, limit_bytes: int, emit: Callable[[CellOutput], None]) -> None:
        self._emit = emit
        self._limit = self._left = limit_bytes
        self._outputs: list[CellOutput] = []
        self._name: Name = "stdout"
        self._pieces: list[str] = []
        self._dropped: dict[Name, int] = {}
        self._named: dict[str, list[int]] = {}
        """Name of a display that may change → where it stands in the outputs."""
        self._tail = ""

    def add_text(self, name: Name, text: str) -> None:
        """Text of a stream."""
        if name != self._name or not self._pieces:
            self._end_stream()
            self._name = name
            self._left -= _OUTPUT_BYTES
        kept, over = cut(text, self._left)
        if over:
            self.drop(name, over)
        if kept:
            self._left -= len(kept.encode("utf-8", "replace"))
            self._pieces.append(kept)
            self._emit(Stream(name, kept))

    def add_pipe_text(self, name: Name, text: str) -> None:
        """Text from the pipe of a stream; the last of stderr is kept aside, for a stack may be in it."""
        if name == "stderr":
            self._tail = (self._tail + text)[-_TAIL:]
        self.add_text(name, text)

    def drop(self, name: Name, count: int) -> None:
        """Count bytes that are lost; they never fit again, so that no text stands behind a gap."""
        self._dropped[name] = self._dropped.get(name, 0) + count
        self._left = 0

    def add_display(
        self, kind: str, text: Mapping[str, str], binary: Mapping[str, str], name: str = ""
    ) -> None:
        """A value or a picture. name: under which it may be changed; empty: it stays as it is."""
        self._end_stream()
        self._left -= _OUTPUT_BYTES
        data = self._forms(text, binary)
        if any(data.values()):
            self._add(Display("value" if kind == "value" else "display", data))
            if name:
                self._named.setdefault(name, []).append(len(self._outputs) - 1)

    def update_display(self, name: str, text: Mapping[str, str], binary: Mapping[str, str]) -> None:
        """Another value in the place of those displayed under a name; in this cell, for others are over."""
        for at in self._named.get(name, ()):
            before = self._outputs[at]
            if isinstance(before, Display):
                forms = (form for form in before.data.values() if isinstance(form, str))
                self._left += sum(len(form.encode("utf-8", "replace")) for form in forms)
                self._outputs[at] = Display(before.kind, self._forms(text, binary))
                self._emit(self._outputs[at])

    def clear(self) -> None:
        """All of it goes: what comes now stands in its place."""
        self._outputs, self._pieces, self._dropped, self._named = [], [], {}, {}
        self._left = self._limit

    def _forms(self, text: Mapping[str, str], binary: Mapping[str, str]) -> dict[str, str | Blob]:
        """A form that is over the limit is left out, since half of it is none."""
        data: dict[str, str | Blob] = {}
        # plain text first: of all forms it is the one that can be shown in part
        for mime, written in sorted(text.items(), key=lambda item: item[0] != "text/plain"):
            kept, over = cut(written, self._left)
            if over and mime != "text/plain":
                kept, over = "", over + len(kept.encode("utf-8", "replace"))
            if over:
                self._dropped["stdout"] = self._dropped.get("stdout", 0) + over
            if kept or not over:
                data[mime] = kept
                self._left -= len(kept.encode("utf-8", "replace"))
        for mime, encoded in binary.items():
            with contextlib.suppress(ValueError):  # a form that is none is left out
                raw = base64.b64decode(encoded)
                data[mime] = Blob(hashlib.sha256(raw).hexdigest(), raw)
        return data

    def add_failure(self, failure: Failure) -> None:
        """An exception."""
        self._end_stream()
        self._add(failure)

    def has_stack(self) -> bool:
        """Whether the worker has written where it stands; on a busy machine the head comes alone at first."""
        return bool(_BEGUN.search(self._tail))

    def take_stack(self, cell: int) -> int:
        """The line of `cell` at which a worker stood that was killed, 0 if unknown; what it wrote goes."""
        stacks = list(_STACK.finditer(self._tail))
        if not stacks:
            return 0
        found = stacks[-1]
        self._end_stream()
        self._cut_off(self._tail[found.start() :])
        lines = [
            int(line) for number, line in _FRAME.findall(self._tail, found.start()) if int(number) == cell
        ]
        return lines[0] if lines else 0

    def finish(self) -> tuple[CellOutput, ...]:
        """All of it, as a page shows it."""
        self._end_stream()
        for name, count in self._dropped.items():
            self._note_dropped(name, count)
        self._dropped = {}
        settled = [
            Stream(output.name, apply_carriage_returns(output.text), output.dropped)
            if isinstance(output, Stream)
            else output
            for output in self._outputs
        ]
        return tuple(o for o in settled if not isinstance(o, Stream) or o.text or o.dropped)

    def _add(self, output: CellOutput) -> None:
        self._outputs.append(output)
        self._emit(output)

    def _end_stream(self) -> None:
        if self._pieces:
            self._outputs.append(Stream(self._name, "".join(self._pieces)))
            self._pieces = []

    def _cut_off(self, stack: str) -> None:
        """Take a stack out of stderr, as far as it came into the outputs."""
        at = self._last_index("stderr")
        shown = self._outputs[at] if at >= 0 else None
        over = len(stack.encode("utf-8", "replace"))
        if isinstance(shown, Stream):
            start = shown.text.rfind(stack)
            size = len(stack) if start >= 0 else self._overlap(shown.text, stack)
            start = start if start >= 0 else len(shown.text) - size
            self._outputs[at] = Stream("stderr", shown.text[:start] + shown.text[start + size :])
            over -= len(stack[:size].encode("utf-8", "replace"))
        if "stderr" in self._dropped:
            self._dropped["stderr"] = max(0, self._dropped["stderr"] - over)

    @staticmethod
    def _overlap(text: str, stack: str) -> int:
        """How much of a stack stands at the end of a text that the limit may have cut anywhere."""
        return next((n for n in range(len(stack), 0, -1) if text.endswith(stack[:n])), 0)

    def _note_dropped(self, name: Name, count: int) -> None:
        at = self._last_index(name)
        last = self._outputs[at] if at >= 0 else None
        if isinstance(last, Stream):
            self._outputs[at] = Stream(name, last.text, count)
        elif count:
            self._outputs.append(Stream(name, "", count))

    def _last_index(self, name: Name) -> int:
        """Where the last output of a stream stands; -1 if there is none."""
        places = [n for n, o in enumerate(self._outputs) if isinstance(o, Stream) and o.name == name]
        return places[-1] if places else -1
