r"""Files of a paper, joined to one text that has the source file and line number of each line.

Each `\input` or similar command is replaced by the content of its file, if the file is in the source.
Comments are removed by the rules of TeX. TeX is never executed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from ...api.importing import Diagnostic, SiteError, lazy_pattern, name_set
from ..model import Notice
from ..source_files import read_text, walk_files

MAX_CHARACTERS = 3_000_000
"""Maximum number of characters of a paper with all its files. The longest of 30 papers had 600,000."""
_MAX_FILES = 500
_MAX_DEPTH = 20
CODE = name_set("verbatim verbatim* Verbatim lstlisting minted alltt filecontents filecontents*")
"""Environments whose content is not TeX."""
_INPUT = lazy_pattern(
    r"\\(?:(?:input|include|subfile|subfileinclude|loadglsentries)\s*\{\s*(?P<file>[^{}\n]+?)\s*\}"
    r"|input[ \t]+(?P<bare>[^\s{}\\]+)"
    r"|(?:sub)?(?:import|includefrom|inputfrom)\*?\s*\{(?P<folder>[^{}\n]*)\}"
    r"\s*\{\s*(?P<name>[^{}\n]+?)\s*\})"
)
_STYLE = lazy_pattern(
    r"\\(?:usepackage|RequirePackage|documentclass|LoadClass)\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}"
)
_OPENING = lazy_pattern(
    r"\\begin\{(?P<code>[A-Za-z]+\*?)\}|\\verb\*?(?P<sign>[^A-Za-z*\s])|\\(?:url|href|path"
    r"|nolinkurl)\s*\{[^{}\n]*\}"
    r"|(?P<false>\\iffalse(?![A-Za-z]))|\\[\s\S]|(?P<comment>%[^\n]*)"
)
_ENDING = lazy_pattern(r"\\endinput(?![A-Za-z])")
_CLASS = lazy_pattern(r"\\document(?:class|style)\b[^{}%\n]*\{\s*([\w.-]+)")
_BEGIN_DOCUMENT = lazy_pattern(r"^[^%\n]*\\begin\s*\{document\}", 8)
_FRAGMENT_CLASSES = name_set("standalone beamer tikzposter beamerposter letter moderncv")
_MAIN_NAMES = ("main", "ms", "paper", "article", "arxiv", "manuscript", "thesis", "root")


@dataclass(frozen=True, slots=True)
class SourceText:
    """Text from one or more files of the source."""

    text: str
    origins: Sequence[tuple[str, int]]
    """Source of each line of the text: file relative to the root of the source, and 1-based line number."""

    def line_starts(self) -> list[int]:
        """Return the offset of each line."""
        return [0, *(at + 1 for at, char in enumerate(self.text) if char == "\n")]

    def part(self, start: int, end: int) -> SourceText:
        """Return the text between two offsets."""
        first = self.text.count("\n", 0, start)
        return SourceText(
            self.text[start:end], self.origins[first : first + 1 + self.text.count("\n", start, end)]
        )

    def edit(self, edits: Iterable[tuple[int, int, str | SourceText]]) -> SourceText:
        """Return the text with replaced ranges. edits: start, end and new text; sorted, without overlaps."""
        pieces, origins = list[str](), [self.origins[0]]
        position = line = 0
        for start, end, new in edits:
            kept = self.text[position:start]
            count = kept.count("\n")
            origins += self.origins[line + 1 : line + 1 + count]
            line += count
            if isinstance(new, SourceText):
                if not kept or kept.endswith("\n"):
                    origins[-1] = new.origins[0]
                origins += new.origins[1:]
                new = new.text
            else:
                origins += [self.origins[line]] * new.count("\n")
            line += self.text.count("\n", start, end)
            pieces += (kept, new)
            position = end
        origins += self.origins[line + 1 :]
        return SourceText("".join((*pieces, self.text[position:])), origins)


def locate(text: SourceText, offsets: Iterable[int]) -> list[tuple[str, int]]:
    """Return the source file and line number of each offset in the text."""
    starts = text.line_starts()
    return [text.origins[min(bisect_right(starts, at) - 1, len(text.origins) - 1)] for at in offsets]


@dataclass(slots=True)
class FileReader:
    """Reads the files of one paper."""

    root: Path
    notices: list[Notice]
    folder: PurePosixPath
    """Folder of the main file. File names in TeX are relative to this folder."""
    count: int = 0
    characters: int = 0
    _open: list[PurePosixPath] = field(default_factory=list)
    """Files that are being read. Each is included by the one before it."""

    def read(self, path: PurePosixPath, depth: int = 0) -> SourceText | None:
        r"""Return the content of a file, with included files inserted; None if the file cannot be read.
        depth: number of enclosing `\input`.

        Raise SiteError if the paper is too long.
        """
        written = read_text(self.root / path) if path not in self._open else None
        if written is None:
            return None
        self.count += 1
        self.characters += len(written)
        if self.count > _MAX_FILES or self.characters > MAX_CHARACTERS:
            message = "too many files or characters in the paper"
            hint = "import a shorter paper, and check which files `\\input` names"
            raise SiteError(Diagnostic("import-source", message, path.as_posix(), hint=hint))
        lines = [(path.as_posix(), number) for number in range(1, written.count("\n") + 2)]
        text = remove_comments(SourceText(written, lines))
        if stop := _ENDING.search(text.text):
            text = text.part(0, stop.start())
        self._open.append(path)
        whole = text.edit(self._inputs(text, path, depth))
        self._open.pop()
        return whole

    def _inputs(
        self, text: SourceText, path: PurePosixPath, depth: int
    ) -> Iterator[tuple[int, int, str | SourceText]]:
        for found in _INPUT.finditer(text.text):
            name = found["file"] or found["bare"] or f"{found['folder'].rstrip('/')}/{found['name']}"
            if "\\" in name or "#" in name:
                continue
            if name.endswith(".pgf"):
                # Matplotlib writes a drawing of thousands of lines, which only LaTeX can show.
                yield found.start(), found.end(), f"\\includegraphics{{{name}}}"
                continue
            file = self.find(name, path.parent, (".tex", ""))
            content = self.read(file, depth + 1) if file and depth < _MAX_DEPTH else None
            if content is None and not name.endswith((".bbl", ".ind", ".gls")):
                ((source, line),) = locate(text, [found.start()])
                why = (
                    f'file not found: "{name}"'
                    if depth < _MAX_DEPTH
                    else f'too many levels of "\\input": "{name}"'
                )
                hint = "copy the file into the source, and import again"
                self.notices.append(Notice("unread", why, source, line, hint))
            yield found.start(), found.end(), content or ""

    def find(
        self, name: str, folder: PurePosixPath | None = None, suffixes: Sequence[str] = ("",)
    ) -> PurePosixPath | None:
        r"""Return the path of a file that `\input` or a similar command names, relative to the root; None if
        there is no such file. folder: folder of the file with the command. suffixes: suffixes to try, in
        order."""
        for base in dict.fromkeys((self.folder, folder or self.folder, PurePosixPath())):
            for suffix in suffixes:
                path = _normal_path(base / f"{name}{suffix}")
                if path is not None and (self.root / path).is_file():
                    return path
        return None

    def styles(self, preamble: SourceText) -> list[SourceText]:
        """Return the `.sty` files in the paper's source that the preamble loads."""
        found = list[SourceText]()
        names = [name.strip() for one in _STYLE.finditer(preamble.text) for name in one[1].split(",")]
        for name in dict.fromkeys(names):
            file = self.find(name, suffixes=(".sty",)) if name else None
            text = self.read(file, _MAX_DEPTH) if file else None
            found += [text] if text else []
        return found


