r"""Formulas as tokens that search compares. They show the meaning, independent of the commands and brackets
used.

`\frac{QK^\top}{\sqrt{d_k}}` → `Q K ^ T / √ d _ k`. Brackets, spaces, sizes and fonts are omitted. Fractions
become slashes, function names are one token each, and letters differ only by their character. The class
`FormulaReader` of the themes' `search-formulas.js` converts text in the search field to the same form, with
the symbols and names in the index; a test compares the two. Never raises; takes linear time.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType

from ..mathml import symbols
from ..parse.lexer import (
    Token,
    commands,
    is_control_word,
    read_argument,
    read_optional,
    skip_spaces,
    tokenize_without_positions,
)
from .linear import FRACTIONS, MAX_DEPTH, MAX_LENGTH, OMITTED, SECOND_ARGUMENT, is_readable, skip_environment

MAX_TOKENS = 400
"""Maximum number of tokens of one formula; longer ones are cut."""

_OMITTED = commands(
    "left right middle big Big bigg Bigg bigl Bigl biggl Biggl bigr Bigr biggr Biggr bigm "
    "displaystyle textstyle scriptstyle scriptscriptstyle limits nolimits notag nonumber relax bf rm "
    "it cal hline mathstrut strut quad qquad enspace thinspace medspace thickspace negthinspace "
    "underbrace overbrace lbrace rbrace lparen rparen lbrack rbrack cr newline mathop mathrel "
    "mathbin mathord mathopen mathclose mathbb mathbf mathcal mathfrak mathit mathscr boldsymbol bm "
    "boxed substack Bbb frak bold not begingroup endgroup"
)
_WORDS = commands(
    "operatorname mathrm mathsf mathtt text textrm textbf textit textsf texttt textnormal mbox emph"
)
"""Commands whose argument is text; each word in it is one token."""
_DOTS = commands("dots ldots cdots dotsc dotsb dotsm dotsi vdots ddots")
_PUNCTUATION = frozenset("()[]{}.,;&$~ ")
_SAME: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys("*⋅∙∗·", "·"),
        **dict.fromkeys("∣|", "|"),
        **dict.fromkeys("‖∥", "‖"),
        **dict.fromkeys("−–", "-"),
        **dict.fromkeys("⟶⟼↦", "→"),
        **dict.fromkeys("⟹⇒", "⇒"),
        **dict.fromkeys("⟺⇔", "⇔"),
        **dict.fromkeys("⩽≦", "≤"),
        **dict.fromkeys("⩾≧", "≥"),
        **dict.fromkeys("≔≝≜", "="),
        **dict.fromkeys("⋯⋮⋱", "…"),
        "'": "′",
        "⊤": "T",
        "ϵ": "ε",
        "ϕ": "φ",
        "ϑ": "θ",
        "ϱ": "ρ",
        "◊": "⋄",
    }
)
_OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {"widehat": "hat", "widetilde": "tilde", "overline": "bar", "underline": "bar", "infin": "∞"}
)


_SPOKEN: Mapping[str, str] = MappingProxyType(
    {"√": "sqrt", "∑": "sum", "∏": "prod", "∫": "int", "∞": "infty", "∂": "partial", "∇": "nabla"}
)


@cache
def symbol_names() -> Mapping[str, str]:
    """Map names of commands, without backslash, to the token of their symbol."""
    found: dict[str, str] = {}
    tables = (symbols.ORDINARY, symbols.BINARY, symbols.RELATIONS, symbols.LARGE, symbols.INTEGRALS)
    for table in (*tables, symbols.PUNCTUATION, symbols.ELLIPSES, symbols.OPENING, symbols.CLOSING):
        for line in table.split(";"):
            sign, *names = line.split()
            found |= dict.fromkeys(names, _same(sign))
    return MappingProxyType({**found, **_OTHER_NAMES})


def input_names(tokens: Container[str]) -> dict[str, str]:
    """Map names of commands, without backslash, and characters to the token in `tokens` that they mean; to an
    empty string if they mean none. Scripts use the map to read the search field."""
    found = {name: sign for name, sign in symbol_names().items() if sign in tokens and name != sign}
    found |= {sign: same for sign, same in _SAME.items() if same in tokens}
    found |= {name[1:]: "…" for name in _DOTS}
    return found | {name[1:]: "" for name in _OMITTED} | {"over": "/"}


def argument_kinds() -> dict[str, str]:
    """Map commands, without backslash, to the kind of their arguments, such as "fraction", for scripts."""
    kinds = {
        "fraction": FRACTIONS,
        "second": SECOND_ARGUMENT,
        "nothing": OMITTED,
        "words": _WORDS,
        "root": commands("sqrt"),
        "name": commands("begin end"),
    }
    return {name[1:]: kind for kind, names in kinds.items() for name in sorted(names)}


@lru_cache(maxsize=4096)
def formula_tokens(tex: str) -> tuple[str, ...]:
    """Return the tokens of a formula whose macros are expanded; empty if it has no content. Cached, because
    formulas recur on a page."""
    tokens = tokenize_without_positions(tex[:MAX_LENGTH])
    if not is_readable(tokens):
        return ()
    found: list[str] = []
    for token in _read(tokens, 0):
        if token == "|" and found[-1:] == ["|"]:
            # `||x||`
            found[-1] = "‖"
        else:
            found.append(token)
        if len(found) == MAX_TOKENS:
            break
    return tuple(found)


def symbol_words(tokens: Sequence[str]) -> str:
    """Return the words by which search finds a formula: names of its functions and symbols."""
    names = _sign_words()
    return " ".join(names.get(token, token) for token in tokens if len(token) > 1 or token in names)


@cache
def _sign_words() -> Mapping[str, str]:
    """Map symbols to their names: Greek and other letters, and symbols with a name in spoken formulas."""
    found = dict(_SPOKEN)
    for name, sign in sorted(symbol_names().items(), key=lambda item: (len(item[0]), item[0])):
        if len(sign) == 1 and sign.isalpha() and not sign.isascii() and len(name) > 1:
            found.setdefault(sign, name)
    return MappingProxyType(found)


def _read(tokens: Sequence[Token], depth: int) -> Iterator[str]:
    index = 0
    while index < len(tokens):
        text = tokens[index].text
        if text in ("^", "_"):
            found, index = _scripts(tokens, index, depth)
            yield from found
        elif text in ("\\begin", "\\end"):
            index = skip_environment(tokens, index)
        elif is_control_word(text):
            found, index = _command(tokens, index, depth)
            yield from found
        elif text.isdecimal():
            start = index
            while index < len(tokens) and tokens[index].text.isdecimal():
                index += 1
            yield "".join(token.text for token in tokens[start:index])
        else:
            index += 1
            yield from _character_tokens(text)


def _scripts(tokens: Sequence[Token], index: int, depth: int) -> tuple[list[str], int]:
    """Read the subscript and the superscript at `index`, in either order. Return the tokens of the subscript,
    then those of the superscript, and the index after both."""
    parts: dict[str, list[str]] = {}
    while index < len(tokens) and tokens[index].text in ("^", "_") and tokens[index].text not in parts:
        kind = tokens[index].text
        parts[kind], index = _argument(tokens, index + 1, depth)
        after = skip_spaces(tokens, index)
        index = after if after < len(tokens) and tokens[after].text in ("^", "_") else index
    primes = parts.get("^", []) == ["′"]
    found = ["_", *parts["_"]] if parts.get("_") else []
    if parts.get("^"):
        found += parts["^"] if primes else ["^", *parts["^"]]
    if not parts:
        return [], index + 1
    return found, index


def _argument(tokens: Sequence[Token], index: int, depth: int) -> tuple[list[str], int]:
    """Return the tokens of the argument at `index`, and the index after it. If the argument is a command, its
    own argument is included."""
    start = skip_spaces(tokens, index)
    argument = read_argument(tokens, start)
    if argument is None:
        return [], start
    first = tokens[start].text
    if depth > MAX_DEPTH:
        # `\frac\frac\frac…`
        return [], argument.end
    if is_control_word(first):
        return _command(tokens, start, depth + 1)
    return list(_read(argument.tokens, depth + 1)), argument.end


def _command(tokens: Sequence[Token], index: int, depth: int) -> tuple[list[str], int]:
    """Return the tokens of a command with its arguments, and the index after them."""
    text, after = tokens[index].text, index + 1
    if text in FRACTIONS:
        above, after = _argument(tokens, after, depth)
        below, after = _argument(tokens, after, depth)
        return [*above, "/", *below], after
    if text == "\\over":
        return ["/"], after
    if text == "\\sqrt":
        degree = read_optional(tokens, after)
        inside, after = _argument(tokens, degree.end if degree else after, depth)
        return ["√", *(_read(degree.tokens, depth + 1) if degree else ()), *inside], after
    if text in SECOND_ARGUMENT:
        _, after = _argument(tokens, after, depth)
        return _argument(tokens, after, depth)
    if text in OMITTED:
        argument = read_argument(tokens, after)
        return [], argument.end if argument else after
    if text in _WORDS:
        return _words(tokens, after, depth)
    if text in _OMITTED:
        return [], after
    if text in _DOTS:
        return ["…"], after
    name = text[1:]
    sign = symbol_names().get(name)
    if sign and len(sign) == 1:
        return list(_character_tokens(sign)), after
    return [sign or (name.lower() if len(name) > 1 else name)], after


def _words(tokens: Sequence[Token], index: int, depth: int) -> tuple[list[str], int]:
    index = skip_spaces(tokens, index)
    if index < len(tokens) and tokens[index].text == "*":
        index += 1
    argument = read_argument(tokens, index)
    if argument is None:
        return [], index
    return list(_split_words(argument.tokens, depth)), argument.end


def _split_words(tokens: Sequence[Token], depth: int) -> Iterator[str]:
    """Yield the tokens of text: consecutive letters are one token."""
    index, word = 0, ""
    while index < len(tokens):
        text = tokens[index].text
        if len(text) == 1 and text.isalpha():
            word += text
            index += 1
            continue
        yield from _word(word)
        word, start = "", index
        index = _part_end(tokens, index, depth)
        if text != "-":
            yield from _read(tokens[start:index], depth + 1)
    yield from _word(word)


def _part_end(tokens: Sequence[Token], index: int, depth: int) -> int:
    """Return the index after the item at `index`: a command with its arguments, a number or a character."""
    if is_control_word(tokens[index].text):
        return _command(tokens, index, depth)[1]
    end = index + 1
    while tokens[index].text.isdecimal() and end < len(tokens) and tokens[end].text.isdecimal():
        end += 1
    return end


def _word(word: str) -> Iterator[str]:
    if word:
        yield word.lower() if len(word) > 1 else word


def _character_tokens(text: str) -> Iterator[str]:
    """Yield the tokens of a character or an escaped symbol."""
    if text.startswith("\\"):
        # an escaped symbol or a space
        text = "‖" if text == "\\|" else text[1:]
        if text in ("\\", ":", "!", ">", ",", ";", " ", "{", "}", "$", "&"):
            return
    for sign in unicodedata.normalize("NFKC", text):
        same = _same(sign)
        if same not in _PUNCTUATION:
            yield same


def _same(sign: str) -> str:
    sign = sign.removesuffix("\ufe00")
    if sign in _SAME:
        return _SAME[sign]
    plain = unicodedata.normalize("NFKC", sign)
    return _SAME.get(plain, plain)
