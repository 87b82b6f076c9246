"""Drawings by LaTeX: one TeX document per drawing, its DVI file converted to SVG by `dvisvgm`.

TeX runs without `\\write18`. It reads a private folder and the TeX installation, writes only to the private
folder, and makes no fonts. The author's code is a separate file, so that TeX's line numbers are those of the
code.
"""

from __future__ import annotations

import base64
import os
import re
import resource
import shutil
import signal
import subprocess
from os import _exit
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from . import versions
from .frames import Channel
from .limits import Interrupts, MemoryLimit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any, NoReturn

_PACKAGES = {
    "tikz": "\\usepackage{tikz}",
    "circuitikz": "\\usepackage{circuitikz}",
    "pgfplots": "\\usepackage{pgfplots}\\pgfplotsset{compat=newest}",
    "feynman": "\\usepackage[compat=1.1.0]{tikz-feynman}",
    "chemfig": "\\usepackage{chemfig}",
}
_AROUND = {"circuitikz": ("\\begin{circuitikz}", "\\end{circuitikz}"), "chemfig": ("\\chemfig{", "}")}
"""Language → the commands around code that does not begin a drawing itself."""
_TIKZ = ("\\begin{tikzpicture}", "\\end{tikzpicture}")
_OWN_START = re.compile(
    r"\\begin\s*\{(?:tikzpicture|circuitikz|tikzcd|xy|document)\}"
    r"|\\(?:tikz|xy|feynmandiagram|chemfig|schemestart|chemname)\b"
)
_HEAD_LINE = re.compile(
    r"\s*(?:%.*|\\(?:usepackage|RequirePackage|use\w+library)\s*(?:\[[^]]*\])?\{[^{}]*\}.*)?"
)
r"""Matches a line of code that belongs before `\begin{document}`."""
_PLAIN_INPUT = re.compile(r"\\input\s+([^\s{}\\%]+)")
_CLASS = re.compile(r"\\documentclass\s*(?:\[[^]]*\])?\s*\{[^}]*\}")

# Authors write preambles for printed documents. So packages for page layout and missing packages are skipped,
# and errors in a preamble do not stop TeX.
_DOCUMENT = r"""\def\pgfsysdriver{pgfsys-dvisvgm.def}
\documentclass{article}
\usepackage{amsmath,amssymb}
%(packages)s
\makeatletter
\let\drawing@input\@iinput \let\drawing@use\usepackage
\newcommand\drawing@package[2][]{\edef\drawing@names{\zap@space#2 \@empty}%%
  \@for\drawing@name:=\drawing@names\do{\edef\drawing@test{\noexpand\in@{,\drawing@name,}}%%
    \drawing@test{,geometry,hyperref,cleveref,fullpage,fancyhdr,graphicx,standalone,preview,}%%
    \ifin@\else\IfFileExists{\drawing@name.sty}{\RequirePackage[#1]{\drawing@name}}{}\fi}}
\let\usepackage\drawing@package \def\@iinput#1{\InputIfFileExists{#1}{}{}}
%(preamble)s
\let\@iinput\drawing@input \let\usepackage\drawing@use
\makeatother
\input{head.tex}
\pagestyle{empty}
\newsavebox\drawingBox
\begin{document}
\begin{lrbox}{\drawingBox}\input{drawing.tex}\end{lrbox}%%
\hoffset=-1in \voffset=-1in
\dimen0=\dimexpr\ht\drawingBox+\dp\drawingBox+2pt\relax \dimen2=\dimexpr\wd\drawingBox+2pt\relax
\typeout{drawing: \the\wd\drawingBox}
\shipout\vbox to\dimen0{\special{papersize=\the\dimen2,\the\dimen0}\kern1pt
  \hbox to\dimen2{\hss\usebox\drawingBox\hss}\vss}
\end{document}
"""
_LATEX = ("latex", "-no-shell-escape", "-interaction=nonstopmode", "-file-line-error", "main.tex")
_DVISVGM = (
    *("dvisvgm", "--no-fonts", "--no-mktexmf", "--no-specials=ps,pdf", "--bbox=papersize"),
    *("--precision=2", "--page=1", "--verbosity=1", "--output=drawing.svg", "main.dvi"),
)
_SPECIALS = (b"dvisvgm:", b"color ", b"papersize=")
"""Prefixes of those specials (commands in a DVI file for other programs) that may reach `dvisvgm`. Some
others run PostScript or read files."""
_MAX_FILE_BYTES = 32 * 1024 * 1024
"""Maximum size of any file that TeX writes."""
_MAX_SVG_BYTES = 2 * 1024 * 1024
_MAX_CONTEXT = 2000
"""Maximum number of characters of TeX's context of an error."""
_ERROR = re.compile(r"^(?:\./)?([^\s:]+):(\d+): (.*)$|^! (.*)$", re.MULTILINE)
_CONTEXT = re.compile(r"^l\.\d+ ?.*\n?.*", re.MULTILINE)
_PREFIX = re.compile(r"(?:LaTeX|Package \S+|TeX) Error: ")
_NOT_FOUND = re.compile(r"(?:I can't find file|File) `([^']+)'(?: not found)?")
_LAST_NAME = re.compile(r"(\\(?:[A-Za-z@]+|.))\s*$")
_OWN_FILES = ("head.tex", "drawing.tex", "main.tex")
_UNENDED = re.compile(r"\\begin\{(\w+\*?)\} on input line \d+ ended by .*")
_VERSION = re.compile(r"-(\d[\w.]*) \(|dvisvgm (\d[\w.]*)")
_PGF = re.compile(r"^Package: pgf \S+ v?(\S+)", re.MULTILINE)


