"""Permission to run the cells of a site.

Every build imports this module, so it imports nothing that runs cells.
"""

from __future__ import annotations

import sys

from ..project.context import SiteContext
from ..project.report import BuildOptions
from ..project.trust.consent import is_trusted

CAN_RUN_CELLS = sys.platform != "win32"
"""Whether this system can start sessions. Limiting and ending their processes requires Unix."""


def may_run(context: SiteContext, options: BuildOptions) -> bool:
    """Return whether cells of the site may run in this build. They may not run with `--frozen` or on Windows.
    In other cases, they may run if the command requests it, or if the build writes a site that the user
    trusts."""
    asked = options.execution
    if asked.frozen or not CAN_RUN_CELLS:
        return False
    return bool(asked.execute) or (options.write and is_trusted(context.root, context.config))
