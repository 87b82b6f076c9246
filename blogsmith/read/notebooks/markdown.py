"""Conversion of notebook cells to Markdown with code cells: `#|` lines for tags, without magics."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...base.patterns import lazy_pattern
from ...model.names import name_set
from .notebook import Notebook, NotebookCell, join_lines
from .outputs import (
    CellOutputs,
    PlaceImage,
    code_fence,
    decode_base64,
    read_outputs,
    to_markdown,
    unsupported_types,
)

NoticeCallback = Callable[..., None]
"""Callback for notices: kind, message, line, and fields of `Notice`."""

_SETTINGS = lazy_pattern(r"[ \t]*%(?:matplotlib|config|load_ext|reload_ext|autoreload|pylab|precision)\b.*")
_INSTALL = lazy_pattern(r"[ \t]*[!%][ \t]*(?:pip3?|conda|mamba|apt|apt-get|uv|poetry)\b.*")
_TIMING_CELL = lazy_pattern(r"%%(?:time|timeit|prun|capture)\b.*")
_TIMED_LINE = lazy_pattern(r"^([ \t]*)%(?:time|timeit|prun)[ \t]+((?:-\w+[ \t]+\S+[ \t]+)*)(?=\S)")
_OTHER_CELL = lazy_pattern(
    r"%%(bash|sh|html|javascript|js|latex|writefile|file|markdown|svg|ruby|perl|R|cython|sql)\b(.*)"
)
_OPTION = lazy_pattern(r"[ \t]*#[ \t]?\|[ \t]?")
_KEY = lazy_pattern(r"([\w.-]+)[ \t]*:(?:[ \t]+(.*)|$)")
KNOWN_OPTIONS = name_set(
    "eval echo output warning error include label fig-cap fig-alt tbl-cap code-fold code-summary fig-format"
)
"""Cell options of Quarto that have the same meaning in blogsmith."""
_ATTACHMENT = lazy_pattern(r"attachment:([^\s)\"'>]+)")
_DEFAULT_BREAK = "\n\n"
_BREAK = lazy_pattern(r"[ \t\n]{1,500}")
_FENCE = lazy_pattern(r"(`{3,}|~{3,})[^\n]*")
_LISTING_LANGUAGES = {"js": "javascript", "sh": "bash", "R": "r", "file": "python", "writefile": "python"}
_NOT_VERIFIED = "*From the notebook, not verified here:*"
OWN_KEY = "blogsmith"
"""Key of metadata for text between and around cells that a notebook cannot express otherwise: `before`, line
breaks before a cell; `fence`, opening line of its fence; `after`, end of the text."""
_TAGS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("hide-input", "hide-code"), ("code-fold: true",)),
    **dict.fromkeys(("remove-input", "remove-code", "no-input"), ("echo: false",)),
    **dict.fromkeys(("remove-output", "hide-output", "no-output"), ("output: false",)),
    **dict.fromkeys(("remove-cell", "hide-cell", "hide"), ("include: false",)),
    "raises-exception": ("error: true",),
    "skip-execution": ("eval: false",),
}
"""Tag of Jupyter Book, nbsphinx or nbconvert → cell options."""
_SILENT_TAGS = name_set("parameters injected-parameters thebe-init scroll-output output-scroll")


@dataclass(frozen=True, slots=True)
class NotebookPart:
    """The translation of a cell or of a part of it."""

    text: str
    line: int
    """1-based line of the file where the cell begins."""
    cell: int
    """Number of the cell, from 1."""
    first: int = 0
    """Line of `text`, from 0, that contains the line `offset` of the cell."""
    offset: int = 0
    before: str = "\n\n"
    """Line breaks between the previous part and this one."""
    is_prose: bool = False
    """Whether the part is Markdown of the author, in the dialect of the old site. Other parts are already in
    the Markdown of blogsmith."""


@dataclass(slots=True)
class NotebookText:
    """A notebook as text."""

    parts: list[NotebookPart] = field(default_factory=list)
    cells: list[CellOutputs] = field(default_factory=list)
    """Cells that run, in order."""

    @property
    def text(self) -> str:
        """Return the Markdown of all parts."""
        return "\n\n".join(part.text.strip("\n") for part in self.parts if part.text.strip())


def notebook_text(
    notebook: Notebook,
    place: PlaceImage,
    note: NoticeCallback = lambda *_, **_more: None,
    comment: Callable[[str], str] = lambda _: "",
    *,
    has_own_options: bool = True,
) -> NotebookText:
    """Convert the cells to Markdown.

    place: stores an image of the notebook. comment: returns a line to write before code that cannot run,
    given the reason; empty for none. has_own_options: whether the option lines of cells are those of
    blogsmith, and stay as they are. If not, only those that Quarto has too are kept.
    """
    writer = _Writer(notebook, place, note, comment, has_own_options=has_own_options)
    for cell in notebook.cells:
        writer.add(cell)
    return writer.found


class _Writer:
    def __init__(
        self,
        notebook: Notebook,
        place: PlaceImage,
        note: NoticeCallback,
        comment: Callable[[str], str],
        *,
        has_own_options: bool,
    ) -> None:
        self._language = notebook.language
        self._place = place
        self._note = note
        self._comment = comment
        self._has_own_options = has_own_options
        self.found = NotebookText()

    def add(self, cell: NotebookCell) -> None:
        """Add the translation of a cell."""
        if cell.kind == "markdown":
            self._append_part(self._with_attachments(cell), cell, is_prose=True)
        elif cell.kind == "raw":
            self._append_part(self._raw(cell), cell, is_prose=True)
        elif cell.source.strip() or own_metadata(cell.metadata, "fence"):
            self._code(cell)

    def _append_part(
        self, text: str, cell: NotebookCell, *, is_prose: bool = False, first: int = 0, offset: int = 0
    ) -> None:
        before = _DEFAULT_BREAK
        if not self.found.parts or self.found.parts[-1].cell != cell.number:
            written = own_metadata(cell.metadata, "before")
            before = written if _BREAK.fullmatch(written) else before
        self.found.parts.append(NotebookPart(text, cell.line, cell.number, first, offset, before, is_prose))

    def _with_attachments(self, cell: NotebookCell) -> str:
        def substitute(found: re.Match[str]) -> str:
            data = cell.attachments.get(found[1]) or cell.attachments.get(found[1].replace("%20", " "))
            for mime, text in (data or {}).items():
                if picture := decode_base64(join_lines(text)):
                    return self._place(found[1], picture, mime)
            self._note("missing", f'attachment not found in the notebook: "{found[1]}"', cell.line)
            return found[0]

        return _ATTACHMENT.sub(substitute, cell.source)

    def _raw(self, cell: NotebookCell) -> str:
        form = str(cell.metadata.get("raw_mimetype") or cell.metadata.get("format") or "").lower()
        if form in ("", "text/html", "html", "text/markdown", "markdown", "text/x-markdown"):
            return cell.source
        removed = f"```\n{cell.source}\n```"
        message = f'raw cell for other format "{form}" is removed'
        self._note("dropped", message, cell.line, removed=removed)
        return ""

    def _code(self, cell: NotebookCell) -> None:
        options, code = _split_options(cell.source)
        if fence := _FENCE.fullmatch(own_metadata(cell.metadata, "fence")):
            self._append_part(f"{fence[0]}\n{cell.source}\n{fence[1]}", cell, first=1)
            self._keep_outputs(cell, code)
            return
        lines = [*self._options(cell, options)]
        other = _OTHER_CELL.match(code.lstrip())
        if other:
            self._other_code(cell, other, code.lstrip())
            return
        if self._language != "python":
            message = f'cell in language "{self._language}" is shown but not run'
            hint = "write `execute: {engine: jupyter}` in the front matter to run it in a kernel"
            self._note("left", message, cell.line, hint=hint)
            self._show_code(cell, self._language, code, message)
            return
        code, dropped = self._without_magics(code)
        if dropped:
            removed = f"```\n{cell_code(cell)}\n```"
            message = f'IPython command is removed: "{dropped[0].strip()}"'
            self._note("dropped", message, cell.line, removed=removed)
        if not code.strip():
            return
        if not _is_python(code) and (cell.was_run or not self._has_own_options):
            message = "cell is not valid Python and is not run"
            hint = "rewrite it in Python, and remove `eval: false`"
            self._note("left", message, cell.line, hint=hint)
            self._show_code(cell, "{python}", "\n".join(["#| eval: false", code]), message)
            return
        text = code_fence("{python}", "\n".join([*lines, code]))
        written = cell.source.split("\n")
        first = code.partition("\n")[0]
        offset = written.index(first) if first in written else 0
        self._append_part(text, cell, first=1 + len(lines), offset=offset)
        for kind in unsupported_types(cell):
            self._note("left", f'unsupported output type "{kind}"', cell.line)
        if "#| eval: false" not in lines:
            self._keep_outputs(cell, code)

    def _keep_outputs(self, cell: NotebookCell, code: str) -> None:
        if cell.was_run:
            self.found.cells.append(CellOutputs(code, read_outputs(cell)))

    def _other_code(self, cell: NotebookCell, found: re.Match[str], code: str) -> None:
        name, body = found[1], code.partition("\n")[2]
        if name in ("html", "markdown", "svg"):
            removed = f"```\n{code}\n```"
            self._note("changed", f'cell "%%{name}" becomes part of the text', cell.line, removed=removed)
            self._append_part(body, cell, is_prose=True)
            return
        message = f'cell "%%{name}" is shown but not run'
        self._note("left", message, cell.line)
        has_title = name in ("writefile", "file") and '"' not in found[2]
        title = f' title="{found[2].strip()}"' if has_title else ""
        removed = f"```\n{code}\n```"
        self._note("dropped", f'IPython command is removed: "%%{name}"', cell.line, removed=removed)
        self._show_code(cell, _LISTING_LANGUAGES.get(name, name) + title, body, message)

    def _without_magics(self, code: str) -> tuple[str, list[str]]:
        """Remove lines that only configure a notebook, such as `%matplotlib inline`. Return the code and
        these lines."""
        kept, dropped = [], []
        for line in code.split("\n"):
            if _SETTINGS.fullmatch(line) or _INSTALL.fullmatch(line) or _TIMING_CELL.fullmatch(line):
                dropped.append(line)
            elif timed := _TIMED_LINE.match(line):
                dropped.append(line)
                kept.append(timed[1] + line[timed.end() :])
            else:
                kept.append(line)
        return "\n".join(kept).strip("\n"), dropped

    def _options(self, cell: NotebookCell, options: list[str]) -> Iterator[str]:
        for tag in sorted(cell.tags):
            if tag in _TAGS:
                yield from (f"#| {option}" for option in _TAGS[tag])
            elif tag not in _SILENT_TAGS:
                self._note("dropped", f'cell tag "{tag}" has no effect in blogsmith', cell.line)
        jupyter = cell.metadata.get("jupyter")
        if isinstance(jupyter, dict) and jupyter.get("source_hidden"):
            yield "#| code-fold: true"
        if self._has_own_options:
            yield from options
            return
        is_known = True
        for written in options:
            line = _OPTION.sub("", written, count=1).rstrip()
            key = _KEY.match(line)
            if key:
                is_known = key[1].replace(".", "-").replace("_", "-") in KNOWN_OPTIONS
            elif line.strip() == "hide":
                yield "#| include: false"
                continue
            elif not line.startswith((" ", "-")):
                is_known = False
            if is_known:
                yield f"#| {line}"
            else:
                message = f'cell option "{line.strip()}" has no effect in blogsmith'
                self._note("dropped", message, cell.line)

    def _show_code(self, cell: NotebookCell, language: str, code: str, message: str) -> None:
        """Add code that cannot run here, with its outputs as part of the page."""
        comment = self._comment(message)
        first = comment.count("\n") + 2 if comment else 1
        self._append_part(f"{comment}\n{code_fence(language, code)}".lstrip("\n"), cell, first=first)
        shown = to_markdown(read_outputs(cell), self._place)
        if shown:
            for part in (_NOT_VERIFIED, *shown):
                self._append_part(part, cell)


def own_metadata(metadata: Mapping[str, Any], key: str) -> str:
    """Return a string that blogsmith wrote into the metadata of a cell or notebook; empty if none."""
    own = metadata.get(OWN_KEY)
    value = own.get(key) if isinstance(own, dict) else None
    return value if isinstance(value, str) else ""


def _split_options(source: str) -> tuple[list[str], str]:
    """Return the `#|` lines before the code, and the code."""
    lines = source.strip("\n").split("\n")
    count = next((n for n, line in enumerate(lines) if not _OPTION.match(line)), len(lines))
    return lines[:count], "\n".join(lines[count:]).strip("\n")


def cell_code(cell: NotebookCell) -> str:
    """Return the code of a cell without its options."""
    return _split_options(cell.source)[1]


def _is_python(code: str) -> bool:
    """Return whether the code is valid Python, without commands of IPython or the shell."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(code, "cell", "exec", flags=ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
