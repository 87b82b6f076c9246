"""A theme as read from disk: its settings, its templates and its static files, in order of precedence.

Everything is read here once; rendering does not access the disk. A file overrides the file with the same name
that comes later in this order: the site's own `layouts/`, `partials/` and `shortcodes/`, the theme, the
themes it `extends`, the folders of plugins. A symbolic link that points outside its folder is rejected.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from ...base.diagnostics.fixes import make_replacement
from ...base.diagnostics.model import (
    Diagnostic,
    Reporter,
    SiteError,
    confirm_typo,
    did_you_mean,
    format_suggestion,
    list_choices,
    nearest,
)
from ...base.installed import THEMES, installed_parts, part_path
from ...base.patterns import lazy_pattern
from ...base.storage.file_names import is_temporary_name
from ...config.validate import LANGUAGE
from ...languages.bundled_languages import printed_texts, read_language
from ...languages.language import Translation
from ...model.documents import Asset
from ...model.social_cards import CardStyle
from .loads import ALL_FILES, STATIC
from .open_comments import unclosed_comments
from .script_bundles import ScriptEntry
from .style_sheets import SheetEntry, StaticFile, css_mentions, file_version
from .template_blocks import unknown_blocks
from .theme_options import ThemeOption, merge_options
from .theme_settings import ColorPair, ThemeSettings, read_settings, report_conditions

TEMPLATE_KINDS = ("layouts", "partials", "shortcodes")
_OTHER_TEMPLATES = frozenset(
    (".ejs", ".hbs", ".htm", ".j2", ".jinja", ".jinja2", ".liquid", ".njk", ".pug", ".tmpl", ".tpl", ".twig")
)
"""File name extensions of templates in other systems."""
MINIFIED = "minified"
"""Folder of a theme with minified scripts, which are published instead of those in `static/`."""
ThemeTranslations: TypeAlias = Mapping[str, Mapping[str, Translation]]
"""Language tag in lower case → English text → translation: the translations of a theme and of the site."""
_NAME = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class TemplateFile(Struct, frozen=True):
    """A template as read from disk."""

    label: str
    """Path for messages: relative to the site root, or `themes/paper/layouts/post.html` if bundled."""
    text: str


class ThemeFiles(Struct, frozen=True):
    """All files of a theme. Of files with the same name, only the one of highest precedence is included."""

    name: str
    options: Mapping[str, ThemeOption]
    """Options that `site.options` may contain. Options of the theme override options of the themes that it
    extends."""
    templates: Mapping[str, TemplateFile]
    """Name → file. `layouts/post.html` is the file in use, `paper/layouts/post.html` that of `paper`."""
    static: Mapping[str, StaticFile]
    """Name under `static/` → file."""
    math_font: StaticFile | None = None
    """The full math font, from which builds make subsets; None if the theme has none. Its path is that of the
    folder for the subsets."""
    card: CardStyle = CardStyle()
    """Style of social cards."""
    styles: tuple[SheetEntry, ...] = ()
    """Stylesheets of pages, those of extended themes first."""
    scripts: tuple[ScriptEntry, ...] = ()
    """Scripts that every page has or that are joined, those of extended themes first."""
    contrast: tuple[ColorPair, ...] = ()
    """Pairs of colours that must have enough contrast, those of extended themes first."""
    warnings: tuple[Diagnostic, ...] = ()
    """Warnings about the theme's templates and translations."""
    languages: ThemeTranslations = {}
    """Translations of the theme and the site, in addition to the bundled ones."""

    own_folders: tuple[str, ...] = ()
    """Folders of templates that belong to the site, each ending in `/`."""
    package_paths: tuple[str, ...] = ()
    """Folders of the theme, or of themes it extends, that are part of installed packages."""

    def digest(self, *names: str) -> bytes:
        """Return a digest that changes if one of these files is changed, added or removed. names: names of
        files as `TemplateLoads` records them."""
        total = hashlib.blake2b(digest_size=16)
        for name in sorted(names):
            texts = self._version_strings(name)
            for text in (name, *texts):
                total.update(hashlib.blake2b(text.encode("utf-8", "surrogatepass")).digest())
            total.update(b"\0" if texts else b"\1")
        return total.digest()

    def _version_strings(self, name: str) -> Sequence[str]:
        """Return strings that identify the version of a file; empty if it does not exist."""
        if name == ALL_FILES:
            return (*sorted(self.templates), STATIC, *sorted(self.static))
        if static := self.static.get(name.removeprefix(STATIC)) if name.startswith(STATIC) else None:
            return (static.version,)
        file = self.templates.get(name)
        return (file.label, file.text) if file else ()

    @property
    def defaults(self) -> dict[str, Any]:
        """Default values of `site.options`."""
        return {name: option.default for name, option in self.options.items()}


