"""Settings in `_config.yml` that an import reads. Also URLs from permalinks, and conversion to
`blogsmith.yaml`."""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any
from zoneinfo import available_timezones

from ...api.importing import lazy_pattern, name_set
from ..model import OldSettings
from ..source_files import matches_gitignore, read_text
from ..text.data import DataTextError, as_list, load_mapping, settings_error

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
    """A collection of documents, including `posts`."""

    name: str
    is_output: bool = True
    permalink: str = ""
    """Permalink pattern; empty for Jekyll's default."""


@dataclass(frozen=True, slots=True)
class JekyllConfig:
    """The settings of a Jekyll site."""

    values: Mapping[str, Any] = field(default_factory=dict)
    """Content of `_config.yml`."""
    folder: PurePosixPath = field(default_factory=PurePosixPath)
    """Folder of the site in its repository, for example `docs`."""

    def text(self, name: str, default: str = "") -> str:
        """Return a setting that is a string or number, on one line; otherwise `default`."""
        value = self.values.get(name)
        return " ".join(str(value).split()) if isinstance(value, (str, int, float)) else default

    @property
    def base_path(self) -> str:
        """Return `baseurl` with a leading slash and no trailing slash; empty at the root of a host."""
        path = self.text("baseurl").strip("/")
        return f"/{path}" if path else ""

    @property
    def permalink(self) -> str:
        """Return the permalink pattern of posts. A named style such as `pretty` is replaced by its
        pattern."""
        return _STYLES.get(written := self.text("permalink", "date"), written)

    @property
    def collections(self) -> dict[str, Collection]:
        """Return name → collection, including `posts`."""
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
        """Return whether the setting `exclude` excludes a file. path: relative to `folder`."""
        patterns = list(map(str, as_list(self.values.get("exclude") or [])))
        return matches_gitignore(path.as_posix(), patterns, is_anchored=True)

    @property
    def included(self) -> frozenset[str]:
        """Return the files and folders in the setting `include`. They are part of the site although their
        names begin with `_` or `.`."""
        return frozenset(str(each).strip("/") for each in as_list(self.values.get("include") or []))

    @property
    def parses_html(self) -> bool:
        """Return whether kramdown reads the content of all HTML blocks as Markdown."""
        kramdown = self.values.get("kramdown")
        return isinstance(kramdown, dict) and kramdown.get("parse_block_html") is True

    @property
    def sets_dollars_as_display(self) -> bool:
        """Return whether every `$$…$$` is display math, because kramdown has no math engine. It then leaves
        formulas unchanged, and MathJax or KaTeX renders them in the browser."""
        kramdown = self.values.get("kramdown")
        engine = kramdown.get("math_engine", "mathjax") if isinstance(kramdown, dict) else "mathjax"
        return engine in (None, False, "nil", "null", "")

    def defaults(self, path: PurePosixPath, kind: str) -> dict[str, Any]:
        """Return the front matter of a file according to the setting `defaults`. kind: `posts`, `pages` or a
        collection."""
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
    """Return the folder of `_config.yml`, relative to `root`; None if there is none."""
    for folder in ("", "docs", "site", "blog", "src", "website"):
        if (root / folder / CONFIG).is_file():
            return PurePosixPath(folder)
    return None


def read_config(root: Path) -> JekyllConfig:
    """Return the settings of the site at `root`. Raise SiteError if they are not valid YAML."""
    folder = find_config(root) or PurePosixPath()
    text = read_text(root / folder / CONFIG) or ""
    try:
        return JekyllConfig(load_mapping(text), folder)
    except DataTextError as error:
        raise settings_error(text, folder / CONFIG, error) from error


_PLACEHOLDER = lazy_pattern(
    r":(output_ext|short_year|short_month|short_day|long_day|long_month|slugified_categories|categories|"
    r"collection|y_day|i_month|i_day|minute|second|title|month|year|hour|name|path|slug|week|day)"
)
_INVALID_URL_CHARACTERS = lazy_pattern(r"[^\w.~!$&'()+,;=@]+")
_RAW = lazy_pattern(r"[^\w]+|_+")


def expand(
    pattern: str,
    *,
    title: str,
    date: dt.date | None,
    categories: Sequence[str] = (),
    collection: str = "",
    path: str = "",
) -> str:
    """Return the URL of a document, without the base path. pattern: permalink pattern. path: path of the
    document in its collection, without extension."""
    values: dict[str, str] = {
        **{
            "title": case_preserving_slug(title),
            "slug": slugify(title),
            "name": slugify(path.rpartition("/")[2]),
        },
        **{"collection": collection, "path": path, "output_ext": ".html"},
        "categories": "/".join(dict.fromkeys(each.lower().replace(" ", "%20") for each in categories)),
        "slugified_categories": "/".join(dict.fromkeys(map(slugify, categories))),
    }
    if date:
        values |= {name: date.strftime(form) for name, form in _DATES.items()}
        values |= {"i_month": str(date.month), "i_day": str(date.day)}
    filled = _PLACEHOLDER.sub(lambda found: values.get(found[1], ""), pattern)
    return "/" + re.sub("/{2,}", "/", filled).lstrip("/")


