"""Code that readers run in their browsers: the block with its Run button, and the data for its script.

Nothing is loaded here. The imports of the code are read at build time, so that the page can say what a click
will load, and so that the author is warned about packages that browsers cannot have.
"""

from __future__ import annotations

from markdown_it.token import Token

from ...base.diagnostics.model import Place
from ...pyodide.distribution import Distribution
from ...pyodide.imports import Import, find_imports
from ...pyodide.names import is_built_in
from ...pyodide.release import VERSION
from ...syntax.cells.runnables import Runnable
from ...syntax.records import get_record
from ..context import PageRendering
from ..prose import attributes, escape_html

_INSTALLER = "micropip"
"""Package that code uses to install others at run time."""
_CLASS = "runnable"
_SCRIPT_ATTRIBUTES = tuple(
    f"data-{word}"
    for word in (
        *("lang", "session", "file", "line", "seed", "pyodide", "packages", "bytes", "timeout"),
        *("warning", "error", "claim"),
    )
)
# disabled until the script is loaded, because a click would do nothing
_BUTTON = '<button type="button" class="run-button" disabled>{}</button>'


def runnable_cell(rendering: PageRendering, token: Token, html: str, name: str = "") -> str:
    """Return the code of a cell in a runnable block, or unchanged if readers cannot run the cell.

    html: rendered code. name: `id` attribute of the block with a leading space, or empty.
    """
    if "runnable" not in token.meta:
        return html
    opening = f'<div class="{_CLASS}"{name}{_data(rendering, get_record(token, Runnable))}>\n'
    return f"{opening}{html}{_button(rendering)}\n</div>\n"


def block_open(rendering: PageRendering, token: Token) -> str:
    """Render the start tag of a `<div class="runnable">`. The class is omitted if there is no code to run in
    the block itself."""
    if "runnable" not in token.meta:
        # its cell has a block of its own, or nothing runs, so the script must not treat this as a block
        rest = [word for word in str(token.attrs["class"]).split() if word != _CLASS]
        classes = f' class="{escape_html(" ".join(rest))}"' if rest else ""
        return f"<div{classes}{_author_attributes(token)}>\n"
    classes = f' class="{escape_html(str(token.attrs["class"]))}"'
    return f"<div{classes}{_author_attributes(token)}{_data(rendering, get_record(token, Runnable))}>\n"


def _button(rendering: PageRendering) -> str:
    return _BUTTON.format(escape_html(rendering.language.translate("Run")))


def block_close(rendering: PageRendering, token: Token) -> str:
    """Render the end tag of a runnable block."""
    return f"{_button(rendering)}\n</div>\n" if "runnable" in token.meta else "</div>\n"


def _author_attributes(token: Token) -> str:
    """Return the author's attributes without those that blogsmith sets."""
    return attributes(token, "class", *_SCRIPT_ATTRIBUTES)


def _data(rendering: PageRendering, code: Runnable) -> str:
    """Return the data attributes for the script. The session `main`, unknown values and defaults are left
    out."""
    rendering.widgets.add("runnable")
    distribution = rendering.tools.python_distribution()
    settings = rendering.tools.config.browser
    loaded = rendering.browser_packages.setdefault(code.session, list(settings.packages))
    loaded += (name for name in _packages(rendering, code, distribution) if name not in loaded)
    said = {
        "lang": "python",
        "session": "" if code.session == "main" else code.session,
        "file": str(rendering.document.path),
        "line": str(code.first_line),
        "seed": "" if code.seed is None else str(code.seed),
        "pyodide": distribution.url,
        "packages": " ".join(loaded),
        "bytes": str(distribution.transfer_bytes(loaded)),
        "timeout": f"{settings.timeout if code.timeout_s is None else code.timeout_s:g}",
        "warning": "" if code.warning else "false",
        "error": "true" if code.error else "",
        "claim": "true" if code.is_claim else "",
    }
    return "".join(f' data-{key}="{escape_html(value)}"' for key, value in said.items() if value)


def _packages(rendering: PageRendering, code: Runnable, distribution: Distribution) -> list[str]:
    """Return the packages that the code imports. Report those that are not available in browsers."""
    found = find_imports(code.code)
    packages = [_find_package(item.module, distribution) for item in found]
    loaded = (*rendering.browser_packages[code.session], *packages)
    for item, package in zip(found, packages, strict=True):
        if package and not item.guarded and not distribution.has(package):
            message = f'package not found in "{distribution.folder}": "{package}"'
            hint = "run `blogsmith pyodide vendor` to add it"
            rendering.reporter.error("pyodide-folder", message, _place(rendering, code, item), hint)
        elif not package and _INSTALLER not in loaded:
            _warn_of_unknown(rendering, code, item)
    return [package for package in dict.fromkeys(packages) if package]


def _find_package(module: str, distribution: Distribution) -> str:
    """Return the package that contains the top-level `module`; empty for a module of Python itself and for
    one that Pyodide lacks."""
    return "" if is_built_in(module) else distribution.package_of(module)


def _warn_of_unknown(rendering: PageRendering, code: Runnable, item: Import) -> None:
    """Warn about an import that Pyodide does not provide."""
    if is_built_in(item.module) or item.guarded:
        return
    message = f'module not found for Python in the browser: "{item.module}"'
    hint = f"remove the import, or catch the ImportError: Pyodide {VERSION} does not include it"
    rendering.reporter.warn("cell-browser", message, _place(rendering, code, item), hint)


def _place(rendering: PageRendering, code: Runnable, item: Import) -> Place:
    """Return the position of the module's name in the post."""
    page = rendering.parsed.page
    text = code.code.split("\n")[item.line - 1]
    origin = page.text_map(text, code.first_line - page.first_line + item.line - 1)
    return origin.place(item.column - 1, len(item.module))