def serve(descriptor: int) -> NoReturn:
    """Make drawings until the builder ends the session, and exit. descriptor: our end of the socket to the
    builder."""
    interrupts = Interrupts()
    interrupts.install()
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)  # the builder requests a stack, but TeX has none
    channel = Channel(descriptor, interrupts)
    start = channel.receive()
    if start is None:
        _exit(1)
    problem = _prepare(start)
    channel.send({"event": "ready", "sandbox": problem if start["sandbox"] != "off" else ""})
    drawing = DrawingSession(start)
    while message := channel.receive():
        if message["op"] == "cell":
            channel.send(_answer(drawing, channel, interrupts, message))
        elif message["op"] == "machine":
            found = versions.machine(())
            known = {name: found[name] for name in ("platform", "cpu")}
            channel.send({"event": "machine", **known, "packages": drawing.versions})
        elif message["op"] == "end":
            _exit(0)
    _exit(1)


def _prepare(start: Mapping[str, Any]) -> str:
    """Set up the limits of TeX and the sandbox. Return why the sandbox failed, as a message; empty if it
    works."""
    MemoryLimit(start["limits"]["data_bytes"])
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MAX_FILE_BYTES, _MAX_FILE_BYTES))
    from .landlock import restrict

    return restrict(start["writable"])


def _answer(
    drawing: DrawingSession, channel: Channel, interrupts: Interrupts, message: Mapping[str, Any]
) -> dict[str, Any]:
    """Make one drawing and send it to the builder. Return the message that ends its cell."""
    failure: dict[str, Any] | None = None
    start = perf_counter()
    try:
        interrupts.allow()
        try:
            svg = drawing.draw(message["code"])
        finally:
            interrupts.refuse()
        data = base64.b64encode(svg).decode()
        channel.send({"event": "display", "kind": "display", "text": {}, "binary": {"image/svg+xml": data}})
    except KeyboardInterrupt:
        failure = _failure("KeyboardInterrupt", "")
    except DrawingError as error:
        cell = message["number"] if error.line else 0
        failure = {**_failure("TeX", error.message), "text": error.text, "cell": cell, "line": error.line}
    return {
        "event": "done",
        "status": "error" if failure else "ok",
        "problem": "",
        "failure": failure,
        "seconds": perf_counter() - start,
        "reads": drawing.preamble,
        "modules": [],
        "stamps": {},
        "uses": {},
        "absent": [],
        "device": "cpu",
        "imports": list(drawing.versions),
        "shapes": [],
    }


def _failure(name: str, message: str) -> dict[str, Any]:
    return {"name": name, "message": message, "text": f"{name}: {message}\n", "cell": 0, "line": 0}


