"""Translation of code. Python cells become cells, cells of other languages become listings, and raw blocks
become HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ...api.importing import KNOWN_CELL_OPTIONS, CellOutput, CodeOutputs, lazy_pattern, name_set
from ..notebooks.outputs import OutputWriter
from ..text.containers import import_comment
from ..text.data import DataTextError, load_yaml
from ..text.html import image
from ..text.math import tex_macros
from ..text.pandoc import PandocAttributes, fit_id, read_pandoc_attributes
from ..text.segments import FormulaDelimiters, Segment, divide

NoticeCallback = Callable[..., None]
"""Function that records a notice. Arguments: kind, message, a fragment of the source (used to find its line),
and other fields of `Notice` by name."""


class OutputReader(Protocol):
    """Function that returns the recorded outputs of the next cell with the given code; None if there is no
    record. is_shown: whether the page shows the code."""

    def __call__(self, code: str, *, is_shown: bool) -> tuple[CellOutput, ...] | None: ...


_IMAGE = lazy_pattern(r"!\[\]\(([^()\s]+)\)")
DIALECT = FormulaDelimiters(brackets=False)
_INLINE_VALUE = lazy_pattern(r"(?<!`)`r [^`\n]+`(?!`)")
_HIDDEN_VALUE = lazy_pattern("\ue02a(\\d+)\ue02b")
_NOT_COMPUTED = "value in another language is not computed"
_NOT_VERIFIED = "*From the old site's record, not verified here:*"
_FENCE = lazy_pattern(
    r"(?P<prefix>(?:[ \t]*>)*[ \t]*(?:(?:[-*+]|\d+[.)]|\(@[\w-]*\))[ \t]+)*)(?P<mark>`{3,}|~{3,})"
    r"(?P<info>[^\n]*)(?:\n(?P<body>[\s\S]*))?"
)
_MARKS: Mapping[str, str] = {
    "mermaid": "%%|",
    "dot": "//|",
    "ojs": "//|",
    "sql": "--|",
    "js": "//|",
    "tikz": "%|",
}
_ENTRY = lazy_pattern(r"\s*([\w.-]+)\s*:\s*(.*)")
_ENVIRONMENT = lazy_pattern(r"\s*\\begin\{(?:align|equation|gather|eqnarray|multline|alignat)\*?\}")
_IGNORED_OPTIONS = name_set("cache freeze message classes code-overflow tags fig-align results")
_CAPTIONS = ("fig-cap", "fig-alt", "tbl-cap")
_LAYOUTS = {
    "fig-subcap": "set it in the figure: `ax.set_title(…)`",
    "tbl-subcap": "write a cell for each table",
    "layout-ncol": "draw figures side by side in one: `plt.subplots(1, 2)`",
    "layout": "draw figures side by side in one: `plt.subplots(1, 2)`",
}
_SIZES = "set it in the code: `plt.figure(figsize=(6, 4))`"
_SHOWN_NAMES: Mapping[str, str] = {
    **{"ojs": "js", "webr-r": "r", "webr": "r", "node": "js"},
    # a drawing needs an alternative text, which the source may lack
    "tikz": "tikz eval=false",
}
_DIAGRAMS = frozenset(("mermaid", "dot"))
_BROWSER = frozenset(("pyodide", "pyodide-python"))
_PYTHON = frozenset(("python", "python3", "py"))
_INCLUDED_IMAGES = lazy_pattern(
    r"\s*(?:(?:knitr::)?include_graphics\(\s*(?:path\s*=\s*)?(?:\"[^\"\n]+\"|'[^'\n]+')[^()\n]*\)\s*)+"
)
_PATH = lazy_pattern(r"include_graphics\([^\"']*[\"']([^\"'\n]+)")
_PREFORMATTED = lazy_pattern(r"<(?:pre|script|style|textarea|svg)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CellDefaults:
    """Options of a page for all its cells."""

    front: Mapping[str, Any] = field(default_factory=dict)
    """Entries for the key `execute` of the new front matter, such as `echo: false`."""
    cell: Mapping[str, str] = field(default_factory=dict)
    """Option → value, for each cell that does not set the option itself."""


def cell_defaults(options: Mapping[str, Any]) -> CellDefaults:
    """Return the default options for the cells of a page. options: the page's options for HTML output."""
    written = options.get("execute")
    run = {**options, **(written if isinstance(written, dict) else {})}
    front = {
        key: run[key]
        for key, usual in (("echo", True), ("warning", True), ("error", False))
        if isinstance(run.get(key), bool) and run[key] != usual
    }
    cell = {}
    if run.get("eval") is False or run.get("enabled") is False or written is False:
        cell["eval"] = "false"
    for key in ("output", "include"):
        if run.get(key) is False:
            cell[key] = "false"
    fold = options.get("code-fold")
    if fold is True or fold == "show":
        cell["code-fold"] = "show" if fold == "show" else "true"
        if summary := options.get("code-summary"):
            cell["code-summary"] = str(summary)
    return CellDefaults(front, cell)


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A parsed fenced code block."""

    prefix: str
    """Start of each line of the block except the first, which consists of quote markers and indentation."""
    first: str
    """Start of the first line, which consists of quote markers, indentation and list markers."""
    mark: str
    info: str
    lines: tuple[str, ...]


class CodeTranslator:
    """Translator for the code of one page. It collects the records, labels and macros that it finds."""

    def __init__(
        self,
        defaults: CellDefaults,
        note: NoticeCallback,
        take: OutputReader,
        outputs: OutputWriter,
        resolve: Callable[[str], str],
    ) -> None:
        """Create a translator.

        take: function that returns the recorded outputs of a cell. outputs: writer for outputs of cells in
        languages that blogsmith cannot run. resolve: function that returns the path of a file in the new
        site.
        """
        self._defaults = defaults
        self._note = note
        self._take = take
        self._outputs = outputs
        self._resolve = resolve
        self.records: list[CodeOutputs] = []
        """Python cells with their recorded outputs, in order."""
        self.has_cells = False
        self.labels: set[str] = set()
        """Labels that references cannot use, because blogsmith does not generate the figure, table or
        listing."""
        self.macros: dict[str, str] = {}

    def block(self, text: str) -> str:
        """Translate a code block. Indented code stays unchanged. text: whole lines of the block."""
        found = read_block(text)
        if found is None:
            return text
        info = found.info.strip()
        if info.startswith("{{"):
            return _translate_escaped_fence(found)
        attributes = read_pandoc_attributes(_remove_commas(info)) if info.startswith("{") else None
        if attributes and attributes[0].raw:
            return self._raw(found, attributes[0].raw, text)
        if attributes and attributes[0].words:
            return self._cell(found, attributes[0].words[0].lower(), attributes[0], text)
        if "{" in info:
            return self._listing(found)
        return text

    def span(self, text: str) -> str:
        """Translate a code span. A Python value to compute becomes an inline value; other spans stay
        unchanged."""
        found = re.fullmatch(r"`\{(\w+)\}[ ]+(.+)`", text, re.DOTALL)
        if found and found[1] in _PYTHON:
            self.has_cells = True
            return f"{{= {' '.join(found[2].split())} =}}"
        if found or _INLINE_VALUE.fullmatch(text):
            self._note("left", _NOT_COMPUTED, text, hint="write the value")
            return f"{text}<!-- import: value is not computed -->"
        return text

    def values_in_formulas(self, text: str) -> str:
        r"""Replace values to compute in formulas by `\texttt` if they are in other languages, because a code
        span would split the formula."""
        codes = list[str]()

        def hide(found: re.Match[str]) -> str:
            codes.append(found[0])
            return f"\ue02a{len(codes) - 1}\ue02b"

        def show(segment: Segment) -> str:
            if segment.kind != "math" or "\ue02a" not in segment.text:
                return _HIDDEN_VALUE.sub(lambda found: codes[int(found[1])], segment.text)
            written = _HIDDEN_VALUE.sub(lambda found: codes[int(found[1])], segment.text)
            self._note("left", _NOT_COMPUTED, written, hint="write the value", removed=written)
            return _HIDDEN_VALUE.sub(lambda found: _tex_code(codes[int(found[1])].strip("`")), segment.text)

        hidden = _INLINE_VALUE.sub(hide, text)
        return "".join(map(show, divide(hidden, DIALECT))) if codes else text

    def _raw(self, block: CodeBlock, form: str, text: str) -> str:
        body = "\n".join(block.lines)
        if form in ("html", "html5"):
            lines = block.lines
            if not _PREFORMATTED.search(body):
                # a blank line would end the HTML, and indented lines after it would become code
                lines = tuple(line for line in lines if line.strip())
            return _add_prefix(block, ["", *lines, ""] if not block.first.strip() else list(lines))
        if form in ("tex", "latex"):
            self.macros |= tex_macros(body)
            if _ENVIRONMENT.match(body):
                return _add_prefix(block, list(block.lines))
            if tex_macros(body):
                self._note("changed", "macros in raw TeX are moved to `math: macros:`", text, removed=text)
                return block.prefix.rstrip()
        self._note("dropped", f'raw block for other format "{form}" is removed', text, removed=text)
        return block.prefix.rstrip()

    def _cell(self, block: CodeBlock, language: str, attributes: PandocAttributes, text: str) -> str:
        mark = _MARKS.get(language, "#|")
        options, code = _split_options(block.lines, mark)
        given = {**_info_options(attributes), **options}
        if language in _PYTHON | _BROWSER:
            self.has_cells = self.has_cells or language in _PYTHON
            head = [f"#| {line}" for line in self._options(given, language, text)]
            self._record(code, given)
            return _make_fence(block, "{python}", [*head, *code])
        label = _text(given.get("label", ""))
        if language in _DIAGRAMS:
            is_figure = label.startswith("fig-")
            self.labels |= {label} if label and not is_figure else set()
            caption = _text(given.get("fig-cap", "")).replace('"', "”")
            said = [f"#{fit_id(label)}"] if is_figure else []
            said += [f'cap="{caption}"'] if caption else []
            return _make_fence(block, language + (f" {{{' '.join(said)}}}" if said else ""), code)
        if given.get("include", "").strip().lower() == "false":
            self._take("\n".join(code), is_shown=False)
            self._note("dropped", f'hidden cell in language "{language}" is removed', text, removed=text)
            return block.prefix.rstrip()
        if _INCLUDED_IMAGES.fullmatch("\n".join(code)):
            return self._included_images(block, _SHOWN_NAMES.get(language, language), given, code)
        message = f'cell in language "{language}" is shown but not run'
        self._note("left", message, text, hint="add its result as an image or table")
        made = _make_fence(block, _SHOWN_NAMES.get(language, language), code)
        shown = self._recorded_outputs(code, given, label) if not block.prefix.strip() else []
        if label and not any(f"{{#{fit_id(label)}" in part for part in shown):
            self.labels.add(label)
        parts = [made if self._is_echoed(given) or not shown else "", *shown]
        made = "\n\n".join(part for part in parts if part)
        return made if block.first.strip() else f"{block.prefix}{import_comment(message)}\n{made}"

    def _included_images(
        self, block: CodeBlock, language: str, given: Mapping[str, str], code: list[str]
    ) -> str:
        """Translate a cell that only includes image files. The first image gets the cell's label and caption.
        given: options of the cell."""
        self._take("\n".join(code), is_shown=self._is_echoed(given))
        label, caption, alt = (_text(given.get(key, "")) for key in ("label", "fig-cap", "fig-alt"))
        name = fit_id(label) if label.startswith("fig-") else ""
        bare = CodeBlock("", "", block.mark, "", ())
        lines = [_make_fence(bare, language, code), ""] if self._is_echoed(given) else []
        for path in _PATH.findall("\n".join(code)):
            lines += [image(self._resolve(path), alt or caption, caption=caption, name=name), ""]
            caption = name = ""
        return _add_prefix(block, "\n".join(lines[:-1]).split("\n"))

    def _recorded_outputs(self, code: list[str], given: Mapping[str, str], label: str) -> list[str]:
        """Return the recorded outputs of a cell that cannot run, as blocks of Markdown; empty if there are
        none. The first image or table gets `label`."""
        outputs = self._take("\n".join(code), is_shown=self._is_echoed(given))
        shown = self._outputs.to_markdown(outputs or ())
        for number, part in enumerate(shown):
            picture = _IMAGE.fullmatch(part)
            if picture and label.startswith("fig-"):
                caption, alt = (_text(given.get(key, "")) for key in ("fig-cap", "fig-alt"))
                shown[number] = image(picture[1], alt or caption, caption=caption, name=fit_id(label))
                break
            if label.startswith("tbl-") and part.lstrip().startswith("|"):
                caption = _text(given.get("tbl-cap", ""))
                shown[number] = f"{part}\n\n: {caption} {{#{fit_id(label)}}}"
                break
        return [_NOT_VERIFIED, *shown] if shown else []

    def _is_echoed(self, given: Mapping[str, str]) -> bool:
        asked = given.get("include", given.get("echo", "")).strip().lower()
        return asked not in ("false", "f") if asked else self._defaults.front.get("echo") is not False

    def _record(self, code: list[str], given: Mapping[str, str]) -> None:
        """Record the outputs of a cell, unless an option prevents the cell from ever running. given: options
        of the cell."""
        outputs = self._take("\n".join(code), is_shown=self._is_echoed(given))
        if outputs is not None and given.get("eval", "").strip() != "false":
            self.records.append(CodeOutputs("\n".join(code), outputs))

    def _options(self, given: Mapping[str, str], language: str, text: str) -> Iterator[str]:
        """Yield the option lines of a new cell. given: options of the old cell. text: source of the cell, for
        notices."""
        if language in _BROWSER:
            yield "run-in: browser"
        for key, value in given.items():
            name = key.replace(".", "-").replace("_", "-")
            if name == "label":
                yield f"label: {fit_id(_text(value))}"
            elif name in KNOWN_CELL_OPTIONS:
                yield from self._known_option(name, value, text)
            elif name not in _IGNORED_OPTIONS:
                hint = _LAYOUTS.get(name) or (_SIZES if name.startswith(("fig-", "out-")) else "")
                self._note("dropped", f'cell option "{key}" has no effect in blogsmith', text, hint=hint)
        for key, value in self._defaults.cell.items():
            if key not in given and not (
                key.startswith("code-") and given.get("echo", "").strip() == "false"
            ):
                yield f"{key}: {value}"

    def _known_option(self, key: str, value: str, text: str) -> Iterator[str]:
        data = _data(value)
        if key in _CAPTIONS and isinstance(data, list):
            self._note("changed", f'values of cell option "{key}" are joined to one for all figures', text)
            yield f"{key}: {_quote_yaml('; '.join(str(each) for each in data))}"
        elif key in ("echo", "output") and isinstance(data, str) and data in ("fenced", "asis"):
            self._note("changed", f'cell option "{key}: {data}" becomes "{key}: true"', text)
        elif key in ("eval", "echo") and not isinstance(data, bool):
            message = f'cell option "{key}: {" ".join(value.split())}" has no effect in blogsmith'
            self._note("dropped", message, text)
        else:
            lines = value.split("\n")
            yield f"{key}: {lines[0]}".rstrip()
            yield from lines[1:]

    def _listing(self, block: CodeBlock) -> str:
        """Translate a code block with Pandoc attributes that is not a cell."""
        before, _, _ = block.info.partition("{")
        read = read_pandoc_attributes(block.info[len(before) :])
        if read is None:
            return _make_fence(block, before.strip(), list(block.lines))
        attributes = read[0]
        if attributes.id.startswith("lst-"):
            self.labels.add(attributes.id)
        languages = [
            name for name in attributes.classes if name not in ("numberLines", "number-lines", "cell-code")
        ]
        parts = [before.strip() or (languages[0].lower() if languages else "text")]
        caption = attributes.get("lst-cap")
        if title := attributes.get("filename") or caption:
            parts.append('title="' + title.replace('"', "”") + '"')
        lines = attributes.get("code-line-numbers")
        if re.fullmatch(r"\d[\d,\- ]*", lines):
            parts.append(f"{{{lines.replace(' ', '')}}}")
        if attributes.has("numberLines", "number-lines") or lines == "true":
            parts.append("linenos")
        if start := attributes.get("startFrom"):
            parts.append(f"start={start}")
        if attributes.get("code-fold") in ("true", "show"):
            parts.append("fold")
        made = _make_fence(block, " ".join(parts), list(block.lines))
        if block.first.strip():
            return made
        shown = f"{block.prefix}{caption}\n{block.prefix.rstrip()}\n" if caption not in ("", title) else ""
        name = f"{block.prefix}{{#{fit_id(attributes.id)}}}\n" if attributes.id else ""
        return shown + name + made


def _tex_code(code: str) -> str:
    r"""Return code as `\texttt{…}` for a formula."""
    escaped = re.sub(r"[#$%&_{}]", r"\\\g<0>", code.replace("\\", r"\textbackslash "))
    escaped = escaped.replace("^", r"\textasciicircum ").replace("~", r"\textasciitilde ")
    return rf"\texttt{{{escaped}}}"


def read_block(text: str) -> CodeBlock | None:
    """Parse a fenced code block; return None for indented code."""
    found = _FENCE.fullmatch(text.rstrip("\n"))
    if not found:
        return None
    first = found["prefix"]
    prefix = re.sub(r"[^\s>]", " ", first)
    lines = (found["body"] or "").split("\n") if found["body"] is not None else []
    bare = [_strip(line, prefix) for line in lines]
    if bare and re.fullmatch(rf"\s*{re.escape(found['mark'][0])}{{{len(found['mark'])},}}\s*", bare[-1]):
        bare = bare[:-1]
    return CodeBlock(prefix, first, found["mark"], found["info"], tuple(bare))


def _strip(line: str, prefix: str) -> str:
    """Remove the block's prefix from a line. If the line starts with only the first part of the prefix,
    remove that part."""
    if line.startswith(prefix):
        return line[len(prefix) :]
    if prefix.strip():
        return re.sub(r"^(?:[ \t]*>)+[ ]?", "", line)
    return line[min(len(line) - len(line.lstrip()), len(prefix)) :]


def _add_prefix(block: CodeBlock, lines: list[str]) -> str:
    made = [block.first + lines[0], *(block.prefix + line for line in lines[1:])] if lines else [block.first]
    return "\n".join(line.rstrip() for line in made)


def _make_fence(block: CodeBlock, info: str, lines: list[str]) -> str:
    made = [
        f"{block.first}{block.mark}{info}",
        *(block.prefix + line for line in lines),
        block.prefix + block.mark,
    ]
    return "\n".join(line if line.strip(" >\t") else line.rstrip() for line in made)


def _translate_escaped_fence(block: CodeBlock) -> str:
    """Translate a fence with double braces, ```` ```{{python}} ````, which shows the source of a cell."""
    info = re.sub(r"\{\{(.*?)\}\}", r"{\1}", block.info)
    outer = CodeBlock(block.prefix, block.first, block.mark + block.mark[0], "", ())
    return _make_fence(outer, "markdown", [block.mark + info, *block.lines, block.mark])


def _remove_commas(info: str) -> str:
    """Replace the commas in knitr's `{python, echo=FALSE}` with spaces."""
    return re.sub(r",\s*(?=[\w.-]+\s*=)", " ", info)


def _info_options(attributes: PandocAttributes) -> dict[str, str]:
    found = dict(attributes.pairs)
    if attributes.id:
        found.setdefault("label", attributes.id)
    elif len(attributes.words) > 1:
        found.setdefault("label", attributes.words[1])
    return {
        key: value.lower()
        if value in ("TRUE", "FALSE")
        else value
        if key != "fig-cap"
        else _quote_yaml(value)
        for key, value in found.items()
    }


def _split_options(lines: tuple[str, ...], mark: str) -> tuple[dict[str, str], list[str]]:
    """Return the options in the lines before the code, with unparsed values, and the lines of the code. mark:
    start of an option line, such as `#|`."""
    options: dict[str, str] = {}
    key = ""
    count = next((n for n, line in enumerate(lines) if not line.lstrip().startswith(mark)), len(lines))
    for line in lines[:count]:
        text = line.lstrip()[len(mark) :]
        entry = _ENTRY.fullmatch(text) if not text.startswith("   ") else None
        if entry:
            key = entry[1]
            options[key] = entry[2]
        elif key:
            options[key] += "\n" + text.removeprefix(" ")
    return options, list(lines[count:])


def _data(value: str) -> Any:
    try:
        return load_yaml(value)
    except DataTextError:
        return value


def _text(value: str) -> str:
    data = _data(value)
    return " ".join(str(data).split()) if isinstance(data, (str, int, float)) else ""


def _quote_yaml(text: str) -> str:
    text = " ".join(text.split())
    return "'" + text.replace("'", "''") + "'"
