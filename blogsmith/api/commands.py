"""Functions of the command line that other parts of blogsmith use. This module imports nothing slow, because
`blogsmith --help` loads every command."""

from __future__ import annotations

from ..base.diagnostics.counts import plural
from ..base.diagnostics.extras import extra_install_command
from ..base.installed import IMPORTERS, installed_parts
from ..cli import terminal
from ..cli.book_options import page_options, posts_options
from ..cli.clock import CommandClock
from ..cli.completion_types import NameType
from ..cli.garbage import rare_collections
from ..cli.image_fetch import fetch_images, plan_fetch
from ..cli.options import STALE, drafts_option, future_option, site_option, site_root
from ..cli.progress_bar import ProgressBar
from ..cli.site_folder import format_path
from ..cli.summary import print_report
from ..cli.verbosity import is_quiet, print_messages, verbosity_options
