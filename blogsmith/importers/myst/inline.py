"""What stands in lines: roles, links, substitutions and formulas, once all pages and labels are known."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from ...patterns import lazy_pattern
from ..model import Notice, NoticeKind
from ..text.math import inline, split_formula
from ..text.segments import Dialect, Lines, Segment, divide, rewrite
from .labels import Label, LabelTable, PagePlace, PageTable, normal_path

DIALECT = Dialect(blank_dollar=True, brackets=False)
_ROLE = lazy_pattern(r"(?<!\\)\{([A-Za-z][\w:.+-]*)\}\Z")
_BEFORE_DIGIT = lazy_pattern(r"(?<![\\$])\$((?:\\.|[^$\\\n])+)\$(?=\d)")
"""A formula of MyST that would be money here."""
_SUBSTITUTION = lazy_pattern(r"\{\{\s*([^{}\n]+?)\s*\}\}")
_LINK = lazy_pattern(
    r"(!?\[(?P<empty>\])?|\])\(<?(?P<to>[^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?P<rest>\s+\"[^\"]*\")?\)"
)
_MENTION = lazy_pattern(r"(?P<open>\[)?(?<![\w@\\])@(?P<key>[A-Za-z][\w:.-]*\w)(?P<close>\])?")
_EXTERNAL = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


@dataclass(frozen=True, slots=True)
class BookIndex:
    """All that references in a book can lead to."""

    labels: LabelTable
    pages: PageTable
    substitutions: Mapping[str, str] = field(default_factory=dict)
    entries: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Key → fields of the bibliography."""
    inventories: Mapping[str, str] = field(default_factory=dict)
    """Name of another project → its address, of intersphinx."""
    slugs: Mapping[str, int] = field(default_factory=dict)
    """Last part of an address → how many pages have it."""
    folder: PurePosixPath = field(default_factory=PurePosixPath)
    """Of the book in its repository."""
    files: frozenset[str] = frozenset()
    """Files that are copied, relative to the root of the source."""


@dataclass(slots=True)
class InlineText:
    """The text of one page while its lines are translated."""

    place: PagePlace
    index: BookIndex
    lines: Lines
    notices: list[Notice] = field(default_factory=list)
    cited: dict[str, None] = field(default_factory=dict)
    """Keys in the order of their first citation."""

    def notice(self, kind: NoticeKind, message: str, piece: str, hint: str = "") -> None:
        """Remember a notice about a piece of the page."""
        self.notices.append(Notice(kind, message, self.place.source, self.lines.find(piece), hint))

    def relative(self, path: PurePosixPath) -> str:
        """The path of another file of the new site, as this page writes it."""
        return posixpath.relpath(path, self.place.path.parent)


def rewrite_inline(text: str, page: InlineText) -> str:
    """A page whose blocks are translated, with all its lines translated too."""
    from .roles import translate_role

    text = rewrite(
        text, lambda part: _SUBSTITUTION.sub(lambda found: _substitute(found, page), part), DIALECT
    )
    parts: list[str] = []
    for segment in divide(text, DIALECT):
        if segment.kind == "math":
            parts.append(_formula(segment, text))
        elif segment.kind == "span" and parts and (role := _ROLE.search(parts[-1])):
            parts[-1] = parts[-1][: role.start()]
            content = segment.text.strip("`")
            parts.append(translate_role(role[1], content, page))
        elif segment.kind == "prose":
            parts.append(_BEFORE_DIGIT.sub(r"\\(\1\\)", segment.text))
        else:
            parts.append(segment.text)
    return rewrite("".join(parts), lambda part: _references(part, page), DIALECT)


def _substitute(found: re.Match[str], page: InlineText) -> str:
    value = page.index.substitutions.get(found[1])
    if value is None:
        page.notice("left", f"{found[0]} has no value that is known here", found[0])
        return found[0]
    return value


def _formula(segment: Segment, text: str) -> str:
    opener, tex = split_formula(segment.text)
    if opener != "$" or not tex.strip():
        return segment.text
    return inline(tex, text[segment.start + len(segment.text) :][:1])


def _references(text: str, page: InlineText) -> str:
    text = _LINK.sub(lambda found: _link(found, page), text)
    return _MENTION.sub(lambda found: _mention(found, page), text)


def _mention(found: re.Match[str], page: InlineText) -> str:
    """`@key` and `[@key]` of mystmd: a citation, or a reference."""
    key = found["key"]
    if key in page.index.entries:
        page.cited.setdefault(key)
        return found[0]
    label = page.index.labels.find(key)
    if label is None or label.id == key or label.id.replace(":", "-") == key:
        return found[0]
    is_bracketed = found["open"] and found["close"]
    shown = refer(label, "", page)
    return shown if is_bracketed else f"{found['open'] or ''}{shown}{found['close'] or ''}"


def _link(found: re.Match[str], page: InlineText) -> str:
    target, is_image = found["to"], found[1].startswith("!")
    is_empty = found["empty"] is not None and not is_image
    if not target or (_EXTERNAL.match(target) and not target.startswith(("project:", "doc:", "myst:"))):
        return found[0] if not is_empty or not target else f"<{target}>"
    path, _, anchor = target.partition("#")
    place = page.index.pages.find(path, page.place.source) if path and not is_image else None
    label = page.index.labels.find(anchor or path) if not is_image and (anchor or not place) else None
    if label and not (place and place.source != label.source):
        return refer(label, "", page) if is_empty else f"]({address_of(label, page)}{found['rest'] or ''})"
    if place:
        to = page.relative(place.path) + (f"#{anchor}" if anchor else "")
        return f"[{place.title}]({to})" if is_empty else f"{found[1]}({to}{found['rest'] or ''})"
    return f"{found[1]}({file_address(target, page)}{found['rest'] or ''})"


def file_address(target: str, page: InlineText) -> str:
    """The address of a file, from where the page stands now."""
    path, mark, anchor = target.partition("#")
    if not path:
        return target
    folder = PurePosixPath() if path.startswith("/") else PurePosixPath(page.place.source).parent
    source = normal_path(folder / path.lstrip("/"))
    if source not in page.index.files:
        return target
    return (
        page.relative(PurePosixPath("content") / PurePosixPath(source).relative_to(page.index.folder))
        + mark
        + anchor
    )


def address_of(label: Label, page: InlineText) -> str:
    """The address of what a label stands at, as this page writes it."""
    anchor = f"#{label.id.replace(':', '-', 1)}" if label.id else ""
    if label.source == page.place.source and anchor:
        return anchor
    place = page.index.pages.by_source.get(label.source)
    return (page.relative(place.path) if place else "") + anchor


def refer(label: Label, text: str, page: InlineText) -> str:
    """A reference to a label; without a text it prints a number or a title."""
    if text:
        return f"[{text}]({address_of(label, page)})"
    place = page.index.pages.by_source.get(label.source)
    if label.kind == "page":
        return f"[{place.title if place else label.title}]({address_of(label, page)})"
    slug = ""
    if label.source != page.place.source:
        slug = place.slug if place else ""
        if not slug or page.index.slugs.get(slug, 0) != 1:
            return f"[{_words(label)}]({address_of(label, page)})"
        slug += "#"
    if label.kind in ("anchor", "term"):
        return f"[{_words(label)}]({address_of(label, page)})"
    return rf"\eqref{{{slug}{label.id}}}" if label.kind == "eq" else f"{{@{slug}{label.id}}}"


def _words(label: Label) -> str:
    return label.title or label.id.partition("-")[2].replace("-", " ") or label.id
