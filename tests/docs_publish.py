"""Files that `blogsmith publish setup` writes, for the manual."""

from __future__ import annotations

from collections.abc import Sequence

from blogsmith.publish.hosted_site import HostedSite
from blogsmith.publish.repository import Repository
from blogsmith.publish.targets import TARGETS
from blogsmith.site.host_files import make_rules

_ADDRESSES = {"cloudflare": "https://notes.example.org", "nginx": "https://notes.example.org"}
_LANGUAGES = {".yml": "yaml", ".toml": "toml", ".sh": "bash", ".conf": "nginx"}


def part(names: Sequence[str]) -> str:
    """Return the files of a host, each in a fence with its path."""
    return "\n\n".join(
        f'````{_language(path)} title="{path}"\n{text.rstrip()}\n````'
        for name in names
        for path, text in TARGETS[name].files(_site(name)).items()
    )


def _site(name: str) -> HostedSite:
    url = _ADDRESSES.get(name, "" if TARGETS[name].address_variable else "https://example.org/notes")
    path = url.partition("://")[2].partition("/")[2]
    return HostedSite(
        base_url=url,
        has_own_base_url=bool(url),
        repository=Repository(host="github.com", path="ada/notes"),
        redirects=make_rules([("/posts/new-name/", ["/posts/old-name/"])], f"/{path}" if path else ""),
        destination="ada@example.org:/srv/www/notes/" if name == "rsync" else "/srv/www/notes/",
        date="2026-11-23",
    )


def _language(path: str) -> str:
    return next((name for ending, name in _LANGUAGES.items() if path.endswith(ending)), "text")
