"""Translation of a note of a vault. Its properties become front matter, and its Markdown is converted."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from pathlib import PurePosixPath
from typing import Any

from ...api.importing import lazy_pattern, name_set, parse_date, slugify
from ..model import FrontKeys, ImportedPage, Notice, NoticeKind
from ..text.containers import Replacement, append_replacement, callout_lines
from ..text.data import one_line, read_strings
from ..text.html import Element, replace_blocks
from ..text.html_markdown import convert_video, read_figure
from ..text.math import has_rows, split_formula
from ..text.pieces import demote_headings, literal_brackets, literal_shortcodes, repeated_title
from ..text.segments import CODE, TEX, FormulaDelimiters, LineFinder, divide, mask, rewrite
from .links import IMAGE_SUFFIXES, NoteLinks, NoticeCallback, block_id
from .vault import Note, NoteIndex, Vault

DIALECT = FormulaDelimiters(brackets=False, environments=False)
_EMPTY = lazy_pattern(r"(?<![\\$])\$\$\$\$(?!\$)")
"""Matches a formula without content, which Obsidian does not show."""
_COMMENT = lazy_pattern(r"%%[\s\S]*?%%")
_EMBED = lazy_pattern(r"!\[\[([^\[\]\n]+)\]\]")
_WIKI = lazy_pattern(r"(?<!!)\[\[([^\[\]\n]+)\]\]")
_LINK = lazy_pattern(
    r"(!?)\[((?:[^\[\]\n]|\\.)*)\]"
    r"\((<[^<>\n]*>|[^\s()<>]+(?:\([^\s()]*\)[^\s()<>]*)*)([ \t]+(?:\"[^\"]*\"|'[^']*'))?\)"
)
_TAG = lazy_pattern(r"(?m)(?:(?<=\s)|^)#([\w/-]*[^\W\d][\w/-]*)")
_BLOCK_ID = lazy_pattern(r"(?m)(^|[ \t]+)\^([A-Za-z0-9-]+)[ \t]*$")
_METADATA = lazy_pattern(r"(?m)^([ \t>]*\[![\w-]+)\|[^\]\n]*\]")
_NOTE = lazy_pattern(r"(?<!\])\^\[((?:[^\[\]\n]|\[[^\[\]\n]*\])+)\]")
_BLANK_LINES = lazy_pattern(r"\n(?:[ \t]*\n){2,}")
_FENCE = lazy_pattern(r"[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*(?:`{3,}|~{3,})[ \t]*([\w-]+)")
_INLINE_QUERY = lazy_pattern(r"`+\$?=[ \t]")
_OPTION = lazy_pattern(r"(title|collapse|icon|color):[ \t]*(.*)", re.IGNORECASE)
_QUERIES = name_set("dataview dataviewjs tasks query base button meta-bind chart tikz")
_TABLES_OF_CONTENTS = frozenset(("toc", "table-of-contents", "insta-toc"))


def rewrite_note(
    text: str, links: NoteLinks, *, title: str, blocks: Collection[str], notice: NoticeCallback
) -> str:
    """Convert a note to blogsmith's Markdown. title: the page's title; a heading that repeats it is removed.
    blocks: block ids that links in the vault use. notice: function that gets kind, message and removed
    text."""
    text = _code_and_brackets(rewrite(text, lambda prose: _EMPTY.sub("", prose), DIALECT, CODE), notice)
    masked = mask(text, DIALECT, TEX)

    def drop(found: re.Match[str]) -> str:
        notice("dropped", 'comments between "%%" are removed', masked.restore(found[0]).strip("%"))
        return ""

    prose = _COMMENT.sub(drop, masked.text)
    prose = _replace_matches(
        prose,
        _LINK,
        lambda found: links.markdown_link(found[1], found[2], masked.restore(found[3]), found[4] or ""),
    )
    prose = _replace_matches(prose, _EMBED, lambda found: links.embed(masked.restore(found[1])))
    prose = _WIKI.sub(lambda found: links.wiki_link(masked.restore(found[1])), prose)
    prose = _inline_notes(prose)
    prose = _BLOCK_ID.sub(lambda found: _anchor(found, blocks), prose)
    prose = _TAG.sub(lambda found: f"[#{found[1]}](/tags/{slugify(found[1])}/)", prose)
    prose = replace_blocks(_METADATA.sub(r"\1]", prose), _html)
    if repeated := repeated_title(prose, title):
        notice("dropped", "heading that repeats the title is removed", masked.restore(repeated))
        prose = prose.replace(repeated, "", 1)
    return masked.restore(_BLANK_LINES.sub("\n\n", literal_shortcodes(demote_headings(prose))))


def find_tags(text: str) -> list[str]:
    """Return the distinct tags in a text, without `#`, in order of their first use."""
    masked = mask(text, DIALECT, TEX)
    return list(dict.fromkeys(_TAG.findall(_COMMENT.sub("", masked.text))))


def _code_and_brackets(text: str, notice: NoticeCallback) -> str:
    parts = []
    for segment in divide(text, DIALECT):
        shown = segment.text
        if segment.kind == "prose":
            shown = literal_brackets(shown)
        elif segment.kind == "span" and _INLINE_QUERY.match(shown):
            notice("left", f"inline query is not computed: {shown}", "")
        elif segment.kind == "math":
            shown = _formula(shown)
        elif segment.kind == "block" and (found := _FENCE.match(shown)):
            shown = _block(shown, found[1].casefold(), notice)
        parts.append(shown)
    return "".join(parts)


def _formula(text: str) -> str:
    """Convert inline math of several rows to display math, because Obsidian's MathJax also shows its rows."""
    opener, tex = split_formula(text)
    return f"$${tex}$$" if opener == "$" and has_rows(tex) else text


