"""Consent covers exactly the checked code: plugins of a site run from the bytes with the checked digest."""

from __future__ import annotations

import importlib.util
import inspect
import linecache
import py_compile
import sys
import xml
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from blogsmith.base.diagnostics.model import Diagnostic, Place, SiteError
from blogsmith.build.load import reload_site
from blogsmith.hooks import Plugins
from blogsmith.hooks.calls import convert_plugin_errors
from blogsmith.hooks.loader import load_plugins
from blogsmith.hooks.plugin_code import is_covered, read_plugin_code
from blogsmith.project.context import open_site
from blogsmith.project.report import BuildReport
from blogsmith.project.trust.consent import trust
from tests.rows import each_row
from tests.site_files import build

REGISTER = "def register(hooks):\n    pass\n"
OF_PLUGINS = "import sys\nfrom pathlib import Path\nROOT = Path(__file__).resolve().parent.parent\n"
POST = "---\ntitle: A\ndate: 2026-03-01\n---\n\n"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    root = tmp_path / "site"
    write(root, {"blogsmith.yaml": "plugins: [mine]\n"})
    return root


@pytest.fixture(autouse=True)
def _modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Isolate the modules and folders of each test."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(xml, "__path__", list(xml.__path__))
    names = ("helper", "lib", "lib.helper")
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield
    for name in names:
        sys.modules.pop(name, None)


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def load(root: Path) -> Plugins:
    """Return the plugins of a site, trusted in its current state."""
    trust(root)
    return open_site(root).plugins


def refusal(root: Path) -> Diagnostic:
    """Return the error when a trusted site loads its plugins."""
    with pytest.raises(SiteError) as caught:
        load(root)
    (found,) = caught.value.diagnostics
    return found


def compiled(text: str, folder: Path, to: Path) -> None:
    """Replace the bytecode of a module by that of another source; Python would not check the source."""
    (folder / "foreign.py").write_text(text)
    to.parent.mkdir(exist_ok=True)
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(folder / "foreign.py"), str(to), doraise=True, invalidation_mode=mode)


# -- bytes --


@pytest.mark.parametrize("module", ["mine", "helper"])
def test_foreign_bytecode_is_not_loaded(site: Path, tmp_path: Path, module: str) -> None:
    write(site, {"plugins/mine.py": f"from .helper import x\n{REGISTER}", "plugins/helper.py": "x = 1\n"})
    cache = Path(importlib.util.cache_from_source(str(site / "plugins" / f"{module}.py")))
    ran = tmp_path / "ran"
    compiled(f"open({str(ran)!r}, 'w')\nx = 1\n{REGISTER}", tmp_path, cache)
    assert load(site).names == ("mine",)
    assert not ran.exists()


