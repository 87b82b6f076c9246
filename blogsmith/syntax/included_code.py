"""Code that stands in a file of the site: `file="src/attn.py"` on a fence, `{% include code.html file="…" %}`

`region` chooses marks in comments, or a function or class of Python by its name; `lines` chooses lines. What
is shown has the file's own name and line numbers; a fence that is a cell runs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from types import MappingProxyType

from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from msgspec.structs import replace

from ..base.diagnostics.model import Place, question_of
from ..model.documents import IncludedFile
from .cells.languages import language_of, option_lines
from .fences import line_numbers
from .records import Fence, OptionSetting, Shortcode, SourceRange, attach_record, record_of
from .regions import Region, find_lines, find_object, find_region, object_names, region_names, trim
from .shortcodes import CODE, shows_code
from .state import PageState, page_of

ARGUMENTS = ("file", "region", "lines", "title", "lang", "linenos", "fold", "hl", "cap", "id")
_NO_FILE = IncludedFile(problem="the path of this file cannot be read")
_LANGUAGES: Mapping[str, str] = MappingProxyType(
    {
        **{name: name for name in ("c", "cpp", "css", "go", "html", "java", "json", "lua", "r", "scala")},
        **{name: name for name in ("sql", "swift", "toml", "xml", "zig", "dart", "nix", "php")},
        "bash": "bash",
        "cc": "cpp",
        "cuh": "cuda",
        "cu": "cuda",
        "h": "c",
        "hpp": "cpp",
        "hs": "haskell",
        "jl": "julia",
        "js": "javascript",
        "kt": "kotlin",
        "ml": "ocaml",
        "mjs": "javascript",
        "pl": "perl",
        "py": "python",
        "pyi": "python",
        "rb": "ruby",
        "rs": "rust",
        "sh": "bash",
        "tex": "latex",
        "ts": "typescript",
        "tsx": "tsx",
        "yaml": "yaml",
        "yml": "yaml",
    }
)
"""Ending of a file's name → its language."""


def included_code(state: StateCore) -> None:
    """Core rule behind `fences`: fill fences with what they show of files; calls become fences."""
    page = page_of(state.env)
    for token in state.tokens:
        if token.type == "shortcode" and _is_call(token, page):
            _read_call(token, page)
        if token.type == "fence" and record_of(token, Fence).parts:
            _fill(token, page)


def _is_call(token: Token, page: PageState) -> bool:
    return shows_code(record_of(token, Shortcode).name, page)


def _read_call(token: Token, page: PageState) -> None:
    """The fence that says the same as a call."""
    call = record_of(token, Shortcode)
    for mistake in call.mistakes:
        page.reporter.error("shortcode-argument", mistake.message, mistake.place, mistake.hint)
    for key, place in call.key_places.items():
        if key not in ARGUMENTS:
            near = page.reporter.nearest(key, ARGUMENTS)
            hint = question_of(near) or f"known: {', '.join(ARGUMENTS)}"
            fix = page.reporter.substitute(place, key, near)
            page.reporter.error("shortcode-argument", f"{CODE} has no argument {key}", place, hint, fix)
    if "file" not in call.args:
        hint = 'such as file="src/model.py"'
        page.reporter.error("shortcode-argument", f"{CODE} needs file, the path of a file", call.place, hint)
    args = call.args
    fold = args.get("fold", "")
    token.type, token.tag, token.content = "fence", "code", ""
    del token.meta["shortcode"]
    attach_record(
        token,
        Fence(
            args.get("lang", ""),
            args.get("title", ""),
            frozenset(line_numbers(args["hl"])) if args.get("hl") else frozenset(),
            args.get("linenos") not in ("false", "no", "0") if "linenos" in args else None,
            fold="" if fold in ("false", "no") else "Show code" if fold in ("true", "yes") else fold,
            id=call.id,
            place=call.place,
            caption=call.arg_maps.get("cap"),
            parts={key: _part(call, key) for key in ("file", "region", "lines") if key in args},
        ),
    )


