"""Directives for formulas, figures, tables, videos and diagrams."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from ...api.importing import lazy_pattern
from ..text.containers import fence_lines, table, table_caption, trim_blank_lines
from ..text.html import image
from .directives import Directive, read_attributes, split_paragraph
from .walker import BlockTranslator

_VIDEO = lazy_pattern(
    r"(?i)https?://(?:www\.|player\.)?(?:youtube(?:-nocookie)?\.com|youtu\.be|vimeo\.com)/\S*"
)
_EMBEDDED = lazy_pattern(r"(.*)/embed/([\w-]+).*")
_ROW = lazy_pattern(r"(\s{0,3}[*-]\s+)[*-](?:\s+(.*))?")
_CELL = lazy_pattern(r"(\s{2,6})[*-](?:\s+(.*))?")
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


def has_bare_rows(tex: str) -> bool:
    """Return whether a formula has rows outside of an environment. Sphinx puts them into `split`."""
    return _ROWS.search(tex) is not None and "\\begin" not in tex


def translate_math(walker: BlockTranslator, directive: Directive) -> list[str]:
    """Translate `{math}`, with `:label:`. As in Sphinx, several rows without an environment get one."""
    body = trim_blank_lines([*([directive.argument] if directive.argument else []), *directive.body])
    body = [line for line in body if line.strip()]
    if not body:
        return []
    tex = "\n".join(body)
    if has_bare_rows(tex) and "nowrap" not in directive.options:
        body = [r"\begin{aligned}", *body, r"\end{aligned}"]
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
    """Translate `{figure} path` with its caption and the legend after it. Without an image, return its
    content."""
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
    """Translate `{list-table} Caption`, where rows are items and cells are nested items."""
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
    """Return an HTML table for cells with blocks, which a Markdown table cannot contain."""
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
    """Translate `{csv-table} Caption`, with rows in the page or in a file."""
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
