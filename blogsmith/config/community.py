"""Settings of what readers say and of how many there are: comments, counting of visits."""

from __future__ import annotations

from typing import Literal

import msgspec


class Comments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Comments below posts; nothing is loaded before a reader asks for them."""

    provider: Literal["none", "giscus", "utterances"] = "none"
    """`giscus` keeps them as discussions on GitHub, `utterances` as issues."""
    repo: str = ""
    """Repository, `owner/name`."""
    repo_id: str = ""
    """Its id, as giscus.app shows it."""
    category: str = ""
    """Category of discussions; for giscus."""
    category_id: str = ""
    """Its id, as giscus.app shows it."""
    label: str = ""
    """Label of issues; for utterances."""


class Analytics(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Counting of visits by another host."""

    provider: Literal["none", "goatcounter", "plausible", "umami"] = "none"
    """Who counts."""
    site: str = ""
    """What the site is called there: GoatCounter's code, Plausible's domain, Umami's id."""
    host: str = ""
    """`https://` and the host of an installation of your own; empty: the provider's."""
    consent: Literal["none", "ask"] = "none"
    """`ask`: nothing is sent before the reader says yes."""
