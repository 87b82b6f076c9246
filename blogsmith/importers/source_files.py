"""Access to the files of a source. Also the rules for copying them, and path patterns.

Only regular files inside the folder of the source are read, whatever its links and settings contain. Text is
read in any encoding.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from io import BufferedReader
from pathlib import Path, PosixPath, PurePosixPath, WindowsPath
from typing import TYPE_CHECKING, Any, SupportsIndex

from ..api.importing import Diagnostic, SiteError, is_junction, name_set, open_real_file
from .model import ImportedFile, Notice, SiteImport
from .text.author_blocks import BlockMap, replace_blocks

if TYPE_CHECKING:
    _SystemPath = PosixPath
else:
    _SystemPath = WindowsPath if os.name == "nt" else PosixPath

SKIPPED = name_set(
    "node_modules vendor __pycache__ _site .git .github .vscode .idea .bundle .jekyll-cache .sass-cache "
    ".ipynb_checkpoints .venv venv"
)
"""Folders of tools and of build output, in any system; they are not read."""
_MARKDOWN = name_set(".md .markdown .mkd .mkdn .mdown .mdx .qmd .rmd .myst")
_MAX_TEXT_BYTES = 10_000_000
"""Maximum number of bytes of a text file, the same as for posts of blogsmith."""
_DEEPEST = 50
_RESERVED = re.compile("[\ue000-\ue03f]")
"""Private-use characters, which translations use as placeholders. Authors do not use them."""
_TERMINAL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
"""Terminal control sequences in copied output (ECMA-48, 5.4).

Their first character is not allowed in pages. If only that were removed, the rest would be read as text.
"""


class _SourcePath(_SystemPath):
    """A path in a source. Files outside of the source do not exist for its methods."""

    __slots__ = ()
    written_root = ""
    """Absolute path of the source folder as the user wrote it. A subclass for each source sets it."""
    resolved_root = ""
    """Path of the source folder with links resolved."""
    blocks: BlockMap = ()
    """Blocks that `read_text` replaces in Markdown files."""

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        # the class is created dynamically, so pickle finds it in no module
        return _source_path, (self.written_root, self.resolved_root, self.blocks, str(self))

    @property
    def is_inside(self) -> bool:
        """Return whether this path, with links resolved, is inside the source. A link to a hidden file is
        treated as outside."""
        return self.contains(os.path.realpath(self))

    def contains(self, real: str) -> bool:
        """Return whether `real`, this path with links resolved, is inside the source. A link to a hidden file
        is treated as outside."""
        written = os.path.abspath(self)
        if not _is_below(real, self.resolved_root):
            return False
        start = self.written_root if _is_below(written, self.written_root) else self.resolved_root
        follows_link = real != os.path.normpath(
            os.path.join(self.resolved_root, os.path.relpath(written, start))
        )
        return not (
            follows_link and any(part.startswith(".") for part in Path(real[len(self.resolved_root) :]).parts)
        )

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return the status of the path. Raise FileNotFoundError if it is outside of the source."""
        if not self.is_inside:
            raise FileNotFoundError(errno.ENOENT, "outside the source", str(self))
        return os.stat(self, follow_symlinks=follow_symlinks)

    def exists(self, *, follow_symlinks: bool = True) -> bool:
        """Return whether the path exists in the source."""
        return self._mode is not None

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Return whether the path is a regular file of the source."""
        return self._mode is not None and stat.S_ISREG(self._mode)

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Return whether the path is a folder of the source."""
        return self._mode is not None and stat.S_ISDIR(self._mode)

    @property
    def _mode(self) -> int | None:
        try:
            return self.stat().st_mode
        except (OSError, ValueError):
            return None


def source_root(root: Path, blocks: BlockMap = ()) -> Path:
    """Return the folder of a source as a path. This path, and every path derived from it, gives no access to
    files outside the folder. blocks: blocks that `read_text` replaces in Markdown files."""
    return _source_class(os.path.abspath(root), os.path.realpath(root), blocks)(root)