def _block(code: str, language: str, notice: NoticeCallback) -> str:
    """Return a code block in blogsmith's Markdown. Blocks that a plugin of Obsidian would run are converted
    or reported."""
    if language in _TABLES_OF_CONTENTS:
        notice("dropped", "table of contents is generated automatically", code)
        return "\n"
    if language.startswith("ad-") and (box := _admonition(code, language[3:])):
        return box
    if language in _QUERIES:
        notice("left", f'unsupported code block "{language}"', "")
        # a drawing needs an alternative text, which the source does not have
        code = code.replace("tikz", "tikz eval=false", 1) if language == "tikz" else code
        return f"<!-- import: {language} -->\n\n{code}" if not code[:1].isspace() and code[0] != ">" else code
    return code


def _admonition(code: str, kind: str) -> str:
    """Convert a fence of the plugin Admonition to a callout. Return an empty string if the fence is
    indented."""
    lines = code.rstrip("\n").split("\n")
    if not lines[0].startswith(("`", "~")):
        return ""
    body = lines[1:-1] if lines[-1].strip() and not lines[-1].strip().strip(lines[0][0]) else lines[1:]
    options: dict[str, str] = {}
    while body and (found := _OPTION.fullmatch(body[0])):
        options[found[1].lower()] = found[2].strip()
        body = body[1:]
    fold = {"open": "+", "closed": "-", "true": "-"}.get(options.get("collapse", "").lower(), "")
    return "\n".join(["", *callout_lines(kind, options.get("title", ""), body, fold=fold), "", ""])


def _replace_matches(
    text: str, pattern: re.Pattern[str], replace: Callable[[re.Match[str]], Replacement | None]
) -> str:
    """Replace every match by the result of `replace`; None keeps the source. Blocks get blank lines around
    them; within a line of text, the inline form is used."""
    done, position = "", 0
    for found in pattern.finditer(text):
        done += text[position : found.start()]
        position = found.end()
        new = replace(found)
        if new is None:
            done += found[0]
            continue
        before = done[done.rfind("\n") + 1 :]
        after = text[position:].partition("\n")[0]
        is_alone = not re.sub(r"[ \t>]|[-*+][ \t]|\d+[.)][ \t]", "", before) and not after.strip()
        if new.is_block and not is_alone and new.inline:
            new = Replacement(new.inline)
        done = append_replacement(done, new, text[position:])
    return done + text[position:]


def _inline_notes(text: str) -> str:
    """Convert each `^[text]` to a footnote, whose text is added at the end."""
    notes: list[str] = []

    def substitute(found: re.Match[str]) -> str:
        notes.append(found[1])
        return f"[^inline-{len(notes)}]"

    text = _NOTE.sub(substitute, text)
    texts = "".join(f"\n\n[^inline-{number}]: {note}" for number, note in enumerate(notes, 1))
    return text.rstrip("\n") + texts + "\n" if notes else text


def _anchor(found: re.Match[str], blocks: Collection[str]) -> str:
    """Return an anchor for a block id; an empty string if no link uses the id."""
    if found[2].lower() not in blocks:
        return ""
    return f'{" " if found[1] else ""}<span id="{block_id(found[2])}"></span>'


def _html(element: Element, indent: str) -> str:
    """Convert an HTML block that is a video or an image to Markdown. Return other blocks unchanged."""
    if video := convert_video(element):
        return f"\n\n{video}\n\n"
    found = read_figure(element)
    return f"\n\n{found.markdown()}\n\n" if found and not found.link else element.source()


