"""Formulas typeset by a plugin, with our own converter as fallback.

Our converter reads each formula first, so definitions, errors, links and ids are the same with every
converter. Reading a formula needs a quarter of the time of a conversion by latex2mathml.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Unpack

from ..base.diagnostics.model import SiteError
from ..base.timeout import alarm, has_alarm
from ..hooks import FormulaConverter, FormulaSource, Plugins
from ..tex.errors import TexError, UnusableMathmlError

if TYPE_CHECKING:
    from ..tex.convert import Convert, FormulaOptions, TypesetFormula
    from ..tex.foreign.reader import ForeignFormula
    from ..tex.parse.reader import Macro

BUILT_IN = "blogsmith"
"""Value of `math: {converter: …}` that selects our converter although a plugin has the hook."""
DEADLINE_S = 1.0
"""Time limit for one formula in seconds of processor time, which is the same on a busy machine."""
_MOST_WORDS = 120

PluginConvert = Callable[[FormulaConverter, FormulaSource], "ForeignFormula | str"]
"""Function that returns the plugin's MathML for a formula, or the reason why it cannot be used. The function
must have no side effects, because results are cached."""


class ConverterTimeout(BaseException):
    """A plugin exceeded the time limit. Not an Exception, because third-party converters catch those."""


def choose_converter(plugins: Plugins, name: str, *, untrusted: bool) -> FormulaConverter | None:
    """Return the plugin called `name`, or if `name` is empty, the first plugin that typesets formulas. None
    means our own converter. LookupError if no plugin of this name typesets formulas. untrusted: whether the
    posts are by untrusted authors; then a plugin for trusted posts only is not used."""
    if name == BUILT_IN or not (name or plugins.converters):
        return None
    found = plugins.converters[name] if name else next(iter(plugins.converters.values()))
    return None if untrusted and found.trusted else found


def unknown_converter_message(name: str) -> str:
    """Return the error message for a setting that names a plugin that does not typeset formulas."""
    return f'unknown formula converter "{name}": no plugin of this site provides it'


def convert_with_plugin(converter: FormulaConverter, source: FormulaSource) -> ForeignFormula | str:
    """Return the plugin's MathML, checked and sanitized, or a clause with the reason why it cannot be used.
    Raise SiteError if the plugin imports a forbidden module."""
    from ..tex.foreign.reader import read_mathml

    limit = alarm(DEADLINE_S, ConverterTimeout, is_cpu_time=True) if has_alarm() else nullcontext()
    try:
        with limit:
            made: object = converter.convert(source)
            if made is None:
                return "the plugin skips it"
            return read_mathml(made) if isinstance(made, str) else "its result is not a string"
    except ConverterTimeout:
        return f"it takes longer than {DEADLINE_S:g} s"
    except UnusableMathmlError as why:
        return str(why)
    except SiteError:
        raise
    except Exception as error:
        words = " ".join(str(error).split())
        return f"{type(error).__name__}: {words[:_MOST_WORDS]}" if words else type(error).__name__


def with_plugin(
    ours: Convert, converter: FormulaConverter, foreign: PluginConvert, report: Callable[[str], object]
) -> Convert:
    """Return a converter that uses the plugin `converter` where possible and `ours` otherwise. foreign:
    function that calls the plugin. report: function called with the reason if a formula keeps the markup of
    `ours`."""

    def convert(tex: str, **options: Unpack[FormulaOptions]) -> TypesetFormula:
        from ..tex.convert import TypesetFormula
        from ..tex.foreign_formula import check_replaceable, frame_foreign, prepare_foreign_source

        found: TypesetFormula | None = None
        mistake: TexError | None = None
        try:
            found = ours(tex, **options)
        except TexError as error:
            if error.kind != "math-command" or not converter.commands:
                raise
            mistake = error
        display, macros = options["display"], options["macros"]
        source = FormulaSource(prepare_foreign_source(tex, macros), display, options["packages"])
        if mistake and not _knows(converter, source.tex):
            raise mistake
        try:
            if found is not None:
                check_replaceable(found)
            made = foreign(converter, source)
            if isinstance(made, str):
                raise UnusableMathmlError(made)
            mathml = frame_foreign(made, tex, display=display, rows=options["rows"])
        except UnusableMathmlError as why:
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
    from ..tex.analysis.portable import find_definitions

    return find_definitions(tex, macros)
