"""Settings of people: the owner of the site, and the authors of posts."""

from __future__ import annotations

import msgspec


class ProfileLinks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Links to a person on other sites. Pages show the links in this order, each with an icon."""

    mail: str = ""
    """Mail address."""
    website: str = ""
    """URL of the person's own page."""
    github: str = ""
    """User name at GitHub. This field and all after it also accept the URL of the profile."""
    scholar: str = ""
    """Google Scholar: the id after `user=` in the URL of the profile."""
    orcid: str = ""
    """ORCID iD. Posts by the person show the same iD."""
    mastodon: str = ""
    """Mastodon: `@ann@mathstodon.xyz`."""
    bluesky: str = ""
    """Handle at Bluesky: `ann.bsky.social`."""
    linkedin: str = ""
    """Name in the URL of the profile at LinkedIn."""


class Profile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A person, as the front page and the pages of authors show them."""

    name: str = ""
    """Full name."""
    portrait: str = ""
    """Path of an image, such as `/ann.jpg` for `static/ann.jpg`."""
    line: str = ""
    """One line about the person, such as their field."""
    affiliation: str = ""
    """University, laboratory or company."""
    bio: str = ""
    """A few sentences for the page of an author. The front page shows the text of `content/_index.md`
    instead."""
    links: ProfileLinks = ProfileLinks()
