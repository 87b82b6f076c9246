"""Reading the files of a site: finds them under `content/` and `static/`, and reads the Markdown files.

Apart from the settings, no other module that a build calls reads the author's files. This module raises no
exceptions: it reports an unreadable file as an error, and still reads the others. Files other than Markdown
are only listed, so large ones cost nothing here. Names are sorted by code point, so every system produces the
same site.
"""

from __future__ import annotations

import hashlib
import os
import stat
import unicodedata
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.characters import find_forbidden, find_hidden, format_code_point
from ..base.diagnostics.model import Diagnostic, Severity, SiteError
from ..base.diagnostics.notebook_cells import NOTEBOOK, PYTHON
from ..base.storage.file_names import (
    MARKDOWN,
    MAX_FOLDER_DEPTH,
    PUBLISHED_HIDDEN,
    is_temporary_name,
)
from ..base.storage.folder import open_real_file
from ..base.storage.links import LinkRejectedError, Links
from ..base.storage.stamps import FileStamp, make_stamp
from ..config.schema import Config
from ..model.decode import normalize_line_ends
from ..model.documents import Asset, SiteFiles, Source
from ..model.remote_images import RemoteImages, read_record
from ..model.texts import ReadText
from .source_text import MAX_NOTEBOOK_BYTES, MAX_TEXT_BYTES, source_text
from .unread_files import find_unread_files, unread_warning

_CODE_FOLDERS = ("languages", "layouts", "partials", "plugins", "shortcodes", "themes")
"""Folders with files that other modules read. These modules skip special files silently, so they are reported
here."""


KeepText = Callable[[str], ReadText]
FindSource = Callable[[PurePosixPath, Path], Source | None]
NO_TEXTS: Mapping[str, str] = MappingProxyType({})


class _SiteFile(Struct, frozen=True):
    """A regular file."""

    path: PurePosixPath
    """Path relative to the site root, as the author sees it."""
    file: Path
    """Path on disk, with symbolic links resolved."""
    stamp: FileStamp
    """Stamp of the file, which shows whether it has changed."""

    @property
    def size(self) -> int:
        """Size in bytes."""
        return self.stamp.size


def read_site(
    root: Path,
    config: Config,
    before: SiteFiles | None = None,
    changed: Container[str] = (),
    keep: KeepText | None = None,
    texts: Mapping[str, str] = NO_TEXTS,
    find: FindSource | None = None,
) -> SiteFiles:
    """Read everything under `content/` and `static/` of the site at `root`, sorted by path.

    before: the previous result; its sources are reused if their stamps are the same and their paths not in
    `changed`. keep: function that stores content and returns an object that reads it when needed; None keeps
    it in memory. `texts`: path → content of an open editor, used instead of the file on disk. find: function
    that returns the source of an unchanged file without reading it; None: read every file.
    """
    walker = _Walker(root.resolve(), config.output, texts)
    content = [*walker.walk(PurePosixPath("content"))]
    if unsaved := _unsaved_sources(walker, {str(found.path) for found in content}):
        content = sorted([*content, *unsaved], key=lambda one: one.path.as_posix())
    static = list(walker.walk(PurePosixPath("static"), keep=PUBLISHED_HIDDEN))
    same = _unchanged_sources(before, changed) if before else {}
    bundles = _bundle_folders(found.path for found in content)
    written = [found for found in content if _is_source(found, bundles)]
    pages = {found.path for found in written}
    _warn_of_foreign_texts([found for found in content if found.path not in pages], walker)
    posts = _drop_conflicting_posts(written, walker)
    sources = [
        same.get((str(found.path), found.stamp))
        or (find and find(found.path, found.file))
        or _read_source(found, walker, keep)
        for found in posts
    ]
    for name in _CODE_FOLDERS:
        walker.report_special_files(PurePosixPath(name))
    remote, problems = _read_remote_images(walker.root, config)
    unread = find_unread_files(walker.root)
    return SiteFiles(
        sources=tuple(source for source in sources if source is not None),
        assets=tuple(_asset(found) for found in content if found.path not in pages),
        static=tuple(_asset(found) for found in static),
        diagnostics=(*walker.diagnostics, *problems, *map(unread_warning, unread)),
        stamps={str(found.path): found.stamp for found in (*content, *static)},
        remote=remote,
        unread=unread,
    )


def reread_source(
    root: Path, config: Config, before: SiteFiles, path: str, texts: Mapping[str, str] = NO_TEXTS
) -> SiteFiles | None:
    """Read one source again. Return None if more than its content has changed, or if it cannot be read.
    `texts`: path → content of an open editor, used instead of the file on disk."""
    number = next((n for n, source in enumerate(before.sources) if str(source.path) == path), None)
    if number is None:
        return None
    read = _read_one(root, config, path, texts)
    if read is None:
        return None
    source, stamp = read
    sources = (*before.sources[:number], source, *before.sources[number + 1 :])
    return replace(before, sources=sources, stamps={**before.stamps, path: stamp})


