"""Questions of `blogsmith new site --guided`. After an invalid answer, the question is repeated."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import click
from msgspec import Struct

from ..base.diagnostics.model import did_you_mean
from ..config.validate import LANGUAGE, base_url_problem
from ..languages.bundled_languages import bundled_tags
from ..project.bundled_folders import bundled_folder
from . import terminal
from .new_site import FirstSettings, text_language

NO_TARGET = "none"
TARGETS = ("github-pages", "gitlab", "cloudflare", "netlify", "rsync")
"""Targets that the questions offer for `blogsmith publish setup`."""


_ADDRESS = "URL of the published site, such as https://example.org/blog; empty if not known yet"


class GuidedSite(Struct, frozen=True):
    """Answers of the user."""

    settings: FirstSettings
    target: str
    """Where to publish the site, one of `TARGETS`; empty for nowhere."""


def ask_for_site(proposed: FirstSettings) -> GuidedSite:
    """Ask the questions on the terminal. Raise UsageError if there is no terminal. proposed: default
    answers."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError("--guided asks questions, which needs a terminal: omit --guided")
    settings = FirstSettings(
        title=_ask("Title of the site", proposed.title),
        author=_ask("Your name, as posts show it", proposed.author),
        base_url=_ask(_ADDRESS, "", _base_url),
        theme=_ask_choice("Theme", _themes(), proposed.theme),
        lang=_ask(f"Language ({', '.join(bundled_tags())})", proposed.lang, _language),
    )
    target = _ask_choice("Publish to", (NO_TARGET, *TARGETS), NO_TARGET)
    return GuidedSite(settings, "" if target == NO_TARGET else target)


def _ask(question: str, default: str, read: Callable[[str], str] = str.strip) -> str:
    # on stderr, because it is not a result
    is_shown = bool(default)
    answer: str = click.prompt(question, default=default, value_proc=read, show_default=is_shown, err=True)
    return answer


def _ask_choice(question: str, choices: Sequence[str], default: str) -> str:
    def read(answer: str) -> str:
        word = answer.strip().lower()
        begun = [choice for choice in choices if word and choice.startswith(word)]
        if word not in choices and len(begun) != 1:
            raise click.UsageError(did_you_mean(word, choices) or "choose one of these names")
        return word if word in choices else begun[0]

    return _ask(f"{question} ({', '.join(choices)})", default, read)


def _base_url(answer: str) -> str:
    if problem := base_url_problem(answer.strip()):
        raise click.UsageError(f"the URL {problem}")
    return answer.strip()


def _language(answer: str) -> str:
    if not LANGUAGE.fullmatch(answer.strip()):
        raise click.UsageError("write a language tag such as en or pt-BR")
    lang = answer.strip()
    if text_language(lang) != lang.lower().partition("-")[0]:
        terminal.warn(f'the first pages are in English: blogsmith has no first pages in "{lang}"')
    return lang


def _themes() -> tuple[str, ...]:
    return tuple(sorted(file.parent.name for file in bundled_folder("themes").glob("*/theme.yaml")))
