"""Hugo: the conversion of its constructs, without losses."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blogsmith.importers.hugo.config import HugoConfig
from blogsmith.importers.hugo.independent import render_goldmark
from blogsmith.importers.hugo.page import HugoPageTranslator
from blogsmith.importers.hugo.shortcodes.parse import Call, CallContext
from blogsmith.importers.hugo.shortcodes.translate import expand_template
from blogsmith.importers.hugo.source import HugoDocument, HugoFiles
from blogsmith.importers.text.pieces import HiddenFragments
from tests.importers.import_texts import outcome, read_import_text, run_import, text_files
from tests.rows import examples


@pytest.mark.parametrize("path", text_files("hugo"), ids=lambda path: path.stem)
def test_sites(path: Path, tmp_path: Path) -> None:
    text = read_import_text(path)
    done = run_import(text, tmp_path)
    assert outcome(done, tmp_path) == text.expected, "python -m tests.importers.import_texts hugo"
    assert not done.check.differences, done.check.differences
    assert run_import(text, tmp_path).files == done.files


_CALLS = ("{{<", ">}}", "{{%", "%}}", "/", "/*", "*/", "notice", "figure", "tab", 'src="a.png"', '"', "`")
_MARKS = ("$", "$$", "\\", "\\\\(", "\n", "\n\n", "> ", "- ", "```", "# ", "|", "[[", "==", "<div>", "a", " ")


@examples(60)
@given(st.lists(st.sampled_from((*_CALLS, *_MARKS)), max_size=30).map("".join))
def test_any_text_is_translated(text: str) -> None:
    path = PurePosixPath("content/a.md")
    document = HugoDocument(path, PurePosixPath("a.md"), {}, text, 1, "/a/")
    files = HugoFiles((document,), (), ())
    page = HugoPageTranslator(Path("/nowhere"), HugoConfig(), files).translate(document)
    assert "\ue010" not in page.text
    render_goldmark(text, text)


@given(st.text(alphabet='{}.$|()" `-=:ab/*\n', max_size=60))
def test_any_template_is_read_or_refused(template: str) -> None:
    context = CallContext(HiddenFragments(), str, str, str, str, lambda *_: None)
    expand_template(f"{{{{ .Get 0 }}}}{template}", Call("a", ("x",), {}, 0, ""), "", context)
