"""Sources that a site adds to the Content-Security-Policy of its pages, as its settings write them."""

from __future__ import annotations

import re
from typing import Protocol

from .schema import Config

DIRECTIVES = (
    *("script-src", "style-src", "img-src", "font-src", "media-src", "connect-src", "worker-src"),
    *("frame-src", "manifest-src", "object-src", "form-action", "base-uri"),
)
"""Those that a page may say of itself."""
_FROM_SERVERS = frozenset(("frame-ancestors", "sandbox", "report-uri", "report-to"))
_SOURCE = re.compile(
    r"'self'|'sha(?:256|384|512)-[A-Za-z0-9+/=_-]+'|'(?:unsafe-eval|wasm-unsafe-eval|unsafe-hashes|strict-dynamic)'"
    r"|(?:https|http|wss|ws|data|blob|mediastream):"
    r"|(?:(?:https?|wss?)://)?(?:\*\.)?(?:[A-Za-z0-9-]+\.)*[A-Za-z0-9-]+(?::(?:\d{1,5}|\*))?(?:/[\w/.~!$&()*+@=%:-]*)?",
    re.ASCII,
)


class Checker(Protocol):
    """Reports at settings."""

    def wrong(self, message: str, *path: str | int, hint: str = "") -> None:
        """Report the value at `path`."""

    def wrong_key(self, message: str, *path: str | int, hint: str = "") -> None:
        """Report the key at `path`."""


def check_policy(config: Config, checker: Checker) -> None:
    """Report directives and sources that no page can have."""
    declared = config.security.csp
    for directive, sources in ({} if isinstance(declared, str) else declared).items():
        if directive not in DIRECTIVES:
            is_header = directive in _FROM_SERVERS
            hint = "only a server's header can say that" if is_header else f"known: {', '.join(DIRECTIVES)}"
            message = f'the policy of a page has no directive "{directive}"'
            checker.wrong_key(message, "security", "csp", directive, hint=hint)
            continue
        for index, source in enumerate(sources):
            message, hint = _source_problem(directive, source)
            if message:
                checker.wrong(message, "security", "csp", directive, index, hint=hint)


def _source_problem(directive: str, source: str) -> tuple[str, str]:
    """What is wrong with a source, and a hint; empty if it is one."""
    if source == "'unsafe-inline'" and directive != "style-src":
        return "scripts cannot all be allowed", "inline scripts that stand in a page are allowed as they are"
    if source == "'unsafe-inline'" or _SOURCE.fullmatch(source):
        return "", ""
    hint = "write a host such as https://stats.example.org, a scheme such as data:, or a word such as 'self'"
    return f'"{source}" is no source', hint
