"""The last step before writing: every file of the site, each with what it was made from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

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
from .site.redirects import output_path, redirect
from .site.site_view import site_view
from .site.sitemap import robots, sitemap
from .workshop import Workshop
from .write.kept import kept


@dataclass(frozen=True, slots=True)
class Made:
    """A file of the finished site."""

    output: Output
    origin: str
    """What it was made from, in the author's words."""


def compose(
    views: Sequence[PageView],
    rendered: Sequence[Rendered],
    collected: Collected,
    workshop: Workshop,
    ledger: Ledger,
) -> list[Output]:
    """Every file of the site: pages, redirects, assets, the theme's own files."""
    config = workshop.config
    site = site_view(config, views, lambda url: config.base_path + url, f"blogsmith {__version__}")
    by_path = {str(item.document.path): item.document for item in rendered}
    made: list[Made] = []
    for view in ledger.each("pages", views):
        try:
            made += _page(view, site, by_path.get(view.path), workshop)
        except SiteError as error:
            ledger.add(error.diagnostics)
    for item in rendered:
        for name, content in item.body.files.items():
            made.append(
                Made(
                    _picture(item.url + name, content),
                    f"a picture that the code of {item.document.path} draws",
                )
            )
    for path, url in collected.asset_urls.items():
        made.append(Made(Output(output_path(url), file=collected.assets[path].file), path))
    for output in (
        *feed_files(views, config),
        robots(config),
        *([sitemap(views)] if config.base_url else []),
    ):
        if str(output.path) not in {str(item.output.path) for item in made}:
            made.append(Made(output, f"the file {output.path} that blogsmith makes"))
    for asset in workshop.theme.static_files():
        made.append(Made(Output(asset.path, file=asset.file), f"a file of theme {workshop.theme.name}"))
    # two pages on one address were reported where the address comes from
    if not any(diagnostic.code == "duplicate-url" for diagnostic in ledger.report()):
        ledger.add(clashes(made))
    return [item.output for item in made]


def _picture(url: str, content: Path | bytes) -> Output:
    if isinstance(content, bytes):
        return Output(output_path(url), content)
    return Output(output_path(url), file=content)


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


def _page(view: PageView, site: SiteView, document: Document | None, workshop: Workshop) -> Iterator[Made]:
    """A page, then the pages at its old addresses; SiteError if it cannot be made."""
    theme = workshop.theme
    site_path = view.url.removeprefix(workshop.config.base_path)
    if view.layout not in theme.layouts():
        raise _no_layout(view, document, theme)
    html = theme.render(view.layout, view, site)
    origin = view.path or f"the page {site_path} that blogsmith makes"
    yield Made(Output(output_path(site_path), html.encode()), origin)
    for alias in document.front.aliases if document else ():
        yield Made(redirect(alias, view), f'the alias "{alias}" of {origin}')


def _no_layout(view: PageView, document: Document | None, theme: Theme) -> SiteError:
    """The author's mistake if the page names its layout, else the theme's."""
    if document and document.front.template:
        reporter = Reporter(view.path, document.source.text.split("\n"))
        theme.report_unknown_layout(view.layout, reporter, document.front.places.get("template"))
        return SiteError(*reporter.diagnostics)
    message = f'theme {theme.name} has no layout "{view.layout}"'
    hint = f"add layouts/{view.layout}.html, or write `extends: paper` in the theme.yaml"
    return SiteError(Diagnostic("layout-unknown", message, CONFIG_NAME, hint=hint))


def clashes(made: Iterable[Made]) -> list[Diagnostic]:
    """Errors for files that would be written to one place."""
    found: list[Diagnostic] = []
    taken: dict[str, str] = {}
    for item in made:
        path = str(item.output.path)
        first = taken.setdefault(folded(path), item.origin)
        if first != item.origin:
            message = f"{first} and {item.origin} are both to become the file {path}"
            found.append(Diagnostic("output-conflict", message, hint="rename one of them, or take it out"))
    return found
