"""Help of all commands: complete in a terminal of 80 columns, and equal for options of the same name."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from blogsmith.cli.commands import _COMMAND_HINTS, cli
from tests.rows import each_row

COLUMNS = 80
_SAYS_NOTHING = (
    "by default not",
    "by default none",
    "by default neither",
    "by default off",
    "by default it is",
)


def contexts(command: click.Command, parent: click.Context | None = None) -> Iterator[click.Context]:
    """Yield every command with the path to it."""
    name = command.name if parent else "blogsmith"
    settings = {**command.context_settings, "terminal_width": COLUMNS, "max_content_width": COLUMNS}
    context = click.Context(command, parent, info_name=name, **settings)
    yield context
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None
            yield from contexts(found, context)


CONTEXTS = {context.command_path: context for context in contexts(cli)}


def options_of(context: click.Context) -> list[click.Option]:
    return [one for one in context.command.params if isinstance(one, click.Option)]


@each_row("path", CONTEXTS)
def test_no_help_is_cut_or_wider_than_the_terminal(path: str) -> None:
    text = CONTEXTS[path].get_help()
    commands = text.partition("\nCommands:\n")[2] or text.partition("\nWrite:\n")[2]
    assert "..." not in commands
    assert [line for line in text.splitlines() if len(line) > COLUMNS] == []


@each_row("path", CONTEXTS)
def test_help_is_made_of_sentences(path: str) -> None:
    summary = (CONTEXTS[path].command.help or "").partition("\n\n")[0]
    assert summary.endswith("."), summary
    for option in options_of(CONTEXTS[path]):
        assert option.help, option.name
        assert option.help.endswith((".", "]")), option.help
        assert not [words for words in _SAYS_NOTHING if words in option.help], option.help


@each_row("path", CONTEXTS)
def test_options_with_a_value_name_their_default(path: str) -> None:
    for option in options_of(CONTEXTS[path]):
        if not option.is_flag and not option.required and option.name not in _WITHOUT_DEFAULT:
            assert re.search(r"  \[default: .+\]$", option.help or ""), option.name


@each_row("path", CONTEXTS)
def test_defaults_have_one_notation(path: str) -> None:
    assert "by default" not in CONTEXTS[path].get_help().lower()


_METAVARS = frozenset(
    ("ADDRESS", "N", "N|auto", "NAME", "PATH", "PATH|URL", "SECONDS", "TAG", "TITLE", "URL")
)
"""One name for one thing: every folder and file is a PATH, every number an N."""
_FORMATS = frozenset(("[=stale|all]", "URL@COMMIT", "YYYY-MM-DD", "\\NAME=TEX"))
"""Values with a form of their own."""


@each_row("path", CONTEXTS)
def test_options_share_their_placeholders(path: str) -> None:
    for option in options_of(CONTEXTS[path]):
        if not option.is_flag and not isinstance(option.type, click.Choice):
            placeholder = option.make_metavar(CONTEXTS[path])
            assert placeholder in _FORMATS or placeholder.strip("[]") in _METAVARS, (option.name, placeholder)


_WITHOUT_DEFAULT = frozenset(("series", "tags"))
"""Options that are unset by default, with help that makes this clear."""


@each_row("path", [path for path, one in CONTEXTS.items() if not isinstance(one.command, click.Group)])
def test_every_command_can_be_quiet_or_tell_more(path: str) -> None:
    flags = {name for option in options_of(CONTEXTS[path]) for name in option.opts}
    # the output of a language server is for its editor
    quiet = {"-q", "--quiet"} if path != "blogsmith lsp" else set()
    assert {*quiet, "-v", "--verbose"} <= flags


def test_options_of_one_name_have_one_short_form() -> None:
    forms: dict[str, set[tuple[str, ...]]] = {}
    for context in CONTEXTS.values():
        for option in options_of(context):
            forms.setdefault(max(option.opts, key=len), set()).add(tuple(option.opts))
    assert {name: found for name, found in forms.items() if len(found) > 1} == {}


def test_lines_to_be_copied_are_whole() -> None:
    text = CONTEXTS["blogsmith completion"].get_help()
    for line in (
        "mkdir -p $dir && blogsmith completion bash > $dir/blogsmith",
        """echo 'eval "$(blogsmith completion zsh)"' >> ~/.zshrc""",
        "blogsmith completion fish > ~/.config/fish/completions/blogsmith.fish",
    ):
        assert f"  {line}\n" in text


def test_every_command_is_below_one_heading() -> None:
    context = CONTEXTS["blogsmith"]
    assert isinstance(context.command, click.Group)
    text = context.get_help().partition("\nWrite:\n")[2]
    listed = [line.split()[0] for line in text.splitlines() if line.startswith("  ") and line[2] != " "]
    assert sorted(listed) == context.command.list_commands(context)


@each_row("name", _COMMAND_HINTS)
def test_no_command_has_a_name_that_points_elsewhere(name: str) -> None:
    assert f"blogsmith {name}" not in CONTEXTS


@each_row("hint", {*_COMMAND_HINTS.values()})
def test_hints_name_commands_that_exist(hint: str) -> None:
    typed = re.findall(r"`([^`]+)`", hint)
    assert typed and all(line.startswith("blogsmith ") for line in typed)
    for line in typed:
        words = [word for word in line.split() if word[0] not in "-" and not word.isupper()]
        assert " ".join(words) in CONTEXTS
