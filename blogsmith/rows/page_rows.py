"""The cached form of a page: its facts, its HTML, and its questions to the site, as bytes.

All rows are decoded into typed records; a row of another form counts as missing. Answers are stored as
digests, because only their equality matters.
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
    "link": "target of the link",
    "link_title": "title of",
    "image": "image",
    "media": "video",
    "labels": "labels of",
    "post_url": "URL of",
    "nearest_slug": "similar slug for",
    "slug_hint": "similar slug for",
    "results": "cell results",
    "picture": "image",
    "python_distribution": "Python for browsers",
    "find_reference": "reference",
    "work_keys": "citation keys of its bibliographies",
    "publication_keys": "citation keys of its publication list",
    "work_hint": "similar citation key for",
    "work_place": "location of the reference",
    "bibliography_problems": "errors in its bibliographies",
    "citation_style": "citation style",
    "templates": "templates of its shortcodes:",
}


class EncodingError(Exception):
    """Raised if a part of a record cannot be encoded."""


class QuestionArgument(msgspec.Struct, frozen=True, array_like=True):
    """An argument of a question."""

    kind: Literal["document", "text", "file"]
    """`document`: the page itself."""
    value: str = ""
    """Value; the path of a file is relative to the site root."""


class Question(msgspec.Struct, frozen=True, array_like=True):
    """A question of a page to the site during rendering, with the digest of the answer."""

    name: str
    """Field of `SiteAccess`."""
    arguments: tuple[QuestionArgument, ...]
    answer: bytes

    def is_valid(self, tools: SiteAccess, document: Document, root: Path) -> bool:
        """Return whether the answer is still the same."""
        values = [_resolve_argument(argument, document, root) for argument in self.arguments]
        answer = getattr(tools, self.name)(*values)
        with suppress(EncodingError):
            return digest_values(answer, *_file_digests(values)) == self.answer
        return False

    @property
    def title(self) -> str:
        """A phrase for the question, for messages about its answer."""
        texts = [argument.value for argument in self.arguments if argument.kind != "document"]
        return " ".join([_TITLES.get(self.name, self.name), *texts])


class _Facts(msgspec.Struct, frozen=True, array_like=True):
    entry: PageEntry
    cells: PageCells
    diagnostics: tuple[Diagnostic, ...]


class _Page(msgspec.Struct, frozen=True, array_like=True):
    content: bytes
    """Digest of the content."""
    title_html: str
    title_text: str
    title_id: str
    heading_html: str
    description_html: str
    description_text: str
    toc: tuple[TocEntry, ...]
    summary: str
    signs: str
    weight: ContentAmount
    links: frozenset[str]
    stated: PageStatements
    faq: tuple[FaqEntry, ...]
    widgets: frozenset[str]
    variants: tuple[ImageVariant, ...]
    files: Mapping[str, str]
    """Files to copy: name → path relative to the root."""
    drawn: Mapping[str, bytes]
    search: bytes
    fallbacks: tuple[ConverterFallback, ...]
    diagnostics: tuple[Diagnostic, ...]
    questions: tuple[Question, ...]


_CONVERTED_FIELDS = frozenset({"content", "files", "drawn", "questions"})
_COMMON_FIELDS = tuple(name for name in _Page.__struct_fields__ if name not in _CONVERTED_FIELDS)
"""Fields that `_Page` and `Body` have in common."""


def encode_facts(facts: PageFacts, entry: PageEntry) -> bytes:
    """Encode the facts of a page that other pages need."""
    return encode_row(_Facts(entry, facts.cells, facts.diagnostics))


def decode_facts(data: bytes, document: Document) -> tuple[PageFacts, PageEntry] | None:
    """Return the facts from `encode_facts`, or None if the data is invalid."""
    found = decode_row(data, _Facts)
    if found is None:
        return None
    return PageFacts(document, found.cells, found.diagnostics), found.entry


def encode_page(body: Body, questions: Iterable[Question], root: Path) -> bytes:
    """Encode a page with all its questions. Of its content only the digest is included."""
    files = {name: _relative(file, root) for name, file in body.files.items() if isinstance(file, Path)}
    drawn = {name: data for name, data in body.files.items() if isinstance(data, bytes)}
    same = {name: getattr(body, name) for name in _COMMON_FIELDS}
    page = _Page(**same, content=body.content.digest, files=files, drawn=drawn, questions=tuple(questions))
    return encode_row(page)


def decode_page(
    data: bytes, root: Path, content: Callable[[bytes], PageText]
) -> tuple[Body, tuple[Question, ...]] | None:
    """Return the page from `encode_page`, or None if the data is invalid.

    content: function from digest to content.
    """
    found = decode_row(data, _Page)
    if found is None:
        return None
    files: dict[str, Path | bytes] = {name: root / path for name, path in found.files.items()}
    files |= found.drawn
    same = {name: getattr(found, name) for name in _COMMON_FIELDS}
    body = Body(**same, content=content(found.content), files=files)
    return body, found.questions


def question(name: str, arguments: Iterable[object], answer: object, root: Path) -> Question:
    """Return a question in cached form. Raises `EncodingError` if a part of it cannot be encoded."""
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
    """Encode as JSON with sorted sets and mappings. msgpack would lose the time zone of a datetime."""
    try:
        return msgspec.json.encode(value, enc_hook=_encode_hook, order="deterministic")
    except TypeError:
        # mappings with numbers as keys can be sorted only as strings
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
    """Yield digests of the files among the arguments, since pages show their content."""
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
