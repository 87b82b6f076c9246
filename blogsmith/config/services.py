"""Third-party services that pages may use for comments and analytics: the supported providers, the settings
that they require, and the hosts that browsers connect to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from ..base.patterns import lazy_pattern
from ..base.schema.forms import Form, accepts, choice_form
from ..base.schema.slots import Slot
from .page_services import Analytics, Comments
from .schema import Config

_OTHER_SERVICE = "for another service, see “{page}” in the manual"
ANALYTICS_HINT = (
    "write `analytics: {provider: goatcounter, site: CODE}`, or `plausible` or `umami`; "
    + _OTHER_SERVICE.format(page="Google Analytics")
)
COMMENTS_HINT = (
    "write `comments: {provider: utterances, repo: OWNER/NAME}`, or `giscus`; "
    + _OTHER_SERVICE.format(page="Content Security Policy of pages")
)
OTHER_ANALYTICS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(
        (
            *("google", "google-analytics", "google_analytics", "googleanalytics", "ga", "ga4", "gtag"),
            *(
                "cloudflare",
                "fathom",
                "matomo",
                "mixpanel",
                "openpanel",
                "piwik",
                "posthog",
                "simpleanalytics",
            ),
        ),
        ANALYTICS_HINT,
    )
)
"""Maps an analytics provider of other generators, in lower case, to a hint for the author."""
OTHER_COMMENTS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(
        ("commento", "cusdis", "discourse", "disqus", "facebook", "hyvor", "isso", "remark42", "waline"),
        COMMENTS_HINT,
    )
)
OTHER_KEYS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(
            ("google_analytics", "googleAnalytics", "google_analytics_id", "gtag"), ANALYTICS_HINT
        ),
        **dict.fromkeys(("disqus", "disqus_shortname", "disqusShortname"), COMMENTS_HINT),
    }
)
"""Maps a setting of other generators to a hint for the author."""
GISCUS = "https://giscus.app"
UTTERANCES = "https://utteranc.es"
BLUESKY_API = "https://public.api.bsky.app"
_HOSTS: Mapping[str, str] = MappingProxyType({"giscus": GISCUS, "utterances": UTTERANCES})
_REQUIRED_SETTINGS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"giscus": ("repo", "repo_id", "category", "category_id"), "utterances": ("repo",)}
)
_ANALYTICS_HOSTS: Mapping[str, str] = MappingProxyType(
    {
        "goatcounter": "https://{site}.goatcounter.com",
        "plausible": "https://plausible.io",
        "umami": "https://cloud.umami.is",
    }
)
_REPO = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[\w.-]{1,100}")
_ID = lazy_pattern(r"[\w=-]{4,100}")
_SITES: Mapping[str, tuple[re.Pattern[str], str]] = MappingProxyType(
    {
        "goatcounter": (
            re.compile(r"[a-z0-9][a-z0-9-]{0,62}"),
            "write only the name before `.goatcounter.com`, such as `mysite`",
        ),
        "plausible": (
            re.compile(r"[\w.-]+\.[a-z]{2,}(?:/\S*)?"),
            "write the domain that the site has there, such as `example.org`",
        ),
        "umami": (
            re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"),
            "write the id of the website: 8-4-4-4-12 hexadecimal digits",
        ),
    }
)
_HOST = lazy_pattern(r"https://[a-z0-9.-]+(?::\d+)?")
MASTODON = lazy_pattern(r"(https://[a-z0-9.-]+(?::\d+)?)/@[\w.-]+(?:@[\w.-]+)?/(\d{1,30})/?")
BLUESKY = lazy_pattern(r"https://bsky\.app/profile/([\w.:-]+)/post/(\w{1,40})/?")
THREAD_HINT = "write `https://mastodon.example/@name/123456` or `https://bsky.app/profile/name/post/abc`"


class Thread(NamedTuple):
    """A post on Mastodon or Bluesky whose replies are shown as comments of a page."""

    provider: Literal["mastodon", "bluesky"]
    url: str
    """URL of the post, for readers."""
    host: str
    """`https://` and the host of the API that returns the replies."""
    request: str
    """Path and query of the API request."""


def read_thread(written: str) -> Thread | None:
    """Parse the URL of a thread. Return None if it is not a Mastodon or Bluesky post."""
    if found := MASTODON.fullmatch(written):
        return Thread("mastodon", written, found[1], f"/api/v1/statuses/{found[2]}/context")
    if found := BLUESKY.fullmatch(written):
        uri = f"at://{found[1]}/app.bsky.feed.post/{found[2]}"
        request = f"/xrpc/app.bsky.feed.getPostThread?parentHeight=0&uri={uri}"
        return Thread("bluesky", written, BLUESKY_API, request)
    return None


def comments_host(comments: Comments) -> str:
    """Return the host of the comments, such as `https://giscus.app`, or an empty string if comments are
    off."""
    return _HOSTS.get(comments.provider, "")


def analytics_host(analytics: Analytics) -> str:
    """Return the analytics host, such as `https://mysite.goatcounter.com`, or an empty string if analytics
    are off."""
    if analytics.provider == "none":
        return ""
    return analytics.host or _ANALYTICS_HOSTS[analytics.provider].format(site=analytics.site)


def service_sources(config: Config) -> dict[str, set[str]]:
    """Map Content-Security-Policy directives to the hosts of the services that the site uses."""
    frame, connect = comments_host(config.comments), analytics_host(config.analytics)
    return {
        **({"frame-src": {frame}} if frame else {}),
        **({"connect-src": {connect}} if connect else {}),
    }


def _if_provider(provider: str, then: Form) -> Form:
    """Return a schema that applies `then` if the provider is `provider`."""
    here = {"properties": {"provider": choice_form([provider])}, "required": ["provider"]}
    return {"if": here, "then": then}


def _comments_form(provider: str) -> Form:
    shapes: dict[str, Form] = {"repo": {"pattern": _REPO}, "category": {"minLength": 1}}
    names = _REQUIRED_SETTINGS[provider]
    return _if_provider(
        provider,
        {"properties": {name: shapes.get(name, {"pattern": _ID}) for name in names}, "required": list(names)},
    )


@accepts({"required": ["provider"], "allOf": [_comments_form(provider) for provider in _REQUIRED_SETTINGS]})
def check_comments(comments: Comments, slot: Slot) -> Comments | None:
    """Check that comments have all settings that their provider requires. Return None after an error."""
    if "provider" not in slot.value:
        slot.report(
            'missing key "provider" in "comments"', "write `provider: giscus` or `provider: utterances`"
        )
    is_right = True
    for name in _REQUIRED_SETTINGS.get(comments.provider, ()):
        value = getattr(comments, name)
        pattern = _REPO if name == "repo" else _ID if name.endswith("_id") else None
        if not value:
            hint = (
                f"add `{name}: …`, as {GISCUS} shows it for your repository"
                if comments.provider == "giscus"
                else ""
            )
            slot.report(
                f'missing key "{name}" for "{comments.provider}"',
                hint or "write the repository as `owner/name`",
            )
            is_right = False
        elif pattern and not pattern.fullmatch(value):
            hint = "write it as `owner/name`" if name == "repo" else f"copy it from {GISCUS}"
            slot.child(name).report(f'invalid GitHub {name} "{value}"', hint)
            is_right = False
    return comments if is_right else None


def _analytics_form(provider: str) -> Form:
    host = {"anyOf": [{"pattern": _HOST}, {"maxLength": 0}]}
    properties = {"site": {"pattern": _SITES[provider][0]}, "host": host}
    return _if_provider(provider, {"properties": properties, "required": ["site"]})


@accepts({"required": ["provider"], "allOf": [_analytics_form(provider) for provider in _SITES]})
def check_analytics(analytics: Analytics, slot: Slot) -> Analytics | None:
    """Check that analytics have all settings that their provider requires. Return None after an error."""
    if "provider" not in slot.value:
        slot.report(
            'missing key "provider" in "analytics"',
            "write `provider: goatcounter`, or `plausible` or `umami`",
        )
    if analytics.provider == "none":
        return None
    pattern, hint = _SITES[analytics.provider]
    if not analytics.site:
        slot.report(f'missing key "site" for "{analytics.provider}"', hint)
        return None
    if not pattern.fullmatch(analytics.site):
        slot.child("site").report(f'invalid {analytics.provider} site "{analytics.site}"', hint)
        return None
    if analytics.host and not _HOST.fullmatch(analytics.host):
        slot.child("host").report(
            f'invalid host "{analytics.host}": expected "https://" and a host without a path',
            "write a URL such as `https://stats.example.org`",
        )
        return None
    return analytics
