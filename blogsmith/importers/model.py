"""The records of an import: what a source holds, in our words, and what was found on the way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Protocol, TypeVar

NoticeKind = Literal["withheld", "left", "changed", "dropped", "missing", "mistake", "kept"]
"""`withheld`: the old site keeps the page from readers, so it is not imported. `left`: stands in the page as
it was, for it could not be translated. `changed`: means something else now. `dropped`: taken away because it
has no meaning here. `missing`: the source names a file it does not have. `mistake`: the source is wrong in
itself. `kept`: a key of front matter that is kept for templates."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something of the source that is not simply the same here."""

    kind: NoticeKind
    message: str
    """What it is, in the words of the old system; no full stop."""
    source: str = ""
    """File, relative to the source's root; empty: the site as a whole."""
    line: int = 0
    """1-based line of that file; 0: the file as a whole."""
    hint: str = ""
    """What the author does about it."""
    removed: str = ""
    """The part of the source that is not in the page any more, on purpose: its words and formulas are no
    loss."""
    is_list: bool = False
    """What was taken away is a list of other pages, whose titles and summaries the old page shows."""
    made_here: str = ""
    """Old address of a page that is left out because blogsmith makes one like it."""


@dataclass(frozen=True, slots=True)
class FrontKeys:
    """What an importer knows about the front matter of its system. All names are in lower case."""

    translated: frozenset[str] = frozenset()
    """Keys that it translates. A dot separates a key from the mapping around it: `author.name`."""
    tools: frozenset[str] = frozenset()
    """Keys that only control the old system or its themes."""


@dataclass(frozen=True, slots=True)
class OldSettings:
    """Settings of the old site."""

    file: str
    """Relative to the source's root."""
    values: Mapping[str, Any]
    """As the old system reads them."""
    translated: frozenset[str]
    """Settings that the importer reads, in lower case, with dots as in `FrontKeys`. A value that only readers
    can be meant to see, an address or a sentence, must be in the new site nevertheless."""


@dataclass(frozen=True, slots=True)
class ImportedPage:
    """One page, in our words."""

    path: PurePosixPath
    """Relative to the new site: `content/posts/a.md`."""
    front: Mapping[str, Any]
    """Front matter in the order it is written; plain data."""
    text: str
    """Markdown after the front matter."""
    source: str
    """File it comes from, relative to the source's root."""
    original: str = ""
    """Text of that file after its front matter, for `System.render`."""
    first_line: int = 1
    """1-based line of the file on which `original` starts."""
    address: str = ""
    """Site path it had, without the base path: `/2024/03/title/`. Empty: none."""
    notices: tuple[Notice, ...] = ()
    old_front: Mapping[str, Any] = field(default_factory=dict)
    """Front matter as the old system reads it, with what settings and folders add."""
    front_keys: FrontKeys = FrontKeys()


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """A file that is copied as it is."""

    path: PurePosixPath
    """Relative to the new site: `static/assets/a.png`."""
    file: Path
    """Where it lies in the source, links resolved."""


@dataclass(frozen=True, slots=True)
class ImportedData:
    """A file that no file of the source holds as it is: a picture out of a notebook, a recorded result."""

    path: PurePosixPath
    """Relative to the new site."""
    data: bytes


class HasPath(Protocol):
    """What has a place in the new site."""

    @property
    def path(self) -> PurePosixPath:
        """Relative to the new site."""


Item = TypeVar("Item", bound=HasPath)


def by_path(items: Iterable[Item]) -> tuple[Item, ...]:
    """Sorted by path; of two with one path the later."""
    return tuple(sorted({item.path: item for item in items}.values(), key=lambda item: item.path.as_posix()))


@dataclass(frozen=True, slots=True)
class SiteImport:
    """A source, read as a whole."""

    root: Path
    system: str
    """Name of the system that wrote it, as in `systems.system_names`."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What `blogsmith.yaml` will hold, in that order; plain data."""
    pages: tuple[ImportedPage, ...] = ()
    """Sorted by path; no two have the same."""
    files: tuple[ImportedFile, ...] = ()
    """Sorted by path; no two have the same."""
    notices: tuple[Notice, ...] = ()
    """Those of no single page."""
    made: tuple[ImportedData, ...] = ()
    """Sorted by path; no two have the same, nor that of a page or file."""
    old_settings: tuple[OldSettings, ...] = ()

    @property
    def all_notices(self) -> tuple[Notice, ...]:
        """Those of the site, then those of its pages."""
        return (*self.notices, *(notice for page in self.pages for notice in page.notices))


@dataclass(frozen=True, slots=True)
class Difference:
    """Something of a page's source that its new page does not have."""

    what: str
    """A kind of `verify.facts`: `formulas`, `words` …"""
    text: str
    """The thing itself: its TeX, its address, the words in the order of the page."""
    source: str
    line: int = 0
    """1-based; 0 if it cannot be told."""
    count: int = 1


@dataclass(frozen=True, slots=True)
class PageCheck:
    """One page after the import: what a build says of it, and what of its source it lacks."""

    path: str
    """Source path in the new site."""
    source: str
    counts: Mapping[str, int] = field(default_factory=dict)
    """Kind of thing → how many the source has."""
    differences: tuple[Difference, ...] = ()
    errors: int = 0
    warnings: int = 0
    values: int = 0
    """Values of the old front matter that were compared."""
    is_front_read: bool = True
    """Whether the front matter of the old file could be read and compared."""
