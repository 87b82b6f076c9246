"""The language of a page, by its head or by the name of its file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

from ..base.diagnostics.model import Reporter
from ..config.languages import file_language
from ..config.schema import Config
from ..model.documents import FrontMatter


def with_language(front: FrontMatter, path: PurePosixPath, config: Config, reporter: Reporter) -> FrontMatter:
    """The head with the language that the path of its file says, where it says none itself.

    An error if both do and do not agree.
    """
    named = file_language(path, config).tag
    if not named or front.lang.lower() == named.lower():
        return front
    if front.lang:
        message = f'lang: {front.lang}, and the name of the file says "{named}"'
        hint = "take lang out, or rename the file"
        reporter.error("translation", message, front.places.get("lang"), hint)
    return replace(front, lang=named)
