"""The functions of the core that publishing uses; the folder `publish/` imports nothing else of the core."""

from __future__ import annotations

from ..base.diagnostics.counts import first_names
from ..base.diagnostics.extras import DISTRIBUTION
from ..base.diagnostics.format import printable, wants_color
from ..base.diagnostics.listing import print_diagnostics
from ..base.diagnostics.model import Diagnostic, Place, SiteError
from ..base.patterns import lazy_pattern
from ..base.storage.file_names import MANIFEST
from ..base.storage.folder import open_folder
from ..base.storage.temporary import temporary_folder
from ..base.version import __version__
from ..build.load import load_site
from ..build.render import PageCache
from ..build.site import build_site
from ..config.load import CONFIG_NAME, load_config
from ..config.schema import Config, Search
from ..config.validate import base_url_problem
from ..project.context import open_site
from ..project.report import BuildLog, BuildOptions, BuildReport, ExecutionOptions, Progress, no_progress
from ..project.trust.consent import check_consent
from ..site.host_files import (
    CONTENT_TYPES,
    DIGEST_URL_PATTERN,
    FEED_TYPE,
    IMMUTABLE,
    REVALIDATE,
    SECURITY,
    VERSIONED_URL_START,
    RedirectRule,
    make_rules,
)
