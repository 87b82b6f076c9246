"""The site as its last build has left it, without its texts: what an edit of one text starts from.

A build that finds nothing wrong leaves one row of the whole and one of each page's place in it. The first
holds for exactly the rows beside it: `row_store` drops it as soon as any of them changes. Its key is in the
record of stamps that was made with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from ..model.documents import Asset
from ..model.generated_files import GeneratedFile
from ..model.remote_images import RemoteImages
from ..model.template_views import Feed, Link, PageView, SeriesPart, SiteView, Translation, UsedStatement
from ..project.context import SiteContext
from ..project.load import LoadedSite
from ..site.frame import TermNames
from ..site.index import PageEntry, SiteIndex, index_site
from ..site.urls import Urls
from .output_plan import OutputFile
from .rows.page_rows import NotStorable, decode_row, digest_of, encode_row
from .rows.row_store import OUTLINE, Row, RowStore
from .search_files import SearchPlan, search_plans

if TYPE_CHECKING:
    from .snapshot import SiteSnapshot

_NAME = "site"
_PLACE = "place"
_KINDS = frozenset({"post", "page"})
"""Of pages that list no others."""


class PagePlace(msgspec.Struct, frozen=True, array_like=True):
    """How a page stands in the site: fields of its view that do not come from its own source."""

    kind: str
    section: Link | None
    previous: Link | None
    next: Link | None
    series_name: str
    series_url: str
    series: tuple[SeriesPart, ...]
    backlinks: tuple[Link, ...]
    used_in: tuple[UsedStatement, ...]
    related: tuple[Link, ...]
    feeds: tuple[Feed, ...]
    math_font: str
    card: str
    edition: str
    translations: tuple[Translation, ...]

    def apply_to(self, view: PageView) -> PageView:
        """The view of a page, made of its source alone, with its place."""
        return msgspec.structs.replace(view, **msgspec.structs.asdict(self))


class SiteOutline(msgspec.Struct, frozen=True, array_like=True):
    """What pages of a site may ask, and who shows their texts."""

    urls: Mapping[str, str]
    """These and the next three as in `SiteIndex`."""
    unpublished: Mapping[str, str]
    generated: frozenset[str]
    files: Mapping[str, str]
    remote: RemoteImages
    assets: Mapping[str, tuple[str, int]]
    """Path of an asset under the site root → the file, and its size in bytes."""
    term_names: Mapping[str, TermNames]
    """As in `Frame`."""
    editions: Mapping[str, str]
    """Source path → edition, of pages of other languages than the site's own."""
    translations: Mapping[str, Mapping[str, str]]
    """As in `SiteIndex`."""
    site: SiteView
    texts: Mapping[str, tuple[str, ...]]
    """File of the site → source paths of the pages whose texts it holds, in order; without these pages'
    own files and those of searches."""
    searches: Mapping[str, SearchPlan]
    """Folder of an index → what it is made of."""

    def index(self, base_path: str, entries: Mapping[str, PageEntry]) -> SiteIndex:
        """Where everything is. entries: as in `SiteIndex`."""
        return index_site(
            base_path=base_path,
            urls=self.urls,
            entries=entries,
            unpublished=self.unpublished,
            generated=self.generated,
            files=self.files,
            remote=self.remote,
            editions=self.editions,
            translations=self.translations,
        )

    def loaded(self) -> LoadedSite:
        """The site without its documents."""
        assets = {
            path: Asset(PurePosixPath(path), Path(file), size) for path, (file, size) in self.assets.items()
        }
        urls = Urls(self.urls, {}, {}, {}, self.editions)
        return LoadedSite((), {}, self.unpublished, urls, assets, self.files, self.remote)

    def readers(self, path: str) -> Iterator[str]:
        """Files of the site that hold the text of a page beside its own one. path: of its source."""
        return (name for name, paths in self.texts.items() if path in paths)


def is_editable(context: SiteContext) -> bool:
    """Whether it is known who sees the texts of pages: plugins may make files of them, or anything."""
    return context.plugins.code is None and not context.plugins.outputs


def put_outline(
    rows: RowStore, key: str, site: SiteSnapshot, traced: Mapping[PurePosixPath, Sequence[str]]
) -> None:
    """Leave the outline of a site that was built just now, after all other rows.

    key: any name; traced: as in `OutputRows`.
    """
    index, plan = site.resolved.index, site.composition
    texts = (*_generated_texts(plan.files), *traced.items())
    outline = SiteOutline(
        urls=index.urls,
        unpublished=index.unpublished,
        generated=index.generated,
        files=index.files,
        remote=index.remote,
        assets={path: (str(asset.file), asset.size) for path, asset in site.resolved.loaded.assets.items()},
        term_names=site.frame.term_names,
        editions={path: edition for path, edition in site.resolved.loaded.urls.editions.items() if edition},
        translations=index.translations,
        site=plan.site,
        texts={str(name): tuple(paths) for name, paths in texts},
        searches=_search_plans(site),
    )
    keep_places(rows, site.views)
    try:
        data = encode_row(outline)
        kept = decode_row(data, SiteOutline)
        # options of a theme may hold anything that YAML has, such as days, which would come back as texts
        if kept != outline or digest_of(kept.site) != digest_of(plan.site):
            return
    except NotStorable:
        return
    rows.put(OUTLINE, _NAME, Row(key, data))


def get_outline(rows: RowStore, key: str) -> SiteOutline | None:
    """The outline that was put under this key, if all rows are as they were then."""
    row = rows.get(OUTLINE, _NAME)
    return decode_row(row.data, SiteOutline) if row and row.key == key else None


def renew_outline(rows: RowStore, key: str, outline: SiteOutline) -> None:
    """Put an outline under another key: texts have changed, and it has not."""
    rows.put(OUTLINE, _NAME, Row(key, encode_row(outline)))


def put_place(rows: RowStore, key: str, view: PageView) -> None:
    """Leave the place of a page that was made just now; key names its view."""
    if view.path and view.kind in _KINDS:
        row = rows.get(_PLACE, view.path)
        if row and row.key == key:
            # another template shows it: the view is the same
            return
        fields = {name: getattr(view, name) for name in PagePlace.__struct_fields__}
        rows.put(_PLACE, view.path, Row(key, encode_row(PagePlace(**fields))))


def get_place(rows: RowStore, path: str) -> PagePlace | None:
    """The place of a page. path: of its source."""
    row = rows.get(_PLACE, path)
    return decode_row(row.data, PagePlace) if row else None


def keep_places(rows: RowStore, views: Mapping[str, PageView]) -> None:
    """Forget pages that are gone."""
    rows.keep_only(_PLACE, {view.path for view in views.values()})


def _search_plans(site: SiteSnapshot) -> dict[str, SearchPlan]:
    settings = site.config.search_settings
    engine = settings.engine if settings else "own"
    return search_plans(tuple(site.views.values()), site.rendered, site.context, engine)


def _generated_texts(files: Sequence[OutputFile]) -> Iterator[tuple[PurePosixPath, tuple[str, ...]]]:
    for planned in files:
        content = planned.content
        if isinstance(content, GeneratedFile) and content.texts:
            yield planned.path, tuple(page.path for page in content.texts)