class ThemeFolder(Struct, frozen=True):
    """One theme in a chain: the chosen theme, or one that it extends directly or indirectly."""

    name: str
    root: Path
    label: str
    """Path of the folder for messages."""
    settings: ThemeSettings
    reporter: Reporter
    """Reporter of errors in its theme.yaml."""

    @property
    def math_font(self) -> Path | None:
        """The file that its theme.yaml names as math font; None if it names none."""
        return (self.root / self.settings.math_font).resolve() if self.settings.math_font else None


class _ThemeFolders(Struct, frozen=True):
    """Folders that may contain themes. Arguments of this type are called `places`."""

    site_root: Path
    bundled: Path

    def is_own(self, path: Path) -> bool:
        """Return whether a file or folder belongs to the site, not to a bundled or installed theme."""
        return path.is_relative_to(self.site_root) and not path.is_relative_to(self.bundled)

    def label(self, path: Path) -> str:
        """Return `path` for messages: relative to the site root, or to the folder of bundled themes."""
        for base in (self.site_root, self.bundled.parent):
            if path.is_relative_to(base):
                return path.relative_to(base).as_posix()
        return "/".join(path.parts[-3:])

    def find(self, name: str) -> Path | None:
        """Return the folder of the theme `name`: of the site, otherwise bundled, otherwise in an installed
        package."""
        folders = (self.site_root / "themes" / name, self.bundled / name)
        found = next((folder for folder in folders if (folder / "theme.yaml").is_file()), None)
        return found or _installed_theme(name)

    def names(self) -> list[str]:
        """Return the names of all themes, sorted."""
        found = [*self.site_root.glob("themes/*/theme.yaml"), *self.bundled.glob("*/theme.yaml")]
        return sorted({*(file.parent.name for file in found), *installed_parts(THEMES)})


def theme_folders(site_root: Path, bundled: Path) -> list[ThemeFolder]:
    """Return all themes that a site can use, sorted by name. SiteError if a theme.yaml is invalid."""
    places = _ThemeFolders(site_root.resolve(), bundled.resolve())
    found = [(name, places.find(name)) for name in places.names()]
    return [_read_folder(name, root, places.label(root)) for name, root in found if root]


def _installed_theme(name: str) -> Path | None:
    """Return the folder of a theme in an installed package, or None. A theme contains templates, styles and
    scripts for pages, but no code that runs here, so it needs no consent."""
    part = installed_parts(THEMES).get(name)
    folder = part_path(part) if part else None
    return folder.resolve() if folder and (folder / "theme.yaml").is_file() else None


