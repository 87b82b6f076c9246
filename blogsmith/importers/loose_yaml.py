"""YAML as other systems read it: anchors, `yes` and `no`, any size; dates stay texts."""

from __future__ import annotations

import re
from typing import Any

import yaml

from ..patterns import lazy_pattern

_HEAD = lazy_pattern(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_TIME = "tag:yaml.org,2002:timestamp"


class _Loader(yaml.SafeLoader):
    """Plain data only. Dates stay as they are written: what they mean depends on the site's time zone."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in every if tag != _TIME]
    for first, every in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_multi_constructor("!", lambda loader, suffix, node: None)


class LooseYamlError(Exception):
    """A text is no YAML; `line` is 1-based, in that text."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


def load_yaml(text: str) -> Any:
    """The data of a YAML text. Raises LooseYamlError."""
    try:
        # a tab is no indentation in YAML, and Ruby's reader takes it between key and value
        return yaml.load(text.replace("\t", "    "), Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise LooseYamlError(error.problem or "it is no YAML", line) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise LooseYamlError("it is no YAML", 1) from error


def load_mapping(text: str) -> dict[str, Any]:
    """The same of a text that holds a mapping; empty if it holds nothing. Keys are texts."""
    data = load_yaml(text)
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise LooseYamlError("it is no mapping", 1)
    return {str(key): value for key, value in data.items()}


def split_head(text: str) -> tuple[str, str, int]:
    """Front matter between `---` lines, the text behind it, and the 1-based line on which that starts."""
    found = _HEAD.match(text)
    if not found:
        return "", text, 1
    return found[1], text[found.end() :], text.count("\n", 0, found.end()) + 1
