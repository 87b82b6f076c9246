"""Reads the symbols and words of a formula: operators, arrows, bonds, charges, states, punctuation.

A `+` between spaces is an operator, after an atom a charge. A `-` can also be a bond or a hyphen.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ....base.patterns import lazy_pattern
from .commands import BLANK, GREEK, control, mathematics, text
from .scan import Attachment, ChemicalFormula
from .scripts import DASHES, MINUS, PRIMES, SCRIPT_CHARACTERS, decimal, primes

_OPERATORS: Mapping[str, str] = MappingProxyType(
    {
        **{sign: sign for sign in "+-=<>"},
        **dict.fromkeys(MINUS, "-"),
        **{"<<": r"\ll", "≪": r"\ll", ">>": r"\gg", "≫": r"\gg"},
        **{"<=": r"\leq", "≤": r"\leq", ">=": r"\geq", "≥": r"\geq", "≠": r"\neq", "≈": r"\approx"},
        **{"+-": r"\pm", "±": r"\pm", "∓": r"\mp", "×": r"\times"},
    }
)
_COMMANDS = r"""
\pm \mp \times \approx \sim \simeq \cong \equiv \propto \leq \le \geq \ge \neq \ne \ll \gg \lt \gt \to \gets
\rightarrow \leftarrow \leftrightarrow \longrightarrow \longleftarrow \longleftrightarrow
\rightleftharpoons \Rightarrow \Leftarrow \Leftrightarrow
"""
OPERATOR_COMMANDS = frozenset(_COMMANDS.split())
"""Commands that are operators between two formulas."""

# before these, a space is read but not printed
_OPERATOR = lazy_pattern(rf"(?:<<|>>|<=|>=|\+-|[{MINUS}+=<>])(?=\s|$)|[±∓×≈≤≥≠≪≫]")
_PLUS = lazy_pattern(r"\+(?=[A-Z(\[])")
_MATH_OPERATOR = lazy_pattern(r"\$\s*([-+=<>]|\\[a-z]+)\s*\$")
_MARK = lazy_pattern(r"(?:\(([v^])\)|([v^]))(?=\s|$|[,;.])|([↑↓])")
_TIGHT = lazy_pattern(r"[*·•,;)\]&]|\\\\|\.(?![\d.])|\\cdot(?![A-Za-z])")
_COMMAND = lazy_pattern(r"\\[A-Za-z]+")
_BLANKS = lazy_pattern(r"\s+")

_ITEM = r"(?:[a-z]{1,3}|(?:\\ca\s?)?\$[^${}()]{1,40}\$)"
_STATE = lazy_pattern(rf"\(({_ITEM}(?:,\s*{_ITEM})*)\)(?=\s|$|[,;.)\]]|\\\}})")
_STATE_WORD = lazy_pattern("[a-z]+")

_ARGUMENT = lazy_pattern(r"([CT]?)(?=\[)")
_CHARGE = lazy_pattern(rf"(?:\+|[{MINUS}](?![{MINUS}>]))+")
# a minus sign before these is a charge
_CHARGE_END = lazy_pattern(rf"[{MINUS}]+(?=\s|$|[,;)\]&]|\{{\}}|\\[\\}}]|\([a-z]{{1,3}}\))")
_DIGIT_AHEAD = lazy_pattern(rf"[{MINUS}]\d")
_ELLIPSIS = lazy_pattern(r"\.{3,4}")
_MORE = lazy_pattern(r"(?=[^\s,;)\]}])")


def blank(formula: ChemicalFormula) -> None:
    """Read white space and the operator, arrow or state after it. Also called at the start of the input."""
    scan = formula.scan
    scan.accept(BLANK)
    if not scan.next_character or take_arrow(formula) or take_operator(formula):
        return
    if formula.parts and scan.accept(_PLUS) is not None:
        add_operator(formula, "+")
    elif (mark := scan.accept(_MARK)) is not None:
        add_mark(formula, mark.group(1) or mark.group(2) or mark.group(3))
    elif (operator := scan.peek_match(_MATH_OPERATOR)) is not None and _stands_between(operator.group(1)):
        scan.place = operator.end()
        add_operator(formula, operator.group(1))
    elif (command := scan.peek_match(_COMMAND)) is not None and command.group() in OPERATOR_COMMANDS:
        return
    elif not (scan.peek_match(_TIGHT) or scan.peek_match(_STATE)) and formula.side is not Attachment.EDGE:
        formula.add("~", Attachment.EDGE)


def take_operator(formula: ChemicalFormula) -> bool:
    """Read the operator between two formulas, if one is next. Return whether there was one."""
    operator = formula.scan.accept(_OPERATOR)
    if operator is not None:
        add_operator(formula, _OPERATORS[operator.group()])
    return operator is not None


def _stands_between(sign: str) -> bool:
    return sign in _OPERATORS or sign in OPERATOR_COMMANDS


def add_operator(formula: ChemicalFormula, sign: str) -> None:
    """Add an operator with space on both sides, even if a formula is missing on one side."""
    formula.add("{}" + sign + "{}", Attachment.EDGE)


def add_mark(formula: ChemicalFormula, sign: str) -> None:
    """Add the arrow that marks a gas (up) or a precipitate (down)."""
    formula.add(r"\uparrow{}" if sign in "^↑" else r"\downarrow{}")


def take_arrow(formula: ChemicalFormula) -> bool:
    """Read the reaction arrow with its labels, if one is next. Return whether there was one."""
    scan = formula.scan
    sign = scan.accept(ARROW)
    if sign is None:
        return False
    texts: list[str] = []
    while len(texts) < 2 and (kind := scan.accept(_ARGUMENT)) is not None:
        inner = scan.take_bracket()
        texts.append(text(inner) if kind.group(1) == "T" else inner.chemistry())
    above, below = (*texts, "", "")[:2]
    formula.add(arrow(sign.group(), above, below), Attachment.EDGE)
    return True


def take_state(formula: ChemicalFormula) -> bool:
    """Read the state of aggregation, if one is next. Return whether there was one."""
    inner = formula.scan.take_match(_STATE)
    if inner is None:
        return False
    made = [r"\mkern2mu "]
    while inner.next_character:
        if (word := inner.accept(_STATE_WORD)) is not None:
            made.append(rf"\mathrm{{{word.group()}}}")
        elif inner.next_character == "$":
            made.append(mathematics(inner))
        else:
            made.append(control(inner) if inner.next_character == "\\" else inner.pop())
    formula.add("".join(made))
    return True


def plus(formula: ChemicalFormula) -> None:
    """Read a `+` without space before it: a charge, or a plain sign."""
    scan, side = formula.scan, formula.side
    if formula.may_be_charged and (charge := scan.accept(_CHARGE)) is not None:
        formula.upper(charge.group().translate(DASHES))
    else:
        scan.pop()
        formula.add(r"\mathord{+}\," if side is Attachment.EDGE else r"\mathord{+}", Attachment.JOINT)


def minus(formula: ChemicalFormula) -> None:
    """Read a `-` without space before it: a charge, a hyphen or a bond."""
    scan = formula.scan
    if formula.may_be_charged and not formula.begins_with_bond[-1]:
        charge = scan.accept(_CHARGE_END)
        if charge is not None:
            formula.upper(charge.group().translate(DASHES))
            return
    last = formula.parts[-1] if formula.parts else None
    is_hyphen = (
        formula.small
        or (formula.side is Attachment.ATOM and scan.peek_match(_DIGIT_AHEAD))
        or (formula.side is Attachment.LOOSE and last is not None and last.tex[-1:].isdigit())
    )
    scan.pop()
    formula.begins_with_bond[-1] = formula.begins_with_bond[-1] or formula.side is Attachment.EDGE
    formula.add(HYPHEN if is_hyphen else BONDS["-"], Attachment.JOINT)


def dots(formula: ChemicalFormula) -> None:
    """Read dots: a dotted bond, an ellipsis, or the dot of an addition compound."""
    scan = formula.scan
    if (ellipsis := scan.accept(_ELLIPSIS)) is not None:
        is_bond = formula.side in (Attachment.ATOM, Attachment.SCRIPT) and scan.peek_match(_MORE)
        formula.add(BONDS[ellipsis.group()] if is_bond else r"\ldots ", Attachment.JOINT)
    else:
        scan.pop()
        addition(formula)


def addition(formula: ChemicalFormula) -> None:
    """Add the dot between the components of an addition compound."""
    formula.scan.accept(BLANK)
    formula.add(r"\,{\cdot}\,", Attachment.EDGE)


def comma(formula: ChemicalFormula) -> None:
    """Read a comma or a semicolon."""
    mark = formula.scan.pop()
    has_blank = formula.scan.accept(_BLANKS) is not None
    width, side = ("6mu", Attachment.EDGE) if has_blank else ("3mu", Attachment.JOINT)
    formula.add(rf"{{{mark}}}\mkern{width} ", side)


# Reaction arrows and bonds as TeX. Every arrow grows with its labels. Bonds are similar symbols, without the
# space of a relation. Dashed bonds are drawn, because no symbol is similar.


ARROW = lazy_pattern(r"<=>>|<<=>|<=>|<-->|<->|-->|->|<-|[→⟶←⟵↔⟷⇌⇄]")
"""Matches a reaction arrow as authors write it."""

_GROWING: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("->", "-->", "→", "⟶"), "xrightarrow"),
        **dict.fromkeys(("<-", "←", "⟵"), "xleftarrow"),
        **dict.fromkeys(("<->", "↔", "⟷"), "xleftrightarrow"),
        **dict.fromkeys(("<-->", "⇄"), "xtofrom"),
        **dict.fromkeys(("<=>", "⇌"), "xrightleftharpoons"),
    }
)

_DASH = r"\rule[.225em]{.15em}{.066em}"
_DASHES = rf"\mkern1mu{_DASH}\mkern1.3mu{_DASH}\mkern1.3mu{_DASH}\mkern1mu"
_LINE = r"\mathord{-}"


def _stack(*lines: str) -> str:
    """Return lines stacked one above the other. Two lines are placed symmetrically around the middle."""
    step = ".1em" if len(lines) == 2 else ".2em"
    raises = (step, f"-{step}") if len(lines) == 2 else (step, "0em", f"-{step}")
    drawn = [rf"\raisebox{{{rise}}}{{${line}$}}" for line, rise in zip(lines, raises, strict=True)]
    return "{" + "".join(rf"\mathrlap{{{line}}}" for line in drawn[:-1]) + drawn[-1] + "}"


_DOT = r"{\cdot}"
BONDS: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("-", "1"), _LINE),
        **dict.fromkeys(("=", "2"), r"\mathord{=}"),
        **dict.fromkeys(("#", "3"), r"\mathord{\equiv}"),
        "~": f"{{{_DASHES}}}",
        "~-": _stack(_DASHES, _LINE),
        "~=": _stack(_DASHES, _LINE, _LINE),
        "~--": _stack(_DASHES, _LINE, _LINE),
        "-~-": _stack(_LINE, _DASHES, _LINE),
        "...": "{" + _DOT * 3 + "}",
        "....": "{" + _DOT * 4 + "}",
        "->": r"\mathord{\rightarrow}",
        "<-": r"\mathord{\leftarrow}",
    }
)
r"""Argument of `\bond` → TeX of the bond."""
_NO_TEXT = r"\quad"
# the shorter of two unequal arrows, with space beside it so that the other is longer
_SHORT_BACK = r"\mkern4mu\leftharpoondown\mkern4mu"
_SHORT_FORTH = r"\mkern4mu\rightharpoonup\mkern4mu"


def arrow(sign: str, above: str, below: str) -> str:
    """Return the reaction arrow `sign`, with labels above and below it, which may be empty."""
    if sign in _GROWING:
        return _label(_GROWING[sign], above, below)
    if sign == "<=>>":
        short = rf"\underset{{{below}}}{{{_SHORT_BACK}}}" if below else _SHORT_BACK
        return _label("xrightharpoonup", above, rf"\smash[t]{{\raisebox{{.25em}}{{$\textstyle {short}$}}}}")
    short = rf"\overset{{{above}}}{{{_SHORT_FORTH}}}" if above else _SHORT_FORTH
    return _label("xleftharpoondown", rf"\smash[b]{{\raisebox{{-.45em}}{{$\textstyle {short}$}}}}", below)


def _label(name: str, above: str, below: str) -> str:
    if not below:
        # without this, an arrow without labels would be as short as that of a limit
        return rf"\{name}{{{above or _NO_TEXT}}}"
    return rf"\{name}[{{{below}}}]{{{above}}}"


HYPHEN = r"\text{-}"
GREEK_LETTER = lazy_pattern(GREEK)

_DIGITS = lazy_pattern(r"\d+")
_ORBITAL = lazy_pattern(r"\d+[spdfg]\^")

# names that begin with a lower-case letter that is not an amount
_NAME = r"(?:p(?:H|OH|D)|[inst]Bu|[is]Pr)(?![a-z])"
# Amounts: a lower-case letter before a capital, a sum or a ratio, with or without parentheses.
_TERM = r"(?:\d*[a-z]|\d+)"
_BEFORE_FORMULA = r"(?=\s*[A-Z(\[])"
_SUM = lazy_pattern(rf"{_TERM}(?:[{MINUS}+]{_TERM})+{_BEFORE_FORMULA}")
_BRACKETED = lazy_pattern(rf"\({_TERM}(?:[{MINUS}+/]{_TERM})+\){_BEFORE_FORMULA}")
_RATIO = lazy_pattern(rf"([{MINUS}+]?)(\d+|[a-z])/(\d+(?![\d.])|[a-z](?=\s*[A-Z]))")
_LETTER = rf"(?!{_NAME}|pK)[a-z](?=\s*[A-Z])"
_NUMBER = lazy_pattern(rf"([{MINUS}+]?)(?=[.,]?\d)(\d*)(?:([.,])(\d+))?({_LETTER})?")
_VARIABLE = lazy_pattern(rf"{_LETTER}")
_MATH = lazy_pattern(rf"[{MINUS}\w+.,/() ]+")
_COUNTS = lazy_pattern(r"\s*(?![spdfg]\^)[A-Za-z(\[{$\\^_°]")
_LOCANTS = lazy_pattern(rf"(\d+['′]*(?:,\d+['′]*)*)[{MINUS}](?=[A-Za-z(\[{{\\])")

_LETTERS = lazy_pattern(rf"(?:[^\W\d_{SCRIPT_CHARACTERS}]|{GREEK}(?:\s+(?=[A-Za-z]))?)+")
_SMALL = lazy_pattern(rf"[a-zα-ω]+|(?:{GREEK}\s*)+")
_AFTER_COMMAND = lazy_pattern(rf"\s+(?=\d|[{MINUS}+]\s*$)")
_PREFIX = lazy_pattern(rf"([a-z])[{MINUS}](?=[A-Za-z{{\\])")
_ACIDITY = lazy_pattern(r"pK([a-z]?)(\d*)(?![A-Za-z])")
_REPEATS = lazy_pattern(r"[nmxyz](?![A-Za-z0-9])")


def amount(formula: ChemicalFormula) -> bool:
    """Read the amount, or locants as in 1,2-, at the start of a formula. Return whether there was one."""
    scan = formula.scan
    if (locants := scan.accept(_LOCANTS)) is not None:
        places = PRIMES.sub(lambda marks: f"{{}}^{{{primes(marks.group())}}}", locants.group(1))
        formula.add(places.replace(",", "{,}") + HYPHEN, Attachment.JOINT)
        return True
    value = _value(formula)
    if not value:
        return False
    if scan.peek_match(_COUNTS):
        add_amount(formula, value)
    else:
        formula.add(value)
    return True


def _value(formula: ChemicalFormula) -> str:
    scan = formula.scan
    if (terms := scan.accept(_SUM) or scan.accept(_BRACKETED)) is not None:
        return terms.group().translate(DASHES)
    if (ratio := scan.accept(_RATIO)) is not None:
        return rf"{ratio.group(1)}\tfrac{{{ratio.group(2)}}}{{{ratio.group(3)}}}"
    if (number := scan.accept(_NUMBER)) is not None:
        sign, whole, mark, fraction, variable = number.groups()
        return sign + decimal(whole, mark, fraction) + (variable or "")
    letter = scan.accept(_VARIABLE)
    return letter.group() if letter else ""


def add_amount(formula: ChemicalFormula, value: str) -> None:
    """Add `value` as the amount of the following formula."""
    formula.scan.accept(BLANK)
    formula.add(value + r"\,", Attachment.JOINT)


def is_amount(content: str) -> bool:
    """Return whether mathematics before a formula can be its amount."""
    return _MATH.fullmatch(content) is not None


def digits(formula: ChemicalFormula) -> None:
    """Read a number that is not an amount: a subscript after an atom, otherwise plain digits."""
    scan, side = formula.scan, formula.side
    number = scan.peek_match(_DIGITS)
    if number is None:
        return
    is_number_of_atoms = formula.may_be_counted and not (
        side is Attachment.SCRIPT and scan.peek_match(_ORBITAL)
    )
    scan.place = number.end()
    if is_number_of_atoms:
        formula.lower(number.group())
    else:
        formula.add(number.group())


def letters(formula: ChemicalFormula) -> None:
    """Read letters that are not an amount: an atom, a prefix such as cis-, or the n of (CH2)n."""
    scan, side = formula.scan, formula.side
    begins = side in (Attachment.EDGE, Attachment.JOINT)
    if begins and (acidity := scan.accept(_ACIDITY)) is not None:
        index = (rf"\mathrm{{{acidity.group(1)}}}" if acidity.group(1) else "") + acidity.group(2)
        formula.add(r"\mathrm{p}K" + (f"_{{{index}}}" if index else ""), Attachment.ATOM)
        return
    if begins and (prefix := scan.accept(_PREFIX)) is not None:
        formula.add(prefix.group(1) + HYPHEN, Attachment.JOINT)
        return
    if formula.closed and side is Attachment.ATOM and (repeats := scan.accept(_REPEATS)) is not None:
        formula.lower(repeats.group())
        return
    word = scan.accept(_LETTERS)
    if word is None:
        scan.pop()
        return
    name = word.group()
    # TeX drops the space after a command, but a space before an operator is part of the operator
    if "\\" in name:
        scan.accept(_AFTER_COMMAND)
    is_small = side not in (Attachment.ATOM, Attachment.SCRIPT) and _SMALL.fullmatch(name) is not None
    formula.add(rf"\mathrm{{{name}}}", Attachment.ATOM, small=is_small)
