"""Checks of `fuzz_site` for whole parts of the program.

These are imports, the language server, routes of the preview, and files other than posts that commands read.
"""

from __future__ import annotations

import hashlib
import os
import random
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from unittest.mock import patch

from lsprotocol import types

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.importers.importer import ImportOptions, import_site
from blogsmith.lsp.navigation import RenameError
from blogsmith.preview.http.reply import RequestRejectedError
from blogsmith.preview.http.request import parse_head
from blogsmith.preview.http.routes import Routes, client_files
from blogsmith.project.report import no_progress
from blogsmith.publish.dependency_lock import parse_lock
from tests.fuzz_texts import STATES, Case
from tests.importers.import_texts import PNG
from tests.lsp_desk import Desk
from tests.preview_client import TOKEN, site
from tests.site_files import NOW, build, put, put_bare

IMPORT_LIMIT_S = 10.0
"""Seconds of processor time for the import of a small site."""
_SECRET = "known to nobody but the author"
_ENCODINGS = (
    types.PositionEncodingKind.Utf8,
    types.PositionEncodingKind.Utf16,
    types.PositionEncodingKind.Utf32,
)
_HEAD = "---\ntitle: B\ndate: 2026-01-01\n---\n"
_OTHER = f"{_HEAD}## Words {{#words}}\n\n$$ a $$ {{#eq:a}}\n\n[a](a.md), {{@eq:a}}, [@a]\n"


def read_files(text: str) -> Mapping[str, bytes]:
    """Return path → content of the files of an import text whose paths are inside a folder."""
    files = {}
    for section in f"\n{text}".split("\n=== ")[1:]:
        name, _, body = section.partition("\n")
        path = PurePosixPath(name.removesuffix(" [png]"))
        is_inside = path.parts and not path.is_absolute() and ".." not in path.parts
        is_name = all(
            part.isprintable() and len(part.encode("utf-8", "replace")) < 200 for part in path.parts
        )
        if is_inside and is_name and len(str(path)) < 1000:
            data = PNG if name.endswith(" [png]") else f"{body}\n".encode("utf-8", "replace")
            files[str(path)] = data
    # a path may be a file or a folder
    folders = {str(parent) for path in files for parent in PurePosixPath(path).parents}
    return {path: data for path, data in files.items() if path not in folders}


