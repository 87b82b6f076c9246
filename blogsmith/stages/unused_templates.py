"""Layouts and partials of a site that no page and no template uses; often the name of an override is
misspelled.

Templates of bundled and installed themes are not checked, nor are shortcodes, because later posts may use
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from types import MappingProxyType

from ..base.diagnostics.model import Diagnostic, nearest
from ..base.patterns import lazy_pattern
from ..model.documents import Document
from ..model.names import name_set
from ..project.context import SiteContext
from ..render.templates.files import TEMPLATE_KINDS, TemplateFile

_COMMENT = lazy_pattern(r"\{#.*?#\}", re.DOTALL)
_LOADING_TAG = lazy_pattern(r"\{%[-+]?\s*(?:include|extends|import|from)\b(.*?)%\}", re.DOTALL)
_STRING = lazy_pattern(r"\"[^\"]*\"|'[^']*'")
KIND_LAYOUTS = name_set("home section post page tags tag series archive not_found search")
"""Layouts that pages use by their kind, without naming them in front matter."""
_EQUIVALENTS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("single", "article", "entry"), "post"),
        **dict.fromkeys(("list", "blog"), "section"),
        **dict.fromkeys(("index", "front-page"), "home"),
        **dict.fromkeys(("baseof", "default", "_default", "main"), "base"),
        **dict.fromkeys(("taxonomy", "terms", "categories"), "tags"),
        **dict.fromkeys(("term", "category"), "tag"),
        **dict.fromkeys(("404", "notfound", "not-found"), "not_found"),
        "archives": "archive",
    }
)
"""Name of a layout in other systems → name of the equivalent layout of blogsmith."""


def find_unused_templates(context: SiteContext, documents: Iterable[Document]) -> list[Diagnostic]:
    """Return a warning for each layout and partial of the site that nothing uses.

    documents: All documents of the site, also those that are not built.
    """
    files = context.theme.files
    others = [name for name in files.templates if _is_candidate(name, files.templates, files.own_folders)]
    if not others:
        return []
    texts = {file.label: _COMMENT.sub("", file.text) for file in files.templates.values()}
    if any(map(_is_computed, _loading_expressions(texts.values()))):
        return []
    named = {document.front.template for document in documents}
    unused = [name for name in others if not _is_used(name, files.templates, texts, named)]
    return [_warning(name, files.templates) for name in sorted(unused)]


def _is_candidate(name: str, templates: Mapping[str, TemplateFile], own: tuple[str, ...]) -> bool:
    """Return whether a template of the site neither overrides another nor is the layout of a kind of page."""
    kind, _, rest = name.partition("/")
    label = templates[name].label
    if (
        not label.startswith(own)
        or kind not in ("layouts", "partials")
        or rest.removesuffix(".html") in KIND_LAYOUTS
    ):
        return False
    return not any(other.endswith(f"/{name}") and file.label != label for other, file in templates.items())


def _loading_expressions(texts: Iterable[str]) -> Iterator[str]:
    return (tag[1] for text in texts for tag in _LOADING_TAG.finditer(text))


def _is_computed(expression: str) -> bool:
    """Return whether a template computes the name of the template that it loads, so that it may load any
    template."""
    rest = _STRING.sub("", expression)
    return rest == expression or any(sign in rest for sign in "~+|(")


def _is_used(
    name: str, templates: Mapping[str, TemplateFile], texts: Mapping[str, str], named: set[str]
) -> bool:
    kind, _, rest = name.partition("/")
    own = templates[name].label
    is_layout = kind == "layouts" and rest.removesuffix(".html") in named
    return is_layout or any(name in text for label, text in texts.items() if label != own)


def _warning(name: str, templates: Mapping[str, TemplateFile]) -> Diagnostic:
    kind, _, rest = name.partition("/")
    path, stem = PurePosixPath(rest), PurePosixPath(rest).stem
    meant = _find_meant(name, templates)
    if kind == "layouts":
        use = (
            f"write `template: {stem}` in a post"
            if len(path.parts) == 1
            else f"move it to `layouts/{path.name}`"
        )
    else:
        use = f'write `{{% include "{name}" %}}` in a template'
    if meant:
        exists = meant in templates and templates[meant].label == meant
        use = f"move what you need to `{meant}`" if exists else f"rename it to `{meant}`"
    return Diagnostic(
        "template-unused",
        f'"{name}" is not used by any page or template',
        templates[name].label,
        hint=f"{use}, or remove the file",
        severity="warning",
    )


def _find_meant(name: str, templates: Mapping[str, TemplateFile]) -> str | None:
    """Return a similar name that would make the template used, or None."""
    kind, _, rest = name.partition("/")
    inner, _, inner_rest = rest.partition("/")
    if inner.lstrip("_") in TEMPLATE_KINDS:
        return f"{inner.lstrip('_')}/{inner_rest}"
    stem = PurePosixPath(rest).stem
    if kind == "layouts" and (ours := _EQUIVALENTS.get(stem.casefold())):
        return f"layouts/{ours}.html"
    known = [
        other
        for other, file in templates.items()
        if other.startswith(f"{kind}/") and file.label != templates[name].label
    ]
    longer = (other for other in known if PurePosixPath(other).stem.endswith(f"_{stem}"))
    return next(longer, None) or nearest(f"{kind}/{stem}.html", known)