def _normal_path(path: PurePosixPath) -> PurePosixPath | None:
    """Return the path without `..`; None if the path is absolute, empty, or outside the source."""
    parts = list[str]()
    for part in path.parts:
        if part == "..":
            if not parts:
                return None
            parts.pop()
        else:
            parts.append(part)
    return None if path.is_absolute() or not parts else PurePosixPath(*parts)


def remove_comments(source: SourceText) -> SourceText:
    r"""Remove comments, `comment` environments and `\iffalse` branches. Environments with code are not
    changed."""
    text, position = source.text, 0
    edits = list[tuple[int, int, str]]()
    missing = set[str]()
    while found := _OPENING.search(text, position):
        position, name, start = found.end(), found["code"], found.start()
        ending = f"\\end{{{name}}}" if name in CODE or name == "comment" else found["sign"] or ""
        ending = "\\fi" if found["false"] else ending
        if ending and ending not in missing:
            at = text.find(ending, position)
            if at < 0 or (found["sign"] and "\n" in text[position:at]):
                missing.update(() if found["sign"] else (ending,))
                continue
            position = at + len(ending)
            if name == "comment" or found["false"]:
                edits.append((start, position, ""))
        elif found["comment"]:
            position = _comment_end(text, start, position)
            edits.append((start, position, ""))
    return source.edit(edits)


