"""The context of a build: settings, plugins, theme, and options for parsing Markdown."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..base.diagnostics.model import Diagnostic, Reporter, SiteError, format_suggestion, list_choices
from ..base.schema.yaml_loader import YamlPath
from ..config.load import CONFIG_NAME, LoadedConfig, load_config
from ..config.schema import CalloutKind, Config
from ..config.validate import base_url_problem
from ..hooks import Hooks, Plugins
from ..hooks.loader import DIAGRAMS, load_plugins, site_plugins
from ..hooks.plugin_code import FOLDER, PluginCode, changes_parser
from ..read.files import NO_TEXTS
from ..render.converters import BUILT_IN, unknown_converter_message
from ..render.templates.environment import TemplateCodes
from ..render.templates.theme import Theme, load_theme
from ..render.templates.theme_options import report_options
from ..syntax.kinds import THEOREM, kind_table
from ..syntax.references.labels import BY_SECTION
from ..syntax.state import KindRow, ParseOptions
from ..tex.on_demand import linear_text, split_rows
from ..tex.parse.macros import read_macros
from .bundled_folders import bundled_folder, bundled_plugins
from .macro_files import MacroFiles, read_macro_files
from .trust.consent import check_consent, installed_plugins


class SiteContext(Struct, frozen=True):
    """Data that all stages of a build share, made once from the settings; immutable."""

    root: Path
    config: Config
    theme: Theme
    plugins: Plugins
    options: ParseOptions
    settings: LoadedConfig
    """Locations of settings, and warnings about them."""
    macro_files: MacroFiles = MacroFiles()
    """Files of LaTeX with macros."""

    def error_at(self, code: str, path: YamlPath, message: str, hint: str = "") -> Diagnostic:
        """Return an error at the value of a setting."""
        place = self.settings.locations.get(path)
        line = self.settings.lines[place.line - 1] if place else ""
        return Diagnostic(code, message, CONFIG_NAME, place, line, hint)


def open_site(
    root: Path,
    base_url: str | None = None,
    loaded_plugins: Plugins | None = None,
    codes: TemplateCodes | None = None,
    open_files: Mapping[str, str] = NO_TEXTS,
) -> SiteContext:
    """Read the settings of the site at `root` and load its plugins and theme. Raise SiteError on failure.
    base_url: used instead of the setting of that name. loaded_plugins: plugins loaded before; they are used
    again if the settings still name the same ones. codes: storage of compiled templates. open_files: path →
    content of a file that is open in an editor."""
    loaded = load_config(root, open_files.get(CONFIG_NAME))
    errors = [d for d in loaded.diagnostics if d.severity == "error"]
    if errors:
        raise SiteError(*loaded.diagnostics)
    config = loaded.config if base_url is None else _with_base_url(loaded.config, base_url)
    config, macro_files = read_macro_files(root, config, loaded, open_files)
    try:
        # always checked, because a change of the settings may have ended the consent to run the plugins
        code = plugin_code(root, config)
        plugins = loaded_plugins
        if plugins is None or plugins.names != config.plugins:
            plugins = _load(root, config, code)
        theme = _theme(root, config, plugins, codes)
        _check_options(theme, loaded)
        _check_converter(plugins, loaded)
        check_counters(config, plugins, loaded)
    except SiteError as error:
        raise SiteError(*(_relocate_to_setting(found, loaded) for found in error.diagnostics)) from error
    options = parse_options(config, plugins, theme.inline_shortcodes(), theme.block_shortcodes())
    return SiteContext(root, config, theme, plugins, options, loaded, macro_files)


def with_theme(context: SiteContext, codes: TemplateCodes | None = None) -> SiteContext:
    """Return the context with the theme read again. Raises SiteError if the theme has errors."""
    try:
        theme = _theme(context.root, context.config, context.plugins, codes)
        _check_options(theme, context.settings)
    except SiteError as error:
        raise SiteError(
            *(_relocate_to_setting(found, context.settings) for found in error.diagnostics)
        ) from error
    options = parse_options(
        context.config, context.plugins, theme.inline_shortcodes(), theme.block_shortcodes()
    )
    return replace(context, theme=theme, options=options)


def _theme(root: Path, config: Config, plugins: Plugins, codes: TemplateCodes | None) -> Theme:
    folders = [folder / "shortcodes" for folder in _template_folders(root)] if plugins.names else []
    bundled, base_path = bundled_folder("themes"), config.base_path
    chosen = config.theme_options
    return load_theme(config.theme, root, bundled, folders, base_path=base_path, chosen=chosen, codes=codes)


def _check_options(theme: Theme, loaded: LoadedConfig) -> None:
    """Raise SiteError for errors under `theme_options`, which the theme defines."""
    reporter = Reporter(CONFIG_NAME, loaded.lines)
    report_options(
        loaded.config.theme_options,
        theme.files.options,
        reporter,
        loaded.locations,
        loaded.key_locations,
        theme.name,
    )
    if reporter.diagnostics:
        raise SiteError(*reporter.diagnostics)


def _check_converter(plugins: Plugins, loaded: LoadedConfig) -> None:
    """Raise SiteError if the converter of formulas is unknown or ambiguous."""
    name, known = loaded.config.math.converter, tuple(plugins.converters)
    reporter = Reporter(CONFIG_NAME, loaded.lines)
    if name and name not in (BUILT_IN, *known):
        hint = f"add the plugin to `plugins:`, or {list_choices((BUILT_IN, *known))}"
        reporter.error(
            "config-value", unknown_converter_message(name), loaded.locations.get(("math", "converter")), hint
        )
    elif not name and len(known) > 1:
        message = "too many plugins for formulas: " + ", ".join(f'"{name}"' for name in known)
        hint = f"choose one, as in `math: {{converter: {known[0]}}}`"
        reporter.error("config-value", message, loaded.locations.get(("plugins",)), hint)
    if reporter.diagnostics:
        raise SiteError(*reporter.diagnostics)


def _relocate_to_setting(found: Diagnostic, loaded: LoadedConfig) -> Diagnostic:
    """Move a diagnostic about a theme or plugin, with its fix, to the line of the settings that contains its
    name."""
    if found.path != CONFIG_NAME or found.place:
        return found
    path: YamlPath = ("theme",)
    if found.subject in loaded.config.plugins:
        path = ("plugins", loaded.config.plugins.index(found.subject))
    place = loaded.locations.get(path)
    if place is None:
        return replace(found, fix=None)
    reporter, edits = Reporter(CONFIG_NAME, loaded.lines), found.fix.edits if found.fix else ()
    fix = next((reporter.substitute(place, edit.old, edit.new) for edit in edits), None)
    return replace(found, place=place, source_line=loaded.lines[place.line - 1], fix=fix)


def default_context(root: Path) -> SiteContext:
    """Return a context with default settings, for a Markdown file outside any site."""
    config, plugins = Config(), Plugins()
    theme = load_theme(config.theme, root, bundled_folder("themes"), [])
    options = parse_options(config, plugins, theme.inline_shortcodes(), theme.block_shortcodes())
    return SiteContext(root, config, theme, plugins, options, LoadedConfig(config, (), {}))


_URL_HINT = "write a URL such as `https://example.org/blog`"


def _with_base_url(config: Config, base_url: str) -> Config:
    problem = base_url_problem(base_url)
    if problem:
        raise SiteError(
            Diagnostic("config-value", f'invalid --base-url "{base_url}": it {problem}', hint=_URL_HINT)
        )
    return msgspec.structs.replace(config, base_url=base_url)


def _template_folders(root: Path) -> list[Path]:
    """Return the folders of plugins, which contain the templates of shortcodes. The folders need no trust,
    because templates cannot execute code."""
    return [root / "plugins", bundled_folder("plugins")]


def plugin_code(root: Path, config: Config) -> PluginCode | None:
    """Return the code of plugins in the folder of the site, as the bytes whose digests were checked. Return
    None if the site has no plugins of its own. Raise SiteError if a plugin of the site, or in an installed
    package, may not run here."""
    bundled, own = bundled_folder("plugins"), root / "plugins"
    is_ours = own.resolve() == bundled.resolve()
    wanted = [name for name in config.plugins if not (bundled / f"{name}.py").is_file()]
    mine = [] if is_ours else [name for name in wanted if os.path.lexists(own / f"{name}.py")]
    installed = installed_plugins(root, config)
    if not mine and not installed:
        return None
    consent = check_consent(root, config)
    if not consent.is_given:
        reason = f": {consent.reason}" if consent.reason else ""
        name = (*mine, *installed)[0]
        if mine:
            message = f'plugin "{name}" is not trusted{reason}'
            hint = f"read plugins/{name}.py, then run `blogsmith trust`"
        else:
            part = installed[name]
            message = f'plugin "{name}" of "{part.package}" {part.version} is not trusted{reason}'
            hint = "run `blogsmith trust` to allow it for this site"
        raise SiteError(Diagnostic("plugin-untrusted", message, CONFIG_NAME, hint=hint, subject=name))
    return consent.code if mine else None


def _load(root: Path, config: Config, code: PluginCode | None) -> Plugins:
    """Return all plugins of the settings. The plugins of the site run in another process. code: their code;
    None if the site has none."""
    bundled = [bundled_folder("plugins")]
    own = site_plugins(config.plugins, bundled, code)
    remote: Mapping[str, Hooks] = {}
    if code and own:
        from .plugin_process.client import start_plugins
        from .plugin_process.messages import PluginSetup

        names = tuple(name for name in own if not changes_parser(f"{FOLDER}/{name}.py", code))
        remote = start_plugins(PluginSetup(code, names, config.execution.sandbox)) if names else {}
    return load_plugins(config.plugins, bundled, code, installed_plugins(root, config), remote)


def load_with_bundled(name: str, root: Path | None, config: Config) -> Plugins:
    """Return all plugins of the site, and the bundled plugin `name`. root: None if there is no site."""
    named = config.plugins
    if name in bundled_plugins() and name not in named:
        named = (*named, name)
    config = replace(config, plugins=named)
    return _load(root or Path(), config, plugin_code(root, config) if root else None)


def parse_options(
    config: Config,
    plugins: Plugins,
    inline_shortcodes: frozenset[str] = frozenset(),
    block_shortcodes: frozenset[str] = frozenset(),
) -> ParseOptions:
    """Return the options for parsing Markdown. inline_shortcodes, block_shortcodes: names of the theme's
    shortcodes."""
    own = own_kinds(config, plugins)
    prefixes = sorted(
        ((k.prefix, name) for name, k in own.items() if k.prefix), key=lambda p: (-len(p[0]), p)
    )
    kinds = site_kinds(config, plugins)
    return ParseOptions(
        linear_math=linear_text,
        split_rows=split_rows,
        kinds=kinds,
        reference_kinds=tuple(sorted(name for name, row in kinds.items() if row.numbered)),
        untrusted=config.markup.untrusted,
        smart_quotes=config.markup.smart_quotes,
        line_breaks=config.markup.line_breaks,
        lang=config.lang,
        linkify=config.markup.linkify,
        latex=config.markup.latex,
        math_macros=config.math.macros,
        preamble=read_macros(config.math.macros).files,
        double_dollar=config.math.double_dollar,
        math_numbering=config.math.numbering,
        statements_by_section=config.theorems.numbering.endswith(BY_SECTION),
        numbering=config.numbering,
        series=config.series,
        solutions=config.solutions,
        slugs=config.slug_settings.ids,
        marks=config.slug_settings.marks,
        inline_shortcodes=inline_shortcodes,
        block_shortcodes=block_shortcodes,
        diagram_languages=frozenset((*DIAGRAMS, *plugins.diagrams)),
        block_classes=plugins.block_divs,
        markdown_rules=plugins.markdown_rules,
        prefixes=tuple(prefixes),
        execution_mode=config.execution.mode,
        check_shapes=config.execution.shapes == "check",
        provenance=config.execution.provenance,
        check_syntax=not config.execution.python,
        engine=config.execution.engine,
        kernel=config.execution.kernel,
        bundled_plugins=tuple(name for name in bundled_plugins() if name not in config.plugins),
        has_bibliography=bool(config.bibliography),
    )


# The kinds of callouts of a site, with those of its plugins and settings, and their counters.


def own_kinds(config: Config, plugins: Plugins) -> Mapping[str, CalloutKind]:
    """Return name → callout kind, for each kind that plugins or settings declare or change."""
    own = {kind.name: _plugin_kind(kind.title, kind) for kind in plugins.kinds}
    changed = {name: _merge_kinds(own.get(name, CalloutKind()), k) for name, k in config.callouts.items()}
    return own | changed


def site_kinds(config: Config, plugins: Plugins) -> Mapping[str, KindRow]:
    """Return name → kind with its counter, for all kinds."""
    is_shared = config.theorems.numbering.startswith("shared")
    return _with_counters(_kinds(own_kinds(config, plugins)), is_shared)


def check_counters(config: Config, plugins: Plugins, loaded: LoadedConfig) -> None:
    """Raise SiteError if a kind shares the counter of an unnumbered kind. Plugins may define kinds too."""
    kinds = site_kinds(config, plugins)
    numbered = [name for name, row in kinds.items() if row.numbered]
    reporter = Reporter(CONFIG_NAME, loaded.lines)
    for name, kind in loaded.config.callouts.items():
        if kind.counter and kind.counter not in numbered:
            message = f'invalid counter "{kind.counter}": expected a numbered kind of callouts'
            near = reporter.nearest(kind.counter, numbered)
            hint = format_suggestion(near) or "declare it under `callouts:` with `numbered: true`"
            place = loaded.locations.get(("callouts", name, "counter"))
            reporter.error("config-value", message, place, hint)
    if reporter.diagnostics:
        raise SiteError(*reporter.diagnostics)


def _plugin_kind(title: str, kind: object) -> CalloutKind:
    return CalloutKind(
        title=title,
        **{name: getattr(kind, name) for name in ("icon", "color", "alias", "numbered", "prefix", "style")},
    )


def _merge_kinds(before: CalloutKind, kind: CalloutKind) -> CalloutKind:
    """Return the kind that a plugin declares, with the changes from the settings."""
    return CalloutKind(
        **{name: getattr(kind, name) or getattr(before, name) for name in kind.__struct_fields__}
    )


def _kinds(own: Mapping[str, CalloutKind]) -> Mapping[str, KindRow]:
    """Return name → kind, for all kinds. Settings for a built-in kind change only the fields that they
    set."""
    known = kind_table()
    rows = []
    for name, kind in own.items():
        before = known.get(name, KindRow(name, name.replace("-", " ").capitalize()))
        row = KindRow(
            before.name,
            kind.title or before.title,
            kind.numbered or before.numbered,
            kind.icon or before.icon,
            kind.color or before.color,
            kind.counter or before.counter,
            kind.style or before.style,
        )
        rows.append((row, (name, *kind.alias)))
    return kind_table(rows)


def _with_counters(kinds: Mapping[str, KindRow], is_shared: bool) -> Mapping[str, KindRow]:
    """Return the kinds, with a counter for each numbered kind. A kind may use the counter of another kind."""
    shared = THEOREM if is_shared else ""
    found: dict[str, KindRow] = {}
    for name, row in kinds.items():
        chain = [row.name]
        while (above := _counter_above(kinds, chain[-1], shared)) not in chain:
            chain.append(above)
        # if kinds share counters in a circle, the first one by name is used for all
        counter = min(chain[chain.index(above) :])
        found[name] = replace(row, counter=counter) if row.numbered else row
    return MappingProxyType(found)


def _counter_above(kinds: Mapping[str, KindRow], name: str, shared: str) -> str:
    """Return the name of the kind whose counter the kind `name` uses; it may be `name` itself. shared: name
    of the kind whose counter all kinds share by default; empty if there is none."""
    counter = kinds[name].counter or shared or name
    return kinds[counter].name if counter in kinds else name
