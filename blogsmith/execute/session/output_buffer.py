"""Buffer for the outputs of one cell. Merges adjacent outputs, and stores text up to a limit."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import re
from collections.abc import Callable, Mapping

from ...model.results import Blob, CellOutput, Display, Failure, Stream
from .protocol import Name
from .terminal_text import apply_carriage_returns, cut

# Size that every output counts in addition to its text. Otherwise a million one-letter outputs would fit.
_OUTPUT_BYTES = 64
_TAIL = 64 * 1024
_STACK = re.compile(
    r"(?:Fatal Python error: (?:[^\n]*\n){1,3}?)?"
    r"(?:Stack|Current thread 0x[0-9a-f]+(?: \[[^\]\n]*\])?) \(most recent call first\):\n"
)
_STACK_START = re.compile(_STACK.pattern + r'[ ]+File "[^"\n]*", line \d+[^\n]*\n')
_CELL_FRAME = re.compile(r'File "<cell (\d+)>", line (\d+)')


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
        """Name of a display that may change → its indices in the outputs."""
        self._tail = ""

    def add_text(self, name: Name, text: str) -> None:
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
        """Add text from the pipe of a stream. The end of stderr is also stored separately, as it may contain
        a stack."""
        if name == "stderr":
            self._tail = (self._tail + text)[-_TAIL:]
        self.add_text(name, text)

    def drop(self, name: Name, count: int) -> None:
        """Count bytes that the worker has dropped. All later text is dropped too, so that no text follows a
        gap."""
        self._dropped[name] = self._dropped.get(name, 0) + count
        self._left = 0

    def add_display(
        self, kind: str, text: Mapping[str, str], binary: Mapping[str, str], name: str = ""
    ) -> None:
        """Add a value or an image. name: name for later updates; empty if it cannot be updated."""
        self._end_stream()
        self._left -= _OUTPUT_BYTES
        data = self._forms(text, binary)
        if any(data.values()):
            self._add(Display("value" if kind == "value" else "display", data))
            if name:
                self._named.setdefault(name, []).append(len(self._outputs) - 1)

    def update_display(self, name: str, text: Mapping[str, str], binary: Mapping[str, str]) -> None:
        """Replace the values displayed under a name. This affects only the current cell."""
        for at in self._named.get(name, ()):
            before = self._outputs[at]
            if isinstance(before, Display):
                forms = (form for form in before.data.values() if isinstance(form, str))
                self._left += sum(len(form.encode("utf-8", "replace")) for form in forms)
                self._outputs[at] = Display(before.kind, self._forms(text, binary))
                self._emit(self._outputs[at])

    def clear(self) -> None:
        """Remove all outputs. Later outputs replace them."""
        self._outputs, self._pieces, self._dropped, self._named = [], [], {}, {}
        self._left = self._limit

    def _forms(self, text: Mapping[str, str], binary: Mapping[str, str]) -> dict[str, str | Blob]:
        """Return the formats that are within the size limit. A format that is too large is left out, since a
        part of it would be useless."""
        data: dict[str, str | Blob] = {}
        # Plain text first: it is the only format that can be shown in part.
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
            with contextlib.suppress(ValueError):  # a format that is not valid base64 is left out
                raw = base64.b64decode(encoded)
                data[mime] = Blob(hashlib.sha256(raw).hexdigest(), raw)
        return data

    def add_failure(self, failure: Failure) -> None:
        self._end_stream()
        self._add(failure)

    def has_stack(self) -> bool:
        """Return whether the stack has arrived completely. On a busy machine, its first line may arrive
        earlier than the rest."""
        return bool(_STACK_START.search(self._tail))

    def take_stack(self, cell: int) -> int:
        """Remove the stack of a killed worker from stderr. Return the line of `cell` where the worker
        stopped, or 0 if unknown."""
        stacks = list(_STACK.finditer(self._tail))
        if not stacks:
            return 0
        found = stacks[-1]
        self._end_stream()
        self._remove_stack(self._tail[found.start() :])
        lines = [
            int(line)
            for number, line in _CELL_FRAME.findall(self._tail, found.start())
            if int(number) == cell
        ]
        return lines[0] if lines else 0

    def finish(self) -> tuple[CellOutput, ...]:
        """Return all outputs as a page shows them."""
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

    def _remove_stack(self, stack: str) -> None:
        """Remove those parts of a stack that are stored as stderr."""
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
        """Return the number of characters at the end of `text` that are part of `stack`. The limit may have
        cut the text anywhere."""
        return next((n for n in range(len(stack), 0, -1) if text.endswith(stack[:n])), 0)

    def _note_dropped(self, name: Name, count: int) -> None:
        at = self._last_index(name)
        last = self._outputs[at] if at >= 0 else None
        if isinstance(last, Stream):
            self._outputs[at] = Stream(name, last.text, count)
        elif count:
            self._outputs.append(Stream(name, "", count))

    def _last_index(self, name: Name) -> int:
        """Return the index of the last output of a stream, or -1."""
        places = [n for n, o in enumerate(self._outputs) if isinstance(o, Stream) and o.name == name]
        return places[-1] if places else -1
