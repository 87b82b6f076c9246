"""Table of front matter keys that mean something in other systems but have no effect in blogsmith.

Like every unknown key, they are stored for the theme. Some names are never used by a site itself, so they
always cause a warning. The others may be keys of the site's own templates: `site/foreign_keys.py` warns about
them if no template reads them. Keys that decide who may read a page are in `model/protection.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from msgspec import Struct

from ..model.dates import parse_date
from ..model.names import name_set


class ForeignKey(Struct, frozen=True):
    """Keys of other systems that have the same meaning."""

    keys: frozenset[str]
    """Names of the keys; case, `-` and `_` are ignored."""
    systems: str
    """Names of the systems that have these keys, for the manual."""
    ours: str = ""
    """Key of blogsmith with the same meaning; empty if there is none."""
    hint: str = ""
    """Hint for the author; empty: a hint that names the key in `ours`."""
    values: frozenset[str] = frozenset()
    """Values, in lower case, that have an effect in the other systems; empty: all values."""
    is_unambiguous: bool = False
    """Whether no site would use these names for keys of its own."""

    @property
    def advice(self) -> str:
        """The hint to show."""
        return self.hint or f"rename it to `{self.ours}:`"

    def no_effect_message(self, key: str) -> str:
        """Return the message about a key that the author wrote."""
        why = f'because the key for it is "{self.ours}"' if self.ours and not self.hint else "here"
        return f'"{key}" has no effect {why}'

    def applies_to(self, value: object) -> bool:
        """Return whether a key with this value has an effect in the other systems."""
        written = str(value).casefold().replace(" ", "")
        if _ACCEPTS.get(self.ours) is _is_date and not _is_date(value):
            # `published: true` is the default and needs no warning
            return False
        return value is not None and (not self.values or written in self.values)

    def is_rename(self, value: object) -> bool:
        """Return whether the key in `ours` accepts the value, with the same meaning."""
        accepts = _ACCEPTS.get(self.ours)
        return accepts is not None and not self.hint and accepts(value)


def _is_date(value: object) -> bool:
    try:
        return isinstance(value, str) and parse_date(value) is not None
    except ValueError:
        return False


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_list(value: object) -> bool:
    return _is_text(value) or (isinstance(value, list) and all(map(_is_text, value)))


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _is_part(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


_ACCEPTS: Mapping[str, Callable[[object], bool]] = MappingProxyType(
    {
        **dict.fromkeys(("date", "updated", "expiry_date"), _is_date),
        **dict.fromkeys(("image", "description", "subtitle", "translation_key"), _is_text),
        **dict.fromkeys(("toc", "comments", "reading_time", "numbering"), _is_flag),
        "aliases": _is_list,
        "part": _is_part,
    }
)
"""Key of blogsmith → function that returns whether the key accepts a value. The values of keys that are not
listed differ from the values in other systems."""
_PYTHON = "remove it; set `execute` in blogsmith.yaml to choose a Python, or `execute: {kernel: NAME}` here"
_ORDER = "remove it: lists are sorted by `date`, and the parts of a series by `part`"
_UNLISTED = "write `unlisted: true` to keep the page out of lists, search and the sitemap"
_NO = name_set("false no off never none")
_YES = name_set("true yes on always")
ROWS: tuple[ForeignKey, ...] = (
    ForeignKey(
        name_set("lastmod last_modified_at date-modified"),
        "Hugo, Jekyll, Quarto",
        "updated",
        is_unambiguous=True,
    ),
    ForeignKey(name_set("macros"), "MathJax", hint="write `math: {macros: …}`", is_unambiguous=True),
    ForeignKey(name_set("packages"), "LaTeX", hint="write `math: {packages: …}`", is_unambiguous=True),
    ForeignKey(
        name_set("jupyter kernelspec kernel engine knitr jupytext"),
        "Quarto, Jupytext",
        hint=_PYTHON,
        is_unambiguous=True,
    ),
    ForeignKey(
        name_set("updated_date updated_at last_updated modified date_modified modified_date last_modified"),
        "Astro, Pelican, VitePress",
        "updated",
    ),
    ForeignKey(
        name_set("pubdate published date_published created created_at date_created creation_date"),
        "Astro, Ghost, Obsidian",
        "date",
    ),
    ForeignKey(name_set("expires expiration_date"), "Hexo, WordPress", "expiry_date"),
    ForeignKey(
        name_set(
            "cover cover_image featured_image feature_image thumbnail hero_image banner teaser og_image"
        ),
        "Hugo themes, Ghost, Astro, dev.to",
        "image",
    ),
    ForeignKey(name_set("summary excerpt"), "Hugo, Jekyll, WordPress", "description"),
    ForeignKey(name_set("subheading"), "Jekyll themes", "subtitle"),
    ForeignKey(name_set("show_toc table_of_contents show_table_of_contents"), "Hugo themes", "toc"),
    ForeignKey(name_set("show_comments enable_comments commentable"), "Hugo themes", "comments"),
    ForeignKey(name_set("show_reading_time read_time"), "Hugo and Jekyll themes", "reading_time"),
    ForeignKey(name_set("number-sections"), "Quarto, Pandoc", "numbering"),
    ForeignKey(name_set("redirect_from redirects"), "Jekyll, MkDocs", "aliases"),
    ForeignKey(
        name_set("redirect_to"),
        "Jekyll",
        hint="write the URL of this page under `aliases:` in the other page",
    ),
    ForeignKey(name_set("series_order series_index series_weight series_part"), "Hugo themes", "part"),
    ForeignKey(
        name_set("language locale"), "WordPress, Next.js", "lang", "write `lang:` with a tag such as `de`"
    ),
    ForeignKey(name_set("taxonomies"), "Zola", hint="write `tags:` and `categories:` without `taxonomies`"),
    ForeignKey(name_set("save_as"), "Pelican", "permalink", "write `permalink:` with a path such as `/a/b/`"),
    ForeignKey(
        name_set("mathjax katex use_mathjax has_math enable_math html-math-method"),
        "Jekyll and Hugo themes, Quarto",
        hint="remove it: formulas need no setting",
    ),
    ForeignKey(name_set("mermaid"), "Jekyll themes", hint="remove it: diagrams need no setting"),
    ForeignKey(
        name_set("weight nav_order sidebar_position order menu_order"), "Hugo, Zola, Docusaurus", hint=_ORDER
    ),
    ForeignKey(name_set("pin pinned sticky"), "Jekyll and Hexo themes", hint=_ORDER, values=_YES),
    ForeignKey(name_set("menu menus nav"), "Hugo, al-folio", hint="set `menu` in blogsmith.yaml"),
    ForeignKey(
        name_set("noindex robots_no_index sitemap_exclude"), "Hugo themes", "unlisted", _UNLISTED, _YES
    ),
    ForeignKey(
        name_set("robots"),
        "Jekyll themes",
        "unlisted",
        _UNLISTED,
        name_set("noindex noindex,nofollow noindex,follow"),
    ),
    ForeignKey(name_set("sitemap"), "Jekyll", "unlisted", _UNLISTED, _NO),
    ForeignKey(
        name_set("search_hidden search_exclude exclude_search exclude_from_search"),
        "Hugo themes, Just the Docs",
        "search",
        "write `search: false`",
        _YES,
    ),
    ForeignKey(
        name_set("canonical_url"),
        "dev.to, Hugo themes",
        hint="remove it: the canonical URL is that of the page",
    ),
    ForeignKey(name_set("format"), "Quarto", hint="remove it: options such as `toc` are keys of their own"),
    ForeignKey(name_set("code-fold"), "Quarto", hint="write `fold` after the language of a fence"),
    ForeignKey(
        name_set("hide"),
        "Material for MkDocs",
        "toc",
        "write `toc: false`",
        name_set("['toc'] ['navigation','toc'] ['toc','navigation']"),
    ),
)
"""The table, in the order of the manual."""


def _fold(key: str) -> str:
    return key.casefold().replace("-", "").replace("_", "")


_INDEX: Mapping[str, ForeignKey] = MappingProxyType({_fold(key): row for row in ROWS for key in row.keys})
HINTS: Mapping[str, str] = MappingProxyType(
    {key: row.advice for row in ROWS if row.is_unambiguous for key in sorted(row.keys)}
)
"""Key that always causes a warning → hint, for editors."""


def find_foreign_key(key: str) -> ForeignKey | None:
    """Return the row of a key, or None."""
    return _INDEX.get(_fold(key))
