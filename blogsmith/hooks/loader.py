"""Loader of plugins: finds the file of each plugin, runs it and collects its registrations."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType, ModuleType

from ..base.diagnostics.fixes import Fix, make_replacement
from ..base.diagnostics.model import (
    Diagnostic,
    SiteError,
    confirm_typo,
    format_suggestion,
    list_choices,
    nearest,
)
from ..base.installed import PLUGINS, InstalledPart, installed_parts, part_path
from . import Hooks, Plugins, combine_hooks
from .calls import convert_load_errors, guard_imports, shown_path
from .plugin_code import FOLDER, PluginCode


def load_plugins(
    names: Iterable[str],
    folders: Iterable[Path],
    code: PluginCode | None = None,
    installed: Mapping[str, InstalledPart] = MappingProxyType({}),
    remote: Mapping[str, Hooks] = MappingProxyType({}),
) -> Plugins:
    """Load plugins by name, each from the first of these that contains it: `remote`, `folders` in order,
    `code`, an installed package.

    Loading a plugin runs its code, so pass only folders, code and packages that the author trusts. Raises
    SiteError if a plugin fails. remote: registrations of plugins that run in another process.
    """
    folders, names = tuple(folders), tuple(names)
    is_guarded = not remote.keys() >= set(site_plugins(names, folders, code))
    guarded = code if is_guarded else None
    with guard_imports(guarded):
        registered = register_plugins(names, folders, code, installed, remote)
    return combine_hooks(registered, code, tuple(installed.values()), guarded)


def site_plugins(names: Iterable[str], folders: Iterable[Path], code: PluginCode | None) -> list[str]:
    """Return the names of plugins that are in `code` and not in `folders`."""
    files = code.sources if code else {}
    known = {path.stem for folder in folders for path in folder.glob("*.py")}
    return [name for name in names if name not in known and f"{FOLDER}/{name}.py" in files]


def register_plugins(
    names: tuple[str, ...],
    folders: tuple[Path, ...],
    code: PluginCode | None,
    installed: Mapping[str, InstalledPart] = MappingProxyType({}),
    remote: Mapping[str, Hooks] = MappingProxyType({}),
) -> list[Hooks]:
    """Return the registrations of each plugin. Arguments and errors: as in `load_plugins`. Call inside
    `guard_imports(code)`."""
    if code and not remote.keys() >= set(site_plugins(names, folders, code)):
        from .plugin_imports import forget_plugin_modules

        forget_plugin_modules(code)
    return [
        remote[name] if name in remote else _register(name, folders, code, installed.get(name))
        for name in names
    ]


def _load_site_plugin(name: str, code: PluginCode) -> ModuleType:
    from .plugin_imports import load_plugin_module

    return load_plugin_module(name, code)


def _register(
    name: str, folders: tuple[Path, ...], code: PluginCode | None, part: InstalledPart | None
) -> Hooks:
    file = next((f / f"{name}.py" for f in folders if (f / f"{name}.py").is_file()), None)
    is_of_site = file is None and code is not None and f"{FOLDER}/{name}.py" in code.sources
    if code and is_of_site:
        file = code.root / FOLDER / f"{name}.py"
    path = part_path(part) if part and file is None else file
    if path is None:
        raise SiteError(_missing_diagnostic(name, folders, code))
    with convert_load_errors(name, path):
        if part and file is None:
            module = importlib.import_module(part.module)
        else:
            module = _load_site_plugin(name, code) if code and is_of_site else _import(name, path)
    file = Path(module.__file__ or path)
    hooks = Hooks(name, file)
    if not callable(getattr(module, "register", None)):
        message = f'missing function "register" in plugin "{name}"'
        hint = "add `def register(hooks): …`"
        raise SiteError(Diagnostic("plugin", message, shown_path(name, file), hint=hint, subject=name))
    with convert_load_errors(name, file):
        module.register(hooks)
    return hooks


def _import(name: str, file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"blogsmith_plugin_{name}", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file.name} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _missing_diagnostic(name: str, folders: tuple[Path, ...], code: PluginCode | None) -> Diagnostic:
    why = code.uncovered.get(f"{FOLDER}/{name}.py") if code else None
    if why:
        return _missing_plugin(name, f'plugin "{name}" is not loaded: {why}', "copy the file to plugins/")
    known = {path.stem for folder in folders if folder.is_dir() for path in folder.glob("*.py")}
    known |= {Path(path).stem for path in code.sources if path.count("/") == 1} if code else set()
    known |= installed_parts(PLUGINS).keys()
    near = nearest(name, sorted(known))
    hint = format_suggestion(near) or list_choices(sorted(known)) or f"add the file `plugins/{name}.py`"
    # no line is known here; the caller adds the location of the setting
    typo_of = confirm_typo(name, near)
    fix = make_replacement(1, 1, name, typo_of) if typo_of else None
    return _missing_plugin(name, f'plugin not found: "{name}"', hint, fix)


def _missing_plugin(name: str, message: str, hint: str, fix: Fix | None = None) -> Diagnostic:
    return Diagnostic("plugin-missing", message, "blogsmith.yaml", hint=hint, subject=name, fix=fix)


# Languages of fences that are drawn as diagrams, and the bundled plugins that draw them.


DIAGRAMS: Mapping[str, str] = MappingProxyType(
    {"mermaid": "mermaid", "dot": "graphviz", "graphviz": "graphviz"}
)
"""Maps a diagram language to the bundled plugin that draws it. Fences in this language are diagrams even if
the site does not use the plugin."""
