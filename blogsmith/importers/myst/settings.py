"""What `blogsmith.yaml` of an imported book holds."""

from __future__ import annotations

from typing import Any

from ...model.units import name_set
from ..model import OldSettings
from .boxes import NUMBERED
from .config import BookConfig
from .walker import BookState

_COLOURS = {"exercise": "teal", "solution": "grey", "algorithm": "purple"}


_TRANSLATED = name_set(
    "title author description html.baseurl bibtex_bibfiles parse.myst_substitutions "
    "only_build_toc_files exclude_patterns execute.execute_notebooks execute.timeout "
    "sphinx.config.bibtex_bibfiles sphinx.config.myst_substitutions sphinx.config.intersphinx_mapping "
    "sphinx.config.rediraffe_redirects sphinx.config.mathjax3_config sphinx.config.mathjax_config "
    "sphinx.config.mathjax4_config version project.title project.description project.authors "
    "project.author project.toc project.math project.bibliography project.substitutions "
    "project.exclude project.numbering site.title project html_title html_baseurl myst_substitutions "
    "intersphinx_mapping root_doc master_doc mathjax3_config mathjax_config build.exclusions"
)


def old_settings(config: BookConfig) -> OldSettings:
    """Return the settings, and what of them is read."""
    translated = _TRANSLATED - {"project"} if config.flavour == "mystmd" else _TRANSLATED
    return OldSettings((config.folder / config.file).as_posix(), config.values, translated)


def site_settings(config: BookConfig, state: BookState) -> dict[str, Any]:
    """The settings, in order."""
    found: dict[str, Any] = {"title": config.title or "Untitled book"}
    if config.description:
        found["description"] = " ".join(config.description.split())
    if config.authors:
        found["author"] = ", ".join(config.authors)
    if config.base_url.startswith(("https://", "http://")):
        found["base_url"] = config.base_url.rstrip("/")
    if config.numbers_headings:
        found["numbering"] = True
    # ids of headings as MyST makes them, and what lies at other hosts as browsers show it
    found |= {"slugs": "github", "images": {"remote": "warn"}, "embeds": {"remote": "warn"}}
    if config.macros:
        found["math"] = {"macros": dict(config.macros)}
    if state.kinds:
        found["callouts"] = {kind: _callout(kind) for kind in sorted(state.kinds - NUMBERED)}
    if config.execute == "off":
        found["execute"] = "off"
    elif config.timeout_s > 0:
        found["execute"] = {"timeout": config.timeout_s}
    return found


def _callout(kind: str) -> dict[str, Any]:
    row: dict[str, Any] = {"title": kind.capitalize()}
    if kind in _COLOURS:
        row["color"] = _COLOURS[kind]
    if kind != "solution":
        row["numbered"] = True
    return row
