"""What a text of Quarto shows, by markdown-it: for counting, and by none of the code that translates."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from markdown_it import MarkdownIt
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

_FENCE = re.compile(r"^([ \t>]*)(`{3,}|~{3,})[ \t]*(.*?)[ \t]*\n([\s\S]*?)^[ \t>]*\2`*[ \t]*$", re.MULTILINE)
_DIV = re.compile(r"^[ \t>]*:{3,}[ \t]*(.*?)[ \t]*:*$", re.MULTILINE)
_TITLE = re.compile(r"\b(?:title|name)=(?:\"([^\"]*)\"|'([^']*)')")
_SHORTCODE = re.compile(r"\{\{<[\s\S]*?>\}\}")
_ATTRIBUTES = re.compile(
    r"(?<=[\])`\w$])[ ]?\{(?=[^{}\n]*[#.=-])(?!\$)[^{}\n$\\]*\}|^\{[#.][^{}\n]*\}$", re.MULTILINE
)
_RAW = re.compile(r"`([^`\n]*)`\{=(\w+)\}")
_INLINE_CODE = re.compile(r"`\{?(?:python|r|julia|ojs)\}? [^`\n]*`")
_OPTION = re.compile(r"^[ \t>]*(?:#|//|%%|--)\|.*\n?", re.MULTILINE)
_CITED = re.compile(
    r"(?<![\w.@/\\])-?@\{?((?!(?:fig|tbl|eq|sec|lst|thm|lem|cor|prp|def|exm|exr|cnj|rem|nte|tip|wrn|imp|cau|alg|sol)-)[A-Za-z0-9_][\w:.#$%&+?<>~/-]*[\w/])\}?"
)
_LABEL = re.compile(
    r"(?<![\w.@/\\])-?@(?:fig|tbl|eq|sec|lst|thm|lem|cor|prp|def|exm|exr|cnj|rem|nte|tip|wrn|imp|cau|alg|sol)-[\w.:-]*\w"
)
_SCRIPT = re.compile(r"(?<![\\\[^])\^([^\s^\[\]]+)\^|(?<![~\\])~([^\s~]+)~(?!~)")
_NOTE = re.compile(r"\^\[((?:[^\[\]]|\[[^\[\]]*\])*)\]")
_SPAN = re.compile(r"(?<!\])\[([^\[\]]*)\](?=\{[^{}]*[.#=][^{}]*\})")
_TABLE_RULE = re.compile(r"^[ \t]*\+[-=:+]+\+[ \t]*$", re.MULTILINE)
_CELL_RULE = re.compile(r"^[ ]{0,3}-{2,}(?:[ ]+-{2,})+[ \t]*$", re.MULTILINE)
_CAPTION = re.compile(r"^(?:Table)?: +", re.MULTILINE)
_RAW_TEX = re.compile(
    r"^\\(?:newpage|pagebreak|clearpage|noindent|appendix|tableofcontents)\s*$", re.MULTILINE
)
_NO_FORMULA = re.compile(r"\\([()\[\]])")


def render_quarto(text: str) -> str:
    """HTML of a text, formulas as `<math>`."""
    text = _FENCE.sub(_code, text)
    text = _RAW.sub(lambda found: found[1] if found[2].startswith("html") else "", text)
    text = _DIV.sub(_titles, _SHORTCODE.sub("", _INLINE_CODE.sub("", text)))
    text = _SPAN.sub(r"\1", text)
    text = _ATTRIBUTES.sub("", text)
    text = _RAW_TEX.sub("", _CAPTION.sub("", _CELL_RULE.sub("", _TABLE_RULE.sub("", text))))
    text = _NOTE.sub(r" \1 ", text)
    return str(_parser().render(text))


def _code(found: re.Match[str]) -> str:
    prefix, mark, info, body = found.groups()
    raw = re.fullmatch(r"\{=(\w+)\}", info)
    if raw:
        return f"\n{body}\n" if raw[1].startswith("html") else ""
    if info.startswith("{{"):
        return f"{prefix}{mark}{mark}\n{prefix}{mark}{info[1:].replace('}}', '}')}\n{body}{prefix}{mark}\n{prefix}{mark}{mark}"
    if re.match(r"\{[\w-]", info):
        body = _OPTION.sub("", body)
    return f"{prefix}{mark}\n{body}{prefix}{mark}"


def _titles(found: re.Match[str]) -> str:
    titles = [first or second for first, second in _TITLE.findall(found[1])]
    return "\n" + " ".join(titles) + "\n"


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.use(footnote_plugin).use(deflist_plugin)
    parser.use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True)
    for name in ("math_inline", "math_inline_double", "math_block", "math_block_label"):
        parser.add_render_rule(name, _render_formula)
    parser.add_render_rule("text", _render_text)
    return parser


def _render_formula(self: object, tokens: list[object], index: int, options: object, env: object) -> str:
    content = str(getattr(tokens[index], "content", ""))
    return f'<math alttext="{escape(content)}"></math>'


def _render_text(self: object, tokens: list[object], index: int, options: object, env: object) -> str:
    """Text with citations as elements, and references, whose words are made, left out."""
    text = _LABEL.sub("", str(getattr(tokens[index], "content", "")))
    parts = _CITED.split(_SCRIPT.sub(lambda found: f"\ue011{found[1] or found[2]}\ue011", text))
    made = [
        f'<d-cite key="{escape(part)}"></d-cite>' if number % 2 else escape(part)
        for number, part in enumerate(parts)
    ]
    return re.sub("\ue011([^\ue011]*)\ue011", r"<sup>\1</sup>", "".join(made))
