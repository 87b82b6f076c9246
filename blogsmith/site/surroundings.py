"""What the site around a page adds to its view."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..model.template_views import Link, PageView, SeriesPart


@dataclass(slots=True)
class Relations:
    """The pages that a view names, with the fields of `PageView`.

    Collected step by step, since a step asks what those before it found, and given to the view at once:
    a copy of a view costs more than what is looked up for it.
    """

    section: Link | None = None
    previous: Link | None = None
    next: Link | None = None
    series_name: str = ""
    series_url: str = ""
    series: tuple[SeriesPart, ...] = ()
    backlinks: tuple[Link, ...] = ()
    related: tuple[Link, ...] = ()

    def given_to(self, view: PageView) -> PageView:
        """The view of a page in these surroundings."""
        return replace(
            view,
            section=self.section,
            previous=self.previous,
            next=self.next,
            series_name=self.series_name,
            series_url=self.series_url,
            series=self.series,
            backlinks=self.backlinks,
            related=self.related,
        )

    def names(self) -> set[str]:
        """Addresses of the neighbours and of the parts of the series."""
        neighbours = {link.url for link in (self.previous, self.next) if link}
        return neighbours | {part.url for part in self.series}
