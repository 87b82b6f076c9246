"""The Content-Security-Policy of a page: only the page's own content may load and run.

It is a `<meta>` in the page, so it applies on any server, and when the page is opened from disk. It is
derived from the finished page, so no layout can forget it. If posts are by untrusted authors, a page may only
load and run what blogsmith itself allows in posts, and everything else is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from types import MappingProxyType

from msgspec import Struct

from ...base.diagnostics.characters import lower_allowed, remove_forbidden
from ...base.diagnostics.model import Diagnostic
from ...base.patterns import lazy_pattern
from ...config.load import CONFIG_NAME
from ...config.schema import Config
from ...config.services import service_sources
from ...model.texts import PageParts
from .outline import PageOutline, page_outline
from .sources import SELF, Sources, page_sources
from .tags import PageTag, add_noopener, has_target, page_tags

_ORDER = (
    *("default-src", "script-src", "style-src", "style-src-attr", "img-src", "font-src", "media-src"),
    *("connect-src", "worker-src", "frame-src", "manifest-src", "object-src", "form-action", "base-uri"),
)
_ALWAYS = frozenset(("default-src", "form-action", "base-uri"))
"""Directives that every policy has. The last two do not fall back to `default-src`."""
_BUILT_IN_SOURCES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        **{f"{kind}-src": frozenset((SELF,)) for kind in ("style", "media", "connect", "worker")},
        "script-src": frozenset((SELF, "'wasm-unsafe-eval'")),
        "manifest-src": frozenset((SELF,)),
        "img-src": frozenset((SELF, "data:", "blob:")),
        "font-src": frozenset((SELF, "data:")),
        "style-src-attr": frozenset(("'unsafe-inline'",)),
        "frame-src": frozenset(("https://www.youtube-nocookie.com", "https://player.vimeo.com")),
    }
)
"""Directive → sources that pages of untrusted posts may use, because blogsmith and its themes need them."""
_SPACE = lazy_pattern(r"https://[a-z0-9-]+\.hf\.space")
_META = "content-security-policy"
_FRONT = lazy_pattern(rb"\s*(?:<!doctype[^>]*>\s*)?(?:<html\b[^>]*>\s*)?(?:<head\b[^>]*>\s*)?", re.IGNORECASE)
_BODY = lazy_pattern(rb"<body[\s>]", re.IGNORECASE)
_ENCODING_BYTES = 1024
"""Number of bytes at the start of a page that browsers search for its encoding."""


class GuardedPage(Struct, frozen=True):
    """A page with its policy."""

    html: bytes
    problems: tuple[Diagnostic, ...] = ()
    """Warnings about content of the page that the policy blocks."""


def guard_parts(parts: PageParts, config: Config) -> GuardedPage:
    """Join the parts of a page. Return the page as `guard_page` does, but without forbidden characters."""
    html = b"".join((parts.before, parts.body.data, parts.after))
    outline = page_outline(parts) if config.security.csp != "off" else None
    if outline and _policy_tag(outline.html, outline.tags) is None:
        return _with_policy(html, outline, config)
    low = lower_allowed(html)
    if low is None:
        return guard_page(remove_forbidden(html.decode("utf-8", "surrogatepass")).encode(), config)
    return guard_page(html, config, low)


def guard_page(html: bytes, config: Config, low: bytes | None = None) -> GuardedPage:
    """Return the finished page with its policy, and with `rel=noopener` on links to new windows.

    low: The page in lower case, if available.
    """
    low = low or html.lower()
    tags = tuple(page_tags(html, low))
    if config.security.csp == "off" or _policy_tag(html, tags) is not None:
        return GuardedPage(add_noopener(html, tags))
    return _with_policy(html, PageOutline(html, low, tags), config)


def _with_policy(html: bytes, outline: PageOutline, config: Config) -> GuardedPage:
    declared = config.security.csp
    extra: Mapping[str, Sequence[str]] = {} if isinstance(declared, str) else declared
    found = page_sources(outline.tags, outline.low)
    allowed = _builder_sources(found, config) if config.markup.untrusted else found
    sources = {key: {*allowed.get(key, ()), *extra.get(key, ())} for key in (*allowed, *extra)}
    meta = f'<meta http-equiv="Content-Security-Policy" content="{_escape(format_policy(sources))}">\n'
    at = _place(outline.html, outline.tags)
    front = html[:at] if at and html[at - 1 : at] == b"\n" else html[:at] + b"\n" if at else b""
    rest = add_noopener(html[at:]) if has_target(outline.tags) else memoryview(html)[at:]
    return GuardedPage(b"".join((front, meta.encode(), rest)), tuple(_report_blocked(found, sources)))


def format_policy(sources: Mapping[str, Iterable[str]]) -> str:
    """Return the text of a policy. sources: directive → its sources."""
    parts = []
    for directive in _ORDER:
        named = set(sources.get(directive, ()))
        if "'unsafe-inline'" in named:
            # browsers ignore the source if there is a hash
            named = {source for source in named if not source.startswith("'sha")}
        if named or directive in _ALWAYS:
            parts.append(" ".join((directive, *(sorted(named) or ["'none'"]))))
    return "; ".join(parts)


def add_sources(html: bytes, more: Mapping[str, Sequence[str]]) -> bytes:
    """Return the page with `more` sources in its policy, by directive. A page without a policy is returned
    unchanged."""
    tag = _policy_tag(html, page_tags(html))
    span = tag.span("content") if tag else None
    if tag is None or span is None:
        return html
    now: dict[str, list[str]] = {}
    for part in tag.attributes["content"].split(";"):
        directive, *named = part.split() or [""]
        now.setdefault(directive.lower(), named)
    now.pop("", None)
    for directive, wanted in more.items():
        # if a policy has neither directive, it forbids nothing of this kind
        if directive in now or "default-src" in now:
            named = [one for one in now.get(directive, now.get("default-src", [])) if one != "'none'"]
            now[directive] = [*named, *(one for one in wanted if one not in named)]
    text = "; ".join(" ".join((directive, *named)) for directive, named in now.items())
    start, end = span
    return html[:start] + f'"{_escape(text)}"'.encode() + html[end:]


def _builder_sources(found: Sources, config: Config) -> Sources:
    """Return those sources of a page that blogsmith itself adds or that the settings allow."""
    kept = {key: sources & _BUILT_IN_SOURCES.get(key, frozenset()) for key, sources in found.items()}
    spaces = {source for source in found.get("frame-src", ()) if _SPACE.fullmatch(source)}
    chosen = service_sources(config)
    hosts = found.get("img-src", set()) if config.images.remote in ("warn", "allow") else set()
    return {
        **kept,
        "frame-src": kept.get("frame-src", set()) | spaces | _service_hosts(found, chosen, "frame-src"),
        "connect-src": kept.get("connect-src", set()) | _service_hosts(found, chosen, "connect-src"),
        "img-src": kept.get("img-src", set()) | hosts,
    }


def _service_hosts(found: Sources, chosen: Sources, directive: str) -> set[str]:
    """Return the sources of services that the site has enabled (`chosen`) and the page uses (`found`)."""
    return found.get(directive, set()) & chosen.get(directive, set())


def _report_blocked(found: Sources, allowed: Mapping[str, set[str]]) -> Iterable[Diagnostic]:
    """Yield a warning for each source that the page uses but its policy does not allow."""
    for directive in sorted(found):
        for source in sorted(found[directive] - allowed.get(directive, set()) - {"'unsafe-hashes'"}):
            message = f'Content Security Policy blocks "{source}" ({directive})'
            hint = f'write `security: {{csp: {{{directive}: ["{source}"]}}}}` if the theme needs it'
            yield Diagnostic("csp-stopped", message, CONFIG_NAME, hint=hint, severity="warning")


def _policy_tag(html: bytes, tags: Iterable[PageTag]) -> PageTag | None:
    """Return the policy tag in the `<head>`, or None. Browsers ignore it elsewhere."""
    for tag in tags:
        if tag.name == "meta" and tag.attributes.get("http-equiv", "").strip().lower() == _META:
            return None if _BODY.search(html, 0, tag.start) else tag
    return None


def _place(html: bytes, tags: Sequence[PageTag]) -> int:
    """Return the offset for the policy: before everything that it applies to, but after the declaration of
    the encoding."""
    front = _FRONT.match(html)
    start = front.end() if front else 0
    for tag in tags:
        if tag.name in ("html", "head"):
            continue  # no policy can be before them
        if tag.start >= _ENCODING_BYTES or tag.name not in ("meta", "title"):
            break
        is_encoding = (
            "charset" in tag.attributes or tag.attributes.get("http-equiv", "").lower() == "content-type"
        )
        if tag.name == "meta" and is_encoding:
            return tag.end + (html[tag.end : tag.end + 1] == b"\n")
    return start


def _escape(text: str) -> str:
    return escape(text, quote=True).replace("&#x27;", "'")