def _read_one(
    root: Path, config: Config, path: str, texts: Mapping[str, str] = NO_TEXTS
) -> tuple[Source, FileStamp] | None:
    walker = _Walker(root.resolve(), config.output, texts)
    # not through a link: the site may contain its target under two names
    if (walker.root / path).resolve() != walker.root / path:
        return None
    found = next(iter([*walker.walk_one(PurePosixPath(path)), *_unsaved_sources(walker, (), path)]), None)
    source = _read_source(found, walker) if found else None
    return None if found is None or source is None or walker.diagnostics else (source, found.stamp)


def _unsaved_sources(walker: _Walker, known: Container[str], only: str = "") -> list[_SiteFile]:
    """Return the sources in open editors that do not exist on disk yet; `only`: path of the only one to look
    for."""
    found = []
    for name in [only] if only in walker.texts else () if only else walker.texts:
        path = PurePosixPath(name)
        is_source = path.parts[:1] == ("content",) and path.suffix.lower() in MARKDOWN
        if not is_source or name in known or any(map(is_temporary_name, path.parts)):
            continue
        file = walker.root / path
        # an existing file that is not in the list was rejected, for example as a link that points outside the
        # site
        if not os.path.lexists(file) and file.resolve() == file:
            found.append(_SiteFile(path, file, FileStamp(0, 0, 0)))
    return found


def _unchanged_sources(before: SiteFiles, changed: Container[str]) -> dict[tuple[str, FileStamp], Source]:
    """Map path and stamp to the source, for sources that need not be read again."""
    paths = ((str(source.path), source) for source in before.sources)
    return {(path, before.stamps[path]): source for path, source in paths if path not in changed}


def _bundle_folders(paths: Iterable[PurePosixPath]) -> set[PurePosixPath]:
    """Return the folders of posts. Such a folder contains `index.md` and no other Markdown file."""
    counts: Counter[PurePosixPath] = Counter()
    indexes = set()
    for path in paths:
        if path.suffix.lower() in MARKDOWN:
            counts.update(path.parents)
            if path.stem == "index":
                indexes.add(path.parent)
    return {folder for folder in indexes if counts[folder] == 1 and len(folder.parts) > 1}


def _is_source(found: _SiteFile, bundles: Container[PurePosixPath]) -> bool:
    """Return whether a file is a page. A notebook or a Python file is a page if its first cell has front
    matter, so the file is read. A notebook in the folder of a post is a file of the post, not a page."""
    suffix = found.path.suffix.lower()
    if suffix not in (NOTEBOOK, PYTHON):
        return suffix in MARKDOWN
    if suffix == NOTEBOOK and any(folder in bundles for folder in found.path.parents):
        return False
    # most sites have no such files
    from .notebooks import notebook, percent

    is_post, size = (
        (notebook.is_post, notebook.MAX_HEAD) if suffix == NOTEBOOK else (percent.is_post, percent.MAX_HEAD)
    )
    with suppress(OSError), open_real_file(found.file) as stream:
        return is_post(normalize_line_ends(stream.read(size).decode("utf-8-sig", "replace")))
    return False


def _warn_of_foreign_texts(content: Sequence[_SiteFile], walker: _Walker) -> None:
    for found in content:
        if hint := foreign_file_hint(found.path):
            message = f'"{found.path.suffix}" files are not pages, so this file is published unchanged'
            if found.path.suffix.lower() == NOTEBOOK:
                message = "this notebook is a file of the site, not a page"
            walker.report("foreign-file", message, found.path, hint, "warning")


def _drop_conflicting_posts(posts: Sequence[_SiteFile], walker: _Walker) -> list[_SiteFile]:
    """Return the posts that do not share recorded results with an earlier post. Two posts share them if their
    paths differ only in the extension: report and skip the later one."""
    twins = {later: first for first, later in conflicting_posts(post.path for post in posts)}
    for later, first in twins.items():
        message = f'"{format_path(first)}" and "{format_path(later)}" would share recorded results'
        walker.report("twin-posts", message, later, "rename one of them, not only its extension")
    return [post for post in posts if post.path not in twins]


def _asset(found: _SiteFile) -> Asset:
    return Asset(found.path, found.file, found.size)


