"""The last step before writing: every file of the site, each with what it was made from.

What a file holds is made when it is asked for: a build asks for all, the preview for those that are
looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from . import __version__
from .collect import Collected
from .errors import Diagnostic, Reporter, SiteError
from .ledger import Ledger
from .load_config import CONFIG_NAME
from .model import Document, Output
from .page_view import PageView, SiteView
from .render.theme import Theme
from .site.collisions import folded
from .site.feeds import feed_files
from .site.font_cut import FontProblem, can_cut, cut_font
from .site.frame import Rendered
from .site.math_font import FontCut, MathFonts, font_face, math_fonts
from .site.redirects import output_path, redirect, redirect_path
from .site.site_view import site_view
from .site.sitemap import robots, sitemap
from .workshop import Workshop
from .write.kept import kept


@dataclass(frozen=True, slots=True)
class Planned:
    """A file of the finished site."""

    path: PurePosixPath
    """Relative to the output folder."""
    origin: str
    """What it is made from, in the author's words."""
    content: PageView | Callable[[], bytes] | Path
    """A page, a function that makes its bytes, or the file that is copied there."""


@dataclass(frozen=True, slots=True)
class Composition:
    """Every file of the site, and what its pages are made with."""

    site: SiteView
    files: tuple[Planned, ...]
    documents: Mapping[str, Document]
    """Source path → document, of the pages that have one."""
    workshop: Workshop

    def page(self, view: PageView) -> bytes:
        """The HTML of a page; SiteError if it cannot be made."""
        theme = self.workshop.theme
        if view.layout not in theme.layouts():
            raise _no_layout(view, self.documents.get(view.path), theme)
        return theme.render(view.layout, view, self.site).encode()

    def output(self, planned: Planned) -> Output:
        """The file, made; SiteError if it cannot be."""
        content = planned.content
        if isinstance(content, Path):
            return Output(planned.path, file=content)
        return Output(planned.path, self.page(content) if isinstance(content, PageView) else content())


def compose(
    views: Sequence[PageView],
    rendered: Sequence[Rendered],
    collected: Collected,
    workshop: Workshop,
    ledger: Ledger,
) -> list[Output]:
    """Every file of the site: pages, redirects, assets, the theme's own files."""
    composition = plan(views, rendered, collected, workshop)
    made: list[Output] = []
    given_up: set[str] = set()
    for planned in ledger.each("pages", composition.files):
        layout = planned.content.layout if isinstance(planned.content, PageView) else ""
        if layout in given_up:
            continue
        try:
            made.append(composition.output(planned))
        except SiteError as error:
            ledger.add(error.diagnostics)
            if any(found.code == "template-limit" for found in error.diagnostics):
                # a layout without end costs seconds a page, and the site has a thousand of them
                given_up.add(layout)
    # two pages on one address were reported where the address comes from
    if not any(diagnostic.code == "duplicate-url" for diagnostic in ledger.report()):
        ledger.add(clashes(composition.files))
    return made


def plan(
    views: Sequence[PageView], rendered: Sequence[Rendered], collected: Collected, workshop: Workshop
) -> Composition:
    """Which files the site has; none of them is made."""
    config = workshop.config
    site = site_view(config, views, lambda url: config.base_path + url, f"blogsmith {__version__}")
    documents = {str(item.document.path): item.document for item in rendered}
    files = [planned for view in views for planned in _page(view, documents.get(view.path), workshop)]
    for item in rendered:
        origin = f"a picture that the code of {item.document.path} draws"
        for name, content in item.body.files.items():
            picture = content if isinstance(content, Path) else partial(bytes, content)
            files.append(Planned(output_path(item.url + name), origin, picture))
    for path, url in collected.asset_urls.items():
        files.append(Planned(output_path(url), path, collected.assets[path].file))
    taken = {planned.path for planned in files}
    own: dict[PurePosixPath, Callable[[], bytes]] = {
        **feed_files(views, config),
        PurePosixPath("robots.txt"): partial(robots, config),
        **({PurePosixPath("sitemap.xml"): partial(sitemap, views)} if config.base_url else {}),
    }
    files += [
        Planned(file, f"the file {file} that blogsmith makes", make)
        for file, make in own.items()
        if file not in taken
    ]
    for asset in workshop.theme.static_files():
        files.append(Planned(asset.path, f"a file of theme {workshop.theme.name}", asset.file))
    return Composition(site, tuple(files), documents, workshop)


