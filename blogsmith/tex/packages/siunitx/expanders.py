r"""siunitx as plain TeX: numbers, units, quantities, their lists, ranges and products, and angles.

Names and options are those of versions 2 and 3. `\sisetup` and `\DeclareSIUnit` apply up to the end of their
group. The words in lists and ranges are English, as in siunitx, unless an option changes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from ....base.patterns import lazy_pattern
from ...parse.errors import ParseError
from ...parse.reader import Expander, FormulaReader, Macro, TokenReader, fill, text_of, tokens
from ...parse.scan import move_tokens
from .number_format import FACTOR_SIGN, number_tex
from .options import Options, UnitError, quote_text, read_options, single_entries
from .unit_format import GRAMMAR, DeclaredUnits, joiner, letters_tex, quantity_tex, raise_unit, unit_tex
from .unit_names import UNITS

SETUP = "sisetup"
"""Name of the macro that stores the current options. No author can use it, because it is not a
valid token."""
_MAX_TOKENS = 1000
"""Maximum number of tokens that macros of the author may produce inside one unit or number."""
_DEGREES = lazy_pattern(r"[^;]*(;[^;]*){0,2}")
_PLAIN = lazy_pattern(r"[0-9.]*|[A-Za-z]")
_DECIMAL = lazy_pattern(r"-?[0-9]{0,6}(?:[.,][0-9]*)?")
_Make = Callable[["_Source", Options], str]


class _Source:
    """The arguments of a command, with the author's macros expanded."""

    def __init__(self, reader: FormulaReader) -> None:
        self.reader = reader
        self._last: Sequence[str] = ()
        """Tokens of the last argument that was read."""

    def text(self) -> str:
        """Consume an argument. Return it as TeX, without white space at its ends."""
        return text_of(self._argument(lambda body: True)).strip()

    def unit(self) -> tuple[list[str], DeclaredUnits]:
        """Consume an argument that is a unit. Return its tokens, and the units that the author declared."""
        found = self._argument(lambda body: any(token in GRAMMAR for token in body))
        names = {token for token in found if token not in UNITS and self._body(token) is not None}
        return found, {name: letters_tex(self._body(name) or (), "\\,", {}) for name in names}

    def options(self, found: Sequence[str] | None) -> Options:
        """Return the current options, changed by `found`."""
        options = _current_options(self._body(SETUP) or ())
        return options if found is None else read_options(found, options)

    def error(self, found: UnitError) -> Exception:
        """Return `found` as an error at its tokens, or at the last argument if it has none."""
        blamed = [found.token, found.end] if found.token else [token for token in self._last if token != " "]
        if not blamed:
            return self.reader.syntax_error(found.message, hint=found.hint)
        return ParseError("math-syntax", found.message, blamed[0], hint=found.hint, end=blamed[-1])

    def _body(self, name: str) -> tuple[str, ...] | None:
        """Return the body of the author's macro `name`; None if it does not exist or has arguments."""
        macro = self.reader.macros.get(name) if isinstance(self.reader, TokenReader) else None
        return macro.body if isinstance(macro, Macro) and not macro.arity and not macro.delimiters else None

    def _argument(self, wanted: Callable[[Sequence[str]], bool]) -> list[str]:
        """Consume an argument. Expand each macro of the author in it for whose body `wanted` returns true."""
        self._last = self.reader.argument()
        made: list[str] = []
        stack = list(reversed(self._last))
        left = _MAX_TOKENS
        while stack:
            token = stack.pop()
            body = self._body(token) if token[0] == "\\" and token not in GRAMMAR else None
            if body is None or not wanted(body):
                made.append(token)
                continue
            left -= len(body) + 1
            if left < 0:
                raise UnitError(
                    f'macro "{token}" expands without end', "do not use a macro in its own definition"
                )
            stack.extend(reversed(move_tokens(body, token, token)))
        return made


@lru_cache(64)
def _current_options(setup: tuple[str, ...]) -> Options:
    return read_options(setup, Options())


def _command(make: _Make) -> Expander:
    """Return an expander for a command with options first. make: reads the arguments, returns TeX."""

    def expand(reader: FormulaReader, command: str) -> list[str]:
        source = _Source(reader)
        try:
            return tokens(make(source, source.options(reader.optional())))
        except UnitError as error:
            raise source.error(error) from None

    return expand