def _read_source(found: _SiteFile, walker: _Walker, keep: KeepText | None = None) -> Source | None:
    is_notebook = found.path.suffix.lower() == NOTEBOOK
    if found.size > (MAX_NOTEBOOK_BYTES if is_notebook else MAX_TEXT_BYTES):
        message = f"more than {MAX_TEXT_BYTES // 1_000_000} MB in the file"
        if is_notebook:
            message = f"more than {MAX_NOTEBOOK_BYTES // 1_000_000} MB in a notebook"
        walker.report(
            "file-too-large", message, found.path, "split the post, or move data to a file of its own"
        )
        return None
    try:
        open_text = walker.texts.get(str(found.path))
        data = _read(found.file) if open_text is None else open_text.encode("utf-8", "replace")
        text = source_text(found.path, data)
    except OSError as error:
        walker.report(
            "unreadable", f"cannot read this file: {_reason(error)}", found.path, "check its permissions"
        )
    except SiteError as error:
        walker.diagnostics.extend(error.diagnostics)
    else:
        digest = hashlib.sha256(data)
        kept = keep(text) if keep else text
        # the field also accepts a function that reads the text later, which the type of the dataclass cannot
        # express
        return Source(found.path, cast("str", kept), digest.hexdigest())
    return None


def _read(file: Path) -> bytes:
    with open_real_file(file) as stream:
        return stream.read()


def format_path(path: PurePosixPath) -> str:
    """Return the path for messages. Bytes that are not UTF-8 become �."""
    return os.fsencode(path).decode("utf-8", "replace")


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__


_ACCESS = "check its permissions"
_INVALID_TYPE = "invalid file type: expected a regular file or a folder"
_DEEP = "move the files up, into fewer folders"


@dataclass(slots=True)
class _Walker:
    """Walker through the folders of one site, for one call of `read_site`."""

    root: Path
    """Site root with links resolved."""
    output: str
    texts: Mapping[str, str] = field(default_factory=lambda: NO_TEXTS)
    """Path → content of a file that is open in an editor, used instead of the file on disk."""
    diagnostics: list[Diagnostic] = field(default_factory=list)
    links: Links = field(init=False)

    def __post_init__(self) -> None:
        self.links = Links(self.root, self.output)

    def report(
        self, code: str, message: str, path: PurePosixPath, hint: str = "", severity: Severity = "error"
    ) -> None:
        """Add a diagnostic about the file as a whole."""
        self.diagnostics.append(Diagnostic(code, message, format_path(path), hint=hint, severity=severity))

    def walk(self, path: PurePosixPath, keep: frozenset[str] = frozenset()) -> Iterator[_SiteFile]:
        """Yield the regular files at and below `path`, sorted. Hidden names are skipped unless in `keep`."""
        if os.path.lexists(self.root / path):
            found = sorted(self._visit(path, (), keep), key=lambda one: one.path.as_posix())
            yield from found

    def walk_one(self, path: PurePosixPath) -> Iterator[_SiteFile]:
        """Yield the regular file at `path`, if it exists and may be read."""
        if os.path.lexists(self.root / path):
            above = tuple(self.root / parent for parent in reversed(path.parents[:-1]))
            yield from self._visit(path, above, frozenset())

    def _visit(
        self, path: PurePosixPath, above: tuple[Path, ...], keep: frozenset[str]
    ) -> Iterator[_SiteFile]:
        """Yield the files at `path`. above: the resolved folders above it."""
        try:
            file = self._resolve(path, above)
            if file is None:
                return
            status = file.stat()
            if stat.S_ISDIR(status.st_mode):
                for name in self._names(file, path, keep) if self._may_enter(path) else ():
                    yield from self._visit(path / name, (*above, file), keep)
            elif stat.S_ISREG(status.st_mode) and above:
                yield _SiteFile(path, file, make_stamp(status))
            else:
                what = "neither a file nor a folder" if above else "not a folder"
                self.report(
                    "unreadable", f"this path is {what}", path, "remove it, or replace it by a regular file"
                )
        except OSError as error:
            self.report(
                "unreadable", f"cannot read this file: {_reason(error)}", path, "check its permissions"
            )

    def report_special_files(self, path: PurePosixPath) -> None:
        """Report pipes, sockets and devices at and below `path`, without following links."""
        status = os.lstat(self.root / path) if os.path.lexists(self.root / path) else None
        if status is None or stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode):
            return
        if not stat.S_ISDIR(status.st_mode):
            self.report(
                "unreadable", "invalid file type: expected a regular file or a folder", path, "remove it"
            )
        elif len(path.parts) <= MAX_FOLDER_DEPTH:
            with suppress(OSError), os.scandir(self.root / path) as entries:
                for entry in sorted(entries, key=lambda one: one.name):
                    # `is_temporary_name` includes `.git`, which may contain a socket
                    if not is_temporary_name(entry.name) and not entry.is_file(follow_symlinks=False):
                        self.report_special_files(path / entry.name)

    def _may_enter(self, path: PurePosixPath) -> bool:
        if len(path.parts) <= MAX_FOLDER_DEPTH:
            return True
        self.report("unreadable", f"more than {MAX_FOLDER_DEPTH} folders inside each other", path, _DEEP)
        return False

    def _resolve(self, path: PurePosixPath, above: tuple[Path, ...]) -> Path | None:
        """Return the file or folder that `path` resolves to; None, after a report, if it must not be read."""
        try:
            return self.links.resolve(path, above)
        except LinkRejectedError as refused:
            self.report("symlink", refused.message, path, refused.hint, refused.severity)
            return None

    def _names(self, folder: Path, path: PurePosixPath, keep: frozenset[str]) -> list[str]:
        """Return the names in a folder, without files of editors and systems. Report names that differ only
        in case or normalization."""
        every = (entry.name for entry in folder.iterdir())
        names = sorted(name for name in every if name in keep or not is_temporary_name(name))
        first: dict[str, str] = {}
        for name in names:
            twin = first.setdefault(fold_name(name), name)
            if twin != name:
                self._report_twins(path / twin, path / name)
        return [name for name in names if self._is_text(path / name)]

    def _is_text(self, path: PurePosixPath) -> bool:
        """Return whether the name is valid UTF-8, as URLs require. Report invalid and invisible
        characters."""
        if format_path(path) == str(path):
            if unseen := find_forbidden(path.name) or find_hidden(path.name):
                message = f"file name contains the invisible character {format_code_point(unseen[0])}"
                self.report("hidden-character", message, path, "rename the file", "warning")
            return True
        self.report("encoding", "file name is not UTF-8", path, "rename the file")
        return False

    def _report_twins(self, first: PurePosixPath, second: PurePosixPath) -> None:
        differ = "Unicode form" if _compose_name(first) == _compose_name(second) else "case"
        message = f'"{format_path(first)}" and "{format_path(second)}" differ only in {differ}'
        self.report(
            "twin-files", message, second, "rename one of them, because many systems can store only one"
        )


