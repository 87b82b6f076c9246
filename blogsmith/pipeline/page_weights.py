"""`blogsmith check --budget`: what a page weighs before its reader does anything, held against the settings.

Weighed is what would be published: each page is made, and the files that its HTML names are looked up among
those of the site. Texts count as packed with gzip, as servers send them. What a browser may or may not load
counts with its largest choice: of a picture in several sizes the largest, of fonts those that sheets name
for the signs of the page. What scripts load after a click is not seen.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from posixpath import join, normpath
from typing import Literal
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from ..config.inspection import PageBudget
from ..config.units import parse_size
from ..diagnostics.model import Diagnostic
from ..model.template_views import PageView
from ..model.units import format_size
from ..patterns import lazy_pattern
from ..project.report import BuildLog
from ..syntax.tags import StartTag, hidden_spans, start_tag
from .output_plan import OutputFile
from .snapshot import SiteSnapshot
