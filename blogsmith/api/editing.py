"""The functions of the core that the language server uses; the folder `lsp/` imports nothing else of the
core."""

from __future__ import annotations

from ..base.diagnostics.codes import CODES, documentation_url
from ..base.diagnostics.model import Diagnostic, Place, SiteError, TextMap
from ..base.html_tags import read_text
from ..base.patterns import lazy_pattern
from ..base.schema.files import read_schema
from ..base.storage.changed_files import ChangedFiles
from ..base.storage.file_names import MARKDOWN
from ..base.storage.folder import open_folder
from ..base.timeout import PageCancelled
from ..base.version import __version__
from ..build.incremental import IncrementalPipeline, UpdateRequest
from ..build.snapshot import SiteSnapshot
from ..config.load import CONFIG_NAME, load_config
from ..lint.labels import spell_label
from ..lint.macros import find_definition
from ..lint.pages import page_formulas
from ..lint.run import lint_page
from ..model.cells import Cell, Value
from ..model.decode import decode, normalize_line_ends
from ..model.documents import Asset, Source
from ..model.letters import IN_NAMES
from ..model.publications import Publication
from ..model.results import CellResult, Display, Failure, Stream
from ..project.bundled_folders import bundled_folder, bundled_plugins
from ..project.program import open_rows
from ..project.report import BuildLog, BuildOptions, no_progress
from ..project.trust.place import record_file
from ..render.figure_blocks import ARGUMENTS
from ..render.outputs.provenance import provenance
from ..syntax.kinds import ROWS
from ..syntax.parser import Parsed
from ..syntax.records import (
    Callout,
    Citation,
    CitationItem,
    Fence,
    Figure,
    Heading,
    LinkTargetPlace,
    Math,
    Shortcode,
    TableRecord,
    WikiLink,
    XRef,
)
from ..syntax.references.labels import Label
from ..syntax.references.references import label_id
from ..tex.constructs.aliases import EXPANDERS
from ..tex.constructs.table import constructs
from ..tex.errors import TexError
from ..tex.on_demand import convert_formula, linear_text, portable_tex
from ..tex.parse.macros import read_macros
from ..tex.parse.reader import Macro, text_of
from ..watch.pending_changes import PendingChanges, is_site_source
from ..watch.watcher import Watcher