def read_theme_files(
    name: str, site_root: Path, bundled: Path, extra_shortcodes: Sequence[Path]
) -> ThemeFiles:
    """Read the theme `name` and all themes that it extends. SiteError with all errors found. The arguments
    are as in `load_theme`."""
    places = _ThemeFolders(site_root.resolve(), bundled.resolve())
    chain = _chain(name, places)
    problems: list[Diagnostic] = []
    templates: dict[str, TemplateFile] = {}
    for kind in TEMPLATE_KINDS:
        _add_templates(templates, kind, places.site_root / kind, places, problems)
    for folder in chain:
        for kind in TEMPLATE_KINDS:
            _add_templates(templates, kind, folder.root / kind, places, problems, theme=folder.name)
    for extra in extra_shortcodes:
        _add_templates(templates, "shortcodes", extra.resolve(), places, problems)
    static = _static_files(name, chain, places, problems)
    options: dict[str, ThemeOption] = {}
    for folder in reversed(chain):
        options = merge_options(options, folder.settings.options)
        report_conditions(folder.settings, options, folder.reporter)
    for folder in chain:
        problems += _missing_files(folder, static)
    roots = [*(folder.root for folder in reversed(chain)), places.site_root]
    languages, found = _languages(roots, templates, places, problems)
    problems += unclosed_comments(templates)
    if problems:
        raise SiteError(*problems)
    font = next((folder.math_font for folder in chain if folder.math_font), None)
    parents_first = [folder.settings for folder in reversed(chain)]
    own = [folder for folder in chain if places.is_own(folder.root)]
    return ThemeFiles(
        name=name,
        options=options,
        templates=templates,
        static=static,
        math_font=_math_font(name, font) if font else None,
        card=next((style for folder in chain if (style := _card_style(folder))), CardStyle()),
        styles=tuple(sheet for settings in parents_first for sheet in settings.styles),
        scripts=tuple(script for settings in parents_first for script in settings.scripts),
        contrast=tuple(pair for settings in parents_first for pair in settings.contrast),
        warnings=(*unknown_blocks(templates), *found, *_unread_files(chain, places)),
        languages=languages,
        own_folders=(*(f"{kind}/" for kind in TEMPLATE_KINDS), *(f"{one.label}/" for one in own)),
        package_paths=tuple(
            str(folder.root)
            for folder in chain
            if not any(folder.root.is_relative_to(known) for known in (places.site_root, places.bundled))
        ),
    )


def _unread_files(chain: Sequence[ThemeFolder], places: _ThemeFolders) -> Iterator[Diagnostic]:
    """Yield warnings about files of the site that look like templates or a theme but are not read."""
    for folder in chain:
        copy = places.site_root / "themes" / folder.name
        if folder.root != copy and places.is_own(copy) and copy.is_dir():
            message = f'"themes/{folder.name}" is not read because it has no theme.yaml'
            hint = (
                "move its templates to `layouts/` and `partials/`, or add `theme.yaml` if it is a whole theme"
            )
            yield Diagnostic(
                "template-unused", message, f"themes/{folder.name}", hint=hint, severity="warning"
            )
    roots = [places.site_root, *(folder.root for folder in chain if places.is_own(folder.root))]
    for kind in (root / kind for root in roots for kind in TEMPLATE_KINDS):
        for file in _files(kind, places, []):
            if file.suffix.lower() in _OTHER_TEMPLATES:
                message = f'"{file.name}" is not read because names of templates end in ".html"'
                hint = f"rename it to `{file.name.partition('.')[0]}.html`"
                yield Diagnostic(
                    "template-unused", message, places.label(file), hint=hint, severity="warning"
                )


def _languages(
    roots: Sequence[Path],
    templates: Mapping[str, TemplateFile],
    places: _ThemeFolders,
    problems: list[Diagnostic],
) -> tuple[dict[str, dict[str, Translation]], list[Diagnostic]]:
    """Return the translations in the folders `languages/` of `roots`, and warnings. Later folders override
    earlier ones. Errors are added to `problems`."""
    found: dict[str, dict[str, Translation]] = {}
    warnings: list[Diagnostic] = []
    files = [file for root in roots for file in _files(root / "languages", places, problems)]
    known = printed_texts(file.text for file in templates.values()) if files else frozenset()
    for file in files:
        label = places.label(file)
        text = _read_text(file, label, problems)
        reporter = Reporter(label, (text or "").splitlines())
        tag = file.stem.lower()
        if file.suffix != ".yaml" or not LANGUAGE.fullmatch(tag):
            hint = "rename it to a language tag, such as `de.yaml` or `pt-br.yaml`"
            reporter.error("language-value", f'invalid language tag "{file.name}"', None, hint)
        elif text is not None:
            found[tag] = found.get(tag, {}) | read_language(text, reporter, known)
        for diagnostic in reporter.diagnostics:
            (problems if diagnostic.severity == "error" else warnings).append(diagnostic)
    return found, warnings


