"""BibTeX of posts, without building the site."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path

from ..build.load import load_site
from ..build.render import PageCache
from ..project.context import open_site
from ..project.report import BuildLog, BuildOptions, no_progress
from ..project.select import select_posts
from ..site.citation_data import post_bibtex
from ..site.frame import canonical


def cite_posts(root: Path, posts: Sequence[str], now: dt.datetime) -> tuple[str, ...]:
    """Return the BibTeX entries of the named posts, which may be drafts. SiteError for an unknown name. The
    entries have no URL if the site has no base URL."""
    context, memory = open_site(root), PageCache(None)
    log = BuildLog(no_progress)
    loaded = load_site(context, memory, BuildOptions(now=now, drafts=True, future=True), log)
    chosen = select_posts(root, posts, [document.path for document in loaded.documents]) or ()
    documents = {str(document.path): document for document in loaded.documents}
    entries = []
    for path in chosen:
        document = documents[path]
        url = canonical(context.config, loaded.urls.urls[path])
        title = memory.parse(document).title_text
        entries.append(post_bibtex(document.front, title, url, context.config))
    return tuple(entries)
