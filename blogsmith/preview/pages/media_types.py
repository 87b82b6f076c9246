"""Media types of files by their names, the same on every machine."""

from __future__ import annotations

from mimetypes import MimeTypes
from types import MappingProxyType

# Types that some versions of the standard library lack or define differently.
_OURS = MappingProxyType(
    {
        ".avif": "image/avif",
        ".js": "text/javascript",
        ".json": "application/json",
        ".mjs": "text/javascript",
        ".ico": "image/x-icon",
        ".wasm": "application/wasm",
        ".webmanifest": "application/manifest+json",
        ".webp": "image/webp",
        ".woff": "font/woff",
        ".woff2": "font/woff2",
        ".whl": "application/zip",
        ".xml": "application/xml",
    }
)
_TEXTS = frozenset(("application/json", "application/xml", "application/manifest+json"))
_NAMES = MappingProxyType({"atom.xml": "application/atom+xml", "feed.json": "application/feed+json"})


def media_type(name: str) -> str:
    """Return the media type of a file, with a charset for text. For an unknown suffix, it is that of binary
    data."""
    suffix = name[name.rfind(".") :].lower() if "." in name else ""
    # Use only the tables of the library, because those of the system differ.
    known = _NAMES.get(name) or _OURS.get(suffix) or MimeTypes().guess_type(f"x{suffix}")[0]
    if known is None:
        return "application/octet-stream"
    return f"{known}; charset=utf-8" if known.startswith("text/") or known in _TEXTS else known
