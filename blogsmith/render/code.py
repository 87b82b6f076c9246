"""A code fence → its figure: highlighted by Pygments with classes, one span a line.

The text content of the result is the source, character for character. What cannot be highlighted
(unknown language, a line too long, a lexer too slow) is shown plain, and the caller is told why.
Colours, line numbers and marked lines are the theme's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from html import escape
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from ..base.diagnostics.model import nearest, question_of
from ..base.patterns import lazy_pattern
from ..model.names import name_set
from .lexing import Lex, Piece, TooSlow, Unfaithful, lex_in_time, lexer_class

_PLAIN = name_set("algorithm ascii csv log mermaid none plain plaintext pseudo pseudocode text tsv txt")
"""Names of what has no colours, in lower case."""

_ALIASES = MappingProxyType(
    {
        "cmd": "bat",
        "dotenv": "bash",
        "env": "bash",
        "ipython": "python",
        "jsonc": "json",
        "mdx": "markdown",
        "metal": "cpp",
        "patch": "diff",
        "svelte": "html",
        "svg": "xml",
        "triton": "python",
    }
)
"""Names in common use that Pygments lacks."""

_IN_BROWSER = frozenset({"pyodide", "pyodide-python"})
"""What extensions of Quarto call cells that readers run."""

_COLUMN, _NUMBER, _TAB = 66, 5, 4
"""Characters: in a column of text as wide as theme paper's, of a line's number, from tab to tab."""
_END = "</span>"
_SHORT, _MOST_PIECES = 32, 10_000
"""Characters of pieces of code whose HTML is kept, and how many of them."""
_NOT_IN_A_CLASS = lazy_pattern(r"[^\w+#.-]+")


class Highlighted(Struct, frozen=True):
    """Source code as HTML."""

    lines: tuple[str, ...]
    """HTML of each line without its newline, tags closed within the line; the texts joined by \\n
    are the source, so source that ends in a newline has an empty last line."""
    problem: str = ""
    """Why the code is plain, in the author's terms; empty if all is well."""
    meant: str = ""
    """The language that may be meant by one that is unknown; empty: nobody knows."""


def is_known_language(language: str) -> bool:
    """True if `language` can be highlighted or is plain on purpose."""
    return _is_plain(language) or _lexer_alias(language) is not None


def highlight(
    source: str, language: str, *, deadline_s: float, max_line: int, lex: Lex = lex_in_time
) -> Highlighted:
    """`source` with its tokens in `<span class="…">`, Pygments' short class names.

    deadline_s: seconds before the code is shown plain instead; max_line: longest line, in
    characters, that a lexer gets to see; lex: see `Tools`.
    """
    if _is_plain(language):
        return Highlighted(_plain(source))
    alias = _lexer_alias(language)
    if alias is None:
        return _unknown(language, source)
    problem = _long_line(source, max_line)
    if problem:
        return Highlighted(_plain(source), problem)
    try:
        return Highlighted(_lines(lex(source, alias, deadline_s)))
    except TooSlow:
        return Highlighted(_plain(source), f"highlighting takes longer than {deadline_s:g} s")
    except Unfaithful:
        return Highlighted(_plain(source), f'the highlighter for "{language}" changes the text')
    except Exception:  # a lexer is foreign code that may raise anything; the page is worth more
        return Highlighted(_plain(source), f'the highlighter for "{language}" fails on this code')


class LineMark(Struct, frozen=True):
    """A link at the end of a line, to a note about it."""

    text: str
    """What the style sheet sets: it is no part of the code."""
    target: str
    """Id of the note; empty if it has none, and the mark is no link."""
    id: str
    """Of the mark; empty for a further one of the same number."""
    label: str
    """How it is called, for those who hear it."""


class FigureOptions(Struct, frozen=True, kw_only=True):
    """How a code figure looks beside its highlighting."""

    title: str = ""
    first_line: int = 1
    """Number of the first line."""
    marked: frozenset[int] = frozenset()
    """Lines to mark, counted from 1 whatever `first_line` is."""
    added: frozenset[int] = frozenset()
    """Likewise, lines that are new."""
    removed: frozenset[int] = frozenset()
    """Likewise, lines that are gone: no part of what is copied."""
    marks: Mapping[int, Sequence[LineMark]] = MappingProxyType({})
    """Likewise: line → what stands at its end."""
    numbered: bool = False
    wide: bool = False
    """Whether lines are longer than a column of text; themes may let such code run into the margin."""
    fold: bool | str = False
    """Fold the code away under this label; True means `Show code`."""
    fold_open: bool = False
    """The fold starts open."""
    id: str = ""
    classes: Sequence[str] = ()
    """Besides the figure's own."""


def has_long_lines(source: str, *, numbered: bool) -> bool:
    """Whether a line of `source` is longer than a column of text."""
    limit = _COLUMN - (_NUMBER if numbered else 0)
    return max(map(len, source.expandtabs(_TAB).split("\n"))) > limit


def code_figure(lines: Sequence[str], language: str, options: FigureOptions) -> str:
    """The `<figure class="code">` of highlighted lines."""
    looks = {"numbered": options.numbered, "wide": options.wide}
    figure_class = " ".join(["code", *(look for look, has in looks.items() if has), *options.classes])
    # no theme's CSS can turn a data attribute into a counter's start in all browsers yet
    style = f"--first-line:{options.first_line}" if options.numbered and options.first_line != 1 else ""
    opening = _tag("figure", {"id": options.id, "class": figure_class, "data-lang": language, "style": style})
    code = _tag("code", {"class": f"language-{_class_name(language)}" if language else ""})
    figure = (
        f'{opening}{_header(language, options.title)}<pre class="highlight" tabindex="0">{code}'
        f"{_line_spans(lines, options)}</code></pre></figure>"
    )
    return _fold(figure, options.fold, options.fold_open)


