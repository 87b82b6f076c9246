r"""TeX without what numbers it: `\label`, `\tag`, `\notag`, and environments that number by themselves.

Numbers, labels and references stay ours, whichever converter typesets the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...base.patterns import lazy_pattern
from ...model.names import name_set
from ..parse.lexer import Token, read_argument, read_name, skip_spaces, text_of, tokenize_unplaced

_STARRED = name_set("align alignat xalignat flalign gather eqnarray equation multline")
_NUMBERS = lazy_pattern(
    r"\\(?:label|tag|notag|nonumber)(?![A-Za-z])|(?<!\\)%"
    r"|\\begin\s*\{\s*(?:" + "|".join(sorted(_STARRED)) + r")\s*\}"
)


def without_numbers(tex: str) -> str:
    """`tex` with the same rows, of which none has a number; itself if none would have one."""
    if _NUMBERS.search(tex) is None:
        return tex
    tokens = tokenize_unplaced(tex)
    kept: list[Token] = []
    index = 0
    while index < len(tokens):
        text = tokens[index].text
        if text in ("\\notag", "\\nonumber"):
            index += 1
        elif text in ("\\label", "\\tag"):
            index = _argument_end(tokens, index)
        elif text in ("\\begin", "\\end") and (named := read_name(tokens, index)) and named.text in _STARRED:
            kept += [tokens[index], *(Token(part, 0, 0) for part in ("{", *named.text, "*", "}"))]
            index = named.end
        else:
            kept.append(tokens[index])
            index += 1
    return text_of(kept).strip()


def _argument_end(tokens: Sequence[Token], index: int) -> int:
    after = skip_spaces(tokens, index + 1)
    if after < len(tokens) and tokens[after].text == "*":
        after += 1
    argument = read_argument(tokens, after)
    return argument.end if argument else after
