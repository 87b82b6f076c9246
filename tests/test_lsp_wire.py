"""The language server as editors start it: a process, a real client, and failures between them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

COMMAND = (sys.executable, "-m", "blogsmith", "lsp", "--stdio")
HEAD = "---\ntitle: One\ndate: 2026-01-02\n---\n\n"
ONE = "content/posts/one.md"
WAIT_S = 60


def _write_site(root: Path) -> None:
    (root / "content/posts").mkdir(parents=True)
    (root / "blogsmith.yaml").write_text("title: Wire\n", encoding="utf-8")
    (root / ONE).write_text(f"{HEAD}$$ a $$ {{#eq:a}}\n", encoding="utf-8")


class _Editor:
    """A client that records all messages."""

    def __init__(self, root: Path) -> None:
        self.client = LanguageClient("tests", "1")
        self.uri = (root / ONE).as_uri()
        self.root = root
        self.told: dict[str, types.PublishDiagnosticsParams] = {}
        self.news = asyncio.Event()

        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self._take(params))

    def _take(self, params: types.PublishDiagnosticsParams) -> None:
        self.told[params.uri] = params
        self.news.set()

    async def start(self, *encodings: str) -> types.InitializeResult:
        await self.client.start_io(*COMMAND)
        general = types.GeneralClientCapabilities(position_encodings=list(encodings) or None)
        result = await self.client.initialize_async(
            types.InitializeParams(
                capabilities=types.ClientCapabilities(general=general), root_uri=self.root.as_uri()
            )
        )
        self.client.initialized(types.InitializedParams())
        return result

    async def codes(self, version: int) -> list[str]:
        """Return the diagnostics of a version of the page."""
        async with asyncio.timeout(WAIT_S):
            while (told := self.told.get(self.uri)) is None or told.version != version:
                self.news.clear()
                await self.news.wait()
        return [str(one.code) for one in told.diagnostics]

    def edit(self, version: int, *changes: types.TextDocumentContentChangeEvent) -> None:
        identifier = types.VersionedTextDocumentIdentifier(version=version, uri=self.uri)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(identifier, list(changes)))


async def _session(root: Path) -> tuple[int | None, list[str]]:
    editor = _Editor(root)
    result = await editor.start("utf-32", "utf-16")
    assert result.capabilities.position_encoding == "utf-32"
    client, said = editor.client, list[str]()
    client.text_document_did_open(
        types.DidOpenTextDocumentParams(
            types.TextDocumentItem(
                editor.uri, "markdown", 1, f"{HEAD}𝔄 $\\wrongly$ and {{@eq:a}}\n\n$$ a $$ {{#eq:a}}\n"
            )
        )
    )
    said += await editor.codes(1)
    where = types.Range(types.Position(5, 3), types.Position(5, 11))
    editor.edit(2, types.TextDocumentContentChangePartial(where, "\\alpha"))
    said += await editor.codes(2)
    document = types.TextDocumentIdentifier(editor.uri)
    hover = await client.text_document_hover_async(types.HoverParams(document, types.Position(5, 5)))
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    assert "α" in hover.contents.value
    renamed = await client.text_document_rename_async(
        types.RenameParams(document, types.Position(5, 18), "eq:b")
    )
    assert renamed is not None
    assert renamed.changes is not None
    assert [one.new_text for one in renamed.changes[editor.uri]] == ["eq:b", "eq:b"]
    where = types.Range(types.Position(5, 3), types.Position(5, 9))
    editor.edit(3, types.TextDocumentContentChangePartial(where, "\\wrongly"))
    said += await editor.codes(3)
    await client.shutdown_async(None)
    client.exit(None)
    assert client._server is not None
    async with asyncio.timeout(WAIT_S):
        code = await client._server.wait()
    await client.stop()  # type: ignore[no-untyped-call]
    return code, said


def test_a_session_from_start_to_end(tmp_path: Path) -> None:
    _write_site(tmp_path)
    code, said = asyncio.run(_session(tmp_path))
    assert said == ["math-command", "math-command"]
    assert code == 0


def _message(content: Mapping[str, object]) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **content}).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def _serve(root: Path, *messages: bytes) -> subprocess.CompletedProcess[bytes]:
    start = _message({"id": 1, "method": "initialize", "params": {"capabilities": {}, "processId": None}})
    return subprocess.run(
        COMMAND, cwd=root, input=b"".join((start, *messages)), capture_output=True, timeout=WAIT_S
    )


def test_a_client_that_is_gone_ends_the_server(tmp_path: Path) -> None:
    done = _serve(tmp_path, b"Content-Length: 90\r\n\r\n{broken")
    assert done.returncode == 1
    assert done.stdout.startswith(b"Content-Length: ")
    assert b"Traceback" not in done.stdout + done.stderr


def test_nonsense_is_answered_and_the_server_lives_on(tmp_path: Path) -> None:
    done = _serve(
        tmp_path,
        b"nonsense\r\n",
        b"Content-Length: 9\r\n\r\n{broken!}",
        _message({"method": "textDocument/didChange", "params": {"textDocument": 7}}),
        _message({"method": "blogsmith/unknown", "params": {}}),
        _message({"id": 2, "method": "textDocument/hover", "params": {"nothing": "right"}}),
        _message({"id": 3, "method": "blogsmith/unknown", "params": {}}),
        _message({"id": 4, "method": "shutdown"}),
        _message({"method": "exit"}),
    )
    answers = [
        json.loads(one.partition(b"\r\n\r\n")[2]) for one in done.stdout.split(b"Content-Length: ")[1:]
    ]
    assert {one["id"]: one.get("error", {}).get("code") for one in answers} == {
        1: None,
        2: -32602,
        3: -32601,
        4: None,
    }
    assert done.returncode == 0
    assert b"Traceback" not in done.stdout + done.stderr


def test_without_pygls_the_command_says_what_to_install(tmp_path: Path) -> None:
    hidden = "import sys; sys.modules['pygls'] = None; from blogsmith.cli.main import main"
    hidden += "; sys.exit(main(['lsp']))"
    done = subprocess.run(
        [sys.executable, "-c", hidden], cwd=tmp_path, capture_output=True, text=True, timeout=WAIT_S
    )
    assert done.returncode == 1
    assert not done.stdout
    assert "pygls" in done.stderr
    assert "install" in done.stderr
    assert "Traceback" not in done.stderr
