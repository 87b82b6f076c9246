"""Code from a file of the site: `file="src/attn.py"` on a fence, `{% include code.html file="…" %}`.

`region` selects code between markers in comments, or a Python function or class by name. `lines` selects
lines. The code is shown with the file's name and line numbers. If the fence is a cell, it runs the code.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from types import MappingProxyType

from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.model import Place, format_suggestion, list_choices
from ..base.patterns import lazy_pattern
from ..model.documents import IncludedFile
from .cells.languages import fence_language, option_lines
from .fences import line_numbers
from .records import Fence, OptionSetting, Shortcode, SourceRange, attach_record, get_record
from .shortcodes import CODE, shows_file
from .state import PageState, get_page

ARGUMENTS = ("file", "region", "lines", "title", "lang", "linenos", "fold", "hl", "cap", "id")
_NO_FILE = IncludedFile(problem="cannot read the path of this file")
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
"""File extension → language."""


def included_code(state: StateCore) -> None:
    """Fill fences with code from files, and turn shortcode calls into fences (core rule, after `fences`)."""
    page = get_page(state.env)
    for token in state.tokens:
        if token.type == "shortcode" and _is_call(token, page):
            _read_call(token, page)
        if token.type == "fence" and get_record(token, Fence).parts:
            _fill(token, page)


def _is_call(token: Token, page: PageState) -> bool:
    name = get_record(token, Shortcode).name
    return name == CODE and shows_file(name, page)


def _read_call(token: Token, page: PageState) -> None:
    """Turn a shortcode call into the equivalent fence. Report invalid arguments."""
    call = get_record(token, Shortcode)
    for mistake in call.mistakes:
        page.reporter.error("shortcode-argument", mistake.message, mistake.place, mistake.hint)
    check_arguments(call, ARGUMENTS, "src/model.py", page)
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
            parts={key: part_setting(call, key) for key in ("file", "region", "lines") if key in args},
        ),
    )


def check_arguments(call: Shortcode, known: Sequence[str], example: str, page: PageState) -> None:
    """Report invalid arguments of a shortcode call that shows a file. known: Names of allowed arguments.
    example: A path, for the hint if `file` is missing."""
    for key, place in call.key_places.items():
        if key not in known:
            near = page.reporter.nearest(key, known)
            hint = format_suggestion(near) or list_choices(known)
            fix = page.reporter.correct(place, key, near)
            message = f'unknown argument "{key}" for shortcode "{call.name}"'
            page.reporter.error("shortcode-argument", message, place, hint, fix)
    if "file" not in call.args:
        hint = f'write the path of a file, such as `file="{example}"`'
        message = f'missing argument "file" for shortcode "{call.name}"'
        page.reporter.error("shortcode-argument", message, call.place, hint)


def find_included(written: OptionSetting, page: PageState) -> IncludedFile | None:
    """Return the file that `file=` names, or None after reporting why it cannot be shown."""
    found = page.included.get(written.spelling, _NO_FILE)
    if found.problem:
        page.reporter.error("include-file", found.problem, written.place, found.hint)
        return None
    return found


def part_setting(call: Shortcode, key: str) -> OptionSetting:
    """Return an argument of a shortcode call with its position."""
    text = call.arg_maps[key]
    place = text.place(0, max(1, len(text.text)))
    return OptionSetting(key, call.args[key], place, call.key_places[key], text.text, text)


def _fill(token: Token, page: PageState) -> None:
    """Replace the code of a fence with the selected part of its file."""
    fence = get_record(token, Fence)
    written = fence.parts.get("file")
    if written is None:
        other = next(iter(fence.parts.values()))
        page.reporter.error(
            "include-file",
            f'"{other.key}" has no effect because "file" is missing',
            other.key_place,
            'add `file="src/model.py"`, with the path of your file',
        )
        return
    found = find_included(written, page)
    if found is None:
        return
    fence = replace(fence, language=fence.language or _language_of(found.path))
    head = _head(token, fence, page)
    region = _region(found, fence, page)
    if region is None:
        return
    region, indent, code = trim(found.text, region)
    if not code:
        place = fence.parts.get("region", written).place
        hint = "choose lines or a region with code"
        page.reporter.error("include-region", "missing code in this part of the file", place, hint)
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
    """Return the option lines of a fence that shows a file. Code after them is an error, as the file supplies
    the code."""
    head = option_lines(token.content, fence_language(fence))
    rest = token.content.removeprefix(head)
    if rest.strip():
        at = head.count("\n") + next(n for n, line in enumerate(rest.split("\n")) if line.strip())
        line = (token.map or [0])[0] + 1 + at
        start = page.text_map(page.lines[line], line).starts[0] if line < len(page.lines) else (1, 1)
        place = Place(start[0], start[1], max(1, len(page.lines[line].strip())))
        message = "only options are allowed here: the code of this fence comes from a file"
        page.reporter.error("include-file", message, place, "remove this code, or remove `file=`")
    return head


def _region(found: IncludedFile, fence: Fence, page: PageState) -> Region | None:
    """Return the selected lines, or None after reporting an error."""
    count = max(1, len(found.text.removesuffix("\n").split("\n")))
    region, lines = fence.parts.get("region"), fence.parts.get("lines")
    if region and lines:
        page.reporter.error(
            "include-region",
            '"lines" has no effect because "region" is set',
            lines.key_place,
            "remove `lines` or `region`",
        )
    if region:
        chosen = find_region(found.text, region.spelling)
        is_python = fence_language(fence) == "python"
        if chosen is None and is_python:
            chosen = find_object(found.text, region.spelling)
        if chosen is None:
            names = (*region_names(found.text), *(object_names(found.text) if is_python else ()))
            _report_region(region, found, names, page)
        return chosen
    if lines:
        chosen = find_lines(found.text, lines.spelling)
        if chosen is None:
            message = f'lines not found in "{found.path}": "{lines.spelling}"'
            page.reporter.error(
                "include-region",
                message,
                lines.place,
                f'write a range such as `lines="3-10"`; the last line is {count}',
            )
        return chosen
    return Region(1, count)


def _report_region(
    region: OptionSetting, found: IncludedFile, names: tuple[str, ...], page: PageState
) -> None:
    near = page.reporter.nearest(region.spelling, names)
    hint = format_suggestion(near)
    if not hint:
        mark = f"mark it with `# region {region.spelling}` and `# endregion`"
        hint = list_choices(dict.fromkeys(names[:9])) if names else mark
    message = f'region not found in "{found.path}": "{region.spelling}"'
    fix = page.reporter.correct(region.place, region.spelling, near)
    page.reporter.error("include-region", message, region.place, hint, fix)


# Parts of a source file: code between markers in comments, a Python function or class, or lines.
#
# Markers are the folding comments of editors (`# region flash` … `# endregion`), brackets (`# [flash]` … `#
# [/flash]`), and those of PyMdown's snippets (`# --8<-- [start:flash]`).


_MARK = lazy_pattern(
    r"[ \t]*(?:#|//|--|%|;+|/\*|<!--)[ \t]*(?:"
    r"#?(?P<begin>region)[ \t]+(?P<named>[\w.:-]+)|#?(?P<end>endregion)(?:[ \t]+(?P<ended>[\w.:-]+))?"
    r"|\[(?P<open>[A-Za-z_][\w.:-]*)\]|\[/(?P<close>[\w.:-]*)\]"
    r"|-+8<-+[ \t]*\[[ \t]*(?P<snippet>start|end)[ \t]*:[ \t]*(?P<snipped>[\w.:-]+)[ \t]*\]"
    r")[ \t]*(?:\*/|-->)?[ \t]*\Z"
)
_LINES = lazy_pattern(r"(\d{1,7})?(?:-(\d{1,7})?)?")


class Region(Struct, frozen=True):
    """A range of lines of a file, 1-based."""

    first: int
    last: int
    """Last line, inclusive; less than `first` if the region is empty."""


class _RegionMarker(Struct, frozen=True):
    line: int
    """1-based line of the marker."""
    name: str
    """Name of the region; empty for an end marker without a name, which ends the innermost region."""
    is_end: bool


def find_region(text: str, name: str) -> Region | None:
    """Return the first region of this name, without its markers; None if there is none. An unclosed region
    extends to the end."""
    lines = text.split("\n")
    marks = list(_marks(lines))
    start = next((at for at, mark in enumerate(marks) if mark.name == name and not mark.is_end), None)
    if start is None:
        return None
    depth = 0
    for mark in marks[start + 1 :]:
        if mark.is_end and (mark.name == name or (not mark.name and depth == 0)):
            return Region(marks[start].line + 1, mark.line - 1)
        if not mark.name:
            depth -= 1
        elif mark.name != name:
            depth += -1 if mark.is_end else 1
    return Region(marks[start].line + 1, len(lines))


def region_names(text: str) -> tuple[str, ...]:
    """Return the names of all regions in the file."""
    return tuple(dict.fromkeys(mark.name for mark in _marks(text.split("\n")) if not mark.is_end))


def _marks(lines: Sequence[str]) -> Iterator[_RegionMarker]:
    for number, line in enumerate(lines, 1):
        found = _MARK.match(line) if len(line) < 200 else None
        if not found:
            continue
        if found["begin"]:
            yield _RegionMarker(number, found["named"], False)
        elif found["end"]:
            yield _RegionMarker(number, found["ended"] or "", True)
        elif found["snippet"]:
            yield _RegionMarker(number, found["snipped"], found["snippet"] == "end")
        else:
            yield _RegionMarker(number, found["open"] or found["close"], not found["open"])


def find_object(text: str, name: str) -> Region | None:
    """Return the lines of a Python function or class, including decorators: `train`, `Model.forward`. Return
    None if it is not found, or if the file is not valid Python."""
    definitions, found = _statements(text), None
    for part in name.split("."):
        # The last definition of a name applies, as in Python.
        found = next((node for node in reversed(definitions) if node.name == part), None)
        if found is None:
            return None
        definitions = _definitions(found.body)
    if found is None:
        return None
    decorated = [decorator.lineno for decorator in found.decorator_list]
    return Region(min([found.lineno, *decorated]), found.end_lineno or found.lineno)


def object_names(text: str) -> tuple[str, ...]:
    """Return the names of a Python file's functions and classes, including those inside classes."""
    return tuple(_qualified_names(_statements(text), ""))


