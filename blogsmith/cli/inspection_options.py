"""`--links` and `--budget` of `blogsmith check`: what is looked at on request only."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from ..diagnostics.counts import plural

if TYPE_CHECKING:
    from .clock import Clocks

_OPTIONS = (
    click.option(
        "--links",
        is_flag=True,
        help="Ask for the addresses at other hosts that pages link to. What a host has said counts for some "
        "days.",
    ),
    click.option(
        "--renew", is_flag=True, help="With --links: ask again for all; by default for what is not known."
    ),
    click.option(
        "--budget",
        is_flag=True,
        help="Weigh each page as published: bytes, files, other hosts.",
    ),
)


def inspecting(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of what is looked at on request."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def take_inspections(clocks: Clocks, options: dict[str, Any]) -> dict[str, Any]:
    """Options of a build in place of these; wrong usage if one says nothing without another."""
    links, renew, budget = (options.pop(name) for name in ("links", "renew", "budget"))
    if renew and not links:
        raise click.UsageError("--renew goes with --links")
    found = [_links_inspection(clocks, renew=renew)] if links else []
    if budget:
        from ..pipeline.page_weights import weigh_pages

        found.append(weigh_pages)
    return {**options, "inspections": tuple(found)} if found else options


def _links_inspection(clocks: Clocks, *, renew: bool) -> Callable[[Any, Any], str]:
    def inspect(site: Any, log: Any) -> str:
        from ..pipeline.external_links import LinkOptions, check_links

        done = check_links(site, LinkOptions(int(clocks.now().timestamp()), renew), log)
        parts = [
            f"{plural(done.asked, 'link')} asked for at {plural(done.hosts, 'host')}",
            f"{done.known:,} known from before" if done.known else "",
            f"{done.ignored:,} ignored" if done.ignored else "",
            f"{done.unknown:,} of hosts that keep programs out" if done.unknown else "",
        ]
        return "links: " + ", ".join(filter(None, parts))

    return inspect