_DATES: Mapping[str, str] = {
    **{"year": "%Y", "short_year": "%y", "month": "%m", "day": "%d", "y_day": "%j", "week": "%V"},
    **{"hour": "%H", "minute": "%M", "second": "%S", "short_day": "%a", "long_day": "%A"},
    **{"short_month": "%b", "long_month": "%B"},
}


def convert_pattern(pattern: str) -> str:
    """Return a pattern for blogsmith's `permalinks` that gives the same or similar URLs as a permalink
    pattern of Jekyll; empty if there is none."""
    own = pattern.replace(":output_ext", "/").replace(":title", ":slug").replace(":categories/", "")
    own = re.sub(r"\.html$", "/", own)
    if not own.endswith("/"):
        own += "/"
    names = set(re.findall(r":(\w+)", own))
    known = {"slug", "year", "month", "day"}
    return "/" + re.sub("/{2,}", "/", own).lstrip("/") if "slug" in names and names <= known else ""


def slugify(text: str) -> str:
    """Return a slug as Jekyll makes it. It is in lower case, with hyphens instead of all characters except
    letters and digits."""
    return _RAW.sub("-", unicodedata.normalize("NFC", text).lower()).strip("-")


def case_preserving_slug(text: str) -> str:
    """Return a file name as Jekyll inserts it for `:title` in a permalink. Only characters that are invalid
    in URLs are changed."""
    return _INVALID_URL_CHARACTERS.sub("-", text).strip("-")


def read_names(value: Any) -> list[str]:
    """Return tags or categories as Jekyll reads them, which are the items of a list or the words of a
    string."""
    if isinstance(value, str):
        return value.split()
    if isinstance(value, list):
        return [str(each) for each in value if each is not None and str(each).strip()]
    return [] if value is None else [str(value)]


_TRANSLATED = name_set(
    "title name description tagline author.name author first_name middle_name last_name url baseurl "
    "lang locale timezone permalink collections defaults exclude include "
    "kramdown.parse_block_html kramdown.math_engine jekyll-archives scholar.source scholar.bibliography "
    "scholar.first_name scholar.last_name scholar.query navigation navbar-links header_pages plugins.jemoji"
)


def old_settings(config: JekyllConfig) -> OldSettings:
    """Return the settings in `_config.yml`, and the names of those that the importer reads."""
    values = {key: value for key, value in config.values.items() if key != "defaults"}
    return OldSettings((config.folder / CONFIG).as_posix(), values, _TRANSLATED)


def site_settings(config: JekyllConfig, macros: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings of the new site. Old settings that blogsmith does not have are left out."""
    title = config.text("title") or config.text("name")
    # in al-folio, `blank` is the name of the author
    title = (config_author(config) if title == "blank" else "") or title
    found: dict[str, Any] = {"title": title or "Untitled site"}
    if description := config.text("description") or config.text("tagline"):
        found["description"] = description
    if author := config_author(config):
        found["author"] = author
    if address := _base_url(config):
        found["base_url"] = address
    if lang := config.text("lang") or config.text("locale"):
        found["lang"] = lang.replace("_", "-")
    zone = config.text("timezone")
    if zone in available_timezones():
        found["timezone"] = zone
    if permalinks := _permalinks(config):
        found["permalinks"] = permalinks
    # typography and heading ids as in kramdown, and images of other hosts loaded directly, as on the old site
    found["markup"] = {"smart_quotes": True}
    kramdown = config.values.get("kramdown")
    if isinstance(kramdown, dict) and kramdown.get("hard_wrap") is True:
        found["markup"]["line_breaks"] = True
    found["slugs"] = "github"
    found["images"] = {"remote": "warn"}
    found["embeds"] = {"remote": "warn"}
    if macros:
        found["math"] = {"macros": dict(macros)}
    return found


def config_author(config: JekyllConfig) -> str:
    """Return the name of the site's author; empty if the settings contain none."""
    written = config.values.get("author")
    if isinstance(written, dict):
        return " ".join(str(written.get("name") or "").split())
    names = [config.text(f"{part}_name") for part in ("first", "middle", "last")]
    social = config.values.get("social")
    other = str(social.get("name") or "") if isinstance(social, dict) else ""
    return config.text("author") or " ".join(filter(None, names)) or other


def _base_url(config: JekyllConfig) -> str:
    host = config.text("url").rstrip("/")
    return f"{host}{config.base_path}" if host.startswith(("https://", "http://")) else ""


def _permalinks(config: JekyllConfig) -> dict[str, str]:
    """Return collection → pattern for blogsmith's `permalinks`. Collections whose pattern cannot be converted
    are left out."""
    found = {}
    for collection in config.collections.values():
        pattern = convert_pattern(collection.permalink) if collection.permalink else ""
        if collection.is_output and pattern and pattern != f"/{collection.name}/:slug/":
            found[collection.name] = pattern
    return found