def _part(call: Shortcode, key: str) -> OptionSetting:
    text = call.arg_maps[key]
    place = text.place(0, max(1, len(text.text)))
    return OptionSetting(key, call.args[key], place, call.key_places[key], text.text, text)


def _fill(token: Token, page: PageState) -> None:
    """Put what a fence shows of its file in the place of its code."""
    fence = record_of(token, Fence)
    written = fence.parts.get("file")
    if written is None:
        other = next(iter(fence.parts.values()))
        page.reporter.error("include-file", f"{other.key} says nothing without file", other.key_place)
        return
    found = page.included.get(written.spelling, _NO_FILE)
    if found.problem:
        page.reporter.error("include-file", found.problem, written.place, found.hint)
        return
    fence = replace(fence, language=fence.language or _language_of(found.path))
    head = _head(token, fence, page)
    region = _region(found, fence, page)
    if region is None:
        return
    region, indent, code = trim(found.text, region)
    if not code:
        place = fence.parts.get("region", written).place
        page.reporter.error("include-region", "this part of the file is empty", place)
    source = SourceRange(found.path, region.first, indent, head.count("\n"))
    token.content = head + code
    title = fence.title or PurePosixPath(found.path).name
    numbered = True if fence.numbered is None else fence.numbered
    first = region.first if fence.first_line == 1 else fence.first_line
    marked = frozenset(line - region.first + 1 for line in fence.marked if line >= region.first)
    attach_record(
        token, replace(fence, title=title, numbered=numbered, first_line=first, marked=marked, include=source)
    )


def _language_of(path: str) -> str:
    suffix = PurePosixPath(path).suffix.removeprefix(".").lower()
    return _LANGUAGES.get(suffix, "")


def _head(token: Token, fence: Fence, page: PageState) -> str:
    """The lines of options of a fence; any other code in it is reported."""
    head = option_lines(token.content, language_of(fence))
    rest = token.content.removeprefix(head)
    if rest.strip():
        at = head.count("\n") + next(n for n, line in enumerate(rest.split("\n")) if line.strip())
        line = (token.map or [0])[0] + 1 + at
        start = page.text_map(page.lines[line], line).starts[0] if line < len(page.lines) else (1, 1)
        place = Place(start[0], start[1], max(1, len(page.lines[line].strip())))
        message = "the code of this fence comes from its file, so nothing but options may stand here"
        page.reporter.error("include-file", message, place)
    return head


def _region(found: IncludedFile, fence: Fence, page: PageState) -> Region | None:
    """The lines that are asked for; None after a report."""
    count = max(1, len(found.text.removesuffix("\n").split("\n")))
    region, lines = fence.parts.get("region"), fence.parts.get("lines")
    if region and lines:
        page.reporter.error("include-region", "lines says nothing beside region", lines.key_place)
    if region:
        chosen = find_region(found.text, region.spelling)
        is_python = language_of(fence) == "python"
        if chosen is None and is_python:
            chosen = find_object(found.text, region.spelling)
        if chosen is None:
            names = (*region_names(found.text), *(object_names(found.text) if is_python else ()))
            _report_region(region, found, names, page)
        return chosen
    if lines:
        chosen = find_lines(found.text, lines.spelling)
        if chosen is None:
            message = f"{found.path} has no lines {lines.spelling}"
            page.reporter.error("include-region", message, lines.place, f'it has {count}: write lines="3-10"')
        return chosen
    return Region(1, count)


def _report_region(
    region: OptionSetting, found: IncludedFile, names: tuple[str, ...], page: PageState
) -> None:
    near = page.reporter.nearest(region.spelling, names)
    hint = question_of(near)
    if not hint:
        mark = f"mark it with # region {region.spelling} and # endregion"
        hint = f"known: {', '.join(names[:9])}" if names else mark
    message = f"{found.path} has no region {region.spelling}"
    fix = page.reporter.substitute(region.place, region.spelling, near)
    page.reporter.error("include-region", message, region.place, hint, fix)