_DATES = ("date", "created", "created at", "creation date", "date created", "date_created", "createdat")
_UPDATES = ("updated", "modified", "last modified", "lastmod", "date modified", "date_modified", "updatedat")
KEYS = FrontKeys(
    name_set(
        "publish aliases alias tag tags title description banner cover image permalink lang author "
        "authors draft"
    ).union(_DATES, _UPDATES),
    name_set(
        "cssclass cssclasses position kanban-plugin excalidraw-plugin banner_x banner_y icon id "
        "obsidianuimode linter-yaml-title-alias"
    ),
)


def note_front(note: Note, tags: list[str]) -> dict[str, Any]:
    """Return the front matter of a note with blogsmith's keys in a fixed order. tags: tags in the text of the
    note."""
    front = note.front
    found: dict[str, Any] = {"title": note.title}
    if description := one_line(front.get("description")):
        found["description"] = description
    for key, names in (("date", _DATES), ("updated", _UPDATES)):
        if date := _date(front, names):
            found[key] = date
    if every := merge_tags(front, tags):
        found["tags"] = every
    if authors := [each.strip("[]") for each in read_strings(front.get("authors") or front.get("author"))]:
        found["authors"] = authors
    if lang := one_line(front.get("lang")):
        found["lang"] = lang
    if note.slug:
        found["slug"] = note.slug
    if str(front.get("publish")).casefold() == "false" or str(front.get("draft")).casefold() == "true":
        found["draft"] = True
    return found


def merge_tags(front: Mapping[str, Any], inline: list[str]) -> list[str]:
    """Return the distinct tags of the properties and of the text, ignoring case as Obsidian does. inline:
    tags in the text."""
    written = [
        name.strip("#, ")
        for value in (front.get("tags"), front.get("tag"))
        for each in read_strings(value)
        for name in (re.split(r"[,\s]+", each) if isinstance(value, str) else [each])
    ]
    every: dict[str, str] = {}
    for name in (*written, *inline):
        if name:
            every.setdefault(name.casefold(), name)
    return list(every.values())


def _date(front: Mapping[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        text = re.sub(r"(?<=\d)[ ]+(?=\d{1,2}:\d{2})", " ", one_line(front.get(name))).strip("[]")
        text = re.sub(r"(\.\d+)?(?=Z?$)", "", text, count=1)
        try:
            if text and parse_date(text):
                return text
        except ValueError:
            continue
    return ""


_BLOCK = lazy_pattern(r"#(?:\^|%5E)([A-Za-z0-9-]+)", re.IGNORECASE)
_QUOTED_SOURCE = lazy_pattern(r"\b(?:note|file|heading) not found: \"(.*?)\"(?= in |\Z)")


class NoteTranslator:
    """Translates the notes of one vault, using an index of all notes."""

    def __init__(self, vault: Vault, *, keeps_slugs: bool = True) -> None:
        self._index = NoteIndex(vault, keeps_slugs=keeps_slugs)
        self._blocks = frozenset(found.lower() for note in vault.notes for found in _BLOCK.findall(note.body))

    def translate(self, note: Note) -> ImportedPage:
        """Translate a note to a page."""
        source = note.path.as_posix()
        lines = LineFinder(note.body, note.first_line)
        notices: list[Notice] = list(note.notices)

        def add_notice(kind: NoticeKind, message: str, removed: str) -> None:
            place = _QUOTED_SOURCE.search(message)
            piece = place[1] if place else removed
            notices.append(Notice(kind, message, source, lines.find(_search_text(piece)), removed=removed))

        front = note_front(note, find_tags(note.body))
        links = NoteLinks(note, self._index, add_notice)
        text = rewrite_note(note.body, links, title=note.title, blocks=self._blocks, notice=add_notice)
        if image := self._image(note):
            front["image"] = image
        address = str(note.front.get("permalink") or "").strip("/ ")
        return ImportedPage(
            path=PurePosixPath("content") / note.content_path,
            front=front,
            text=text,
            source=source,
            original=note.body,
            first_line=note.first_line,
            address=f"/{address}/" if address else "",
            notices=tuple(notices),
        )

    def _image(self, note: Note) -> str:
        for key in ("image", "cover", "banner"):
            written: Any = note.front.get(key)
            if isinstance(written, str):
                name = re.sub(r"^!?\[\[([^\]|]*).*\]\]$", r"\1", written.strip())
                file = self._index.file(name, note.path)
                if file and file.suffix.lower() in IMAGE_SUFFIXES:
                    return NoteLinks(note, self._index, lambda *_: None).path_to(file)
        return ""


def _search_text(piece: str) -> str:
    """Return the text to search for in the source, to find the line of a fragment. It is the first line of
    the fragment without `]]`, because a message may omit the end of a link."""
    first = piece.strip().partition("\n")[0]
    return first.removesuffix("]]")
