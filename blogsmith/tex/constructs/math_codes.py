r"""Math codes: `\mathchar` and `\mathchardef`, which name a character by its class, font and position."""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import ascii_letters, ascii_uppercase, digits
from types import MappingProxyType

from ..parse.errors import ParseError
from ..parse.reader import Expander, FormulaReader

_CLASSES = ("mathord", "mathop", "mathbin", "mathrel", "mathopen", "mathclose", "mathpunct", "mathord")
"""Command for each class in a math code (TeXbook, chapter 17)."""
_CAPITALS = r"\Gamma \Delta \Theta \Lambda \Xi \Pi \Sigma \Upsilon \Phi \Psi \Omega"
_GREEK = (
    r"\alpha \beta \gamma \delta \epsilon \zeta \eta \theta \iota \kappa \lambda \mu \nu \xi \pi \rho \sigma "
    r"\tau \upsilon \phi \chi \psi \omega \varepsilon \vartheta \varpi \varrho \varsigma \varphi "
    r"\leftharpoonup \leftharpoondown \rightharpoonup \rightharpoondown"
)
_SIGNS = (
    r"- \cdot \times \ast \div \diamond \pm \mp \oplus \ominus \otimes \oslash \odot \bigcirc \circ \bullet "
    r"\asymp \equiv \subseteq \supseteq \leq \geq \preceq \succeq \sim \approx \subset \supset \ll \gg \prec "
    r"\succ \leftarrow \rightarrow \uparrow \downarrow \leftrightarrow \nearrow \searrow \simeq \Leftarrow "
    r"\Rightarrow \Uparrow \Downarrow \Leftrightarrow \nwarrow \swarrow \propto \prime \infty \in \ni "
    r"\bigtriangleup \bigtriangledown \not \mapstochar \forall \exists \neg \emptyset \Re \Im \top \perp "
    r"\aleph"
)
_JOINS = r"\cup \cap \uplus \wedge \vee"
_FENCES = (
    r"\vdash \dashv \lfloor \rfloor \lceil \rceil \{ \} \langle \rangle \vert \Vert \updownarrow "
    r"\Updownarrow \backslash \wr \surd \amalg \nabla \smallint \sqcup \sqcap \sqsubseteq \sqsupseteq § "
    r"\dagger \ddagger ¶ \clubsuit \diamondsuit \heartsuit \spadesuit"
)

_Font = Mapping[int, tuple[str, ...]]


def _listed(names: str, start: int) -> _Font:
    return {start + number: (name,) for number, name in enumerate(names.split())}


_FONTS: tuple[_Font, ...] = (
    {
        **_listed(_CAPITALS, 0),
        **{ord(sign): (sign,) for sign in f"{digits}!?()[]/:;.,'*+="},
        **{ord(letter): ("\\mathrm", "{", letter, "}") for letter in ascii_letters},
        0x16: ("¯",),
        0x2D: ("\\text", "{", "-", "}"),
    },
    {
        **_listed(f"{_CAPITALS} {_GREEK}", 0),
        **{ord(sign): (sign,) for sign in digits + ascii_letters},
        **_listed(r". , < / > \star \partial", 0x3A),
        **_listed(r"\ell", 0x60),
        **_listed(r"\imath \jmath \wp", 0x7B),
    },
    {
        **_listed(_SIGNS, 0),
        **{ord(letter): ("\\mathcal", "{", letter, "}") for letter in ascii_uppercase},
        **_listed(_JOINS, 0x5B),
        **_listed(_FENCES, 0x60),
    },
)
"""Family → position in the font → tokens of the character (TeXbook, appendix F: cmr10, cmmi10, cmsy10)."""
_BASES: Mapping[str, tuple[int, str]] = MappingProxyType({'"': (16, "0-9A-F"), "'": (8, "0-7")})


def read_math_code(reader: FormulaReader, name: str) -> list[str]:
    r"""Read a math code such as `"2D`, and return the tokens of its character. ParseError if the code names a
    character of another font. name: Command that the code is for."""
    sign, number = reader.peek(), ""
    base, allowed = _BASES.get(sign, (10, "0-9"))
    if sign in _BASES or sign == "`":
        reader.pop()
    if sign == "`":
        number = str(ord((reader.pop() or " ")[-1]))
    while sign != "`" and re.fullmatch(f"[{allowed}]+", reader.peek()):
        number += reader.pop()
    code = int(number, base) if 0 < len(number) < 7 else -1
    family = code >> 8 & 15
    shown = _FONTS[family].get(code & 255) if 0 <= code < 0x8000 and family < len(_FONTS) else None
    if shown is None:
        message = f'math code of "{name}" names a character of a font that pages do not have'
        raise ParseError("math-macro", message, name, hint="define it by a command, such as `\\mathrm`")
    return [f"\\{_CLASSES[code >> 12]}", "{", *shown, "}"]


def _mathchar(reader: FormulaReader, command: str) -> list[str]:
    return read_math_code(reader, command)


EXPANDERS: Mapping[str, Expander] = MappingProxyType({"\\mathchar": _mathchar})
