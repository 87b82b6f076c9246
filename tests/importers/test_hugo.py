"""Hugo: what its constructs become, and that nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.importers.import_texts import outcome, read_import_text, run_import, text_files


@pytest.mark.parametrize("path", text_files("hugo"), ids=lambda path: path.stem)
def test_sites(path: Path, tmp_path: Path) -> None:
    text = read_import_text(path)
    done = run_import(text, tmp_path)
    assert outcome(done, tmp_path) == text.expected, "python -m tests.importers.import_texts hugo"
    assert done.ok, done.check.differences
    assert run_import(text, tmp_path).files == done.files
