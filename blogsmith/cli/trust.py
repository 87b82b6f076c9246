"""`blogsmith trust`. It records consent to run code of the site, and shows what has changed since the last
consent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..base.diagnostics.format import printable
from . import terminal
from .options import site_option, site_root
from .verbosity import verbosity_options

if TYPE_CHECKING:
    from ..project.trust.consent import Consent, ConsentChange


@click.command()
@site_option
@verbosity_options
def trust(site: Path | None) -> int:
    """Allow the code of the site to run: plugins and cells of posts.

    The code runs with all your rights when the site is built, so read it first. Consent is stored outside
    the site and applies to this folder. It ends when a file under `plugins/`, a setting under `execute` or a
    command under `editor` changes; this command lists the changes. New cells do not need new consent.
    """
    from ..project.trust.consent import trust as record_trust

    root = site_root(site)
    for line in describe_consent(root, record_trust(root)):
        terminal.print_line(printable(line))
    return 0


def describe_consent(root: Path, consent: Consent) -> Iterator[str]:
    """Yield lines that describe the code that consent would allow to run, and its changes since the last
    consent."""
    if consent.state in ("earlier", "elsewhere"):
        yield f"consent needed again: {consent.reason}"
    changed = {change.name: change for change in consent.changes}
    names = [*consent.files, *consent.settings]
    yield f"the code of {root} may run{' until one of these changes:' if names else '.'}"
    for name in names:
        yield f"  {name}{_value(name, consent)}{_difference(changed.get(name))}"
    gone = [change for change in consent.changes if change.kind == "gone"]
    if gone:
        yield "removed:"
        yield from (f"  {change.name}{_old_value(change)}" for change in gone)
    if consent.code.uncovered:
        yield "not covered, so no plugin can import it:"
        yield from (f"  {name}: {why}" for name, why in consent.code.uncovered.items())
    from ..hooks.plugin_code import changes_parser

    code = consent.code
    if inner := [path for path in code.sources if path.count("/") == 1 and changes_parser(path, code)]:
        yield f"These run inside blogsmith, because they use the hook `markdown`: {', '.join(inner)}"
    yield "Cells of its posts may run too, including future changes to them."


def _value(name: str, consent: Consent) -> str:
    return f": {consent.settings[name]}" if name in consent.settings else ""


def _difference(change: ConsentChange | None) -> str:
    if change is None:
        return ""
    was = f", was {change.before}" if change.is_setting and change.before is not None else ""
    return f"  ({change.kind}{was})"


def _old_value(change: ConsentChange) -> str:
    return f": {change.before}" if change.is_setting else ""
