"""Loading pages for every command: from the cache where it is still true, otherwise from disk.

A build goes on from `read_documents`; commands that make no site ask what pages hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..base.storage.site_cache import NoRows
from ..config.load import CONFIG_NAME
from ..hooks.plugin_code import is_covered
from ..model.documents import PageFacts, SiteFiles
from ..project.context import SiteContext, open_site, with_theme
from ..project.load import LoadedSite, resolve_urls
from ..project.program import open_rows
from ..project.report import BuildLog, BuildOptions
from ..project.select import select_posts
from ..read.files import NO_TEXTS, read_site
from ..render.svg.active_content import Inspect, svg_warnings
from ..render.templates.environment import TemplateCodes
from .render import PageCache

if TYPE_CHECKING:
    from ..syntax.parser import Parsed


def read_documents(
    files: SiteFiles,
    context: SiteContext,
    memory: PageCache,
    options: BuildOptions,
    log: BuildLog,
    inspect: Inspect = svg_warnings,
) -> LoadedSite:
    """What is built of the site's files and under which address; all that is wrong goes to `log`.

    But for the heads of the pages that are built: `PageCache.head_diagnostics` has that, to be told with the
    page. inspect: as `resolve_urls` takes it.
    """
    memory.use_context(context)
    log.add(context.settings.diagnostics)
    log.add(context.theme.files.warnings)
    # what is wrong with a head is told once the page is known to be built or not
    loaded = resolve_urls(files, context, options, log, memory.document, inspect)
    for document, _ in loaded.left_out.values():
        log.add(memory.head_diagnostics(str(document.path)))
    return loaded


def read_facts(
    context: SiteContext, posts: Sequence[str], options: BuildOptions, log: BuildLog
) -> tuple[PageFacts, ...]:
    """What the posts named hold, by default all; SiteError for a name that means nothing.

    What is kept between commands is in use only until this returns: running cells may take hours.
    """
    kept = open_rows(context.root) if options.remembers else nullcontext(NoRows())
    with kept as rows:
        memory = PageCache(None, rows)
        loaded = load_site(context, memory, options, log)
        chosen = select_posts(context.root, posts, [document.path for document in loaded.documents])
        documents = [one for one in loaded.documents if chosen is None or str(one.path) in chosen]
        found = tuple(memory.facts_of(document).facts for document in log.iterate("parse", documents))
        rows.share()
        log.note(rows.take_note())
    for facts in found:
        log.add(facts.diagnostics)
    return found


def parse_pages(context: SiteContext, options: BuildOptions, log: BuildLog) -> Iterator[Parsed]:
    """Every page as tokens, one after another: all at once they are large, and not kept."""
    memory = PageCache(None)
    for document in log.iterate("parse", load_site(context, memory, options, log).documents):
        parsed = memory.parse(document)
        log.add(parsed.diagnostics)
        yield parsed


def load_site(context: SiteContext, memory: PageCache, options: BuildOptions, log: BuildLog) -> LoadedSite:
    """The site as read from disk; all that is wrong with settings and heads goes to `log`."""
    log.add(context.settings.diagnostics)
    log.add(context.theme.files.warnings)
    with log.stage("read"):
        files = read_site(context.root, context.config)
    loaded = read_documents(files, context, memory, options, log)
    for document in loaded.documents:
        log.add(memory.head_diagnostics(str(document.path)))
    return loaded


# The settings, the theme and the plugins, read again only as far as they have changed.


_THEME = frozenset(("themes", "layouts", "partials", "shortcodes", "languages"))


def reload_site(
    root: Path,
    base_url: str | None,
    before: SiteContext | None,
    changed: Iterable[str],
    codes: TemplateCodes | None = None,
    texts: Mapping[str, str] = NO_TEXTS,
) -> SiteContext:
    """The opened site as it is now; SiteError if what it is made of is wrong.

    before: what it was, None if that may be anything. changed: paths under the root that have changed since.
    codes: as in `load_theme`. texts: as in `read_site`.
    """
    changed = tuple(changed)
    tops = {path.partition("/")[0] for path in changed}
    if before is None:
        return open_site(root, base_url, codes=codes, config_text=texts.get(CONFIG_NAME))
    code = any(map(is_covered, changed))
    if code or CONFIG_NAME in tops:
        plugins = None if code else before.plugins
        opened = open_site(root, base_url, plugins, codes, texts.get(CONFIG_NAME))
        # equal parts stay the same objects: what is remembered is remembered under them
        theme, known = opened.theme, before.theme
        is_same = (theme.files, theme.base_path, theme.sheets) == (known.files, known.base_path, known.sheets)
        return replace(opened, theme=known) if is_same else opened
    if tops & (_THEME | {"plugins"}):
        return with_theme(before, codes)
    return before
