"""The functions of the core for EPUB and PDF files. `epub/` and `paper/` import the core only from here."""

from __future__ import annotations

from ..base.diagnostics.counts import plural
from ..base.diagnostics.extras import extra_install_command
from ..base.diagnostics.model import Diagnostic, Place, SiteError, list_choices
from ..base.html_tags import Tag, scan_html
from ..base.patterns import lazy_pattern
from ..base.storage.folder import open_folder
from ..base.storage.stamps import file_digest
from ..base.storage.temporary import temporary_folder
from ..build.snapshot import SiteSnapshot
from ..config.schema import Config
from ..features.book_pages import BookSource, open_pages, outside_address, percent_encode, write_book
from ..languages.language import Language
from ..model.documents import TocEntry
from ..model.generated_files import GeneratedFile
from ..model.names import VOID_ELEMENTS, name_set
from ..model.template_views import PageView
from ..model.units import format_size
from ..project.report import BuildOptions, Progress, no_progress
from ..read.notebooks.outputs import decode_base64
from ..site.feeds import feed_html, without_control_characters
from ..site.frame import host_url
from ..site.math_font import font_face, page_signs, subset_font
from ..stages.fonts import font_bytes
from ..tex.latex import latex_definitions, latex_display, latex_formula, symbol_names
from ..tex.mathml.atoms import (
    DICTIONARY_BINARY,
    DICTIONARY_CLOSING,
    DICTIONARY_OPENING,
    DICTIONARY_RELATIONS,
)
from ..tex.on_demand import is_command, spoken_text
from ..tex.parse.macros import MacroTable, read_macros
from ..tex.parse.reader import Macro
from ..tex.parse.scan import text_of
from ..tex.speech.words import formula_words
