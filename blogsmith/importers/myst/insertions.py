"""Directives that insert content, such as code, cells, files, page lists, formulas, figures, tables and
videos."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence

from ...api.importing import lazy_pattern
from ..text.containers import dedent, fence_lines, table, table_caption, trim_blank_lines
from ..text.data import split_yaml_front_matter
from ..text.html import image
from ..text.math import has_rows
from .directives import Directive, read_attributes, split_paragraph
from .references import BookLabel
from .walker import BlockTranslator

_VIDEO = lazy_pattern(
    r"(?i)https?://(?:www\.|player\.)?(?:youtube(?:-nocookie)?\.com|youtu\.be|vimeo\.com)/\S*"
)
_EMBEDDED = lazy_pattern(r"(.*)/embed/([\w-]+).*")
_ROW = lazy_pattern(r"(\s{0,3}[*-]\s+)[*-](?:\s+(.*))?")
_CELL = lazy_pattern(r"(\s{2,6})[*-](?:\s+(.*))?")
_BLANK_LINES = lazy_pattern(r"\n(?:[ \t]*\n)+")
_ROWS = lazy_pattern(r"\\\\|(?<!\\)&")
_MARKDOWN_IMAGE = lazy_pattern(
    r"!\[(?P<alt>[^\]]*)\]\((?P<address>[^()\s]+)(?:\s+\"[^\"]*\")?\)(?:\{(?P<attributes>[^{}]*)\})?"
)
_IMAGE_SUFFIXES = (
    ".png",
    ".jpg",
    ".jpeg",
    ".gif",
    ".svg",
    ".webp",
    ".avif",
    ".bmp",
    ".apng",
    ".tif",
    ".tiff",
)


def align_rows(tex: str) -> str:
    """Enclose a formula of several rows in `aligned`; return any other formula unchanged. As in Sphinx, a
    blank line also starts a new row."""
    parts = [part for part in _BLANK_LINES.split(tex) if part.strip()]
    if len(parts) > 1 and not has_rows(tex):
        rows = "\\\\\n".join(align_rows(part.strip("\n")) for part in parts)
    elif _ROWS.search(tex) is None or "\\begin" in tex:
        return tex
    else:
        rows = tex
    return rf"\begin{{aligned}}{rows}\end{{aligned}}"


def translate_math(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{math}` and its `:label:`. A formula of several rows without an environment is enclosed in
    one, as in Sphinx."""
    body = trim_blank_lines([*([directive.argument] if directive.argument else []), *directive.body])
    if not body:
        return []
    tex = "\n".join(["", *body, ""])
    rows = tex if "nowrap" in directive.options else align_rows(tex)
    body = [line for line in rows.split("\n") if line.strip()]
    walker.add_tex_labels(tex)
    label = walker.add_label("eq", directive.label)
    return ["$$", *body, f"$$ {{#{label}}}" if label and "\\label" not in tex else "$$"]