def _tag(name: str, attributes: Mapping[str, str]) -> str:
    """An opening tag; empty attributes are left out."""
    shown = [f' {key}="{escape(value)}"' for key, value in attributes.items() if value]
    return f"<{name}{''.join(shown)}>"


def _header(language: str, title: str) -> str:
    parts = {"code-lang": language, "code-title": title}
    spans = [f'<span class="{name}">{escape(text)}</span>' for name, text in parts.items() if text]
    return f'<figcaption class="code-header">{" ".join(spans)}</figcaption>' if spans else ""


def _line_spans(lines: Sequence[str], options: FigureOptions) -> str:
    """One span a line with its newline inside, which keeps empty lines high when spans are blocks.

    Lines that are new or gone are `<ins>` and `<del>`, which those hear, too, who do not see colours.
    """
    if options.marked or options.added or options.removed or options.marks:
        return "".join(_marked_spans(lines, options))
    start, end = '<span class="line">', "</span>"
    html = f"\n{end}{start}".join(lines)
    # behind the last newline there is no line
    return f"{start}{html}{end}" if lines[-1] else f"{start}{html}".removesuffix(start)


def _marked_spans(lines: Sequence[str], options: FigureOptions) -> Iterator[str]:
    last = len(lines)
    for number, line in enumerate(lines, 1):
        newline = "" if number == last else "\n"
        if line or newline:
            marks = "".join(map(_mark, options.marks.get(number, ())))
            tag = "ins" if number in options.added else "del" if number in options.removed else "span"
            hl = " hl" if number in options.marked else ""
            yield f'<{tag} class="line{hl}">{line}{marks}{newline}</{tag}>'


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


def _is_plain(language: str) -> bool:
    return not language or language.lower() in _PLAIN


def _lexer_alias(language: str) -> str | None:
    """The name under which Pygments knows `language`, or None."""
    alias = _ALIASES.get(language.lower(), language.lower())
    return alias if lexer_class(alias) else None


@lru_cache(maxsize=128)
def _languages(initial: str) -> tuple[str, ...]:
    """Names of languages with this first letter: to compare with all thousand would take long."""
    from pygments.lexers import get_all_lexers

    known = {alias for _, aliases, _, _ in get_all_lexers(plugins=False) for alias in aliases}
    return tuple(sorted(name for name in known | _PLAIN | set(_ALIASES) if name.startswith(initial)))


def _unknown(language: str, source: str) -> Highlighted:
    near, is_in_browser = nearest(language, _languages(language[:1].lower())), language in _IN_BROWSER
    hint = "readers run ```python with #| run-in: browser" if is_in_browser else question_of(near)
    problem = f'unknown language "{language}"' + (f" ({hint})" if hint else "")
    return Highlighted(_plain(source), problem, "" if is_in_browser else near or "")


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
    """Pieces as lines of HTML: neighbours of one class share a span, and none goes on in the next line."""
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
            text, goes_on = _break_lines(escaped[source], css, is_open=goes_on)
            append(text + _END if goes_on else text)
        elif goes_on:
            append(escaped[source] + _END)
        elif source:
            append(spans[piece])
            goes_on = True
    return tuple("".join(html).split("\n"))


class _Kept(dict[Any, str]):
    """Pieces of code → their HTML: blanks, brackets and names come again and again."""

    def keep(self, key: str | Piece, source: str, html: str) -> str:
        """The HTML; it is kept while it is short and there are few."""
        if len(source) <= _SHORT:
            if len(self) >= _MOST_PIECES:
                self.clear()
            self[key] = html
        return html


class _Escaped(_Kept):
    """A text → its HTML."""

    def __missing__(self, text: str) -> str:
        return self.keep(text, text, text if text.isalnum() else _text(text))


class _Spans(_Kept):
    """A piece with a class, on one line → its span."""

    def __missing__(self, piece: Piece) -> str:
        css, text = piece
        return self.keep(piece, text, f'<span class="{css}">{_escaped()[text]}{_END}')


@cache
def _escaped() -> _Escaped:
    """One for all pages, as they are written in the same words; the next one likewise."""
    return _Escaped()


@cache
def _spans() -> _Spans:
    return _Spans()


def _break_lines(text: str, css: str, *, is_open: bool) -> tuple[str, bool]:
    """HTML of more than one line, closed and opened again where a line ends; whether a span is left open.

    is_open: whether the text begins in a span. Empty lines get none.
    """
    first, *others = text.split("\n")
    opening = f'<span class="{css}">'
    start = first if is_open or not first else opening + first
    end = "</span>" if is_open or first else ""
    middle = [f"{opening}{line}</span>" if line else "" for line in others[:-1]]
    last = opening + others[-1] if others[-1] else ""
    return "\n".join([start + end, *middle, last]), bool(others[-1])


def _text(text: str) -> str:
    # an HTML parser would read a bare CR as a newline
    return escape(text, quote=False).replace("\r", "&#13;")


def _class_name(language: str) -> str:
    return _NOT_IN_A_CLASS.sub("-", language)
