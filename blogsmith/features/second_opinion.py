"""`blogsmith check --second-opinion`: compare the structure of each formula with the output of latex2mathml.

If the two results mean different things to a reader, one of the converters has misread the TeX. Known errors
of the library, which the bundled plugin `latex2mathml` lists, are skipped. Formulas in captions and in
arguments of shortcodes are skipped too, because they exist only on rendered pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..base.diagnostics.counts import plural
from ..base.diagnostics.model import Diagnostic, Reporter, SiteError
from ..build.snapshot import SiteSnapshot
from ..hooks import FormulaConverter, FormulaSource
from ..hooks.loader import load_plugins
from ..model.documents import Document
from ..project.bundled_folders import bundled_folder
from ..project.focus import is_within
from ..project.report import BuildLog
from ..render.converters import convert_with_plugin
from ..syntax.parser import formulas, make_parser, parse_document
from ..tex.convert import TypesetFormula, convert_formula
from ..tex.errors import TexError, UnusableMathmlError
from ..tex.foreign.structure import first_difference, read_structure
from ..tex.foreign_formula import check_replaceable, prepare_foreign_source
from ..tex.parse.reader import Macro

PLUGIN = "latex2mathml"
_MAX_REASONS = 3


def compare_formulas(site: SiteSnapshot, log: BuildLog, files: Sequence[str] = ()) -> str:
    """Report each formula that latex2mathml reads differently. Return a summary line. files: compare only
    formulas in these files and folders."""
    try:
        converter = load_plugins([PLUGIN], [bundled_folder("plugins")]).converters[PLUGIN]
    except SiteError as error:
        log.add(error.diagnostics)
        return ""
    comparison = _Comparison(site, converter)
    documents = site.resolved.documents.items()
    requested = [document for path, document in documents if not files or is_within(path, files)]
    for document in log.iterate("second opinion", requested):
        log.add(comparison.compare(document))
    return comparison.summary()


class _Comparison:
    """Comparison of all formulas of a site, with the numbers for the summary."""

    def __init__(self, site: SiteSnapshot, converter: FormulaConverter) -> None:
        self._config = site.config
        self._options = site.context.options
        self._parser = make_parser(self._options)
        self._converter = converter
        self._compared = self._different = 0
        self._left_out: Counter[str] = Counter()
        """Reason why formulas are not compared → their number."""

    def compare(self, document: Document) -> tuple[Diagnostic, ...]:
        """Return a warning for each formula of a page that differs."""
        parsed = parse_document(document, self._parser, self._options)
        own = document.front.math
        packages = frozenset(self._config.math.packages if own.packages is None else own.packages)
        macros: dict[str, str | Macro] = {**self._config.math.macros, **own.macros}
        reporter = Reporter(str(document.path), document.source.text.split("\n"))
        for math in formulas([*parsed.title, *parsed.description, *parsed.tokens]):
            try:
                found = convert_formula(math.tex, display=math.display, macros=macros, packages=packages)
            except TexError:
                # the page itself reports this error
                continue
            source = FormulaSource(prepare_foreign_source(math.tex, macros), math.display, packages)
            macros |= found.macros
            if difference := self._compare_one(found, source):
                ours, theirs = difference
                message = f'formula differs from {PLUGIN}: blogsmith reads "{ours}", {PLUGIN} "{theirs}"'
                place = math.origin.place(0, max(1, len(math.tex.partition("\n")[0])))
                hint = f"compare the page with the output of {PLUGIN}, and write unambiguous TeX"
                reporter.warn("math-second-opinion", message, place, hint)
        return tuple(reporter.diagnostics)

    def _compare_one(self, ours: TypesetFormula, source: FormulaSource) -> tuple[str, str] | None:
        """Return the first parts that differ, as text. Return None if the formulas are equal or cannot be
        compared."""
        try:
            check_replaceable(ours)
        except UnusableMathmlError as why:
            if ours.mathml:
                self._left_out[str(why)] += 1
            return None
        found = convert_with_plugin(self._converter, source)
        if isinstance(found, str):
            self._left_out[found] += 1
            return None
        self._compared += 1
        rows = read_structure(ours.mathml), read_structure(f"<math>{found.content}</math>")
        if rows[0] == rows[1]:
            return None
        self._different += 1
        return first_difference(*rows)

    def summary(self) -> str:
        compared, left_out = plural(self._compared, "formula"), self._left_out.total()
        verb = "differs" if self._different == 1 else "differ"
        line = f"second opinion: {compared} compared with {PLUGIN}, {self._different:,} {verb}"
        if not left_out:
            return line
        reasons = [f"{reason}: {count:,}" for reason, count in self._left_out.most_common(_MAX_REASONS)]
        return f"{line}; {left_out:,} not compared ({'; '.join(reasons)})"
