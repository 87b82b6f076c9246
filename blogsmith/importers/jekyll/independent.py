"""Renders kramdown to HTML with markdown-it, so that its content can be counted. It shares no code with the
translation.

Liquid is not interpreted: regular expressions remove it, and insert the output of common tags and includes.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from markdown_it import MarkdownIt
from mdit_py_plugins.deflist import deflist_plugin

from ...api.importing import lazy_pattern
from ..text.segments import ENVIRONMENT_NAMES
from ..verify.markdown_reader import Dollars, content_rule, formula_html, inline_html, markdown_reader

_RAW = lazy_pattern(r"\{%-?\s*raw\s*-?%\}([\s\S]*?)\{%-?\s*endraw\s*-?%\}")
_MERMAID = lazy_pattern(r"\{%-?\s*mermaid\s*-?%\}[\s\S]*?\{%-?\s*endmermaid\s*-?%\}")
_COMMENT = lazy_pattern(r"\{%-?\s*comment\s*-?%\}[\s\S]*?\{%-?\s*endcomment\s*-?%\}")
_KRAMDOWN_COMMENT = lazy_pattern(r"\{::comment\}[\s\S]*?\{:/(?:comment)?\}")
_HIGHLIGHT = lazy_pattern(r"\{%-?\s*highlight\b[^%]*%\}\n?([\s\S]*?)\{%-?\s*endhighlight\s*-?%\}")
_DISTILL_CODE = lazy_pattern(r"<d-code\b[^>]*\bblock\b[^>]*>([\s\S]*?)</d-code>")
_DISTILL_MATH = lazy_pattern(r"<d-math\b[^>]*>([\s\S]*?)</d-math>")
_FENCE = lazy_pattern(r"(^[ \t>]*(`{3,}|~{3,})[^\n]*\n[\s\S]*?^[ \t>]*\2[`~]*[ \t]*$)", re.MULTILINE)
_CITE = lazy_pattern(r"\{%-?\s*cite\s+([\s\S]*?)(?:--[\s\S]*?)?-?%\}")
_INCLUDE = lazy_pattern(r"(?i)\{%-?\s*include\s+\S*(?:figure|image|img|picture|fig)\S*\s([\s\S]*?)-?%\}")
_ARGUMENT = lazy_pattern(r"([\w-]+)\s*=\s*(?:\"((?:\\.|[^\"\\])*)\"|'((?:\\.|[^'\\])*)')")
_ESCAPED_QUOTE = lazy_pattern(r"\\([\"'])")
_CAPTURED = lazy_pattern(r"\{%-?\s*capture\b[\s\S]*?\{%-?\s*endcapture\s*-?%\}")
_LOOP = lazy_pattern(r"\{%-?\s*for\b(?:(?!\{%-?\s*(?:for|endfor)\b)[\s\S])*\{%-?\s*endfor\s*-?%\}")
"""Matches a loop without inner loops. Its body is removed, because it generates lists."""
_QUOTED = lazy_pattern(r"\{\{-?\s*[\"']([^\"']*)[\"'][^{}]*\}\}")
_OUTPUTS = lazy_pattern(r"(?:\{\{[^{}]*\}\}/)+")
_LIQUID = lazy_pattern(r"\{%-?\s*[a-z_]+\b[\s\S]*?%\}")
_HEADING_ID = lazy_pattern(r"^([ ]{0,3}#{1,6}[ \t][^\n]*?)[ \t]*\{#[\w:.-]+\}[ \t]*$", re.MULTILINE)
_OUTPUT = lazy_pattern(
    r"(?:(?<![\\\w^{}$])|(?<=%\}))\{\{-?\s*[a-z_]\w*\s*(?:[.\[][^{}|]*)?(?:\|[^{}]*)?-?\}\}"
)
_ATTRIBUTES = lazy_pattern(
    r"(?<![\w^_])\{:\s*[.#\"A-Za-z][^{}\n]*\}|(?<=[)*_`>])\{:\s*[.#\"A-Za-z][^{}\n]*\}"
)
_TOC = lazy_pattern(r"(?mi)^(?:[-*+]|\d+\.)[ \t]+[^\n]*\n[ \t]*\{:\s*toc[^{}\n]*\}[ \t]*$")
_ABBREVIATION = lazy_pattern(r"^\*\[[^\]\n]+\]:[^\n]*\n?", re.MULTILINE)
_MARKED = lazy_pattern(r"(<\w+\b[^<>]*\bmarkdown=(?![\"']?0)[^<>]*>)")
_CLOSED = lazy_pattern(r"^[ \t]*(</(?:div|details|section|center|figure|p|td|table)\s*>)", re.MULTILINE)
_END_TAG = lazy_pattern(r"</[A-Za-z]")
_INDENTED_TAG = lazy_pattern(r"^[ \t]{4,}(?=</?[a-z!])", re.MULTILINE | re.IGNORECASE)
_RAW_BLOCK = lazy_pattern(
    r"(?mi)^[ ]{0,3}<(div|center|section|details|figure|table)\b(?![^<>]*\bmarkdown=)[^<>]*>[ \t]*\n"
    r"(?:(?!</?\1\b)[\s\S])*</\1"
)
"""Matches HTML blocks that kramdown leaves unchanged, so that indented lines in them are not code."""
_INDENTED = lazy_pattern(r"^[ \t]{4,}(?=\S)", re.MULTILINE)
_MAX_INDENT = "   "
"""Replaces a larger indentation. A line with this indentation in a list item is not code."""
_AFTER_BLOCK = lazy_pattern(r"(</(?:center|div|figure|table|details|p)>)[ \t]*\n(?=\S)", re.IGNORECASE)
_SINGLE_TAG_LINE = lazy_pattern(
    r"(?mi)^([ ]{0,3}</?(?:br|span|a|b|i|em|strong|small|font|sup|sub|u|img|big)\b[^<>\n]*>)[ \t]*\n"
    r"(?!\d+[.)][ \t])(?=\S)"
)
"""Matches inline tags alone on a line, which in kramdown belong to the paragraph."""
_NO_MARKDOWN = lazy_pattern(
    r"\{::/?(?:nomarkdown|comment|options)\b[^{}\n]*/?\}|\{:/(?:nomarkdown|comment)?\}"
)


def render_kramdown(text: str) -> str:
    """Return kramdown text as HTML, with formulas as `<math>` or between dollars."""
    text = _without_liquid(_DISTILL_CODE.sub(_code, text))
    parts = _FENCE.split(text)
    # HTML and attribute lists inside a fence are code
    text = "".join(
        part if number % 3 == 1 else _text(part, after=parts[number - 2] if number else "")
        for number, part in enumerate(parts)
        if number % 3 < 2
    )
    text = str(_parser().render(f"{text}\n"))
    return text.replace(_RAW_TAG, "{%").replace(_RAW_OUTPUT, "{{")


_INDENTED_CODE = lazy_pattern(
    r"(?m)(^(?![ \t<]|[-*+:][ \t]|\d+[.)][ \t]|\[\^)[^\n]+\n(?:[ \t]*\n)+)"
    r"((?=(?: {4}|\t)[ \t]*\S)(?:(?: {4}|\t)[^\n]*\n|[ \t]*\n)+)"
)
"""Matches a paragraph, a blank line and indented code. After a list item, footnote or element, the indented
lines would be text, so these are excluded."""
_AFTER_FENCE = "\ue022"


def _text(text: str, after: str) -> str:
    """Return the text between two fences as markdown-it must read it. Indented code is not changed. after:
    the first of the fences; empty at the start of the page."""
    # the end of a fence counts as a paragraph line
    text = f"{_AFTER_FENCE}{text}" if after[:1] in ("`", "~") else text
    parts = _INDENTED_CODE.split(text)
    pieces = [
        _prose("".join(parts[n : n + 2])) + "".join(parts[n + 2 : n + 3]) for n in range(0, len(parts), 3)
    ]
    return "".join(pieces).replace(_AFTER_FENCE, "")


_ESCAPED_FORMULA = lazy_pattern(
    r"(?m)^([ \t>]*(?:(?:[-*+]|\d+\.)[ \t]+)*)\\(?=\$\$)|(?<!\\)\\(?=\$\$[^$\n]+\$\$)"
)
r"""Matches `\$$…$$`, which kramdown renders as inline math."""
_ENVIRONMENT = lazy_pattern(
    rf"\$\$(?:(?!\$\$|\n[ \t]*\n)[\s\S])*\$\$|(?<![$\\`{{])\\begin\{{({ENVIRONMENT_NAMES})\}}"
    r"(?:(?!\$\$|\n[ \t]*\n)[\s\S])*?\\end\{\1\}(?!\s*\$\$)"
)
_ONE_LINE = lazy_pattern(r"\s*\n[ \t>]*")
_BLANK_IN_ADDRESS = lazy_pattern(
    r"(\[[^\[\]\n]*\]\()((?:[^\s()<>]|\([^\s()]*\))+"
    r"(?:[ \t]+(?:[^\s()<>\"']|\([^\s()]*\))+)+)(?=[ \t]*[)\"'])"
)
_TASK = lazy_pattern(r"(?m)^([ \t>]*[-*+][ \t]+)\[[ xX]\](?=[ \t])")


def _prose(text: str) -> str:
    """Remove kramdown's directives from text without code. Change HTML blocks so that they end for CommonMark
    where they end for kramdown."""
    text = _DISTILL_MATH.sub(lambda found: formula_html(found[1]), _TASK.sub(r"\1", text))
    text = _ENVIRONMENT.sub(
        lambda found: formula_html(_ONE_LINE.sub(" ", found[0])) if found[1] else found[0], text
    )
    text = _ESCAPED_FORMULA.sub(lambda found: found[1] or "", text)
    text = _BLANK_IN_ADDRESS.sub(r"\1<\2>", text)
    text = _ABBREVIATION.sub("", _TOC.sub("", _KRAMDOWN_COMMENT.sub("", text)))
    text = _INDENTED_TAG.sub(_MAX_INDENT, text)
    text = _RAW_BLOCK.sub(lambda found: _INDENTED.sub(_MAX_INDENT, found[0]), text)
    text = _CLOSED.sub(r"\n\1", _MARKED.sub(r"\1\n\n", text))
    text = _AFTER_BLOCK.sub(r"\1\n\n", _SINGLE_TAG_LINE.sub(r"\1 ", text))
    return _NO_MARKDOWN.sub("", _ATTRIBUTES.sub("", _HEADING_ID.sub(r"\1", text)))


def render_html(text: str) -> str:
    """Return the HTML of a page that is written in HTML."""
    return _without_liquid(text).replace(_RAW_TAG, "{%").replace(_RAW_OUTPUT, "{{")


_RAW_TAG, _RAW_OUTPUT = "\ue020", "\ue021"


def _without_liquid(text: str) -> str:
    text = _RAW.sub(lambda found: found[1].replace("{%", _RAW_TAG).replace("{{", _RAW_OUTPUT), text)
    while (unrolled := _LOOP.sub("", text)) != text:
        text = unrolled
    text = _MERMAID.sub("", _HIGHLIGHT.sub(_code, _COMMENT.sub("", text)))
    text = _CITE.sub(_citation, _INCLUDE.sub(_figure, _CAPTURED.sub("", text)))
    # two adjacent outputs with a slash between them would leave `//`, and the next part would be a host
    text = _OUTPUTS.sub("/", _QUOTED.sub(r"\1", text))
    return _LIQUID.sub("", _OUTPUT.sub("", text))


def _code(found: re.Match[str]) -> str:
    # a blank line would end the HTML block
    code = escape(found[1]).replace("\n", "&#10;")
    return f"\n\n<pre><code>{code}</code></pre>\n\n"


def _citation(found: re.Match[str]) -> str:
    keys = ",".join(re.split(r"[\s,]+", found[1].strip()))
    return f'<d-cite key="{escape(keys)}"></d-cite>'


def _figure(found: re.Match[str]) -> str:
    values = {
        name: _ESCAPED_QUOTE.sub(r"\1", double or single)
        for name, double, single in _ARGUMENT.findall(found[1])
    }
    names = ("path", "src", "url", "image_path", "image", "file", "img")
    address = next((values[name] for name in names if values.get(name)), "")
    caption = next((values[name] for name in ("caption", "cap", "description") if values.get(name)), "")
    pictures = "".join(f'<img src="{escape(each.strip())}">' for each in address.split(", ") if each.strip())
    return f"<span>{pictures}</span> {caption.replace(chr(10), ' ')}"


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    inline = dict.fromkeys(("math_inline", "math_inline_double"), content_rule(_render_inline))
    rules = {**inline, "math_block": content_rule(_render_block)}
    return markdown_reader(deflist_plugin, dollars=Dollars(True, True), rules=rules)


def _render_block(content: str) -> str:
    """Return the HTML of a line that begins and ends with a formula, such as `$$a$$ and $$b$$`, because
    markdown-it would read the line as one formula. content: the line without its outer dollars."""
    shown = [part if n % 2 else formula_html(part) for n, part in enumerate(content.split("$$"))]
    return f"<p>{''.join(shown)}</p>\n"


def _render_inline(content: str) -> str:
    if _END_TAG.search(content):
        # two prices, each in an element of its own
        return f"${content}$"
    return inline_html(content)
