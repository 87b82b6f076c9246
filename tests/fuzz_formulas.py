"""Formulas that try to break the converter: from a grammar of all commands, from mutations, and attacks.

A case depends on its seed and number only, so it can be reproduced.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from .fuzz_words import (
    BRACKETS,
    CHEMISTRY,
    COLORS,
    LENGTHS,
    MARKUP,
    ODD,
    PACKAGES,
    PLAIN,
    SPECIAL,
    UNITS,
    URLS,
    vocabulary,
)

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}]|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Case:
    """One call of the converter."""

    family: str
    """How it was made."""
    tex: str
    display: bool
    macros: Mapping[str, str]
    numbers: tuple[str | None, ...]
    """The output of its rows at their right edge."""
    packages: frozenset[str]


def case(seed: str, number: int) -> Case:
    """Return case `number` for `seed`."""
    rng = random.Random(f"{seed}/{number}")
    family, make = rng.choices(_FAMILIES, _WEIGHTS)[0]
    made = make(Maker(rng))
    macros: dict[str, str] = {}
    if rng.random() < 0.1:
        maker = Maker(rng)
        macros = {maker.own_name(): maker.items(2) for _ in range(rng.randrange(1, 4))}
    numbers: tuple[str | None, ...] = ()
    if rng.random() < 0.1:
        numbers = tuple(rng.choice((None, "1", "2a", *MARKUP)) for _ in range(rng.randrange(1, 5)))
    packages = PACKAGES if rng.random() < 0.2 else frozenset[str]()
    return Case(family, made, rng.random() < 0.5, macros, numbers, packages)


class Maker:
    """Makes random TeX. One instance per case."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.words = vocabulary()

    def pick(self, choices: Sequence[str]) -> str:
        """Return one of `choices`."""
        return self.rng.choice(choices)

    def command(self) -> str:
        """Return a known command."""
        return self.pick(self.words.inner if self.rng.random() < 0.05 else self.words.commands)

    def own_name(self) -> str:
        """Return a name for a macro, sometimes one that exists."""
        return self.pick(("\\foo", "\\a", "\\b", "\\bar", "\\R", self.command()))

    def items(self, depth: int) -> str:
        """Return a few adjacent items, nested at most `depth` levels."""
        makers = _DEEP if depth else _SHALLOW
        return "".join(self.rng.choice(makers)(self, depth - 1) for _ in range(self.rng.randrange(0, 5)))

    def sign(self, _: int = 0) -> str:
        """Return one character."""
        return self.pick(self.rng.choices((PLAIN, SPECIAL, ODD), (95, 3, 2))[0])

    def word(self, _: int = 0) -> str:
        """Return a command without arguments."""
        return self.command() + self.pick(("", " ", "*", "{}"))

    def call(self, depth: int) -> str:
        """Return a command with a random number of arguments."""
        optional = f"[{self.argument(depth)}]" if self.rng.random() < 0.2 else ""
        star = "*" if self.rng.random() < 0.1 else ""
        arguments = [f"{{{self.argument(depth)}}}" for _ in range(self.rng.randrange(4))]
        return self.command() + star + optional + "".join(arguments)

    def argument(self, depth: int) -> str:
        """Return content for braces."""
        if self.rng.random() < 0.75:
            return self.items(depth)
        return self.pick(
            (*LENGTHS, *COLORS, *URLS, *MARKUP, *CHEMISTRY, *UNITS, "array", "1", "2", "-1", "99")
        )

    def group(self, depth: int) -> str:
        """Return a group in braces."""
        return "{" + self.items(depth) + "}"

    def script(self, depth: int) -> str:
        """Return a base with one or two scripts."""
        base = self.pick(("x", "\\sum", "\\int", "", "{}", ")", self.command()))
        scripts = self.pick(("^", "_", "'", "^'", "\\limits_", "_a^", "^a_", "''^"))
        return base + scripts + self.pick(("2", "n", self.group(depth), self.command()))

    def fences(self, depth: int) -> str:
        """Return a random pair of brackets with content."""
        left, right = self.pick(BRACKETS), self.pick(BRACKETS)
        kind = self.pick(("left right", "bigl bigr", "Bigg Bigg", "mathopen mathclose", "left middle"))
        opening, closing = kind.split()
        return f"\\{opening} {left} {self.items(depth)} \\{closing} {right}"

    def environment(self, depth: int) -> str:
        """Return rows and cells in an environment."""
        name = self.pick(self.words.environments)
        plan = self.pick(
            ("", "", "{lcr}", "{|c|c|}", "{r@{}l}", "{2}", "[r]", "[t]{c}", "{*{3}{c}}", "{x}", "{")
        )
        rows = [
            " & ".join(self.items(depth) for _ in range(self.rng.randrange(1, 4)))
            for _ in range(self.rng.randrange(1, 4))
        ]
        end = self.pick(
            ("\\\\", "\\\\[2pt]", "\\\\ \\hline ", "\\cr", "\\\\*", "\\\\[x]", "\\tag{1}\\\\", "\\notag\\\\")
        )
        return f"\\begin{{{name}}}{plan}{end.join(rows)}\\end{{{name}}}"

    def definition(self, depth: int) -> str:
        """Return the definition of a macro, possibly with a call."""
        name, body = self.own_name(), self.items(depth) + self.pick(("", "#1", "#2", "##", "\\a", "\\foo"))
        head = self.pick(
            (
                f"\\newcommand{{{name}}}[1]",
                f"\\renewcommand{name}[2][{self.sign()}]",
                f"\\def{name}",
                f"\\def{name}#1#2",
                f"\\def{name}#1.#2;",
                f"\\gdef{name}#1",
                f"\\DeclareMathOperator*{{{name}}}",
                f"\\let{name}=\\foo ",
                f"\\providecommand{name}",
            )
        )
        return f"{head}{{{body}}}" + self.pick(("", name, f"{name}{{x}}{{y}}", f"{name}[z]{{x}}"))


