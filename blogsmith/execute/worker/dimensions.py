"""Shapes written in comments, and whether a value has one.

A shape is written in parentheses, with parts separated by commas:

- `4`: this size; `n`: the size called n; `_`: any size;
- `2*d`, `n + 1`, `d//h`, `d/h` (which must be a whole number): arithmetic;
- `...` or `…`: any number of dimensions; `*batch`: the same, with a name. At most one of them in a shape;
- `()`: a number.

A name means the integer in the variable that Python would find under that name. If there is none, it means
the size that the name had at its first use. Names in arithmetic are solved for if the solution is unique:
`(2*h,)` of a value with 8 rows makes h 4. Sizes that are still unknown are not checked.

A comment is checked if it contains nothing else: `# (n, d)`, `# shape: (n, d)`, `# → (n, d)`, `# (n,),
(m,)`. Words before, after or inside, as in `# (see below)`, make it prose. A single part without a comma, as
in `# (default)`, `# (row-wise)` or the equation `# (1)`, may be prose too. It is a shape after `shape:` or
an arrow, or if it contains names and all of them are known.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    # Size of a name; several sizes for `*batch`; None while it is unknown.
    Sizes = tuple[int, ...]
    Known = Callable[[str], int | Sizes | None]
    Number = int | float

MAX_CHARACTERS = 200
MAX_DEPTH = 32
IMPOSSIBLE = float("nan")
"""Value that no size is equal to, even after further arithmetic."""
COMMENT = re.compile(r"#+\s*(?P<sign>(?:shapes?\s*:|-+>|→)?)\s*(?P<shapes>\(.*\))\s*")
SEPARATOR = re.compile(r"\)\s*,\s*\(")
OPERATORS: Mapping[type[ast.operator], Callable[[Number, Number], Number]] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.FloorDiv: lambda a, b: a // b if b else IMPOSSIBLE,
        ast.Div: lambda a, b: a // b if b and a % b == 0 else IMPOSSIBLE,
    }
)


class ShapePart(NamedTuple):
    """One part of a shape, such as `2*d`."""

    text: str
    node: ast.expr | None
    """Expression of the size; None for any size."""
    is_variadic: bool = False
    """Whether the part matches any number of dimensions."""


class Shape(NamedTuple):
    """Shape as written."""

    written: str
    parts: tuple[ShapePart, ...]
    is_certain: bool
    """Whether it is certainly a shape. If False, it is prose unless all its names are known."""


def parse_shapes(comment: str) -> tuple[Shape, ...]:
    """Return the shapes that `comment`, with its `#`, consists of. Empty if it is prose."""
    found = COMMENT.fullmatch(comment.rstrip()) if len(comment) <= MAX_CHARACTERS else None
    if not found:
        return ()
    inside = SEPARATOR.split(found["shapes"][1:-1])
    shapes = [parse_shape(text.strip(), bool(found["sign"])) for text in inside]
    return tuple(shape for shape in shapes if shape) if None not in shapes else ()


def parse_shape(text: str, introduced: bool) -> Shape | None:
    """Parse `n, d` into a shape. None if it is prose. introduced: whether `shape:` or an arrow precedes
    it."""
    lone = bool(text) and "," not in text
    python = text.replace("…", "...")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(f"({python},)" if lone else f"({python})", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    parts = [parse_part(node) for node in tree.elts] if isinstance(tree, ast.Tuple) else [None]
    if None in parts or sum(part.is_variadic for part in parts if part) > 1:
        return None
    known = tuple(part for part in parts if part)
    return Shape(f"({text})", known, introduced or not lone)


def parse_part(node: ast.expr) -> ShapePart | None:
    """Return the part of a shape for a node. None if it is not valid there."""
    if isinstance(node, ast.Constant) and node.value is ...:
        return ShapePart("...", None, is_variadic=True)
    if isinstance(node, ast.Starred) and isinstance(node.value, ast.Name):
        return ShapePart(f"*{node.value.id}", node.value, is_variadic=True)
    if isinstance(node, ast.Name) and node.id == "_":
        return ShapePart("_", None)
    return ShapePart(ast.unparse(node), node) if is_size(node) else None


def is_size(node: ast.expr) -> bool:
    """Return whether a node consists of integers, names and arithmetic."""
    if isinstance(node, ast.BinOp):
        return type(node.op) in OPERATORS and is_size(node.left) and is_size(node.right)
    return isinstance(node, ast.Name) or (isinstance(node, ast.Constant) and type(node.value) is int)


def size(node: ast.expr, known: Known) -> Number | None:
    """Evaluate the expression of a size. known: returns the size of a name. None if the expression contains
    an unknown name."""
    if isinstance(node, ast.Name):
        value = known(node.id)
        return value if isinstance(value, int) else None
    if isinstance(node, ast.BinOp):
        left, right = size(node.left, known), size(node.right, known)
        return None if left is None or right is None else OPERATORS[type(node.op)](left, right)
    return int(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, int) else None


def solve(node: ast.expr, result: Number, known: Known) -> dict[str, int] | None:
    """Solve the equation `node` = `result`, if one name in `node` is unknown. Return a dict from this name to
    its size. Return {} if the solution is not unique, None if there is none."""
    if isinstance(node, ast.Name):
        return {node.id: int(result)} if result >= 0 else None
    if not isinstance(node, ast.BinOp) or isinstance(node.op, ast.FloorDiv):
        return {}
    left, right = size(node.left, known), size(node.right, known)
    if left is None and right is not None:
        if isinstance(node.op, ast.Mult):
            return quotient(node.left, result, right, known)
        undone = {ast.Add: result - right, ast.Sub: result + right, ast.Div: result * right}
        return solve(node.left, undone[type(node.op)], known)
    if right is None and left is not None:
        if isinstance(node.op, ast.Mult):
            return quotient(node.right, result, left, known)
        if isinstance(node.op, ast.Div):
            return quotient(node.right, left, result, known)
        return solve(node.right, result - left if isinstance(node.op, ast.Add) else left - result, known)
    return {}


def quotient(node: ast.expr, of: Number, by: Number, known: Known) -> dict[str, int] | None:
    """Solve the equation `node` = `of` / `by` as `solve` solves its equation. Return None if the quotient is
    not a whole number or `by` is 0. Return {} for 0/0, because every size solves it."""
    if by == 0:
        return None if of else {}
    return None if of % by else solve(node, of // by, known)


def expand_parts(shape: Shape, count: int, known: Known) -> list[ShapePart] | None:
    """Return one part for each of `count` dimensions. None if that is impossible."""
    parts: list[ShapePart] = []
    for part in shape.parts:
        value = known(part.text) if part.is_variadic and part.node else None
        if isinstance(value, tuple):
            parts += [ShapePart(str(number), ast.Constant(number)) for number in value]
        elif part.is_variadic:
            parts += [ShapePart("_", None)] * (count - len(shape.parts) + 1)
        else:
            parts.append(part)
    return parts if len(parts) == count else None


def fit(shape: Shape, sizes: tuple[int, ...], known: Known) -> dict[str, int | tuple[int, ...]] | None:
    """Compare the `sizes` of a value with `shape`.

    Return None if they do not match; otherwise a dict from each unknown name to its size, or to several sizes
    for a name such as `*batch`. Names that remain unknown are missing from the dict.
    """
    parts = expand_parts(shape, len(sizes), known)
    if parts is None:
        return None
    met: dict[str, int | tuple[int, ...]] = {}

    def known_now(name: str) -> int | tuple[int, ...] | None:
        value = known(name)
        return met.get(name) if value is None else value

    # Parts that are plain names first: in `(n + 1, n)`, the second part determines n.
    order = sorted(range(len(parts)), key=lambda place: isinstance(parts[place].node, ast.BinOp))
    for place in order:
        node = parts[place].node
        if node is None:
            continue
        wanted = size(node, known_now)
        if wanted is None:
            more = solve(node, sizes[place], known_now)
            if more is None:
                return None
            met.update(more)
        elif wanted != sizes[place]:
            return None
    return {**met, **match_batch(shape, sizes, known)}


def match_batch(shape: Shape, sizes: tuple[int, ...], known: Known) -> dict[str, tuple[int, ...]]:
    """Map the name of a part such as `*batch`, with the star, to its sizes. Empty if the shape
    has no part of this kind, or if its sizes are known."""
    for place, part in enumerate(shape.parts):
        if part.is_variadic and part.node and known(part.text) is None:
            return {part.text: sizes[place : len(sizes) - (len(shape.parts) - place - 1)]}
    return {}


def fill_sizes(shape: Shape, known: Known) -> str:
    """Return the shape as text with known names replaced by numbers: `(n, d)` → `(4, d)` if n is 4."""
    words: list[str] = []
    for part in shape.parts:
        value = known(part.text) if part.is_variadic else size(part.node, known) if part.node else None
        if isinstance(value, tuple):
            words += map(str, value)
        else:
            words.append(str(value) if isinstance(value, int) and value >= 0 else part.text)
    return format_tuple(words)


def format_tuple(words: list[str]) -> str:
    """Format a tuple as Python does."""
    return f"({words[0]},)" if len(words) == 1 else f"({', '.join(words)})"


def counts(shape: Shape, known: Known) -> bool:
    """Return whether the comment is a shape, not prose. known: returns the size of a name."""
    nodes = (node for part in shape.parts if part.node for node in ast.walk(part.node))
    names = [node.id for node in nodes if isinstance(node, ast.Name)]
    return shape.is_certain or (bool(names) and all(known(name) is not None for name in names))


def value_shape(value: object, depth: int = 0) -> tuple[int, ...] | str:
    """Return the `shape` of a value, or the lengths of nested lists and tuples. For other values, return the
    type name."""
    kind = type(value).__name__
    try:
        shape = getattr(value, "shape", None)
        if shape is not None and not isinstance(value, type):
            return tuple(int(number) for number in shape)
    except Exception:  # a property of a third-party class
        return kind
    if isinstance(value, (list, tuple)) and depth < MAX_DEPTH:
        return lengths(value, depth)
    return () if isinstance(value, complex) or hasattr(type(value), "__float__") else kind


def lengths(values: list[object] | tuple[object, ...], depth: int) -> tuple[int, ...] | str:
    """Return the lengths of nested sequences, in the form of `value_shape`. Items without a shape, such as
    strings, count as items."""
    inner = set()
    for value in values:
        sizes = value_shape(value, depth + 1)
        if isinstance(sizes, str) and isinstance(value, (list, tuple)):
            return sizes
        inner.add(() if isinstance(sizes, str) else sizes)
    if len(inner) > 1:
        return f"ragged {type(values).__name__}"
    return (len(values), *(inner.pop() if inner else ()))
