"""Independent renderer for the systems in `rows.py`. It is used to count the content of pages, and shares no
code with the translation."""

from __future__ import annotations

import re

from ..hugo.independent import PASSTHROUGH, render_goldmark
from ..verify.markdown_reader import formula_html

_CODE = re.compile(
    r"(?ms)(^[ \t>]*(?:[-*+][ \t]+)?(`{3,}|~{3,})[^\n]*\n.*?^[ \t>]*\2[`~]*[ \t]*$|`+[^`\n]+`+)"
)
_CONTAINER = re.compile(
    r"(?m)^([ \t>]*):{3,}[ \t]*[\w-]*[ \t]*(?:\{[^}\n]*title=\"([^\"\n]*)\"[^}\n]*\}|\[(.*)\])?"
)
_MODULE = re.compile(
    r"(?m)^import[ \t][^;\n]*(?:\{[^}]*\}[^;\n]*)?(?:from[ \t]*)?[\"'][^\"'\n]*[\"'];?[ \t]*$"
    r"|^export[ \t](?:const|let|function|default)\b[\s\S]*?(?:\n[ \t]*\n|\Z)"
)
_IMAGE = re.compile(r"(?m)^import[ \t]+(\w+)[ \t]+from[ \t]*[\"']([^\"'\n]*)[\"']")
_COMPONENT = re.compile(r"</?(?:[A-Z][\w.]*(?:[^<>{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)?/?>")
_EXPRESSION = re.compile(r"\{/\*[\s\S]*?\*/\}")
_JSX_VALUE = re.compile(r"\s(?:style=\{\{[^{}]*\}\}|(?:className|[a-z]\w*)=\{[^{}]*\})")
_ZOLA = re.compile(
    r"\{\{-?\s*\w+\((?:[^{}\"]|\"[^\"]*\")*\)\s*-?\}\}|\{%-?\s*(?:\w+\((?:[^{}\"]|\"[^\"]*\")*\)|end)\s*-?%\}"
)
_ZOLA_FORMULA = re.compile(
    r"\{%-?\s*(?:katex|math|latex|tex|mathjax)\([^{}]*\)\s*-?%\}([\s\S]*?)\{%-?\s*end\s*-?%\}"
    r"|\{\{-?\s*(?:katex|math|latex|tex|mathjax)\((?:body\s*=\s*)?\"((?:[^\"\\]|\\.)*)\"[^{}]*\)\s*-?\}\}"
)
_TAG = re.compile(r"\{%[^%]*%\}|\{\{%[^%]*%\}\}")
_JULIA = re.compile(
    r"(?m)^[ \t]*(?:~~~|@@[\w,-]*)[ \t]*$|@@[\w,-]+|@@|^[ \t]*\\(?:toc|tableofcontents)\S*|\{\{[^{}]*\}\}"
)
_DIV = re.compile(r"(?m)^(@@[\w,-]+[ \t]*\n)((?:[ \t]+\S[^\n]*\n)+)")
"""Matches a div whose text is indented but is not code."""
_TEMPLATE_HEADING = re.compile(r"(?m)^#+ (?=[^\n]*\{\{)")
_BOX = re.compile(r"(?m)^[ \t]*(?:!!!|\?\?\?\+?)[ \t]*[\w-]*[ \t]*")
_ESCAPED = re.compile(r"(?<!\\)\\([\[\]()])")
_RAW_TAG = re.compile(r"\{%-?\s*(?:end)?raw\s*-?%\}")
_RAW = re.compile(r"(?m)^[ \t]*~~~[ \t]*$")
_CALLS = {"zola": _ZOLA, "hexo": _TAG, "nikola": _TAG, "franklin": _JULIA}
_PELICAN = re.compile(r"\{(?:filename|static|attach)\}|\|filename\|", re.IGNORECASE)


def render_page(text: str, original: str, calls: str) -> str:
    """Return the HTML of a page, or of a fragment of one. original: text of the whole page. calls: syntax of
    shortcodes, from `MarkdownSystem.calls`."""
    has_dollars = calls != "mdx" or not original.endswith(PASSTHROUGH.format(r"\("))
    images = dict(_IMAGE.findall(text)) if calls == "mdx" else {}
    if calls == "franklin":
        text = _TEMPLATE_HEADING.sub("", _RAW.sub("", text))
        text = _DIV.sub(lambda found: found[1] + re.sub(r"(?m)^[ \t]+", "", found[2]), text)
    parts = []
    position = 0
    for code in _CODE.finditer(text):
        # Hexo reads its tags in code spans, but not in fences
        shown = _RAW_TAG.sub("", code[0]) if calls == "hexo" and not code[2] else code[0]
        if calls == "mdx" and (margin := len(shown) - len(shown.lstrip(" \t"))):
            shown = re.sub(rf"(?m)^[ \t]{{1,{margin}}}", "", shown)
        before = _with_images(text[position : code.start()], images)
        parts += [_prose(before, calls, has_dollars), shown]
        position = code.end()
    rest = _with_images(text[position:], images)
    shown = "".join([*parts, _prose(rest, calls, has_dollars)])
    return render_goldmark(shown, original if has_dollars else PASSTHROUGH.format("$"))


def _with_images(text: str, images: dict[str, str]) -> str:
    """Replace `src={name}` of an imported image with its path. images: name → path."""
    for name, path in images.items():
        text = text.replace(f"src={{{name}}}", f'src="{path}"')
    return text


def _formula(found: re.Match[str]) -> str:
    return formula_html(" ".join((found[1] or found[2] or "").split()))


def _prose(text: str, calls: str, has_dollars: bool) -> str:
    text = text if has_dollars else text.replace("$", "&#36;")
    if calls == "mdx":
        text = _JSX_VALUE.sub("", _EXPRESSION.sub("", _MODULE.sub("", text)))
        # escaped brackets do not open a formula
        text = _ESCAPED.sub(lambda found: f"&#{ord(found[1])};", text)
        text = re.sub(r"(?<=\n)[ \t]+(?=\S)", "", _COMPONENT.sub("\n\n", text))
    elif calls in _CALLS:
        if calls == "zola":
            text = _ZOLA_FORMULA.sub(_formula, text)
        text = _CALLS[calls].sub(" ", text)
    text = _CONTAINER.sub(lambda found: f"\n{found[1]}{found[2] or found[3] or ''}\n", text)
    return _PELICAN.sub("", _BOX.sub("", text))