def _page(view: PageView, document: Document | None, workshop: Workshop) -> Iterator[Planned]:
    """A page, then the pages at its old addresses."""
    site_path = view.url.removeprefix(workshop.config.base_path)
    origin = view.path or f"the page {site_path} that blogsmith makes"
    yield Planned(output_path(site_path), origin, view)
    for alias in document.front.aliases if document else ():
        yield Planned(redirect_path(alias), f'the alias "{alias}" of {origin}', partial(redirect, view))


def fonts_for(views: Sequence[PageView], workshop: Workshop) -> MathFonts:
    """What the theme's math font is to be cut into for these pages."""
    font = workshop.theme.files.math_font
    if font is None:
        return MathFonts(None)
    folder = f"{workshop.config.base_path}/{font.asset.path.parent}"
    return math_fonts(views, folder, font.asset.path.stem, font.version)


def font_files(fonts: MathFonts, workshop: Workshop) -> list[Output]:
    """The fonts, each with the style sheet that names it; SiteError if the theme's cannot be cut."""
    made = []
    for cut in fonts.cuts():
        font = _font_file(cut, workshop)
        made += [font, Output(font.path.with_suffix(".css"), font_face(cut).encode())]
    return made


def planned_fonts(fonts: MathFonts, workshop: Workshop) -> list[Planned]:
    """The same files, made when they are asked for."""
    font = workshop.theme.files.math_font
    found: list[Planned] = []
    if font is None:
        return found
    origin = f"the math font of theme {workshop.theme.name}"
    for cut in fonts.cuts():
        path = font.asset.path.with_name(f"{cut.name}.woff2")
        found.append(Planned(path, origin, partial(_font_bytes, cut, workshop)))
        found.append(Planned(path.with_suffix(".css"), origin, font_face(cut).encode))
    return found


def _font_bytes(cut: FontCut, workshop: Workshop) -> bytes:
    made = _font_file(cut, workshop)
    return made.file.read_bytes() if made.file else made.data or b""


def _font_file(cut: FontCut, workshop: Workshop) -> Output:
    font = workshop.theme.files.math_font
    assert font is not None, "a cut is one of the theme's font"
    name = f"{cut.name}.woff2"
    path, beside = font.asset.path.with_name(name), font.asset.file.with_name(name)
    if beside.is_file():
        return Output(path, file=beside)
    if not can_cut():
        # a large font is better than a formula without its signs
        return Output(path, file=font.asset.file)
    folder, source = workshop.root / ".blogsmith" / "fonts", font.asset.file
    try:
        return Output(path, kept(folder, name, lambda: cut_font(source.read_bytes(), cut.signs)))
    except FontProblem as problem:
        message = f"the math font {source.name} of theme {workshop.theme.name} cannot be cut: {problem}"
        raise SiteError(Diagnostic("theme-value", message)) from problem


def _no_layout(view: PageView, document: Document | None, theme: Theme) -> SiteError:
    """The author's mistake if the page names its layout, else the theme's."""
    if document and document.front.template:
        reporter = Reporter(view.path, document.source.text.split("\n"))
        theme.report_unknown_layout(view.layout, reporter, document.front.places.get("template"))
        return SiteError(*reporter.diagnostics)
    message = f'theme {theme.name} has no layout "{view.layout}"'
    hint = f"add layouts/{view.layout}.html, or write `extends: paper` in the theme.yaml"
    return SiteError(Diagnostic("layout-unknown", message, CONFIG_NAME, hint=hint))


def clashes(files: Iterable[Planned]) -> list[Diagnostic]:
    """Errors for files that would be written to one place."""
    found: list[Diagnostic] = []
    taken: dict[str, str] = {}
    for planned in files:
        path = str(planned.path)
        first = taken.setdefault(folded(path), planned.origin)
        if first != planned.origin:
            message = f"{first} and {planned.origin} are both to become the file {path}"
            found.append(Diagnostic("output-conflict", message, hint="rename one of them, or take it out"))
    return found
