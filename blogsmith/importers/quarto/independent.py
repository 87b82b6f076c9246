"""Independent renderer of Quarto's Markdown with markdown-it. It is used to count the content of pages, and
shares no code with the translation."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin

from ..verify.markdown_reader import formula_html, is_diagram, markdown_reader

HIDDEN_CODE = "\n<!-- cells hide their code -->\n"
"""Comment at the end of a page whose cells do not show their code unless they set `echo`."""
_LABELS = "fig|tbl|eq|sec|lst|thm|lem|cor|prp|def|exm|exr|cnj|rem|nte|tip|wrn|imp|cau|alg|sol"
_PROTECTED_FRAGMENT = re.compile(
    r"(?m)"
    r"(?P<fence>^(?P<prefix>[ \t>]*)(?P<mark>`{3,}|~{3,})[ \t]*(?P<info>[^\n]*?)[ \t]*\n(?P<body>[\s\S]*?)"
    r"^[ \t>]*(?P=mark)`*[ \t]*$)"
    r"|(?P<comment><!--[\s\S]*?-->)"
    r"|(?P<display>(?<!\\)\$\$[\s\S]*?\$\$)"
    r"|(?P<rows>^[ \t>]*\\begin\{(?P<name>(?:align|alignat|equation|gather|multline|eqnarray)\*?)\}"
    r"[\s\S]*?\\end\{(?P=name)\})"
    r"|(?P<code>(?<!`)(?P<ticks>`+)(?!`)(?P<inside>(?:(?!\n[ \t]*\n)[\s\S])*?[^`])"
    r"(?P=ticks)(?!`)(?:\{=(?P<raw>\w+)\})?)"
    r"|(?P<math>(?<![\\$])\$(?![\s$])(?:`r [^`\n]+`|\\[\s\S]|[^\\$\n]|\n(?![ \t]*\n))+?(?<![\s\\])\$(?!\d))"
)
_DIV = re.compile(r"^[ \t>]*:{3,}[ \t]*(.*?)[ \t]*:*$", re.MULTILINE)
_TITLE = re.compile(r"\b(?:title|name)=(?:\"([^\"]*)\"|'([^']*)')")
_SHORTCODE = re.compile(r"\{\{<(?:(?!\{\{<)[\s\S])*?>\}\}")
_ATTRIBUTES = re.compile(
    r"(?m)(?:(?<=[\])`\ue015])|(?<=\w)[ ]|(?<=\ue015)[ ]?)\{(?=[^{}\n]*[#.=-])[^{}\n]*\}"
    r"|^\{[#.][^{}\n]*\}$|(?<=\S)[ \t]*\{#[^{}]*\}[ \t]*$"
    r"|(?<=\S)[ \t]+\{(?:[.#][\w:-]+|[\w-]+=[^{}\n]*)(?:[ \t]+[^{}\n]*)?\}[ \t]*$|^: \{[^{}\n]*\}[ \t]*$"
)
_COMPUTED_VALUE = re.compile(r"\{?(?:python|r|julia|ojs)\}? [\s\S]*")
_OPTION = re.compile(r"^[ \t>]*(?:#|//|%%?|--)\|.*\n?", re.MULTILINE)
_HIDDEN_OPTION = re.compile(r"\b(?:echo|include)\s*[:=]\s*(?:false|F\b)", re.IGNORECASE)
_KEY = r"[A-Za-z0-9_](?:[\w:.#$%&+?<>~/-]*[\w/])?"
_CITED = re.compile(rf"(?<![\w.@/\\])-?@\{{?((?!(?:{_LABELS})-){_KEY})\}}?")
_LABEL = re.compile(rf"(?<![\w.@/\\])-?@(?:{_LABELS})-[\w.:-]*\w")
_SCRIPT = re.compile(r"(?<![\\\[^])\^([^\s^\[\]]+)\^|(?<![~\\])~([^\s~]+)~(?!~)")
_NOTE = re.compile(r"\^\[((?:[^\[\]]|\[[^\[\]]*\])*)\]")
_SPAN = re.compile(r"(?<!\])\[([^\[\]]*)\]\{[^{}]*[.#=][^{}]*\}")
_TITLED = re.compile(
    rf"(?m)^([ \t>]*:{{3,}}[^\n]*(?:callout|#(?:{_LABELS})-|proof|remark|solution)[^\n]*\n"
    r"(?:[ \t>]*\n)*[ \t>]*)#{1,6}[ \t]+"
)
_TABLE_RULE = re.compile(r"^[ \t]*\+[-=:+]+\+[ \t]*$", re.MULTILINE)
_CELL_RULE = re.compile(
    r"(?m)(?:^([ ]{4,}\S[^\n]*)\n)?^[ ]{0,3}-{2,}(?:[ ]+-{2,})+[ \t]*(?:\n((?:[^\n]*\S[^\n]*(?:\n|\Z))*)|$)"
)
_ESCAPED = re.compile(r"\\\[[^\\\n]*\\\]")
_CAPTION = re.compile(r"(?:(?<=\n\n)|\A)(?:Table)?: +|^Table: +", re.MULTILINE)
"""Matches the start of a table's caption, but not a line directly after a term, which is its definition."""
_RAW_TEX = re.compile(r"(?m)^\\(?:newpage|pagebreak|clearpage|noindent|appendix|tableofcontents)\s*$")
_EXAMPLE = re.compile(rf"\(@(?!(?:{_LABELS})-)[\w-]*\)")
_LETTER = re.compile(r"(?m)^([ \t]*)[a-z]\.(?=[ ]{1,3}\S)")
"""Matches the letter of a list item such as `a.`, because CommonMark supports only numbers."""
_MARGIN = re.compile(r"(?<=\n)(?:[ \t]*>)+[ ]?")
"""Matches the quote markers before the lines of a formula."""
_PRE = re.compile(r"<pre>.*?</pre>", re.DOTALL)
_PLACEHOLDER = re.compile("\ue014(\\d+)\ue015")