def _group(tex: str) -> str:
    """Return `tex` as one atom, so that TeX does not read a leading minus as a binary operator."""
    return tex if _PLAIN.fullmatch(tex) else f"{{{tex}}}"


def _number(source: _Source, options: Options) -> str:
    text = source.text()
    return _group(number_tex(text, options)) if text else ""


def _unit(source: _Source, options: Options) -> str:
    found, own = source.unit()
    tex = unit_tex(found, options, own)
    return f"{{\\MathMLintent{{:unit}}{{{tex}}}}}" if tex else ""


def _unit_or_number(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\unit`, also in the form `\unit[5]{kg}` of another package, units."""
    number = reader.optional()
    if number and ("=" in number or number[0].isalpha()):
        reader.push(["[", *number, "]"])
    elif number:
        return [*number, "\\,", *fill(r"\mathrm{#1}", reader.argument())]
    return _UNIT(reader, command)


def _quantity(source: _Source, options: Options) -> str:
    return _with_unit(source.text(), source, options)


def _with_unit(number: str, source: _Source, options: Options) -> str:
    # \SI{5}[\$]{}: a unit printed before the number
    before = source.reader.optional()
    found, own = source.unit()
    value = number_tex(number, options, has_unit=bool(found)) if number else ""
    return _group(text_of(before or ()) + quantity_tex(value, found, options, own))


def _angle(source: _Source, options: Options) -> str:
    text = source.text()
    if not _DEGREES.fullmatch(text):
        raise UnitError(f'invalid angle "{quote_text(text)}"', "write degrees, or `degrees;minutes;seconds`")
    parts = [part.strip() for part in text.split(";")]
    if options.angle_mode == ("decimal" if len(parts) > 1 else "arc"):
        parts = _convert_angle(parts, options.angle_mode)
    marks = ("°", "'", "''")
    product = options.number_angle_product
    values = [number_tex(part, options) if part else "" for part in parts]
    printed = [
        f"{value if mark == '°' else _group(value)}{product}{mark}"
        for value, mark in zip(values, marks, strict=False)
        if value
    ]
    return _group(options.arc_separator.join(printed))


def _convert_angle(parts: Sequence[str], mode: str) -> list[str]:
    """Convert degrees, minutes, seconds to decimal degrees if `mode` is "decimal", otherwise the reverse."""
    if not all(_DECIMAL.fullmatch(part) and part.strip("-.,") for part in parts if part):
        raise UnitError(
            f'invalid angle "{quote_text(";".join(parts))}"',
            "write degrees, minutes and seconds, as in `12;30;5`",
        )
    values = [float(part.replace(",", ".") or "0") for part in parts]
    seconds = abs(values[0]) * 3600 + sum(
        value * unit for value, unit in zip(values[1:], (60, 1), strict=False)
    )
    sign = "-" if parts[0].startswith("-") else ""
    if mode == "decimal":
        return [f"{sign}{seconds / 3600:.9f}".rstrip("0").rstrip(".")]
    minutes, rest = divmod(round(seconds, 6), 60)
    return [
        f"{sign}{int(minutes // 60)}",
        f"{int(minutes % 60)}",
        f"{rest:.6f}".rstrip("0").rstrip(".") or "0",
    ]


def _list_text(words: str) -> str:
    """Return the words that join the members of a list, as TeX."""
    return f"\\text{{{words.replace('--', '–')}}}"


def _join_members(members: Sequence[str], options: Options) -> str:
    *others, last = members
    if not others:
        return last
    final = options.list_pair_separator if len(others) == 1 else options.list_final_separator
    return _list_text(options.list_separator).join(others) + _list_text(final) + last


def _numbers(source: _Source, options: Options) -> list[str]:
    return [part.strip() for part in source.text().split(";") if part.strip()]


def _number_list(source: _Source, options: Options) -> str:
    values = [_group(number_tex(part, options)) for part in _numbers(source, options)]
    return _join_members(values, options) if values else ""


def _number_range(source: _Source, options: Options) -> str:
    values = [_group(number_tex(source.text(), options)) for _ in range(2)]
    return _list_text(options.range_phrase).join(values)


def _quantities(
    numbers: Sequence[str],
    source: _Source,
    options: Options,
    units: str,
    join: Callable[[Sequence[str]], str],
) -> str:
    """Return several numbers with their unit. join: joins the printed numbers.

    units: `repeat` prints the unit after each number, `bracket` once after all numbers in brackets, `single`
    once after the last number. `power` and `bracket-power` raise the unit to the count of numbers.
    """
    found, own = source.unit()
    if units == "repeat":
        members = [number_tex(number, options, has_unit=True) for number in numbers]
        return join([_group(quantity_tex(value, found, options, own)) for value in members])
    joined = join([_group(number_tex(number, options)) for number in numbers])
    if units.endswith("power"):
        power = (
            raise_unit(found, len(numbers), options, own)
            if len(numbers) > 1
            else unit_tex(found, options, own)
        )
        bracketed = f"({joined})" if units.startswith("bracket") else joined
        return f"{bracketed}{joiner(options.quantity_product)}{power}"
    return quantity_tex(f"({joined})" if units == "bracket" else joined, found, options, own)


def _quantity_list(source: _Source, options: Options) -> str:
    numbers = _numbers(source, options)
    if not numbers:
        raise UnitError("missing list of numbers", "write the numbers with `;` between them, as in `1;2;3`")
    return _quantities(
        numbers, source, options, options.list_units, lambda parts: _join_members(parts, options)
    )


def _quantity_range(source: _Source, options: Options) -> str:
    numbers = [source.text(), source.text()]
    return _quantities(numbers, source, options, options.range_units, _list_text(options.range_phrase).join)


def _factors(source: _Source) -> list[str]:
    return [part.strip() for part in FACTOR_SIGN.split(source.text())]


def _times(options: Options) -> str:
    return joiner(options.product_symbol)


def _number_product(source: _Source, options: Options) -> str:
    return _times(options).join(_group(number_tex(part, options)) for part in _factors(source))


def _quantity_product(source: _Source, options: Options) -> str:
    return _quantities(_factors(source), source, options, options.product_units, _times(options).join)


def _setup(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\sisetup{…}`: set options for the rest of the group."""
    found = reader.argument()
    try:
        read_options(found, Options())
    except UnitError as error:
        raise _Source(reader).error(error) from None
    if isinstance(reader, TokenReader):
        before = reader.macros.get(SETUP)
        entries = [*(before.body if isinstance(before, Macro) else ()), ",", *found]
        reader.define(SETUP, Macro(0, None, single_entries(entries)))
    return []


def _declare(reader: FormulaReader, command: str) -> list[str]:
    r"""Expand `\DeclareSIUnit\name{symbol}`: define a unit for the rest of the group."""
    reader.optional()
    name, symbol = text_of(reader.argument()).strip(), reader.argument()
    if name[:1] != "\\":
        raise reader.syntax_error(
            f'invalid unit name "{quote_text(name)}" after "{command}": expected a command',
            hint="write a name with a backslash, such as `\\furlong`",
        )
    if isinstance(reader, TokenReader):
        reader.define(name, Macro(0, None, tuple(symbol)))
    return []


_NUMBER, _UNIT, _QUANTITY = _command(_number), _command(_unit), _command(_quantity)

EXPANDERS: Mapping[str, Expander] = MappingProxyType(
    {
        **dict.fromkeys(("\\num", "\\tablenum", "\\complexnum"), _NUMBER),
        **dict.fromkeys(("\\unit", "\\si"), _unit_or_number),
        **dict.fromkeys(("\\qty", "\\SI", "\\complexqty"), _QUANTITY),
        "\\ang": _command(_angle),
        "\\numlist": _command(_number_list),
        "\\numrange": _command(_number_range),
        "\\numproduct": _command(_number_product),
        **dict.fromkeys(("\\qtylist", "\\SIlist"), _command(_quantity_list)),
        **dict.fromkeys(("\\qtyrange", "\\SIrange"), _command(_quantity_range)),
        "\\qtyproduct": _command(_quantity_product),
        "\\sisetup": _setup,
        "\\DeclareSIUnit": _declare,
    }
)
r"""Commands of siunitx, with its own `\qty`. The physics package decides which `\qty` is used."""
