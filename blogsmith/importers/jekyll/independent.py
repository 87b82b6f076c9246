"""What a text of a Jekyll site shows, by markdown-it: for counting, and by none of the code that
translates."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

from markdown_it import MarkdownIt
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

_RAW = re.compile(r"\{%-?\s*(?:end)?raw\s*-?%\}")
_COMMENT = re.compile(r"\{%-?\s*comment\s*-?%\}[\s\S]*?\{%-?\s*endcomment\s*-?%\}")
_HIGHLIGHT = re.compile(r"\{%-?\s*highlight\b[^%]*%\}\n?([\s\S]*?)\{%-?\s*endhighlight\s*-?%\}")
_LIQUID = re.compile(r"\{%[\s\S]*?%\}")
_ATTRIBUTES = re.compile(r"\{:[^{}\n]*\}")


def render_kramdown(text: str) -> str:
    """HTML of a text, formulas as `$…$` in it."""
    text = _COMMENT.sub("", text)
    text = _HIGHLIGHT.sub(lambda found: f"\n\n<pre><code>{escape(found[1])}</code></pre>\n\n", text)
    text = _LIQUID.sub("", _RAW.sub("", text))
    return str(_parser().render(_ATTRIBUTES.sub("", text)))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.use(footnote_plugin).use(deflist_plugin)
    parser.use(dollarmath_plugin, allow_space=True, allow_digits=True, double_inline=True)
    for name in ("math_inline", "math_inline_double", "math_block"):
        parser.add_render_rule(name, _render_formula)
    return parser


def _render_formula(self: object, tokens: list[object], index: int, options: object, env: object) -> str:
    content = str(getattr(tokens[index], "content", ""))
    return f'<math alttext="{escape(content)}"></math>'
