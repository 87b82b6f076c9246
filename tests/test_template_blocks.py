"""Named blocks: those of every layout, and overrides that have no effect."""

from __future__ import annotations

from pathlib import Path

import pytest

from blogsmith.render.templates.files import TemplateFile
from blogsmith.render.templates.template_blocks import unknown_blocks
from blogsmith.render.templates.theme import load_theme
from tests.rows import each_row
from tests.test_theme import write
from tests.theme_pages import FULL, LAYOUTS, LISTING, ROOT, SITE

BLOCKS = ("head_end", "header", "before_content", "after_content", "comments", "footer")


def doubts(**templates: str) -> list[str]:
    files = {
        f"layouts/{name}.html": TemplateFile(f"layouts/{name}.html", text) for name, text in templates.items()
    }
    return [found.message.split('"')[1] for found in unknown_blocks(files)]


PARENT = "{% block a %}{% block b %}{% endblock %}{% endblock %}"
CHILD = '{% extends "layouts/base.html" %}'


@each_row(
    ("text", "found"),
    [
        (CHILD + "{% block a %}{% endblock %}{% block b %}{% endblock %}", []),
        (CHILD + "{% block c %}{% endblock %}", ["c"]),
        (CHILD + "{%- block c -%}x{%- endblock c -%}{% block d %}{% endblock %}", ["c", "d"]),
        # a new block within a printed block is printed, too
        (CHILD + "{% block a %}{% block c %}{% endblock %}{% endblock %}", []),
        (CHILD + "{# {% block c %}{% endblock %} #}", []),
        (CHILD + "{% raw %}{% block c %}{% endraw %}", []),
        ("{% block c %}{% endblock %}", []),
        ("{% extends page.layout %}{% block c %}{% endblock %}", []),
        ('{% extends "layouts/nothing.html" %}{% block c %}{% endblock %}', []),
        ('{% extends "layouts/post.html" %}{% block c %}{% endblock %}', []),
    ],
)
def test_blocks_that_nothing_prints(text: str, found: list[str]) -> None:
    assert doubts(base=PARENT, post=text) == found


def test_blocks_of_the_whole_chain_count() -> None:
    middle = CHILD + "{% block a %}{% block m %}{% endblock %}{% endblock %}"
    last = '{% extends "layouts/middle.html" %}{% block m %}{% endblock %}{% block b %}{% endblock %}'
    assert doubts(base=PARENT, middle=middle, last=last) == []
    assert doubts(base=PARENT, middle=middle, last=last + "{% block n %}{% endblock %}") == ["n"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_has_the_blocks(tmp_path: Path, layout: str) -> None:
    blocks = "".join(f"{{% block {name} %}}<!--{name}-->{{% endblock %}}" for name in BLOCKS)
    text = f'{{% extends "paper/layouts/{layout}.html" %}}{blocks}'
    theme = load_theme("paper", write(tmp_path, {"layouts/mine.html": text}), ROOT / "themes", base_path="/b")
    assert theme.files.warnings == ()
    html = theme.render("mine", LISTING if layout not in ("post", "page") else FULL, SITE)
    places = [html.index(f"<!--{name}-->") for name in BLOCKS]
    assert places == sorted(places)
    assert html.index("<!--head_end-->") < html.index("</head>")
    body = html.index("Text</p>")
    # a list shows its own content together with its entries
    assert html.index("<!--after_content-->") > body
