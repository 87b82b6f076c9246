"""What is kept of a page from one build to the next, as bytes: what it holds, its HTML, what it asked.

Everything is decoded into typed records, and what does not fit counts as missing. An answer is kept as its
digest: whether the site answers the same now is all that is asked of it.
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
    ConverterFallback,
    Document,
    FaqEntry,
    PageFacts,
    PageStatements,
    TocEntry,
    Weight,
)
from ..model.pictures import PictureVariant
from ..model.texts import PageText
from ..render.tools import Tools
from ..site.index import PageEntry

Kept = TypeVar("Kept")

_TITLES = {
    "link": "where this leads:",
    "page_title": "the title of",
    "image": "the image",
    "media": "the film",
    "labels": "the labels of",
    "post_url": "the address of",
    "nearest_slug": "what is near",
    "slug_hint": "what is near",
    "results": "the results of its cells",
    "picture": "the picture",
    "python": "Python for browsers",
    "work": "the reference",
    "work_keys": "the keys of its bibliographies",
    "publication_keys": "the keys of its list",
    "work_hint": "what is near",
    "work_place": "the place of the reference",
    "bibliography_problems": "its bibliographies",
    "citation_style": "the style of its citations",
    "templates": "what its shortcodes load:",
}


class NotStorable(Exception):
    """Something in a record has no form outside this process."""


class QuestionArgument(msgspec.Struct, frozen=True, array_like=True):
    """One argument of a question."""

    kind: Literal["document", "text", "file"]
    """`document`: the page itself."""
    value: str = ""
    """A file is named relative to the root of the site."""


class Question(msgspec.Struct, frozen=True, array_like=True):
    """One question that a page asked while it was rendered, and the digest of the answer."""

    name: str
    """Field of `Tools`."""
    arguments: tuple[QuestionArgument, ...]
    answer: bytes

    def holds(self, tools: Tools, document: Document, root: Path) -> bool:
        """Whether the answer is the same now."""
        values = [_value_of(argument, document, root) for argument in self.arguments]
        answer = getattr(tools, self.name)(*values)
        with suppress(NotStorable):
            return digest_of(answer, *_file_digests(values)) == self.answer
        return False

    @property
    def title(self) -> str:
        """What was asked, for a sentence about the answer."""
        texts = [argument.value for argument in self.arguments if argument.kind != "document"]
        return " ".join([_TITLES.get(self.name, self.name), *texts])


class _Facts(msgspec.Struct, frozen=True, array_like=True):
    entry: PageEntry
    cells: PageCells
    diagnostics: tuple[Diagnostic, ...]


class _Page(msgspec.Struct, frozen=True, array_like=True):
    content: bytes
    """Its digest."""
    title_html: str
    title_text: str
    title_id: str
    description_html: str
    description_text: str
    toc: tuple[TocEntry, ...]
    summary: str
    signs: str
    weight: Weight
    links: frozenset[str]
    stated: PageStatements
    faq: tuple[FaqEntry, ...]
    widgets: frozenset[str]
    variants: tuple[PictureVariant, ...]
    files: Mapping[str, str]
    """Those that are copied: name → path relative to the root."""
    drawn: Mapping[str, bytes]
    search: bytes
    fallbacks: tuple[ConverterFallback, ...]
    diagnostics: tuple[Diagnostic, ...]
    questions: tuple[Question, ...]


_OWN = frozenset({"content", "files", "drawn", "questions"})
_SAME = tuple(name for name in _Page.__struct_fields__ if name not in _OWN)
"""Fields that a body has, too."""


def encode_facts(facts: PageFacts, entry: PageEntry) -> bytes:
    """What others know of a page."""
    return encode_row(_Facts(entry, facts.cells, facts.diagnostics))


def decode_facts(data: bytes, document: Document) -> tuple[PageFacts, PageEntry] | None:
    """What `encode_facts` was given; None if these bytes hold nothing of the kind."""
    found = decode_row(data, _Facts)
    if found is None:
        return None
    return PageFacts(document, found.cells, found.diagnostics), found.entry


def encode_page(body: Body, questions: Iterable[Question], root: Path) -> bytes:
    """A page with all that it asked; of its content only the digest."""
    files = {name: _relative(file, root) for name, file in body.files.items() if isinstance(file, Path)}
    drawn = {name: data for name, data in body.files.items() if isinstance(data, bytes)}
    same = {name: getattr(body, name) for name in _SAME}
    page = _Page(**same, content=body.content.digest, files=files, drawn=drawn, questions=tuple(questions))
    return encode_row(page)


def decode_page(
    data: bytes, root: Path, content: Callable[[bytes], PageText]
) -> tuple[Body, tuple[Question, ...]] | None:
    """What `encode_page` was given; None if these bytes hold nothing of the kind.

    content: digest → the content that has it.
    """
    found = decode_row(data, _Page)
    if found is None:
        return None
    files: dict[str, Path | bytes] = {name: root / path for name, path in found.files.items()}
    files |= found.drawn
    same = {name: getattr(found, name) for name in _SAME}
    body = Body(**same, content=content(found.content), files=files)
    return body, found.questions


def question(name: str, arguments: Iterable[object], answer: object, root: Path) -> Question:
    """A question in its kept form; NotStorable if an argument or the answer has none."""
    arguments = tuple(arguments)
    digest = digest_of(answer, *_file_digests(arguments))
    return Question(name, tuple(_argument(value, root) for value in arguments), digest)


def digest_of(*values: object) -> bytes:
    """Equal for values that are equal and of equal types; NotStorable for what has no form of its own."""
    total = hashlib.blake2b(digest_size=16)
    for value in values:
        total.update(type(value).__name__.encode())
        try:
            text = _ordered(value)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise NotStorable(str(error)) from error
        total.update(len(text).to_bytes(8))
        total.update(text)
    return total.digest()


def _ordered(value: object) -> bytes:
    """As JSON, sets and mappings in order; msgpack leaves out in which time zone a moment was written."""
    try:
        return msgspec.json.encode(value, enc_hook=_simple, order="deterministic")
    except TypeError:
        # mappings whose keys are numbers are put in order as texts only
        plain = msgspec.to_builtins(value, str_keys=True, enc_hook=_simple)
        return msgspec.json.encode(plain, order="deterministic")


def encode_row(record: object) -> bytes:
    """A record as bytes; NotStorable if something in it has no form of its own."""
    try:
        return msgspec.msgpack.encode(record, enc_hook=_simple)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise NotStorable(str(error)) from error


def decode_row(data: bytes, kind: type[Kept]) -> Kept | None:
    """What `encode_row` was given; None if these bytes are no record of the kind."""
    try:
        return msgspec.msgpack.decode(data, type=kind, dec_hook=_rich)
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError):
        return None


def _simple(value: Any) -> Any:
    if isinstance(value, PurePosixPath | Path):
        return value.as_posix()
    if isinstance(value, Mapping):
        return dict(value)
    raise NotImplementedError(f"{type(value).__name__} has no form outside this process")


def _rich(kind: type, value: Any) -> Any:
    if issubclass(kind, PurePosixPath) and isinstance(value, str):
        return PurePosixPath(value)
    raise NotImplementedError(f"{kind.__name__} is made from nothing here")


def _argument(value: object, root: Path) -> QuestionArgument:
    if isinstance(value, Document):
        return QuestionArgument("document")
    if isinstance(value, Path):
        return QuestionArgument("file", _relative(value, root))
    if isinstance(value, str):
        return QuestionArgument("text", value)
    raise NotStorable(f"an argument is of type {type(value).__name__}")


def _value_of(argument: QuestionArgument, document: Document, root: Path) -> Document | str | Path:
    if argument.kind == "document":
        return document
    return root / argument.value if argument.kind == "file" else argument.value


def _file_digests(values: Iterable[object]) -> Iterator[str]:
    """Of files that are asked about: pages show what is in them."""
    for value in values:
        if isinstance(value, Path):
            try:
                yield hashlib.sha256(value.read_bytes()).hexdigest()
            except OSError:
                yield ""


def _relative(file: Path, root: Path) -> str:
    if not file.is_relative_to(root):
        raise NotStorable(f"{file} lies outside the site")
    return file.relative_to(root).as_posix()
