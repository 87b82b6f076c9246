"""New themes, and copies of theme files for customization. Existing files are never overwritten.

The files of a new theme come from `starter_theme/`, with its name filled in.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from ..base.diagnostics.model import Diagnostic, SiteError, did_you_mean
from ..base.patterns import lazy_pattern
from ..config.schema import Config
from ..project.bundled_folders import bundled_folder
from ..render.templates.files import TEMPLATE_KINDS, ThemeFiles, read_theme_files
from .author_files import create_file

_NAME = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


def new_theme(root: Path, name: str) -> tuple[PurePosixPath, ...]:
    """Write a small theme that extends paper into `themes/<name>/` of the site. Return the paths written.
    Raise SiteError if the name is not a plain folder name, or a theme of this name exists."""
    if not _NAME.fullmatch(name):
        message = f'invalid theme name "{name}": expected a plain folder name'
        raise SiteError(Diagnostic("new-name", message, hint="use letters, digits, `-` and `_`"))
    folder = PurePosixPath("themes", name)
    if (root / folder).exists() or (bundled_folder("themes") / name).exists():
        message = f'theme "{name}" already exists'
        raise SiteError(Diagnostic("file-exists", message, hint="choose another name"))
    starter = bundled_folder("starter_theme")
    written = []
    for file in sorted(path for path in starter.rglob("*") if path.is_file()):
        path = folder / file.relative_to(starter).as_posix()
        create_file(root, path, file.read_text("utf-8").replace("@NAME@", name))
        written.append(path)
    return tuple(written)


def copy_theme_file(root: Path, config: Config, name: str) -> Path:
    """Copy a file of the site's theme to the location where it overrides the original. Return the path
    written.

    name: name of the file, as in `layouts/post.html` or `theme.css`. If the site has its own theme, an
    inherited file is copied into it. Otherwise, a template of the bundled theme is copied into a folder of
    the site. Raise SiteError if there is no such file, if it is a static file of a bundled theme, or if the
    destination exists.
    """
    files = read_theme_files(config.theme, root, bundled_folder("themes"), [])
    name = name.removeprefix("./").removeprefix("static/")
    template, static = files.templates.get(name), files.static.get(name)
    if name.partition("/")[0] not in TEMPLATE_KINDS:
        template = None
    if template is None and static is None:
        raise SiteError(_no_file(name, files))
    own = PurePosixPath("themes", config.theme)
    is_own = (root / own / "theme.yaml").is_file()
    if template:
        path, data = (own / name if is_own else PurePosixPath(name)), template.text.encode()
    elif static and is_own:
        path, data = own / "static" / name, static.asset.file.read_bytes()
    else:
        message = (
            f'cannot copy "{name}": a site cannot override static files of the bundled theme "{config.theme}"'
        )
        hint = (
            "run `blogsmith new theme NAME`, write `theme: NAME` in blogsmith.yaml, and copy the file again"
        )
        raise SiteError(Diagnostic("theme-file", message, hint=hint))
    if (root / path).exists():
        message = f'"{path}" already exists'
        raise SiteError(Diagnostic("file-exists", message, hint="edit the existing file"))
    create_file(root, path, data)
    return root / path


def _no_file(name: str, files: ThemeFiles) -> Diagnostic:
    choices = [path for path in files.templates if path.partition("/")[0] in TEMPLATE_KINDS]
    choices += files.static
    ends = [path for path in choices if path.endswith(f"/{name}")]
    near = f"did you mean `{ends[0]}`?" if ends else did_you_mean(name, choices)
    hint = (
        near or "write a path in the theme, such as `layouts/post.html`, `partials/toc.html` or `theme.css`"
    )
    return Diagnostic("theme-file", f'file not found in theme "{files.name}": "{name}"', hint=hint)
