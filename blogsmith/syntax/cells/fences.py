"""Cells: fences whose code runs.

A Python fence becomes a cell by a `#|` line before its code or by `eval` in its info string. The forms of
Quarto and MyST, `{python}` and `{code-cell}`, are also cells. On a page with `execute: all`, all Python
fences are cells. Option lines are removed from the code, so that the code shown and copied is the code that
runs. If a Jupyter kernel runs the cells, all this applies to its language.

Drawings are fences in TikZ and related languages, which LaTeX draws when the site is built. Programs are
cells in C, C++ and CUDA, which a compiler translates. Each of them has a session of its own, so a change of
one does not run other cells.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence

from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from msgspec.structs import replace

from ...base.diagnostics.model import Place, TextMap
from ...model.cells import DRAWINGS, PROGRAMS, TEX, Cell, CellOptions, Need, PageCells
from ...model.documents import Document
from ..records import Fence, attach_record, get_record
from ..references.references import label_id
from ..state import PageState, get_page
from .checks import check_cells
from .languages import (
    cells_language,
    fence_language,
    is_disabled,
    is_foreign_cell,
    is_marked,
    option_lines,
    option_syntax,
)
from .option_lines import read_option_lines, warn_of_late_option, warn_of_spaced_option
from .option_values import KEYS
from .options import read_options, report_unsupported_page_options
from .values import report_values

_FIELDS = (
    *("eval", "output", "include", "label", "lst_cap", "lst_label", "code_fold", "code_summary", "fold_open"),
    *("freeze", "fallback", "timeout_s", "memory_bytes", "places", "texts"),
)
"""Fields of `CellOptions` that every cell in a session of its own may set."""
_DRAWING_FIELDS = (*_FIELDS, "fig_cap", "fig_alt")
_PROGRAM_FIELDS = (*_FIELDS, "error", "warning", "flags", "depends", "layout", "tolerance", "repeatable")
_OTHER_KEYS = frozenset(("echo", "provenance", "timeout", "memory"))
"""Keys of further options that these cells may set. Their names or values differ from those of the fields."""


def is_drawing(fence: Fence, page: PageState) -> bool:
    """Return whether LaTeX draws the fence. A plugin that draws its language takes precedence."""
    return fence_language(fence) in DRAWINGS and fence.language not in page.options.diagram_languages


def _is_program(fence: Fence, code: str, page: PageState) -> bool:
    """Return whether the fence is a cell that a compiler translates."""
    language = fence_language(fence)
    if page.engine != "worker" or language not in PROGRAMS:
        return False
    return bool(fence.form or fence.has_eval or option_lines(code, language))


def _own_options(options: CellOptions, language: str, code: str, page: PageState) -> CellOptions:
    """Return the options of a cell in a session of its own, and report options without effect. A drawing
    needs LaTeX, and by default its code is hidden; a program needs its compiler."""
    is_program = language in PROGRAMS
    fields = _PROGRAM_FIELDS if is_program else _DRAWING_FIELDS
    keys = _OTHER_KEYS.union(name.replace("_", "-") for name in fields)
    given = options.places
    for key, place in given.items():
        if key not in keys:
            why = "a compiler translates this cell" if is_program else "LaTeX draws this fence"
            message = f'option "{key}" has no effect because {why}'
            page.reporter.warn("cell-option", message, place, "remove it")
    name = options.label or hashlib.sha256(code.encode("utf-8", "replace")).hexdigest()[:12]
    hides = not is_program
    return CellOptions(
        **{name: getattr(options, name) for name in fields},
        echo=not options.eval if hides and "echo" not in given else options.echo,
        provenance="none" if hides and "provenance" not in given else options.provenance,
        needs=(Need(PROGRAMS.get(language, TEX)),),
        # authors cannot write a session name with a period, so the name is unique
        session=f"{language}.{name}",
        # the settings for Matplotlib figures do not apply to drawings
        fig_format="svg",
        fig_dark=False,
    )


def check_alternative_text(options: CellOptions, fence: Fence, page: PageState) -> None:
    """Report a drawing without alternative text. Its letters are outlines, so screen readers cannot read
    them."""
    if options.eval and options.include and options.output and not options.fig_alt.strip():
        hint = 'write `alt="…"` after the language, with a sentence that says what the drawing shows'
        page.reporter.error(
            "drawing-alt", f'missing alt text for a "{fence.language}" drawing', fence.place, hint
        )


def cells(state: StateCore) -> None:
    """Create the cells in source order (core rule, after `fences`)."""
    page = get_page(state.env)
    fences = sorted(_fences(state.tokens), key=lambda item: item[0].map or [0])
    code = [token for token, _ in fences if not _is_alone(token, page)]
    page.language = _language(code, page)
    found: dict[int, Cell] = {}
    tokens: dict[int, Token] = {}
    for token, in_browser in fences:
        if _is_cell(token, page, in_browser=in_browser):
            number = len(found) + 1
            found[number], tokens[number] = _make_cell(token, number, page), token
        else:
            _check_plain_fence(token, page, in_browser=in_browser)
    if first := next((cell for cell in found.values() if cell.is_run and not cell.is_alone), None):
        report_unsupported_page_options(first.place, page)
    for cell in check_cells(_seed_cells(list(found.values()), page), page):
        attach_record(tokens[cell.number], cell)


def _language(tokens: Sequence[Token], page: PageState) -> str:
    """Return the language of the fences that are cells on this page."""
    if page.engine == "worker":
        return "python"
    fences = [(get_record(token, Fence), token.content) for token in tokens]
    on = [(fence, code) for fence, code in fences if not is_disabled(fence, code)]
    marked = [fence for fence, code in on if is_marked(fence, code, page.kernel)]
    others = [fence for fence, _ in on] if page.mode == "all" and not marked else []
    return cells_language(marked, others, page.kernel)


def _fences(tokens: Sequence[Token]) -> Iterator[tuple[Token, bool]]:
    """Yield every fence, and whether it is inside a block that runs in the browser."""
    depth = 0
    for token in tokens:
        if token.type in ("runnable_open", "runnable_close"):
            depth += token.nesting
        elif token.type == "fence":
            yield token, depth > 0


def is_python(fence: Fence) -> bool:
    """Return whether the fence is Python, under any of its names."""
    return _has_language("python", fence)


def _has_language(language: str, fence: Fence) -> bool:
    return fence_language(fence) == language or (fence.form == "code-cell" and not fence.language)


def _is_alone(token: Token, page: PageState) -> bool:
    """Return whether the fence is a cell in a session of its own."""
    fence = get_record(token, Fence)
    return is_drawing(fence, page) or _is_program(fence, token.content, page)


def _is_cell(token: Token, page: PageState, *, in_browser: bool) -> bool:
    fence = get_record(token, Fence)
    if _is_alone(token, page):
        return not in_browser
    if not _has_language(page.language, fence):
        return False
    if fence.form or fence.has_eval or option_lines(token.content, page.language):
        return True
    return page.mode == "all" and not in_browser


def _check_plain_fence(token: Token, page: PageState, *, in_browser: bool) -> None:
    """Check a fence that does not run. Warn if its author probably wanted it to run. in_browser: whether it
    is inside a block that runs in the browser."""
    fence, marks = get_record(token, Fence), option_syntax(page.language)
    off = any(setting.key == "eval" and setting.value is False for setting in fence.settings)
    if not _has_language(page.language, fence) and not (in_browser and is_python(fence)):
        if _warn_of_language(token, page, off=off):
            if is_foreign_cell(fence):
                token.content = token.content.removeprefix(option_lines(token.content, fence_language(fence)))
            return
    elif _has_language(page.language, fence):
        first = (token.map or [0])[0] + 1
        warn_of_spaced_option(token.content.partition("\n")[0], first, page, marks)
        warn_of_late_option(token.content, first, page, marks)
    if not off:
        for setting in fence.settings:
            message = f'option "{setting.key}" has no effect because this fence does not run'
            page.reporter.warn("fence-info", message, setting.key_place, "add `eval` after the language")


def _warn_of_language(token: Token, page: PageState, *, off: bool) -> bool:
    """Report a fence that looks like a cell but is in another language than the page's cells. Return whether
    it was reported. off: whether the fence has `eval=false`."""
    fence = get_record(token, Fence)
    place = fence.place or Place(page.first_line)
    shown = f"write ```{fence.language} to show the code without running it"
    if page.engine == "worker":
        marks = option_syntax(fence_language(fence))
        options = marks.anywhere.finditer(option_lines(token.content, fence_language(fence)))
        has_options = any(option[1] in KEYS for option in options)
        if not (is_foreign_cell(fence) or (fence.has_eval and not off) or has_options):
            return False
        start = f'unsupported language "{fence.language}"' if fence.language else "missing language"
        message = f"{start}: only Python runs, so this code is only shown"
        if has_options and fence.form == "":
            shown = f"remove the lines `{marks.comment}|`"
        hint = f"{shown}, or set `engine: jupyter` under `execute:` to run it"
        page.reporter.warn("cell-language", message, place, hint)
        return True
    if is_disabled(fence, token.content) or not is_marked(fence, token.content, page.kernel):
        return False
    message = (
        f'language "{fence.language or "code"}" is not allowed here: cells of this page are "{page.language}"'
    )
    hint = f"{shown}, or choose the kernel of the page with `execute: kernel:`"
    page.reporter.error("cell-language", message, place, hint)
    return True


def _make_cell(token: Token, number: int, page: PageState) -> Cell:
    """Return the cell of a fence, and store in the fence how its code is displayed."""
    fence = get_record(token, Fence)
    first = (token.map or [0])[0] + 1
    is_drawn, is_alone = is_drawing(fence, page), _is_alone(token, page)
    language = fence_language(fence) if is_alone else page.language
    marks = option_syntax(language)
    written = token.content
    if fence.include:
        # Only the option lines have positions in the post; the code after them comes from another file.
        written = "".join(f"{line}\n" for line in written.split("\n")[: fence.include.head])
    head = read_option_lines(written, first, page, myst=fence.form == "code-cell", marks=marks)
    options = _add_info_options(read_options((*fence.settings, *head.settings), page, language), fence, page)
    for text in options.texts.values():
        report_values(text, page.reporter)
    code = "\n".join(token.content.split("\n")[head.lines :])
    if is_alone:
        options = _own_options(options, language, code, page)
    if is_drawn:
        check_alternative_text(options, fence, page)
    token.content = code
    attach_record(token, _code_look(fence, options, language, page))
    first_line = page.first_line + first + head.lines
    place = fence.place or Place(first_line)
    cell = Cell(number, code, first_line, place, options.label, options, language)
    if not fence.include:
        return cell
    return replace(
        cell, first_line=fence.include.first_line, file=fence.include.path, indent=" " * fence.include.indent
    )


def _code_look(fence: Fence, options: CellOptions, language: str, page: PageState) -> Fence:
    """Return the fence with the cell's options for the display of code, such as folding. language: canonical
    name of the language."""
    _report_removed_lines(fence, page)
    caption = options.texts.get("lst-cap") or fence.caption
    if caption is None and options.lst_cap:
        caption = TextMap(options.lst_cap, ((page.first_line, 1),))
    own = fence.id if fence.id.startswith("lst-") else ""
    return replace(
        fence,
        language=language,
        id="",
        fold=options.code_fold,
        settings=(),
        removed=frozenset(),
        caption=caption,
        listing=options.lst_label or own,
        listing_place=options.places.get("lst-label"),
    )


def _report_removed_lines(fence: Fence, page: PageState) -> None:
    """Report lines that are marked as removed. A cell must not have them, because it runs all the code that
    it shows."""
    if fence.removed:
        message = (
            f"removed line {min(fence.removed)} is not allowed in a cell: a cell runs all the code it shows"
        )
        place = fence.place or Place(page.first_line)
        hint = f"remove `-{min(fence.removed)}`, or show the old code in a fence that does not run"
        page.reporter.error("cell-diff", message, place, hint)


def _add_info_options(options: CellOptions, fence: Fence, page: PageState) -> CellOptions:
    """Return the options with the label and the fold that the info string sets by `{#label}` and `fold`."""
    if fence.fold and "code-fold" not in options.places:
        options = replace(options, code_fold=fence.fold)
    if fence.id.startswith("lst-"):
        return options
    if fence.id and options.label:
        message = f'duplicate label "{options.label}": this cell already has "{fence.id}"'
        page.reporter.error("cell-option", message, options.places.get("label"), "remove one of the labels")
    elif fence.id:
        options = replace(options, label=label_id(fence.id))
    return options


def _seed_cells(found: list[Cell], page: PageState) -> list[Cell]:
    """Return the cells. The first running cell of each session gets the page's seed, unless it sets its
    own."""
    seed = page.execution.seed
    begun = set[str]()
    seeded = []
    for cell in found:
        session = cell.options.session
        if cell.is_alone:
            seeded.append(cell)
            continue
        if seed is not None and cell.is_run and session not in begun and cell.options.seed is None:
            cell = replace(cell, options=replace(cell.options, seed=seed))
        if cell.is_run:
            begun.add(session)
        seeded.append(cell)
    return seeded


def page_cells(document: Document, tokens: Sequence[Token], page: PageState) -> PageCells:
    """Return all cells and values of the page. Call this after all numbers are assigned."""
    metas: Iterator[Mapping[str, object]] = (token.meta for token in tokens if token.type == "fence")
    found = [cell for meta in metas if isinstance(cell := meta.get("cell"), Cell)]
    in_order = tuple(sorted(found, key=lambda cell: cell.number))
    asked = page.execution
    values = tuple(page.values)
    limits = asked.timeout_s, asked.memory_bytes
    preamble = page.options.preamble
    return PageCells(
        document.path, in_order, values, asked.depends, *limits, page.engine, page.kernel, preamble
    )
