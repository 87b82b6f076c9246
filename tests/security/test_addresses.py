"""Row 17: no URL on a page has a scheme that runs code or reads files, however it is spelled."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import pytest

from tests.check import render
from tests.page_checks import dangers
from tests.rows import each_row
from tests.security.judgement import UNTRUSTED, codes, harmless
from tests.site_files import build, put_bare

# None of these may become a URL. The strings are what an author types, including entities.
SPELLINGS = (
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "JaVa&#10;script:alert(1)",
    "JaVa&#x9;script:alert(1)",
    "&#x6A;avascript:alert(1)",
    "&#106avascript:alert(1)",
    "javascript&colon;alert(1)",
    "javascript&#58;alert(1)",
    "java%0ascript:alert(1)",
    "\x01javascript:alert(1)",
    "\tjavascript:alert(1)",
    "\u00a0javascript:alert(1)",
    "java\\script:alert(1)",
    "data:text/html,<b>x</b>",
    "data:text/html;base64,PHNjcmlwdD4=",
    "data:image/svg+xml,<svg/>",
    "DATA:image/png;base64,AAAA",
    "vbscript:msgbox(1)",
    "livescript:x",
    "mocha:x",
    "file:///etc/passwd",
    "blob:https://example.org/1",
    "filesystem:https://example.org/temporary/x",
    "view-source:javascript:x",
    "jar:https://example.org!/x",
    "feed:javascript:x",
    "about:blank",
    "chrome://settings",
    "ms-settings:x",
    "http:javascript:x",
)
PLACES = {
    "link": "[x](<{}>)",
    "image": "![x](<{}>)",
    "inline image": "text ![x](<{}>) text",
    "reference link": "[x][y]\n\n[y]: <{}>",
    "reference image": "![x][y]\n\n[y]: <{}>",
    "autolink": "<{}>",
    "shortcode": '{{% img src="{}" %}}',
    "video": '{{% video-embed src="{}" %}}',
    "poster": "<div class='video-embed' data-src='clip.mp4' data-poster='{}'></div>",
    "captions": "<div class='video-embed' data-src='clip.mp4' data-captions='{}'></div>",
    "dark image": "![a](a.png#only-light)\n![b](<{}#only-dark>)",
    "lightbox": "![a](<{}>){{.lightbox}}",
    "film": "![a](<{}.mp4>){{data-poster=x data-captions=y}}",
    "video block": "<div class='video-embed' data-src='{}'></div>",
    "comparison": "<div class='image-compare' data-before='{}' data-after='b.png'></div>",
    "space": "<div class='hf-space' data-src='{}'></div>",
    "raw link": "<a href='{}'>x</a>",
    "raw picture": "<img src='{}' alt='x'>",
    "formula": "$\\href{{{}}}{{x}}$",
    "formula's address": "$\\url{{{}}}$",
    "footnote": "x[^1]\n\n[^1]: [x](<{}>)",
    "citation": "---\nreferences:\n  - {{id: a, title: T, url: '{}'}}\n---\n[@a]",
}


@pytest.mark.parametrize("place", PLACES)
def test_row_17_no_page_leads_to_a_script_or_a_file(place: str) -> None:
    for spelling in SPELLINGS:
        harmless(PLACES[place].format(spelling))


@each_row("place", ["link", "reference link", "video", "citation", "formula", "raw link"])
def test_row_17_a_site_with_such_an_address_is_not_built(place: str) -> None:
    """Raw HTML stays unchanged, but the URL is an error, so nothing is published."""
    for spelling in ("javascript:alert(1)", "vbscript:x", "file:///etc/passwd", "blob:https://example.org/1"):
        rendered = render(PLACES[place].format(spelling))
        assert {found.severity for found in rendered.diagnostics} == {"error"}, spelling
        assert codes(rendered) <= {"link-scheme", "math-syntax", "front-matter-value", "embed-host"}


PICTURE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAAAAAC4HznGAAAAEElEQVR4nGNITEpmSElNAwAJRgJWauDRSAAA"
    "AABJRU5ErkJggg=="
)
SHOWN = ("image", "inline image", "reference image", "lightbox", "comparison", "poster")


@pytest.mark.parametrize("place", PLACES)
def test_row_17_a_picture_in_the_text_is_shown_and_leads_nowhere(place: str) -> None:
    html = harmless(PLACES[place].format(PICTURE)).html
    names = set(re.findall(rf'([\w-]+)="{re.escape(PICTURE)}"', html))
    assert names <= {"src", "poster", "data-poster"}
    assert bool(names) == (place in SHOWN), names


def test_pictures_of_megabytes_are_shown_as_often_as_their_text_is_long() -> None:
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(900_000)).decode()
    picture = f"[image1]: <data:image/png;base64,{data}>"
    once, often = (render(f"{'![x][image1] ' * count}\n\n{picture}\n") for count in (1, 1000))
    assert once.html.count(data) == 1 and not codes(once)
    assert often.html.count(data) == 1 and "link-length" in codes(often)


@each_row("spelling", ["https://example.org/", "mailto:a@example.org", "tel:+1", "#here", "/"])
def test_row_17_addresses_that_lead_to_people_and_pages_stay(spelling: str) -> None:
    rendered = render(f"## Here\n\n[x](<{spelling}>)", UNTRUSTED)
    assert f'href="{spelling}"' in rendered.html and not rendered.diagnostics


@pytest.mark.parametrize("url", [one for one in SPELLINGS if "\x01" not in one and "\t" not in one])
def test_row_17_settings_and_front_matter_name_no_such_address(url: str, tmp_path: Path) -> None:
    quoted = "'" + url.replace("'", "''") + "'"
    places = {
        "menu": (f"menu:\n  - {{title: Away, url: {quoted}}}\n", ""),
        "base_url": (f"base_url: {quoted}\n", ""),
        "image": ("", f"image: {quoted}\n"),
        "aliases": ("", f"aliases: [{quoted}]\n"),
    }
    for name, (config, head) in places.items():
        post = f"---\ntitle: A\ndate: 2026-01-01\n{head}---\nx\n"
        root = put_bare(tmp_path / name, {"blogsmith.yaml": f"title: T\n{config}", "content/a.md": post})
        report = build(root)
        pages = [file.read_text("utf-8") for file in root.glob("public/**/*.html")]
        live = [danger for html in pages for danger in dangers(html) if "=" in danger]
        assert not live, name
        assert not report.ok or url not in "".join(pages), name


def test_row_17_the_judge_sees_such_an_address() -> None:
    for spelling in ("javascript:x", "JAVASCRIPT:x", "java&#10;script:x", "blob:x", "file:///x"):
        assert dangers(f'<a href="{spelling}">x</a>'), spelling
