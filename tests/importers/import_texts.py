"""Sites of other systems and the expected result of their import, each in one text file.

`=== path` starts a file of the source, `=== path [png]` an image of one point. `=== becomes path` starts a
file of the new site, `=== notices` the notices of the report, `=== mistakes` the diagnostic codes of a
build. `python -m tests.importers.import_texts SYSTEM` rewrites everything after the source; read the diff.
"""

from __future__ import annotations

import base64
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.importers.report import ImportResult
from blogsmith.project.report import no_progress
from tests.site_files import NOW, put

FOLDER = Path(__file__).parent
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@dataclass(frozen=True, slots=True)
class ImportText:
    """A source and the expected result of its import."""

    source: dict[str, bytes]
    head: str
    """The text before the expected result."""
    expected: str


def text_files(system: str) -> list[Path]:
    """Return all text files of a system, sorted."""
    return sorted((FOLDER / system).glob("*.txt"))


def read_import_text(path: Path) -> ImportText:
    """Split a text file into the source files and the expected result."""
    text = path.read_text(encoding="utf-8")
    head, mark, rest = text.partition("\n=== becomes ")
    source = {}
    for section in ("\n" + head).split("\n=== ")[1:]:
        name, _, body = section.partition("\n")
        is_picture = name.endswith(" [png]")
        source[name.removesuffix(" [png]")] = PNG if is_picture else f"{body}\n".encode()
    return ImportText(source, head, (mark + rest).strip("\n"))


def run_import(text: ImportText, folder: Path) -> ImportResult:
    """Write the source to `folder` and import it."""
    put(folder / "source", text.source)
    return import_site(folder / "source", folder / "new", ImportOptions(now=NOW), no_progress)


def outcome(done: ImportResult, folder: Path) -> str:
    """Return the result of an import in the format of the text files."""
    parts = []
    for path in sorted(done.files):
        if path.endswith((".md", ".yaml", ".html")):
            parts.append(f"=== becomes {path}\n{(folder / 'new' / path).read_text('utf-8').strip()}")
        elif path != ".gitignore":
            parts.append(f"=== becomes {path}")
    notices = [
        f"{notice.kind} {notice.source}:{notice.line}: {notice.message}" for notice in done.site.all_notices
    ]
    codes = Counter(f"{found.severity} {found.code}" for found in done.check.diagnostics)
    differences = [f"{each.source}: {each.what}: {each.text}" for each in done.check.differences]
    lists = {"notices": sorted(notices), "mistakes": sorted(codes), "differences": sorted(differences)}
    parts += ["\n".join([f"=== {name}", *lines]) for name, lines in lists.items() if lines]
    return "\n\n".join(parts)


def main(system: str) -> None:
    """Rewrite the expected results of a system."""
    for path in text_files(system):
        text = read_import_text(path)
        with TemporaryDirectory() as name:
            folder = Path(name)
            expected = outcome(run_import(text, folder), folder)
        new = f"{text.head.rstrip()}\n\n{expected}\n"
        if new != path.read_text(encoding="utf-8"):
            path.write_text(new, encoding="utf-8")
            print(f"rewrote {path.name}")


if __name__ == "__main__":
    main(sys.argv[1])
