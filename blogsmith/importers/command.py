"""`blogsmith import`. It converts options to an import, and the import's result to an exit code."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..api.commands import (
    IMPORTERS,
    CommandClock,
    NameType,
    ProgressBar,
    format_path,
    installed_parts,
    is_quiet,
    plural,
    print_messages,
    rare_collections,
    terminal,
    verbosity_options,
)

if TYPE_CHECKING:
    from .report import ImportResult

_MAX_LISTED = 10
"""Maximum number of differences printed on the terminal; the report lists all."""


class _SystemType(NameType):
    """Name of a system whose sites can be imported, as a type of command-line options."""

    def names(self, root: Path | None) -> Iterable[str]:
        """Return the names of all systems, sorted."""
        return sorted(installed_parts(IMPORTERS))


@click.command("import")
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("into", type=click.Path(path_type=Path), required=False)
@click.option(
    "--from",
    "system",
    default="",
    type=_SystemType(),
    metavar="NAME",
    help="System of SOURCE.  [default: detected from its files]",
)
@click.option("--dry-run", is_flag=True, help="Report the result of the import without writing any files.")
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Also compare with this folder of published pages.  [default: compare with SOURCE only]",
)
@click.option(
    "--fetch", is_flag=True, help="Download images from other hosts, like `blogsmith images fetch`."
)
@verbosity_options
@click.pass_obj
def import_site(clocks: CommandClock, /, source: Path, into: Path | None, **options: Any) -> int:
    """Convert SOURCE, a site of another generator or a paper in LaTeX.

    SOURCE is a folder, a file such as paper.tex, or a .tar.gz. It is not changed. The new site is built and
    compared with SOURCE; import-report.md lists all differences.

    INTO is the folder of the new site.  [default: the name of SOURCE with the suffix `-blogsmith`] If it
    contains an earlier import, files that you have not changed are renewed; import-conflicts/ gets new
    versions of the others. INTO/import-map.yaml may contain replacements for blocks of your own.
    """
    from ..api.importing import MAX_PROCESSES, count_cores
    from .importer import ImportOptions
    from .importer import import_site as run
    from .page_work import Workers

    target = into or Path(f"{_name(source)}-blogsmith")
    dry_run, fetches = options["dry_run"], options["fetch"]
    asked = ImportOptions(
        now=clocks.now(),
        system=options["system"],
        dry_run=dry_run,
        against=options["against"],
        fetch_images=fetches,
        workers=Workers(min(count_cores(), MAX_PROCESSES)),
    )
    with ProgressBar(sys.stderr, is_quiet=is_quiet()) as progress, rare_collections():
        done = run(source, target, asked, progress)
    problems = _fetch(clocks, target) if fetches and not dry_run else 0
    _print_withheld(done)
    _print_differences(done)
    _print_conflicts(done)
    for problem in done.problems:
        terminal.warn(problem)
    for line in _summary(done, target, clocks.seconds() - clocks.started, dry_run=dry_run):
        terminal.print_line(line)
    return 0 if done.ok and not problems else 1


def _name(source: Path) -> str:
    """Return the name of a source, without the suffix of a file or archive."""
    from .archives import archive_suffix

    name = source.resolve().name
    suffix = archive_suffix(name) or (source.suffix if source.is_file() else "")
    return name[: len(name) - len(suffix)] or name


def _fetch(clocks: CommandClock, root: Path) -> int:
    """Download the images on other hosts that the new site shows. Return the number of failed downloads."""
    from ..api.commands import fetch_images, plan_fetch
    from ..api.importing import BuildLog, BuildOptions, open_site, remote_uses

    context = open_site(root)
    options = BuildOptions(now=clocks.now(), drafts=True, future=True)
    with ProgressBar(sys.stderr, is_quiet=is_quiet()) as progress:
        uses = remote_uses(context, options, BuildLog(progress))
        report = fetch_images(context, plan_fetch(root, uses, renew=False), progress, is_dry=False)
    print_messages(report.problems)
    terminal.print_line(
        f"{plural(len(report.fetched), 'image')} downloaded, {report.present} already present"
    )
    return len(report.problems)


def _print_withheld(done: ImportResult) -> None:
    """Print the pages that were not imported because the old site hides them from readers."""
    from ..api.importing import printable

    held = [notice for notice in done.site.all_notices if notice.kind == "withheld"]
    for notice in () if is_quiet() else held[:_MAX_LISTED]:
        terminal.warn(printable(f"{notice.source}: {notice.message}"))
    if len(held) > _MAX_LISTED and not is_quiet():
        more = plural(len(held) - _MAX_LISTED, "more page")
        terminal.warn(f"and {more} not imported, listed in import-report.md")


def _print_differences(done: ImportResult) -> None:
    from ..api.importing import printable

    differences = done.check.differences
    for one in () if is_quiet() else differences[:_MAX_LISTED]:
        place = f"{one.source}:{one.line}" if one.line else one.source
        terminal.warn(printable(f"{place}: missing in the new page: {one.what}: {one.text}"))
    if len(differences) > _MAX_LISTED and not is_quiet():
        terminal.warn(
            f"and {plural(len(differences) - _MAX_LISTED, 'more difference')}, listed in import-report.md"
        )


def _print_conflicts(done: ImportResult) -> None:
    """Print the files that were changed both on the new site and in the source."""
    from ..api.importing import printable
    from .merge import CONFLICTS

    found = done.merge.conflicts
    for each in () if is_quiet() else found[:_MAX_LISTED]:
        terminal.warn(printable(f"{each.path}: {each.reason}; new version: {CONFLICTS}/{each.path}"))
    if len(found) > _MAX_LISTED and not is_quiet():
        terminal.warn(f"and {plural(len(found) - _MAX_LISTED, 'more file')}, listed in import-report.md")


def _merge_lines(done: ImportResult) -> Iterator[str]:
    """Yield lines about the changes of this import to a folder that an earlier import wrote."""
    from ..api.importing import first_names, printable

    merge = done.merge
    if not merge.is_again:
        return
    names: dict[str, list[str]] = {
        "added": list(merge.added),
        "renewed": list(merge.renewed),
        "removed": list(merge.removed),
        "left": [f"{each.path} ({each.reason})" for each in merge.kept],
    }
    told = [f"{len(paths):,} {verb}" for verb, paths in names.items() if paths]
    yield f"  files since the last import: {', '.join(told) or 'no changes'}"
    for verb, paths in names.items():
        if paths and not is_quiet():
            yield printable(f"  {verb}: {first_names(paths, _MAX_LISTED)}")


def _summary(done: ImportResult, into: Path, seconds: float, *, dry_run: bool) -> list[str]:
    from ..api.importing import count_line
    from .report import next_steps, published_line, withheld_line

    site, check = done.site, done.check
    verb = "would import" if dry_run else "imported"
    where = "" if dry_run else f" → {format_path(into)}/"
    left = sum(notice.kind == "left" for notice in site.all_notices)
    lost = plural(len(check.differences), "difference")
    told = [
        f"{lost} from the source",
        f"{left:,} not translated",
        count_line(check.diagnostics) or "no errors",
    ]
    lines = [
        f"{verb} {plural(len(site.pages), 'page')} and {plural(len(site.files), 'file')} "
        f"from {done.title} in {seconds:.1f} s{where}",
        f"  {'; '.join(told)}",
    ]
    if line := withheld_line(done):
        lines.append(f"  {line}")
    if check.published:
        unanswered = len(check.published.unanswered)
        more = f"; {plural(unanswered, 'old page')} without a page in the new site" if unanswered else ""
        lines.append(f"  {published_line(check.published)}{more}")
    lines += _merge_lines(done)
    if not dry_run:
        folder = shlex.quote(str(into))
        lines += ["next:", f"  cd {folder}", *(f"  {step}" for step in next_steps(done))]
    return lines