class DrawingError(Exception):
    """Error raised if LaTeX or `dvisvgm` fails, usually because of the author's code."""

    def __init__(self, message: str, line: int = 0, text: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        """1-based line of the author's code; 0 if unknown."""
        self.text = text or f"TeX: {message}\n"
        """Message, followed by the line of the error as TeX prints it: the part before the error, and the
        rest."""


class DrawingSession:
    """The programs, files and settings for the drawings of one session."""

    def __init__(self, start: Mapping[str, Any]) -> None:
        self._folder = Path(start["writable"][0], "drawing")
        self._folder.mkdir()
        self._root = Path(start["root"])
        self._language = str(start["language"])
        self.preamble: list[str] = list(start["preamble"])
        """Paths of the LaTeX files of the site, relative to its root."""
        self._environment = _environment(self._folder)
        self.versions = {"pdfTeX": self._version("latex"), "dvisvgm": self._version("dvisvgm")}
        """Program or package → its version."""

    def _version(self, program: str) -> str:
        done = subprocess.run(
            [program, "--version"],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env=self._environment,
            check=False,
        )
        found = _VERSION.search(done.stdout)
        return (found[1] or found[2]) if found else ""

    def draw(self, code: str) -> bytes:
        """Return the SVG of a drawing. Raise `DrawingError` if TeX or dvisvgm fails."""
        shutil.rmtree(self._folder)
        self._folder.mkdir()
        begin = self._write_document(code)
        returned = self._run(_LATEX)
        log = self._read("main.log")
        if returned == -signal.SIGXFSZ or "File size limit exceeded" in log:
            raise DrawingError(f"output too large: TeX writes more than {_MAX_FILE_BYTES >> 20} MB")
        error = _find_error(log, begin, has_output=(self._folder / "main.dvi").exists())
        if error is not None:
            raise error
        if "drawing: 0.0pt" in log:
            raise DrawingError("missing content: the code draws nothing")
        self._remove_specials()
        returned = self._run(_DVISVGM)
        file = self._folder / "drawing.svg"
        size = file.stat().st_size if file.exists() else 0
        if returned or not size:
            said = self._read("output.txt").strip().splitlines() or [f"exit code {returned}"]
            raise DrawingError(f"dvisvgm fails: {said[-1]}")
        if size > _MAX_SVG_BYTES:
            raise DrawingError(f"output too large: the SVG has more than {_MAX_SVG_BYTES >> 20} MB")
        if found := _PGF.search(log):
            self.versions["pgf"] = found[1]
        return file.read_bytes()

    def _remove_specials(self) -> None:
        """Overwrite specials that are not allowed. `dvisvgm --no-specials` is not enough: version 3.0.3 runs
        PostScript if the list of this option contains certain other names."""
        file = self._folder / "main.dvi"
        data = bytearray(file.read_bytes())
        for start, end in find_specials(data):
            if not data[start:end].startswith(_SPECIALS):
                data[start:end] = b"-" * (end - start)
        file.write_bytes(data)

    def _write_document(self, code: str) -> str:
        """Write the files of the document. Return the commands that are written before the code on its first
        line."""
        head, body = _split_code(code)
        begin, end = ("", "") if _OWN_START.search(code) else _AROUND.get(self._language, _TIKZ)
        names = [f"preamble-{number}.tex" for number in range(1, len(self.preamble) + 1)]
        document = _DOCUMENT % {
            "packages": _PACKAGES[self._language],
            "preamble": "\n".join(f"\\drawing@input{{{name}}}" for name in names),
        }
        for name, path in zip(names, self.preamble):  # noqa: B905 - Python 3.9 has no `strict`
            text = (self._root / path).read_text("utf-8", "replace")
            text = _CLASS.sub("", text).partition("\\begin{document}")[0]
            # without braces, a missing file stops TeX
            self._write(name, _PLAIN_INPUT.sub(r"\\input{\1}", text))
        self._write("head.tex", head)
        # commands and code share lines, so that TeX's line numbers are those of the code
        self._write("drawing.tex", f"{begin}{body.rstrip()}\n{end}%\n")
        self._write("main.tex", document)
        return begin

    def _write(self, name: str, text: str) -> None:
        (self._folder / name).write_text(text, "utf-8")

    def _read(self, name: str) -> str:
        try:
            return (self._folder / name).read_text("utf-8", "replace")
        except OSError:
            return ""

    def _run(self, command: Sequence[str]) -> int:
        """Run a program to its end. Return its exit code, or minus the number of the signal that ended it."""
        with (self._folder / "output.txt").open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
            try:
                return process.wait()
            except BaseException:
                process.kill()
                process.wait()
                raise


def find_specials(dvi: bytes | bytearray) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each special in a DVI file. Source: David Fuchs, "The format of TeX's DVI
    files", TUGboat 3 (1982)."""
    at = 0
    while at < len(dvi) and dvi[at] != _POST:
        code = dvi[at]
        at += 1
        if 239 <= code <= 242:  # xxx1 to xxx4: the length of the special, and the special
            size = code - 238
            start = at + size
            at = start + int.from_bytes(dvi[at:start], "big")
            yield start, at
        elif 243 <= code <= 246:  # fnt_def1 to fnt_def4: a number, three words, and a name in two parts
            at += code - 242 + 12
            at += 2 + dvi[at] + dvi[at + 1]
        elif code == 247:  # pre: identification, three words, and a comment
            at += 14 + dvi[at + 13]
        else:
            at += _DVI_ARGUMENTS.get(code, 0)


_POST = 248
_DVI_ARGUMENTS = {
    132: 8,
    137: 8,
    139: 44,
    **{
        first + more: more + 1 for first in (128, 133, 143, 148, 153, 157, 162, 167, 235) for more in range(4)
    },
}
"""Command of a DVI file → number of bytes after it; none for commands that are not listed. Commands: 132 and
137 rules, 139 start of a page, and groups of four commands whose number has one to four bytes."""


def _environment(folder: Path) -> dict[str, str]:
    """Return the environment of the programs. It makes TeX ignore the user's own TeX files and files in other
    folders."""
    kept = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
    # the builder finds the processes of a session by its variables, such as the marker of the session
    marks = [name for name in os.environ if name.startswith("BLOGSMITH")]
    private = str(folder)
    return {
        **{name: os.environ[name] for name in (*kept, *marks) if name in os.environ},
        **dict.fromkeys(("HOME", "TMPDIR", "TEXMFHOME", "TEXMFVAR", "TEXMFCONFIG"), private),
        "TEXINPUTS": ".:",
        "openin_any": "p",
        "openout_any": "p",
        "shell_escape": "f",
        "MKTEXTFM": "0",
        "MKTEXPK": "0",
        "MKTEXMF": "0",
        # unbroken lines in the log: messages and positions are read from them
        **{"max_print_line": "1000", "error_line": "254", "half_error_line": "127"},
        **{"SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1"},
    }


def _split_code(code: str) -> tuple[str, str]:
    r"""Return the part of the code that belongs before `\begin{document}`, and the rest. Both keep the line
    numbers of the code."""
    code = _CLASS.sub("", code)
    before, begin, after = code.partition("\\begin{document}")
    if begin:
        body = after.partition("\\end{document}")[0]
        return before + "\n", "%\n" * before.count("\n") + body
    lines = code.split("\n")
    count = 0
    while count < len(lines) and _HEAD_LINE.fullmatch(lines[count]):
        count += 1
    return "\n".join(lines[:count]) + "\n", "%\n" * count + "\n".join(lines[count:])


def _find_error(log: str, begin: str, *, has_output: bool) -> DrawingError | None:
    """Return the first error that TeX reported in the author's code. If TeX wrote no output, return any
    error. None if there is none. begin: result of `_write_document`."""
    errors = list(_ERROR.finditer(log))
    own = next((number for number, found in enumerate(errors) if found[1] in _OWN_FILES), None)
    if own is None and has_output:
        return None  # an error of a preamble that does not affect the drawing
    if not errors:
        return DrawingError("missing output: TeX writes no page")
    found = errors[own or 0]
    stopped = found[3] == "Emergency stop." and own and not errors[own - 1][1]
    message = _message(errors[own - 1] if own and stopped else found)
    if own is None:
        wrong = next((each for each in errors if (each[1] or "").startswith("preamble-")), None)
        where = f"line {wrong[2]} of a LaTeX file in `math.macros`: " if wrong else ""
        return DrawingError(where + message)
    context = _CONTEXT.search(log, found.end())
    text = context[0][:_MAX_CONTEXT].replace(f"l.1 {begin}", "l.1 ", 1) if context else ""
    if message == "Undefined control sequence":
        name = _LAST_NAME.search(text.partition("\n")[0])
        message += f' "{name[1]}"' if name else ""
    line = int(found[2]) if found[1] != "main.tex" else 0
    return DrawingError(message, line, f"TeX: {message}\n{text}\n")


def _message(error: re.Match[str]) -> str:
    message = _PREFIX.sub("", error[3] or error[4]).strip().rstrip(".")
    message = _UNENDED.sub(r'missing "\\end{\1}"', message)
    return _NOT_FOUND.sub(r'file "\1" not found', message)
