"""Hosts that a site can be published at, as settings and commands name them."""

from __future__ import annotations

from typing import Literal

HostName = Literal["none", "github-pages", "gitlab", "cloudflare", "netlify", "rsync", "nginx", "caddy"]
