"""Links of MyST with a scheme of their own: `inv:python#abs`, `doi:10.1000/1`, `project:a.md`."""

from __future__ import annotations

from dataclasses import dataclass

from ...base.patterns import lazy_pattern
from .references import InlineText

BARE = lazy_pattern(r"(?<!\]\()<((?:inv|xref|myst|wiki|doi|project|path):[^<>\s]+)>")
"""A link that is its address alone."""
_SCHEME = lazy_pattern(r"(inv|xref|myst|wiki|doi|project|path):(.+)")
_WIKI = "https://en.wikipedia.org/wiki/"
_DOI = "https://doi.org/"


@dataclass(frozen=True, slots=True)
class SchemeLink:
    """Where such a link leads."""

    address: str
    """Empty: that is not known."""
    text: str
    """For a link without one."""


def scheme_link(target: str, page: InlineText) -> SchemeLink | None:
    """Where a link leads; None for an address of another kind."""
    found = _SCHEME.fullmatch(target)
    if found is None or found[1] in ("project", "path"):
        return None
    scheme, rest = found[1], found[2]
    if scheme == "doi":
        return SchemeLink(f"{_DOI}{rest.removeprefix(_DOI)}", rest)
    if scheme == "wiki":
        name = rest.lstrip("/")
        return SchemeLink(f"{_WIKI}{name}", name.replace("_", " "))
    path, _, name = rest.partition("#")
    project = path.partition(":")[0].partition("/")[0]
    base = page.index.inventories.get(project, "")
    if base:
        message = f"a link into the index of {project} leads to its front page"
        page.notice("changed", message, target, "give it the address of what it means")
    else:
        page.notice("left", f"{target} leads to a project whose address is not known", target)
    return SchemeLink(base, name.removeprefix("*").lstrip(".") or path)


def own_target(target: str) -> str:
    """A link's target without the schemes that mean a file of the book."""
    found = _SCHEME.fullmatch(target)
    return found[2] if found and found[1] in ("project", "path") else target
