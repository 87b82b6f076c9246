"""The file `import-map.yaml`, where an author defines replacements for blocks that no importer supports. Also
suggests entries for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from ..api.importing import (
    Diagnostic,
    Reporter,
    SiteError,
    kind_table,
    lazy_pattern,
    load_located_yaml,
    open_folder,
)
from .model import Notice, SiteImport
from .source_files import read_text, source_root
from .text.author_blocks import CALLOUT, BlockMap
from .write import write_error

FILE = "import-map.yaml"
_NAME = lazy_pattern(r"[\w+-][\w:.+-]{0,99}")
_MAX_BYTES = 200_000
_LEFT = lazy_pattern(
    r'(?:unknown|unsupported) (?:tag|shortcode|directive|role|code block) "\{?([\w:.+-]+)\}?"'
    r'|MDX component "([\w.]+)"'
)
_HINT = 'write a string: "[!NOTE]", "{content}", "" or the text of the replacement'


def read_block_map(into: Path) -> BlockMap:
    """Return the entries of `import-map.yaml` in the folder of the new site; empty without this file.

    Raise SiteError with the location of each invalid entry.
    """
    try:
        with open_folder(into) as top:
            data = top.read(FILE, _MAX_BYTES + 1)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise write_error(into, error) from error
    if len(data) > _MAX_BYTES:
        raise SiteError(
            Diagnostic("import-map", f"more than {_MAX_BYTES // 1000} kB", FILE, hint="write shorter entries")
        )
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
    reporter = Reporter(FILE, text.split("\n"))
    located = load_located_yaml(text, reporter)
    entries = located.value if located else None
    if located and isinstance(entries, dict):
        for name, entry in entries.items():
            at, key = located.places.get((name,)), located.key_places.get((name,))
            if not _NAME.fullmatch(name):
                message = f'invalid name "{name}": expected letters, digits and any of `-_:.+`'
                reporter.report("import-map", message, key, hint="write the name as the source writes it")
            if entry is not None and not isinstance(entry, str):
                message = f'invalid replacement of "{name}": expected a string'
                reporter.report("import-map", message, at, hint=_HINT)
            elif entry and entry.startswith("[!") and not CALLOUT.fullmatch(entry):
                message = f'invalid callout "{entry}": expected `[!KIND]` and perhaps a title'
                reporter.report("import-map", message, at, hint='write for example "[!NOTE] {title}"')
    elif located and entries is not None:
        message = "invalid map: expected lines such as `name: replacement`"
        reporter.report("import-map", message, located.places.get(()), hint=_HINT)
    if reporter.diagnostics:
        raise SiteError(*reporter.diagnostics)
    return tuple((name, entry or "") for name, entry in (entries or {}).items())


def name_unused_entries(site: SiteImport, blocks: BlockMap) -> SiteImport:
    """Add a notice for each entry whose name no page of the source contains."""
    root, left = source_root(site.root), {name for name, _ in blocks}
    for page in site.pages if left else ():
        text = read_text(root / page.source) or ""
        left = {name for name in left if name not in text}
    hint = "write the name as the source writes it, or remove the entry"
    notices = (
        Notice("mistake", f'entry "{name}" has no effect because no page contains this name', FILE, hint=hint)
        for name in sorted(left)
    )
    return replace(site, notices=(*site.notices, *notices))


def define_kinds(site: SiteImport, blocks: BlockMap) -> SiteImport:
    """Add kinds of callouts to the settings: those that `import-map.yaml` uses and that neither blogsmith nor
    the site defines."""
    found = {box[1].casefold() for _, entry in blocks if (box := CALLOUT.fullmatch(entry))}
    known: Mapping[str, object] = site.settings.get("callouts", {})
    new = {
        kind: {"title": kind.replace("-", " ").capitalize()}
        for kind in sorted(found - kind_table().keys() - known.keys())
    }
    return replace(site, settings={**site.settings, "callouts": {**known, **new}}) if new else site


def suggest_entries(notices: Iterable[Notice]) -> dict[str, str]:
    """Return block name → suggested replacement for `import-map.yaml`, for the untranslated blocks in these
    notices. A name like `mydefinition` is replaced by a callout; for any other name, the block is replaced by
    its content."""
    found: dict[str, str] = {}
    for notice in notices:
        if notice.kind == "left" and (left := _LEFT.match(notice.message)):
            name = left[1] or left[2]
            found[name] = _suggest(name)
    return dict(sorted(found.items()))


def _suggest(name: str) -> str:
    folded = name.casefold()
    kind = next((kind for kind in sorted(kind_table(), key=len, reverse=True) if kind in folded), "")
    return f"[!{kind.upper()}]" if kind else "{content}"