_SHALLOW: tuple[Callable[[Maker, int], str], ...] = (Maker.sign, Maker.sign, Maker.word)
_DEEP = (
    *_SHALLOW,
    *(Maker.call, Maker.call, Maker.call, Maker.group, Maker.script, Maker.fences, Maker.environment),
    Maker.definition,
)


def _grammar(maker: Maker) -> str:
    return maker.items(maker.rng.randrange(1, 5)) + maker.items(1)


def _mutation(maker: Maker) -> str:
    """Return one or two formulas of the gallery with a few tokens removed, doubled, moved or replaced."""
    rng = maker.rng
    tokens = TOKEN.findall(maker.pick(maker.words.formulas))
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(tokens) + 1)
        span = rng.randrange(1, 4)
        other = TOKEN.findall(maker.pick(maker.words.formulas))
        start = rng.randrange(len(other) + 1)
        new = rng.choice(
            ([], [maker.sign()], [maker.word()], tokens[at : at + span] * 2, other[start : start + 9])
        )
        tokens[at : at + rng.choice((0, span))] = new
    return "".join(tokens)


def _junk(maker: Maker) -> str:
    """Return bytes read as text: as Latin-1, or as UTF-8 with lone surrogates for invalid bytes."""
    rng = maker.rng
    data = bytes(
        rng.choice((rng.randrange(256), rng.choice(b"\\{}$&#^_ ab"))) for _ in range(rng.randrange(40))
    )
    return data.decode("latin-1") if rng.random() < 0.5 else data.decode("utf-8", "surrogateescape")


