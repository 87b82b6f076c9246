"""The bibliographies of a site, and the entries that pages request.

A file is read when its first entry is requested. The cache stores an index of each file, by the digest of the
file, but no entries. An entry without errors contains no line numbers, so a page is rebuilt only if an entry
that it cites has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

import msgspec

from ..base.diagnostics.model import (
    Diagnostic,
    Place,
    Reporter,
    did_you_mean,
    format_suggestion,
    list_choices,
    nearest,
)
from ..base.patterns import lazy_pattern
from ..base.storage.site_cache import CacheInterface, NullCache, Row
from ..base.storage.stamps import FileStamp, make_stamp
from ..bibliography.citation_styles import BUNDLED_STYLES
from ..config.load import CONFIG_NAME, LoadedConfig
from ..model.documents import Document
from ..model.paths import join_path
from ..model.publications import CslStyle, PublicationLookup
from ..read.files import NO_TEXTS
from ..read.text_files import TextFile, open_text_file, read_text_file

if TYPE_CHECKING:
    from ..bibliography.bibliography_file import BibliographyFile

# A page names bibliographies and citation styles by a path relative to the page or to the site root.


_OF_HOME = lazy_pattern(r"~|[A-Za-z]:[\\/]")
"""Beginning of paths in a home folder and of absolute Windows paths."""


def candidate_paths(written: str, page: PurePosixPath | None) -> Iterator[PurePosixPath]:
    """Yield the paths, relative to the site root, that a path in a post may mean; the first that exists is
    used. page: file that contains the path; None for the settings."""
    path = PurePosixPath(written)
    folders = [PurePosixPath()] if path.is_absolute() or page is None else [page.parent, PurePosixPath()]
    for folder in (*folders, PurePosixPath("content")):
        found = join_path(folder, written)
        if found is not None:
            yield found


def is_outside_site(root: Path, written: str, page: PurePosixPath | None) -> bool:
    """Return whether a path that an author wrote points outside the site. An absolute path is treated as a
    path of the machine if its first folder does not exist in the site. No file outside the site is accessed.
    page: as in `candidate_paths`."""
    if _OF_HOME.match(written):
        return True
    parts = PurePosixPath(written).parts
    if parts[:1] == ("/",):
        return len(parts) > 2 and not (root / parts[1]).exists()
    return join_path(page.parent if page else PurePosixPath(), written) is None


def file_stamp(root: Path, path: PurePosixPath) -> FileStamp | None:
    """Return a stamp that changes with the file, or None if there is no file."""
    try:
        return make_stamp((root / path).stat(), with_changed=True)
    except (OSError, ValueError):
        return None


_KIND: Final = "bibliographies"
_HINT = "write the path of a file, relative to the page or to the root of the site"
_COPY_HINT = "copy the file into the site, and write its path relative to the page or to the root of the site"


ReadTextFile = Callable[[PurePosixPath], tuple[FileStamp | None, TextFile | None]]


class SiteBibliographies:
    """Cache of the bibliographies of a site, for one build or one preview."""

    def __init__(
        self, root: Path, rows: CacheInterface | None = None, look: ReadTextFile | None = None
    ) -> None:
        """Prepare the bibliographies without reading files. rows: cache for the indexes of files. look:
        function that reads a file; if None, files are read from disk."""
        self._root = root
        self._look = look or self._read_file
        self._rows = rows or NullCache()
        self._settings: LoadedConfig | None = None
        self._read: dict[PurePosixPath, tuple[FileStamp | None, TextFile | None]] = {}
        self._files: dict[PurePosixPath, tuple[str, BibliographyFile]] = {}
        self._is_touched = False
        """Whether `forget` dropped a file since the last call of `refresh`."""
        self.open_texts = NO_TEXTS
        """Path → content of a file that is open in an editor, as in `read_site`."""

    def use_settings(self, settings: LoadedConfig) -> None:
        """Use these settings from now on."""
        self._settings = settings

    def refresh(self) -> bool:
        """Drop cached files that changed on disk. Return whether any file changed."""
        changed = [path for path, (stamp, _) in self._read.items() if file_stamp(self._root, path) != stamp]
        for path in changed:
            del self._read[path]
        is_changed = bool(changed) or self._is_touched
        self._is_touched = False
        return is_changed

    def forget(self, changed: Iterable[str]) -> None:
        """Drop cached files that are known to have changed, even if their stamps are the same."""
        for path in changed:
            self._is_touched |= self._read.pop(PurePosixPath(path), None) is not None

    def find(self, key: str, document: Document) -> PublicationLookup:
        """Return the entry with this key in the bibliographies of a page."""
        for file in self._open_page_files(document):
            found = file.find(key)
            if found:
                return found
        return PublicationLookup()

    def keys(self, document: Document) -> tuple[str, ...]:
        """Return all keys that a page may cite, in the order of its files."""
        return tuple(dict.fromkeys(key for file in self._open_page_files(document) for key in file.keys))

    def texts(self, document: Document) -> Iterator[tuple[str, str]]:
        """Yield the path and content of each bibliography of a page."""
        for written, page in self._named_paths(document):
            path, file = self._find_file(written, page)
            if path and file and not file.problem:
                yield str(path), file.text

    def publication_keys(self, document: Document) -> tuple[str, ...]:
        """Return the keys of the files in the page's `publications`."""
        named = [(written, document.path) for written in document.front.publications]
        return tuple(dict.fromkeys(key for file in self._open_files(named) for key in file.keys))

    def hint(self, key: str, document: Document) -> str:
        """Return a hint for a key that is in no bibliography."""
        keys = self.keys(document)
        by_case = {known.casefold(): known for known in keys}
        if known := by_case.get(key.casefold()):
            return f"write `{known}`: keys are case-sensitive"
        names = [file.path for file in self._open_page_files(document)]
        where = (
            f"add it to {names[0]}"
            if names
            else "create a bibliography file, and name it under `bibliography`"
        )
        return did_you_mean(key, keys) or where

    def place(self, key: str, document: Document) -> Diagnostic | None:
        """Return a diagnostic without message whose location is that of an entry, or None if there is no such
        entry."""
        return next((found for file in self._open_page_files(document) if (found := file.place(key))), None)

    def check(self, document: Document) -> tuple[Diagnostic, ...]:
        """Return errors in the bibliographies of a page."""
        found = []
        for written, page in self._named_paths(document):
            path, file = self._find_file(written, page)
            if path is None or file is None or file.problem:
                found.append(self._missing(written, document if page else None, file))
        for bibliography in self._open_page_files(document):
            found += bibliography.problems()
        return tuple(found)

    def style(self, document: Document) -> CslStyle:
        """Return the citation style of a page. Its name is empty if the page and the settings have none."""
        front = document.front
        config = self._config.config
        # `citations: style` in the front matter takes precedence over `csl` in the settings
        own = front.csl or ("" if front.citations.style else config.csl)
        if not own:
            return CslStyle()
        if own in BUNDLED_STYLES:
            return CslStyle(own, is_bundled=True)
        page = document.path if front.csl else None
        path, file = self._find_file(own, page)
        if path is None or file is None or file.problem:
            problem = self._style_problem(own, document if page else None, file)
            return CslStyle(own, problem=problem)
        return CslStyle(str(path), file.text)

    @property
    def _config(self) -> LoadedConfig:
        assert self._settings is not None, "call `use_settings` first"
        return self._settings

    def _named_paths(self, document: Document) -> Iterator[tuple[str, PurePosixPath | None]]:
        """Yield the paths of bibliographies as authors wrote them. Each comes with the page that contains it,
        or None for the settings."""
        for written in (*document.front.bibliography, *document.front.publications):
            yield written, document.path
        for written in self._config.config.bibliography:
            yield written, None

    def _open_page_files(self, document: Document) -> list[BibliographyFile]:
        return self._open_files(self._named_paths(document))

    def _open_files(self, named: Iterable[tuple[str, PurePosixPath | None]]) -> list[BibliographyFile]:
        found = []
        for written, page in named:
            path, file = self._find_file(written, page)
            if path and file and not file.problem:
                found.append(self._bibliography(path, file))
        return found

    def _bibliography(self, path: PurePosixPath, file: TextFile) -> BibliographyFile:
        known = self._files.get(path)
        if known is None or known[0] != file.digest:
            made = self._open(path, file)
            known = self._files[path] = (file.digest, made)
        return known[1]

    def _open(self, path: PurePosixPath, file: TextFile) -> BibliographyFile:
        # slow import, and most sites have no bibliography
        from ..bibliography.bibliography_file import BibtexFile, CslJsonFile
        from ..bibliography.bibtex_index import BibIndex

        if path.suffix.lower() == ".json":
            return CslJsonFile(str(path), file.text)
        key = f"{self._rows.program} {file.digest}"
        row = self._rows.get(_KIND, str(path))
        if row and row.key == key:
            try:
                return BibtexFile(str(path), file.text, msgspec.msgpack.decode(row.data, type=BibIndex))
            except msgspec.MsgspecError:
                pass
        made = BibtexFile(str(path), file.text)
        if self._rows.program:
            self._rows.put(_KIND, str(path), Row(key, msgspec.msgpack.encode(made.index)))
        return made

    def _find_file(
        self, written: str, page: PurePosixPath | None
    ) -> tuple[PurePosixPath | None, TextFile | None]:
        """Return path and content of the file that `written` means; both None if no file exists."""
        for path in candidate_paths(written, page):
            if path not in self._read:
                self._read[path] = self._look(path)
            if found := self._read[path][1]:
                return path, found
        return None, None

    def _read_file(self, path: PurePosixPath) -> tuple[FileStamp | None, TextFile | None]:
        stamp = file_stamp(self._root, path)
        if (text := self.open_texts.get(str(path))) is not None:
            return stamp, open_text_file(text)
        return stamp, read_text_file(self._root, self._config.config.output, path) if stamp else None

    def _missing(self, written: str, document: Document | None, file: TextFile | None) -> Diagnostic:
        page = document.path if document else None
        is_outside = file.is_outside if file else is_outside_site(self._root, written, page)
        message = (
            f'bibliography "{written}" is outside the site'
            if is_outside
            else f'bibliography not found: "{written}"'
        )
        message = file.problem if file else message
        is_list = document is not None and written in document.front.publications
        key = "publications" if is_list else "bibliographies"
        near = None if file or is_outside else self._near_file(written, document)
        hint = format_suggestion(near) or (_COPY_HINT if is_outside else _HINT)
        return self._diagnostic_at_key("bibliography-file", message, key, written, document, hint, near)

    def _near_file(self, written: str, document: Document | None) -> str | None:
        """Return the name of the bibliography that is most similar to `written`, next to the page or at the
        site root. None if none is similar."""
        names = list[str]()
        for path in candidate_paths(written, document.path if document else None):
            with suppress(OSError):
                folder = (self._root / path).parent
                names += sorted(one.name for one in folder.iterdir() if one.suffix in (".bib", ".json"))
        return nearest(PurePosixPath(written).name, names)

    def _style_problem(self, written: str, document: Document | None, file: TextFile | None) -> Diagnostic:
        message = file.problem if file else f'citation style not found: "{written}"'
        near = nearest(written, BUNDLED_STYLES)
        hint = format_suggestion(near) or f"{_HINT}, or {list_choices(BUNDLED_STYLES)}"
        return self._diagnostic_at_key("citation-style", message, "csl", written, document, hint, near)

    def _diagnostic_at_key(
        self,
        code: str,
        message: str,
        key: str,
        written: str,
        document: Document | None,
        hint: str = _HINT,
        near: str | None = None,
    ) -> Diagnostic:
        """Return an error at the value of a key in the page or the settings. near: similar file name to
        suggest, or None."""
        if document is not None:
            lines, place, path = (
                document.source.text.split("\n"),
                document.front.places.get(key),
                document.path,
            )
            name = str(path)
        else:
            settings = self._config
            lines, place, name = [*settings.lines], settings.locations.get((key,)), CONFIG_NAME
        number = next(
            (
                index
                for index in range((place.line if place else 1) - 1, len(lines))
                if written in lines[index]
            ),
            None,
        )
        if number is not None:
            place = msgspec.structs.replace(
                place or Place(1),
                line=number + 1,
                column=lines[number].index(written) + 1,
                length=len(written),
            )
        line = lines[place.line - 1] if place and place.line <= len(lines) else ""
        fix = Reporter(name, lines).correct(place, PurePosixPath(written).name, near)
        return Diagnostic(code, message, name, place, line, hint, fix=fix)


def bibliography_paths(documents: Iterable[Document], settings: LoadedConfig) -> frozenset[str]:
    """Return every path, relative to the root, where a named bibliography or style may be, whether it exists
    or not. A build depends on all of these paths."""
    config = settings.config
    found: set[PurePosixPath] = set()
    for written in (*config.bibliography, config.csl):
        if written and written not in BUNDLED_STYLES:
            found.update(candidate_paths(written, None))
    for document in documents:
        front = document.front
        for written in (*front.bibliography, *front.publications, front.csl):
            if written and written not in BUNDLED_STYLES:
                found.update(candidate_paths(written, document.path))
    return frozenset(map(str, found))
