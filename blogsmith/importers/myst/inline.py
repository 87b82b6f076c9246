"""What stands in lines: roles, links, substitutions and formulas, once all pages and labels are known."""

from __future__ import annotations

import re

from ...base.patterns import lazy_pattern
from ..text.literals import literal_highlights, literal_shortcodes, literal_wikilinks
from ..text.math import inline, split_formula
from ..text.segments import Dialect, Segment, divide, rewrite
from .attributes import rewrite_attributes
from .references import InlineText, address_of, file_address, refer
from .roles import translate_role
from .schemes import BARE, own_target, scheme_link

DIALECT = Dialect(blank_dollar=True, brackets=False)
_ROLE = lazy_pattern(r"(?<!\\)\{([A-Za-z][\w:.+-]*)\}\Z")
_LEFT_OVER = lazy_pattern(r"(?<![\\$])\$((?:\\.|[^$\\\n])+)\$(?!\$)")
"""A formula of MyST that would be money here: `$5$0`, `$ 5\\% $`."""
_ESCAPED = lazy_pattern(r"(?<!\\)((?:\\\\)*)\\([(\[\])])")
"""A bracket behind a backslash, which would begin or end a formula here."""
_SUBSTITUTION = lazy_pattern(r"\{\{\s*([^{}\n]+?)\s*\}\}")
_LINK = lazy_pattern(
    r"(!?\[(?P<empty>\])?|\])\(<?(?P<to>[^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?P<rest>\s+\"[^\"]*\")?\)"
)
_MENTION = lazy_pattern(r"(?P<open>\[)?(?<![\w@\\{])@(?P<key>[A-Za-z][\w:.-]*\w)(?P<close>\])?")
_EXTERNAL = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


def rewrite_inline(text: str, page: InlineText) -> str:
    """A page whose blocks are translated, with all its lines translated too."""
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
            prose = literal_shortcodes(literal_wikilinks(literal_highlights(segment.text)))
            parts.append(_ESCAPED.sub(_bracket, _LEFT_OVER.sub(_left_over, prose)))
        else:
            parts.append(segment.text)
    return rewrite("".join(parts), lambda part: _references(part, page), DIALECT)


def _substitute(found: re.Match[str], page: InlineText) -> str:
    value = page.substitutions.get(found[1])
    if value is None:
        page.notice("left", f"{found[0]} has no value that is known here", found[0])
        return found[0]
    return value


def _bracket(found: re.Match[str]) -> str:
    return f"{found[1]}&#{ord(found[2])};"


def _left_over(found: re.Match[str]) -> str:
    return inline(found[1], found.string[found.end() : found.end() + 1]) or found[0]


def _formula(segment: Segment, text: str) -> str:
    opener, tex = split_formula(segment.text)
    if opener != "$" or not tex.strip():
        return segment.text
    return inline(tex, text[segment.start + len(segment.text) :][:1])


def _references(text: str, page: InlineText) -> str:
    text = _LINK.sub(lambda found: _link(found, page), BARE.sub(r"[](\1)", text))
    text = rewrite_attributes(text, lambda item: page.notice("dropped", f"the attribute {item}", item))
    return _MENTION.sub(lambda found: _mention(found, page), text)


def _mention(found: re.Match[str], page: InlineText) -> str:
    """`@key` and `[@key]` of mystmd: a citation, or a reference."""
    key = found["key"]
    if key in page.index.entries:
        page.cited.setdefault(key)
        return found[0]
    label = page.index.labels.find(key)
    is_bracketed = found["open"] and found["close"]
    if label is None or (not is_bracketed and key in (label.id, label.id.replace(":", "-"))):
        return found[0]
    shown = refer(label, "", page)
    return shown if is_bracketed else f"{found['open'] or ''}{shown}{found['close'] or ''}"


def _link(found: re.Match[str], page: InlineText) -> str:
    target, is_image = own_target(found["to"]), found[1].startswith("!")
    is_empty = found["empty"] is not None and not is_image
    if link := scheme_link(target, page):
        shown = f"[{link.text}]" if is_empty else found[1]
        return f"{shown}(<{link.address}>)" if link.address else link.text if is_empty else shown
    if not target or (_EXTERNAL.match(target) and (is_image or not page.index.labels.find(target))):
        return f"<{target}>" if is_empty and target else found[0]
    path, _, anchor = target.partition("#")
    place = page.index.pages.find(path, page.place.source) if path and not is_image else None
    label = page.index.labels.find(anchor or path) if not is_image and (anchor or not place) else None
    if label and not (place and place.source != label.source):
        return refer(label, "", page) if is_empty else f"]({address_of(label, page)}{found['rest'] or ''})"
    if place:
        to = page.relative(place.path) + (f"#{anchor}" if anchor else "")
        return f"[{place.title}]({to})" if is_empty else f"{found[1]}({to}{found['rest'] or ''})"
    return f"{found[1]}({file_address(target, page)}{found['rest'] or ''})"
