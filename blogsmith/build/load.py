"""Loading of pages, for every command: from the cache if the cached data is valid, otherwise from disk.

A build continues with the result of `read_documents`. Commands that make no site call `read_facts` or
`parse_pages`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..base.storage.site_cache import NullCache
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
    """Return the documents and files to build, with their URLs. Report diagnostics to `log`. Diagnostics
    about front matter of pages to build are reported later, from `PageCache.head_diagnostics`. inspect:
    function that returns diagnostics about a file that is copied."""
    memory.use_context(context)
    log.add(context.settings.diagnostics)
    log.add(context.theme.files.warnings)
    # errors in front matter wait until it is known whether the page is built
    loaded = resolve_urls(files, context, options, log, memory.document, inspect)
    for document, _ in loaded.unbuilt.values():
        log.add(memory.head_diagnostics(str(document.path)))
    return loaded


def read_facts(
    context: SiteContext, posts: Sequence[str], options: BuildOptions, log: BuildLog
) -> tuple[PageFacts, ...]:
    """Return the facts of the named posts, by default of all. SiteError for an unknown name. The cache is
    open only until this function returns, because running cells may take hours."""
    kept = open_rows(context.root) if options.use_cache else nullcontext(NullCache())
    with kept as rows:
        memory = PageCache(None, rows)
        loaded = load_site(context, memory, options, log)
        chosen = select_posts(context.root, posts, [document.path for document in loaded.documents])
        documents = [one for one in loaded.documents if chosen is None or str(one.path) in chosen]
        found = tuple(memory.get_facts(document).facts for document in log.iterate("parse", documents))
        rows.share()
        log.note(rows.take_note())
    for facts in found:
        log.add(facts.diagnostics)
    return found


def parse_pages(context: SiteContext, options: BuildOptions, log: BuildLog) -> Iterator[Parsed]:
    """Yield the tokens of every page, one page after another, because the tokens of all pages together are
    large. They are not cached."""
    memory = PageCache(None)
    for document in log.iterate("parse", load_site(context, memory, options, log).documents):
        parsed = memory.parse(document)
        log.add(parsed.diagnostics)
        yield parsed


def load_site(context: SiteContext, memory: PageCache, options: BuildOptions, log: BuildLog) -> LoadedSite:
    """Read the site from disk. Report diagnostics about settings and front matter to `log`."""
    log.add(context.settings.diagnostics)
    log.add(context.theme.files.warnings)
    with log.stage("read"):
        files = read_site(context.root, context.config)
    loaded = read_documents(files, context, memory, options, log)
    for document in loaded.documents:
        log.add(memory.head_diagnostics(str(document.path)))
    return loaded


# Loading of settings, theme and plugins: only changed parts are read again.


_THEME = frozenset(("themes", "layouts", "partials", "shortcodes", "languages"))


def reload_site(
    root: Path,
    base_url: str | None,
    before: SiteContext | None,
    changed: Iterable[str],
    codes: TemplateCodes | None = None,
    open_files: Mapping[str, str] = NO_TEXTS,
) -> SiteContext:
    """Return the site with its settings, theme and plugins as they are now. SiteError if one of these is
    invalid. before: the site before; None if anything may have changed. changed: paths in the site that
    changed since then. codes: storage of compiled templates. open_files: path → content of a file that is
    open in an editor."""
    changed = tuple(changed)
    tops = {path.partition("/")[0] for path in changed}
    if before is None:
        return open_site(root, base_url, codes=codes, open_files=open_files)
    code = any(map(is_covered, changed))
    if code or CONFIG_NAME in tops or not set(changed).isdisjoint(before.macro_files.paths):
        plugins = None if code else before.plugins
        opened = open_site(root, base_url, plugins, codes, open_files)
        # keeps the old object for each equal part, because these objects are keys of caches
        theme, known = opened.theme, before.theme
        is_same = (theme.files, theme.base_path, theme.sheets) == (known.files, known.base_path, known.sheets)
        return replace(opened, theme=known) if is_same else opened
    if tops & (_THEME | {"plugins"}):
        return with_theme(before, codes)
    return before
