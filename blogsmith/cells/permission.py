"""Whether cells of a site may run: asked of every site, so it imports nothing that runs them."""

from __future__ import annotations

import sys

from ..project.context import SiteContext
from ..project.report import BuildOptions
from ..project.trust.consent import is_trusted

RUNS_HERE = sys.platform != "win32"
"""Whether sessions can be started at all: their limits and their end need a Unix."""


def may_run(context: SiteContext, options: BuildOptions) -> bool:
    """Whether cells of the site may run now."""
    asked = options.execution
    if asked.frozen or not RUNS_HERE:
        return False
    return bool(asked.execute) or (options.write and is_trusted(context.root, context.config))
