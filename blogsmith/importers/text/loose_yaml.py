"""YAML as other systems read it: anchors, `yes` and `no`, any size; dates stay texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml

from ...base.patterns import lazy_pattern

_HEAD = lazy_pattern(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_LARGEST = 500_000
"""Values of a document, those behind aliases counted each time."""
_MOST_DIGITS = 1000
_TIME = "tag:yaml.org,2002:timestamp"


class _Loader(yaml.SafeLoader):
    """Plain data only. Dates stay as they are written: what they mean depends on the site's time zone."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in every if tag != _TIME]
    for first, every in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_multi_constructor("!", lambda loader, suffix, node: None)


def _integer(loader: _Loader, node: yaml.ScalarNode) -> Any:
    """A number; one that is too long to be printed is a text."""
    return node.value if len(node.value) > _MOST_DIGITS else loader.construct_yaml_int(node)


def _set(loader: _Loader, node: yaml.MappingNode) -> Iterator[dict[Any, Any]]:
    """Members as keys: a set would be written in another order each time."""
    return loader.construct_yaml_map(node)


_Loader.add_constructor("tag:yaml.org,2002:int", _integer)
_Loader.add_constructor("tag:yaml.org,2002:set", _set)


class DataTextError(Exception):
    """A text is not of the form it claims to be; `line` is 1-based, in that text."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def load_yaml(text: str) -> Any:
    """The data of a YAML text. Raises DataTextError."""
    # a tab is no indentation in YAML, and Ruby's reader takes it between key and value
    text = text.replace("\t", "    ")
    try:
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        if _size(node, {}) > _LARGEST:
            raise DataTextError("its anchors make it too large", 1)
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise DataTextError(error.problem or "it is no YAML", line) from error
    # constructors of explicit tags let out whatever their parts raise
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError, RecursionError) as error:
        raise DataTextError("it is no YAML", 1) from error


def _size(node: yaml.Node, known: dict[yaml.Node, int]) -> int:
    """Values of a document when each alias is what it stands for; too many of one that holds itself."""
    if node not in known:
        known[node] = _LARGEST + 1
        parts: list[yaml.Node] = []
        if isinstance(node, yaml.SequenceNode):
            parts = node.value
        elif isinstance(node, yaml.MappingNode):
            parts = [part for pair in node.value for part in pair]
        known[node] = 1 + sum(_size(part, known) for part in parts)
    return known[node]


def load_mapping(text: str) -> dict[str, Any]:
    """The same of a text that holds a mapping; empty if it holds nothing. Keys are texts."""
    data = load_yaml(text)
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise DataTextError("it is no mapping", 1)
    return {str(key): value for key, value in data.items()}


def split_head(text: str) -> tuple[str, str, int]:
    """Front matter between `---` lines, the text behind it, and the 1-based line on which that starts."""
    found = _HEAD.match(text)
    if not found:
        return "", text, 1
    return found[1], text[found.end() :], text.count("\n", 0, found.end()) + 1