def _nesting(maker: Maker) -> str:
    """Return one construct nested in itself, a few times or very often, closed or not."""
    rng = maker.rng
    name = maker.command()
    environment = maker.pick(maker.words.environments)
    opening, closing = rng.choice(
        (
            ("{", "}"),
            (name + "{", "}"),
            (name + "{x}{", "}"),
            (name + "[", "]"),
            (name, ""),
            (name + "(", ")"),
            (name + "^", ""),
            ("x^{", "}"),
            ("x_", ""),
            ("\\left(", "\\right)"),
            ("\\text{$", "$}"),
            ("\\ce{A ->[\\ce{", "}] B}"),
            (f"\\begin{{{environment}}}", f"\\end{{{environment}}}"),
            (f"\\begin{{{environment}}} & ", f"\\\\ \\end{{{environment}}}"),
            ("\\newcommand{\\a}{", "}"),
            (maker.sign(), maker.sign()),
        )
    )
    count = rng.choice((20, 150, 249, 499, 501, 2_000, 10_000, 30_000))
    return opening * count + maker.pick(("x", "", "&")) + closing * rng.choice((count, 0, count - 1))


def _long(maker: Maker) -> str:
    """Return a short fragment repeated many times."""
    piece = (
        maker.pick((maker.sign(), maker.word(), maker.call(1), maker.script(1), maker.environment(0))) or "x"
    )
    length = maker.rng.choice((2_000, 20_000, 63_000, 1_000_000))
    return piece * (length // len(piece))


def _explosion(maker: Maker) -> str:
    """Return macros that never terminate, or terminate too late."""
    rng = maker.rng
    names = "abcdefghijklmnopqrst"
    chain = "".join(f"\\def\\x{a}{{\\x{b}\\x{b}}}" for a, b in pairwise(names))
    big = maker.items(2) * rng.choice((1, 100, 3_000))
    return rng.choice(
        (
            "\\def\\a{\\a}\\a",
            "\\def\\a{\\b}\\def\\b{\\a x}\\a",
            "\\newcommand{\\a}[1]{\\a{#1#1}}\\a{x}",
            "\\newcommand{\\a}[2][x]{\\a[#1#2]{#2#1}}\\a{y}",
            f"{chain}\\def\\xt{{{big}}}\\xa",
            f"\\def\\a#1{{{'#1' * 500}}}\\a{{\\a{{{big}}}}}",
            "\\let\\a\\b\\let\\b\\a\\a",
            "\\def\\a{\\expandafter\\a}\\a",
            "\\edef\\a{\\a\\a}\\a",
            "\\def\\a#1;{\\a#1#1;}\\a x;",
            "\\def\\a{\\def\\a{\\a\\a}\\a}\\a",
            "\\gdef\\a{x\\a}{\\a}\\a",
            "\\def\\a{\\begin{matrix}\\a\\end{matrix}}\\a",
            "\\DeclareMathOperator{\\a}{\\a}\\a",
            f"\\def{maker.command()}{{{maker.items(2)}}}{maker.items(2)}",
        )
    )


def _markup(maker: Maker) -> str:
    """Return markup, URLs and styles in places where TeX expects something else."""
    payload = maker.pick((*MARKUP, *URLS, *COLORS))
    command = maker.pick(
        ("\\text", "\\href", "\\url", "\\class", "\\style", "\\operatorname", maker.command())
    )
    second = maker.pick(("{x}", "{" + maker.pick(MARKUP) + "}", ""))
    return maker.pick((f"{command}{{{payload}}}{second}", f"{command}[{payload}]{second}", payload + command))


_MAKERS: tuple[tuple[str, Callable[[Maker], str], float], ...] = (
    ("grammar", _grammar, 45),
    ("mutation", _mutation, 35),
    ("junk", _junk, 7),
    ("markup", _markup, 10),
    ("explosion", _explosion, 1),
    ("nesting", _nesting, 0.8),
    ("long", _long, 0.2),
)
_FAMILIES = tuple((name, make) for name, make, _ in _MAKERS)
_WEIGHTS = tuple(weight for _, _, weight in _MAKERS)
