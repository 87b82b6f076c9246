"""`blogsmith check --links`: check the links of pages to other hosts, and report problems at their
locations."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from ..build.snapshot import SiteSnapshot
from ..config.checks import ExternalLinks
from ..config.load import CONFIG_NAME
from ..model.remote_images import normalize_remote_url
from ..network.connection import Limits
from ..network.linkcheck.check import (
    CheckPlan,
    GateClock,
    HostGates,
    LinkCheck,
    LinkVerdict,
    Probe,
    is_due,
    read_verdicts,
    write_verdicts,
)
from ..network.linkcheck.findings import API, find_copy, link_diagnostics
from ..network.linkcheck.link_uses import LinkUse, UrlIndex, find_urls, find_uses
from ..project.focus import is_within
from ..project.report import BuildLog
from ..project.trust.consent import is_trusted
from ..stages.bibliographies import SiteBibliographies

_FEW_HOSTS = 3
_TOTAL_FACTOR = 3
"""Time limit of a whole request, as a multiple of the limit for a server that sends nothing."""


class LinkOptions(Struct, frozen=True):
    """Options of a link check, from the command line or a test."""

    now_s: int
    """Current time in seconds since 1970."""
    recheck_all: bool = False
    """Check all links again, including those with a valid result."""
    files: tuple[str, ...] = ()
    """Check only links in these files and folders; empty: in all."""
    limits: Limits = Limits()
    """Limits of requests. The settings replace its times."""
    clock: GateClock = GateClock()
    archive_api: str = API


class LinkCounts(Struct, frozen=True):
    """Counts of a link check."""

    checked: int = 0
    hosts: int = 0
    still_valid: int = 0
    """Number of URLs whose result of an earlier check is still valid."""
    ignored: int = 0
    is_offline: bool = False
    """Whether no host answered at all. Then nothing is reported or recorded, because this machine is probably
    offline."""
    unknown: int = 0
    """Number of URLs on hosts that reject requests of programs."""


def check_links(site: SiteSnapshot, options: LinkOptions, log: BuildLog) -> LinkCounts:
    """Check the links to other hosts on the site's pages. Add problems to the log. Return counts of the
    results."""
    settings, root = site.config.links, site.context.root
    uses = [
        found for found in _find_uses(site) if not options.files or is_within(found[1].path, options.files)
    ]
    named = {address: set[str]() for address, _ in uses}
    for address, use in uses:
        named[address].add(use.fragment)
    wanted = {address: names for address, names in named.items() if not _is_ignored(address, settings)}
    verdicts = {} if options.recheck_all else read_verdicts(root)
    due = {
        address: names
        for address, names in wanted.items()
        if is_due(verdicts.get(address), names, options.now_s, settings.days)
    }
    before = dict(verdicts)
    is_offline = not _check_due_links(site, due, verdicts, options, log)
    _add_copies(site, uses, wanted, verdicts, options)
    if is_offline:
        verdicts = before
    found = link_diagnostics(((address, use) for address, use in uses if address in wanted), verdicts)
    log.add(found)
    return LinkCounts(
        checked=len(due),
        hosts=len({urlsplit(address).netloc for address in due}),
        still_valid=len(wanted) - len(due),
        is_offline=is_offline,
        ignored=len(named) - len(wanted),
        unknown=sum(verdicts[address].state == "unknown" for address in wanted if address in verdicts),
    )


def _check_due_links(
    site: SiteSnapshot,
    due: dict[str, set[str]],
    verdicts: dict[str, LinkVerdict],
    options: LinkOptions,
    log: BuildLog,
) -> bool:
    """Check the links that are due and record the results. Return whether any host answered. due: URL →
    fragments to check."""
    settings, root = site.config.links, site.context.root
    before = dict(verdicts)
    gates = HostGates(settings.pause, options.clock)
    probe = Probe(gates, _limits(site, options))
    try:
        with log.measure("links"):
            plan = CheckPlan(due, settings.hosts, options.now_s)
            if due:
                LinkCheck(plan, gates, probe).run(verdicts.__setitem__, log.progress)
    finally:
        # results are also recorded if the check is interrupted
        is_online = _is_online([verdicts[address] for address in due if address in verdicts], due)
        write_verdicts(root, verdicts if is_online else before, options.now_s)
    return is_online


def _is_online(found: Sequence[LinkVerdict], due: Collection[str]) -> bool:
    """Return whether this machine is online. If only a few hosts were queried, assume that it is, because all
    of them may be down."""
    hosts = {urlsplit(address).netloc for address in due}
    return len(hosts) < _FEW_HOSTS or not all(verdict.is_silent for verdict in found)


def _limits(site: SiteSnapshot, options: LinkOptions) -> Limits:
    settings, config = site.config.links, site.config
    may_be_private = (
        settings.private and not config.markup.untrusted and is_trusted(site.context.root, config)
    )
    return replace(
        options.limits,
        allow_private=options.limits.allow_private or may_be_private,
        read_timeout_s=settings.timeout,
        total_timeout_s=_TOTAL_FACTOR * settings.timeout,
    )


def _add_copies(
    site: SiteSnapshot,
    uses: Sequence[tuple[str, LinkUse]],
    wanted: dict[str, set[str]],
    verdicts: dict[str, LinkVerdict],
    options: LinkOptions,
) -> None:
    """Query the Internet Archive for copies of dead links, if the settings request it."""
    if site.config.links.archive != "ask":
        return
    gates = HostGates(site.config.links.pause, options.clock)
    dates = {address: use.date for address, use in reversed(uses)}
    for address in sorted(wanted):
        verdict = verdicts.get(address)
        if verdict and verdict.state == "dead" and not verdict.copy:
            limits = _limits(site, options)
            copy = find_copy(address, dates[address], limits, gates, options.archive_api)
            verdicts[address] = replace(verdict, copy=copy)
    write_verdicts(site.context.root, verdicts, options.now_s)


def _find_uses(site: SiteSnapshot) -> Iterator[tuple[str, LinkUse]]:
    """Yield each URL that pages and menus link to, in the order of the site."""
    own = normalize_remote_url(site.config.base_url)
    files = SiteBibliographies(site.context.root)
    files.use_settings(site.context.settings)
    indexes: dict[str, UrlIndex] = {}
    for item in site.rendered.values():
        document = item.document
        named = find_urls(item.body.html)
        named = {address: names for address, names in named.items() if not own or not _is_below(address, own)}
        if named:
            page = UrlIndex(str(document.path), document.source.text)
            date = f"{document.front.date:%Y%m%d}" if document.front.date else ""
            texts = files.texts(document)
            others = [_find_index(path, text, indexes) for path, text in texts]
            yield from find_uses(page, named, others, date)
    menus = (site.config.menu, *(found.menu for found in site.config.languages.values()))
    entries = {normalize_remote_url(entry.url): {""} for menu in menus for entry in menu}
    entries.pop("", None)
    yield from find_uses(UrlIndex(CONFIG_NAME, "\n".join(site.context.settings.lines)), entries)


def _find_index(path: str, text: str, indexes: dict[str, UrlIndex]) -> UrlIndex:
    if path not in indexes:
        indexes[path] = UrlIndex(path, text)
    return indexes[path]


def _is_below(address: str, own: str) -> bool:
    """Return whether a URL belongs to the site itself. Every build checks these URLs."""
    return address == own or address.startswith(f"{own.rstrip('/')}/")


def _is_ignored(address: str, settings: ExternalLinks) -> bool:
    return any(_pattern(glob).fullmatch(address) for glob in settings.ignore)


@lru_cache(maxsize=256)
def _pattern(glob: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, re.split(r"\*+", glob))), re.DOTALL)
