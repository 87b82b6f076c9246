r"""How many formulas of real sources blogsmith and KaTeX convert: `make bench-formulas SITES="../a ../b"`.

    python -m tests.bench.formulas FOLDER...

Reads the formulas of all .tex and .md files of each folder, such as a cloned repository. Macros are those
that .tex and .sty files of the same folder define in their preambles; KaTeX gets those it can express. The
columns: different formulas; shares that blogsmith and KaTeX convert; formulas without a command that no file
defines, and the share of them that blogsmith converts; formulas that only KaTeX converts. These follow the
table, with the reason where LaTeX rejects them too. The exit code is 1 if a goal is not met. KaTeX comes from
npm: `npm install --prefix .cache katex`.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from pathlib import Path
from typing import NamedTuple

from markdown_it.token import Token

from blogsmith.importers.latex.independent import render_paper
from blogsmith.importers.verify.markdown_reader import Dollars, markdown_reader
from blogsmith.model.tex_macros import Macro
from blogsmith.tex.convert import convert_formula
from blogsmith.tex.errors import TexError
from blogsmith.tex.parse.macros import macro_texts

from .diagrams import read_definitions
from .math_reference import Reference

CACHE = Path(__file__).parents[2] / ".cache"
GOAL = 0.97
ARGUED = {
    "too many columns in this row": 'LaTeX: "Extra alignment tab"',
    "invalid colour": 'LaTeX: "Undefined color"; KaTeX writes CSS that browsers ignore',
}
"""Opening of a message → the error of LaTeX for the same formula."""
COLUMNS = ("folder", "formulas", "ours", "KaTeX", "defined", "ours", "only KaTeX")
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_BODY = re.compile(r"\\begin\{document\}(.*)", re.DOTALL)
_FORMULA = re.compile(r'<math alttext="([^"]*)">')
_DEFINED = re.compile(
    r"\\[A-Za-z@]*(?:[dD]ef|let|[nN]ew|Declare|[pP]rovide)[A-Za-z@]*\*?\s*\{?\s*(\\[A-Za-z@]+)(?![A-Za-z@])"
)
_UNKNOWN = re.compile(r'unknown TeX command "(.*)"')
_LONG = 8_000


class Formula(NamedTuple):
    tex: str
    is_display: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 if a goal is not met."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.formulas", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--show", type=int, default=20, metavar="N", help="reasons to print [default: 20]")
    parser.add_argument("--katex", type=Path, default=CACHE, metavar="FOLDER", help="parent of node_modules")
    options = parser.parse_args(arguments)
    katex = Reference("katex", options.katex)
    total, reasons, only = Counter[str](), Counter[str](), list[tuple[str, str]]()
    print(f"{COLUMNS[0]:<40}{''.join(f'{name:>11}' for name in COLUMNS[1:])}")
    for folder in options.folders:
        counts = measure(folder, katex, reasons, only)
        total += counts
        _print(folder.name, counts)
    katex.close()
    _print("all", total)
    absent = Counter({reason: n for reason, n in reasons.items() if reason.startswith("\\")})
    print("no file defines", ", ".join(f"{name} {n}" for name, n in absent.most_common(options.show)))
    for reason, count in (reasons - absent).most_common(options.show):
        print(f"{count:6} {reason}")
    argued = Counter(reason for message, _ in only for reason in [_argument(message)] if reason)
    unargued = [(message, tex) for message, tex in only if not _argument(message)]
    for reason, count in argued.most_common():
        print(f"{count:6} only KaTeX, argued: {reason}")
    for message, tex in unargued:
        print(f"       only KaTeX: {message}: {' '.join(tex.split())[:200]}")
    return int(bool(unargued) or total["ours defined"] < GOAL * total["defined"])


def _print(name: str, counts: Counter[str]) -> None:
    def share(part: str, whole: str) -> str:
        return f"{100 * counts[part] / counts[whole]:.2f} %" if counts[whole] else "–"

    cells = [f"{counts['formulas']:,}", share("ours", "formulas"), share("katex", "formulas")]
    cells += (f"{counts['defined']:,}", share("ours defined", "defined"), f"{counts['only']:,}")
    print(f"{name[:39]:<40}{''.join(f'{cell:>11}' for cell in cells)}")


def measure(
    folder: Path, katex: Reference, reasons: Counter[str], only: list[tuple[str, str]]
) -> Counter[str]:
    """Return counts of one folder. Add the message of each rejected formula, or its command that no file
    defines, to `reasons`, and message and TeX of each formula that only KaTeX converts to `only`."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".tex", ".md", ".sty"))
    texts = {path: path.read_text("utf-8", "replace") for path in files}
    macros = read_definitions(files)
    defined = {name for text in texts.values() for name in _DEFINED.findall(text)}
    written = macro_texts(macros)
    counts = Counter[str]()
    for formula in dict.fromkeys(one for path, text in texts.items() for one in find_formulas(path, text)):
        message = convert(formula, macros)
        unknown = _UNKNOWN.fullmatch(message)
        absent = unknown[1] if unknown and unknown[1] not in defined else ""
        request = {"tex": formula.tex, "display": formula.is_display, "macros": written}
        has_katex = "mathml" in katex.ask(request)
        counts.update({"formulas": 1, "ours": not message, "katex": has_katex, "defined": not absent})
        counts.update({"ours defined": not message, "only": bool(has_katex and message)})
        if message:
            reasons[absent or message] += 1
            if has_katex:
                only.append((message, formula.tex))
    return counts


def find_formulas(path: Path, text: str) -> Iterator[Formula]:
    """Yield the formulas of a file, without those that contain parameters of macros."""
    for formula in _read_markdown(text) if path.suffix == ".md" else _read_latex(text):
        if formula.tex and len(formula.tex) < _LONG and not re.search(r"#\d", formula.tex):
            yield formula


def _read_latex(text: str) -> Iterator[Formula]:
    body = _BODY.search(text)
    for found in _FORMULA.finditer(render_paper(_COMMENT.sub(r"\1", body[1] if body else text))):
        tex = unescape(found[1])
        yield Formula(tex, tex.startswith("\\begin{"))


def _read_markdown(text: str) -> Iterator[Formula]:
    parser = markdown_reader(dollars=Dollars(allow_space=False, allow_digits=False))
    return _read_tokens(parser.parse(text))


def _read_tokens(tokens: Sequence[Token]) -> Iterator[Formula]:
    for token in tokens:
        if token.type.startswith("math_"):
            yield Formula(token.content.strip(), token.type != "math_inline")
        yield from _read_tokens(token.children or ())


def convert(formula: Formula, macros: Mapping[str, Macro]) -> str:
    """Return why blogsmith rejects a formula; empty if it converts it."""
    try:
        convert_formula(formula.tex, display=formula.is_display, macros=macros)
    except TexError as error:
        return error.message
    return ""


def _argument(message: str) -> str:
    return next((reason for opening, reason in ARGUED.items() if message.startswith(opening)), "")


if __name__ == "__main__":
    raise SystemExit(main())
