"""SVG files with active content that would run if they were opened directly."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

import pytest

from blogsmith.build.incremental import UpdateRequest
from blogsmith.model.documents import Asset
from blogsmith.preview.http.reply import HttpResponse, encode_header, is_active
from blogsmith.render.svg.active_content import svg_warnings
from tests.preview_sites import new_line, problems, settled
from tests.rows import each_row

NAMES = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
MATPLOTLIB = f"""<?xml version="1.0" encoding="utf-8" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg {NAMES} version="1.1"><metadata xmlns:dc="http://purl.org/dc/">
<dc:description>A subscript</dc:description></metadata>
<style type="text/css">*{{stroke-linejoin: round}}</style><g clip-path="url(#p1)">
<use xlink:href="#m1" style="fill: url('#g')"/><image href="data:image/png;base64,AA"/></g>
<a href="https://example.org/"><text>a link</text></a></svg>
"""


def warnings(tmp_path: Path, data: bytes) -> list[str]:
    """Return `line:column message` of each warning."""
    file = tmp_path / "a.svg"
    file.write_bytes(data)
    found = svg_warnings(Asset(PurePosixPath("static/a.svg"), file, len(data)))
    return [f"{one.place.line}:{one.place.column} {one.message}" for one in found if one.place]


def test_drawings_of_programs_are_quiet(tmp_path: Path) -> None:
    assert warnings(tmp_path, MATPLOTLIB.encode()) == []


@pytest.mark.parametrize(
    ("inside", "warning"),
    [
        ("<script>a()</script>", '2:2 this SVG contains "<script>", which runs code'),
        ("<g\n  ONLOAD='a()'/>", '3:3 this SVG contains the attribute "ONLOAD", which runs a script'),
        (
            "<a xlink:href='&#106;avascript:a()'/>",
            '2:10 this SVG contains a URL that runs a script in "href"',
        ),
        (
            "<set attributeName='xlink:href' to='x'/>",
            '2:6 this SVG contains "<set>", which changes the URL of a link',
        ),
        ("é<foreignObject/>", '2:3 this SVG contains "<foreignObject>", which contains HTML'),
        ("<i xmlns='http://www.w3.org/1999/xhtml'/>", '2:2 this SVG contains the HTML element "<i>"'),
        (
            "<use href='https://a.example/#x'/>",
            '2:6 this SVG contains "<use>", which loads "https://a.example/#x"',
        ),
        (
            "<image xlink:href='//a.example/x'/>",
            '2:14 this SVG contains "<image>", which loads "//a.example/x"',
        ),
        (
            "<style>\n@import url(https://a.example/x);</style>",
            '3:13 this SVG contains a stylesheet that loads "https://a.example/x"',
        ),
        (
            "<g fill='url(http://a.example/#x)'/>",
            '2:4 this SVG contains a style that loads "http://a.example/#x"',
        ),
    ],
)
def test_what_acts_is_reported_where_it_stands(tmp_path: Path, inside: str, warning: str) -> None:
    text = f"<svg {NAMES}>\n{inside}\n</svg>\n"
    assert warnings(tmp_path, text.encode()) == [warning]
    assert warnings(tmp_path, text.encode("utf-16")) == [warning]
    # browsers run everything before an error
    assert warnings(tmp_path, text.replace("</svg>", "<").encode()) == [warning]


def test_entities_and_style_sheets_of_other_files(tmp_path: Path) -> None:
    text = f'<?xml-stylesheet href="a.css"?>\n<!DOCTYPE svg [\n<!ENTITY a "b">\n]>\n<svg {NAMES}>&a;</svg>'
    assert warnings(tmp_path, text.encode()) == [
        '1:3 this SVG contains "<?xml-stylesheet?>", which loads another file',
        '3:1 this SVG contains a declaration of the entity "a"',
    ]


def test_entities_that_grow_end(tmp_path: Path) -> None:
    grown = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 20))
    text = f'<!DOCTYPE svg [<!ENTITY e0 "x">{grown}]><svg {NAMES}>&e19;</svg>'
    assert len(warnings(tmp_path, text.encode())) == 5


def test_a_preview_follows_a_file_that_is_saved(tmp_path: Path) -> None:
    (tmp_path / "static").mkdir()
    (tmp_path / "blogsmith.yaml").write_text("title: Site\n")
    file = tmp_path / "static/a.svg"
    file.write_text(f"<svg {NAMES}><script/></svg>")
    line = new_line(tmp_path)
    before = settled(line)
    assert [found.code for found in problems(before)] == ["svg-active"]
    file.write_text(f"<svg {NAMES}><circle/></svg>")
    assert problems(settled(line, before, UpdateRequest(("static/a.svg",)))) == []


@each_row(
    ("media_type", "expected"),
    [
        ("image/svg+xml", True),
        ("application/xhtml+xml", True),
        ("application/xml; charset=utf-8", True),
        ("text/xml", True),
        ("application/atom+xml", True),
        ("text/html; charset=utf-8", False),
        ("image/png", False),
        ("application/json", False),
    ],
)
def test_the_preview_sends_no_such_file_to_be_run(media_type: str, expected: bool) -> None:
    assert is_active(media_type) is expected
    head = encode_header(HttpResponse(200, media_type), keep_alive=True).decode()
    assert ("\r\nContent-Security-Policy: default-src 'none'; " in head) is expected
    assert ("; sandbox\r\n" in head) is expected
