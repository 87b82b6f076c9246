"""What the pages of one Jekyll site share: its settings, documents by name, includes, data, macros."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from ..macros import script_macros, tex_macros
from ..source_files import read_text, walk_files
from ..text.loose_yaml import DataTextError, load_yaml
from .config import JekyllConfig
from .liquid.parse import Nodes, parse_liquid
from .lists import list_layouts
from .source import JekyllDocument, JekyllFiles, documents_by_name

_SCRIPTS = frozenset((".html", ".js", ".md", ".liquid"))


@dataclass(frozen=True, slots=True)
class JekyllSite:
    """A site, read but for the texts of its pages."""

    root: Path
    config: JekyllConfig
    files: JekyllFiles
    posts: Mapping[str, JekyllDocument]
    """What `post_url` may call a post → the post."""
    paths: Mapping[str, JekyllDocument]
    """Path in the site → document, for `link`."""
    addresses: Mapping[str, JekyllDocument]
    """Address without slashes at its end, `.html` and `index.html` → document."""
    copied: frozenset[str]
    """Site paths of files that are copied."""
    includes: Mapping[str, Nodes]
    """Name of a file under `_includes/` → its template."""
    data: Mapping[str, Any]
    """`site.data`."""
    macros: Mapping[str, str]
    """TeX macros of the whole site."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Name of a file under `_includes/` → its text."""
    list_layouts: frozenset[str] = frozenset()
    """Layouts that show a list of posts."""


def read_site(root: Path, config: JekyllConfig, files: JekyllFiles) -> JekyllSite:
    """All that pages may ask for."""
    folder = root / config.folder
    posts: dict[str, JekyllDocument] = {}
    for name, document in documents_by_name(files.documents):
        posts.setdefault(name, document)
        posts.setdefault(name.rpartition("/")[2], document)
    texts = _texts(folder / "_includes")
    return JekyllSite(
        root=root,
        config=config,
        files=files,
        posts=posts,
        paths={_inside(each.path, config): each for each in files.documents},
        addresses={address_key(each.address): each for each in files.documents if each.address},
        copied=frozenset(f"/{_inside(path, config)}" for path in files.copied),
        includes={name: parse_liquid(text) for name, text in texts.items()},
        data=_data(folder / "_data"),
        macros=_macros(folder, texts),
        texts=texts,
        list_layouts=list_layouts(_layouts(folder / "_layouts")),
    )


def address_key(address: str) -> str:
    """An address as it is looked up: what hosts answer alike is alike."""
    return (
        address.partition("#")[0]
        .partition("?")[0]
        .removesuffix("index.html")
        .removesuffix(".html")
        .strip("/")
    )


def _inside(path: PurePosixPath, config: JekyllConfig) -> str:
    return path.relative_to(config.folder).as_posix()


def _texts(folder: Path) -> dict[str, str]:
    if not folder.is_dir():
        return {}
    read = ((path.as_posix(), read_text(folder / path)) for path in walk_files(folder))
    return {name: text for name, text in read if text is not None}


def _layouts(folder: Path) -> dict[str, str]:
    """Name as front matter writes it → template."""
    return {name.rpartition(".")[0]: text for name, text in _texts(folder).items()}


def _data(folder: Path) -> dict[str, Any]:
    """Name of each YAML and JSON file under `_data/` → what it holds; nested folders nest."""
    found: dict[str, Any] = {}
    for path in walk_files(folder) if folder.is_dir() else ():
        text = read_text(folder / path) if path.suffix in (".yml", ".yaml", ".json") else None
        if text is None:
            continue
        try:
            value = json.loads(text) if path.suffix == ".json" else load_yaml(text)
        except (DataTextError, ValueError, RecursionError):
            continue
        place = found
        for part in path.parts[:-1]:
            place = place.setdefault(part, {})
        place[path.stem] = value
    return found


def _macros(folder: Path, includes: Mapping[str, str]) -> dict[str, str]:
    """Macros of settings of MathJax and KaTeX in layouts, includes and scripts, and of `.tex` files there."""
    found: dict[str, str] = {}
    texts = list(includes.values())
    for name in ("_layouts", "assets/js", "js", "assets/scripts", "public/js", "_scripts"):
        texts += _texts(folder / name).values() if (folder / name).is_dir() else ()
    for text in texts:
        if "acros" in text:
            found = script_macros(text) | found
        if "\\newcommand" in text and len(text) < 100_000:
            found = tex_macros(text) | found
    return found
