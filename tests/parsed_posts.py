"""Parsing of a post with the settings of a small site."""

from __future__ import annotations

from pathlib import PurePosixPath

from blogsmith.config.load import parse_config
from blogsmith.hooks import Plugins
from blogsmith.model.cells import Cell
from blogsmith.model.documents import Source
from blogsmith.project.context import parse_options
from blogsmith.read.front_matter import read_document
from blogsmith.syntax.parser import Parsed, make_parser, parse_document


def parse(text: str, config: str = "") -> Parsed:
    """Parse the post `content/posts/a.md` with this content. config: content of `blogsmith.yaml`."""
    settings = parse_config(config).config
    options = parse_options(settings, Plugins(), frozenset())
    document, _ = read_document(Source(PurePosixPath("content/posts/a.md"), text, ""), settings)
    return parse_document(document, make_parser(options), options)


def only(text: str, config: str = "") -> Cell:
    """Return the only cell of a post without errors."""
    parsed = parse(text, config)
    assert [d.message for d in parsed.diagnostics] == []
    (cell,) = parsed.cells.cells
    return cell
