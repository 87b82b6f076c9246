"""URLs in a page. Links to pages become links to their files, and URLs of copied files become
root-relative."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from pathlib import PurePosixPath
from urllib.parse import quote, unquote

from ...api.importing import lazy_pattern
from .source import JekyllDocument, JekyllSite, PageContext, address_key

_DESTINATION = lazy_pattern(r"(\]\(\s*)(<[^<>\n]*>|[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)")
_DEFINITION = lazy_pattern(r"^([ ]{0,3}\[[^\]\n^][^\]\n]*\]:[ \t]*)(<[^<>\n]*>|\S+)", re.MULTILINE)
_ATTRIBUTE = lazy_pattern(
    r"(?i)(<[a-z][\w-]*\b(?:\"[^\"]*\"|'[^']*'|[^\"'<>])*?\s(?:href|src|poster|data-src|data-before|data-after)\s*=\s*)"
    r"(\"[^\"]*\"|'[^']*')"
)
_SHORTCODE = lazy_pattern(r"(\{% include img\.html src=\")([^\"]*)(\")")
_HOSTED = lazy_pattern(
    r"https?://(?:raw\.githubusercontent\.com/([\w.-]+)/([\w.-]+)/(?:refs/heads/)?[\w.-]+/"
    r"|github\.com/([\w.-]+)/([\w.-]+)/(?:raw|(?P<shown>blob))/[\w.-]+/)(?P<path>[^?#\s]+)(?P<raw>\?raw=true)?$"
)
_MEDIA = lazy_pattern(r"\.(?:png|jpe?g|gif|svg|webp|avif|mp4|webm|mov|ogv|mp3|ogg|wav|pdf)$", re.IGNORECASE)
_SCHEME = lazy_pattern(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)

PagePath = Callable[[JekyllDocument], PurePosixPath]


def rewrite_links(text: str, context: PageContext, page_path: PagePath) -> str:
    """Convert every URL in a masked text."""
    resolver = UrlResolver(context, page_path)

    def plain(found: re.Match[str]) -> str:
        written = found[2]
        address = written[1:-1] if written.startswith("<") else written
        new = resolver.resolve(address)
        return found[0] if new == address else found[1] + (f"<{new}>" if re.search(r"[\s()]", new) else new)

    def quoted(found: re.Match[str]) -> str:
        mark, address = found[2][0], found[2][1:-1]
        # only Markdown links may point to a Markdown file
        new = resolver.resolve(address.strip(), to_file="href" not in found[1].lower()[-10:])
        return f"{found[1]}{mark}{new}{mark}"

    def several(found: re.Match[str]) -> str:
        return found[1] + ", ".join(resolver.resolve(each) for each in found[2].split(", ")) + found[3]

    text = _DEFINITION.sub(plain, _DESTINATION.sub(plain, text))
    return _SHORTCODE.sub(several, _ATTRIBUTE.sub(quoted, text))


class UrlResolver:
    """Resolver for the URLs of one page."""

    def __init__(self, context: PageContext, page_path: PagePath) -> None:
        self._context = context
        self._site: JekyllSite = context.site
        self._page_path = page_path
        self._here = page_path(context.document)

    def resolve(self, address: str, *, to_file: bool = True) -> str:
        """Return the URL for the new site. In an external URL, only outer spaces and brackets are removed,
        and `//host` becomes `https://host`. to_file: whether the URL of a page is replaced by its Markdown
        file."""
        address = address.strip()
        if doubled_base := re.fullmatch(r"(/\S*)\s+(\1/\S+)", address):
            # both parts contain the base path: `{{ site.baseurl }} {% post_url … %}`
            address = doubled_base[2]
        if doubled := re.fullmatch(r"(?:\(|%5B|\[)+(https?://[^\[\]\s]*?)(?:\)|%5D|\])+(?:\(.*\))?", address):
            # the URL has more brackets than a Markdown link allows
            address = doubled[1]
        path = self._site_path(address)
        if path is None:
            # the new site may be opened from disk, where `//` is not followed by a host
            return f"https:{address}" if re.match(r"//[\w.-]+\.\w", address) else address
        bare, mark, fragment = path.partition("#")
        if not bare:
            return f"#{fragment}" if mark else address
        document = self._site.addresses.get(address_key(unquote(bare)))
        if document is not None and unquote(bare) not in self._site.copied:
            return self._page(document, to_file) + mark + fragment
        return path

    def _page(self, document: JekyllDocument, to_file: bool) -> str:
        target = self._page_path(document)
        # the front page may be a list that the new site generates
        if not to_file or document.address == "/":
            return document.address
        if target == self._here:
            return target.name
        return quote(
            posixpath.relpath(target.as_posix(), self._here.parent.as_posix()), safe="/:@!$&'()*+,;=~"
        )

    def _site_path(self, address: str) -> str | None:
        """Return the root-relative path with its fragment; None for a URL outside of the site."""
        config = self._site.config
        if found := _HOSTED.match(address):
            path = f"/{found['path']}"
            # GitHub shows code and notebooks, but browsers would download copies on this site
            is_shown = found["shown"] and not found["raw"] and not _MEDIA.search(path)
            return path if unquote(path) in self._site.copied and not is_shown else None
        for host in filter(None, (config.text("url").rstrip("/"),)):
            for form in (host, host.replace("https://", "http://"), host.partition(":")[2]):
                if address == form or address.startswith((f"{form}/", f"{form}#")):
                    address = address[len(form) :] or "/"
                    # the URL is on the same host, but outside of this site
                    if config.base_path and not address.startswith(config.base_path):
                        return None
        if address.startswith("//") or _SCHEME.match(address) or "\ue010" in address or "\ue000" in address:
            return None
        if address.startswith("#") or not address:
            return address
        if not address.startswith("/"):
            return self._relative(address)
        while config.base_path and (
            address == config.base_path or address.startswith(f"{config.base_path}/")
        ):
            address = address[len(config.base_path) :] or "/"
        return address

    def _relative(self, address: str) -> str:
        """Resolve a relative URL against the page's old URL, as a browser does."""
        bare, mark, rest = address.partition("#")
        old = self._context.document.address or "/"
        folder = old if old.endswith("/") else posixpath.dirname(old) + "/"
        path = posixpath.normpath(posixpath.join(folder, bare)) + ("/" if bare.endswith("/") else "")
        near = f"/{posixpath.normpath(posixpath.join(self._context.document.path.parent.as_posix(), bare))}"
        for each in (path, near, f"/{bare.lstrip('./')}"):
            if unquote(each) in self._site.copied or address_key(unquote(each)) in self._site.addresses:
                return each + mark + rest
        return address


_IMAGE = lazy_pattern(
    r"!\[[^\[\]]*\]\((?:<(/[^<>\n]*)|(/[^\s()<>]*))|<img\b[^<>]*?\ssrc\s*=\s*[\"'](/[^\"']*)"
)


def missing_images(text: str, context: PageContext) -> None:
    """Add a notice for each image of a page whose file is not in the source."""
    found = [next(filter(None, each), "") for each in _IMAGE.findall(text)]
    for every in _SHORTCODE.findall(text):
        found += [each for each in every[1].split(", ") if each.startswith("/")]
    for address in dict.fromkeys(found):
        if unquote(address).partition("?")[0] not in context.site.copied:
            removed = f'<img src="{address}">' * found.count(address)
            message = f'image not found: "{address}"'
            line = context.lines.find(address.rpartition("/")[2])
            context.notice("missing", message, line=line, removed=removed)
