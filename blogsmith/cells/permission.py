"""Whether cells of a site may run: asked of every site, so it imports nothing that runs them."""

from __future__ import annotations

from ..project.context import SiteContext
from ..project.report import BuildOptions
from ..trust.consent import is_trusted


def may_run(context: SiteContext, options: BuildOptions) -> bool:
    """Whether cells of the site may run now."""
    asked = options.execution
    if asked.frozen:
        return False
    return bool(asked.execute) or (options.write and is_trusted(context.root, context.config))
