"""Formulas by the converter of a plugin, ours where it cannot be used.

Ours reads each formula first: what it defines, where it is wrong, and whether it has links or names of its
own is the same whichever converter typesets. It takes a fourth of the time that latex2mathml does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Unpack

from ..base.diagnostics.model import SiteError
from ..base.timeout import alarm, has_alarm
from ..hooks import FormulaConverter, FormulaSource, Plugins
from ..tex.errors import TexError
from ..tex.foreign.unusable import UnusableMathml

if TYPE_CHECKING:
    from ..tex.convert import Convert, FormulaOptions, TypesetFormula
    from ..tex.foreign.reader import ForeignFormula
    from ..tex.parse.reader import Macro

OURS = "blogsmith"
"""What `math: {converter: …}` says where formulas are ours although a plugin has the hook."""
DEADLINE_S = 1.0
"""Of the processor, for one formula; a busy machine shows the same page."""
_MOST_WORDS = 120

ForeignConvert = Callable[[FormulaConverter, FormulaSource], "ForeignFormula | str"]
"""A formula → what a plugin made of it, or why that cannot be used; a function of its arguments."""


class ConverterTooSlow(BaseException):
    """The deadline passed. Not an Exception: converters of third parties catch those."""


def choose_converter(plugins: Plugins, name: str, *, untrusted: bool) -> FormulaConverter | None:
    """The converter of that name, or the only one there is if `name` is empty; None: formulas are ours.

    LookupError if no plugin of that name has the hook. untrusted: sources of strangers reach it.
    """
    if name == OURS or not (name or plugins.converters):
        return None
    found = plugins.converters[name] if name else next(iter(plugins.converters.values()))
    return None if untrusted and found.trusted else found


def no_converter(name: str) -> str:
    """What is wrong with a setting that names a plugin without the hook."""
    return f'no plugin of this site named "{name}" typesets formulas'


def convert_foreign(converter: FormulaConverter, source: FormulaSource) -> ForeignFormula | str:
    """What the plugin makes of a formula, as a page may hold it; else why it cannot be used, as a clause.

    SiteError if the plugin imports what it must not.
    """
    from ..tex.foreign.reader import read_mathml

    limit = alarm(DEADLINE_S, ConverterTooSlow, working=True) if has_alarm() else nullcontext()
    try:
        with limit:
            made: object = converter.convert(source)
            if made is None:
                return "the plugin passes it over"
            return read_mathml(made) if isinstance(made, str) else "what it gives is no text"
    except ConverterTooSlow:
        return f"it takes longer than {DEADLINE_S:g} s"
    except UnusableMathml as why:
        return str(why)
    except SiteError:
        raise
    except Exception as error:
        words = " ".join(str(error).split())
        return f"{type(error).__name__}: {words[:_MOST_WORDS]}" if words else type(error).__name__


def plug_in(
    ours: Convert, converter: FormulaConverter, foreign: ForeignConvert, report: Callable[[str], object]
) -> Convert:
    """`ours` with the markup that `converter` makes. report: told why a formula stays as ours has it."""

    def convert(tex: str, **options: Unpack[FormulaOptions]) -> TypesetFormula:
        from ..tex.convert import TypesetFormula
        from ..tex.foreign_formula import check_replaceable, foreign_source, frame_foreign

        found: TypesetFormula | None = None
        mistake: TexError | None = None
        try:
            found = ours(tex, **options)
        except TexError as error:
            if error.kind != "math-command" or not converter.commands:
                raise
            mistake = error
        display, macros = options["display"], options["macros"]
        source = FormulaSource(foreign_source(tex, macros), display, options["packages"])
        if mistake and not _knows(converter, source.tex):
            raise mistake
        try:
            if found is not None:
                check_replaceable(found)
            made = foreign(converter, source)
            if isinstance(made, str):
                raise UnusableMathml(made)
            mathml = frame_foreign(made, tex, display=display, rows=options["rows"])
        except UnusableMathml as why:
            if found is None:
                assert mistake is not None, "one of the two is there"
                raise mistake from None
            if found.mathml:
                report(str(why))
            return found
        return TypesetFormula(mathml, found.macros if found else _definitions(tex, macros))

    return convert


def _knows(converter: FormulaConverter, tex: str) -> bool:
    from ..tex.parse.scan import split

    return not converter.commands.isdisjoint(split(tex))


def _definitions(tex: str, macros: Mapping[str, str | Macro]) -> Mapping[str, Macro]:
    from ..tex.analysis.expansion import find_definitions

    return find_definitions(tex, macros)