_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@lru_cache(maxsize=8)
def _statements(text: str) -> Sequence[_Definition]:
    """Return the definitions of a file. Cached, because a post may show many parts of a file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _definitions(ast.parse(text).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def _definitions(body: Sequence[ast.stmt]) -> list[_Definition]:
    """Return the definitions in a body, including those inside `if` and `try`."""
    found: list[_Definition] = []
    for node in body:
        if isinstance(node, _Definition):
            found.append(node)
        elif isinstance(node, ast.If | ast.Try):
            found += _definitions([*node.body, *node.orelse])
    return found


def _qualified_names(definitions: Sequence[_Definition], prefix: str) -> Iterator[str]:
    for node in definitions:
        yield f"{prefix}{node.name}"
        if isinstance(node, ast.ClassDef):
            yield from _qualified_names(_definitions(node.body), f"{prefix}{node.name}.")


def find_lines(text: str, written: str) -> Region | None:
    """Return the lines `10-20`, `10-`, `-20` or `10` of a file, or None if invalid or out of range."""
    count = len(text.removesuffix("\n").split("\n"))
    found = _LINES.fullmatch(written.strip())
    if not found or not written.strip().strip("-"):
        return None
    first = int(found[1] or 1)
    last = int(found[2] or count) if "-" in written else first
    return Region(first, last) if 0 < first <= last <= count else None


def trim(text: str, region: Region) -> tuple[Region, int, str]:
    """Return the region without blank lines at its ends, the number of spaces removed from each line, and the
    code."""
    lines = text.split("\n")
    first, last = region.first, min(region.last, len(lines))
    while first <= last and not lines[first - 1].strip():
        first += 1
    while last >= first and not lines[last - 1].strip():
        last -= 1
    shown = lines[first - 1 : last]
    indent = min((len(line) - len(line.lstrip(" \t")) for line in shown if line.strip()), default=0)
    same = {re.match(r"[ \t]*", line[:indent])[0] for line in shown if line.strip()}  # type: ignore[index]
    indent = indent if len(same) == 1 else 0
    cut = "".join(f"{line[indent:] if line.strip() else ''}\n" for line in shown)
    return Region(first, last), indent, cut
