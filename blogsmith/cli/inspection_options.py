"""`--links`, `--budget` and `--second-opinion`: what `blogsmith check` inspects on request only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from ..base.diagnostics.counts import plural

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
    click.option(
        "--second-opinion",
        is_flag=True,
        help="Compare the structure of each formula with latex2mathml's.",
    ),
)


def inspecting(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the options of what is looked at on request."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def take_inspections(clocks: Clocks, options: dict[str, Any]) -> dict[str, Any]:
    """Options of a build in place of these; wrong usage if one says nothing without another."""
    names = ("links", "renew", "budget", "second_opinion")
    links, renew, budget, second_opinion = (options.pop(name) for name in names)
    if renew and not links:
        raise click.UsageError("--renew goes with --links")
    files = options.get("files", ())
    found = [_links_inspection(clocks, files, renew=renew)] if links else []
    if budget:
        found.append(_budget_inspection(files))
    if second_opinion:
        found.append(_second_opinion_inspection(files))
    return {**options, "inspections": tuple(found)} if found else options


def _links_inspection(clocks: Clocks, files: Sequence[str], *, renew: bool) -> Callable[[Any, Any], str]:
    def inspect(site: Any, log: Any) -> str:
        from ..features.links import LinkOptions, check_links
        from ..project.focus import select_files

        asked = select_files(site.context.root, files)
        done = check_links(site, LinkOptions(int(clocks.now().timestamp()), renew, asked), log)
        if done.is_offline:
            return "links: no host has answered, so nothing is told of them; is there a network?"
        parts = [
            f"{plural(done.asked, 'link')} asked for at {plural(done.hosts, 'host')}",
            f"{done.known:,} known from before" if done.known else "",
            f"{done.ignored:,} ignored" if done.ignored else "",
            f"{done.unknown:,} of hosts that keep programs out" if done.unknown else "",
        ]
        return "links: " + ", ".join(filter(None, parts))

    return inspect


def _budget_inspection(files: Sequence[str]) -> Callable[[Any, Any], str]:
    def inspect(site: Any, log: Any) -> str:
        from ..features.weights import weigh_pages
        from ..project.focus import select_files

        return weigh_pages(site, log, select_files(site.context.root, files))

    return inspect


def _second_opinion_inspection(files: Sequence[str]) -> Callable[[Any, Any], str]:
    def inspect(site: Any, log: Any) -> str:
        from ..features.second_opinion import compare_formulas
        from ..project.focus import select_files

        return compare_formulas(site, log, select_files(site.context.root, files))

    return inspect
