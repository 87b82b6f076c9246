"""Settings in `mkdocs.yml` and `zensical.toml` that the importer reads. No code in them is executed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from ...api.importing import Diagnostic, SiteError, lazy_pattern, name_set
from ..model import Notice, OldSettings
from ..source_files import matches_gitignore, matches_regex, read_text
from ..text.data import DataTextError, as_list, load_data, load_mapping

_FOLDERS = ("", "docs", "website", "site", "doc", "mkdocs", "docs/en")
_OTHER_SITES = ("_posts", "_quarto.yml", "hugo.toml", "hugo.yaml", "archetypes")
_NAMES = ("mkdocs.yml", "mkdocs.yaml", "zensical.toml", "zensical.yml")
_PYTHON_TAG = lazy_pattern(r"!!python/[\w/]+:[\w.]*(?P<has_value>[ \t]*(?:(?=\{)|$))?", re.MULTILINE)
"""Matches a Python tag in YAML. `has_value`: the tag has a value in braces or on the following lines."""
_ENVIRONMENT = lazy_pattern(r"!ENV\s+(?:\[[^\[\]]*?,?\s*([^\[\],]*)\]|[\w]+)")


_TRANSLATED = name_set(
    "site_name site_description site_author site_url docs_dir nav theme.language use_directory_urls "
    "exclude_docs draft_docs not_in_nav markdown_extensions"
)


@dataclass(frozen=True, slots=True)
class MkDocsConfig:
    """The settings of a MkDocs or Zensical site."""

    file: PurePosixPath
    """Path of the settings file, relative to the root of the source."""
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def old_settings(self) -> OldSettings:
        """Return the settings of the old site. They include the names of the settings that the importer
        reads."""
        return OldSettings(self.file.as_posix(), self.values, _TRANSLATED)

    @property
    def folder(self) -> PurePosixPath:
        """Return the folder of the settings file, relative to the root of the source."""
        return self.file.parent

    @property
    def docs(self) -> PurePosixPath:
        """Return the folder of the pages, relative to the root of the source."""
        written = str(self.values.get("docs_dir") or "docs").strip("./ ").rstrip("/")
        return self.folder / written

    def text(self, name: str) -> str:
        """Return a setting that is a string or number, on one line; otherwise an empty string."""
        value = self.values.get(name)
        return " ".join(str(value).split()) if isinstance(value, (str, int, float)) else ""

    def text_lines(self, name: str) -> list[str]:
        """Return the lines of a setting that contains one pattern per line, without comments."""
        value = self.values.get(name)
        return [line for line in str(value).split("\n") if not line.startswith("#")] if value else []

    def excluding_setting(self, path: str) -> str:
        """Return a description of the setting or plugin that excludes a file from the site; empty if the file
        is not excluded. path: path relative to the folder of the pages."""
        if matches_gitignore(path, self.text_lines("exclude_docs")):
            return 'setting "exclude_docs"'
        for name, prefix in (("exclude", ""), ("excluder", ""), ("file-filter", "exclude_")):
            options = self.plugins.get(name, {})
            globs, patterns = (as_list(options.get(f"{prefix}{kind}") or []) for kind in ("glob", "regex"))
            if any(fnmatchcase(path, str(each)) for each in globs) or any(
                matches_regex(path, str(each)) for each in patterns
            ):
                return f'plugin "{name}"'
        return ""

    def is_draft(self, path: str) -> bool:
        """Return whether `draft_docs` excludes a page from the published site."""
        return matches_gitignore(path, self.text_lines("draft_docs"))

    @property
    def encrypts_all(self) -> bool:
        """Return whether the plugin `encryptcontent` encrypts each page that its front matter does not make
        public."""
        options = self.plugins.get("encryptcontent", {})
        inventory = options.get("password_inventory")
        has_level = isinstance(inventory, dict) and "_global" in inventory
        # environment values are read as null, and a password file is rarely in the repository
        is_given = "global_password" in options and options["global_password"] != ""
        return is_given or has_level or bool(options.get("password_file"))

    @property
    def blog_folder(self) -> str:
        """Return the folder of Material's blog, relative to the folder of the pages; empty if the site has no
        blog."""
        options = self.plugins.get("blog")
        return str(options.get("blog_dir") or "blog").strip("./") if options is not None else ""

    @property
    def has_pretty_urls(self) -> bool:
        """Return whether URLs end with a slash, according to `use_directory_urls`."""
        return self.values.get("use_directory_urls") is not False

    @property
    def extensions(self) -> dict[str, dict[str, Any]]:
        """Return name → options of each Markdown extension."""
        return _options_by_name(self.values.get("markdown_extensions"))

    @property
    def plugins(self) -> dict[str, dict[str, Any]]:
        """Return name → options of each plugin."""
        return {
            name.removeprefix("material/"): each
            for name, each in _options_by_name(self.values.get("plugins")).items()
        }

    @property
    def language(self) -> str:
        """Return the language of the theme; empty if it is not set."""
        theme = self.values.get("theme")
        return str(theme.get("language") or "") if isinstance(theme, dict) else ""

    @property
    def variables(self) -> dict[str, str]:
        """Return name → value of the variables under `extra`; empty if the site does not use the plugin
        `macros`, which prints them."""
        extra = self.values.get("extra")
        items = extra.items() if isinstance(extra, dict) and "macros" in self.plugins else ()
        return {str(key): str(value) for key, value in items if isinstance(value, (str, int, float))}

    @property
    def redirects(self) -> dict[str, str]:
        """Return the redirects of the plugin `redirects`, as file of the old page → file or URL of its
        replacement."""
        maps = self.plugins.get("redirects", {}).get("redirect_maps")
        return {str(old): str(new) for old, new in maps.items()} if isinstance(maps, dict) else {}

    def has(self, *extensions: str) -> bool:
        """Return whether one of these extensions is enabled. If the settings name no extension, all are
        enabled, as in Zensical."""
        known = self.extensions
        return not known or any(name in known for name in extensions)


def _options_by_name(value: Any) -> dict[str, dict[str, Any]]:
    """Return name → options of each extension or plugin. value: list of names and of mappings name → options,
    or one mapping. A nested TOML table `a: {b: {…}}` also gives the name `a.b`."""
    items = as_list(value)
    found: dict[str, dict[str, Any]] = {}
    for item in items:
        if isinstance(item, str):
            found[item] = {}
        elif isinstance(item, dict):
            for name, options in item.items():
                options = options if isinstance(options, dict) else {}
                found[str(name)] = options
                found |= {f"{name}.{key}": each for key, each in options.items() if isinstance(each, dict)}
    return found


def find_config(root: Path) -> PurePosixPath | None:
    """Return the path of the settings file, relative to `root`; None if there is none."""
    # a site of another system may have a MkDocs site below it as documentation, so it is not MkDocs
    folders = _FOLDERS[:1] if any((root / name).exists() for name in _OTHER_SITES) else _FOLDERS
    for folder in folders:
        for name in _NAMES:
            if (root / folder / name).is_file():
                return PurePosixPath(folder) / name
    return None


def read_config(root: Path) -> MkDocsConfig:
    """Return the settings of the site at `root`. Raise SiteError if they are missing or cannot be read."""
    file = find_config(root)
    if file is None:
        message = f'missing "mkdocs.yml" or "zensical.toml" in "{root}"'
        raise SiteError(Diagnostic("import-source", message, hint="write the folder that contains it"))
    return MkDocsConfig(file, _load(root, file, 0))


def _without_tag(found: re.Match[str]) -> str:
    return "null" if found["has_value"] is None else ""


def _load(root: Path, file: PurePosixPath, depth: int) -> dict[str, Any]:
    text = read_text(root / file) or ""
    try:
        if file.suffix == ".toml":
            data = load_data(text, "toml")
            project = data.get("project")
            return project if isinstance(project, dict) else data
        # Python tags and environment variables are never resolved
        plain = _ENVIRONMENT.sub(lambda found: found[1] or "null", _PYTHON_TAG.sub(_without_tag, text))
        values = load_mapping(re.sub(r"(:\s*)!relative\b.*", r"\1null", plain))
    except DataTextError as error:
        message = f"invalid settings: {error}"
        hint = "correct this file in the source"
        raise SiteError(Diagnostic("import-source", message, file.as_posix(), hint=hint)) from error
    parent = values.pop("INHERIT", None)
    if isinstance(parent, str) and depth < 5 and (root / file.parent / parent).is_file():
        values = _load(root, PurePosixPath(file.parent / parent), depth + 1) | values
    return values


_PLUGINS = name_set(
    "search tags blog macros redirects exclude excluder file-filter encryptcontent literate-nav "
    "awesome-pages awesome-nav nav section-index minify git-revision-date git-revision-date-localized "
    "git-authors git-committers git-committers-2 social privacy offline optimize meta typeset "
    "projects group info rss glightbox lightbox mkdocs-jupyter jupyter mknotebooks roamlinks "
    "ezlinks wikilinks autolinks autorefs same-dir mermaid2 "
    "exporter with-pdf pdf-export print-site swagger-ui-tag callouts statistics"
)
"""Plugins that the importer translates, or that do not change the text of pages."""
_EXTENSIONS = name_set(
    "abbr admonition attr_list codehilite def_list extra fenced_code footnotes legacy_attrs legacy_em "
    "md_in_html meta nl2br sane_lists smarty tables toc wikilinks mdx_math mdx_truly_sane_lists "
    "markdown_katex python_markdown_math mdx_breakless_lists markdown_checklist callouts"
)
"""Extensions of Markdown that the importer translates."""


def code_notices(config: MkDocsConfig) -> Iterator[Notice]:
    """Yield a notice for each hook, and for each plugin or extension that the importer does not know."""
    hint = "copy what it adds from the old pages"
    hooks = [str(each) for each in as_list(config.values.get("hooks") or [])]
    known = ("pymdownx", "material", "zensical")
    extensions = (name.removeprefix("markdown.extensions.") for name in config.extensions)
    unknown = [name for name in extensions if name not in _EXTENSIONS and not name.startswith(known)]
    for what, names in (
        ('setting "hooks" has no effect:', hooks),
        ("unknown plugin", sorted({name.partition(".")[0] for name in config.plugins} - _PLUGINS)),
        ("unknown Markdown extension", unknown),
    ):
        for name in names:
            yield Notice("left", f'{what} "{name}"', config.file.as_posix(), hint=hint)
