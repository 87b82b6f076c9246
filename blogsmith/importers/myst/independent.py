"""Independent renderer of MyST to HTML with markdown-it and its plugins. It is used to count the content of
pages, and shares no code with the translation.

Directives are found among the tokens. Their options are removed, and their content is rendered recursively.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.amsmath import amsmath_plugin
from mdit_py_plugins.colon_fence import colon_fence_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.field_list import fieldlist_plugin
from mdit_py_plugins.myst_blocks import myst_block_plugin
from mdit_py_plugins.myst_role import myst_role_plugin

from ...api.importing import name_set
from ..notebooks.independent import render_notebook
from ..verify.markdown_reader import (
    Dollars,
    Rule,
    content_rule,
    demote_title,
    formula_html,
    is_diagram,
    markdown_reader,
)

_NAME = re.compile(r"\{\s*([\w:.+-]+)\s*\}\s*(.*)")
_SHOWS_CODE = frozenset(("code-block", "code", "code-cell", "sourcecode", "parsed-literal"))
_SHOWS_NOTHING = name_set(
    "toctree tableofcontents bibliography contents index include literalinclude raw video iframe youtube "
    "vimeo image figure csv-table nb-exec-table only mermaid solution-end exercise-end prf:proof-end tags "
    "meta footbibliography"
)
_TARGET_ROLES = name_set("ref numref eq doc term prf:ref any download index proof:ref")
_TEXTLESS = ("cite", "footcite", "fa", "octicon", "eval", "sub-ref")
_TITLED = re.compile(r"(.*?)\s*<[^<>]*>\s*\Z", re.DOTALL)
_HIDDEN = frozenset(("remove-input", "remove-cell", "remove_input", "remove_cell"))
_ATTRIBUTES = re.compile(
    r"(?m)(?<=[\])`$])\{[^{}\n]*[.#=%][^{}\n]*\}|^[ \t]*\{(?:[ \t]*[^{}\s]*[.#=%][^{}\s]*)+\}[ \t]*$"
)
_BARE_LINK = re.compile(r"<(?:inv|project|path|xref|myst|doi|wiki):[^<>\s]+>")
_D2L = re.compile(r"(?m)(?<![\w`{]):[a-z_]+:`[^`\n]*`|^\s*:end_tab:")
_FENCES = re.compile(r"(^ *```[^`\n]*\n[\s\S]*?^ *```+ *$)", re.MULTILINE)
_TABS = re.compile(r"\A\s*%%tab.*\n")
_SUBSTITUTION = re.compile(r"\{\{[^{}\n]*\}\}")
_MENTION = re.compile(r"(?<![\w@])@[A-Za-z][\w:.-]*\w")
_DISPLAY_AFTER_TEXT = re.compile(r"(?m)([^\s$])[ ]*\n(?=\$\$[ ]*\n[ ]*\\begin)")
_OPTION_LINE = re.compile(r"\s*:[\w-]+:.*")


def render_myst(text: str) -> str:
    """Return MyST text as HTML with formulas as `<math>`."""
    return demote_title(_render_page(text))


def render_myst_notebook(text: str) -> str:
    """Return the HTML of a notebook, or of a fragment of one, with formulas as `<math>`."""
    return demote_title(render_notebook(text, _render_page))


def _render_page(text: str) -> str:
    # markers of d2lbook are not text of the page
    parts = _FENCES.split(text)
    parts[::2] = [_BARE_LINK.sub("", _ATTRIBUTES.sub("", _D2L.sub("", part))) for part in parts[::2]]
    # the environment would end the paragraph, and the closing dollars would open a formula
    parts[::2] = [_DISPLAY_AFTER_TEXT.sub(r"\1\n\n", part) for part in parts[::2]]
    return str(_parser().render("".join(parts), {"depth": 0}))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    rules: dict[str, Rule] = {
        **dict.fromkeys(("math_block_label", "amsmath"), content_rule(formula_html)),
        **dict.fromkeys(("fence", "colon_fence"), _render_fence),
        **dict.fromkeys(("myst_line_comment", "myst_block_break", "myst_target"), content_rule(lambda _: "")),
        # the source of a page does not contain the value of a substitution
        "text": content_rule(lambda text: escape(_MENTION.sub("", _SUBSTITUTION.sub("", text)))),
        "myst_role": _render_role,
    }
    return markdown_reader(
        *(deflist_plugin, colon_fence_plugin, amsmath_plugin),
        *(myst_block_plugin, myst_role_plugin, fieldlist_plugin),
        dollars=Dollars(True, True, labels=True),
        rules=rules,
    )


def _render_role(self: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    name, content = str(tokens[index].meta["name"]).lower(), tokens[index].content
    if name == "math":
        return formula_html(content)
    if name in _TARGET_ROLES:
        found = _TITLED.fullmatch(content)
        shown = found[1] if found else ""
        return "" if "%s" in shown or "{" in shown else str(_parser().renderInline(shown))
    if name.startswith(_TEXTLESS):
        return ""
    if name in ("sub", "sup", "subscript", "superscript"):
        return f"<{name[:3]}>{escape(content)}</{name[:3]}>"
    if name in ("abbr", "abbreviation"):
        # the long form is in an attribute
        return escape(content.partition("(")[0])
    return escape(re.sub(r"\s*<[^<>]*>\s*\Z", "", content))


def _render_fence(self: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    found = _NAME.fullmatch(token.info.strip())
    if found:
        return _render_directive(found[1].lower(), found[2], token.content, env)
    if token.type == "colon_fence":
        return _render_text(token.content, env)
    if token.info.strip() == "toc" or is_diagram(token.info) or "d2lbook.tab" in token.content:
        return ""
    if token.info.strip() == "math":
        return formula_html(token.content)
    if token.info.strip() == "eval_rst":
        return f"<p>{escape(token.content)}</p>"
    return f"<pre>{escape(_TABS.sub('', token.content))}</pre>"


def _render_directive(name: str, argument: str, content: str, env: Any) -> str:
    head, body = _split_options(content)
    if name == "code-cell" and any(tag in head for tag in _HIDDEN):
        return ""
    if name in _SHOWS_CODE:
        return f"<pre>{escape(body)}</pre>"
    if name in ("eval-rst", "list-table"):
        # the old page shows `eval-rst` unchanged; in list tables, the words of the cells are counted
        return f"<p>{escape(argument)}</p>" + (
            _render_text(body, env) if name == "list-table" else f"<p>{escape(body)}</p>"
        )
    if name == "math":
        return _render_math(f"{argument}\n{body}")
    if name in ("figure", "image"):
        picture = f'<img src="{escape(argument)}">' if argument else ""
        return picture + (_render_text(body, env) if name == "figure" else "")
    if name in _SHOWS_NOTHING:
        return ""
    if name.startswith(("solution", "exercise-end", "figure-md")):
        argument = ""
    shown = "" if re.search(r"://|^\S+\.\w{2,4}$", argument) else _render_text(argument, env)
    return shown + _render_text(body, env)


def _render_math(text: str) -> str:
    tex = "\n".join(line for line in text.split("\n") if line.strip())
    if "\\begin" not in tex and re.search(r"\\\\|(?<!\\)&", tex):
        tex = f"\\begin{{aligned}}{tex}\\end{{aligned}}"
    return formula_html(tex) if tex else ""


def _render_text(text: str, env: Any) -> str:
    depth = env.get("depth", 0) if isinstance(env, dict) else 0
    if depth > 30:
        return f"<pre>{escape(text)}</pre>"
    return str(_parser().render(text, {"depth": depth + 1}))


def _split_options(content: str) -> tuple[str, str]:
    """Return the options of a directive, and the text after them."""
    lines = content.split("\n")
    if lines[0].strip() == "---":
        end = next((n for n, line in enumerate(lines[1:], 1) if line.strip() == "---"), 0)
        return "\n".join(lines[: end + 1]), "\n".join(lines[end + 1 :])
    end = 0
    while end < len(lines) and _OPTION_LINE.fullmatch(lines[end]):
        end += 1
    return "\n".join(lines[:end]), "\n".join(lines[end:])
