"""HTML comments that a template opens and never closes.

A browser hides everything after such a comment, so the page may look empty. The text of templates is scanned
without the code of Jinja, and without scripts and stylesheets, in which `<!--` starts no comment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...base.diagnostics.model import Diagnostic, Place
from ...base.patterns import lazy_pattern
from .template_blocks import TemplateText

_HIDDEN = lazy_pattern(
    r"(?is)\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}|<(script|style|textarea|title)\b[^>]*>.*?</\1\b|<!--(?:-?>|.*?--!?>)"
)


def unclosed_comments(templates: Mapping[str, TemplateText]) -> Iterator[Diagnostic]:
    """Yield an error for each layout and partial whose last comment has no `-->`.

    A comment that one template opens and another one closes is an error too, since each template must work
    alone. Shortcodes are checked where a post uses them. templates: name → template.
    """
    pages = {file.label: file for name, file in templates.items() if "shortcodes/" not in name}
    for template in pages.values():
        text = template.text
        if "<!--" not in text:
            continue
        # spaces of the same length keep the positions
        start = _HIDDEN.sub(lambda match: " " * len(match[0]), text).find("<!--")
        if start < 0:
            continue
        begin = text.rfind("\n", 0, start) + 1
        yield Diagnostic(
            "template",
            'missing "-->": the comment hides the rest of the page',
            template.label,
            Place(text.count("\n", 0, start) + 1, start - begin + 1, len("<!--")),
            text[begin:].partition("\n")[0],
            "write `-->` at the end of the comment",
        )
