"""Routing of requests to responses."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import parse_qs, quote

from ...base.diagnostics.model import SiteError
from ..protocol import PREFIX, ActionHandler, Response, SiteHandler
from .guard import (
    METHODS,
    RequestTarget,
    check_action,
    check_host,
    check_method,
    check_origin,
    decode_path,
    parse_target,
)
from .reply import (
    FilePart,
    HttpResponse,
    RangeError,
    RequestRejectedError,
    byte_range,
    open_part,
    plain_reply,
)
from .request import MAX_BODY, Request

# The preview's own scripts and stylesheets, each with the name in its URL.


FOLDER = Path(__file__).parent.parent / "client"
TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
"""Suffix → media type. Files with another suffix, such as a licence, are not served."""


@dataclass(frozen=True, slots=True)
class ClientFile:
    """A script or stylesheet of the preview."""

    type: str
    """Media type."""
    body: bytes


def client_files(folder: Path = FOLDER) -> Mapping[str, ClientFile]:
    """Read the preview's own files. Return a map from their URL path after /_blogsmith/ to the file. The path
    of a request is only looked up in this map and never becomes a path on disk."""
    return {
        path.relative_to(folder).as_posix(): ClientFile(TYPES[path.suffix], path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.suffix in TYPES and path.is_file()
    }


EVENTS = HttpResponse(200, "text/event-stream", stream=True)
_JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Routes:
    """Routing of requests; the threads of all connections call it."""

    site: SiteHandler
    actions: ActionHandler
    client: Callable[[], Mapping[str, ClientFile]]
    """Function that returns the preview's own files; called when a page first requests one."""
    hosts: frozenset[str]
    """Allowed values of `Host`."""
    token: str
    """Secret that proves that a request comes from a page of this server."""
    run: str
    """Identifier of this process, so that pages notice a restart."""
    report_bug: Callable[[Exception], None]
    """Function that is called with every internal error."""

    def reply(self, request: Request, body: bytes, *, is_local: bool = True) -> HttpResponse:
        """Return the response to a request. If an error occurs, the response describes it. is_local: whether
        the request comes from this machine."""
        try:
            return self._reply(request, body, is_near=is_local)
        except RequestRejectedError as refused:
            return refused.reply
        except Exception as error:
            self.report_bug(error)
            return plain_reply(500, f"blogsmith has a bug: {type(error).__name__}: {error}")

    def _reply(self, request: Request, body: bytes, *, is_near: bool) -> HttpResponse:
        check_host(request, self.hosts)
        # before the target is parsed: `OPTIONS *` and `CONNECT host` have no path
        if request.method not in METHODS:
            raise RequestRejectedError(405, "Method not allowed. Allowed: GET, HEAD.", Allow="GET, HEAD")
        target = parse_target(request.target)
        check_origin(request, target.path)
        check_method(request, target.path)
        if request.method == "POST":
            # with `--host`, other machines can read pages and the token in them
            if not is_near:
                raise RequestRejectedError(
                    403, "This request is allowed only from the machine that runs the preview."
                )
            return self._act(request, target, body)
        if target.path.startswith(PREFIX):
            return self._client_reply(target)
        return _make_reply(self.site.answer(target.path), request)

    def _client_reply(self, target: RequestTarget) -> HttpResponse:
        name = target.path.removeprefix(PREFIX)
        if name == "events":
            return EVENTS
        if name == "version":
            return self._version(target.query)
        file = self.client().get(name)
        if file is None:
            raise RequestRejectedError(404, "File not found.")
        return HttpResponse(200, file.type, file.body)

    def _version(self, query: str) -> HttpResponse:
        paths = parse_qs(query).get("path", [])
        if len(paths) != 1:
            raise RequestRejectedError(400, "Missing parameter: add ?path=/posts/a/")
        # the parameter is a path as a browser shows it, with escapes of its own
        version = self.site.version(decode_path(paths[0]))
        return _json(200, {"version": version, "run": self.run})

    def _act(self, request: Request, target: RequestTarget, body: bytes) -> HttpResponse:
        check_action(request, self.token)
        if request.length is None:
            raise RequestRejectedError(411, "The request has no Content-Length header.")
        if request.length > MAX_BODY:
            raise RequestRejectedError(413, f"The body is larger than {MAX_BODY} bytes.")
        try:
            return _json(200, self.actions.act(target.path.removeprefix(f"{PREFIX}do/"), _object(body)))
        except LookupError as error:
            return _json(404, {"error": str(error)})
        except ValueError as error:
            return _json(400, {"error": str(error)})


def _object(body: bytes) -> Mapping[str, object]:
    try:
        data = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise RequestRejectedError(400, "The body is not a JSON object.")
    return data


def _json(status: int, data: Mapping[str, object]) -> HttpResponse:
    return HttpResponse(status, _JSON, json.dumps(dict(data)).encode("ascii"))


def _make_reply(answer: Response, request: Request) -> HttpResponse:
    if answer.location:
        return _redirect(answer)
    try:
        body = answer.make() if answer.make else answer.body
    except SiteError as error:
        return plain_reply(500, str(error))
    reply = HttpResponse(answer.status, answer.type, body)
    if answer.file is None:
        return reply
    part = open_part(answer.file)
    if part is None:
        return plain_reply(404, "The file no longer exists.")
    return _with_file(reply, part, request)


def _redirect(answer: Response) -> HttpResponse:
    # with a second slash it would name another host
    if not answer.location.startswith("/") or answer.location[1:2] in ("/", "\\"):
        raise ValueError(f"cannot redirect to {answer.location!r}")
    where = quote(answer.location, safe="/%?#=&+,;:@!$'()*~-._")
    return HttpResponse(answer.status, headers={"Location": where})


def _with_file(reply: HttpResponse, part: FilePart, request: Request) -> HttpResponse:
    """Return a response with the requested part of a file instead of a body. Browsers read videos in parts,
    and Safari plays no video without this."""
    headers = {"Accept-Ranges": "bytes"}
    # RFC 9110 13.1.5, conditional ranges: the preview sends no validators, so no condition can be true
    whole = reply.status != 200 or request.method == "HEAD" or "if-range" in request.headers
    asked = "" if whole else request.headers.get("range", "")
    try:
        piece = byte_range(asked, part.length)
    except RangeError:
        part.file.close()
        return plain_reply(
            416, "The requested range is outside the file.", Content_Range=f"bytes */{part.length}"
        )
    if piece is None:
        return replace(reply, part=part, headers=headers)
    start, length = piece
    headers["Content-Range"] = f"bytes {start}-{start + length - 1}/{part.length}"
    return replace(reply, status=206, part=FilePart(part.file, start, length), headers=headers)
