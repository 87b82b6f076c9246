"""`_config.yml`: what of it shapes the site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from ...base.diagnostics.model import Diagnostic, Place, SiteError
from ..source_files import read_text
from ..text.front_values import list_of
from ..text.loose_yaml import DataTextError, load_mapping
from ..text.path_patterns import matches_gitignore

CONFIG = "_config.yml"
_STYLES: Mapping[str, str] = {
    "date": "/:categories/:year/:month/:day/:title:output_ext",
    "pretty": "/:categories/:year/:month/:day/:title/",
    "ordinal": "/:categories/:year/:y_day/:title:output_ext",
    "weekdate": "/:categories/:year/W:week/:short_day/:title:output_ext",
    "none": "/:categories/:title:output_ext",
}


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection of documents, `posts` among them."""

    name: str
    is_output: bool = True
    permalink: str = ""
    """Pattern of addresses; empty: Jekyll's default."""


@dataclass(frozen=True, slots=True)
class JekyllConfig:
    """The settings of a Jekyll site."""

    values: Mapping[str, Any] = field(default_factory=dict)
    """All of `_config.yml`."""
    folder: PurePosixPath = field(default_factory=PurePosixPath)
    """Where the site lies in its repository: `docs` for some."""

    def text(self, name: str, default: str = "") -> str:
        """A setting that is a text, in one line."""
        value = self.values.get(name)
        return " ".join(str(value).split()) if isinstance(value, (str, int, float)) else default

    @property
    def base_path(self) -> str:
        """`baseurl` with a slash in front and none behind; empty at a host's root."""
        path = self.text("baseurl").strip("/")
        return f"/{path}" if path else ""

    @property
    def permalink(self) -> str:
        """The pattern of posts, a named style spelt out."""
        return _STYLES.get(written := self.text("permalink", "date"), written)

    @property
    def collections(self) -> dict[str, Collection]:
        """Name → collection; posts are one of them."""
        written = self.values.get("collections")
        names = {str(name): {} for name in written} if isinstance(written, list) else written
        found = {"posts": Collection("posts", permalink=self.permalink)}
        for name, options in names.items() if isinstance(names, dict) else ():
            options = options if isinstance(options, dict) else {}
            permalink = str(options.get("permalink") or "")
            permalink = _STYLES.get(permalink, permalink) or (self.permalink if name == "posts" else "")
            is_output = bool(options.get("output", False)) or name == "posts"
            found[str(name)] = Collection(str(name), is_output, permalink)
        return found

    def excludes(self, path: PurePosixPath) -> bool:
        """Return whether `exclude:` leaves a file out of the site. path: relative to `folder`.

        Hexo writes its patterns relative to its folder `source`.
        """
        patterns = [
            str(each) for key in ("exclude", "ignore") for each in list_of(self.values.get(key) or [])
        ]
        inner = path.relative_to("source") if path.parts[0] == "source" else path
        names = {path.as_posix(), inner.as_posix()}
        return any(matches_gitignore(name, patterns, is_anchored=True) for name in names)

    @property
    def included(self) -> frozenset[str]:
        """Names that `include:` takes into the site although they begin with `_` or `.`."""
        return frozenset(str(each).strip("/") for each in list_of(self.values.get("include") or []))

    @property
    def encrypted_tags(self) -> frozenset[str]:
        """Tags whose posts hexo-blog-encrypt encrypts, in lower case."""
        options = self.values.get("encrypt")
        written = options.get("tags") if isinstance(options, dict) else []
        names = [each.get("name") if isinstance(each, dict) else each for each in list_of(written or [])]
        return frozenset(str(name).strip().casefold() for name in names if name)

    @property
    def parses_html(self) -> bool:
        """Whether HTML holds Markdown without asking for it."""
        kramdown = self.values.get("kramdown")
        return isinstance(kramdown, dict) and kramdown.get("parse_block_html") is True

    @property
    def sets_dollars_as_display(self) -> bool:
        """Whether kramdown leaves formulas alone, so `$$` means what it means to MathJax or KaTeX."""
        kramdown = self.values.get("kramdown")
        engine = kramdown.get("math_engine", "mathjax") if isinstance(kramdown, dict) else "mathjax"
        return engine in (None, False, "nil", "null", "")

    def defaults(self, path: PurePosixPath, kind: str) -> dict[str, Any]:
        """Front matter that `defaults:` gives to a file of a kind (`posts`, `pages`, a collection)."""
        found: dict[str, Any] = {}
        written = self.values.get("defaults")
        scopes = [each for each in written if isinstance(each, dict)] if isinstance(written, list) else []
        for entry in scopes:
            scope, values = entry.get("scope") or {}, entry.get("values") or {}
            if not isinstance(scope, dict) or not isinstance(values, dict):
                continue
            folder = str(scope.get("path") or "").strip("/")
            is_inside = not folder or path.as_posix() == folder or path.as_posix().startswith(f"{folder}/")
            if is_inside and scope.get("type") in (None, "", kind):
                found |= values
        return found


def find_config(root: Path) -> PurePosixPath | None:
    """Where `_config.yml` stands, relative to `root`; None if there is none."""
    for folder in ("", "docs", "site", "blog", "src", "website"):
        if (root / folder / CONFIG).is_file():
            return PurePosixPath(folder)
    return None


def read_config(root: Path) -> JekyllConfig:
    """The settings of the site at `root`. SiteError if they are no YAML."""
    folder = find_config(root) or PurePosixPath()
    text = read_text(root / folder / CONFIG) or ""
    try:
        return JekyllConfig(load_mapping(text), folder)
    except DataTextError as error:
        path = (folder / CONFIG).as_posix()
        lines = text.split("\n")
        line = lines[error.line - 1] if error.line <= len(lines) else ""
        raise SiteError(
            Diagnostic(
                "import-source", f"the settings cannot be read: {error}", path, Place(error.line), line
            )
        ) from error
