"""`blogsmith publish check`. It runs the commands of a host locally and reports the result of each."""

from __future__ import annotations

import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..api.commands import CommandClock, plural, terminal

if TYPE_CHECKING:
    from ..api.publishing import Diagnostic
    from .host_rehearsal import CommandResult, HostMachine
    from .setup import Setup


def require_trust(root: Path) -> None:
    """Raise SiteError unless the user trusts the site, because packages in its lock and settings of its
    repository can run programs."""
    from ..api.publishing import Diagnostic, SiteError, check_consent

    consent = check_consent(root)
    if not consent.is_given:
        why = f": {consent.reason}" if consent.reason else ""
        message = f"this site is not trusted{why}"
        raise SiteError(
            Diagnostic(
                "publish-trust",
                message,
                hint="run `blogsmith trust` to let publishing run programs of the site",
            )
        )


def rehearse_host(clocks: CommandClock, root: Path, target: str, setup: Setup, folder: Path) -> int:
    """Run the commands of a host and compare the pages with those in `folder`/public. Return the exit code: 0
    if the pages are equal."""
    from .host_rehearsal import EXAMPLE_URL, different_files, host_machine, install, wheel_folder
    from .setup import build_as_published
    from .targets import TARGETS

    host, site = TARGETS[target], setup.site
    base = site.repository.root or root.resolve()
    inside = root.resolve().relative_to(base).as_posix().removeprefix(".")
    url = setup.published_url
    variables = {host.address_variable: url or EXAMPLE_URL} if host.address_variable else {}
    _print(f"{target} would run, with Python {platform.python_version()} on a copy of the site:")
    with host_machine(folder, base, inside, site.output) as machine:
        for command in host.commands(site):
            if " pip install --require-hashes " in command:
                result = install(machine, command, wheel_folder())
            else:
                result = machine.run(command, **variables)
            _report(result)
            if result.code:
                _print_failure(result, machine)
                return 1
        pages = folder / "public"
        if not url and variables:
            pages = folder / "as-published"
            build_as_published(root, EXAMPLE_URL, clocks.now(), pages)
        differing = different_files(pages, machine.site / site.output)
    return _compare(differing, sum(1 for file in pages.rglob("*") if file.is_file()))


def _compare(differing: tuple[str, ...], count: int) -> int:
    if not differing:
        _print(f"pages: {plural(count - 1, 'file')}, equal to those built here")
        return 0
    from .host_rehearsal import pages_problem

    _print_problem(pages_problem(differing))
    return 1


def _print_problem(problem: Diagnostic) -> None:
    from ..api.publishing import print_diagnostics, wants_color

    print_diagnostics([problem], sys.stderr, wants_color(sys.stderr))


def _report(result: CommandResult) -> None:
    last = next(
        (line for line in reversed(result.output.strip().split("\n")) if line.startswith("built ")), ""
    )
    state = "ok" if result.code == 0 else f"failed with exit code {result.code}"
    _print(f"  {result.command}\n    {state}, {result.seconds:.1f} s{f': {last}' if last else ''}")


def _print_failure(result: CommandResult, machine: HostMachine) -> None:
    from ..api.publishing import printable
    from .dependency_lock import LOCK
    from .host_rehearsal import install_problem

    if " pip install " in result.command:
        _print_problem(install_problem(result, (machine.site / LOCK).read_text("utf-8")))
    else:
        terminal.warn(printable(result.output.rstrip(), keep="\n"))


def _print(line: str) -> None:
    from ..api.publishing import printable

    terminal.print_line(printable(line, keep="\n"))
