"""The page of the gallery: each formula as KaTeX draws it and as our pages contain it.

Ours are built as posts of a small site with the theme paper, so they have its style sheets and font, and
take the same path through the code as all formulas. KaTeX's HTML is made by node; its style sheet and fonts
are in files beside the page, so no server is needed.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from blogsmith.base.diagnostics.format import format_diagnostic
from tests.site_files import build

from .gallery_text import FOLDER, Group, Line

_CONFIG = "title: Gallery\nmath:\n  on_error: render\n"
# Greedy, because a text in a formula may contain another formula.
_MATH = re.compile(r"<math\b.*</math>", re.DOTALL)
_PIECE = re.compile(r'<h2 id="f(\d+)"[^>]*>.*?</h2>(.*?)(?=<h2 id="(?:f\d|end"))', re.DOTALL)
_HEAD = re.compile(r'<link rel="stylesheet"[^>]*>|<style\b.*?</style>', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A formula as drawn by one of the two."""

    html: str
    """HTML; empty if it cannot draw the formula."""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Ours:
    """The formulas of all groups as our build renders them."""

    drawn: Mapping[tuple[str, int], Drawn]
    """Name of the group and number of the formula in it, from 0 → formula."""
    head: str
    """Style sheets of the theme, as markup relative to the gallery's folder."""


def write_page(folder: Path, groups: Sequence[Group], modules: Path) -> list[str]:
    """Write `index.html` and its files to `folder`; return the formulas that we reject, with the reason."""
    folder.mkdir(parents=True, exist_ok=True)
    ours = draw_ours(groups, folder)
    theirs = draw_katex(groups, modules)
    _copy_katex(modules, folder)
    sections = "\n".join(_section(group, ours.drawn, theirs) for group in groups)
    page = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Gallery</title>\n'
        f'{ours.head}\n<link rel="stylesheet" href="katex/katex.min.css">\n'
        f"<style>\n{(FOLDER / 'page.css').read_text('utf-8')}</style>\n</head>\n<body>\n{sections}\n"
        f"<script>\n{(FOLDER / 'page.js').read_text('utf-8')}</script>\n</body>\n</html>\n"
    )
    (folder / "index.html").write_text(page, encoding="utf-8")
    refused = {key: drawn.error for key, drawn in ours.drawn.items() if drawn.error}
    texts = {(group.name, number): tex for group in groups for number, tex, _ in _numbered(group)}
    return [f"{name} {number}: {error}: {texts[name, number]}" for (name, number), error in refused.items()]


def _numbered(group: Group) -> list[tuple[int, str, bool]]:
    formulas = [(tex, line.display) for line in group.lines for tex in line.formulas]
    return [(number, tex, display) for number, (tex, display) in enumerate(formulas)]


def draw_ours(groups: Sequence[Group], folder: Path) -> Ours:
    """Build a site with a post for each group, and copy its style sheets and fonts to `folder`/assets."""
    with TemporaryDirectory() as scratch:
        root, output = Path(scratch), Path(scratch) / "public"
        posts = root / "content" / "posts"
        posts.mkdir(parents=True)
        (root / "blogsmith.yaml").write_text(_CONFIG, encoding="utf-8")
        sources = {group.name: _post(group) for group in groups}
        for name, text in sources.items():
            (posts / f"{name}.md").write_text(text, encoding="utf-8")
        report = build(root, output=output)
        if not report.ok:
            # A rejected formula is only a warning here, and the page shows its TeX.
            errors = [found for found in report.diagnostics if found.severity == "error"]
            raise SystemExit("\n".join(format_diagnostic(found, color=False) for found in errors))
        shutil.copytree(output / "assets", folder / "assets", dirs_exist_ok=True)
        pages = {name: (output / "posts" / name / "index.html").read_text("utf-8") for name in sources}
    said = _errors(sources, [(d.path, d.place.line, d.message) for d in report.diagnostics if d.place])
    drawn = {
        (name, int(number)): _piece(html, said.get((name, int(number)), ""))
        for name, page in pages.items()
        for number, html in _PIECE.findall(page)
    }
    longest = max(pages.values(), key=lambda page: len(_HEAD.findall(page)))
    sheets = [each for each in _HEAD.findall(longest) if 'media="print"' not in each]
    return Ours(drawn, "\n".join(sheets).replace('="/', '="').replace('("/', '("'))


