"""`blogsmith lsp`. It runs the language server, which an editor starts."""

from __future__ import annotations

import importlib.util

import click

from ..api.commands import CommandClock, extra_install_command, terminal


@click.command()
@click.option(
    "--stdio", is_flag=True, help="Communicate over standard input and output, the only supported way."
)
@click.option("-v", "--verbose", is_flag=True, help="Log all activity, with tracebacks, not only errors.")
@click.pass_obj
def lsp(clocks: CommandClock, stdio: bool, verbose: bool) -> int:
    """Run the language server for an editor.

    Provides diagnostics while you type, completion, hover, go to definition and rename. An editor starts the
    server and communicates with it over standard input and output. No cells run, and nothing is written. Log
    messages go to standard error.
    """
    if importlib.util.find_spec("pygls") is None:
        terminal.warn(
            f"blogsmith lsp needs pygls, which is not installed; run `{extra_install_command('lsp')}`"
        )
        return 1
    from .server import serve_editor

    return serve_editor(clocks.now, verbose=verbose)
