"""Rendering of a code fence as a figure: highlighted by Pygments with CSS classes, one span per line.

The text of the result equals the source, character for character. Code that cannot be highlighted (unknown
language, a line too long, a lexer too slow) is shown plain, with the reason for a warning. The theme's
stylesheet sets colours, line numbers and highlighted lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from html import escape
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from ..base.diagnostics.model import confirm_typo, format_suggestion, nearest
from ..base.patterns import lazy_pattern
from ..model.names import name_set
from ..syntax.code_languages import LEXER_NAMES, find_lexer_name
from .lexing import Lex, LexerError, LexTimeout, Piece, lex_in_time

_PLAIN = name_set("algorithm ascii csv log mermaid none plain plaintext pseudo pseudocode text tsv txt")
"""Languages without highlighting, in lower case."""

_IN_BROWSER = frozenset({"pyodide", "pyodide-python"})
"""Languages of runnable cells in extensions of Quarto."""

_COLUMN, _PHONE, _NUMBER, _TAB = 66, 36, 5, 4
"""Widths in characters: text column of the paper theme, line on a phone, line number, tab."""
_MAX_INDENT = 16
"""Maximum indentation of the continuation of a wrapped line, in columns. A phone has room for little more."""
_END = "</span>"
_SHORT, _MOST_PIECES = 32, 10_000
"""Maximum length in characters of a cached piece of code, and maximum number of cached pieces."""
_NOT_IN_A_CLASS = lazy_pattern(r"[^\w+#.-]+")


class Highlighted(Struct, frozen=True):
    """Source code as HTML."""

    lines: tuple[str, ...]
    r"""HTML of each line without its newline; each tag is closed on its own line. The text of the lines,
    joined with `\n`, is the source. If the source ends in a newline, the last line is empty."""
    problem: str = ""
    """Reason why the code is plain, for the author; empty if it is highlighted."""
    suggestion: str = ""
    """Suggestion for an unknown language; empty if there is none."""


def is_known_language(language: str) -> bool:
    """Return whether `language` can be highlighted or is plain on purpose."""
    return is_plain_language(language) or find_lexer_name(language) is not None


def highlight(
    source: str, language: str, *, deadline_s: float, max_line: int, lex: Lex = lex_in_time
) -> Highlighted:
    """Return `source` with its tokens in `<span class="…">`, using Pygments' short class names. deadline_s:
    time limit in seconds, after which the code is shown plain. max_line: length in characters; code with a
    longer line is shown plain. lex: see `SiteAccess.lex_code`."""
    if is_plain_language(language):
        return Highlighted(_plain(source))
    alias = find_lexer_name(language)
    if alias is None:
        return _unknown(language, source)
    problem = _long_line(source, max_line)
    if problem:
        return Highlighted(_plain(source), problem)
    try:
        return Highlighted(_lines(lex(source, alias, deadline_s)))
    except LexTimeout:
        return Highlighted(_plain(source), f"highlighting takes longer than {deadline_s:g} s")
    except LexerError:
        return Highlighted(_plain(source), f'highlighter for "{language}" changes the code')
    except Exception:  # a lexer may raise any error, which must not prevent the page
        return Highlighted(_plain(source), f'highlighter for "{language}" fails on this code')


class LineMark(Struct, frozen=True):
    """A link at the end of a line of code to a note about the line."""

    text: str
    """Number that the stylesheet prints; it is not part of the code."""
    target: str
    """Id of the note; empty if the author wrote no note for the number. Then the marker is not a link."""
    id: str
    """Id of the marker; empty if an earlier marker of the fence has the same number, because the note links
    back to that one."""
    label: str
    """Accessible name of the link."""


class FigureOptions(Struct, frozen=True, kw_only=True):
    """Appearance of a code figure, apart from its highlighting."""

    title: str = ""
    first_line: int = 1
    """Number of the first line."""
    highlighted: frozenset[int] = frozenset()
    """Lines to highlight, counted from 1 regardless of `first_line`."""
    added: frozenset[int] = frozenset()
    """Added lines, counted from 1."""
    removed: frozenset[int] = frozenset()
    """Removed lines, counted from 1; they are not copied."""
    marks: Mapping[int, Sequence[LineMark]] = MappingProxyType({})
    """Line, counted from 1 → markers at its end."""
    numbered: bool = False
    wide: bool = False
    """Whether a line is longer than the text column; themes may extend the code into the margin."""
    scrolls: bool = False
    """Whether lines that do not fit a phone scroll there; otherwise they wrap."""
    indents: Mapping[int, int] = MappingProxyType({})
    """Number of a line that wraps on a phone, counted from 1 → indentation in columns of its continuation, an
    even number. Lines without indentation are left out."""
    fold: bool | str = False
    """Fold the code under this label; True means `Show code`."""
    fold_open: bool = False
    """Whether the fold starts open."""
    id: str = ""
    classes: Sequence[str] = ()
    """Additional classes of the figure."""


def has_long_lines(source: str, *, numbered: bool) -> bool:
    """Return whether a line of `source` is longer than the text column. numbered: whether line numbers take
    some of the space."""
    limit = _COLUMN - (_NUMBER if numbered else 0)
    return max(map(len, source.expandtabs(_TAB).split("\n"))) > limit


def wrapped_indents(source: str) -> Mapping[int, int] | None:
    """Return the `indents` of `FigureOptions` for `source`, or None if all lines fit a phone."""
    lines = source.expandtabs(_TAB).split("\n")
    if max(map(len, lines)) <= _PHONE:
        return None
    found = {
        number: min(len(line) - len(line.lstrip(" ")), _MAX_INDENT) // 2 * 2
        for number, line in enumerate(lines, 1)
        if len(line) > _PHONE
    }
    return {number: indent for number, indent in found.items() if indent}


def code_figure(lines: Sequence[str], language: str, options: FigureOptions) -> str:
    """Return the `<figure class="code">` of highlighted lines."""
    looks = {"numbered": options.numbered, "wide": options.wide, "nowrap": options.scrolls}
    figure_class = " ".join(["code", *(look for look, has in looks.items() if has), *options.classes])
    # browsers do not all support a data attribute as the start value of a CSS counter
    style = f"--first-line:{options.first_line}" if options.numbered and options.first_line != 1 else ""
    looks_and_name = {"class": figure_class, "data-lang": language, "style": style}
    name = options.title or language
    opening = _tag("figure", {"id": options.id, **looks_and_name, "aria-label": name})
    code = _tag("code", {"class": f"language-{_class_name(language)}" if language else ""})
    figure = (
        f'{opening}{_header(language, options.title)}<pre class="highlight" tabindex="0">{code}'
        f"{_line_spans(lines, options)}</code></pre></figure>"
    )
    return _fold(figure, options.fold, options.fold_open)


def _tag(name: str, attributes: Mapping[str, str]) -> str:
    """Return a start tag. Attributes with an empty value are left out."""
    shown = [f' {key}="{escape(value)}"' for key, value in attributes.items() if value]
    return f"<{name}{''.join(shown)}>"


def _header(language: str, title: str) -> str:
    parts = {"code-lang": language, "code-title": title}
    spans = [f'<span class="{name}">{escape(text)}</span>' for name, text in parts.items() if text]
    return f'<figcaption class="code-header">{" ".join(spans)}</figcaption>' if spans else ""


def _line_spans(lines: Sequence[str], options: FigureOptions) -> str:
    """Return one span per line that includes the newline, so that empty lines keep their height.

    Added and removed lines are `<ins>` and `<del>`, so that screen readers announce them.
    """
    if options.highlighted or options.added or options.removed or options.marks or options.indents:
        return "".join(_marked_spans(lines, options))
    start, end = '<span class="line">', "</span>"
    html = f"\n{end}{start}".join(lines)
    # There is no line after the last newline.
    return f"{start}{html}{end}" if lines[-1] else f"{start}{html}".removesuffix(start)


def _marked_spans(lines: Sequence[str], options: FigureOptions) -> Iterator[str]:
    last = len(lines)
    for number, line in enumerate(lines, 1):
        newline = "" if number == last else "\n"
        if line or newline:
            marks = "".join(map(_mark, options.marks.get(number, ())))
            tag = "ins" if number in options.added else "del" if number in options.removed else "span"
            hl = " hl" if number in options.highlighted else ""
            indent = f" in{options.indents[number]}" if number in options.indents else ""
            yield f'<{tag} class="line{hl}{indent}">{line}{marks}{newline}</{tag}>'


def _mark(mark: LineMark) -> str:
    address = f"#{mark.target}" if mark.target else ""
    link = {"class": "xref code-mark", "href": address, "id": mark.id, "data-mark": mark.text}
    return f"{_tag('a', {**link, 'aria-label': mark.label})}</a>"


def _fold(figure: str, fold: bool | str, is_open: bool) -> str:
    if not fold:
        return figure
    label = fold if isinstance(fold, str) else "Show code"
    opened = " open" if is_open else ""
    return f'<details class="collapsible"{opened}><summary>{escape(label)}</summary>{figure}</details>'


def is_plain_language(language: str) -> bool:
    """Return whether code in `language` is shown without colours on purpose."""
    return not language or language.lower() in _PLAIN


@lru_cache(maxsize=128)
def _languages(initial: str) -> tuple[str, ...]:
    """Return the languages that start with this letter. Comparing a name with all thousand languages is
    slow."""
    from pygments.lexers import get_all_lexers

    known = {alias for _, aliases, _, _ in get_all_lexers(plugins=False) for alias in aliases}
    return tuple(sorted(name for name in known | _PLAIN | set(LEXER_NAMES) if name.startswith(initial)))


def _unknown(language: str, source: str) -> Highlighted:
    near, is_in_browser = nearest(language, _languages(language[:1].lower())), language in _IN_BROWSER
    hint = "write `#| run-in: browser` in a `python` fence" if is_in_browser else format_suggestion(near)
    problem = f'unknown language "{language}"' + (f" ({hint})" if hint else "")
    return Highlighted(_plain(source), problem, "" if is_in_browser else confirm_typo(language, near) or "")


def _long_line(source: str, max_line: int) -> str:
    lines = source.split("\n")
    if max(map(len, lines)) <= max_line:
        return ""
    for number, line in enumerate(lines, 1):
        if len(line) > max_line:
            return f"line {number} of the code is longer than {max_line} characters"
    return ""


def _plain(source: str) -> tuple[str, ...]:
    return tuple(_text(line) for line in source.split("\n"))


def _lines(pieces: Iterable[Piece]) -> tuple[str, ...]:
    """Return the pieces as lines of HTML. Adjacent pieces of one class share a span, and each span ends on
    its line."""
    html: list[str] = []
    append, spans, escaped = html.append, _spans(), _escaped()
    last, goes_on = "", False
    for piece in pieces:
        css, source = piece
        if css != last:
            last, goes_on = css, False
        if not css:
            append(escaped[source])
            continue
        if goes_on:
            html[-1] = html[-1].removesuffix(_END)
        if "\n" in source:
            text, goes_on = _split_span(escaped[source], css, is_open=goes_on)
            append(text + _END if goes_on else text)
        elif goes_on:
            append(escaped[source] + _END)
        elif source:
            append(spans[piece])
            goes_on = True
    return tuple("".join(html).split("\n"))


class _HtmlCache(dict[Any, str]):
    """A cache of HTML for short pieces of code, because spaces, brackets and names repeat."""

    def keep(self, key: str | Piece, source: str, html: str) -> str:
        """Return the HTML, and cache it if it is short. A full cache is cleared."""
        if len(source) <= _SHORT:
            if len(self) >= _MOST_PIECES:
                self.clear()
            self[key] = html
        return html


class _Escaped(_HtmlCache):
    """Cache of escaped HTML, by text."""

    def __missing__(self, text: str) -> str:
        return self.keep(text, text, text if text.isalnum() else _text(text))


class _Spans(_HtmlCache):
    """Cache of `<span>` elements, by piece. A piece has a class and no line end."""

    def __missing__(self, piece: Piece) -> str:
        css, text = piece
        return self.keep(piece, text, f'<span class="{css}">{_escaped()[text]}{_END}')


@cache
def _escaped() -> _Escaped:
    """Return the cache of escaped text that all pages share."""
    return _Escaped()


@cache
def _spans() -> _Spans:
    return _Spans()


def _split_span(text: str, css: str, *, is_open: bool) -> tuple[str, bool]:
    """Return the HTML of text with line ends, and whether a span is open after it. Spans are closed at each
    line end. is_open: whether the text begins inside a span. Empty lines get no span."""
    first, *others = text.split("\n")
    opening = f'<span class="{css}">'
    start = first if is_open or not first else opening + first
    end = "</span>" if is_open or first else ""
    middle = [f"{opening}{line}</span>" if line else "" for line in others[:-1]]
    last = opening + others[-1] if others[-1] else ""
    return "\n".join([start + end, *middle, last]), bool(others[-1])


def _text(text: str) -> str:
    # a parser of HTML would read a single CR as a newline
    return escape(text, quote=False).replace("\r", "&#13;")


def _class_name(language: str) -> str:
    return _NOT_IN_A_CLASS.sub("-", language)
