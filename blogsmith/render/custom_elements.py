"""Custom elements in a post: browsers show nothing of their own for them, unless a script of the page does.

Distill's are named with what says the same here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..base.diagnostics.model import Place, Reporter
from ..base.html_tags import StartTag
from ..base.patterns import lazy_pattern
from ..model.names import name_set

_RESERVED = name_set(
    "annotation-xml color-profile font-face font-face-format font-face-name font-face-src font-face-uri "
    "missing-glyph"
)
"""Names with a hyphen that SVG and MathML have (HTML 4.13.2)."""
_KEYS = lazy_pattern(r"[\s,;]+")
_SHORT = 60
"""Characters of a text that a hint repeats."""


def report_element(reporter: Reporter, tag: StartTag, text: str, place: Place) -> None:
    """A warning if the tag is of a custom element. text: where the tag stands."""
    if "-" not in tag.name or tag.name in _RESERVED:
        return
    write = _DISTILL.get(tag.name)
    hint = write(tag, text) if write else "only a script could show it; write \\< for a plain <"
    message = f"<{tag.name}> is no element that browsers know"
    reporter.warn("html-element", message, place, hint)


def _citation(tag: StartTag, text: str) -> str:
    keys = [key for key in _KEYS.split(tag.get("key") or tag.get("bibtex-key")) if key]
    return f"write [{'; '.join(f'@{key}' for key in keys or ['key'])}]"


def _footnote(tag: StartTag, text: str) -> str:
    return "write [^name] here, and [^name]: with its text in a line of its own"


def _formula(tag: StartTag, text: str) -> str:
    closing = re.compile(rf"</{tag.name}", re.IGNORECASE).search(text, tag.end)
    tex = text[tag.end : closing.start()].strip() if closing else ""
    tex = tex if 0 < len(tex) <= _SHORT and "\n" not in tex else "…"
    return f"write $${tex}$$" if any(item.name == "block" for item in tag.attributes) else f"write ${tex}$"


def _code(tag: StartTag, text: str) -> str:
    return "write a fence of three backticks, or `code` in a text"


_DISTILL: Mapping[str, Callable[[StartTag, str], str]] = MappingProxyType(
    {
        "d-cite": _citation,
        "d-footnote": _footnote,
        "d-math": _formula,
        "d-code": _code,
        "d-figure": lambda tag, text: "write <figure>, or an image alone in its paragraph",
        "d-byline": lambda tag, text: "write authors: in the front matter",
        "d-title": lambda tag, text: "write title: in the front matter",
        "d-bibliography": lambda tag, text: "write references: in the front matter",
        "d-citation-list": lambda tag, text: "the list of references comes by itself",
        "d-footnote-list": lambda tag, text: "the list of footnotes comes by itself",
    }
)
"""Element of Distill → what to write in its place."""