def render_quarto(text: str, *, echo: bool = True) -> str:
    """Return the text as HTML with formulas as `<math>`. echo: whether the page shows its cells' code."""
    kept: list[str] = []
    formulas: dict[int, str] = {}
    written: dict[int, str] = {}

    def keep(found: re.Match[str]) -> str:
        if tex := found["display"] or found["rows"] or found["math"]:
            written[len(kept)] = found[0]
            formulas[len(kept)] = formula_html(_MARGIN.sub("", tex.strip("$")))
        piece = _piece(found, echo=echo)
        kept.append(piece)
        return f"\ue014{len(kept) - 1}\ue015" if piece else ""

    text = _PROTECTED_FRAGMENT.sub(keep, text)
    text = _ESCAPED.sub(lambda found: found[0].replace("@", "\ue016"), text)
    text = _DIV.sub(_titles, _TITLED.sub(r"\1", _SHORTCODE.sub("", text)))
    text = _ATTRIBUTES.sub("", _SPAN.sub(r"\1", _EXAMPLE.sub("1.", _LETTER.sub(r"\g<1>1.", text))))
    text = _RAW_TEX.sub("", _CAPTION.sub("", _CELL_RULE.sub(_dedent_rows, _TABLE_RULE.sub("", text))))
    text = _NOTE.sub(r" \1 ", text)

    def substitute(found: re.Match[str]) -> str:
        number = int(found[1])
        return found[0] if number in formulas else kept[number]

    html = str(_parser().render(_PLACEHOLDER.sub(substitute, text)))
    html = _PRE.sub(lambda pre: _PLACEHOLDER.sub(lambda found: escape(written[int(found[1])]), pre[0]), html)
    return _PLACEHOLDER.sub(lambda found: formulas.get(int(found[1]), ""), html).replace("\ue016", "@")


def _dedent_rows(found: re.Match[str]) -> str:
    """Remove the indentation of a table ruled by dashes, because CommonMark would read indented rows as
    code."""
    rows = (found[1] or "", *(found[2] or "").split("\n"))
    return "\n" + "\n".join(row.strip() for row in rows)


def _piece(found: re.Match[str], *, echo: bool) -> str:
    """Return code or a formula as CommonMark. Return an empty string for comments and other content that the
    page does not show."""
    if found["comment"]:
        return ""
    if found["fence"]:
        return _code(found["prefix"], found["mark"], found["info"], found["body"], echo=echo)
    if found["code"] and found["raw"]:
        return found["inside"] if found["raw"].startswith("html") else ""
    if found["code"] and _COMPUTED_VALUE.fullmatch(found["inside"]):
        return ""
    return found[0]


def _code(prefix: str, mark: str, info: str, body: str, *, echo: bool) -> str:
    raw = re.fullmatch(r"\{=(\w+)\}", info)
    if raw:
        return f"\n{body}\n" if raw[1].startswith("html") else ""
    if info.startswith("{{"):
        outer = f"{prefix}{mark}{mark}"
        shown = info[1:].replace("}}", "}")
        return f"{outer}\n{prefix}{mark}{shown}\n{body}{prefix}{mark}\n{outer}"
    if is_diagram(info):
        return ""
    if info == "math":
        return formula_html(body)
    if re.match(r"\{[\w-]", info):
        is_told = re.search(r"\becho\s*[:=]\s*true", body + info, re.IGNORECASE)
        if (
            _HIDDEN_OPTION.search(info)
            or _HIDDEN_OPTION.search("".join(_OPTION.findall(body)))
            or not (echo or is_told)
        ):
            return ""
        body = _OPTION.sub("", body)
    return f"{prefix}{mark}\n{body}{prefix}{mark}"


def _titles(found: re.Match[str]) -> str:
    titles = [first or second for first, second in _TITLE.findall(found[1])]
    return "\n" + " ".join(titles) + "\n"


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    return markdown_reader(deflist_plugin, rules={"text": _render_text, "image": _render_image})


def _render_text(self: object, tokens: list[Token], index: int, options: object, env: object) -> str:
    """Return the HTML of text. Citations become elements. Cross-references are removed, because the page
    shows a number instead, which Quarto generates."""
    if sum(token.nesting for token in tokens[:index] if token.type in ("link_open", "link_close")):
        # `[@name](address)` is a link to an account, not a citation
        return escape(tokens[index].content)
    text = _LABEL.sub("", tokens[index].content)
    marked = _SCRIPT.sub(
        lambda found: f"\ue011{found[1]}\ue011" if found[1] else f"\ue017{found[2]}\ue017", text
    )
    parts = _CITED.split(marked)
    made = [
        f'<d-cite key="{escape(part)}"></d-cite>' if number % 2 else escape(part)
        for number, part in enumerate(parts)
    ]
    html = re.sub("\ue011([^\ue011]*)\ue011", r"<sup>\1</sup>", "".join(made))
    return re.sub("\ue017([^\ue017]*)\ue017", r"<sub>\1</sub>", html)


def _render_image(self: object, tokens: list[Token], index: int, options: object, env: object) -> str:
    """Return the HTML of an image. If it is a figure, its caption follows as text."""
    token = tokens[index]
    others = [each for each in tokens if each is not token and (each.type != "text" or each.content.strip())]
    is_figure = not others or [each.type for each in others] == ["link_open", "link_close"]
    caption = _parser().renderInline(token.content) if is_figure else ""
    return f'<img src="{escape(str(token.attrGet("src") or ""))}"> {caption}'
