"""Records of an import. They contain the pages, files and settings of a source in blogsmith's form, and
notices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Protocol, TypeVar

NoticeKind = Literal["withheld", "unread", "held", "left", "changed", "dropped", "missing", "mistake", "kept"]
"""Kind of a notice.

- `withheld`: the old site hides the page from readers, so it is not imported.
- `unread`: the import cannot read a document of the source.
- `held`: the build rejects some content. The import keeps it as code or in a draft, or leaves it out.
- `left`: the import cannot translate the content, which stays unchanged in the page.
- `changed`: the content has another meaning now.
- `dropped`: the content was removed because it has no meaning in blogsmith.
- `missing`: the source refers to a file that it does not contain.
- `mistake`: the source itself has an error.
- `kept`: blogsmith does not use a front matter key, but templates can read it.
"""


@dataclass(frozen=True, slots=True)
class Notice:
    """A message about content of the source that is different or missing in the new site."""

    kind: NoticeKind
    message: str
    """Description in the terms of the old system, without full stop. `verify.site.is_named` recognizes the
    keys and settings that the message names."""
    source: str = ""
    """File relative to the root of the source; empty if the notice concerns the whole site."""
    line: int = 0
    """1-based line of the file; 0 if the notice concerns the whole file."""
    hint: str = ""
    """Instruction for the author; may be empty."""
    removed: str = ""
    """Text of the source that the importer removes on purpose. Its words and formulas are not reported as
    losses. Empty if nothing is removed."""
    is_list: bool = False
    """Whether `removed` is a list of other pages with their titles and summaries."""
    made_here: str = ""
    """Old URL of a page that is not imported because blogsmith generates the same kind of page; otherwise
    empty."""


@dataclass(frozen=True, slots=True)
class FrontKeys:
    """Front matter keys that an importer knows, in lower case."""

    translated: frozenset[str] = frozenset()
    """Keys that the importer translates. A dot separates a key from its parent: `author.name`."""
    tools: frozenset[str] = frozenset()
    """Keys that only control the old system or its themes."""


@dataclass(frozen=True, slots=True)
class OldSettings:
    """Settings of the old site."""

    file: str
    """Path relative to the root of the source."""
    values: Mapping[str, Any]
    """Values as the old system reads them."""
    translated: frozenset[str]
    """Names of the settings that the importer reads, in lower case, with dots as in `FrontKeys`. If their
    values are for readers (a URL or a sentence), the new site must contain them too."""


@dataclass(frozen=True, slots=True)
class SourcePart:
    """Consecutive lines of a page that come from one file."""

    line: int
    """1-based number of the part's first line in `ImportedPage.original`."""
    source: str
    """File relative to the root of the source."""
    first: int
    """1-based number of the part's first line in the file."""


@dataclass(frozen=True, slots=True)
class ImportedPage:
    """A page in blogsmith's form."""

    path: PurePosixPath
    """Path relative to the new site, such as `content/posts/a.md`."""
    front: Mapping[str, Any]
    """Front matter as plain data, in the order of the file."""
    text: str
    """Markdown after the front matter."""
    source: str
    """Source file, relative to the root of the source."""
    original: str = ""
    """Text of the source file after its front matter, for `System.render`."""
    first_line: int = 1
    """1-based line of the file where `original` starts."""
    address: str = ""
    """Old URL path without the base path, such as `/2024/03/title/`; empty if the page had no URL."""
    notices: tuple[Notice, ...] = ()
    old_front: Mapping[str, Any] = field(default_factory=dict)
    """Front matter as the old system reads it, with defaults from settings and folders."""
    front_keys: FrontKeys = FrontKeys()
    head: str = ""
    """YAML front matter of the source file, whose comments and unchanged lines are kept; empty if there is
    none."""
    parts: tuple[SourcePart, ...] = ()
    """Origin of the lines of `original`, if it comes from several files; otherwise empty."""


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """A file of the source that is copied unchanged."""

    path: PurePosixPath
    """Path relative to the new site, such as `static/assets/a.png`."""
    file: Path
    """Path in the source, with links resolved."""


@dataclass(frozen=True, slots=True)
class ImportedData:
    """A generated file, such as an image from a notebook or a recorded result."""

    path: PurePosixPath
    """Path relative to the new site."""
    data: bytes


class HasPath(Protocol):
    """An item with a path in the new site."""

    @property
    def path(self) -> PurePosixPath:
        """Return the path relative to the new site."""


Item = TypeVar("Item", bound=HasPath)


def by_path(items: Iterable[Item]) -> tuple[Item, ...]:
    """Return the items sorted by path. If two items have the same path, keep the later one."""
    return tuple(sorted({item.path: item for item in items}.values(), key=lambda item: item.path.as_posix()))


@dataclass(frozen=True, slots=True)
class SiteImport:
    """The imported content of a source."""

    root: Path
    system: str
    """Name of the system of the source, as in `systems.system_names`."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Content of `blogsmith.yaml`, in order; plain data."""
    pages: tuple[ImportedPage, ...] = ()
    """Pages sorted by path, without duplicates."""
    files: tuple[ImportedFile, ...] = ()
    """Copied files sorted by path, without duplicates."""
    notices: tuple[Notice, ...] = ()
    """Notices that do not belong to a single page."""
    made: tuple[ImportedData, ...] = ()
    """Generated files sorted by path, without duplicates. Their paths differ from those of pages and files.
    """
    old_settings: tuple[OldSettings, ...] = ()
    moves: Mapping[PurePosixPath, PurePosixPath] = field(default_factory=dict)
    """Old path of a moved page → its path in the new site. Links to the page are adapted."""

    @property
    def paths(self) -> frozenset[PurePosixPath]:
        """Return the paths of all pages, copied files and generated files in the new site."""
        pages, files = (page.path for page in self.pages), (file.path for file in self.files)
        return frozenset((*pages, *files, *(made.path for made in self.made)))

    @property
    def all_notices(self) -> tuple[Notice, ...]:
        """Return the notices of the site, then those of its pages."""
        return (*self.notices, *(notice for page in self.pages for notice in page.notices))


@dataclass(frozen=True, slots=True)
class Difference:
    """An item of a source page that is missing in the new page."""

    what: str
    """Kind of the missing item, as in `verify.facts`: `formulas`, `words` and so on."""
    text: str
    """The missing item, which is TeX, a URL, or words in the order of the page."""
    source: str
    line: int = 0
    """1-based line in the source file; 0 if unknown."""
    count: int = 1


@dataclass(frozen=True, slots=True)
class PageCheck:
    """Diagnostics and losses of an imported page."""

    path: str
    """Source path in the new site."""
    source: str
    counts: Mapping[str, int] = field(default_factory=dict)
    """Number of items in the source, by kind."""
    differences: tuple[Difference, ...] = ()
    errors: int = 0
    warnings: int = 0
    values: int = 0
    """Number of compared values in the old front matter."""
    is_front_read: bool = True
    """Whether the front matter of the old file could be read and compared."""
