"""Elements of Distill's articles: citations, notes, formulas and code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape

from ..bibliography.bibtex import fit_key
from ..text.math import display, inline
from ..text.tags import replace_elements
from .context import PageContext


def distill_code(text: str, context: PageContext) -> str:
    """`<d-code>` and `<d-math>` as fences and formulas; of text in which nothing is hidden."""

    def code(attributes: Mapping[str, str], inner: str) -> str | None:
        if "block" not in attributes:
            return f"`{inner.strip()}`"
        body = inner.strip("\n")
        ticks = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", body)), default=0))
        return f"\n\n{ticks}{attributes.get('language', '') or 'text'}\n{unescape(body)}\n{ticks}\n\n"

    def math(attributes: Mapping[str, str], inner: str) -> str | None:
        tex = unescape(inner).strip()
        return context.finished.mask(display(tex) if "block" in attributes else inline(tex))

    return replace_elements(replace_elements(text, "d-code", code), "d-math", math)


def distill_notes(text: str, context: PageContext) -> str:
    """`<d-cite>` as citations, `<d-footnote>` as footnotes at the end of the text."""
    notes: list[str] = []

    def cite(attributes: Mapping[str, str], inner: str) -> str | None:
        written = attributes.get("key") or attributes.get("bibtex-key") or ""
        keys = [fit_key(each.strip()) for each in re.split(r"[,\s]+", written) if each.strip()]
        for key in keys:
            if key not in context.cited:
                context.cited.append(key)
        return context.finished.mask(f"[{'; '.join(f'@{key}' for key in keys)}]") if keys else inner

    def note(attributes: Mapping[str, str], inner: str) -> str | None:
        notes.append(" ".join(inner.split()))
        return context.finished.mask(f"[^note-{len(notes)}]")

    text = re.sub(r"<(d-cite\b[^>]*?)/>", r"<\1></d-cite>", text, flags=re.IGNORECASE)
    # a bracket behind a citation would make a link of it
    text = re.sub(r"(</d-cite>)(?=\()", r"\1 ", text, flags=re.IGNORECASE)
    text = replace_elements(text, "d-cite", cite)
    text = replace_elements(text, "d-footnote", note)
    text = re.sub(r"</?(?:d-appendix|d-footnote-list|d-citation-list|d-article|d-contents)\b[^>]*>", "", text)
    if not notes:
        return text
    listed = "\n".join(f"[^note-{number}]: {each}" for number, each in enumerate(notes, 1))
    return f"{text.rstrip()}\n\n{listed}\n"
