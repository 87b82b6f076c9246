"""What the pages of a project know of each other: addresses, labels, variables."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from ...base.patterns import lazy_pattern
from ...model.slugs import slugify
from ..source_files import read_text
from ..text.front_values import list_of
from ..text.loose_yaml import DataTextError, load_mapping
from .config import QuartoConfig
from .source import SUFFIXES, QuartoDocument, resolve

_LABEL = lazy_pattern(
    r"\{[^{}\n]*#((?:fig|tbl|eq|sec|lst|thm|lem|cor|prp|def|exm|exr|cnj|rem|alg)-[\w.:-]+)|#\|\s*label:\s*((?:fig|tbl)-[\w.-]+)"
)
_SCHEME = re.compile(r"(?:[A-Za-z][\w+.-]*:|//|#)")


@dataclass(frozen=True, slots=True)
class ProjectIndex:
    """All documents and files of a project."""

    documents: Mapping[PurePosixPath, QuartoDocument]
    others: frozenset[PurePosixPath]
    base_path: str = ""
    base_url: str = ""
    drafts: Sequence[str] = ()
    variables: Mapping[str, Any] = field(default_factory=dict)
    """Of `_variables.yml`."""
    labels: Mapping[str, tuple[PurePosixPath, ...]] = field(default_factory=dict)
    """Label → documents on which it stands."""
    by_stem: Mapping[PurePosixPath, PurePosixPath] = field(default_factory=dict)
    """Path without its ending → document."""

    def slug_of(self, label: str, document: QuartoDocument) -> str:
        """Slug of the one other page on which a label stands; empty if it stands here, or nowhere."""
        places = self.labels.get(label, ())
        if document.path in places or len(places) != 1:
            return ""
        return slugify(places[0].parent.name if places[0].stem == "index" else places[0].stem)

    def resolve(self, address: str, document: QuartoDocument) -> tuple[str, frozenset[PurePosixPath]]:
        """An address as it is on the new site, and the files of the source that it names."""
        written = address.strip()
        if self.base_url and (written + "/").startswith(f"{self.base_url}/"):
            written = written[len(self.base_url) :] or "/"
        if not written or _SCHEME.match(written):
            return address, frozenset()
        path, mark, anchor = written.partition("#")
        path = unquote(path.partition("?")[0])
        if self.base_path and path.startswith(f"{self.base_path}/"):
            path = path[len(self.base_path) :]
        target = resolve(path, document.path)
        if found := self._document(target, path):
            return posixpath.relpath(found.new_path, document.new_path.parent) + mark + anchor, frozenset()
        if target in self.others:
            return (f"/{target.as_posix()}" if path.startswith("/") else path), frozenset((target,))
        return written, frozenset()

    def _document(self, target: PurePosixPath, path: str) -> QuartoDocument | None:
        """The document that a path names: its file, its page, or a folder with an index."""
        if target in self.documents:
            return self.documents[target]
        stem = target.with_suffix("") if target.suffix.lower() in (".html", *SUFFIXES) else None
        stems = [stem] if stem else [target / "index"] if path.endswith("/") or not target.suffix else []
        return next((self.documents[self.by_stem[each]] for each in stems if each in self.by_stem), None)


def index_site(
    root: Path, config: QuartoConfig, documents: Sequence[QuartoDocument], others: Sequence[PurePosixPath]
) -> ProjectIndex:
    """The index of a project."""
    labels: dict[str, tuple[PurePosixPath, ...]] = {}
    for document in documents:
        for found in set(_LABEL.findall(document.body)):
            label = found[0] or found[1]
            labels[label] = (*labels.get(label, ()), document.path)
    drafts = config.site.get("drafts") or []
    return ProjectIndex(
        documents={document.path: document for document in documents},
        others=frozenset(others),
        base_path=config.base_path,
        base_url=config.base_url,
        drafts=tuple(str(each).lstrip("/") for each in list_of(drafts)),
        variables=_variables(root),
        labels=labels,
        by_stem={document.path.with_suffix(""): document.path for document in documents},
    )


def _variables(root: Path) -> dict[str, Any]:
    try:
        return load_mapping(read_text(root / "_variables.yml") or "")
    except DataTextError:
        return {}
