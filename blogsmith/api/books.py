"""The parts of the core that EPUB books use; they import nothing else of it."""

from __future__ import annotations

from ..base.diagnostics.counts import plural
from ..base.diagnostics.model import Diagnostic, SiteError, did_you_mean
from ..base.patterns import lazy_pattern
from ..base.storage.folder import open_folder
from ..build.incremental import IncrementalPipeline, UpdateRequest
from ..build.snapshot import SiteSnapshot
from ..config.schema import Config
from ..languages.language import Language
from ..model.documents import TocEntry
from ..model.names import VOID_ELEMENTS, name_set
from ..model.slugs import slugify
from ..model.template_views import PageView
from ..model.units import format_size
from ..project.program import open_rows
from ..project.report import BuildLog, BuildOptions, Progress, no_progress
from ..project.select import select_posts
from ..site.feeds import feed_html, without_control_characters
from ..site.frame import OLDEST, host_url
from ..site.math_font import font_face, page_signs, subset_font
from ..stages.fonts import font_bytes