@lru_cache(maxsize=8)
def _source_class(given: str, top: str, blocks: BlockMap) -> type[_SourcePath]:
    # in Python 3.11, a derived path has only the class in common with the original
    members = {"written_root": given, "resolved_root": top, "blocks": blocks}
    return type("SourcePath", (_SourcePath,), members)


def _source_path(given: str, top: str, blocks: BlockMap, path: str) -> Path:
    """Return a `_SourcePath` that was pickled. given: its `written_root`. top: its `resolved_root`."""
    return _source_class(given, top, blocks)(path)


def _is_below(path: str, top: str) -> bool:
    return path == top or path.startswith(os.path.join(top, ""))


def open_file(file: Path) -> BufferedReader:
    """Open a file for reading. Raise OSError if it is not a regular file, or is outside the source."""
    real = os.path.realpath(file)
    if isinstance(file, _SourcePath) and not file.contains(real):
        raise FileNotFoundError(errno.ENOENT, "outside the source", str(file))
    return open_real_file(real)


def walk_files(root: Path, skipped: Collection[str] = SKIPPED) -> Iterator[PurePosixPath]:
    """Yield all files below a folder, sorted. Paths are relative to the folder.

    Folders in `skipped`, folders that begin with a dot, and linked folders are omitted.
    """
    below = root if isinstance(root, _SourcePath) else source_root(root)

    def visit(folder: Path, path: PurePosixPath, depth: int) -> Iterator[PurePosixPath]:
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            return
        for entry in entries:
            if entry.is_symlink():
                if (folder / entry.name).is_file():
                    yield path / entry.name
            elif entry.is_file():
                yield path / entry.name
            elif entry.is_dir() and not is_junction(entry):
                is_wanted = entry.name not in skipped and not entry.name.startswith(".")
                if is_wanted and depth:
                    yield from visit(folder / entry.name, path / entry.name, depth - 1)

    if below.is_dir():
        yield from visit(below, PurePosixPath(), _DEEPEST)


def find_outside_links(root: Path) -> Iterator[PurePosixPath]:
    """Yield the links below a folder that point outside of it. These links are not followed."""
    top = source_root(root)
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith("."))
        for name in sorted([*folders, *files]):
            path = Path(folder, name).relative_to(root)
            if os.path.islink(root / path) and not (top / path).exists():
                yield PurePosixPath(path.as_posix())


def read_text(file: Path) -> str | None:
    r"""Return the content of a text file. Convert newlines to `\n`, and remove terminal control sequences.

    The encoding is UTF-8, otherwise Latin-1. In a Markdown file, replace the blocks that `import-map.yaml`
    names. Return None if the file is not text, is too large or cannot be read.
    """
    try:
        with open_file(file) as stream:
            data = stream.read(_MAX_TEXT_BYTES + 1)
    except (OSError, ValueError):
        return None
    if b"\0" in data or len(data) > _MAX_TEXT_BYTES:
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    text = _TERMINAL.sub("", text) if "\x1b" in text else text
    text = _RESERVED.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))
    blocks = file.blocks if isinstance(file, _SourcePath) else ()
    return replace_blocks(text, blocks) if blocks and file.suffix.lower() in _MARKDOWN else text


MAX_COPY_BYTES = 500_000_000
"""Maximum number of bytes of a copied file. Web hosts do not accept larger files. A sparse file may have any
size."""

FOLDERS = ("content", "static")
"""Folders of the new site that may contain files of a source. Nothing there is executed, unlike in
`plugins/`."""
BIBLIOGRAPHIES = "bibliography"
"""Additional folder for `.bib` files only; these are data and are not published."""
MACROS = PurePosixPath("macros.tex")
"""File with the macros of a paper."""


def remove_unreadable_files(site: SiteImport) -> SiteImport:
    """Remove files that cannot be copied, with a notice for each, and report links that leave the source."""
    problems = {file: problem for file in site.files if (problem := _problem(file))}
    files = tuple(file for file in site.files if file not in problems)
    notices = [Notice("missing", why, str(file.path)) for file, why in problems.items()]
    return replace(site, files=files, notices=(*site.notices, *notices, *_links(site)))