def _compose_name(path: PurePosixPath) -> str:
    return unicodedata.normalize("NFC", str(path))


def _read_remote_images(root: Path, config: Config) -> tuple[RemoteImages, tuple[Diagnostic, ...]]:
    """Return the setting for remote images, with the copies that the site has if the setting is `fetch`."""
    rule = config.images.remote
    if rule != "fetch":
        return RemoteImages(rule), ()
    copies, problems = read_record(root)
    return RemoteImages(rule, copies), problems


# Source files of other systems in `content/` do not become pages; they would be published unchanged.


_MARKDOWN = "rename it to `{}`"
_REWRITE_HINT = "rewrite it in Markdown as `{}`, or move it to `static/` to publish it unchanged"
_HINTS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys((".mdown", ".mkd", ".mkdn", ".mdwn", ".mdtxt", ".mdtext"), _MARKDOWN),
        **dict.fromkeys(
            (".qmd", ".rmd", ".mdx", ".myst"),
            f"{_MARKDOWN}, and run `blogsmith check` to list unsupported syntax",
        ),
        NOTEBOOK: "to make it a page, write front matter in its first cell, in a folder without `index.md`",
        **dict.fromkeys(
            (".rst", ".org", ".adoc", ".asciidoc", ".textile", ".rnw", ".mediawiki"), _REWRITE_HINT
        ),
    }
)
"""File name extension → hint."""


def foreign_file_hint(path: PurePosixPath) -> str:
    """Return a hint for a source file of another system; empty for all other files."""
    return _HINTS.get(path.suffix.lower(), "").replace("{}", f"{path.stem}.md")


# Posts whose paths differ only in the extension would record their results in the same folder.


def fold_name(name: str) -> str:
    """Return a form that is equal for names that differ only in case or normalization."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def conflicting_posts(paths: Iterable[PurePosixPath]) -> Iterator[tuple[PurePosixPath, PurePosixPath]]:
    """Yield (earlier, later) for each two Markdown files that would use the same folder under `_freeze/`. The
    folder has the path without extension. It contains `outputs.json`, so a post `p/outputs.json.md` conflicts
    with `p.md`."""
    first: dict[str, PurePosixPath] = {}
    for path in paths:
        own = fold_name(str(path.with_suffix("")))
        twin = first.setdefault(own, path)
        # names that differ only in case have been reported for their folder
        if twin is not path and fold_name(str(twin)) != fold_name(str(path)):
            yield twin, path
    for own, path in first.items():
        if own.endswith("/outputs.json") and (parent := first.get(own.removesuffix("/outputs.json"))):
            yield parent, path
