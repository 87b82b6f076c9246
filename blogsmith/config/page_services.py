"""Settings of services on pages: comments and analytics."""

from __future__ import annotations

from typing import Literal

import msgspec


class Comments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Comments below posts. They are loaded only when the reader requests them."""

    provider: Literal["none", "giscus", "utterances"] = "none"
    """Comment system: `giscus` stores comments as GitHub discussions, `utterances` as issues."""
    repo: str = ""
    """GitHub repository, as `owner/name`."""
    repo_id: str = ""
    """Id of the repository, as shown on giscus.app."""
    category: str = ""
    """Category of the discussions; for giscus."""
    category_id: str = ""
    """Id of the category, as shown on giscus.app."""
    label: str = ""
    """Label of the issues; for utterances."""
    mapping: Literal["pathname", "title"] = "pathname"
    """Name that finds the discussion of a page: its path, or its title, as on some older sites."""


class Analytics(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Visitor statistics by a third-party service."""

    provider: Literal["none", "goatcounter", "plausible", "umami"] = "none"
    """Analytics service."""
    site: str = ""
    """Identifier of the site at the service: GoatCounter's code, Plausible's domain or Umami's id."""
    host: str = ""
    """URL of a self-hosted service, such as `https://stats.example.org`. Empty: the provider's own host."""
    consent: Literal["none", "ask"] = "none"
    """`ask`: send nothing until the reader agrees."""