def translate_image(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{image} path`."""
    if directive.label:
        walker.pending.append(directive.label)
    shown = _image(directive, "", "")
    if target := directive.option("target"):
        shown = f"[{shown}]({target})"
    return [*walker.anchor(), shown]


def translate_figure(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{figure} path` with its caption and legend. If it has no image, return its content."""
    if not directive.argument:
        walker.pending += [directive.label] if directive.label else []
        return [*walker.anchor(), *walker.walk_nested(directive.body, directive.body_line)]
    if (
        not directive.argument.split("?")[0].lower().endswith(_IMAGE_SUFFIXES)
        and "://" not in directive.argument
    ):
        return [*walker.anchor(), *walker.leave(directive, f'unsupported figure file "{directive.argument}"')]
    name = walker.add_label("fig", directive.label)
    paragraph, rest = split_paragraph(directive.body)
    legend = walker.walk_nested(rest, directive.body_line) if rest else []
    shown = _image(directive, " ".join(line.strip() for line in paragraph), name)
    return [shown, *(["", *legend] if legend else [])]


def translate_figure_md(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{figure-md} label` with a Markdown image. The text after the image is the caption."""
    paragraph, rest = split_paragraph(directive.body)
    found = _MARKDOWN_IMAGE.fullmatch(" ".join(line.strip() for line in paragraph))
    label = directive.argument or directive.label
    if found is None:
        walker.pending += [label] if label else []
        return [*walker.anchor(), *walker.walk_nested(directive.body, directive.body_line)]
    name = walker.add_label("fig", label)
    caption, legend = split_paragraph(rest)
    width = read_attributes(found["attributes"] or "").pairs
    said, wide = " ".join(" ".join(caption).split()), width.get("width", width.get("w", ""))
    shown = image(found["address"], found["alt"], caption=said, width=wide, name=name)
    return [shown, *(["", *walker.walk_nested(legend, directive.body_line)] if legend else [])]


def _image(directive: Directive, caption: str, name: str) -> str:
    width = directive.option("width", "figwidth")
    if not width and (scale := directive.option("scale").rstrip("% ")):
        width = f"{scale}%"
    return image(directive.argument, directive.option("alt"), caption=caption.strip(), width=width, name=name)


def translate_table(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{table} Caption` with a Markdown table."""
    name = walker.add_label("tbl", directive.label)
    body = trim_blank_lines(walker.walk_nested(directive.body, directive.body_line))
    return [*body, *table_caption(directive.argument, name)]


def translate_list_table(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{list-table} Caption`. Each item of its list becomes a table row, and each nested item a
    table cell."""
    rows = _list_rows(directive.body)
    if not rows:
        return [*walker.anchor(), *walker.leave(directive, "missing rows in a table")]
    heads = directive.option("header-rows")
    if any(_is_block(cell) for row in rows for cell in row):
        return _table_of_blocks(walker, directive, rows, int(heads) if heads.isdecimal() else 0)
    name = walker.add_label("tbl", directive.label)
    cells = [[" ".join(re.sub(r"\n\s*\n", "<br>", cell).split()) for cell in row] for row in rows]
    return table(cells, int(heads) if heads.isdecimal() else 0, directive.argument, name)


def _table_of_blocks(
    walker: BlockTranslator, directive: Directive, rows: Sequence[Sequence[str]], heads: int
) -> list[str]:
    """Return an HTML table, because a Markdown table cannot contain blocks in its cells. rows: table cells as
    MyST text. heads: number of header rows."""
    out = [*walker.anchor()]
    if directive.label:
        walker.pending.append(directive.label)
        out += walker.anchor()
    out += [f"**{directive.argument}**", ""] if directive.argument else []
    out.append("<table>")
    for number, row in enumerate(rows):
        tag = "th" if number < heads else "td"
        out.append("<tr>")
        for cell in row:
            text = walker.walk_nested(cell.split("\n"), directive.body_line)
            out += [f'<{tag} markdown="1">', "", *text, "", f"</{tag}>"]
        out.append("</tr>")
    return [*out, "</table>", ""]


def _list_rows(lines: Sequence[str]) -> list[list[str]]:
    rows: list[list[str]] = []
    margin, column = -1, 0
    for line in lines:
        indented = len(line) - len(line.lstrip())
        if (found := _ROW.fullmatch(line)) and margin in (-1, indented):
            rows.append([found[2] or ""])
            margin, column = indented, len(found[1])
        # an item with larger indentation belongs to a list inside a cell
        elif rows and (found := _CELL.fullmatch(line)) and abs(len(found[1]) - column) < 2:
            rows[-1].append(found[2] or "")
        elif rows and rows[-1]:
            rows[-1][-1] += f"\n{line[min(4, len(line) - len(line.lstrip())) :].rstrip()}"
    return [[cell.strip() for cell in row] for row in rows]


def _is_block(cell: str) -> bool:
    return "```" in cell or ":::" in cell or re.search(r"^(?:[-*+]|\d+\.)\s", cell, re.MULTILINE) is not None


def translate_csv_table(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{csv-table} Caption`, whose rows are in the directive or in a file."""
    text = "\n".join(directive.body)
    if file := directive.option("file"):
        content = walker.book.read(walker.resolve(file))
        if content is None:
            walker.notice("missing", f'table file not found: "{file}"', directive.line)
            return walker.anchor()
        text = content
    mark = {"tab": "\t", "space": " "}.get(directive.option("delim"), directive.option("delim") or ",")
    rows = [row for row in csv.reader(io.StringIO(text.strip()), delimiter=mark[:1] or ",") if row]
    if heads := next(csv.reader([directive.option("header")]), []):
        rows.insert(0, heads)
    written = directive.option("header-rows")
    count = 1 if heads else int(written) if written.isdecimal() else 0
    name = walker.add_label("tbl", directive.label)
    return table([[cell.strip() for cell in row] for row in rows], count, directive.argument, name)


def translate_video(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{youtube} id`, `{vimeo} id`, `{iframe} URL` and `{video} file`."""
    address = directive.argument
    if directive.name == "youtube":
        address = f"https://www.youtube.com/watch?v={address}"
    elif directive.name == "vimeo":
        address = f"https://vimeo.com/{address}"
    caption = " ".join(line.strip() for line in directive.body if line.strip())
    if _VIDEO.fullmatch(address) or not address.startswith(("http:", "https:")):
        if embedded := _EMBEDDED.fullmatch(address):
            address = f"https://www.youtube.com/watch?v={embedded[2]}"
        shown = f' data-caption="{caption.replace(chr(34), "&quot;")}"' if caption else ""
        return [*walker.anchor(), f'<div class="video-embed" data-src="{address}"{shown}></div>']
    message = f'frame becomes a link because pages load nothing from other hosts: "{address}"'
    walker.notice("changed", message, directive.line)
    return [*walker.anchor(), f"[{caption or address}]({address})"]


def translate_mermaid(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Return a fence for `{mermaid}`."""
    return [*walker.anchor(), *fence_lines("mermaid", trim_blank_lines(directive.body))]


_RANGE = lazy_pattern(r"\s*(\d*)\s*-?\s*(\d*)\s*")
_IPYTHON = lazy_pattern(r"\s*(?:%%?[A-Za-z]|![\w./]|\?\w|\w[\w.]*\?\s*$)")
_TAGS = {
    **{"hide-input": ("code-fold", "true"), "hide-cell": ("code-fold", "true")},
    **{"remove-input": ("echo", "false"), "remove-output": ("output", "false")},
    **{"remove-cell": ("include", "false"), "raises-exception": ("error", "true")},
    **{"skip-execution": ("eval", "false"), "remove-stderr": ("warning", "false")},
}
"""Tag of a cell → equivalent cell option and its value."""
_PYTHON = frozenset(("", "python", "python3", "ipython", "ipython3", "py"))


def translate_code(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{code-block} language`, `{code}` and `{sourcecode}`."""
    return _listing(walker, directive, directive.argument, directive.body)


def translate_include_code(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{literalinclude} path` to a code block with the requested lines of the file."""
    content = walker.book.read(walker.resolve(directive.argument))
    if content is None:
        walker.notice("missing", f'file not found: "{directive.argument}"', directive.line)
        return [*walker.anchor(), *fence_lines("text", directive.raw)]
    suffix = directive.argument.rpartition(".")[2].lower()
    language = directive.option("language", "lang", "code") or _LANGUAGES.get(suffix, suffix)
    return _listing(walker, directive, language, select_lines(content.split("\n"), directive))


_LANGUAGES = {
    "py": "python",
    "jl": "julia",
    "md": "markdown",
    "yml": "yaml",
    "sh": "bash",
    "js": "javascript",
}


def select_lines(lines: Sequence[str], directive: Directive) -> list[str]:
    """Return the lines of an included file that the options of the directive select."""
    chosen = list(lines)
    for name, shift in (("start-after", 1), ("start-at", 0)):
        if mark := directive.option(name):
            chosen = chosen[next((n + shift for n, line in enumerate(chosen) if mark in line), 0) :]
    for name, shift in (("end-before", 0), ("end-at", 1)):
        if mark := directive.option(name):
            chosen = chosen[: next((n + shift for n, line in enumerate(chosen) if mark in line), len(chosen))]
    if written := directive.option("lines"):
        numbers = set(line_numbers(written, len(chosen)))
        chosen = [line for number, line in enumerate(chosen, 1) if number in numbers]
    start, end = (directive.option(name) for name in ("start-line", "end-line"))
    if re.fullmatch(r"-?\d+", start) or re.fullmatch(r"-?\d+", end):
        chosen = chosen[int(start or 0) : int(end) if end else None]
    if (width := directive.option("dedent")).isdecimal():
        chosen = dedent(chosen, int(width))
    return trim_blank_lines(chosen)


def line_numbers(text: str, count: int) -> Iterator[int]:
    """Yield the 1-based numbers in a string such as `1,3-5,8-`. count: last number of an open range such as
    `8-`."""
    for part in text.split(","):
        found = _RANGE.fullmatch(part)
        if found and part.strip():
            first = int(found[1] or 1)
            yield from range(first, int(found[2] or (count if "-" in part else first)) + 1)


def _listing(walker: BlockTranslator, directive: Directive, language: str, code: Iterable[str]) -> list[str]:
    name = directive.label
    anchor = walker.anchor()
    if name:
        walker.pending.append(name)
        anchor += walker.anchor()
    info = [language.strip() or "text"]
    if title := directive.option("caption", "filename"):
        info.append(f'title="{" ".join(title.split()).replace(chr(34), chr(39))}"')
    if marked := re.sub(r"[^\d,-]", "", directive.option("emphasize-lines")).strip(","):
        info.append(f"{{{marked}}}")
    start = directive.option("lineno-start", "number-lines")
    if {"linenos", "lineno-start", "number-lines"} & directive.options.keys():
        info.append("linenos" + (f" start={start}" if start.isdecimal() and start != "1" else ""))
    return [*anchor, *fence_lines(" ".join(info), trim_blank_lines(list(code)))]


def translate_cell(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{code-cell} language` to a cell, with its tags as `#|` lines."""
    code = trim_blank_lines(directive.body)
    options = dict(_cell_options(walker, directive, code))
    language = directive.argument.strip().lower()
    head = "python" if language in _PYTHON else language.split()[0]
    # a fence in braces is a cell even without options
    lines = [f"#| {key}: {value}" for key, value in options.items()]
    return [*walker.anchor(), *fence_lines(f"{{{head}}}", [*lines, *code])]


def _cell_options(
    walker: BlockTranslator, directive: Directive, code: Sequence[str]
) -> Iterator[tuple[str, str]]:
    tags = re.split(r"[\s,]+", directive.option("tags").strip("[] ").replace('"', "").replace("'", ""))
    for tag in tags:
        if tag in _TAGS:
            yield _TAGS[tag]
    command = next((line.strip() for line in code if _IPYTHON.match(line)), "")
    if command and "skip-execution" not in tags and "output" not in directive.options:
        word = command.split()[0]
        message = f'cell with IPython command "{word}" is shown but not run'
        walker.notice(
            "changed", message, directive.line, hint="rewrite it in Python, and remove `eval: false`"
        )
        yield "eval", "false"
    if caption := directive.option("caption"):
        label = directive.option("name", "label")
        if label:
            yield "label", walker.add_label("fig", label)
        yield "fig-cap", json.dumps(" ".join(caption.split()), ensure_ascii=False)
    elif label := directive.option("label", "name"):
        walker.pending.append(label)
    if alt := directive.option("alt"):
        yield "fig-alt", json.dumps(alt, ensure_ascii=False)


_ENTRY = lazy_pattern(r"\s*(?:(.+?)\s*<([^<>]+)>|(\S.*?))\s*")
_LINK = lazy_pattern(r"(?:https?|mailto):.*")


def translate_toctree(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{toctree}` to a list of links. A hidden `{toctree}` shows nothing; it only defines the order
    of pages."""
    if "hidden" in directive.options:
        return []
    walker.lists_below = True
    out = [f"**{caption}**", ""] if (caption := directive.option("caption")) else []
    for line in directive.body:
        found = _ENTRY.fullmatch(line)
        if not found or line.lstrip().startswith(("%", "#")) or "*" in line:
            continue
        target, title = found[2] or found[3], found[1] or ""
        if _LINK.fullmatch(target):
            out.append(f"- [{title or target}]({target})")
        elif target != "self":
            out.append(f"- {{doc}}`{f'{title} <{target}>' if title else target}`")
    return [*walker.anchor(), *out]


def translate_page_list(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{tableofcontents}` to a placeholder. `finish_page` replaces it with the list of pages."""
    walker.lists_pages = True
    return [*walker.anchor(), PAGE_LIST]


PAGE_LIST = "\ue002pages\ue002"
"""Placeholder for the list of pages, which is only known when all pages are read."""


def remove_directive(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Remove a directive that shows nothing. Also remove `{contents}` and `{index}`, because blogsmith
    generates their content."""
    if directive.name in ("index", "contents", "tags"):
        shown = [*directive.raw] if directive.argument or directive.body else []
        message = f'directive "{{{directive.name}}}" is omitted'
        walker.notice("dropped", message, directive.line, removed=shown)
    return walker.anchor()


def translate_bibliography(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Remove `{bibliography}`, because blogsmith generates the list of references."""
    walker.has_bibliography = True
    return walker.anchor()


def translate_glossary(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{glossary}` to a definition list with an anchor for each term."""
    out: list[str] = walker.anchor()
    terms: list[str] = []
    body = trim_blank_lines(directive.body)
    is_markdown = any(line.lstrip().startswith(": ") for line in body)
    text = walker.walk_nested(body, directive.body_line)
    for line in text:
        if not line.strip():
            out.append("")
        elif line.startswith((" ", "\t", ": ")):
            if is_markdown:
                out.append(line)
                continue
            out.append(f": {line.strip()}" if terms or out[-1:] == [""] else f"  {line.strip()}")
            terms = []
        else:
            if out and out[-1].strip() and not terms:
                out.append("")
            terms.append(line.strip())
            out.append(_term(walker, line.strip()))
    return out


def _term(walker: BlockTranslator, text: str) -> str:
    slug = re.sub(r"[^\w]+", "-", text.casefold()).strip("-") or "term"
    walker.book.labels.add(f"term {text}", BookLabel("term", f"term-{slug}", walker.source, text))
    return f'<span id="term-{slug}"></span>{text}'


def translate_include(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{include} path` to the translated content of the file."""
    path = walker.resolve(directive.argument)
    content = walker.book.read(path)
    if content is None or path in walker.included:
        name = f'"{directive.argument}"'
        message = f"file not found: {name}" if content is None else f"file {name} includes itself"
        walker.notice("missing", message, directive.line)
        return [*walker.anchor(), *fence_lines("text", directive.raw)]
    lines = select_lines(split_yaml_front_matter(content)[1].split("\n"), directive)
    if {"literal", "code"} & directive.options.keys():
        return [*walker.anchor(), *fence_lines(directive.option("code") or "text", lines)]
    if path.endswith(".rst"):
        return [*walker.anchor(), *walker.leave(directive, "unsupported syntax: reStructuredText")]
    walker.included = (*walker.included, path)
    walker.inclusions.append(path)
    before = len(walker.notices)
    out = walker.walk_nested(lines, 1)
    # these lines belong to the other file
    walker.notices[before:] = [
        type(each)(each.kind, each.message, path, each.line, each.hint, each.removed)
        for each in walker.notices[before:]
    ]
    walker.included = walker.included[:-1]
    return out


def translate_raw(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{raw} html` to HTML; remove content for other output formats."""
    formats = directive.argument.lower().split()
    if "html" in formats or not formats:
        return [*walker.anchor(), *trim_blank_lines(directive.body)]
    message = f'content for other formats is omitted: "{" ".join(formats)}"'
    walker.notice("dropped", message, directive.line, removed=directive.raw)
    return walker.anchor()


def translate_only(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{only} html` to its content, or remove content for other output formats."""
    if re.search(r"\bhtml\b", directive.argument) and "not html" not in directive.argument:
        return walker.walk_nested(directive.body, directive.body_line)
    message = f'content for other formats is omitted: "{directive.argument}"'
    walker.notice("dropped", message, directive.line, removed=directive.raw)
    return walker.anchor()


def translate_rst(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Leave `{eval-rst}` untranslated, because it is another language."""
    hint = "rewrite it in Markdown"
    return [*walker.anchor(), *walker.leave(directive, "unsupported syntax: reStructuredText", hint)]
