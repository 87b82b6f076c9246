"""`blogsmith new`: create a site, a post, a page or a theme."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import click

from ..base.diagnostics.counts import plural
from . import terminal
from .clock import CommandClock
from .completion_types import SectionType
from .options import site_config, site_option, site_root
from .site_folder import format_path
from .verbosity import print_messages, verbosity_options

if TYPE_CHECKING:
    from .new_site import NewSite

_bundle_option = click.option("--bundle", is_flag=True, help="Create a folder for the page and its images.")

_REQUIRED_OPTIONS: Mapping[str, str] = MappingProxyType({"rsync": " --destination user@host:/folder/"})
"""Maps a target to the options that `publish setup` requires for it."""
_DRAFT_HINT = (
    "next: edit it, run `blogsmith serve --drafts --open` to see it, and `blogsmith check {file}` to check it"
)
_SERVE_HINT = "next: blogsmith serve --drafts --open"
_EXISTING_PLUGINS_NOTE = (
    "plugins/ existed before: read its files before you run `blogsmith trust`, which allows them to run"
)


@click.group()
def new() -> None:
    """Create a site, a post, a page or a theme."""


@new.command("site")
@click.argument("folder", type=click.Path(path_type=Path), default=".")
@click.option(
    "--guided",
    is_flag=True,
    help="Ask for title, author, URL, theme, language and host.",
)
@verbosity_options
@click.pass_obj
def new_site_command(clocks: CommandClock, folder: Path, guided: bool) -> int:
    """Create a site in FOLDER with settings and a first post.

    FOLDER may be new, empty, or a repository with other files, which are not changed, except that missing
    lines are added to .gitignore.  [default: the current folder]
    """
    from ..base.schema.files import copy_schemas
    from .new_site import FirstSettings, check_target, default_author, default_title, new_site

    check_target(folder)
    settings, host = FirstSettings(title=default_title(folder), author=default_author()), ""
    if guided:
        from .site_questions import ask_for_site

        answers = ask_for_site(settings)
        settings, host = answers.settings, answers.target
    made = new_site(folder, clocks.now().date(), settings)
    # The first line of the settings refers to one of the schemas.
    copy_schemas(folder)
    notes = [f"{path} extended" for path in made.extended_lists]
    terminal.print_line(", ".join([f"{plural(len(made.written), 'file')} written", *notes]))
    steps = ["blogsmith serve"]
    if not _record_trust(folder, made):
        steps.insert(0, "blogsmith trust")
    _print_next(folder, steps)
    if host:
        _set_up_publishing(folder, host)
    return 0


@new.command("post")
@click.argument("title")
@click.option(
    "--section",
    default="posts",
    type=SectionType(),
    metavar="PATH",
    help="Folder below content/.  [default: posts]",
)
@click.option("--series", default="", metavar="NAME", help="Series that the post belongs to.")
@click.option("--tags", multiple=True, metavar="TAG", help="Tags, separated by commas; repeatable.")
@click.option(
    "--date",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="YYYY-MM-DD",
    help="Date of the post.  [default: today, in the time zone of the site]",
)
@_bundle_option
@site_option
@verbosity_options
@click.pass_obj
def new_post_command(
    clocks: CommandClock,
    title: str,
    section: str,
    series: str,
    tags: tuple[str, ...],
    date: dt.datetime | None,
    bundle: bool,
    site: Path | None,
) -> int:
    """Create a draft post with the given TITLE and print its path."""
    from zoneinfo import ZoneInfo

    from .new_post import NewPost, write_post

    root = site_root(site)
    day = date or clocks.now().astimezone(ZoneInfo(site_config(root).timezone))
    post = NewPost(
        title=title, date=day.date(), section=section, series=series, tags=_split(tags), bundle=bundle
    )
    _print_draft(write_post(root, post))
    return 0


@new.command("page")
@click.argument("title", required=False)
@click.option(
    "--section",
    default="",
    type=SectionType(),
    metavar="PATH",
    help="Folder below content/.  [default: content/ itself]",
)
@_bundle_option
@click.option("--elements", is_flag=True, help="Fill the page with all elements, to test a theme.")
@site_option
@verbosity_options
def new_page_command(title: str | None, section: str, bundle: bool, elements: bool, site: Path | None) -> int:
    """Create a draft page with the given TITLE and print its path.

    A page has no date and appears in no list of posts. With --elements, TITLE is optional.
    """
    if elements:
        return _new_elements(site_root(site), title or "Elements", section)
    if title is None:
        raise click.UsageError("Missing argument 'TITLE'.")
    from .new_post import write_page

    _print_draft(write_page(site_root(site), title, section=section, bundle=bundle))
    return 0


def _new_elements(root: Path, title: str, section: str) -> int:
    from .new_elements import write_elements

    config = site_config(root)
    page = write_elements(root, config, title, section=section)
    terminal.print_line(format_path(page.file))
    if page.missing:
        terminal.warn(f"note: elements of these plugins are omitted: {', '.join(page.missing)}")
        terminal.warn(f"hint: {page.advice}")
    terminal.warn(_SERVE_HINT)
    return 0


@new.command("theme")
@click.argument("name")
@site_option
@verbosity_options
def new_theme_command(name: str, site: Path | None) -> int:
    """Create a small theme in themes/NAME/ that extends the theme paper."""
    from .new_theme import new_theme

    written = new_theme(site_root(site), name)
    terminal.print_line(
        f"{plural(len(written), 'file')} written; next: write `theme: {name}` in blogsmith.yaml"
    )
    return 0


def _print_draft(file: Path) -> None:
    """Print only the path on stdout, for `$EDITOR $(blogsmith new post …)`."""
    import shlex

    path = format_path(file)
    terminal.print_line(path)
    terminal.warn(_DRAFT_HINT.format(file=shlex.quote(path)))


def _split(tags: Iterable[str]) -> list[str]:
    """Return the tags given as `a, b` in one option or in several."""
    return [tag.strip() for text in tags for tag in text.split(",") if tag.strip()]


def _record_trust(folder: Path, made: NewSite) -> bool:
    """Record the user's trust in the code of a new site, because the user is its author. Return whether the
    site is trusted. A site is not trusted if its folder already contained plugins. If the record cannot be
    written, print a warning."""
    from ..base.diagnostics.model import SiteError
    from ..project.trust.consent import trust as record_trust

    if "plugins" in made.existing_names:
        terminal.warn(_EXISTING_PLUGINS_NOTE)
        return False
    try:
        record_trust(folder)
    except SiteError as error:
        print_messages(error.diagnostics)
    return True


def _set_up_publishing(folder: Path, target: str) -> None:
    """Write the files of a publishing target. If the target needs further options or a
    URL, print the command to run instead."""
    from ..base.diagnostics.model import SiteError

    context = click.get_current_context()
    root = context.find_root().command
    publish = root.get_command(context, "publish") if isinstance(root, click.Group) else None
    setup = publish.get_command(context, "setup") if isinstance(publish, click.Group) else None
    site = {"site": folder, "base_url": None, "repository": None}
    try:
        if setup and target not in _REQUIRED_OPTIONS:
            context.invoke(setup, target=target, destination=None, only_shows=False, force=False, **site)
            return
    except SiteError:
        # for example, because the target needs a URL
        pass
    terminal.print_line(f"then: blogsmith publish setup {target}{_REQUIRED_OPTIONS.get(target, '')}")


def _print_next(folder: Path, steps: Iterable[str]) -> None:
    """Print the commands to run next, starting with `cd` if the site is in another folder."""
    import shlex

    is_here = folder.resolve() == Path.cwd()
    way = [] if is_here else [f"cd {shlex.quote(str(folder))}"]
    terminal.print_line(f"next: {' && '.join([*way, *steps])}")
