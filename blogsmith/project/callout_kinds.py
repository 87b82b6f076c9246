"""The kinds of callouts of a site, those of its plugins and settings among them, and what counts them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec.structs import replace

from ..base.diagnostics.model import Reporter, SiteError, question_of
from ..config.load import CONFIG_NAME, LoadedConfig
from ..config.schema import CalloutKind, Config
from ..hooks import Plugins
from ..syntax.kinds import THEOREM, kind_table
from ..syntax.state import KindRow


def own_kinds(config: Config, plugins: Plugins) -> Mapping[str, CalloutKind]:
    """The kinds of callouts that plugins and settings declare or change."""
    own = {kind.name: _plugin_kind(kind.title, kind) for kind in plugins.kinds}
    changed = {name: _merge_kinds(own.get(name, CalloutKind()), k) for name, k in config.callouts.items()}
    return own | changed


def site_kinds(config: Config, plugins: Plugins) -> Mapping[str, KindRow]:
    """Every name → its kind, with what counts it."""
    is_shared = config.theorems.numbering.startswith("shared")
    return _with_counters(_kinds(own_kinds(config, plugins)), is_shared)


def check_counters(plugins: Plugins, loaded: LoadedConfig) -> None:
    """SiteError if a kind is to count with one that has no numbers; plugins bring kinds as well."""
    kinds = site_kinds(loaded.config, plugins)
    numbered = [name for name, row in kinds.items() if row.numbered]
    reporter = Reporter(CONFIG_NAME, loaded.lines)
    for name, kind in loaded.config.callouts.items():
        if kind.counter and kind.counter not in numbered:
            message = f'"{kind.counter}" is no kind of callouts that has numbers'
            near = reporter.nearest(kind.counter, numbered)
            hint = question_of(near) or "declare it under callouts: with numbered: true"
            place = loaded.places.get(("callouts", name, "counter"))
            reporter.error("config-value", message, place, hint)
    if reporter.diagnostics:
        raise SiteError(*reporter.diagnostics)


def _plugin_kind(title: str, kind: object) -> CalloutKind:
    return CalloutKind(
        title=title,
        **{name: getattr(kind, name) for name in ("icon", "color", "alias", "numbered", "prefix")},
    )


def _merge_kinds(before: CalloutKind, kind: CalloutKind) -> CalloutKind:
    """A plugin's kind with what the site says of it."""
    return CalloutKind(
        **{name: getattr(kind, name) or getattr(before, name) for name in kind.__struct_fields__}
    )


def _kinds(own: Mapping[str, CalloutKind]) -> Mapping[str, KindRow]:
    """The table of kinds; a site's row for a built-in kind changes only what it names."""
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
            kind.counter,
        )
        rows.append((row, (name, *kind.alias)))
    return kind_table(rows)


def _with_counters(kinds: Mapping[str, KindRow], is_shared: bool) -> Mapping[str, KindRow]:
    """Each numbered kind with the name of the count that it has a part in, at the end of all sharing."""
    shared = THEOREM if is_shared else ""
    found: dict[str, KindRow] = {}
    for name, row in kinds.items():
        chain = [row.name]
        while (above := _counter_above(kinds, chain[-1], shared)) not in chain:
            chain.append(above)
        # of kinds that name each other in a circle the first by name counts for all
        counter = min(chain[chain.index(above) :])
        found[name] = replace(row, counter=counter) if row.numbered else row
    return MappingProxyType(found)


def _counter_above(kinds: Mapping[str, KindRow], name: str, shared: str) -> str:
    """The kind that counts for kind `name`, which may be itself."""
    counter = kinds[name].counter or shared or name
    return kinds[counter].name if counter in kinds else name
