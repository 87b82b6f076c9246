"""Paired rounds: the generators take turns at each step, so that load affects all of them.

Values are compared within a round; the median of the rounds is reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from .build_runs import Run, run_build, run_check, run_version
from .build_sites import Site

Step = Literal["cold", "unchanged", "post", "title", "template", "check", "empty", "version"]
"""The change before a build: all caches removed, nothing, the text of a post, its title, the template of
posts.

The other steps are a check after the build, a build without posts, and `--version`.
"""
STEPS: tuple[Step, ...] = get_args(Step)


@dataclass(frozen=True, slots=True)
class Measured:
    """One step of one generator in one round."""

    name: str
    """Name of the generator."""
    step: Step
    round: int
    run: Run


def run_rounds(sites: Sequence[Site], empty: Site, rounds: int) -> Iterator[Measured]:
    """Run each step of each round, starting each round with a different generator.

    empty: a site of ours without posts.
    """
    for number in range(rounds):
        first = number % len(sites)
        for step in STEPS[:5]:
            for site in (*sites[first:], *sites[:first]):
                run = run_step(site, step, f"mark{number}{step}")
                yield Measured(site.subject.name, step, number, run)
        for site in sites:
            if site.subject.check:
                yield Measured(site.subject.name, "check", number, run_check(site))
        empty.clear()
        yield Measured(empty.subject.name, "empty", number, run_build(empty))
        yield Measured(empty.subject.name, "version", number, run_version(empty))


def run_step(site: Site, step: Step, mark: str) -> Run:
    """Make the change of the step, build, and check that the change is in the output.

    mark: a word that no page has yet.
    """
    if step == "cold":
        site.clear()
    elif step == "post":
        site.edit_post(mark)
    elif step == "title":
        site.edit_title(mark)
    elif step == "template":
        site.edit_template(mark)
    run = run_build(site)
    if step in ("post", "title", "template") and not site.shows(mark):
        raise SystemExit(f"{site.subject.name} does not show the edit of its {step}")
    return run


def runs_by_step(measured: Sequence[Measured]) -> Mapping[tuple[str, Step], Sequence[Run]]:
    """Return the runs by generator and step, in the order of rounds."""
    found: dict[tuple[str, Step], list[Run]] = {}
    for one in measured:
        found.setdefault((one.name, one.step), []).append(one.run)
    return found
