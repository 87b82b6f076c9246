"""Records of people that templates read."""

from __future__ import annotations

from msgspec import Struct


class Portrait(Struct, frozen=True):
    """Portrait of a person."""

    url: str
    """URL with base path."""
    width_px: int | None = None
    """Width in pixels; None for a vector image that states no size."""
    height_px: int | None = None
    srcset: str = ""
    """Smaller copies, as a value of `srcset`; empty if there are none."""


class ProfileLink(Struct, frozen=True):
    """A link to a person on another site, or to the feed."""

    kind: str
    """Name of its icon: `mail`, `website`, `github`, `feed` and others."""
    title: str
    url: str


class ProfileView(Struct, frozen=True):
    """A person, as templates print them."""

    name: str
    line: str = ""
    affiliation: str = ""
    bio: str = ""
    portrait: Portrait | None = None
    links: tuple[ProfileLink, ...] = ()
