"""Which function translates which directive."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from . import boxes, listings, lists, media
from .walker import Translate

_BY_FUNCTION: tuple[tuple[Translate, tuple[str, ...]], ...] = (
    (boxes.translate_admonition, ("admonition", "topic", *boxes.ADMONITIONS)),
    (
        boxes.translate_theorem,
        tuple(f"{prefix}:{name}" for prefix in ("prf", "proof") for name in boxes.THEOREMS),
    ),
    (boxes.translate_exercise, ("exercise",)),
    (boxes.translate_solution, ("solution",)),
    (boxes.translate_fold, ("dropdown", "toggle", "details", "panels")),
    (boxes.translate_tab, ("tab-item", "tab", "tabbed")),
    (boxes.translate_tabs, ("tab-set", "tabs")),
    (
        boxes.translate_transparent,
        ("grid", "grid-item", "div", "container", "card-carousel", "rst-class"),
    ),
    (boxes.translate_line_block, ("line-block",)),
    (boxes.translate_rubric, ("rubric", "centered")),
    (boxes.translate_card, ("card", "grid-item-card", "link-button", "button-ref")),
    (boxes.translate_aside, ("margin", "sidebar", "aside", "marginnote", "sidenote")),
    (boxes.translate_quote, ("epigraph", "pull-quote", "highlights", "blockquote", "quote")),
    (media.translate_math, ("math",)),
    (media.translate_image, ("image",)),
    (media.translate_figure, ("figure",)),
    (media.translate_figure_md, ("figure-md",)),
    (media.translate_table, ("table",)),
    (media.translate_list_table, ("list-table",)),
    (media.translate_csv_table, ("csv-table",)),
    (media.translate_video, ("video", "youtube", "vimeo", "iframe")),
    (media.translate_mermaid, ("mermaid",)),
    (listings.translate_code, ("code-block", "code", "sourcecode", "parsed-literal", "prompt")),
    (listings.translate_include_code, ("literalinclude",)),
    (listings.translate_cell, ("code-cell",)),
    (lists.translate_toctree, ("toctree",)),
    (lists.translate_page_list, ("tableofcontents",)),
    (
        lists.translate_dropped,
        (
            "contents",
            "index",
            "tags",
            "sectionauthor",
            "codeauthor",
            "meta",
            "currentmodule",
            "nb-exec-table",
        ),
    ),
    (lists.translate_bibliography, ("bibliography", "footbibliography", "references")),
    (lists.translate_glossary, ("glossary",)),
    (lists.translate_include, ("include",)),
    (lists.translate_raw, ("raw",)),
    (lists.translate_only, ("only", "ifconfig")),
    (lists.translate_rst, ("eval-rst", "rst")),
)
REGISTRY: Mapping[str, Translate] = MappingProxyType(
    {name: function for function, names in _BY_FUNCTION for name in names}
)
