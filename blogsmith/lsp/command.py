"""`blogsmith lsp`: the language server, which an editor starts."""

from __future__ import annotations

import importlib.util

import click

from ..api.commands import Clocks, install_extra, terminal


@click.command()
@click.option("--stdio", is_flag=True, help="Talk over standard input and output, which is the only way.")
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Log what goes on, with tracebacks, and not only what fails.",
)
@click.pass_obj
def lsp(clocks: Clocks, stdio: bool, verbose: bool) -> int:
    """Serve an editor over the Language Server Protocol.

    Mistakes while you type, completion, hover, go to definition, rename. An editor starts it and talks to
    it over standard input and output. No cell runs, and nothing is written. Messages for people go to
    standard error.
    """
    if importlib.util.find_spec("pygls") is None:
        terminal.warn(f"blogsmith lsp needs pygls, which is not installed; run: {install_extra('lsp')}")
        return 1
    from .server import serve_editor

    return serve_editor(clocks.now, verbose=verbose)
