"""`blogsmith explain`: print the manual's entry of a diagnostic code, without a network or a site."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from . import terminal
from .completion_types import CodeType
from .verbosity import verbosity_options

if TYPE_CHECKING:
    from ..base.diagnostics.explanations import Explanation

_TEXT = "text"


@click.command()
@click.argument("code", type=CodeType(), required=False)
@click.option(
    "--format",
    "output_format",
    type=click.Choice([_TEXT, "json"]),
    default=_TEXT,
    help="Output format: text for people, json for programs.  [default: text]",
)
@verbosity_options
def explain(code: str | None, output_format: str) -> int:
    """Explain a diagnostic code, such as link-missing.

    Prints what the code means, its severity, how to fix, hide or change it, and an example. Messages end with
    their code in brackets. Without CODE, lists all codes with their meanings.
    """
    if code is None:
        terminal.print_line(_list_json() if output_format != _TEXT else "\n".join(_list_text()))
        return 0
    from ..base.diagnostics.codes import CODES
    from ..base.diagnostics.explanations import explain_code

    code = code.strip().strip("[]")
    if code not in CODES:
        raise click.UsageError(_unknown_message(code))
    found = explain_code(code)
    terminal.print_line(_format_json(found) if output_format != _TEXT else "\n".join(_format_text(found)))
    return 0


def _unknown_message(code: str) -> str:
    from ..base.diagnostics.explanations import nearest_codes
    from ..base.diagnostics.format import printable

    near = nearest_codes(code)
    hint = (
        f"did you mean {' or '.join(f'`{one}`' for one in near)}?"
        if near
        else "run `blogsmith explain` to list all codes"
    )
    return printable(f'unknown code "{code}": {hint}')


def _list_text() -> Iterator[str]:
    from ..base.diagnostics.codes import CODES
    from ..base.diagnostics.explanations import read_manual

    width = max(map(len, CODES))
    for number, (group, codes) in enumerate(read_manual().groups.items()):
        yield f"{'' if number == 0 else chr(10)}{group[:1].upper()}{group[1:]}:"
        yield from (f"  {code:<{width}}  {CODES[code]}" for code in codes)


def _list_json() -> str:
    from ..base.diagnostics.codes import CODES
    from ..base.diagnostics.explanations import read_manual
    from ..base.diagnostics.report_formats import encode

    groups = read_manual().groups.items()
    return encode(
        {
            "codes": [
                {"code": code, "group": group, "description": CODES[code]}
                for group, codes in groups
                for code in codes
            ]
        }
    )


def _format_json(found: Explanation) -> str:
    from ..base.diagnostics.report_formats import encode

    return encode(
        {
            "code": found.code,
            "group": found.group,
            "description": found.description,
            "severities": [*found.severities],
            "fixable": found.is_fixable,
            "settings": [
                {"purpose": purpose, "setting": setting} for purpose, setting in found.settings.items()
            ],
            "example": {"message": found.example.message, "corrected": found.example.corrected or None},
        }
    )


def _format_text(found: Explanation) -> Iterator[str]:
    yield f"{found.code}: {' or '.join(found.severities)}"
    yield ""
    yield found.description
    yield ""
    yield from _format_settings(found)
    if found.is_fixable:
        yield "Fixes: for some findings."
        yield "  to show them: blogsmith check --diff --unsafe-fixes"
        yield "  to apply those that are certain: blogsmith check --fix"
        yield "  to apply the proposed ones too: blogsmith check --fix --unsafe-fixes"
    else:
        yield "Fixes: none are automatic."
    yield ""
    yield "Example:"
    yield from (f"  {line}".rstrip() for line in found.example.message.split("\n"))
    if found.example.corrected:
        yield ""
        yield "Corrected:"
        yield from (f"  {line}".rstrip() for line in found.example.corrected.split("\n"))


def _format_settings(found: Explanation) -> Iterator[str]:
    if not found.settings:
        yield "Severity: always an error; the settings cannot lower or hide it."
        return
    yield "Severity: change it in blogsmith.yaml."
    for purpose, setting in found.settings.items():
        yield f"  to {purpose}:"
        yield f"    {setting}"
