"""Languages of code: their Pygments lexers, and the delimiters of their comments.

Lexers show which delimiters begin a comment, so markers in comments work in every language that has a lexer.
Each delimiter is tried on a short sample, once per process.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..model.cells import DRAWINGS
from .cells.languages import option_syntax

if TYPE_CHECKING:
    from pygments.lexer import Lexer
    from pygments.token import _TokenType

LEXER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(DRAWINGS, "tex"),
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
"""Common name of a language → its name in Pygments, where they differ."""
HANGING_LEXERS = frozenset({"TNTLexer", "MCSchemaLexer"})
"""Lexers that may hang on a short text."""
Delimiters = tuple[str, str]
"""Start and end of a comment; the end is empty for comments that extend to the end of the line."""
_LINE_COMMENTS = ("//", "#", "--", "%", ";", ";;", "!", "\\", "'", '"', "REM", "NB.", "⍝")
_BLOCK_COMMENTS = (
    *(("/*", "*/"), ("<!--", "-->"), ("(*", "*)"), ("{-", "-}"), ("/-", "-/"), ("#=", "=#")),
    *(("{#", "#}"), ("{{!", "}}"), ("<%--", "--%>"), ("%{", "%}")),
)
DELIMITERS: tuple[Delimiters, ...] = (*((sign, "") for sign in _LINE_COMMENTS), *_BLOCK_COMMENTS)
"""Delimiters of comments in any language."""
_QUOTING_LANGUAGES = frozenset(("markdown", "md", "mdx", "rst", "diff", "patch"))
"""Languages whose code quotes other code. Markers there belong to the quoted code and stay."""
_MARKUP_LANGUAGES = frozenset(("html", "xml", "svg"))
"""Languages in which no comment extends to the end of the line."""
_EMBEDDING_LANGUAGES = frozenset(("html", "vue", "svelte"))
"""Languages that contain scripts and styles."""


def find_lexer_name(language: str) -> str | None:
    """Return Pygments' name of a language, or None."""
    alias = LEXER_NAMES.get(language.lower(), language.lower())
    return alias if lexer_class(alias) else None


@lru_cache(maxsize=128)
def lexer_class(alias: str) -> type[Lexer] | None:
    """Return Pygments' lexer for a name, or None. Cached, because Pygments searches all lexers."""
    from pygments.lexers import find_lexer_class_by_name
    from pygments.util import ClassNotFound

    try:
        return find_lexer_class_by_name(alias)
    except ClassNotFound:
        return None


@lru_cache(maxsize=128)
def comment_delimiters(language: str) -> tuple[Delimiters, ...]:
    """Return the delimiters of comments in a language, the usual ones first.

    language: as returned by `fence_language`. In a language without comments, markers may follow `#`.
    Languages that quote other code have no delimiters.
    """
    if language in _QUOTING_LANGUAGES:
        return ()
    usual = (option_syntax(language).comment, "")
    alias = find_lexer_name(language) if language else None
    kind = lexer_class(alias) if alias else None
    found = [one for one in DELIMITERS if kind and _is_comment(kind, *one)]
    if language in _EMBEDDING_LANGUAGES:
        found += [("//", ""), ("/*", "*/")]
    if usual in found:
        found.remove(usual)
        return (usual, *found)
    return (*found,) if language in _MARKUP_LANGUAGES else (*found, usual)


def _is_comment(kind: type[Lexer], begin: str, end: str) -> bool:
    """Return whether `begin` and `end` delimit a comment for this lexer. The text after `end` must not be
    part of the comment."""
    if kind.__name__ in HANGING_LEXERS:
        return False
    comment = f"{begin} note\n note {end}" if end else f"{begin} note"
    # code in PHP rarely starts with `<?php`
    lexer = kind(startinline=True)
    try:
        tokens = [*lexer.get_tokens_unprocessed(f"{comment}\nx\n")]
    except Exception:
        # a lexer may come from any installed package
        return False
    return all(_is_note(token) == (at < len(comment)) for at, token, text in tokens if text.strip())


def _is_note(token: _TokenType) -> bool:
    """Return whether a token is part of a comment. Preprocessor and `#!` lines are not comments here,
    although Pygments gives them subtypes of `Comment`."""
    from pygments.token import Comment, is_token_subtype

    directives = (Comment.Preproc, Comment.PreprocFile, Comment.Hashbang)
    is_directive = any(is_token_subtype(token, directive) for directive in directives)
    return is_token_subtype(token, Comment) and not is_directive
