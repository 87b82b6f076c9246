"""Repairs an imported site until it builds.

As in the preview, no cell runs, and plugins run only with consent. After each build, errors are repaired by
their code and location. First, fixes that are certain are applied. Then a wrong key of the front matter or of
the settings is removed, and a wrong link or block becomes literal text. If a page still has errors, its whole
text becomes code, and finally the page is left out. A notice reports each repair that changes the meaning.
The caller handles errors that settings may lower to warnings.
"""

from __future__ import annotations

import datetime as dt
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from ..api.importing import (
    LOWERABLE,
    PROTECTED_CODE,
    BuildOptions,
    Diagnostic,
    ExecutionOptions,
    IncrementalPipeline,
    Place,
    Progress,
    SiteError,
    SiteSnapshot,
    UpdateRequest,
    apply_fixes,
    build_site,
    fold_url,
    lazy_pattern,
    publication,
    slugify,
)
from .addresses import new_url
from .model import ImportedPage, Notice, NoticeKind, SiteImport
from .page_work import Workers
from .text.containers import fence_marks
from .text.data import format_yaml, iso_date, load_mapping, split_yaml_front_matter
from .text.segments import LineFinder
from .verify.facts import find_words, split_words
from .write import page_text, site_files, write_site_files

FORMULA_CODES = frozenset(("math-command", "math-syntax", "math-brace"))
"""Codes of errors in formulas that `math.on_error: render` turns into warnings."""
_SETTINGS = "blogsmith.yaml"
_PAGE_TIMEOUT_S = 60.0
"""Time limit in seconds for building one page."""
_MAX_ROUNDS = 12
_MAX_FRONT_ROUNDS = 4
_MAX_BLOCK_ROUNDS = 8
"""Maximum number of rounds that repair single errors of a page; after them, its whole text becomes code."""
_FENCE = lazy_pattern(r"([ \t>]*)(`{3,}|~{3,})[ \t]*([^\n`]*)")
_PREFIX = lazy_pattern(r"[ \t>]*")
_PUBLICATION_KEYS = frozenset(("draft", "date", "publish_date", "expiry_date"))
_LINK_TAG = lazy_pattern(r"\b(?:href|src)[ \t]*=[ \t]*(?:\"[^\"]*\"|'[^']*'|[^\s\"'>]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class BuiltImport:
    """An import whose files are written. Its build has no errors except those that settings can lower to
    warnings."""

    site: SiteImport
    snapshot: SiteSnapshot
    diagnostics: tuple[Diagnostic, ...]
    """Diagnostics of two builds of the whole site, one with drafts and one without."""
    digests: Mapping[str, str]
    """Path of each written file → digest."""


@dataclass(slots=True)
class SiteBuilder:
    """Builds an import again after each change of its files. Unchanged pages are not rendered again."""

    root: Path
    now: dt.datetime
    progress: Progress
    workers: Workers
    diagnostics: tuple[Diagnostic, ...] = ()
    """Diagnostics of the last build."""
    _snapshot: SiteSnapshot | None = None
    _pipeline: IncrementalPipeline | None = None

    def build(self, pages: int) -> SiteSnapshot | None:
        """Build the site. Return None if its settings have errors. pages: number of pages, for progress."""
        if self._pipeline is None or self._snapshot is None:
            options = BuildOptions(
                now=self.now,
                drafts=True,
                future=True,
                write=False,
                execution=ExecutionOptions(jobs=self.workers.count),
                start_method=self.workers.method,
            )
            self._pipeline = IncrementalPipeline(
                self.root,
                options,
                lambda: self.now,
                limit_s=_PAGE_TIMEOUT_S,
                uses_processes=True,
                lex=_plain_code,
            )
        last: deque[SiteSnapshot | None] = deque(maxlen=1)
        try:
            for done, step in enumerate(self._pipeline.update_site(self._snapshot, UpdateRequest())):
                self.progress("build", min(done, pages), pages)
                last.append(step)
        except SiteError as error:
            self.diagnostics = error.diagnostics
            return None
        (self._snapshot,) = last
        assert self._snapshot is not None, "the last step gives the site"
        own = self._snapshot.page_diagnostics.values()
        every = (*(found for each in own for found in each), *self._snapshot.site_diagnostics)
        self.diagnostics = tuple(dict.fromkeys(every))
        return self._snapshot

    def check_published(self, snapshot: SiteSnapshot) -> None:
        """Also build without drafts and scheduled pages, if there are any. Add the errors of this build,
        because links to these pages are errors in it."""
        states = (
            publication(document, self.now, drafts=False, future=False)
            for document in snapshot.resolved.documents.values()
        )
        if any(state != "published" for state in states):
            report = build_site(self.root, BuildOptions(now=self.now, write=False), self.progress)
            errors = (found for found in report.diagnostics if found.severity == "error")
            self.diagnostics = tuple(dict.fromkeys((*self.diagnostics, *errors)))


def _plain_code(source: str, alias: str, deadline_s: float) -> list[tuple[str, str]]:
    """Return code as one token. Highlighting takes time, and the comparison of pages does not read colors."""
    return [("", source)]


def build_import(site: SiteImport, digests: Mapping[str, str], builder: SiteBuilder) -> BuiltImport:
    """Build the written site, and repair errors until the build succeeds.

    digests: result of `write_site_files` for `site`. Raise SiteError if the settings cannot be repaired.
    """
    state = _Repair()
    for _ in range(_MAX_ROUNDS):
        snapshot = builder.build(len(site.pages))
        errors = [found for found in builder.diagnostics if is_fatal(found)]
        if snapshot and not errors:
            builder.check_published(snapshot)
            errors = [found for found in builder.diagnostics if is_fatal(found)]
            if not errors:
                break
        repaired = state.repair(site, [*errors, *_file_conflicts(site, snapshot)])
        if repaired is None:
            break
        site = repaired
        digests = write_site_files(site_files(site), builder.root, builder.progress, digests)
    else:
        snapshot = builder.build(len(site.pages))
    if snapshot is None:
        raise SiteError(*builder.diagnostics)
    return BuiltImport(site, snapshot, builder.diagnostics, digests)


def is_fatal(found: Diagnostic) -> bool:
    """Return whether a diagnostic is an error that settings cannot lower to a warning."""
    is_lowerable = found.code in FORMULA_CODES or (
        found.code in LOWERABLE and found.path.startswith("content/")
    )
    return found.severity == "error" and not is_lowerable


@dataclass(slots=True)
class _Repair:
    """State of the repairs of one import."""

    _rounds: dict[str, int] = field(default_factory=dict)
    """Path of a page → number of rounds so far that repaired its errors."""
    _literal_pages: set[str] = field(default_factory=set)
    """Paths of the pages whose whole text has become code."""

    def repair(self, site: SiteImport, errors: Iterable[Diagnostic]) -> SiteImport | None:
        """Return the import with repairs for these errors; None if none of them can be repaired."""
        by_path: dict[str, list[Diagnostic]] = {}
        for found in errors:
            by_path.setdefault(found.path, []).append(found)
        pages = {str(page.path): page for page in site.pages}
        urls = {fold_url(_url(page, site)) for page in site.pages}
        changed: dict[str, ImportedPage | None] = {}
        notices: list[Notice] = []
        settings, dropped = site.settings, set[str]()
        for path, each in by_path.items():
            if path in pages:
                changed[path], more = self._repair_page(pages[path], each, site, urls)
                notices += more
            elif path == _SETTINGS:
                settings, more = _repair_settings(settings, each)
                notices += more
            elif path:
                dropped.add(path)
                notices.append(_notice("held", path, 0, "file not allowed on the site", each[0]))
        files = tuple(file for file in site.files if dropped.isdisjoint(_paths(file.path)))
        made = tuple(file for file in site.made if dropped.isdisjoint(_paths(file.path)))
        kept = (changed.get(str(page.path), page) for page in site.pages)
        new = replace(
            site,
            settings=settings,
            pages=tuple(page for page in kept if page is not None),
            files=files,
            made=made,
            notices=(*site.notices, *notices),
        )
        return None if new == replace(site, notices=new.notices) else new

    def _repair_page(
        self, page: ImportedPage, errors: Sequence[Diagnostic], site: SiteImport, urls: set[str]
    ) -> tuple[ImportedPage | None, list[Notice]]:
        """Return the repaired page, or None if the page is left out. Also return notices about the whole
        site. urls: URLs in use; a new URL of the page is added."""
        if any(found.code == PROTECTED_CODE for found in errors):
            return None, [
                *page.notices,
                _notice("withheld", page.source, 0, "page not allowed on the site", errors[0]),
            ]
        fixed = _apply_fixes(page, errors)
        if fixed != page:
            return fixed, []
        head = page_text(page).count("\n") - page.text.strip().count("\n") - 1
        in_front = [found for found in errors if found.code in _URL_CODES or 0 < _line(found) <= head]
        in_text = [found for found in errors if found not in in_front]
        path = str(page.path)
        rounds = self._rounds[path] = self._rounds.get(path, 0) + 1
        if in_front and rounds <= _MAX_FRONT_ROUNDS:
            return _repair_front(page, in_front, _find_free_url(_url(page, site), urls)), []
        if in_text and all(map(_line, in_text)) and rounds <= _MAX_BLOCK_ROUNDS:
            return _repair_blocks(page, in_text, head), []
        error = (in_text or in_front)[0]
        if path not in self._literal_pages:
            self._literal_pages.add(path)
            ticks = fence_marks(page.text)
            notice = _notice(
                "held", page.source, 0, "text that is not allowed becomes code", error, page.text
            )
            text = f"{ticks}text\n{page.text.strip()}\n{ticks}"
            return replace(page, text=text, notices=(*page.notices, notice)), []
        return None, [*page.notices, _notice("held", page.source, 0, "page not allowed on the site", error)]


def _paths(path: PurePosixPath) -> set[str]:
    """Return a path and the paths of all folders that contain it."""
    return {str(path), *map(str, path.parents)}


def _file_conflicts(site: SiteImport, snapshot: SiteSnapshot | None) -> Iterator[Diagnostic]:
    """Yield an error for each copied file whose output path belongs to a page or to another file."""
    copied = {*map(str, site.paths)} - {str(page.path) for page in site.pages}
    taken: dict[str, str] = {}
    for planned in snapshot.plan.files if snapshot else ():
        path = str(planned.path)
        first = taken.setdefault(fold_url(path), planned.origin)
        lost = planned.origin if planned.origin in copied else first
        if first != planned.origin and lost in copied:
            yield Diagnostic(
                "output-conflict", f'duplicate output file "{path}"', lost, hint="rename one of the two"
            )


_URL_CODES = frozenset(("duplicate-url", "alias", "slug", "permalink"))


def _line(found: Diagnostic) -> int:
    return found.place.line if found.place else 0


def _notice(
    kind: NoticeKind, source: str, line: int, what: str, error: Diagnostic, removed: str = ""
) -> Notice:
    return Notice(kind, f"{what}: {error.message}", source, line, removed=removed)


def _url(page: ImportedPage, site: SiteImport) -> str:
    return str(page.front.get("permalink") or new_url(page, site.settings.get("permalinks", {})))


def _apply_fixes(page: ImportedPage, errors: Iterable[Diagnostic]) -> ImportedPage:
    fixes = [found for found in errors if found.fix and found.fix.is_safe]
    text = page_text(page)
    fixed = apply_fixes(text, fixes).text if fixes else text
    if fixed == text:
        return page
    head, body, _ = split_yaml_front_matter(fixed)
    front = load_mapping(head) if head != split_yaml_front_matter(text)[0] else page.front
    return replace(page, front=front, text=body)


def _repair_front(page: ImportedPage, errors: Iterable[Diagnostic], free_url: str) -> ImportedPage:
    """Repair errors in the front matter. Replace the URL by `free_url`, convert a date, or remove the value
    with the error."""
    head = page_text(page).removeprefix("---\n").partition("\n---\n")[0]
    # from the last line to the first, so that a removal does not move the values of other errors
    for found in sorted(errors, key=_line, reverse=True):
        place, keys = found.place, _find_keys(head, _line(found) - 1)
        word = found.source_line[place.column - 1 : place.column - 1 + place.length] if place else ""
        name = str(keys[0]) if keys else ""
        if name == "aliases":
            old = page.front.get("aliases", [])
            left = [alias for alias in old if alias != word]
            # YAML may escape the alias, so that it differs from the value
            is_known = left and len(left) < len(old)
            front = {**page.front, "aliases": left} if is_known else _without(page.front, ("aliases",))
            page = _with_notice(page, front, f'invalid alias "{word}" is removed', found)
        elif found.code in _URL_CODES:
            front = {**_without(page.front, ("slug",)), "permalink": free_url}
            page = _with_notice(page, front, f'invalid URL becomes "{free_url}"', found)
        elif found.code == "date" and (date := iso_date(str(page.front.get(name, "")))):
            page = replace(page, front={**page.front, name: date})
        elif keys and keys[0] in page.front:
            front, name = _without(page.front, keys), ".".join(map(str, keys))
            is_hidden = keys[0] in _PUBLICATION_KEYS
            # a page with an invalid value of these keys must not become public
            front = {**front, "draft": True} if is_hidden else front
            what = f'invalid key "{name}" is removed'
            what = f'invalid key "{name}" makes the page a draft' if is_hidden else what
            page = _with_notice(page, front, what, found, "held" if is_hidden else "changed")
    return page


def _find_free_url(url: str, urls: set[str]) -> str:
    """Return a valid URL similar to `url` that is not in `urls`, and add it to `urls`."""
    folder, _, last = url.strip("/").rpartition("/")
    parts = [part for part in (slugify(each) for each in folder.split("/")) if part]
    is_file = last.endswith(".html")
    name, number = slugify(last.removesuffix(".html")) or "page", 2
    while True:
        found = f"/{'/'.join([*parts, f'{name}-{number}'])}{'.html' if is_file else '/'}"
        if fold_url(found) not in urls:
            urls.add(fold_url(found))
            return found
        number += 1


def _with_notice(
    page: ImportedPage, front: Mapping[str, Any], what: str, found: Diagnostic, kind: NoticeKind = "changed"
) -> ImportedPage:
    notice = _notice(kind, page.source, 0, what, found)
    return replace(page, front=front, notices=(*page.notices, notice))


def _repair_settings(
    settings: Mapping[str, Any], errors: Iterable[Diagnostic]
) -> tuple[Mapping[str, Any], list[Notice]]:
    text, notices, every = format_yaml(settings), [], []
    for found in errors:
        keys = _find_keys(text, _line(found))
        # an item of a list is removed as a whole: without one of its values, it would have errors too
        number = next((index for index, key in enumerate(keys) if isinstance(key, int)), len(keys))
        keys = keys[: number + 1]
        if keys and keys not in every:
            every.append(keys)
            name = ".".join(map(str, keys))
            notices.append(_notice("held", _SETTINGS, 0, f'invalid setting "{name}" is removed', found))
    # items of lists from the last to the first, because their numbers change
    for keys in sorted(every, key=lambda keys: [str(key).zfill(9) for key in keys], reverse=True):
        settings = _without(settings, keys)
    return settings, notices


Keys = tuple[str | int, ...]
"""Keys and 0-based positions in lists, from the outermost inwards."""


def _find_keys(text: str, line: int) -> Keys:
    """Return the keys of the innermost YAML value on a line, the outermost first; empty if there is no value.
    line: 1-based number."""
    found: list[str | int] = []
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    while isinstance(node, (yaml.MappingNode, yaml.SequenceNode)):
        entries: list[tuple[str | int, yaml.Node, yaml.Node]]
        if isinstance(node, yaml.MappingNode):
            entries = [(str(key.value), key, value) for key, value in node.value]
        else:
            entries = [(number, value, value) for number, value in enumerate(node.value)]
        started = [entry for entry in entries if entry[1].start_mark.line < line]
        same = [entry for entry in started if entry[1].start_mark.line == line - 1]
        # several items of a list on one line cannot be told apart
        if not started or len(same) > 1:
            break
        key, _, node = started[-1]
        found.append(key)
    return tuple(found)


def _without(data: Any, keys: Keys) -> Any:
    """Return nested data without the value at these keys. Mappings and lists that become empty are removed,
    too."""
    first, rest = keys[0], keys[1:]
    if isinstance(data, Mapping):
        inner = _without(data[first], rest) if rest and first in data else None
        return {key: inner if key == first else value for key, value in data.items() if key != first or inner}
    inner = _without(data[first], rest) if rest else None
    return [
        inner if number == first else value for number, value in enumerate(data) if number != first or inner
    ]


def _repair_blocks(page: ImportedPage, errors: Iterable[Diagnostic], head: int) -> ImportedPage:
    """Turn each link or block with an error into literal text. head: number of lines before the text."""
    lines = page.text.strip().split("\n")
    source = LineFinder(page.original, page.first_line)
    notices = list(page.notices)
    done = len(lines)
    for found in sorted(errors, key=lambda found: found.place or Place(0), reverse=True):
        index = _line(found) - head - 1
        if not 0 <= index < done:
            # the block of this error is repaired already
            continue
        if found.code in _TEXT_REPAIRS and (new := _TEXT_REPAIRS[found.code](lines[index], found)):
            at = _find_line(source, lines[index])
            notices.append(
                _notice("mistake", page.source, at, "link that is not allowed becomes text", found)
            )
            lines[index], done = new, index + 1
            continue
        start, end = _find_block(lines, index)
        removed = "\n".join(lines[start:end])
        at = next(filter(None, (_find_line(source, line) for line in lines[start:end])), 0)
        notices.append(
            _notice("held", page.source, at, "text that is not allowed becomes code", found, removed)
        )
        lines[start:end] = _as_code(lines[start:end])
        done = start
    return replace(page, text="\n".join(lines), notices=tuple(notices))


def _find_line(source: LineFinder, line: str) -> int:
    """Return the number of the source line that became `line` in the new page; 0 if unknown."""
    return source.find(line) or find_words(source, split_words(line))


def _unlink(line: str, found: Diagnostic) -> str:
    """Return the line with the link at the location of an error converted to text; empty if there is no
    link."""
    place = found.place or Place(1)
    start, end = place.column - 1, place.column - 1 + place.length
    depth = 0
    for at in range(start, min(end, len(line))):
        depth += {"[": 1, "]": -1}.get(line[at], 0)
        if line.startswith("](", at) and not depth:
            rest = line[at + 2 :]
            rest = rest[1:].replace(">", "", 1) if rest.startswith("<") else rest
            return f"{line[: at + 1]}\\({rest}"
    tag = _LINK_TAG.search(line, start, end)
    return line[: tag.start()].rstrip() + line[tag.end() :] if tag else ""


_TEXT_REPAIRS: Mapping[str, Callable[[str, Diagnostic], str]] = {"link-scheme": _unlink}


def _find_block(lines: Sequence[str], index: int) -> tuple[int, int]:
    """Return the start and end (exclusive) of the fence that contains the line at `index`. If there is no
    fence, return those of its paragraph. All numbers are 0-based."""
    fence, start = "", 0
    for number, line in enumerate(lines):
        found = _FENCE.match(line)
        if not fence and found:
            if number > index:
                break
            fence, start = found[2], number
        elif fence and found and found[2].startswith(fence) and not found[3].strip():
            if number >= index:
                return start, number + 1
            fence = ""
    if fence and start <= index:
        return start, len(lines)
    start = end = index
    while start and lines[start - 1].strip(" \t>"):
        start -= 1
    while end < len(lines) and lines[end].strip(" \t>"):
        end += 1
    return start, max(end, index + 1)


def _as_code(lines: Sequence[str]) -> list[str]:
    """Return the lines in a code block that is neither run nor drawn."""
    opening = _FENCE.match(lines[0])
    if opening and opening[3].strip() not in ("", "text") and len(lines) > 1:
        inner = [line for line in lines[1:] if not line.lstrip(" \t>").startswith("#|")]
        return [f"{opening[1]}{opening[2]}text", *inner]
    indents = [found[0] for line in lines if line.strip() and (found := _PREFIX.match(line))]
    prefix = min(indents, key=len) if indents else ""
    prefix = prefix if all(line.startswith(prefix) for line in lines) else ""
    ticks = fence_marks("\n".join(lines))
    return [f"{prefix}{ticks}text", *lines, f"{prefix}{ticks}"]
