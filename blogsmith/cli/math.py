"""`blogsmith math`: print the MathML of one formula, or convert a stream of formulas for another program.

Uses the macros of the site in the current folder. Starts quickly because neither Markdown nor templates are
loaded.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from ..base.diagnostics.format import format_diagnostic, wants_color
from ..base.diagnostics.listing import print_diagnostics
from ..base.diagnostics.model import Reporter, SiteError, TextMap
from ..model.decode import decode, normalize_line_ends
from ..model.tex_macros import Macro
from . import terminal
from .options import find_site, site_option
from .verbosity import verbosity_options

if TYPE_CHECKING:
    from ..config.schema import Config
    from ..tex.convert import Convert

STDIN = "-"
NAME = "formula"
"""Name that diagnostics print instead of a file name."""


def _macros(_: click.Context, __: click.Parameter, written: tuple[str, ...]) -> dict[str, str]:
    """Parse macros from the command line. Raise BadParameter if one has no name or no body."""
    from .math_jsonl import with_backslashes

    macros: dict[str, str] = {}
    for text in written:
        name, sign, body = text.partition("=")
        macro = with_backslashes({name.strip(): body})
        if not sign or not all(known[:1] == "\\" and known[1:].isalpha() for known in macro):
            raise click.BadParameter(f'invalid macro "{text}": expected \\NAME=TEX')
        macros |= macro
    return macros


@click.command()
@click.argument("tex", default=STDIN)
@click.option("--display", is_flag=True, help="Typeset the formula as display math.")
@click.option(
    "--macro",
    "macros",
    metavar="\\NAME=TEX",
    multiple=True,
    callback=_macros,
    help="Macro for the formula, with #1 to #9 for arguments; repeatable.  [default: macros of the site]",
)
@click.option(
    "--jsonl",
    is_flag=True,
    help='Answer each JSON line {"id", "tex", "display", "macros"} from standard input immediately, with '
    '{"id", "mathml"} or {"id", "error"}.',
)
@click.option(
    "--converter",
    metavar="NAME",
    default="",
    help="Plugin that typesets formulas, or `blogsmith`. If the plugin cannot typeset a formula, blogsmith "
    "does, with a note.  [default: math.converter in blogsmith.yaml]",
)
@site_option
@verbosity_options
def math(
    tex: str, display: bool, macros: dict[str, str], jsonl: bool, converter: str, site: Path | None
) -> int:
    """Print the MathML of the formula TEX.

    If TEX is omitted or -, the formula is read from standard input. Write -- before a formula that begins
    with a minus sign.
    """
    if jsonl and tex != STDIN:
        raise click.UsageError("TEX is not allowed with --jsonl, which reads formulas from standard input")
    root = find_site((site or Path()).resolve())
    config = _site_settings(root)
    known, packages = {**config.math.macros, **macros}, frozenset(config.math.packages)
    convert: Convert | None = None
    if converter or config.plugins:
        from .math_converter import open_converter

        try:
            convert = open_converter(root, config, converter)
        except SiteError as error:
            print_diagnostics(error.diagnostics, sys.stderr, wants_color(sys.stderr))
            if converter:
                return 1
    if jsonl:
        return _answer_stream(known, packages, display=display, convert=convert)
    return _print_formula(_formula(tex), known, packages, display=display, convert=convert)


def _site_settings(root: Path | None) -> Config:
    """Return the settings of the site; the defaults outside a site. Errors in the settings are printed and do
    not end the command."""
    from ..config.schema import Config

    if root is None:
        return Config()
    from ..config.load import load_config
    from ..project.macro_files import read_macro_files

    loaded = load_config(root)
    print_diagnostics(loaded.diagnostics, sys.stderr, wants_color(sys.stderr))
    try:
        return read_macro_files(root, loaded.config, loaded)[0]
    except SiteError as error:
        print_diagnostics(error.diagnostics, sys.stderr, wants_color(sys.stderr))
        return loaded.config


def _formula(tex: str) -> str:
    """Return the formula, read from standard input if `tex` is `-`."""
    if tex != STDIN:
        return normalize_line_ends(tex)
    return decode(_stdin().read(), NAME).rstrip("\n")


def _stdin() -> io.BufferedIOBase:
    """Return standard input as a binary stream, empty if the shell closed it."""
    return cast(io.BufferedIOBase, sys.stdin.buffer) if sys.stdin else io.BytesIO()


def _print_formula(
    tex: str,
    macros: Mapping[str, str | Macro],
    packages: frozenset[str],
    *,
    display: bool,
    convert: Convert | None,
) -> int:
    from ..tex.analysis.tags import convert_unnumbered
    from ..tex.errors import TexError

    try:
        mathml = convert_unnumbered(
            tex, display=display, macros=macros, packages=packages, convert=convert
        ).mathml
    except TexError as error:
        lines = tex.split("\n")
        reporter = Reporter(NAME, lines)
        origin = TextMap(tex, tuple((number, 1) for number in range(1, len(lines) + 1)))
        reporter.error(error.kind, error.message, origin.place(error.offset, error.length), error.hint)
        for found in reporter.diagnostics:
            terminal.warn(format_diagnostic(found, color=wants_color(sys.stderr)))
        return 1
    # A character that the terminal cannot encode becomes a character reference, which is equivalent MathML.
    encoding = sys.stdout.encoding or "utf-8"
    terminal.print_line(mathml.encode(encoding, "xmlcharrefreplace").decode(encoding))
    return 0


def _answer_stream(
    macros: Mapping[str, str | Macro], packages: frozenset[str], *, display: bool, convert: Convert | None
) -> int:
    from .math_jsonl import answer_lines, make_answerer

    answer = make_answerer(macros, display=display, packages=packages, convert=convert)
    out = sys.stdout.buffer

    def write(answers: bytes) -> None:
        out.write(answers)
        out.flush()

    try:
        answer_lines(_stdin().read1, write, answer)
    except BrokenPipeError:
        # The receiving program has ended. Without this, the flush at exit would report an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
    return 0