def _missing_files(folder: ThemeFolder, static: Mapping[str, StaticFile]) -> Iterator[Diagnostic]:
    """Yield errors for stylesheets and scripts that theme.yaml names and no theme in its chain contains."""
    settings, located = folder.settings, folder.settings.located
    declared = {
        "styles": [sheet.file for sheet in settings.styles],
        "scripts": [script.file for script in settings.scripts],
    }
    for key, names in declared.items():
        for index, name in enumerate(names):
            if located and name not in static:
                paths = ((key, index, "file"), (key, index))
                place = next((located.places[path] for path in paths if path in located.places), None)
                message = f'theme file not found: "static/{name}"'
                folder.reporter.error("theme-value", message, place, did_you_mean(name, static))
    yield from folder.reporter.diagnostics


def _chain(name: str, places: _ThemeFolders) -> list[ThemeFolder]:
    """Return the theme `name`, followed by all themes that it extends, directly or indirectly."""
    chain: list[ThemeFolder] = []
    wanted, blame = name, "blogsmith.yaml"
    while wanted:
        names = [folder.name for folder in chain]
        if wanted in names:
            loop = " → ".join([*names, wanted])
            message = f'themes extend each other in a cycle: "{loop}"'
            hint = f"remove `extends: {wanted}`, or write `extends: paper`"
            raise SiteError(Diagnostic("theme-value", message, blame, hint=hint))
        chain.append(_theme_folder(wanted, places, blame))
        wanted, blame = chain[-1].settings.extends, f"{chain[-1].label}/theme.yaml"
    return chain


def _theme_folder(name: str, places: _ThemeFolders, blame: str) -> ThemeFolder:
    if not _NAME.fullmatch(name):
        message = f'invalid theme name "{name}": expected a folder name'
        raise SiteError(Diagnostic("theme-value", message, blame, hint="use letters, digits, `-` and `_`"))
    root = places.find(name)
    if root is None:
        names = places.names()
        near = nearest(name, names)
        hint = format_suggestion(near) or list_choices(names) or "write `theme: paper`"
        # the caller that has read the setting knows its position
        typo_of = confirm_typo(name, near) if blame == "blogsmith.yaml" else None
        fix = make_replacement(1, 1, name, typo_of) if typo_of else None
        message = f'unknown theme "{name}"'
        raise SiteError(Diagnostic("theme-missing", message, blame, hint=hint, fix=fix))
    return _read_folder(name, root, places.label(root))


def _read_folder(name: str, root: Path, label: str) -> ThemeFolder:
    """Return a theme with the settings of its `theme.yaml`. Raise SiteError with all errors in it."""
    problems: list[Diagnostic] = []
    file, text = root / "theme.yaml", None
    if _is_inside(file, root):
        text = _read_text(file, f"{label}/theme.yaml", problems)
    else:
        problems.append(
            Diagnostic(
                "template",
                "this file is outside its theme folder",
                f"{label}/theme.yaml",
                hint="copy the file into the folder",
            )
        )
    text = text or ""
    reporter = Reporter(f"{label}/theme.yaml", text.splitlines())
    folder = ThemeFolder(name, root, label, read_settings(text, name, reporter), reporter)
    for font, written in ((folder.math_font, folder.settings.math_font), _card_font(folder)):
        if font and not (font.is_relative_to(root) and font.is_file()):
            message = f'theme file not found: "{written}"'
            reporter.error("theme-value", message, hint="write a path inside the theme folder")
    problems.extend(reporter.diagnostics)
    if any(problem.severity == "error" for problem in problems):
        raise SiteError(*problems)
    return folder


def _card_font(folder: ThemeFolder) -> tuple[Path | None, str]:
    """Return the font file that a theme names for its cards, and its path as written; (None, "") if none."""
    font = folder.settings.card.font if folder.settings.card else None
    return ((folder.root / font).resolve(), str(font)) if font else (None, "")


def _card_style(folder: ThemeFolder) -> CardStyle | None:
    """Return the style of a theme's cards, with the full path of the font. None if the theme has none."""
    font, _ = _card_font(folder)
    if folder.settings.card is None or font is None:
        return folder.settings.card
    digest = hashlib.sha256(font.read_bytes()).hexdigest()
    return replace(folder.settings.card, font=font, font_digest=digest)


