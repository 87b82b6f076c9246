"""The functions of the core that importers of other systems use; `importers/` imports nothing else of the
core."""

from __future__ import annotations

from functools import partial

from ..base.diagnostics.codes import LOWERABLE, PROTECTED_CODE
from ..base.diagnostics.counts import count_line, first_names, plural
from ..base.diagnostics.edits import apply_fixes
from ..base.diagnostics.format import printable
from ..base.diagnostics.model import Diagnostic, Place, Reporter, SiteError, did_you_mean, list_choices
from ..base.installed import IMPORTERS, installed_parts
from ..base.patterns import lazy_pattern
from ..base.schema.data_loaders import is_too_deep
from ..base.schema.yaml_loader import load as load_located_yaml
from ..base.schema.yaml_scalars import resolve as resolve_yaml_scalar
from ..base.storage.folder import TEMPORARY_PREFIX, Folder, open_folder, open_real_file
from ..base.storage.links import is_junction
from ..base.storage.lock import site_lock
from ..base.storage.temporary import temporary_folder
from ..base.timeout import PageTimeout, alarm, has_alarm
from ..bibliography.bibliography_file import BibtexFile, read_entries
from ..bibliography.latex import plain_text
from ..build.incremental import IncrementalPipeline, UpdateRequest
from ..build.site import build_site
from ..build.snapshot import SiteSnapshot
from ..config.schema import Config
from ..execute.session.environment import count_cores
from ..features.remote_images import remote_uses
from ..freeze.imported import imported_record
from ..freeze.store import list_page_files, page_folder
from ..model.dates import parse_date, split_dated_name
from ..model.documents import Source
from ..model.names import VOID_ELEMENTS, name_set
from ..model.paths import collapse_path
from ..model.protection import find_restrictions
from ..model.results import Blob, CellOutput, CellRun, Display, Failure, Stream
from ..model.slugs import alias_problem, github_slug, slug_problem
from ..model.slugs import slugify as _slugify
from ..pools.pool import MAX_PROCESSES, ProcessDiedError, ProcessPool, StartMethod, can_fork
from ..project.bundled_folders import bundled_folder
from ..project.context import open_site
from ..project.report import BuildLog, BuildOptions, ExecutionOptions, Progress
from ..read.files import fold_name
from ..read.front_matter import read_document
from ..read.head import KNOWN_KEYS
from ..read.notebooks.markdown import KNOWN_OPTIONS as KNOWN_CELL_OPTIONS
from ..read.notebooks.markdown import NotebookPart, NotebookText
from ..read.notebooks.markdown import NoticeCallback as NotebookNotes
from ..read.notebooks.markdown import notebook_text as translate_cells
from ..read.notebooks.notebook import Notebook, NotebookCell, NotebookError, read_notebook
from ..read.notebooks.outputs import SUFFIXES as IMAGE_SUFFIXES
from ..read.notebooks.outputs import CellOutputs as CodeOutputs
from ..read.notebooks.outputs import to_markdown as outputs_as_markdown
from ..read.references import is_known_field
from ..site.collisions import fold_url
from ..site.frame import RenderedDocument
from ..site.urls import publication
from ..syntax.emoji import replace_emoji
from ..syntax.kinds import kind_table
from ..syntax.latex.commands import COMMANDS as LATEX_COMMANDS
from ..syntax.latex.commands import ENVIRONMENTS as LATEX_ENVIRONMENTS
from ..syntax.latex.commands import FORMULAS as LATEX_FORMULAS
from ..syntax.latex.commands import callout_kind, symbol_text
from ..syntax.latex.writer import translate as translate_latex
from ..syntax.links import is_key
from ..syntax.math.delimiters import ENVIRONMENTS as DISPLAY_ENVIRONMENTS
from ..tex.errors import PreambleError
from ..tex.parse.scan import text_of
from ..tex.preamble import TheoremKind, read_preamble

slugify = partial(_slugify, marks=True)
"""Function from title to slug that keeps combining marks, as all imported sites do."""
