"""Outputs in `_freeze/`, recorded when Quarto last ran the cells of a document.

Quarto stores the executed document as Markdown. Each cell is a div with its code, unless it is hidden, and
its outputs. Source: quarto-cli, `src/command/render/freeze.ts`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ...api.importing import Blob, CellOutput, Display, Failure, Stream, lazy_pattern
from ..source_files import open_file, read_text
from ..text.segments import FormulaDelimiters, MaskedText, mask
from .blocks import Div, parse_divs
from .cells import read_block

_MEDIA_TYPES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".svg": "image/svg+xml"}
_PICTURE = lazy_pattern(r"!\[[^\]]*\]\(<?([^()<>\s]+)>?[^()]*\)(?:\{[^{}]*\})?")
_FENCE = lazy_pattern(r"^(`{3,}|~{3,})[^\n]*\n[\s\S]*?^\1[ \t]*$", re.MULTILINE)
_ERROR = lazy_pattern(r"(?:[\s\S]*\n)?(?P<name>[A-Z]\w*(?:Error|Exception|Warning)): (?P<message>[^\n]*)\s*")
_MAX_BYTES = 20_000_000
"""Maximum number of bytes of an image."""


@dataclass(frozen=True, slots=True)
class FrozenCell:
    """An executed cell."""

    code: str
    """Code; empty if the document does not show it."""
    outputs: tuple[CellOutput, ...]


@dataclass(slots=True)
class FrozenCells:
    """The executed cells of a document, taken one after another."""

    cells: Sequence[FrozenCell] = ()
    position: int = field(default=0)

    def pop_outputs(self, code: str, *, is_shown: bool) -> tuple[CellOutput, ...] | None:
        """Return the outputs of the next cell with this code; None if there are none.

        is_shown: whether the code is shown in the page.
        """
        wanted = code.strip()
        for number in range(self.position, len(self.cells)):
            found = self.cells[number]
            if found.code.strip() == wanted or (not found.code and not is_shown and number == self.position):
                self.position = number + 1
                return found.outputs
        return None


def read_frozen(root: Path, path: PurePosixPath) -> FrozenCells:
    """Return the recorded cells of the document at `path`; no cells if there is no record."""
    folder = root / "_freeze" / path.with_suffix("")
    text = read_text(folder / "execute-results" / "html.json")
    try:
        data = json.loads(text) if text else None
        markdown = data["result"]["markdown"] if isinstance(data, dict) else ""
    except (ValueError, RecursionError, KeyError, TypeError):
        markdown = ""
    if not isinstance(markdown, str) or ".cell" not in markdown:
        return FrozenCells()
    masked = mask(markdown, FormulaDelimiters(brackets=False))
    folders = (folder, root / path.parent)
    divs = parse_divs(masked.text)
    return FrozenCells([_cell(div, masked, folders) for div in _find_divs(divs, "cell")])


def _find_divs(children: Sequence[Div | str], name: str) -> Iterator[Div]:
    for child in children:
        if isinstance(child, Div):
            if child.attributes.has(name):
                yield child
            else:
                yield from _find_divs(child.children, name)


def _cell(div: Div, masked: MaskedText, folders: Sequence[Path]) -> FrozenCell:
    code = ""
    outputs: list[CellOutput] = []
    for child in div.children:
        if isinstance(child, Div):
            outputs.extend(_outputs(child, masked, folders))
            continue
        for fence in _FENCE.finditer(masked.restore(child)):
            block = read_block(fence[0])
            if block and "cell-code" in block.info and not code:
                code = "\n".join(block.lines)
    return FrozenCell(code, tuple(outputs))


def _outputs(div: Div, masked: MaskedText, folders: Sequence[Path]) -> Iterator[CellOutput]:
    attributes = div.attributes
    text = masked.restore("\n".join(child for child in div.children if isinstance(child, str))).strip("\n")
    inner = [child for child in div.children if isinstance(child, Div)]
    for child in inner:
        yield from _outputs(child, masked, folders)
    if not text.strip():
        return
    plain = _plain(text)
    shown = plain if plain is not None else text
    if attributes.has("cell-output-stdout"):
        yield Stream("stdout", f"{shown}\n")
    elif attributes.has("cell-output-stderr"):
        yield Stream("stderr", f"{shown}\n")
    elif attributes.has("cell-output-error"):
        found = _ERROR.fullmatch(shown)
        yield Failure(found["name"] if found else "Error", found["message"] if found else "", shown)
    else:
        yield from _displays(text, plain, folders)


def _plain(text: str) -> str | None:
    """Return the text of an output that is a single fence; None for any other output."""
    block = read_block(text.strip())
    if block is None or not _FENCE.fullmatch(text.strip()):
        return None
    return None if block.info.strip().startswith("{=") else "\n".join(block.lines)


def _displays(text: str, plain: str | None, folders: Sequence[Path]) -> Iterator[CellOutput]:
    if plain is not None:
        yield Display("display", {"text/plain": plain})
        return
    for found in _PICTURE.finditer(text):
        if picture := _read_image(found[1], folders):
            yield Display("display", picture)
    rest = _PICTURE.sub("", text).strip()
    block = read_block(rest)
    if block and block.info.strip().startswith("{=html"):
        yield Display("display", {"text/html": "\n".join(block.lines)})
    elif rest:
        yield Display("display", {"text/markdown": rest})


def _read_image(address: str, folders: Sequence[Path]) -> dict[str, str | Blob] | None:
    """Return an image in the record or next to the document, by media type; None if it is not found."""
    mime = _MEDIA_TYPES.get(PurePosixPath(address).suffix.lower())
    if mime is None or "://" in address or address.startswith("/"):
        return None
    # `post_files/figure-html/a.png` is stored as `figure-html/a.png`
    inner = address.partition("_files/")[2] or address
    for file in (folders[0] / inner, folders[1] / address):
        try:
            with open_file(file) as stream:
                data = stream.read(_MAX_BYTES)
        except (OSError, ValueError):
            continue
        return {mime: Blob(hashlib.sha256(data).hexdigest(), data, PurePosixPath(address).name)}
    return None
