"""Text that the editor shows for the construct under the cursor: a formula, cell, citation, label, setting or
command."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol.types import Hover, MarkupContent, MarkupKind, Range

from ..api.editing import (
    CODES,
    CONFIG_NAME,
    Cell,
    CellResult,
    CitationItem,
    Display,
    Failure,
    LinkTargetPlace,
    Math,
    Publication,
    Shortcode,
    Stream,
    Value,
    WikiLink,
    XRef,
    lazy_pattern,
    linear_text,
    portable_tex,
    provenance,
    read_text,
)
from .completion_yaml import cached_schema, describe_key, find_key, yaml_schema
from .cursor import (
    LocatedElement,
    all_elements,
    find_element,
    find_footnote,
    find_open_fence,
    find_yaml_key,
    front_matter_end,
    offset_in_formula,
)
from .lookups import SiteLabel, find_label, page_macros, page_packages
from .site_files import is_page
from .site_session import SiteSession
from .tex_guide import CommandGuide, describe_command, describe_macro, find_command, list_arguments
from .text_buffer import TextBuffer

MAX_OUTPUT = 1500
"""Maximum number of characters of a recorded result that are shown."""
_BREAK = lazy_pattern(r"</(?:p|div|li)>|<br\s*/?>")
_OPTION_KEY = lazy_pattern(r"^\s*(?:#|//|%)\|\s*([\w-]+)\s*:")


def find_hover(
    session: SiteSession, path: str, buffer: TextBuffer, offset: int, *, plain: bool = False
) -> Hover | None:
    """Return a description of the construct at a character; None if there is nothing to describe. plain:
    whether the client shows only plain text."""
    found = _describe(session, path, buffer, offset)
    if found is None:
        return None
    text, where = found
    kind = MarkupKind.PlainText if plain else MarkupKind.Markdown
    return Hover(MarkupContent(kind, _strip_markup(text) if plain else text), where)


def _strip_markup(text: str) -> str:
    lines = (line for line in text.split("\n") if not line.startswith("```"))
    return "\n".join(lines).replace("**", "").replace("`", "")


def _describe(
    session: SiteSession, path: str, buffer: TextBuffer, offset: int
) -> tuple[str, Range | None] | None:
    number = buffer.position(offset).line
    if path == CONFIG_NAME:
        return _describe_key(path, buffer, offset, 0)
    if not is_page(path):
        return None
    head = front_matter_end(buffer)
    if number < head:
        return _describe_key(path, buffer, offset, 1)
    if (fence := find_open_fence(buffer, number, head)) is not None and (
        found := _OPTION_KEY.match(buffer.line(number))
    ):
        guide = find_key(cached_schema("cell"), (found[1],)) if fence < number else None
        if guide:
            return f"**{guide.name}** (cell option)\n\n{describe_key(guide)}", None
    parsed = session.parse(path)
    if parsed and (note := find_footnote(buffer, offset)) and (place := parsed.page.note_places.get(note)):
        return buffer.line(place.line - 1), None
    element = find_element(parsed, buffer, offset) if parsed else None
    text = _describe_element(session, path, buffer, offset, element) if element else ""
    if not text or element is None:
        return None
    return text, None if isinstance(element.record, Math | Cell) else buffer.place_range(element.place)


def _describe_key(path: str, buffer: TextBuffer, offset: int, first: int) -> tuple[str, Range | None] | None:
    found = find_yaml_key(buffer, offset, first)
    if found is None:
        return None
    keys, start, end = found
    where = buffer.range(start, end)
    guide = find_key(yaml_schema(path), keys)
    if guide is not None:
        return f"**{'.'.join(keys)}**\n\n{describe_key(guide)}", where
    if keys[:1] == ("diagnostics",) and keys[-1] in CODES:
        return f"**{keys[-1]}**\n\n{CODES[keys[-1]]}", where
    if keys[-2:-1] == ("macros",):
        return f"Macro of {'the site' if path == CONFIG_NAME else 'this page'}", where
    return None


def _describe_element(
    session: SiteSession, path: str, buffer: TextBuffer, offset: int, element: LocatedElement
) -> str:
    match element.record:
        case Math() as math:
            return _describe_formula(session, path, buffer, offset, math)
        case XRef() as reference:
            known = find_label(session, path, reference.page, reference.target)
            return describe_label(session, known) if known else ""
        case CitationItem() as cited:
            return describe_work(session, path, cited.key)
        case Cell() as cell:
            return _describe_cell(session, path, cell)
        case Value() as value:
            return _describe_value(session, path, value)
        case LinkTargetPlace() as link:
            return _describe_link(session, path, link.target)
        case WikiLink() as link:
            return _describe_link(session, path, link.target)
        case Shortcode() as call:
            takes = list_arguments(session.snapshot, call.name) if session.snapshot else {}
            lines = (f"- `{name}`: {meaning}".rstrip(": ") for name, meaning in takes.items())
            return "\n".join((f"Shortcode **{call.name}**\n", *lines))


# -- formulas --


def formula_text(session: SiteSession, path: str, tex: str) -> str:
    """Return a description of a formula in Markdown. It contains the formula's plain text, and its TeX with
    macros expanded."""
    present = session.snapshot
    macros = page_macros(present, path) if present else {}
    opened = portable_tex(tex, macros).strip()
    parts = [linear_text(opened).strip(), f"```latex\n{opened}\n```"]
    return "\n\n".join(part for part in parts if part)


def _describe_formula(session: SiteSession, path: str, buffer: TextBuffer, offset: int, math: Math) -> str:
    parts = []
    command = find_command(math.tex, offset_in_formula(math, buffer, offset))
    if command and session.snapshot:
        macros = page_macros(session.snapshot, path)
        guide = describe_macro(command[0], macros) or describe_command(
            command[0], page_packages(session.snapshot, path)
        )
        if guide:
            parts.append(_command_text(guide, is_macro=command[0] in macros))
    numbers = [f"({row.number})" for row in math.rows if row.number]
    if numbers:
        parts.append(f"Equation {', '.join(numbers)}")
    parts.append(formula_text(session, path, math.tex))
    return "\n\n".join(parts)


def _command_text(guide: CommandGuide, *, is_macro: bool) -> str:
    if is_macro:
        return f"`{guide.name}` stands for `{guide.meaning}`"
    return f"`{guide.name}` prints {guide.symbol}" if guide.symbol else f"`{guide.name}`: {guide.meaning}"


# -- labels, works, links --


def describe_label(session: SiteSession, known: SiteLabel) -> str:
    """Return the number of a label, followed by the formula or title that has the label."""
    parts = [f"**{known.name}** in `{known.path}`, line {known.label.place.line}"]
    parsed = session.parse(known.path) if known.label.kind == "eq" else None
    for one in all_elements(parsed) if parsed else ():
        if isinstance(one.record, Math) and known.label.id in [row.id for row in one.record.rows]:
            parts.append(formula_text(session, known.path, one.record.tex))
    if known.label.kind != "eq":
        parts.append(
            f"```markdown\n{session.buffer(known.path).line(known.label.place.line - 1).strip()}\n```"
        )
    return "\n\n".join(parts)


def describe_work(session: SiteSession, path: str, key: str) -> str:
    """Return the bibliography entry of a citation key as the page's list of references prints it. If the page
    does not list the entry, return its main fields."""
    present = session.snapshot
    document = present.resolved.documents.get(path) if present else None
    if present is None or document is None:
        return ""
    item = present.rendered.get(path)
    if item is not None and (printed := _printed_reference(item.body.html, key)):
        return printed
    reference = next((one for one in document.front.references if one.key == key), None)
    if reference:
        parts = [", ".join(reference.authors), reference.title, reference.venue, reference.year]
        return ". ".join(part for part in parts if part)
    work = present.resolved.tools.find_reference(key, document).work
    return _work_text(work) if work else ""


def _printed_reference(html: str, key: str) -> str:
    start = html.find(f'<li id="ref-{key}">')
    if start < 0:
        return ""
    text = html[start : html.find("</li>", start)].partition('<a class="ref-backref"')[0]
    return " ".join(plain_text(text).split())


def plain_text(html: str) -> str:
    """Convert HTML that we generated to plain text."""
    return read_text(_BREAK.sub("\n", html))


def _work_text(work: Publication) -> str:
    people = work.people.get("author") or work.people.get("editor") or ()
    names = [person.short for person in people]
    more = " et al." if work.has_others else ""
    issued = work.dates.get("issued")
    parts = [
        ", ".join(names) + more,
        work.variables.get("title", ""),
        work.variables.get("container-title", "") or work.variables.get("publisher", ""),
        str(issued.year) if issued else "",
    ]
    return ". ".join(part for part in parts if part)


def _describe_link(session: SiteSession, path: str, target: str) -> str:
    present = session.snapshot
    document = present.resolved.documents.get(path) if present else None
    if present is None or document is None:
        return ""
    found, anchor = present.resolved.index.find_linked(target, document)
    item = present.rendered.get(found)
    if item is None:
        return f"`{found}`" if found else ""
    title = item.body.title_text or item.document.front.title
    summary = item.document.front.description or item.body.summary
    parts = [f"**{title}**" + (f" #{anchor}" if anchor else ""), f"`{found}`", summary]
    return "\n\n".join(part for part in parts if part)


# -- cells --


def _describe_cell(session: SiteSession, path: str, cell: Cell) -> str:
    present = session.snapshot
    document = present.resolved.documents.get(path) if present else None
    if present is None or document is None:
        return ""
    result = present.resolved.cells(document).results.cells.get(cell.number)
    if result is None or result.status in ("off", "pending"):
        state = "is shown, not run" if not cell.is_run else "has no recorded result"
        return f"**{cell.name}** {state}"
    parts = [f"**{cell.name}**: {'ran well' if result.status == 'ok' else result.status}"]
    if result.problem:
        parts.append(result.problem)
    parts.extend(_output_texts(result))
    if result.stale:
        parts.append(f"Stale: {result.stale}")
    origin = plain_text(provenance(result, cell.options.seed, cell.options.freeze)).strip()
    parts.append(origin)
    return "\n\n".join(part for part in parts if part)


def _output_texts(result: CellResult) -> Sequence[str]:
    found = []
    left = MAX_OUTPUT
    for output in result.outputs:
        match output:
            case Stream():
                text = output.text
            case Failure():
                text = f"{output.name}: {output.message}"
            case Display():
                plain = output.data.get("text/plain")
                kinds = ", ".join(sorted(kind for kind in output.data if kind != "text/plain"))
                text = plain if isinstance(plain, str) else f"({kinds})"
        if left > 0 and text.strip():
            found.append(_fence_text(text[:left] + ("…" if len(text) > left else "")))
            left -= len(text)
    return found


def _fence_text(text: str) -> str:
    """Return text in a fence that is longer than every run of backticks in the text."""
    ticks = "```"
    while ticks in text:
        ticks += "`"
    return f"{ticks}text\n{text.rstrip()}\n{ticks}"


def _describe_value(session: SiteSession, path: str, value: Value) -> str:
    present = session.snapshot
    document = present.resolved.documents.get(path) if present else None
    if present is None or document is None:
        return ""
    result = present.resolved.cells(document).results.values.get(value.number)
    if result is None or result.pending:
        return f"`{value.expression}` has no recorded result"
    more = f"\n\nStale: {result.stale}" if result.stale else ""
    return f"`{value.expression}` = {result.text or result.latex}{more}"
