"""Strings of the program, each alternative as literal parts and holes.

A name that a caller decides is a `Need`; `candidates` binds it to the arguments of each caller in turn.
"""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Sequence
from functools import cache
from typing import get_args

from blogsmith.base.diagnostics.codes import CODES
from blogsmith.importers.model import NoticeKind

from .frames import (
    Frame,
    Hole,
    Need,
    Text,
    Value,
    is_inside_quotes,
    is_literal,
    is_property,
    literal_prefix,
    merge,
    self_values,
    source_of,
)
from .program import CallSite, Class, Function, FunctionNode, called_name
from .values import MAX_ALTERNATIVES, MAX_DEPTH, ValueTracer

NOTICE_KINDS = get_args(NoticeKind)
MAX_JOINED = 24
MESSAGE_FIELDS = ("", "message", "hint", "problem", "reason", "why", "detail", "code", "kind", "key_code")
_KEEPS_TEXT = ("strip", "rstrip", "lstrip", "lower", "removeprefix", "removesuffix", "capitalize", "replace")
_NUMBER_TYPES = {"int", "float", "int | None"}
_NUMBERS = ("len", "int", "round", "sum", "min", "max", "abs", "float", "count", "index")


class Tracer(ValueTracer):
    """The strings that expressions of one program may be."""

    def texts(self, value: Value) -> list[Text]:
        """Return what a string may be."""
        found: list[Text] = []
        for one in self.reduce(value):
            if isinstance(one, Need):
                found += self._needed_texts(one, value)
            else:
                found += self._own_texts(one)
        return list(dict.fromkeys(found))[:MAX_ALTERNATIVES]

    def _needed_texts(self, need: Need, value: Value, source: str = "") -> list[Text]:
        if need.classes:
            is_number = bool(kinds := self._annotations(need.attribute)) and kinds <= _NUMBER_TYPES
            carried = tuple((one, need.attribute) for one in need.classes)
            is_message = need.attribute in MESSAGE_FIELDS
            return [
                (Hole(source or source_of(value.node), None, is_number, (), carried if is_message else ()),)
            ]
        annotation = source_of(need.frame.function.annotation(need.name))
        is_number = annotation.split(" |")[0] in ("int", "float")
        return [(Hole(source or source_of(value.node), need, is_number),)]

    def _own_texts(self, value: Value) -> list[Text]:
        key = -id(value.node)
        if key in self._open or len(self._open) > MAX_DEPTH:
            self._cuts += 1
            return []
        self._open.append(key)
        try:
            return self._unguarded_texts(value)
        finally:
            self._open.pop()

    def _unguarded_texts(self, value: Value) -> list[Text]:
        node = value.node
        if isinstance(node, ast.Constant):
            return [] if node.value is None else [(str(node.value),)] if node.value != "" else [()]
        if isinstance(node, ast.JoinedStr):
            return self._joined_texts(node, value.frame)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            firsts = self.texts(Value(node.left, value.frame))
            seconds = self.texts(Value(node.right, value.frame))
            if any(not is_literal(one) or one == () or one[0].strip("0123456789") for one in firsts):  # type: ignore[union-attr]
                return [first + second for first in firsts for second in seconds][:MAX_ALTERNATIVES]
        if isinstance(node, ast.Call):
            found = self._call_texts(node, value.frame)
            if found is not None:
                return found
            made = self._constructed(value)
            if made is not None and not made.node.name.endswith(("Error", "Timeout")):
                return []
        carriers: tuple[tuple[str, str], ...] = ()
        if isinstance(node, ast.Attribute) and node.attr in MESSAGE_FIELDS:
            carriers = (("", node.attr),)
        return [(Hole(source_of(node), None, self.is_number(value), (), carriers),)]

    def _call_texts(self, node: ast.Call, frame: Frame) -> list[Text] | None:
        name = called_name(node.func)
        if name in ("str", "repr") and node.args:
            return self._shown_texts(Value(node.args[0], frame))
        if not isinstance(node.func, ast.Attribute):
            return None
        receiver = Value(node.func.value, frame)
        if name == "format":
            return [self._formatted(one, node, frame) for one in self.texts(receiver)]
        if name in _KEEPS_TEXT:
            found = self.texts(receiver)
            is_known = all(
                is_literal(one) or len(one) > 1 or (isinstance(one[0], Hole) and one[0].need) for one in found
            )
            return found if found and is_known else None
        if name == "join" and node.args:
            inner = [one for one in self.elements(Value(node.args[0], frame)) if isinstance(one, Value)]
            texts = [text for one in inner for text in self.texts(one)]
            if texts and all(map(is_literal, texts)):
                return None if len(texts) > 9 else [("".join(self._glue(node, frame, texts)),)]
            return [(Hole(source_of(node), None, False, tuple(dict.fromkeys(texts))),)]
        return None

    def _glue(self, node: ast.Call, frame: Frame, texts: Sequence[Text]) -> list[str]:
        assert isinstance(node.func, ast.Attribute)
        glue = self.texts(Value(node.func.value, frame))
        words = ["".join(map(str, one)) for one in texts]
        between = "".join(map(str, glue[0])) if glue and is_literal(glue[0]) else ", "
        return [between.join(words)]

    def _formatted(self, text: Text, node: ast.Call, frame: Frame) -> Text:
        parts: list[str | Hole] = []
        count = 0
        for part in text:
            if not isinstance(part, str):
                parts.append(part)
                continue
            for literal, name, _, _ in string.Formatter().parse(part):
                parts.append(literal)
                if name is not None:
                    keyed = {one.arg: one.value for one in node.keywords}
                    index = int(name) if name.isdigit() else count
                    count += 1
                    given = keyed.get(name.split(".")[0]) or (
                        node.args[index] if index < len(node.args) else None
                    )
                    if given is None:
                        parts.append(Hole(name))
                    else:
                        options = self._shown_texts(Value(given, frame))
                        parts += options[0] if len(options) == 1 else (Hole(source_of(given)),)
        return tuple(parts)

    def _shown_texts(self, value: Value) -> list[Text]:
        """Return the strings of `str(value)`."""
        found: list[Text] = []
        for one in self.reduce(value):
            if isinstance(one, Need):
                found += self._needed_texts(one, value)
            elif (made := self._constructed(one)) and made.node.name.endswith(
                ("Error", "Exception", "Timeout")
            ):
                for text in self.field(one, ""):
                    found += self.texts(text) if isinstance(text, Value) else self._needed_texts(text, value)
            else:
                found += self._own_texts(one)
        return list(dict.fromkeys(found))[:MAX_ALTERNATIVES]

    def _joined_texts(self, node: ast.JoinedStr, frame: Frame) -> list[Text]:
        found: list[Text] = [()]
        for part in node.values:
            if isinstance(part, ast.Constant):
                found = [(*one, str(part.value)) for one in found]
                continue
            assert isinstance(part, ast.FormattedValue)
            if all(is_inside_quotes(literal_prefix(one)) for one in found):
                found = [(*one, Hole(source_of(part.value))) for one in found]
                continue
            cuts = self._cuts
            options = self._shown_texts(Value(part.value, frame))
            if not options and self._cuts > cuts:
                return []
            spec = source_of(part.format_spec) if part.format_spec else ""
            if any(sign in spec for sign in "dfg,"):
                options = [(Hole(source_of(part.value), None, True),)]
            found = [
                (*one, *option) for one in found for option in self._in_context(one, options, part.value)
            ]
            if len(found) > MAX_JOINED:
                found = [
                    (*one, Hole(source_of(part.value))) for one in dict.fromkeys(one[:-1] for one in found)
                ]
        return [
            merge(one)
            for one in found
            if not (one and isinstance(one[-1], str) and one[-1].endswith((" ", "(with )")))
        ]

    def _in_context(self, before: Text, options: list[Text], node: ast.expr) -> list[Text]:
        """Return the alternatives of a hole; one hole if they are the author's text, in quotes."""
        if len(options) <= 8 and all(map(is_literal, options)) and options:
            return options
        if (
            is_inside_quotes(literal_prefix(before))
            or not options
            or any("\n" in literal_prefix(one) for one in options)
        ):
            return [(Hole(source_of(node)),)]
        plain = [one for one in options if len(one) == 1 and isinstance(one[0], Hole) and not one[0].need]
        if len(options) == 1 and len(plain) == 1 and isinstance(plain[0][0], Hole):
            hole = plain[0][0]
            return [(Hole(source_of(node), None, hole.is_number, hole.elements),)]
        return options

    def is_number(self, value: Value) -> bool:
        """Return whether an expression is a number."""
        key = id(value.node)
        if key not in self._numbers:
            # an expression that contains itself is what its other alternatives are
            self._numbers[key] = value, True
            self._numbers[key] = value, self._is_number(value)
        return self._numbers[key][1]

    def _is_number(self, value: Value) -> bool:
        node, frame = value.node, value.frame
        if isinstance(node, ast.Call):
            if called_name(node.func) in _NUMBERS:
                return True
            found = self.program.callees(node, frame.function)
            kinds = {
                source_of(one.node.returns)
                for one in found
                if isinstance(one, Function) and isinstance(one.node, FunctionNode)
            }
            return bool(kinds) and kinds <= {"int", "float"}
        if isinstance(node, ast.BinOp):
            is_arithmetic = isinstance(node.op, ast.FloorDiv | ast.Sub | ast.Mult)
            return is_arithmetic or all(self.is_number(Value(one, frame)) for one in (node.left, node.right))
        if isinstance(node, ast.Constant):
            return isinstance(node.value, int | float)
        if isinstance(node, ast.Attribute):
            annotations = self._annotations(node.attr)
            return bool(annotations) and annotations <= _NUMBER_TYPES
        if isinstance(node, ast.Name):
            annotation = frame.function.annotation(node.id)
            if annotation is not None:
                return source_of(annotation) in ("int", "float", "int | None")
            options = [one for one in self.reduce(value) if isinstance(one, Need) or one.node is not node]
            return bool(options) and all(isinstance(one, Value) and self.is_number(one) for one in options)
        return False

    @cache  # noqa: B019
    def _annotations(self, attribute: str) -> frozenset[str]:
        fields = self.program.fields[attribute]
        return frozenset(map(source_of, fields)) | {
            source_of(one.node.returns)
            for one in self.program.methods[attribute]
            if is_property(one) and isinstance(one.node, FunctionNode)
        }

    # -- binding of needs

    def decides_text(self, need: Need) -> bool:
        """Return whether the value of a need is a string or contains messages."""
        annotation = source_of(need.frame.function.annotation(need.name))
        words = re.findall(r"\w+", annotation)
        is_text = not words or any(
            one in ("str", "Any", "Literal", "object", "Kind", "Severity") for one in words
        )
        return is_text or any(
            one.endswith(("Error", "Exception", "Kind")) or self._has_message(one) for one in words
        )

    @cache  # noqa: B019
    def _notice_calls(self) -> list[CallSite]:
        """Return the calls of callbacks for notices: those with a kind of notice first."""
        return [
            site
            for sites in self.program.calls.values()
            for site in sites
            if len(site.call.args) > 1
            and isinstance(site.call.args[0], ast.Constant)
            and site.call.args[0].value in NOTICE_KINDS
            and not self.program.callees(site.call, site.inside)
        ]

    def _fits_code(self, function: Function, site: CallSite) -> bool:
        """Return whether a call gives a code exactly if a function wants it first.

        Several classes have a method of the same name, such as `warn`, `report` or `add`.
        """
        first = site.call.args[0] if site.call.args else None
        if first is None or not function.parameters or not isinstance(site.call.func, ast.Attribute):
            return True
        texts = self.texts(Value(first, self.plain_frame(site.inside)))
        are_codes = bool(texts) and all(
            part in CODES or part in NOTICE_KINDS
            if isinstance(part, str)
            else part.source.lower().endswith(("code", "kind"))
            for text in texts
            for part in text
        )
        return are_codes == (function.parameters[0].arg in ("code", "kind"))

    def field_texts(self, made: Value, name: str) -> list[Text]:
        """Return what an attribute of a new record may be, as strings. name: see `field`."""
        return [
            text
            for one in self.field(made, name)
            for text in (
                self.texts(one) if isinstance(one, Value) else self._needed_texts(one, made, one.name)
            )
        ]

    def has_attribute(self, owner: Class, name: str) -> bool:
        """Return whether instances of a class have an attribute that their constructor sets."""
        init = self._method(owner, "__init__")
        return init is not None and name in self_values(init)

    def candidates(self, need: Need) -> list[tuple[Frame, CallSite]]:
        """Return the frame of a need with its value bound, and the call that binds it, for each caller."""
        frame = need.frame
        found = []
        sites = self.program.callers(frame.function)
        if [one.arg for one in frame.function.parameters][:2] == ["kind", "message"]:
            sites = [*sites, *self._notice_calls()]
        for site in sites:
            bound = self.bind(frame.function, Value(site.call, self.plain_frame(site.inside)))
            if bound is not None and self._fits_code(frame.function, site):
                arguments = {**bound.arguments, **frame.arguments}
                found.append((Frame(frame.function, arguments, frame.unknown | bound.unknown), site))
        return found