def _add_templates(
    templates: dict[str, TemplateFile],
    kind: str,
    folder: Path,
    places: _ThemeFolders,
    problems: list[Diagnostic],
    theme: str = "",
) -> None:
    """Add the templates of a folder to `templates`, unless an earlier folder has a template of the same name.
    If `theme` is given, also add them under names with this prefix."""
    for file in _files(folder, places, problems):
        if file.suffix != ".html":
            continue
        label = places.label(file)
        text = _read_text(file, label, problems)
        if text is None:
            continue
        name = f"{kind}/{file.relative_to(folder).as_posix()}"
        templates.setdefault(name, TemplateFile(label, text))
        if theme:
            templates[f"{theme}/{name}"] = TemplateFile(label, text)


def _static_files(
    name: str, chain: Sequence[ThemeFolder], places: _ThemeFolders, problems: list[Diagnostic]
) -> dict[str, StaticFile]:
    found: dict[str, StaticFile] = {}
    for theme in chain:
        folder = theme.root / "static"
        for file in _files(folder, places, problems):
            relative = file.relative_to(folder).as_posix()
            if relative not in found:
                published, data = _published_version(file, theme.root / MINIFIED)
                # links were followed, and the file is inside the folder
                place = published.resolve() if published.is_symlink() else published
                asset = Asset(PurePosixPath("assets", name, relative), place, len(data))
                mentions = css_mentions(data) if relative.endswith(".css") else frozenset()
                found[relative] = StaticFile(asset, file_version(data), mentions)
    return dict(sorted(found.items()))


def _published_version(file: Path, folder: Path) -> tuple[Path, bytes]:
    """Return the path and content to publish for a static file. For a script, this is its minified version,
    if that was made from exactly these bytes."""
    data = file.read_bytes()
    if file.suffix == ".js":
        smaller = folder / minified_name(file.stem, data)
        if smaller.is_file() and _is_inside(smaller, folder):
            return smaller, smaller.read_bytes()
    return file, data


def minified_name(stem: str, data: bytes) -> str:
    """Return the file name of the minified version of a script. data: content of the original script."""
    return f"{stem}-{file_version(data)}.js"


def _math_font(name: str, file: Path) -> StaticFile:
    data = file.read_bytes()
    asset = Asset(PurePosixPath("assets", name, "fonts", file.name), file, len(data))
    return StaticFile(asset, hashlib.sha256(data).hexdigest())


def _files(folder: Path, places: _ThemeFolders, problems: list[Diagnostic]) -> Iterator[Path]:
    """Yield the files below `folder`, sorted, without hidden files, editor backups and compiled Python. Links
    to files outside it are added to `problems`."""
    # if the folder is inside, everything below it is, too, except links
    is_plain = os.path.realpath(folder) == str(folder)
    for parts, entry in sorted(_entries(folder, ()), key=itemgetter(0)):
        path = folder.joinpath(*parts)
        is_link = entry.is_symlink()
        if (is_link or not is_plain) and not _is_inside(path, folder):
            message = "symbolic link points outside the theme folder"
            problems.append(
                Diagnostic(
                    "template", message, places.label(path), hint="copy the file into the theme folder"
                )
            )
        elif (path if is_link else entry).is_file():
            yield path


def _entries(folder: Path, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], os.DirEntry[str]]]:
    """Yield (parts of the path, entry) for everything below a folder. Links to folders are not followed.
    above: parts of the path down to `folder`."""
    try:
        with os.scandir(folder) as entries:
            # an installer compiles every .py of a package, even those for the browser
            found = [entry for entry in entries if not is_temporary_name(entry.name)]
    except OSError:
        return
    for entry in found:
        parts = (*above, entry.name)
        yield parts, entry
        if entry.is_dir(follow_symlinks=False):
            yield from _entries(Path(entry.path), parts)


def _is_inside(file: Path, folder: Path) -> bool:
    """Return whether a file is inside a folder after following links. For a circular link, return True,
    because it is not a file anyway."""
    # before Python 3.13 Path.resolve raises RuntimeError for a circular link
    return Path(os.path.realpath(file)).is_relative_to(folder)


def _read_text(file: Path, label: str, problems: list[Diagnostic]) -> str | None:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        problems.append(
            Diagnostic(
                "encoding", f"invalid UTF-8 at byte {error.start}", label, hint="save the file as UTF-8"
            )
        )
    except OSError as error:
        message = f"cannot read this file: {error.strerror}"
        problems.append(Diagnostic("template", message, label, hint="check its permissions"))
    return None
