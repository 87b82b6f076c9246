"""`blogsmith completion`: print the shell script that completes our commands."""

from __future__ import annotations

import click

from . import terminal
from .verbosity import verbosity_options


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@verbosity_options
@click.pass_context
def completion(context: click.Context, shell: str) -> int:
    """Print the shell completion script for SHELL.

    It completes commands, options, files, and names from the site in the current folder. To enable it in all
    new shells, run these lines once.

    \b
    bash (with the package bash-completion):
      dir=~/.local/share/bash-completion/completions
      mkdir -p $dir && blogsmith completion bash > $dir/blogsmith

    \b
    zsh (after a line `autoload -Uz compinit && compinit` in ~/.zshrc):
      echo 'eval "$(blogsmith completion zsh)"' >> ~/.zshrc

    \b
    fish:
      mkdir -p ~/.config/fish/completions
      blogsmith completion fish > ~/.config/fish/completions/blogsmith.fish
    """
    from click.shell_completion import get_completion_class

    completer = get_completion_class(shell)
    assert completer is not None, "click.Choice lets only known shells through"
    commands = context.find_root().command
    terminal.print_line(completer(commands, {}, "blogsmith", "_BLOGSMITH_COMPLETE").source())
    return 0
