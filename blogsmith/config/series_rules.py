"""Choice between the settings of a post, its series and the site."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from zoneinfo import ZoneInfo

from ..model.courses import Numbering, SeriesRules, Solutions
from ..model.dates import parse_date
from ..model.documents import FrontMatter
from .schema import Config


def find_series_rules(front: FrontMatter, series: Mapping[str, SeriesRules]) -> SeriesRules:
    """Return the settings of the series that a post is in."""
    return series.get(front.series.name, SeriesRules()) if front.series else SeriesRules()


def choose_numbering(front: FrontMatter, series: Mapping[str, SeriesRules], site: Numbering) -> Numbering:
    """Return the first value of `numbering` that is set: in the post, its series or the site."""
    chosen = (front.numbering, find_series_rules(front, series).numbering, site)
    return next(value for value in chosen if value is not None)


def choose_solutions(front: FrontMatter, series: Mapping[str, SeriesRules], site: Solutions) -> Solutions:
    """Return the setting `solutions` for a post. `show` and `after` are each chosen from the post, its series
    or the site, in this order."""
    chosen = (front.solutions, find_series_rules(front, series).solutions, site)
    return Solutions(
        next((one.show for one in chosen if one.show), "inline"),
        next((one.after for one in chosen if one.after), ""),
    )


def solutions_start(front: FrontMatter, config: Config) -> dt.datetime | None:
    """Return the time at which the solutions of a post are published; None without a date."""
    after = choose_solutions(front, config.series, config.solutions).after
    moment = parse_date(after) if after else None
    return moment.replace(tzinfo=ZoneInfo(config.timezone)) if moment and not moment.tzinfo else moment