def _problem(file: ImportedFile) -> str:
    """Return the reason why a file is not copied; empty if it can be copied."""
    is_bibliography = file.path.parent.as_posix() == BIBLIOGRAPHIES and file.path.suffix in (".bib", ".json")
    if not (file.path.parts[0] in FOLDERS or is_bibliography) or ".." in file.path.parts:
        return "file is not copied: its new path is outside content/ and static/"
    try:
        with open_file(file.file):
            size = file.file.stat().st_size
    except (OSError, ValueError) as error:
        return f"file cannot be read: {getattr(error, 'strerror', '') or error}"
    return (
        f"file is not copied: it is larger than {MAX_COPY_BYTES // 1_000_000} MB"
        if size > MAX_COPY_BYTES
        else ""
    )


def _links(site: SiteImport) -> Iterator[Notice]:
    for path in find_outside_links(site.root):
        yield Notice("missing", "symbolic link that points outside the site is not followed", str(path))


def missing_pages_error(title: str, root: Path) -> SiteError:
    """Return the error for a source without Markdown pages. title: name of the source's system."""
    message = f'Markdown page of "{title}" not found in "{root}"'
    hint = "convert its pages to Markdown, for example with `pandoc --to=gfm --standalone`, and import again"
    return SiteError(Diagnostic("import-source", message, hint=hint))


_PART = re.compile(r"(/\*\*/|\*\*/|/\*\*|\*|\?|\{[^{}/]*\})")
_LONGEST_PATTERN = 200
_QUANTIFIER = re.compile(r"[*+?{]")
_MOST_QUANTIFIERS = 3
_MOST_WILDCARDS = 4
_MOST_PATTERNS = 500
"""Maximum number of patterns. Without limits, hostile patterns could make a search run for years."""
_FORMS = {"/**/": "/(?:.*/)?", "**/": "(?:.*/)?", "/**": "/.*", "*": "[^/]*", "?": "[^/]"}


def matches_gitignore(path: str, patterns: Iterable[str], *, is_anchored: bool = False) -> bool:
    """Return whether gitignore patterns exclude a path; the last matching pattern decides.

    is_anchored: whether a pattern without a slash matches at the top level only, as in globby. A pattern that
    may take very long is treated as if it matched; so are too many patterns.
    """
    every = list(patterns)
    is_out = len(every) > _MOST_PATTERNS
    for pattern in every[:_MOST_PATTERNS]:
        written = pattern.strip()
        if not written or written.startswith("#"):
            continue
        is_negated = written.startswith("!")
        is_slow = len(written) > _LONGEST_PATTERN or len(_PART.findall(written)) > _MOST_WILDCARDS
        if (is_slow and not is_negated) or (
            not is_slow and _glob(written.lstrip("!"), is_anchored).fullmatch(path)
        ):
            is_out = not is_negated
    return is_out


@lru_cache(maxsize=_MOST_PATTERNS)
def _glob(pattern: str, is_anchored: bool) -> re.Pattern[str]:
    body = pattern.removeprefix("./").strip("/")
    is_anchored = is_anchored or "/" in pattern.rstrip("/")
    written = "".join(_FORMS.get(part) or _literal(part) for part in _PART.split(body))
    return re.compile(f"{'' if is_anchored else '(?:.*/)?'}{written}(?:/.*)?", re.DOTALL)


def _literal(part: str) -> str:
    if part.startswith("{") and part.endswith("}"):
        return f"(?:{'|'.join(re.escape(each) for each in part[1:-1].split(','))})"
    return re.escape(part)


def matches_regex(path: str, pattern: str) -> bool:
    """Return whether a regular expression of a source matches the start of a path. If the expression is
    invalid or may take very long, return True."""
    is_simple = len(_QUANTIFIER.findall(pattern)) <= _MOST_QUANTIFIERS and ")" not in re.sub(
        r"\)(?![*+?{])", "", pattern
    )
    if len(pattern) > _LONGEST_PATTERN or not is_simple:
        return True
    try:
        return re.match(pattern, path) is not None
    except (re.error, RecursionError, OverflowError):
        return True