def _comment_end(text: str, start: int, end: int) -> int:
    """Return the offset after a comment. If TeX joins the comment's line with the next line, skip the next
    line's indentation."""
    line = text.rfind("\n", 0, start) + 1
    is_alone = not text[line:start].strip()
    after = end + 1
    while after < len(text) and text[after] in " \t":
        after += 1
    if end >= len(text):
        return end
    if is_alone:
        return end + 1
    is_joined = not text[start - 1].isspace() and after < len(text) and text[after] != "\n"
    return after if is_joined else end


def find_papers(root: Path) -> list[PurePosixPath]:
    """Return the files with a document class that no other file includes. The most likely paper comes
    first."""
    texts = {
        path: read_text(root / path) or ""
        for path in walk_files(root)
        if path.suffix.lower() in (".tex", ".ltx") and len(path.parts) <= 4
    }
    included = {
        PurePosixPath(found["file"]).stem
        for text in texts.values()
        for found in _INPUT.finditer(text)
        if found["file"]
    }
    papers = [path for path, text in texts.items() if _CLASS.search(text) and _BEGIN_DOCUMENT.search(text)]
    papers = [path for path in papers if _class(texts[path]) not in _FRAGMENT_CLASSES] or papers
    own = [path for path in papers if path.stem not in included] or papers
    listed = _arxiv_main(root)
    return sorted(own, key=lambda path: (path != listed, *_rank(path, texts[path])))


def _class(text: str) -> str:
    found = _CLASS.search(text)
    return found[1] if found else ""


def _arxiv_main(root: Path) -> PurePosixPath | None:
    """Return the main file according to `00README` of an arXiv source; None if it names no main file."""
    for name in ("00README.json", "00README.yaml", "00README.XXX"):
        written = read_text(root / name) or ""
        if found := lazy_pattern(r"([\w./-]+\.tex)\b").search(written):
            return _normal_path(PurePosixPath(found[1]))
    return None


def _rank(path: PurePosixPath, text: str) -> tuple[int, int, int, str]:
    stem = path.stem.casefold()
    name = next((at for at, one in enumerate(_MAIN_NAMES) if stem == one), len(_MAIN_NAMES))
    return (len(path.parts), name, -text.count("\\"), str(path))


def with_line_notices(notices: Iterable[Notice], text: SourceText, offsets: Iterable[int]) -> list[Notice]:
    """Return the notices with source file and line number. offsets: position in `text` of each notice."""
    return [
        replace(notice, source=source, line=line)
        for notice, (source, line) in zip(notices, locate(text, offsets), strict=True)
    ]