def _snapshot(folder: Path) -> str:
    """Return a digest of all paths, links and contents below a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        digest.update(f"{path}\0{path.is_symlink()}\0".encode("utf-8", "replace"))
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()


def judge_import(made: Case) -> tuple[str, object]:
    """Import a site: nothing outside the new folder changes, and the new site builds."""
    with TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        put(
            home / "around",
            {"secret.md": _SECRET, "a.md": f"{_HEAD}{_SECRET}", "refs.bib": f"@misc{{{_SECRET}}}"},
        )
        put(home / "around/source", read_files(made.text))
        (home / "around/source").mkdir(exist_ok=True)
        before = _snapshot(home / "around")
        try:
            done = import_site(home / "around/source", home / "new", ImportOptions(now=NOW), no_progress)
        except SiteError as error:
            return _changed(home, before), [one.message.replace(str(home), "") for one in error.diagnostics]
        pages = {path: (home / "new" / path).read_bytes() for path in done.files}
        fault = _changed(home, before)
        if not fault and any(_SECRET.encode() in data for data in pages.values()):
            fault = "an import reads a file outside its source"
        if not fault and {path.name for path in home.iterdir()} != {"around", "new"}:
            fault = "an import writes a file beside its target"
        if not fault and (bugs := [one for one in done.check.diagnostics if "has a bug" in one.message]):
            fault = f"an import ends in: {bugs[0].message[:80]}"
        if not fault and not build(home / "new").ok:
            fault = "an imported site does not build"
        return fault, pages


def _changed(home: Path, before: str) -> str:
    return "" if _snapshot(home / "around") == before else "an import changes its source"


def judge_language_server(made: Case) -> tuple[str, object]:
    """Edit a post and ask everything at random positions: no exception, and answers are inside the text."""
    chance = random.Random(zlib.crc32(made.text.encode("utf-8", "surrogatepass")))
    told: list[object] = []
    with TemporaryDirectory() as folder:
        root = put_bare(Path(folder).resolve(), {"blogsmith.yaml": f"title: T\n{made.config}"})
        put(root, {"content/posts/b.md": _OTHER, "refs.bib": STATES["refs.bib"]})
        desk = Desk(root, {"content/posts/a.md": _HEAD}, chance.choice(_ENCODINGS))
        path = chance.choice(["content/posts/a.md"] * 8 + ["blogsmith.yaml", "themes/bare/theme.yaml"])
        desk.open("content/posts/a.md")
        # half a text first, as while somebody types
        desk.write(path, made.text[: chance.randint(0, len(made.text))], rests=chance.random() < 0.5)
        desk.write(path, made.text)
        lines = made.text.split("\n")
        for _ in range(6):
            line = chance.randint(0, len(lines)) if chance.random() < 0.9 else 2**31 - 1
            width = len(lines[line]) if line < len(lines) else 9
            position = types.Position(line, chance.randint(0, width + 2))
            told.extend(_ask(desk, desk.uri(path), position))
        found = [one for params in desk.told.values() for one in params.diagnostics]
        last = max((one.range.end.line for one in found), default=0)
        desk.service.end()
    limit = max(len(lines), _OTHER.count("\n") + 1, 60)
    return ("a diagnostic after the end of the text" if last > limit else ""), [repr(one) for one in told]


def _ask(desk: Desk, uri: str, position: types.Position) -> Iterator[object]:
    service = desk.service
    completions = service.complete(uri, position)
    yield [item.label for item in completions.items] if completions else None
    for item in (completions.items if completions else [])[:3]:
        yield service.describe(item).documentation
    yield service.hover(uri, position, plain=False)
    yield [one.range for one in service.definitions(uri, position)]
    yield [one.range for one in service.references(uri, position, with_declaration=True)]
    try:
        yield service.prepare_rename(uri, position)
        yield service.rename(uri, position, "new-name", versions=True) is None
    except RenameError as error:
        yield str(error)
    yield [one.name for one in service.symbols(uri)], service.folds(uri), len(service.links(uri))
    yield len(service.find_symbols("a"))
    yield [one.title for one in service.actions(uri, types.Range(types.Position(0, 0), position))]


def judge_request(made: Case) -> tuple[str, object]:
    """Route a request: a response to everything, and none of the site for another name or origin."""
    head, _, body = made.text.encode("utf-8", "surrogatepass").partition(b"\r\n\r\n")
    try:
        request = parse_head(head)
    except RequestRejectedError as error:
        return "", str(error)
    pages, bugs = site(), list[Exception]()
    hosts = frozenset(("127.0.0.1:8000", "localhost:8000"))
    routes = Routes(pages, pages, client_files, hosts, TOKEN, "run", bugs.append)
    reply = routes.reply(request, body)
    if bugs:
        return f"{type(bugs[0]).__name__} for a request", ""
    is_ours = request.headers.get("host", "").lower() in hosts
    if (pages.asked or pages.acted) and not is_ours:
        return "a request for another host reaches the site", ""
    if pages.acted and request.headers.get("x-blogsmith-token") != TOKEN:
        return "an action without the token", ""
    return "", (reply.status, bytes(reply.body))


def judge_state(made: Case) -> tuple[str, object]:
    """Build a site with a damaged file: diagnostics, or the same pages as with a valid one."""
    path, _, text = made.text.partition("\n")
    with TemporaryDirectory() as folder:
        root = put_bare(
            Path(folder).resolve() / "site", {"blogsmith.yaml": "title: T\nbibliography: refs.bib\n"}
        )
        data = text.replace("/site", str(root)).encode("utf-8", "surrogatepass")
        put(root, {"content/posts/b.md": _OTHER, "refs.bib": STATES["refs.bib"]})
        place = root.parent / "state/blogsmith" if path == "trusted.json" else root
        put(place, {path: data})
        if path == "publish/requirements.txt":
            parse_lock(data.decode("utf-8", "replace"))
        if path == "trusted.json":
            place.chmod(0o700)
            (place / path).chmod(0o600)
        with patch.dict(os.environ, {"XDG_STATE_HOME": str(root.parent / "state")}):
            report = build(root)
        found = [one.message.replace(str(root), "") for one in report.diagnostics]
        outside = {one.name for one in root.parent.iterdir()} - {"site", "state"}
    return ("a build writes outside the site" if outside else ""), found
