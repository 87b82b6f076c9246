"""`blogsmith check --links`: what pages name at other hosts, asked for, and told at the author's places."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from ..build.snapshot import SiteSnapshot
from ..config.load import CONFIG_NAME
from ..config.schema import ExternalLinks
from ..model.remote_images import remote_address
from ..network.connection import Limits
from ..network.linkcheck.archive import API, find_copy
from ..network.linkcheck.check import CheckPlan, LinkCheck
from ..network.linkcheck.findings import findings
from ..network.linkcheck.host_gates import Clock, HostGates
from ..network.linkcheck.link_uses import AddressIndex, LinkUse, addresses_in, uses_in
from ..network.linkcheck.probe import Probe
from ..network.linkcheck.verdicts import LinkVerdict, is_due, read_verdicts, write_verdicts
from ..project.focus import is_within
from ..project.report import BuildLog
from ..project.trust.consent import is_trusted
from ..stages.bibliographies import SiteBibliographies

_FEW_HOSTS = 3
_WHOLE = 3
"""Times the limit for silence that one question may take."""


class LinkOptions(Struct, frozen=True):
    """What the command line, or a test, decides about a check of links."""

    now_s: int
    """Seconds since 1970."""
    renew: bool = False
    """Ask again for what is known."""
    files: tuple[str, ...] = ()
    """Ask only for what is written in these files and folders; empty: in all."""
    limits: Limits = Limits()
    """Times are those of the settings."""
    clock: Clock = Clock()
    archive_api: str = API


class LinkCounts(Struct, frozen=True):
    """What was done."""

    asked: int = 0
    hosts: int = 0
    known: int = 0
    """Addresses whose last answer still counts."""
    ignored: int = 0
    is_offline: bool = False
    """No host has answered at all: nothing is told, and nothing of it kept."""
    unknown: int = 0
    """Addresses of hosts that do not answer programs."""


def check_links(site: SiteSnapshot, options: LinkOptions, log: BuildLog) -> LinkCounts:
    """Ask for the addresses that the site's pages name; what is wrong goes to the log."""
    settings, root = site.config.links, site.context.root
    uses = [found for found in _uses_of(site) if not options.files or is_within(found[1].path, options.files)]
    named = {address: set[str]() for address, _ in uses}
    for address, use in uses:
        named[address].add(use.fragment)
    wanted = {address: names for address, names in named.items() if not _is_ignored(address, settings)}
    verdicts = {} if options.renew else read_verdicts(root)
    due = {
        address: names
        for address, names in wanted.items()
        if is_due(verdicts.get(address), names, options.now_s, settings.days)
    }
    before = dict(verdicts)
    is_offline = not _ask(site, due, verdicts, options, log)
    _add_copies(site, uses, wanted, verdicts, options)
    if is_offline:
        verdicts = before
    found = findings(((address, use) for address, use in uses if address in wanted), verdicts)
    log.add(found)
    return LinkCounts(
        asked=len(due),
        hosts=len({urlsplit(address).netloc for address in due}),
        known=len(wanted) - len(due),
        is_offline=is_offline,
        ignored=len(named) - len(wanted),
        unknown=sum(verdicts[address].state == "unknown" for address in wanted if address in verdicts),
    )


def _ask(
    site: SiteSnapshot,
    due: dict[str, set[str]],
    verdicts: dict[str, LinkVerdict],
    options: LinkOptions,
    log: BuildLog,
) -> bool:
    """Ask for what is due and keep the answers; whether anybody has answered."""
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
        # also of a check that is broken off
        is_online = _is_online([verdicts[address] for address in due if address in verdicts], due)
        write_verdicts(root, verdicts if is_online else before, options.now_s)
    return is_online


def _is_online(found: Sequence[LinkVerdict], due: Collection[str]) -> bool:
    """Whether anybody has answered; of few hosts all may be gone."""
    hosts = {urlsplit(address).netloc for address in due}
    return len(hosts) < _FEW_HOSTS or not all(verdict.is_silent for verdict in found)


def _limits(site: SiteSnapshot, options: LinkOptions) -> Limits:
    settings, config = site.config.links, site.config
    may_be_private = (
        settings.private and not config.markup.untrusted and is_trusted(site.context.root, config)
    )
    return replace(
        options.limits,
        may_be_private=options.limits.may_be_private or may_be_private,
        silent_s=settings.timeout,
        whole_s=_WHOLE * settings.timeout,
    )


def _add_copies(
    site: SiteSnapshot,
    uses: Sequence[tuple[str, LinkUse]],
    wanted: dict[str, set[str]],
    verdicts: dict[str, LinkVerdict],
    options: LinkOptions,
) -> None:
    """Ask the Internet Archive what it has of dead addresses, if the settings say so."""
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


def _uses_of(site: SiteSnapshot) -> Iterator[tuple[str, LinkUse]]:
    """Everything that pages and the menu name, in the order of the site."""
    own = remote_address(site.config.base_url)
    files = SiteBibliographies(site.context.root)
    files.use_settings(site.context.settings)
    indexes: dict[str, AddressIndex] = {}
    for item in site.rendered.values():
        document = item.document
        named = addresses_in(item.body.html)
        named = {address: names for address, names in named.items() if not own or not _is_below(address, own)}
        if named:
            page = AddressIndex(str(document.path), document.source.text)
            date = f"{document.front.date:%Y%m%d}" if document.front.date else ""
            texts = files.texts(document)
            others = [_index_of(path, text, indexes) for path, text in texts]
            yield from uses_in(page, named, others, date)
    menus = (site.config.menu, *(found.menu for found in site.config.languages.values()))
    entries = {remote_address(entry.url): {""} for menu in menus for entry in menu}
    entries.pop("", None)
    yield from uses_in(AddressIndex(CONFIG_NAME, "\n".join(site.context.settings.lines)), entries)


def _index_of(path: str, text: str, indexes: dict[str, AddressIndex]) -> AddressIndex:
    if path not in indexes:
        indexes[path] = AddressIndex(path, text)
    return indexes[path]


def _is_below(address: str, own: str) -> bool:
    """Whether an address is one of the site itself: its links are checked in every build."""
    return address == own or address.startswith(f"{own.rstrip('/')}/")


def _is_ignored(address: str, settings: ExternalLinks) -> bool:
    return any(_pattern(glob).fullmatch(address) for glob in settings.ignore)


@lru_cache(maxsize=256)
def _pattern(glob: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, re.split(r"\*+", glob))), re.DOTALL)
