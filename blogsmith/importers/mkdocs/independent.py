"""Independent renderer of Python-Markdown with markdown-it and its admonition plugin. It is used to count the
content of pages, and shares no code with the translation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.deflist import deflist_plugin

from ..verify.markdown_reader import Dollars, content_rule, demote_title, formula_html, markdown_reader

_FENCE = re.compile(r"(?m)(^[ ]*(?:(?:[-*+]|\d+\.)[ ]+)*(`{3,}|~{3,})[^`\n]*\n[\s\S]*?^[ ]*\2[`~]*[ ]*$)")
_BOX = re.compile(r"^( *)(?:\?\?\?\+?|!!!)[ \t]*([\w -]*?)[ \t]*(\"[^\n]*\")?[ \t]*$", re.MULTILINE)
_TAB = re.compile(r"^( *)===[!+]*[ \t]+(\"[^\n]*\"|'[^\n]*')[ \t]*$", re.MULTILINE)
_SLASHES = re.compile(r"^ */{3,}[ \t]*(?:[\w-]+[ \t]*)?(?:\|[ \t]*)?", re.MULTILINE)
_SLASH_OPTIONS = re.compile(r"(^ */{3,}[^\n]*\n)(?: {4,}[\w-]+:[^\n]*\n)+", re.MULTILINE)
_NO_TERM = re.compile(r"^( *)<!--[^\n]*-->[ ]*\n(?=\n? *:[ ]{3})", re.MULTILINE)
_CALLOUT = re.compile(r"^([ ]*>[ >]*)\[![\w-]+\][+-]?", re.MULTILINE)
_HTML_BLOCK = re.compile(r"^ */{3,}[ \t]*html[ \t]*\|[^\n]*$", re.MULTILINE)
_SYMBOLS = re.compile(r"(?<!\w)(?:\((?:c|r|tm)\)|c/o|[13]/[24])(?!\w)")
"""Matches text that smartsymbols replaces. It is not counted, because the extension may be on or off."""
_ROW_CODE = re.compile(r"(?m)(?<=\|)[^`\n|]*`[^`\n]+`")
_TASK = re.compile(r"^([ >]*(?:[-*+]|\d+\.) +)\[[ xX]\] ", re.MULTILINE)
_RAISED_LINK = re.compile(r"\^(\[[^\[\]\n]*\]\([^()\n]*\))\^")
_KEYS = re.compile(r"(?<![+\w])\+\+[\w\"+.-]+\+\+(?!\+)")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
_SCRIPT = re.compile(r"(?<=\w)([~^])(\w+)\1")
_CRITIC_REPLACEMENT = re.compile(r"\{~~(.*?)~>(.*?)~~ *\}")
_REMARK = re.compile(r"\{>>.*?<< *\}")
_SNIPPET = re.compile(r"^[ ;]*-+8<-+.*$", re.MULTILINE)
_ATTRIBUTES = re.compile(r"\{:?[ \t]*(?=[.#]|[\w-]+=|data-)[^{}\n]*\}")
_EMOJI_CODE = re.compile(r"(?<![\w:]):[a-z_+-][\w+-]*:(?![\w:])")
_ABBREVIATION = re.compile(r"^ *\*\[[^\]]+\]:.*$", re.MULTILINE)
_TEMPLATE = re.compile(r"\{\{[^{}\n]*\}\}|\{%[^{}\n]*%\}")
_MARKDOWN_TAG = re.compile(
    r"(?m)^([ ]*)(<(?:div|figure|section|figcaption)\b[^>]*\bmarkdown\b[^>]*>|</(?:div|section|figure)>)"
)
_MARKDOWN_REQUEST = re.compile(r"<\w+[^>]*\bmarkdown\b")
_HEADING = re.compile(r"^( *#{1,6} .*?)[ \t]*\{:?[ \t]*(?:[.#]|[\w-]+=|data-)[^\n]*\}[ \t]*$", re.MULTILINE)
_INLINE_TEX = re.compile(r"(?<!\\)\\\((.+?)(?<!\\)\\\)", re.DOTALL)
_DISPLAY_TEX = re.compile(r"^([ >]*(?:[-*+] +|\d+\. +)?)\\\[(.+?)\\\][ ]*$", re.DOTALL | re.MULTILINE)
_BARE_FORMULA = re.compile(
    r"(?m)(?:(?<=\n\n)|(?<!\n)^)([ ]*)(\\begin\{([a-z]+\*?)\}(?:(?!\n[ ]*\n)[\s\S])+\\end\{\3\})"
    r"[ ]*(?=\n[ ]*\n|\n?\Z)"
)
_NO_TITLE = '""'
_TARGET = re.compile(r"\]\((?:[^\s()\\]|\\\S)*\)")
_CODE_ANNOTATION = re.compile(r"\((\d+)\)!")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
_RAW = re.compile(r"\{%-?\s*(?:end)?raw\s*-?%\}")
_LANGUAGE = re.compile(r"`(?:#!|:::)\w+ +")
_DOLLAR = "\ue01d"
"""Placeholder for a dollar in a code span, which must not start a formula."""


def render_python_markdown(text: str) -> str:
    """Return the text as HTML with formulas as `<math>`."""
    # Python-Markdown expands tabs. Its admonitions continue after two blank lines, but those of markdown-it
    # do not.
    text = _BLANK_LINES.sub("\n\n", _RAW.sub("", text.expandtabs(4)))
    parts = _FENCE.split(text)
    # the pattern has two groups: a fence, and its marker
    prose, fences = parts[::3], parts[1::3]
    out = []
    for index, part in enumerate(prose):
        out.append(_plain(part))
        if index < len(fences):
            out.append("" if "-8<-" in fences[index] else fences[index])
    return demote_title(str(_parser().render("".join(out))).replace(_DOLLAR, "$"))


def _plain(text: str) -> str:
    text = _BARE_FORMULA.sub(lambda found: found[1] + formula_html(" ".join(found[2].split())), text)
    text = _NO_TERM.sub(r"\1&#8203;\n", text)
    # a box without a title gets one from the theme, in the language of the site
    text = _BOX.sub(lambda found: f"{found[1]}!!! {found[2] or 'note'} {found[3] or _NO_TITLE}", text)
    text = _TAB.sub(r"\1!!! tab \2", text)
    text = _CRITIC_REPLACEMENT.sub(r"\1\2", _SLASH_OPTIONS.sub(r"\1", text))
    text = _ROW_CODE.sub(lambda found: re.sub(r"(?<!\\)\|", r"\\|", found[0]), text)
    text = _TASK.sub(r"\1", _SPAN.sub(lambda found: found[0].replace("$", _DOLLAR), text))
    text = _RAISED_LINK.sub(r"\1", _CALLOUT.sub(r"\1", text))
    for pattern in (_REMARK, _KEYS, _HTML_BLOCK, _SLASHES, _SNIPPET, _ABBREVIATION):
        text = pattern.sub("", text)
    text = _HEADING.sub(r"\1", text)
    if _MARKDOWN_REQUEST.search(text):
        text = _MARKDOWN_TAG.sub(r"\n\n\1\2\n\n", text)
    text = _TARGET.sub(lambda found: re.sub(r"\\([()])", r"\1", found[0]), text)
    text = _DISPLAY_TEX.sub(r"\1$$\2$$", _INLINE_TEX.sub(lambda found: f"${found[1].strip()}$", text))
    return _LANGUAGE.sub("`", text.replace("[TOC]", ""))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    rules = {"fence": _render_fence, "text": content_rule(_render_words)}
    return markdown_reader(deflist_plugin, admon_plugin, dollars=Dollars(False, False), rules=rules)


def _render_words(text: str) -> str:
    for pattern in (_ATTRIBUTES, _TEMPLATE, _EMOJI_CODE, _SYMBOLS):
        text = pattern.sub("", text)
    return _SCRIPT.sub(_script, escape(text))


def _script(found: re.Match[str]) -> str:
    name = "sub" if found[1] == "~" else "sup"
    return f"<{name}>{found[2]}</{name}>"


def _render_fence(self: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    language = (token.info.split() or [""])[0]
    if language == "math":
        return formula_html(token.content)
    if language in ("mermaid", "dot", "graphviz"):
        return ""
    return f"<pre>{escape(_CODE_ANNOTATION.sub(lambda found: f'({found[1]})', token.content))}</pre>"