def _post(group: Group) -> str:
    head = f"---\ntitle: {group.title}\ndate: 2026-01-01\n"
    if group.packages:
        head += f"math:\n  packages: [{', '.join(group.packages)}]\n"
    pieces = [
        f"## f{number}\n\n" + (f"$$\n{tex}\n$$\n" if display else f"${tex}$\n")
        for number, tex, display in _numbered(group)
    ]
    return head + "---\n\n" + "\n".join(pieces) + "\n## end\n"


def _errors(sources: Mapping[str, str], found: Sequence[tuple[str, int, str]]) -> dict[tuple[str, int], str]:
    """Return the message about each formula, found by the heading above its line."""
    errors = {}
    for path, line, message in found:
        name = Path(path).stem
        above = sources[name].splitlines()[:line]
        number = next((text[4:] for text in reversed(above) if text.startswith("## f")), "")
        if number:
            errors[name, int(number)] = message
    return errors


def _piece(html: str, error: str) -> Drawn:
    """Return the formula alone, or the whole block if it has a number beside it."""
    formula = _MATH.search(html)
    if not formula:
        return Drawn("", error or "no formula in the page")
    return Drawn(html.strip() if "eq-number" in html else formula[0], error)


def draw_katex(groups: Sequence[Group], modules: Path) -> dict[tuple[str, int], Drawn]:
    """Return KaTeX's HTML for every formula, by name of the group and number in it."""
    asked = [
        (group.name, number, tex, line.display)
        for group in groups
        for number, (tex, line) in enumerate((tex, line) for line in group.lines for tex in line.for_katex)
    ]
    lines = [json.dumps({"tex": tex, "display": display}) for _, _, tex, display in asked]
    command = ["node", str(FOLDER / "katex.mjs"), str(modules)]
    finished = subprocess.run(
        command, input="\n".join(lines), stdout=subprocess.PIPE, check=True, encoding="utf-8"
    )
    answers = [json.loads(line) for line in finished.stdout.splitlines()]
    return {
        (name, number): Drawn(answer.get("html", ""), answer.get("error", ""))
        for (name, number, _, _), answer in zip(asked, answers, strict=True)
    }


def _copy_katex(modules: Path, folder: Path) -> None:
    made = modules / "node_modules" / "katex" / "dist"
    (folder / "katex").mkdir(exist_ok=True)
    shutil.copy(made / "katex.min.css", folder / "katex")
    shutil.copytree(made / "fonts", folder / "katex" / "fonts", dirs_exist_ok=True)


def _section(
    group: Group, ours: Mapping[tuple[str, int], Drawn], theirs: Mapping[tuple[str, int], Drawn]
) -> str:
    lines, number = [], 0
    for index, line in enumerate(group.lines):
        numbers = range(number, number + len(line.formulas))
        number = numbers.stop
        left, right = ([drawn[group.name, n] for n in numbers] for drawn in (theirs, ours))
        lines.append(_line(f"{group.name} {index + 1}", line, numbers.start, left, right))
    return f'<section id="{group.name}">\n<h2>{escape(group.title)}</h2>\n{"".join(lines)}</section>'


def _line(name: str, line: Line, first: int, theirs: Sequence[Drawn], ours: Sequence[Drawn]) -> str:
    said = [f"KaTeX: {drawn.error}" for drawn in theirs if drawn.error]
    said += [f"ours: {drawn.error}" for drawn in ours if drawn.error]
    wrong = "".join(f'<p class="wrong">{escape(text)}</p>' for text in said)
    return (
        f'<div class="line">{_side("katex-side", first, theirs)}{_side("ours", first, ours)}'
        f'<div class="tex"><b>{name}</b> {escape(line.tex)}</div>{wrong}</div>\n'
    )


def _side(kind: str, first: int, pieces: Sequence[Drawn]) -> str:
    made = "".join(
        f'<div class="{_classes(drawn.html)}" data-number="{first + index}">'
        f'<span class="foot"></span>{drawn.html or "✗"}</div>'
        for index, drawn in enumerate(pieces)
    )
    return f'<div class="side {kind}">{made}</div>'


def _classes(html: str) -> str:
    """Return `drawn` for formulas that can be measured, `whole` for those with a number at the right edge."""
    if "eq-number" in html or "katex-tag" in html:
        return "piece whole post-content"
    return "piece drawn" if html else "piece"
