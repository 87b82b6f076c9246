"""The cached form of a page: its facts, its HTML, and the questions that it asked the site, as bytes.

All rows are decoded into typed records; a row that does not fit its record counts as missing. Only a digest
of each answer is stored, because only changes matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeVar

import msgspec

from ..base.diagnostics.model import Diagnostic
from ..model.cells import PageCells
from ..model.documents import (
    Body,
    ContentAmount,
    ConverterFallback,
    Document,
    FaqEntry,
    PageFacts,
    PageStatements,
    TocEntry,
)
from ..model.pictures import ImageVariant
from ..model.texts import PageText
from ..render.tools import SiteAccess
from ..site.index import PageEntry

Record = TypeVar("Record")

_TITLES = {
    "link": "the target of the link",
    "link_title": "the title that links show for",
    "image": "the image",
    "poster": "the still image of the video",
    "media": "the video",
    "labels": "a label in the post",
    "post_url": "the URL of the post",
    "nearest_slug": "the post with a name similar to",
    "slug_hint": "the post with a name similar to",
    "results": "a cell result",
    "picture": "the image of a cell",
    "python_distribution": "the copy of Python for browsers",
    "live_library": "the copy of the library",
    "find_reference": "the reference",
    "work_keys": "a citation key of its bibliographies",
    "publication_keys": "a citation key of its publication list",
    "work_hint": "the citation key similar to",
    "work_place": "the location of the reference",
    "bibliography_problems": "an error in its bibliographies",
    "citation_style": "the citation style",
    "templates": "a template of its shortcodes",
}
"""Name of a question → phrase, followed by the argument in quotes. A message uses the phrase if the answer
has changed."""


class EncodingError(Exception):
    """Error for a part of a record that cannot be encoded."""


class QuestionArgument(msgspec.Struct, frozen=True, array_like=True):
    """An argument of a question, such as the target of a link."""

    kind: Literal["document", "text", "file"]
    """`document`: the page that asks; `text`: a string; `file`: a file of the site."""
    value: str = ""
    """The string, or the path of the file relative to the site root; empty for the page."""


class Question(msgspec.Struct, frozen=True, array_like=True):
    """A call of a function of `SiteAccess` while a page was rendered, with the arguments and a digest of the
    result."""

    name: str
    """Name of the function, a field of `SiteAccess`."""
    arguments: tuple[QuestionArgument, ...]
    answer: bytes

    def is_valid(self, tools: SiteAccess, document: Document, root: Path) -> bool:
        """Return whether the function still returns the same result."""
        values = [_resolve_argument(argument, document, root) for argument in self.arguments]
        answer = getattr(tools, self.name)(*values)
        with suppress(EncodingError):
            return digest_values(answer, *_file_digests(values)) == self.answer
        return False

    @property
    def title(self) -> str:
        """Description of the question, for messages about a changed answer."""
        texts = [argument.value for argument in self.arguments if argument.kind != "document"]
        written = "#".join(filter(None, texts))
        return f'{_TITLES[self.name]} "{written}"' if written else _TITLES[self.name]


class _Facts(msgspec.Struct, frozen=True, array_like=True):
    entry: PageEntry
    cells: PageCells
    diagnostics: tuple[Diagnostic, ...]


class _Page(msgspec.Struct, frozen=True, array_like=True):
    content: bytes
    """Digest of the HTML of the page."""
    title_html: str
    title_text: str
    title_id: str
    heading_html: str
    description_html: str
    description_text: str
    toc: tuple[TocEntry, ...]
    summary: str
    summary_html: str
    signs: str
    weight: ContentAmount
    links: frozenset[str]
    stated: PageStatements
    faq: tuple[FaqEntry, ...]
    widgets: frozenset[str]
    cover: str
    variants: tuple[ImageVariant, ...]
    cell_lines: tuple[int, ...]
    files: Mapping[str, str]
    """Files to copy: name → path relative to the root."""
    drawn: Mapping[str, bytes]
    search: bytes
    fallbacks: tuple[ConverterFallback, ...]
    diagnostics: tuple[Diagnostic, ...]
    check_diagnostics: tuple[Diagnostic, ...]
    questions: tuple[Question, ...]


_CONVERTED_FIELDS = frozenset({"content", "files", "drawn", "questions"})
_COMMON_FIELDS = tuple(name for name in _Page.__struct_fields__ if name not in _CONVERTED_FIELDS)
"""Fields that are the same in `_Page` and `Body`."""


def encode_facts(facts: PageFacts, entry: PageEntry) -> bytes:
    """Encode those facts of a page that other pages need."""
    return encode_row(_Facts(entry, facts.cells, facts.diagnostics))


def decode_facts(data: bytes, document: Document) -> tuple[PageFacts, PageEntry] | None:
    """Return the facts from `encode_facts`, or None if the data is invalid."""
    found = decode_row(data, _Facts)
    if found is None:
        return None
    return PageFacts(document, found.cells, found.diagnostics), found.entry


def encode_page(body: Body, questions: Iterable[Question], root: Path) -> bytes:
    """Encode a page with all its questions. Its content is represented by a digest."""
    files = {name: _relative(file, root) for name, file in body.files.items() if isinstance(file, Path)}
    drawn = {name: data for name, data in body.files.items() if isinstance(data, bytes)}
    same = {name: getattr(body, name) for name in _COMMON_FIELDS}
    page = _Page(**same, content=body.content.digest, files=files, drawn=drawn, questions=tuple(questions))
    return encode_row(page)


def decode_page(
    data: bytes, root: Path, content: Callable[[bytes], PageText]
) -> tuple[Body, tuple[Question, ...]] | None:
    """Return the page that `encode_page` encoded, or None if the data is invalid. content: function from the
    digest to the content."""
    found = decode_row(data, _Page)
    if found is None:
        return None
    files: dict[str, Path | bytes] = {name: root / path for name, path in found.files.items()}
    files |= found.drawn
    same = {name: getattr(found, name) for name in _COMMON_FIELDS}
    body = Body(**same, content=content(found.content), files=files)
    return body, found.questions


def question(name: str, arguments: Iterable[object], answer: object, root: Path) -> Question:
    """Return a question in cached form. EncodingError if a part of it cannot be encoded."""
    arguments = tuple(arguments)
    digest = digest_values(answer, *_file_digests(arguments))
    return Question(name, tuple(_argument(value, root) for value in arguments), digest)


def digest_values(*values: object) -> bytes:
    """Return a digest of values and their types. Raises `EncodingError` if a value cannot be encoded."""
    total = hashlib.blake2b(digest_size=16)
    for value in values:
        total.update(type(value).__name__.encode())
        try:
            text = _canonical_json(value)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise EncodingError(str(error)) from error
        total.update(len(text).to_bytes(8))
        total.update(text)
    return total.digest()


def _canonical_json(value: object) -> bytes:
    """Return `value` as JSON, with sets and mappings sorted. (msgpack would lose the time zone of a
    datetime.)"""
    try:
        return msgspec.json.encode(value, enc_hook=_encode_hook, order="deterministic")
    except TypeError:
        # mappings with numeric keys can be sorted only after their keys are strings
        plain = msgspec.to_builtins(value, str_keys=True, enc_hook=_encode_hook)
        return msgspec.json.encode(plain, order="deterministic")


def encode_row(record: object) -> bytes:
    """Encode a record. Raises `EncodingError` if a part of it cannot be encoded."""
    try:
        return msgspec.msgpack.encode(record, enc_hook=_encode_hook)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise EncodingError(str(error)) from error


def decode_row(data: bytes, kind: type[Record]) -> Record | None:
    """Return the record from `encode_row`, or None if the data is invalid."""
    try:
        return msgspec.msgpack.decode(data, type=kind, dec_hook=_decode_hook)
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError):
        return None


def _encode_hook(value: Any) -> Any:
    if isinstance(value, PurePosixPath | Path):
        return value.as_posix()
    if isinstance(value, Mapping):
        return dict(value)
    raise NotImplementedError(f"cannot encode {type(value).__name__}")


def _decode_hook(kind: type, value: Any) -> Any:
    if issubclass(kind, PurePosixPath) and isinstance(value, str):
        return PurePosixPath(value)
    raise NotImplementedError(f"cannot decode {kind.__name__}")


def _argument(value: object, root: Path) -> QuestionArgument:
    if isinstance(value, Document):
        return QuestionArgument("document")
    if isinstance(value, Path):
        return QuestionArgument("file", _relative(value, root))
    if isinstance(value, str):
        return QuestionArgument("text", value)
    raise EncodingError(f"an argument is of type {type(value).__name__}")


def _resolve_argument(argument: QuestionArgument, document: Document, root: Path) -> Document | str | Path:
    if argument.kind == "document":
        return document
    return root / argument.value if argument.kind == "file" else argument.value


def _file_digests(values: Iterable[object]) -> Iterator[str]:
    """Yield the digests of files among the arguments, because pages show the content of these files."""
    for value in values:
        if isinstance(value, Path):
            try:
                yield hashlib.sha256(value.read_bytes()).hexdigest()
            except OSError:
                yield ""


def _relative(file: Path, root: Path) -> str:
    if not file.is_relative_to(root):
        raise EncodingError(f"{file} is outside the site")
    return file.relative_to(root).as_posix()
