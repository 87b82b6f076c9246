"""What is recorded of the pages' cells, and whether it is still true; nothing runs here."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from .cells import PageCells
from .collect import collect
from .config import Execution
from .errors import Diagnostic, SiteError, did_you_mean
from .freeze.record import PageRecord
from .freeze.staleness import PageVerdict, judge
from .freeze.store import read_page
from .freeze.surroundings import FileDigests, Surroundings
from .ledger import BuildOptions, Ledger, no_progress
from .syntax.parser import Parsed, make_parser, parse_document
from .workshop import open_workshop

_FEW = 3


@dataclass(frozen=True, slots=True)
class SurveyedPage:
    """A page with cells."""

    parsed: Parsed
    record: PageRecord | None
    verdict: PageVerdict

    @property
    def cells(self) -> PageCells:
        """What runs in it."""
        return self.parsed.cells

    @property
    def lines(self) -> list[str]:
        """Of its file, to quote."""
        return self.parsed.document.source.text.split("\n")

    @property
    def wrong(self) -> bool:
        """Whether a cell or value is written wrongly: then none of the page may run."""
        found = (d for d in self.parsed.diagnostics if d.severity == "error")
        return any(d.code.startswith(("cell-", "value-")) for d in found)

    @property
    def stale(self) -> bool:
        """Whether anything of it is missing or stale."""
        return bool(self.verdict.outdated())

    @property
    def state(self) -> str:
        """In a few words, for a list."""
        states = [found.state for found in (*self.verdict.cells.values(), *self.verdict.values.values())]
        counts = [(states.count(state), state) for state in ("fresh", "stale", "missing")]
        return ", ".join(f"{count} {state}" for count, state in counts if count)

    def explained(self) -> Iterator[tuple[str, int, str, tuple[str, ...]]]:
        """(name, line, state, reasons) of each cell, then of each value."""
        for cell in self.cells.cells:
            if cell.number in self.verdict.cells:
                found = self.verdict.cells[cell.number]
                yield cell.name, cell.place.line, found.state, found.reasons
        for value in self.cells.values:
            if value.number in self.verdict.values:
                found = self.verdict.values[value.number]
                name = f"{{= {value.expression} =}}"
                yield name, value.origin.place(0).line, found.state, found.reasons


@dataclass(frozen=True, slots=True)
class Survey:
    """All pages with cells."""

    root: Path
    pages: tuple[SurveyedPage, ...]
    surroundings: Surroundings
    """As they were before anything ran."""
    diagnostics: tuple[Diagnostic, ...] = ()

    def after_running(self) -> Surroundings:
        """The same with the files as they are now."""
        files = FileDigests(self.root)
        return replace(self.surroundings, digest_of=files.digest, matches=files.matches, running=False)


def survey(root: Path, around: Surroundings, parsed: Sequence[Parsed]) -> Survey:
    """Judge the records of those pages that have cells."""
    pages: list[SurveyedPage] = []
    diagnostics: list[Diagnostic] = []
    for page in parsed:
        if page.cells.sessions():
            reading = read_page(root, page.cells.path)
            diagnostics += reading.diagnostics
            verdict = judge(page.cells, reading.record, around)
            pages.append(SurveyedPage(page, reading.record, verdict))
    return Survey(root, tuple(pages), around, tuple(diagnostics))


def survey_site(root: Path, posts: Sequence[str], now: dt.datetime) -> Survey:
    """The survey of the posts named, by default of all, drafts too; SiteError if the site cannot be read."""
    workshop = open_workshop(root)
    ledger = Ledger(no_progress)
    collected = collect(workshop, BuildOptions(now=now, drafts=True, future=True), ledger)
    chosen = chosen_posts(root, posts, [document.path for document in collected.documents])
    md = make_parser(workshop.options)
    parsed = [
        parse_document(document, md, workshop.options)
        for document in collected.documents
        if chosen is None or str(document.path) in chosen
    ]
    return survey(root, surroundings(root, workshop.config.execution), parsed)


def chosen_posts(root: Path, posts: Sequence[str], known: Sequence[PurePosixPath]) -> tuple[str, ...] | None:
    """Source paths meant by `posts`: files, folders or names below `content/`; None for all.

    Raises SiteError for a name that means nothing.
    """
    if not posts:
        return None
    chosen: list[str] = []
    for name in posts:
        found = [str(path) for path in known if _means(root, name, path)]
        bare = [str(path) for path in known if name in (path.name, _short(path).name)]
        if not found and len(bare) != 1:
            hint = _which(bare) or _near(name, known)
            hint = hint or "name a source file or a folder, e.g. content/posts/attention.md"
            raise SiteError(Diagnostic("post-unknown", f"there is no post {name}", hint=hint))
        chosen += found or bare
    return tuple(dict.fromkeys(chosen))


def _means(root: Path, name: str, path: PurePosixPath) -> bool:
    asked = Path(name).resolve()
    if asked.is_relative_to(root):
        asked_path = PurePosixPath(asked.relative_to(root).as_posix())
        if path == asked_path or path.is_relative_to(asked_path):
            return True
    below = path.relative_to("content") if path.parts[0] == "content" else path
    return PurePosixPath(name) in (path, below, below.with_suffix(""), _short(path))


def _short(path: PurePosixPath) -> PurePosixPath:
    """`content/posts/a.md` and `content/posts/a/index.md` → `posts/a`."""
    below = path.relative_to("content") if path.parts[0] == "content" else path
    return below.parent if below.stem == "index" else below.with_suffix("")


def _near(name: str, known: Sequence[PurePosixPath]) -> str:
    """A hint at the post whose short name is like `name`, with its folder if that has one."""
    meant = _short(PurePosixPath(name))
    is_bare = str(meant) == meant.name
    shorts = [_short(path) for path in known]
    return did_you_mean(str(meant), [short.name if is_bare else str(short) for short in shorts])


def _which(paths: Sequence[str]) -> str:
    """A hint at the first few of several pages that have the same name."""
    return f"which of {', '.join(paths[:_FEW])}{', …' if len(paths) > _FEW else ''}?" if paths else ""


def surroundings(
    root: Path, execution: Execution, *, running: bool = False, versions: Mapping[str, str] | None = None
) -> Surroundings:
    """What results depend on outside the posts; each file is read once.

    running: whether cells may run now; versions: as in `Surroundings`.
    """
    files = FileDigests(root)
    environment = {name: os.environ[name] for name in execution.env if name in os.environ}
    return Surroundings(environment, files.digest, files.matches, execution.figures, versions, running)
