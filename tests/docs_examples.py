"""Examples of codes for `blogsmith explain`: `python -m tests.regen docs` writes the file that ships.

They are the examples of the manual, with the corrected lines where the fix of a broken site gives them. To
correct an example, its site is built. Corrections of unchanged examples are therefore not made again.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from blogsmith.base.diagnostics.codes import CODES, FIXABLE
from blogsmith.base.diagnostics.edits import apply_fixes
from blogsmith.base.diagnostics.explanations import FILE, read_manual
from blogsmith.base.diagnostics.format import format_diagnostic
from tests import docs_sources as sources
from tests.code_examples import example
from tests.docs_sources import ROOT
from tests.site_files import build_text, read_site_text
from tests.test_broken import FILES

_COMMENT = "Made from the broken sites under tests/ by `python -m tests.regen docs`."


@cache
def messages() -> dict[str, str]:
    """Map each code to the message that the manual shows."""
    return {code: example(code) for code in CODES}


def corrected(code: str, message: str) -> str:
    """Return the lines of the broken site after the fix of its diagnostic; empty if it has none."""
    file = next((file for file in FILES if message in file.read_text(encoding="utf-8")), None)
    if code not in FIXABLE or file is None:
        return ""
    site = read_site_text(file)
    with TemporaryDirectory() as folder:
        found = build_text(site, Path(folder)).diagnostics
    same = (one for one in found if one.fix and format_diagnostic(one, color=False) == message)
    one = next(same, None)
    if one is None:
        return ""
    changes = apply_fixes(site.files[one.path].decode("utf-8", "replace"), [one]).changes
    return "\n".join(line for change in changes for line in change.new)


def file_text(corrections: dict[str, str]) -> str:
    """Return the content of the file with these corrections by code."""
    found = {
        "comment": _COMMENT,
        "groups": sources.grouped_codes(),
        "examples": {
            code: {"message": message, "corrected": corrections.get(code, "")}
            for code, message in messages().items()
        },
    }
    return json.dumps(found, ensure_ascii=True, indent=1) + "\n"


def known_corrections() -> dict[str, str]:
    """Return the corrections in the file whose examples have not changed."""
    written = read_manual().examples if FILE.exists() else {}
    now = messages()
    return {code: one.corrected for code, one in written.items() if one.message == now.get(code)}


def regenerate_examples() -> None:
    """Rewrite the file if it is out of date."""
    known = known_corrections()
    missing = {code: corrected(code, message) for code, message in messages().items() if code not in known}
    text = file_text({**known, **missing})
    if not FILE.exists() or FILE.read_text("utf-8") != text:
        FILE.write_text(text, "utf-8")
        print(f"rewrote {FILE.relative_to(ROOT)}")