def test_nothing_is_written_beside_plugins(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    write(site, {"plugins/mine.py": f"from .helper import x\n{REGISTER}", "plugins/helper.py": "x = 1\n"})
    load(site)
    assert sorted(path.name for path in (site / "plugins").iterdir()) == ["helper.py", "mine.py"]


def test_what_was_digested_is_what_runs(site: Path, tmp_path: Path) -> None:
    """A change after the check never runs: neither immediately nor when a hook imports it later."""
    plugin = """
def register(hooks):
    @hooks.shortcode_data("x")
    def data(args, document):
        from .helper import value
        return {"value": value}
"""
    write(site, {"plugins/mine.py": plugin, "plugins/helper.py": "value = 'digested'\n"})
    code = read_plugin_code(site)
    write(site, {"plugins/mine.py": "exit(1)\n", "plugins/helper.py": "value = 'exchanged'\n"})
    plugins = load_plugins(["mine"], [], code)
    with convert_plugin_errors(plugins):
        assert plugins.shortcode_data["x"][1]({}, None) == {"value": "digested"}  # type: ignore[arg-type]


def test_a_changed_helper_asks_again_and_is_loaded_anew(site: Path) -> None:
    plugin = "from .helper import kind\n\ndef register(hooks):\n    hooks.callout_kind(kind, kind)\n"
    write(site, {"plugins/mine.py": plugin, "plugins/helper.py": "kind = 'one'\n"})
    assert [kind.name for kind in load(site).kinds] == ["one"]
    write(site, {"plugins/helper.py": "kind = 'two'\n"})
    with pytest.raises(SiteError) as caught:
        open_site(site)
    assert "plugins/helper.py has changed" in caught.value.diagnostics[0].message
    assert [kind.name for kind in load(site).kinds] == ["two"]


# -- what is covered --


@each_row(
    ("path", "covered"),
    [
        ("plugins/a.py", True),
        ("plugins/deep/er/a.py", True),
        ("plugins/data.json", True),
        ("plugins/a.so", True),
        ("plugins/shortcodes/a.py", True),
        ("plugins/shortcodes/a.html", False),
        ("plugins/__pycache__/a.cpython-311.pyc", False),
        ("plugins/.#a.py", False),
        ("plugins/.git/a.py", False),
        ("plugins/a.py~", False),
        ("lib/a.py", False),
        ("plugins", False),
    ],
)
def test_covered_files(path: str, covered: bool) -> None:
    assert is_covered(path) is covered


@pytest.mark.parametrize(
    "plugin",
    [
        "from .helper import x\n",
        "from . import helper\nx = helper.x\n",
        f"{OF_PLUGINS}sys.path.insert(0, str(ROOT / 'plugins'))\nfrom helper import x\n",
        "from .package import x\n",
        "from .package.inner import x\n",
        "from .spaces.inner import x\n",
    ],
)
def test_what_lies_beside_a_plugin_is_found(site: Path, plugin: str) -> None:
    helpers = ("plugins/helper.py", "plugins/package/inner.py", "plugins/spaces/inner.py")
    write(site, dict.fromkeys(helpers, "x = 1\n"))
    write(site, {"plugins/package/__init__.py": "from .inner import x\n"})
    write(site, {"plugins/mine.py": f"{plugin}assert x == 1\n{REGISTER}"})
    assert load(site).names == ("mine",)


LOADER = """
import importlib.abc, importlib.util
class Loader(importlib.abc.SourceLoader):
    def get_filename(self, name): return {file}
    def get_data(self, path): return (ROOT / 'lib' / 'helper.py').read_bytes()
spec = importlib.util.spec_from_loader('helper', Loader())
spec.loader.exec_module(importlib.util.module_from_spec(spec))
""".lstrip()
REFUSED = {
    "a folder in sys.path": "sys.path.insert(0, str(ROOT / 'lib'))\nimport helper\n",
    "the root in sys.path": "sys.path.append(str(ROOT))\nimport lib.helper\n",
    "the current folder": "import os\nos.chdir(ROOT / 'lib')\nsys.path.insert(0, '')\nimport helper\n",
    "a namespace package": "sys.path.append(str(ROOT))\nimport lib\n",
    "a package's path": "import xml\nxml.__path__.append(str(ROOT / 'lib'))\nimport xml.helper\n",
    "an archive": "sys.path.insert(0, str(ROOT / 'lib.zip'))\nimport helper\n",
    "an archive in plugins": "sys.path.insert(0, str(ROOT / 'plugins' / 'lib.zip'))\nimport helper\n",
    "a link": "sys.path.insert(0, str(ROOT.parent / 'link'))\nimport helper\n",
    "a loader of its own": (
        "from importlib.util import spec_from_file_location, module_from_spec\n"
        "spec = spec_from_file_location('helper', ROOT / 'lib' / 'helper.py')\n"
        "spec.loader.exec_module(module_from_spec(spec))\n"
    ),
    "a loader for a covered file": (
        "from importlib.util import spec_from_file_location, module_from_spec\n"
        "spec = spec_from_file_location('helper', ROOT / 'plugins' / 'beside.py')\n"
        "spec.loader.exec_module(module_from_spec(spec))\n"
    ),
    "a loader with another file name": LOADER.format(file="'/virtual.py'"),
    "a loader with the name of a library": LOADER.format(file="importlib.abc.__file__"),
    "a .pth file": "import site\nsite.addsitedir(str(ROOT / 'lib'))\n",
    "exec": "exec((ROOT / 'lib' / 'helper.py').read_text())\n",
    "compile": "exec(compile((ROOT / 'lib' / 'helper.py').read_text(), '/virtual.py', 'exec'))\n",
    "eval": "eval((ROOT / 'lib' / 'helper.py').read_text().strip())\n",
    "ctypes": "import ctypes\nctypes.CDLL(str(ROOT / 'lib' / 'helper.so'))\n",
    "runpy": "import runpy\nrunpy.run_path(str(ROOT / 'lib' / 'helper.py'))\n",
    "runpy of a template": (
        "import runpy\nrunpy.run_path(str(ROOT / 'plugins' / 'shortcodes' / 'helper.html'))\n"
    ),
    "bytecode alone": "from . import compiled\n",
    "an extension module": "from . import native\n",
    "a hidden file": "sys.path.insert(0, str(ROOT / 'plugins' / '.hidden'))\nimport helper\n",
    "a backup": "import runpy\nrunpy.run_path(str(ROOT / 'plugins' / 'helper.py~'))\n",
    "a linked folder": "from .linked import helper\n",
}
"""Ways to run code of a site that its consent does not cover."""
REMAINING = {
    "text that a library executes for it": (
        "import timeit\ntimeit.timeit((ROOT / 'lib' / 'helper.py').read_text(), number=1)\n"
    ),
    "bytecode that it loads itself": (
        "import marshal\nexec(marshal.loads((ROOT / 'plugins' / 'compiled.pyc').read_bytes()[16:]))\n"
    ),
    "a program that it starts": (
        "import subprocess\nsubprocess.run([sys.executable, str(ROOT / 'lib' / 'helper.py')])\n"
    ),
}
"""Ways that are not refused. The manual names them."""
MANUAL = {
    "`import`: from a folder in `sys.path` or the current one, an archive, a namespace package, the "
    "`__path__` of a package, or a link": (
        "a folder in sys.path", "the root in sys.path", "the current folder", "a namespace package",
        "a package's path", "an archive", "an archive in plugins", "a link", "a linked folder",
    ),
    "`importlib` with any loader, also one that the plugin defines": (
        "a loader of its own", "a loader for a covered file", "a loader with another file name",
        "a loader with the name of a library",
    ),
    "`site.addsitedir` and `.pth` files": ("a .pth file",),
    "`runpy`": ("runpy", "runpy of a template"),
    "`exec`, `eval` and `compile` in a plugin, for text that is not a covered file": (
        "exec", "eval", "compile",
    ),
    "bytecode, extension modules, and libraries for `ctypes`": (
        "bytecode alone", "an extension module", "ctypes",
    ),
    "hidden files, and backups such as `x.py~`": ("a hidden file", "a backup"),
}  # fmt: skip
"""Row of the manual's table → ways that it describes."""


@pytest.fixture
def ran(site: Path, tmp_path: Path) -> Path:
    """Add code to the site in uncovered files. Return the file that the code would create."""
    ran = tmp_path / "ran"
    code = f"open({str(ran)!r}, 'w').close()\n"
    folders = ("lib", "plugins/.hidden", "linked", "plugins/shortcodes")
    files = [f"{folder}/helper.{'html' if folder.endswith('codes') else 'py'}" for folder in folders]
    write(site, dict.fromkeys([*files, "plugins/helper.py~"], code))
    write(site, {"lib/x.pth": f"import os; {code}", "plugins/beside.py": f"# covered\n{code}"})
    for archive in ("lib.zip", "plugins/lib.zip"):
        with zipfile.ZipFile(site / archive, "w") as made:
            made.writestr("helper.py", code)
    compiled(code, tmp_path, site / "plugins" / "compiled.pyc")
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    (site / "plugins" / f"native{suffix}").write_bytes(b"\x7fELF")
    (site / "plugins" / "linked").symlink_to("../linked")
    (tmp_path / "link").symlink_to(site / "lib")
    return ran


@pytest.mark.parametrize("how", REFUSED)
def test_code_that_is_not_covered_is_refused_while_loading(
    site: Path, ran: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the process of blogsmith, where plugins with rules for the parser run."""
    monkeypatch.chdir(site)
    write(site, {"plugins/mine.py": f"{OF_PLUGINS}{REFUSED[how]}{REGISTER}"})
    with pytest.raises(SiteError) as caught:
        load_plugins(["mine"], [], read_plugin_code(site))
    (found,) = caught.value.diagnostics
    assert (found.code, found.path) == ("plugin-import", "plugins/mine.py")
    assert found.place is not None and found.source_line.strip() == REFUSED[how].splitlines()[-1]
    assert not ran.exists()


@pytest.mark.parametrize("how", REMAINING)
def test_what_remains(site: Path, ran: Path, how: str) -> None:
    write(site, {"plugins/mine.py": f"{OF_PLUGINS}{REMAINING[how]}{REGISTER}"})
    load_plugins(["mine"], [], read_plugin_code(site))
    assert ran.exists()


def test_the_manual_lists_all_ways() -> None:
    assert sorted(way for ways in MANUAL.values() for way in ways) == sorted(REFUSED)
    manual = Path(__file__).parent.parent / "content/docs/trust-and-safety.md"
    for row in (*MANUAL, *REMAINING):
        (line,) = (line for line in manual.read_text("utf-8").splitlines() if row in line)
        assert line.endswith("| rejected |" if row in MANUAL else "| runs |"), row


def test_code_that_is_not_covered_is_refused_in_hooks(site: Path, ran: Path) -> None:
    """In the process of plugins. One way does not open another."""
    ways = ""
    for number, body in enumerate(REFUSED.values()):
        lines = "".join(f"        {line}\n" for line in body.splitlines())
        ways += (
            f"    @hooks.shortcode_data('way{number}')\n    def way(args, document):\n"
            f"        del sys.path[:sys.path.index(BEFORE)]\n{lines}"
        )
        write(site, {f"shortcodes/way{number}.html": "<p>x</p>\n"})
    plugin = f"{OF_PLUGINS}BEFORE = sys.path[0]\n\n\ndef register(hooks):\n{ways}"
    calls = "\n\n".join(f"{{% way{number} %}}" for number in range(len(REFUSED)))
    write(site, {"plugins/mine.py": plugin, "content/posts/a.md": f"{POST}{calls}\n"})
    trust(site)
    report: BuildReport = build(site)
    assert {(found.code, found.path) for found in report.diagnostics} == {
        ("plugin-import", "plugins/mine.py")
    }
    refused = sorted(found.source_line.strip() for found in report.diagnostics)
    assert refused == sorted(body.splitlines()[-1] for body in REFUSED.values())
    assert not ran.exists()


def test_the_refusal_names_plugin_file_and_remedy(site: Path) -> None:
    write(site, {"lib/helper.py": "", "plugins/part.py": "import lib.helper\n"})
    write(
        site, {"plugins/mine.py": f"{OF_PLUGINS}sys.path.append(str(ROOT))\nfrom . import part\n{REGISTER}"}
    )
    found = refusal(site)
    assert found.message == (
        'plugin "part" may not import "lib": it is not in plugins/, and trust does not cover it'
    )
    assert (found.path, found.place) == ("plugins/part.py", Place(1, 1, 17))
    assert found.hint == "move it to plugins/, which `blogsmith trust` covers, and write `from .lib import …`"


def test_a_plugin_that_is_a_link_out_of_the_site_is_refused(site: Path, tmp_path: Path) -> None:
    (tmp_path / "foreign.py").write_text(REGISTER)
    (site / "plugins").mkdir()
    (site / "plugins" / "mine.py").symlink_to(tmp_path / "foreign.py")
    found = refusal(site)
    assert (found.code, found.message) == (
        "plugin-missing",
        'plugin "mine" is not loaded: it is a link to a file outside the site',
    )


def test_an_environment_inside_the_site_is_no_code_of_the_site(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(site, {".venv/lib/site-packages/helper.py": "x = 1\n"})
    write(site, {"plugins/mine.py": f"from helper import x\n{REGISTER}"})
    packages = str(site / ".venv" / "lib" / "site-packages")
    monkeypatch.syspath_prepend(packages)
    code = read_plugin_code(site)
    with pytest.raises(SiteError):
        load_plugins(["mine"], [], code)
    monkeypatch.setattr("blogsmith.hooks.plugin_imports._environment_folders", lambda: (packages,))
    assert load_plugins(["mine"], [], code).names == ("mine",)


# -- what else stays as it was --


def test_the_search_path_keeps_nothing_of_the_site(site: Path, tmp_path: Path) -> None:
    added = "".join(
        f"sys.path.insert(0, {path})\n" for path in ("str(ROOT)", "str(ROOT / 'plugins')", "'/opt/x'")
    )
    write(site, {"plugins/mine.py": f"{OF_PLUGINS}{added}{REGISTER}"})
    before, finders = list(sys.path), list(sys.meta_path)
    load_plugins(["mine"], [], read_plugin_code(site))
    assert (sys.path, sys.meta_path) == (["/opt/x", *before], finders)


def test_a_missing_module_is_an_import_error_as_ever(site: Path) -> None:
    code = "try:\n    import no_such_module\nexcept ImportError:\n    pass\n"
    write(site, {"plugins/mine.py": code + REGISTER})
    assert load(site).names == ("mine",)


def test_tracebacks_and_inspect_know_the_lines(site: Path) -> None:
    plugin = "def register(hooks):\n    hooks.markdown(rule)\n\n\ndef rule(md):\n    return 1\n"
    write(site, {"plugins/mine.py": plugin})
    (rule,) = load(site).markdown_rules
    linecache.clearcache()
    assert inspect.getsource(rule) == "def rule(md):\n    return 1\n"
    assert inspect.getsourcefile(rule) == str(site.resolve() / "plugins" / "mine.py")
    assert inspect.getmodule(rule) is sys.modules[rule.__module__]


def test_mistakes_in_a_helper_are_told_at_the_plugin(site: Path) -> None:
    write(
        site, {"plugins/mine.py": f"x = 1\nfrom . import helper\n{REGISTER}", "plugins/helper.py": "1 / 0\n"}
    )
    found = refusal(site)
    assert (found.code, found.path, found.place) == ("plugin", "plugins/mine.py", Place(2, 1, 20))
    assert "ZeroDivisionError" in found.message


@pytest.mark.parametrize("name", ["plugins/data.json", "plugins/helper.py"])
def test_the_preview_asks_again_as_a_build_does(site: Path, name: str) -> None:
    write(site, {"plugins/mine.py": REGISTER, "plugins/data.json": "{}", "plugins/helper.py": ""})
    trust(site)
    before = open_site(site)
    assert reload_site(site, None, before, ["content/a.md"]) is before
    write(site, {name: "x = 1\n"})
    with pytest.raises(SiteError) as caught:
        reload_site(site, None, before, [name])
    assert caught.value.diagnostics[0].code == "plugin-untrusted"
    trust(site)
    assert reload_site(site, None, before, [name]).plugins.names == ("mine",)


# -- templates --


@pytest.mark.parametrize("text", ["<p>It says {{ word }}.</p>", "<p>\n{{ word.nothing.there }}</p>"])
def test_templates_of_the_site_are_content(site: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Jinja compiles them to code, and runs a line with their name to raise an error."""
    card = "def register(hooks):\n    @hooks.shortcode_data('card')\n    def card(args, page):\n"
    write(
        site,
        {
            "plugins/mine.py": f"{card}        return {{'word': 'hello'}}\n",
            "shortcodes/card.html": text,
            "content/posts/a.md": f"{POST}{{% card %}}\n",
        },
    )
    monkeypatch.chdir(site)
    trust(site)
    report = build(site)
    assert report.ok is ("nothing" not in text)
    assert {found.code for found in report.diagnostics} <= {"template"}
    assert not any("refused" in found.message for found in report.diagnostics)
