r"""Links, classes and ids; labels, tags and references; intents and their arguments as in luamml."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from types import MappingProxyType

from ...base.patterns import lazy_pattern
from ..analysis.linear import linear_text
from ..errors import TAG_TWICE
from ..mathml.allowlist import is_safe_url
from ..mathml.atoms import ORD, Atom, add_argument, add_intent, group_fragments, join_fragments
from ..parse.errors import ParseError
from ..parse.parser import Command, Parser
from ..parse.scan import text_of
from ..parse.state import TEXT

_INTENT = lazy_pattern(r"(?:[\w-]+)?(?::[\w-]+)*(?:\([\w$(),:-]*\))?")


def _intent(parser: Parser, command: str) -> Atom:
    intent = "".join(parser.name_argument()).replace(" ", "")
    if not intent or not _INTENT.fullmatch(intent):
        hint = "write a name with arguments, such as `norm($x)`"
        raise parser.syntax_error(f'invalid intent "{intent}" of "{command}"', hint=hint)
    return ORD, add_intent(group_fragments(parser.parse_group(parser.argument())), intent)


def _argument(parser: Parser, command: str) -> Atom:
    name = "".join(parser.name_argument()).strip()
    if not name.isidentifier() or not name.isascii():
        raise parser.syntax_error(f'invalid argument name "{name}" of "{command}"', hint="write a letter")
    return ORD, add_argument(group_fragments(parser.parse_group(parser.argument())), name)


_ESCAPED = lazy_pattern(r"\\([%#&_~^{}$\\])")
_CLASS = lazy_pattern(r"[A-Za-z_][\w-]*(?: +[A-Za-z_][\w-]*)*")
_ID = lazy_pattern(r"[A-Za-z][\w:.-]*")


def _url(parser: Parser, command: str) -> str:
    """Read the URL in braces. ParseError if a page may not link to it."""
    _check_place(parser, command)
    source = parser.name_argument()
    url = _ESCAPED.sub(r"\1", "".join(source)).strip()
    if not is_safe_url(url):
        place = next((token for token in source if token != " "), command)
        end = next((token for token in reversed(source) if token != " "), command)
        hint = "write an `http`, `https` or `mailto` URL, a path, or `#id`"
        raise ParseError("math-syntax", f'invalid URL "{url}" in "{command}"', place, end=end, hint=hint)
    return url


def _check_place(parser: Parser, command: str) -> None:
    if parser.in_link:
        raise parser.syntax_error(f'"{command}" is not allowed inside a link', hint="write it after the link")


def _href(parser: Parser, command: str) -> Atom:
    url = _url(parser, command)
    parser.in_link = True
    # browsers follow HTML links only: Chromium ignores `href` on MathML elements
    source = parser.argument()
    inner = "".join(parser.parse_group(source, max(TEXT, parser.style)))
    said = escape(linear_text(text_of(source)) or url)
    parser.in_link = False
    return ORD, f'<mtext><a href="{escape(url)}" aria-label="{said}"><math>{inner}</math></a></mtext>'


def _show_url(parser: Parser, command: str) -> Atom:
    url = _url(parser, command)
    address, shown = escape(url), escape(url, quote=False)
    return ORD, f'<mtext><a href="{address}" aria-label="{address}"><code>{shown}</code></a></mtext>'


def _class(parser: Parser, command: str) -> Atom:
    source = parser.name_argument()
    name = "".join(source).strip()
    if not _CLASS.fullmatch(name):
        raise parser.syntax_error(f'invalid class name "{name}"', hint="use letters, digits, `-` and `_`")
    return ORD, f'<mrow class="{name}">{"".join(parser.parse_group(parser.argument()))}</mrow>'


def _id(parser: Parser, command: str) -> Atom:
    name = "".join(parser.name_argument()).strip()
    if not _ID.fullmatch(name):
        raise parser.syntax_error(f'invalid id "{name}"', hint="use letters, digits, `-`, `_`, `:` and `.`")
    return ORD, f'<mrow id="{name}">{"".join(parser.parse_group(parser.argument()))}</mrow>'


def _data(parser: Parser, command: str) -> Atom:
    r"""Typeset KaTeX's `\htmlData` and `\htmlStyle`: only the formula, as pages may not contain the
    attributes."""
    parser.argument()
    return ORD, join_fragments(parser.parse_group(parser.argument()))


def _reference(parser: Parser, command: str) -> Atom:
    """Typeset a reference as a placeholder, because only the page knows the number and the kind of its
    target."""
    _check_place(parser, command)
    target = "".join(parser.argument()).strip()
    if not target:
        raise parser.syntax_error(f'missing label in "{command}"', hint=f"write `{command}{{eq:name}}`")
    shown = {"\\ref": "??", "\\eqref": "(??)"}.get(command, "???")
    return ORD, f'<mtext><a href="#{escape(target)}">{shown}</a></mtext>'


def _label(parser: Parser, command: str) -> None:
    parser.argument()


def _tag(parser: Parser, command: str) -> None:
    starred = parser.star()
    if parser.has_tag and not parser.environment:
        raise parser.syntax_error(f'duplicate "{command}"', hint=TAG_TWICE)
    parser.has_tag = True
    source = parser.argument()
    del starred, source


COMMANDS: Mapping[str, Command] = MappingProxyType(
    {
        "\\href": _href,
        "\\url": _show_url,
        "\\class": _class,
        "\\htmlClass": _class,
        "\\htmlId": _id,
        "\\cssId": _id,
        "\\htmlData": _data,
        "\\htmlStyle": _data,
        "\\ref": _reference,
        "\\eqref": _reference,
        **dict.fromkeys(("\\cref", "\\Cref", "\\autoref"), _reference),
        "\\label": _label,
        "\\tag": _tag,
        "\\MathMLintent": _intent,
        "\\MathMLarg": _argument,
    }
)
