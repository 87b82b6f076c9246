"""`math.packages` and `math.symbols` in the settings and in a page. Errors: `tests/broken/`."""

from __future__ import annotations

from pathlib import PurePosixPath

from blogsmith.config.load import parse_config
from blogsmith.config.schema import Config, Symbol
from blogsmith.model.documents import Source
from blogsmith.read.front_matter import read_document
from tests.rows import each_row

LOSS = r"{use: '\mathcal{L}', avoid: ['L', '\mathscr{L}']}"


def test_settings_of_a_site() -> None:
    text = f"math:\n  packages: [physics]\n  symbols:\n    loss: {LOSS}\n    data: {{use: X}}\n"
    loaded = parse_config(text)
    assert loaded.diagnostics == ()
    assert loaded.config.math.packages == ("physics",)
    assert loaded.config.math.symbols == {
        "loss": Symbol(use="\\mathcal{L}", avoid=("L", "\\mathscr{L}")),
        "data": Symbol(use="X"),
    }


@each_row(
    ("math", "packages"),
    [
        ("{packages: [physics]}", ("physics",)),
        ("{packages: physics}", ("physics",)),
        ("{packages: []}", ()),
        ("{numbering: all}", None),
        ("true", None),
    ],
)
def test_packages_of_a_page(math: str, packages: tuple[str, ...] | None) -> None:
    source = Source(PurePosixPath("content/a.md"), f"---\nmath: {math}\n---\n", "")
    document, found = read_document(source, Config())
    assert found == ()
    assert document.front.math.packages == packages
