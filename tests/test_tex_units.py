"""siunitx: conversion of numbers, units, quantities, lists and angles to plain TeX."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.tex.packages.siunitx.expanders import EXPANDERS
from blogsmith.tex.packages.siunitx.unit_names import PREFIXES, UNITS
from blogsmith.tex.parse.errors import ParseError
from blogsmith.tex.parse.reader import TokenReader
from blogsmith.tex.parse.scan import PlacedToken, split_with_positions
from tests.rows import each_row

from .tex_expansion import complaint, expand


def check(tex: str, made: str) -> None:
    assert expand(tex, EXPANDERS) == made


@each_row(
    ("number", "made"),
    [
        ("123", "123"),
        ("1234", "1234"),
        ("98765", r"{98\,765}"),
        ("1234567.891011", r"{1\,234\,567.891\,011}"),
        ("0.12345", r"{0.123\,45}"),
        (".5", "0.5"),
        ("7.", "7"),
        ("3,14", "3.14"),
        ("12 345", r"{12\,345}"),
        ("+5", "5"),
        ("-5", "{-5}"),
        ("−5", "{-5}"),
        (r"\pm 3", r"{\pm 3}"),
        ("6.02e23", r"{6.02\times 10^{23}}"),
        ("1E-3", r"{1\times 10^{-3}}"),
        ("1d+4", r"{1\times 10^{4}}"),
        ("e7", "{10^{7}}"),
        ("-e7", "{-10^{7}}"),
        ("2e0", "2"),
        ("1.23(4)", "{1.23(4)}"),
        ("1.23(4)e-2", r"{1.23(4)\times 10^{-2}}"),
        ("1.23 +- 0.15", "{1.23(15)}"),
        (r"8.2 \pm 0.13", "{8.20(13)}"),
        ("12.3(1.5)", "{12.3(15)}"),
        ("1.2(3)(4)", "{1.2(3)(4)}"),
        ("> 5", "{>5}"),
        (r"\approx 5e3", r"{\approx 5\times 10^{3}}"),
        ("<= 3", r"{\le 3}"),
        ("2 x 3.5 x 4", r"{2\times 3.5\times 4}"),
        ("1/3", "{1/3}"),
        ("1+2i", r"{1+2\mathrm{i}}"),
        ("3-4j", r"{3-4\mathrm{i}}"),
        ("-i", r"{-\mathrm{i}}"),
        ("1+2ie3", r"{(1+2\mathrm{i})\times 10^{3}}"),
        (r"2\pi", r"{2\pi}"),
        ("", ""),
    ],
)
def test_numbers(number: str, made: str) -> None:
    check(rf"\num{{{number}}}", made)


@each_row(
    ("options", "number", "made"),
    [
        ("group-digits=false", "12345.67891", "12345.67891"),
        ("group-digits=integer", "12345.67891", r"{12\,345.67891}"),
        ("group-digits=decimal", "12345.67891", r"{12345.678\,91}"),
        ("group-separator={,}", "12345", "{12{,}345}"),
        ("group-minimum-digits=4", "1234", r"{1\,234}"),
        ("group-four-digits", "1234", r"{1\,234}"),
        ("output-decimal-marker={,}", "1.5", "{1{,}5}"),
        ("locale=DE", "1234.5e3", r"{1234{,}5\cdot 10^{3}}"),
        (r"exponent-product=\cdot", "1e3", r"{1\cdot 10^{3}}"),
        ("tight-spacing", "1e3", r"{1{\times} 10^{3}}"),
        ("exponent-base=2", "1e3", r"{1\times 2^{3}}"),
        ("output-exponent-marker=e", "1e-3", r"{1\mathrm{e}-3}"),
        ("print-unity-mantissa=false", "1e3", "{10^{3}}"),
        ("retain-unity-mantissa=false", "1e3", "{10^{3}}"),
        ("print-zero-exponent", "2e0", r"{2\times 10^{0}}"),
        ("retain-explicit-plus", "+5", "{+5}"),
        ("print-implicit-plus", "5", "{+5}"),
        ("explicit-sign=+", "5", "{+5}"),
        ("bracket-negative-numbers", "-5", "{(5)}"),
        ("separate-uncertainty", "1.23(4)", r"{1.23\pm 0.04}"),
        ("separate-uncertainty", "1.23(4)e5", r"{(1.23\pm 0.04)\times 10^{5}}"),
        ("uncertainty-mode=full", "12.3(15)", "{12.3(1.5)}"),
        ("uncertainty-mode=compact-marker", "12.3(15)", "{12.3(1.5)}"),
        ("uncertainty-mode=compact-marker", "12.3(4)", "{12.3(4)}"),
        ("drop-uncertainty", "1.23(4)", "1.23"),
        ("drop-exponent", "2e5", "2"),
        ("drop-zero-decimal", "2.00", "2"),
        ("minimum-decimal-digits=2", "2.1", "2.10"),
        ("minimum-integer-digits=2", "7", "07"),
        ("parse-numbers=false", "x^2", "{x^2}"),
        ("quotient-mode=fraction", "1/3", r"{\frac{1}{3}}"),
        (r"output-product=\cdot", "2 x 3", r"{2\cdot 3}"),
        ("complex-root-position=before-number", "1+2i", r"{1+\mathrm{i}2}"),
        ("detect-all, mode=text", "5", "5"),
        ("", "5", "5"),
    ],
)
def test_options_of_numbers(options: str, number: str, made: str) -> None:
    check(rf"\num[{options}]{{{number}}}", made)


@each_row(
    ("mode", "precision", "number", "made"),
    [
        ("places", 1, "1.25", "1.3"),
        ("places", 1, "1.24", "1.2"),
        ("places", 2, "1", "1.00"),
        ("places", 0, "99.5", "100"),
        ("places", 1, "0.04", "0.0"),
        ("places", 1, "1.26e5", r"{1.3\times 10^{5}}"),
        ("figures", 3, "1234.5", "1230"),
        ("figures", 2, "0.001256", "0.0013"),
        ("figures", 2, "9.99", "10"),
        ("figures", 2, "0.00999", "0.010"),
        ("figures", 3, "7", "7.00"),
        ("figures", 2, "0", "0"),
        ("uncertainty", 1, "1.2345(67)", "{1.235(7)}"),
        ("uncertainty", 1, "1.2345", "1.2345"),
        ("places", 1, "1.2345(67)", "{1.2345(67)}"),
    ],
)
def test_rounding(mode: str, precision: int, number: str, made: str) -> None:
    check(rf"\num[round-mode={mode}, round-precision={precision}]{{{number}}}", made)


def test_a_tie_can_go_to_the_even_digit() -> None:
    options = "round-half=even, round-mode=places, round-precision=1"
    check(rf"\num[{options}]{{1.25}}", "1.2")
    check(rf"\num[{options}]{{1.35}}", "1.4")
    check(rf"\num[{options}]{{1.2501}}", "1.3")


def test_rounding_need_not_pad() -> None:
    check(r"\num[round-mode=places, round-pad=false]{1}", "1")


@each_row(
    ("options", "number", "made"),
    [
        ("exponent-mode=scientific", "12345", r"{1.2345\times 10^{4}}"),
        ("scientific-notation=true", "0.00123", r"{1.23\times 10^{-3}}"),
        ("exponent-mode=engineering", "12345", r"{12.345\times 10^{3}}"),
        ("exponent-mode=engineering", "0.00012", r"{120\times 10^{-6}}"),
        ("exponent-mode=fixed, fixed-exponent=3", "12345", r"{12.345\times 10^{3}}"),
        ("exponent-mode=fixed, fixed-exponent=-2", "0.5", r"{50\times 10^{-2}}"),
        ("exponent-mode=fixed, fixed-exponent=0", "1.2(3)e4", r"{12\,000(3000)}"),
        ("exponent-mode=scientific", "0.0", "0.0"),
    ],
)
def test_exponents_can_be_asked_for(options: str, number: str, made: str) -> None:
    check(rf"\num[{options}]{{{number}}}", made)


@each_row(
    ("unit", "made"),
    [
        (r"\kilo\gram\metre\per\square\second", r"{\mathrm{kg}\,\mathrm{m}\,\mathrm{s}^{-2}}"),
        (r"\joule\per\mole\per\kelvin", r"{\mathrm{J}\,\mathrm{mol}^{-1}\,\mathrm{K}^{-1}}"),
        (r"\cubic\centi\metre", r"{\mathrm{cm}^{3}}"),
        (r"\metre\squared\cubed", r"{\mathrm{m}^{3}}"),
        (r"\raiseto{4}\metre", r"{\mathrm{m}^{4}}"),
        (r"\second\tothe{-1/2}", r"{\mathrm{s}^{-1/2}}"),
        (r"\per\second\tothe{-1}", r"{\mathrm{s}}"),
        (r"\km\per\hour", r"{\mathrm{km}\,\mathrm{h}^{-1}}"),
        (r"\kibi\byte", r"{\mathrm{KiB}}"),
        (r"\kWh", r"{\mathrm{kWh}}"),
        (r"\degreeCelsius", r"{\mathrm{°C}}"),
        (r"\micro\ohm", r"{\mathrm{μΩ}}"),
        (r"\degree", "{°}"),
        (r"\arcsecond", r"{{}''}"),
        (r"\percent", r"{\%}"),
        (r"\bohr\squared", r"{{a_{0}}^{2}}"),
        (r"\kilo\hartree", r"{\mathrm{k}E_{\mathrm{h}}}"),
        (r"\kilo\gram\of{metal}", r"{\mathrm{kg}_{\mathrm{metal}}}"),
        ("m.s^{-1}", r"{\mathrm{m}\,\mathrm{s}^{-1}}"),
        ("m.s^-1", r"{\mathrm{m}\,\mathrm{s}^{-1}}"),
        ("kg~m/s^2", r"{\mathrm{kg}\,\mathrm{m}/\mathrm{s}^{2}}"),
        ("N m", r"{\mathrm{N}\,\mathrm{m}}"),
        ("m_x", r"{\mathrm{m}_{\mathrm{x}}}"),
        (r"\micro m\squared", r"{\mathrm{μm}^{2}}"),
        (r"\kilo\metre/h", r"{\mathrm{km}/\mathrm{h}}"),
        (r"m\per s", r"{\mathrm{m}/\mathrm{s}}"),
        (r"\text{a.u.}", r"{\text{a.u.}}"),
        (r"N\cdot m", r"{\mathrm{N}\cdot \mathrm{m}}"),
        ("", ""),
    ],
)
def test_units(unit: str, made: str) -> None:
    check(rf"\unit{{{unit}}}", made)
    check(rf"\si{{{unit}}}", made)


@each_row(
    ("options", "unit", "made"),
    [
        ("per-mode=symbol", r"\metre\per\second", r"{\mathrm{m}/\mathrm{s}}"),
        ("per-mode=symbol", r"\joule\per\mole\per\kelvin", r"{\mathrm{J}/(\mathrm{mol}\,\mathrm{K})}"),
        (
            "per-mode=symbol, bracket-unit-denominator=false",
            r"\joule\per\mole\per\kelvin",
            r"{\mathrm{J}/\mathrm{mol}\,\mathrm{K}}",
        ),
        ("per-mode=symbol", r"\per\second", r"{1/\mathrm{s}}"),
        (r"per-mode=symbol, per-symbol=\div", r"\metre\per\second", r"{\mathrm{m}\div \mathrm{s}}"),
        ("per-mode=fraction", r"\metre\per\second\squared", r"{\frac{\mathrm{m}}{\mathrm{s}^{2}}}"),
        (r"per-mode=fraction, fraction-command=\tfrac", r"\per\second", r"{\tfrac{1}{\mathrm{s}}}"),
        ("per-mode=repeated-symbol", r"\joule\per\mole\per\kelvin", r"{\mathrm{J}/\mathrm{mol}/\mathrm{K}}"),
        ("per-mode=single-symbol", r"\metre\per\second", r"{\mathrm{m}/\mathrm{s}}"),
        ("per-mode=single-symbol", r"\per\mole\per\second", r"{\mathrm{mol}^{-1}\,\mathrm{s}^{-1}}"),
        ("per-mode=reciprocal", r"\metre\per\second", r"{\mathrm{m}\,\mathrm{s}^{-1}}"),
        ("per-mode=power-positive-first", r"\per\second\metre", r"{\mathrm{m}\,\mathrm{s}^{-1}}"),
        ("sticky-per", r"\joule\per\mole\kelvin", r"{\mathrm{J}\,\mathrm{mol}^{-1}\,\mathrm{K}^{-1}}"),
        (r"inter-unit-product=\cdot", r"\newton\metre", r"{\mathrm{N}\cdot \mathrm{m}}"),
        ("qualifier-mode=bracket", r"\gram\of{Fe}", r"{\mathrm{g}(\mathrm{Fe})}"),
        ("qualifier-mode=combine", r"\decibel\of{m}", r"{\mathrm{dB}\mathrm{m}}"),
        (
            "qualifier-mode=phrase, qualifier-phrase={ of }",
            r"\gram\of{Fe}",
            r"{\mathrm{g}\text{ of }\mathrm{Fe}}",
        ),
        ("parse-units=false", "abc", r"{\mathrm{abc}}"),
    ],
)
def test_options_of_units(options: str, unit: str, made: str) -> None:
    check(rf"\unit[{options}]{{{unit}}}", made)


@each_row(
    ("tex", "made"),
    [
        (r"\qty{5}{\metre}", r"{5\,\mathrm{m}}"),
        (r"\SI{5}{m}", r"{5\,\mathrm{m}}"),
        (r"\qty{5e3}{\km\per\hour}", r"{5\times 10^{3}\,\mathrm{km}\,\mathrm{h}^{-1}}"),
        (r"\qty{30}{\degree}", "{30°}"),
        (r"\qty{5}{\arcminute}", r"{{5}'}"),
        (r"\qty{12}{\percent}", r"{12\,\%}"),
        (r"\qty{-40}{\celsius}", r"{-40\,\mathrm{°C}}"),
        (r"\qty[separate-uncertainty]{1.2(3)}{m}", r"{(1.2\pm 0.3)\,\mathrm{m}}"),
        (r"\qty[per-mode=symbol]{5}{\per\second}", r"{5/\mathrm{s}}"),
        (r"\qty[per-mode=fraction]{5}{\per\second}", r"{5\,\frac{1}{\mathrm{s}}}"),
        (r"\qty[quantity-product={~}]{5}{m}", r"{5~\mathrm{m}}"),
        (r"\SI[number-unit-separator=\;]{5}{m}", r"{5\;\mathrm{m}}"),
        (r"\SI{5}[\$]{}", r"{\$5}"),
        (r"\SI{}{\metre}", r"{\mathrm{m}}"),
    ],
)
def test_quantities(tex: str, made: str) -> None:
    check(tex, made)


@each_row(
    ("tex", "made"),
    [
        (r"\numlist{1;2;3}", r"1\text{, }2\text{ and }3"),
        (r"\numlist{1;-2}", r"1\text{ and }{-2}"),
        (r"\numlist{7}", "7"),
        (r"\numlist[list-final-separator={, and }]{1;2;3}", r"1\text{, }2\text{, and }3"),
        (r"\numrange{1}{-5}", r"1\text{ to }{-5}"),
        (r"\numrange[range-phrase=--]{1}{5}", r"1\text{–}5"),
        (r"\numproduct{2 x 3 x 4}", r"2\times 3\times 4"),
        (r"\SIlist{1;2}{m}", r"{1\,\mathrm{m}}\text{ and }{2\,\mathrm{m}}"),
        (r"\qtylist[list-units=single]{1;2}{m}", r"1\text{ and }2\,\mathrm{m}"),
        (r"\qtylist[list-units=brackets]{1;2}{m}", r"(1\text{ and }2)\,\mathrm{m}"),
        (r"\SIrange{1}{5}{\metre}", r"{1\,\mathrm{m}}\text{ to }{5\,\mathrm{m}}"),
        (r"\qtyrange[range-units=single]{1}{5}{\percent}", r"1\text{ to }5\,\%"),
        (r"\qtyproduct{2 x 3}{m}", r"{2\,\mathrm{m}}\times {3\,\mathrm{m}}"),
        (r"\qtyproduct[product-units=power]{2 x 3}{m}", r"2\times 3\,\mathrm{m}^{2}"),
        (r"\qtyproduct[product-units=bracket-power]{2 x 3}{m}", r"(2\times 3)\,\mathrm{m}^{2}"),
        (r"\qtyproduct[product-units=single]{2 x 3}{m}", r"2\times 3\,\mathrm{m}"),
    ],
)
def test_lists_ranges_and_products(tex: str, made: str) -> None:
    check(tex, made)


@each_row(
    ("tex", "made"),
    [
        (r"\ang{10}", "{10°}"),
        (r"\ang{-12.3}", "{-12.3°}"),
        (r"\ang{1;2;3}", r"{1°2'3''}"),
        (r"\ang{;;1.5}", r"{1.5''}"),
        (r"\ang[arc-separator=\,]{1;2;}", r"{1°\,2'}"),
        (r"\ang[angle-mode=arc]{12.51}", r"{12°30'36''}"),
        (r"\ang[angle-mode=decimal]{-1;30;}", "{-1.5°}"),
    ],
)
def test_angles(tex: str, made: str) -> None:
    check(tex, made)


def test_options_of_a_formula_hold_from_there_on() -> None:
    check(
        r"\unit{\per\second}\sisetup{per-mode=symbol}\sisetup{locale=DE}\qty{1.5}{\metre\per\second}",
        r"{\mathrm{s}^{-1}}{1{,}5\,\mathrm{m}/\mathrm{s}}",
    )


def test_options_of_a_command_win() -> None:
    check(r"\sisetup{per-mode=symbol}\unit[per-mode=fraction]{\per\second}", r"{\frac{1}{\mathrm{s}}}")


def test_units_of_the_author() -> None:
    check(r"\DeclareSIUnit\flop{FLOP}\unit{\giga\flop\per\second}", r"{\mathrm{GFLOP}\,\mathrm{s}^{-1}}")
    check(
        r"\DeclareSIUnit{\speed}{\metre\per\second}\unit[per-mode=symbol]{\kilo\speed}",
        r"{\mathrm{km}/\mathrm{s}}",
    )


def test_macros_of_the_author() -> None:
    macros = {r"\many": "12", r"\token": "token", r"\m": "wrong"}
    assert expand(r"\num{\many e3}", EXPANDERS, macros) == r"{12\times 10^{3}}"
    assert expand(r"\unit{\kilo\token\per\s}", EXPANDERS, macros) == r"{\mathrm{ktoken}\,\mathrm{s}^{-1}}"
    assert expand(r"\unit{\m}", EXPANDERS, macros) == r"{\mathrm{m}}"


@each_row(
    ("tex", "message", "hint"),
    [
        (
            r"\num{abc}",
            'invalid number "abc"',
            "write `[parse-numbers=false]` after the command to print it unchanged",
        ),
        (
            r"\num{1.2.3}",
            'invalid number "1.2.3"',
            "write `[parse-numbers=false]` after the command to print it unchanged",
        ),
        (r"\num{2 x}", "missing number", "write a number such as `1.5e3`"),
        (
            r"\num[grup-digits=false]{1}",
            'unknown siunitx option "grup-digits"',
            "did you mean `group-digits`?",
        ),
        (
            r"\num[round-mode=nearest]{1}",
            'invalid value "nearest" of "round-mode"',
            "write one of `none`, `places`, `figures`, `uncertainty`",
        ),
        (
            r"\num[round-pad=maybe]{1}",
            'invalid value "maybe" of "round-pad": expected true or false',
            "write `true` or `false`",
        ),
        (
            r"\num[round-precision=1000]{1}",
            'invalid value "1000" of "round-precision": expected a number up to 99',
            "write a smaller whole number",
        ),
        (
            r"\num[locale=XX]{1}",
            'unknown locale "XX"',
            "write one of `DE`, `FR`, `PL`, `SI`, `UK`, `US`, `USA`, `ZA`",
        ),
        (
            r"\num[exponent-mode=fixed]{1e500}",
            "exponent is too large: the decimal marker would move by 500 places",
            "write a smaller exponent, or remove the option `exponent-mode`",
        ),
        (r"\unit{\kilo\meterr}", r'unknown unit "\meterr"', r"did you mean `\meter`?"),
        (r"\unit{\Metre}", r'unknown unit "\Metre"', r"did you mean `\metre`?"),
        (r"\unit{\kilo}", r'missing unit after "\kilo"', "write a unit such as `\\kilo\\metre`"),
        (r"\unit{\squared}", r'missing unit before "\squared"', "write a unit such as `\\metre\\squared`"),
        (r"\unit{\metre\tothe}", r'missing argument of "\tothe"', "write `\\tothe{…}`"),
        (
            r"\unit{m\square s}",
            r'"\square" is not allowed in a unit written in letters',
            "write `^` for a power",
        ),
        (r"\ang{1;2;3;4}", 'invalid angle "1;2;3;4"', "write degrees, or `degrees;minutes;seconds`"),
        (
            r"\ang[angle-mode=arc]{x}",
            'invalid angle "x"',
            "write degrees, minutes and seconds, as in `12;30;5`",
        ),
        (
            r"\SIlist{}{m}",
            "missing list of numbers",
            "write the numbers with `;` between them, as in `1;2;3`",
        ),
        (
            r"\sisetup{nonsense=1}",
            'unknown siunitx option "nonsense"',
            "remove it: this option is not supported",
        ),
        (
            r"\DeclareSIUnit{x}{y}",
            r'invalid unit name "x" after "\DeclareSIUnit": expected a command',
            "write a name with a backslash, such as `\\furlong`",
        ),
        (
            r"\DeclareSIUnit\loop{\loop\metre}\unit{\loop}",
            r'macro "\loop" expands without end',
            "do not use a macro in its own definition",
        ),
    ],
)
def test_mistakes(tex: str, message: str, hint: str) -> None:
    assert complaint(tex, EXPANDERS)[:2] == (message, hint)


@each_row(
    ("tex", "blamed"),
    [
        (r"\num{1.2.3}", "1.2"),
        (r"\qty{1}{\kilo\meterr}", r"\meterr"),
        (r"\qty{1}{\kilo}", r"\kilo"),
        (r"\SIlist{}{m}", r"\SIlist"),
        (r"\ang{x}", "x"),
        (r"\DeclareSIUnit xy", r"\DeclareSIUnit"),
    ],
)
def test_what_is_blamed(tex: str, blamed: str) -> None:
    assert complaint(tex, EXPANDERS)[2] == blamed


def test_the_name_of_an_option_is_blamed() -> None:
    place = r"\num[round-mode=places, grup-digits=false]{1}"
    reader = TokenReader(split_with_positions(place), {})
    command = reader.pop()
    with pytest.raises(ParseError) as caught:
        EXPANDERS[command](reader, command)
    first, last = caught.value.token, caught.value.end
    assert isinstance(first, PlacedToken) and isinstance(last, PlacedToken)
    assert place[first.offset : last.offset + last.length] == "grup-digits"


@each_row("name", sorted(UNITS))
def test_every_unit_takes_prefix_and_power(name: str) -> None:
    made = expand(rf"\unit{{\kilo{name}\squared}}", EXPANDERS)
    assert made.startswith(("{\\mathrm{k", "{{\\mathrm{k")), made
    assert made.endswith("^{2}}")


def test_prefixes_of_the_si_and_of_bytes() -> None:
    assert len(PREFIXES) == 24 + 8 + 1  # deca and deka


_PIECES = [
    *(
        "1",
        "23.5",
        "e",
        "x",
        "i",
        "(",
        ")",
        "+-",
        "-",
        ";",
        ",",
        "=",
        "/",
        "^",
        "_",
        "{",
        "}",
        "[",
        "]",
        " ",
        "~",
    ),
    *(
        r"\kilo",
        r"\metre",
        r"\per",
        r"\squared",
        r"\tothe",
        r"\of",
        r"\square",
        r"\pm",
        r"\times",
        r"\unknown",
    ),
    *("per-mode", "symbol", "round-mode", "figures", "fixed-exponent"),
    *sorted(EXPANDERS),
]


@given(st.lists(st.sampled_from(_PIECES), max_size=20))
def test_junk_is_an_error_of_the_author(pieces: list[str]) -> None:
    try:
        made = expand("".join(pieces), EXPANDERS)
    except ParseError as wrong:
        assert wrong.message
    else:
        assert isinstance(made, str)


def test_long_numbers_and_units_take_linear_time() -> None:
    digits = "9" * 30_000
    check(rf"\num[round-mode=places, round-precision=0, group-digits=none]{{{digits}.5}}", "1" + "0" * 30_000)
    made = expand(r"\unit{" + r"\metre" * 5_000 + "}", EXPANDERS)
    assert made.count("\\mathrm{m}") == 5_000
