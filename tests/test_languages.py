"""Strings of pages: every language is complete, and its pages contain no English of ours."""

from __future__ import annotations

import ast
import datetime as dt
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType

import pytest
from markupsafe import Markup

from blogsmith.base.diagnostics.model import SiteError
from blogsmith.build.load import reload_site
from blogsmith.hooks import Plugins
from blogsmith.hooks.loader import load_plugins
from blogsmith.languages.bundled_languages import bundled_tags, bundled_texts, find_language, printed_texts
from blogsmith.languages.language import ENGLISH, Language, Translation, placeholder_names
from blogsmith.languages.plurals import FORMS, plural_form
from blogsmith.languages.sentences import translate_sentences
from blogsmith.languages.tags import language_name
from blogsmith.model.results import CellResult
from blogsmith.project.context import open_site
from blogsmith.render.outputs.html import clean_html
from blogsmith.render.outputs.provenance import provenance
from blogsmith.render.templates.theme import load_theme
from blogsmith.rows.page_table import text_theme
from blogsmith.syntax import kinds
from blogsmith.syntax.kinds import ROWS
from blogsmith.syntax.state import KindRow
from tests.rows import each_row
from tests.site_files import build, put, put_bare
from tests.test_theme import BUNDLED, plain, write
from tests.theme_pages import ROOT

OTHERS = tuple(tag for tag in bundled_tags() if tag != "en")
DAY = dt.date(2026, 6, 1)


def forms(translation: Translation) -> Mapping[str, str]:
    return {"other": translation} if isinstance(translation, str) else translation


def language(tag: str) -> Language:
    return find_language(tag, {})


# what is bundled


def test_the_languages_that_are_bundled() -> None:
    assert bundled_tags() == ("ar", "de", "en", "es", "fr", "it", "ja", "nl", "pl", "pt", "ru", "zh")


@each_row("tag", OTHERS)
def test_a_language_is_complete(tag: str) -> None:
    texts = bundled_texts(tag)
    assert texts.keys() == bundled_texts("en").keys()
    for english, translation in texts.items():
        shown = forms(translation)
        assert all(text == text.strip() and text for text in shown.values()), english
        assert placeholder_names(shown["other"]) == placeholder_names(english), english


@each_row("tag", OTHERS)
def test_plural_forms_are_those_of_the_language(tag: str) -> None:
    rule = {plural_form(tag, count) for count in range(2_000)}
    found = forms(bundled_texts(tag)["{count} parts"]).keys()
    # omitted forms use the last one, `other`
    assert found <= {*rule, "other"}
    least = {"pl": {"few"}, "ru": {"few"}, "ar": {*FORMS}, "ja": set(), "zh": set()}
    assert found >= {"other", *least.get(tag, {"one"})}


def test_english_says_what_it_is_asked_for() -> None:
    for english, text in bundled_texts("en").items():
        assert forms(text)["other"] == english


def _templates() -> Iterator[str]:
    for folder in (ROOT / "themes", ROOT / "plugins", ROOT / "blogsmith"):
        yield from (file.read_text("utf-8") for file in folder.rglob("*.html"))


def _constants() -> Iterator[str]:
    """Yield strings in the code, those of `number_of` with their position."""
    for file in (ROOT / "blogsmith").rglob("*.py"):
        if "lab" in file.relative_to(ROOT / "blogsmith").parts[:1]:
            continue
        # compiled code lists them: a walk over all nodes takes three times as long
        yield from _texts_of(compile(file.read_text("utf-8"), file, "exec", dont_inherit=True))


def _texts_of(code: CodeType) -> Iterator[str]:
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _texts_of(value)
        else:
            yield from _texts_in(value)


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple | frozenset):
        for one in value:
            yield from _texts_in(one)


def test_every_text_of_templates_and_code_is_in_the_table() -> None:
    english = bundled_texts("en").keys()
    assert printed_texts(_templates()) == english
    asked = {
        node.args[0].value
        for text in (file.read_text("utf-8") for file in (ROOT / "blogsmith").rglob("*.py"))
        # most files contain none, and need not be parsed
        if "translate" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "translate"
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
    }
    assert len(asked) > 30
    assert asked <= english


def test_a_kind_of_callout_without_a_translation_has_its_own_title(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a new kind is one row of a table."""
    monkeypatch.setattr(kinds, "ROWS", (*ROWS, (KindRow("intuition", "Intuition", icon="lens"), ())))
    post = "> [!INTUITION]\n> Text.\n\n> [!NOTE]\n> Text.\n"
    root = put_bare(tmp_path / "site", {"blogsmith.yaml": "title: S\nlang: de\n", "content/a.md": post})
    build(root)
    page = (root / "public/a/index.html").read_text("utf-8")
    assert re.search(r'data-kind="intuition"[^>]* data-icon="lens"', page), page
    assert ">Intuition<" in page
    assert ">Hinweis<" in page


def test_the_table_has_nothing_that_nobody_prints() -> None:
    constants = set(_constants())
    templates = "".join(_templates())
    months = {f"{dt.date(2026, month, 1):%B}"[:3] for month in range(1, 13)}
    plugins = set(_kinds(load_plugins(["emoji_callouts"], [ROOT / "plugins"])))
    for text in bundled_texts("en"):
        bare = text.removesuffix(" {number}").removesuffix(" {date}")
        is_asked = text in constants or bare in constants or f'"{text}"' in templates
        assert is_asked or text in months or text in plugins, text


def _kinds(plugins: Plugins) -> Iterator[str]:
    return (kind.title for kind in plugins.kinds)


# one language


@each_row(
    ("tag", "long", "short"),
    [
        ("en", "1 June 2026", "1 Jun 2026"),
        ("de", "1. Juni 2026", "1. Juni 2026"),
        ("fr", "1er juin 2026", "1er juin 2026"),
        ("es", "1 de junio de 2026", "1 de jun. de 2026"),
        ("it", "1º giugno 2026", "1º giu. 2026"),
        ("nl", "1 juni 2026", "1 jun. 2026"),
        ("pl", "1 czerwca 2026", "1 cze 2026"),
        ("ru", "1 июня 2026 г.", "1 июн. 2026 г."),
        ("ja", "2026年6月1日", "2026年6月1日"),
        ("zh", "2026年6月1日", "2026年6月1日"),
        ("ar", "1 يونيو 2026", "1 يونيو 2026"),
    ],
)
def test_dates(tag: str, long: str, short: str) -> None:
    assert language(tag).format_date(DAY) == long
    assert language(tag).format_date(DAY, is_short=True) == short


def test_other_days_of_a_month_in_french() -> None:
    assert language("fr").format_date(DAY.replace(day=2)) == "2 juin 2026"


@each_row(
    ("tag", "shown"),
    [
        ("en", "0 parts|1 part|2 parts|5 parts|21 parts"),
        ("fr", "0 partie|1 partie|2 parties|5 parties|21 parties"),
        ("pl", "0 części|1 część|2 części|5 części|21 części"),
        ("ru", "0 частей|1 часть|2 части|5 частей|21 часть"),
        ("ja", "全 0 回|全 1 回|全 2 回|全 5 回|全 21 回"),
        ("ar", "لا أجزاء|جزء واحد|جزآن|5 أجزاء|21 جزءًا"),
    ],
)
def test_counts(tag: str, shown: str) -> None:
    found = [
        language(tag).translate("{count} parts", one="{count} part", count=count)
        for count in (0, 1, 2, 5, 21)
    ]
    assert "|".join(found) == shown


@each_row(
    ("tag", "large", "small"),
    [
        *(("en", "12,345", "1,234"), ("de", "12.345", "1.234"), ("fr", "12\u202f345", "1\u202f234")),
        *(("es", "12.345", "1234"), ("pl", "12\u00a0345", "1234"), ("ar", "12,345", "1,234")),
    ],
)
def test_large_counts(tag: str, large: str, small: str) -> None:
    assert language(tag).format_count(12_345) == large
    assert language(tag).format_count(1_234) == small


@each_row(
    ("tag", "samples"),
    [
        # the samples that CLDR gives with its rules
        ("ar", {"zero": [0], "one": [1], "two": [2], "few": [3, 10, 103, 1003], "many": [11, 26, 111]}),
        ("ar", {"other": [100, 102, 200, 202, 1000]}),
        ("ru", {"one": [1, 21, 101], "few": [2, 4, 22, 104], "many": [0, 5, 19, 100, 111]}),
        ("pl", {"one": [1], "few": [2, 4, 22, 104], "many": [0, 5, 19, 21, 100]}),
        ("cs", {"one": [1], "few": [2, 4], "other": [0, 5, 19]}),
        ("fr", {"one": [0, 1], "many": [1_000_000], "other": [2, 17, 1000]}),
        ("sl", {"one": [1, 101], "two": [2, 102], "few": [3, 4, 103], "other": [0, 5, 100]}),
        ("lv", {"zero": [0, 10, 20, 11], "one": [1, 21], "other": [2, 9, 22]}),
        ("lt", {"one": [1, 21], "few": [2, 9, 22], "other": [0, 10, 11, 20]}),
        ("mt", {"one": [1], "two": [2], "few": [0, 3, 10, 103], "many": [11, 19], "other": [20, 100]}),
        ("cy", {"zero": [0], "one": [1], "two": [2], "few": [3], "many": [6], "other": [4, 5, 7]}),
        ("ga", {"one": [1], "two": [2], "few": [3, 6], "many": [7, 10], "other": [0, 11, 25]}),
        ("he", {"one": [1], "two": [2], "other": [0, 3, 17]}),
        ("fa", {"one": [0, 1], "other": [2, 17]}),
        ("pt", {"one": [0, 1], "other": [2]}),
        ("pt-pt", {"one": [1], "other": [0, 2]}),
        ("fil", {"one": [0, 1, 3, 5, 7], "other": [4, 6, 9, 14]}),
        ("de-at", {"one": [1], "other": [0, 2]}),
        ("ja", {"other": [0, 1, 2]}),
        ("xx", {"one": [1], "other": [0, 2]}),
    ],
)
def test_plural_forms_are_those_of_cldr(tag: str, samples: Mapping[str, list[int]]) -> None:
    for form, counts in samples.items():
        assert [plural_form(tag, count) for count in counts] == [form] * len(counts)


@each_row(
    ("tag", "direction"),
    [
        *(("ar", "rtl"), ("ar-EG", "rtl"), ("he", "rtl"), ("fa", "rtl"), ("ur-PK", "rtl"), ("de", "ltr")),
        *(("az-Arab", "rtl"), ("az", "ltr"), ("ks-Deva", "ltr"), ("pa-Arab-PK", "rtl"), ("xx", "ltr")),
    ],
)
def test_directions(tag: str, direction: str) -> None:
    assert language(tag).direction == direction


@each_row(
    ("tag", "name"),
    [
        ("de", "Deutsch"),
        ("de-LU", "Deutsch"),
        ("pt-BR", "Português (Brasil)"),
        ("ar", "العربية"),
        ("xx", "xx"),
    ],
)
def test_languages_call_themselves(tag: str, name: str) -> None:
    assert language_name(tag) == name


@each_row(
    ("sentence", "german"),
    [
        ("its code has changed", "der Code ist geändert"),
        (
            "data.csv, which cell 3 read, has changed; cell 2 before it is new",
            "geändert: data.csv; neu: Zelle 2",
        ),
        ("a cell before it is gone", "entfallen: eine Zelle"),
        ('it now needs "cuda"', "sie wurde nie ausgeführt, wo es cuda gibt"),
        ("its `seed` is now 3", "geändert: seed"),
        ("numpy 2.4.6 → 2.5.0; and 2 more", "numpy 2.4.6 → 2.5.0; und 2 weitere"),
        ("it needs CUDA, and was not run where that is", "sie wurde nie ausgeführt, wo es CUDA gibt"),
        ("it ran longer than 60 s", "an der Grenze von 60 s angehalten"),
        ("cell load before it ended badly", "mit einem Fehler beendet: Zelle load"),
        ("KeyError: 'x'", "KeyError: 'x'"),
        pytest.param("a, which " * 2000, "a, which " * 2000, id="long"),
    ],
)
def test_sentences_about_results(sentence: str, german: str) -> None:
    assert translate_sentences(language("de"), sentence) == german
    assert translate_sentences(ENGLISH, sentence) == sentence


def test_a_variety_takes_what_it_lacks_from_its_language_and_that_from_english() -> None:
    own: Mapping[str, Mapping[str, Translation]] = {
        "de-at": {"January": "Jänner"},
        "de": {"Next": "Weiter →"},
    }
    austrian = find_language("de-AT", own)
    assert austrian.format_date(dt.date(2026, 1, 5)) == "5. Jänner 2026"
    assert austrian.translate("Next") == "Weiter →"
    assert austrian.translate("Contents") == "Inhalt"
    assert find_language("de", own).translate("January") == "Januar"
    assert find_language("sw", own).translate("Contents") == "Contents"
    assert find_language("en-GB", own) is ENGLISH


def test_what_is_html_stays_and_what_is_not_is_escaped() -> None:
    german = Language("de", {"updated {date}": "<am> {date}"})
    assert german.translate("updated {date}", date=Markup("<b>x</b>")) == "&lt;am&gt; <b>x</b>"
    assert german.translate("updated {date}", date="<b>") == "<am> <b>"
    assert german.translate("updated {date}") == "<am> {date}"


# templates


def test_templates_translate_macros_too(tmp_path: Path) -> None:
    files = {
        "partials/m.html": '{% set next = t("Next") %}{% macro m() %}{{ t("Contents") }}{% endmacro %}',
        "shortcodes/x.html": '{% from "partials/m.html" import m, next %}'
        "{{ m() }} {{ next }} {{ day | date }}",
    }
    theme = plain(tmp_path, files)
    shown = {
        tag: theme.render_shortcode("x", {"day": DAY}, "", language(tag)) for tag in ("en", "de", "fr", "en")
    }
    assert shown == {
        "en": "Contents Next 1 June 2026",
        "de": "Inhalt Weiter 1. Juni 2026",
        "fr": "Sommaire Suivant 1er juin 2026",
    }


def test_values_are_escaped_in_templates(tmp_path: Path) -> None:
    theme = plain(tmp_path, {"shortcodes/x.html": '{{ t("page {number}", number=n) }}'})
    assert theme.render_shortcode("x", {"n": "<"}) == "page &lt;"
    assert theme.render_shortcode("x", {"n": Markup("<b>1</b>")}) == "page <b>1</b>"


@pytest.mark.parametrize(
    "template",
    [
        "{{ t(3) }}",
        '{{ t("a {b}", b=[1]) }}',
        '{{ t("a {b}", b=nothing) }}',
        '{% set long = "x" * 1000000 %}{{ t("{a}" * 1000, a=long) | length }}',
    ],
)
def test_what_templates_may_not_ask_for(template: str, tmp_path: Path) -> None:
    with pytest.raises(SiteError) as caught:
        plain(tmp_path, {"shortcodes/x.html": template}).render_shortcode("x", {})
    assert (
        caught.value.diagnostics[0].path == "shortcodes/x.html"
        or "themes" in caught.value.diagnostics[0].path
    )


# a site's own words


def test_a_site_its_theme_and_its_parent_say_it_in_this_order(tmp_path: Path) -> None:
    files = {
        "themes/child/theme.yaml": "name: child\nextends: parent\n",
        "themes/child/languages/de.yaml": "Next: Kind\nOlder: Kind\n",
        "themes/parent/theme.yaml": "name: parent\n",
        "themes/parent/layouts/post.html": '{{ t("Hello") }}',
        "themes/parent/languages/de.yaml": "Hello: Hallo\nNext: Eltern\nOlder: Eltern\nNewer: Eltern\n",
        "languages/de.yaml": "Next: Seite\n",
    }
    theme = load_theme("child", write(tmp_path, files), BUNDLED)
    assert theme.files.warnings == ()
    german = theme.language("de")
    assert [german.translate(text) for text in ("Next", "Older", "Newer", "Hello", "Contents")] == [
        *("Seite", "Kind", "Eltern", "Hallo", "Inhalt")
    ]


POST = "---\ntitle: T\ndate: 2026-06-01\n---\n> [!THEOREM] {#thm-a}\n> x\n\n@thm-a\n"


def test_a_build_notices_other_words(tmp_path: Path) -> None:
    files = {"blogsmith.yaml": "title: S\nlang: de\n", "content/posts/a.md": POST, "content/posts/b.md": POST}
    root = put_bare(tmp_path / "site", files)

    def rebuilt() -> set[str]:
        return set(build(root, use_cache=True, output=root / "public").rebuilt)

    rebuilt()
    page = root / "public" / "posts" / "a" / "index.html"
    assert "Satz 1" in page.read_text("utf-8")
    put(root, {"languages/de.yaml": "Theorem: Theorem\n"})
    assert rebuilt() == {"content/posts/a.md", "content/posts/b.md"}
    assert "Theorem 1" in page.read_text("utf-8")
    assert rebuilt() == set()
    (root / "languages/de.yaml").unlink()
    rebuilt()
    assert "Satz 1" in page.read_text("utf-8")


def test_the_preview_reads_words_again(tmp_path: Path) -> None:
    root = put_bare(tmp_path / "site", {"blogsmith.yaml": "title: S\nlang: de\n"})
    opened = open_site(root)
    assert reload_site(root, None, opened, ["content/a.md"]) is opened
    put(root, {"languages/de.yaml": "Next: Vorwärts\n"})
    again = reload_site(root, None, opened, ["languages/de.yaml"])
    assert again.theme.language("de").translate("Next") == "Vorwärts"
    assert text_theme(again) != text_theme(opened)


def test_names_of_kinds_that_the_site_gives_stay(tmp_path: Path) -> None:
    settings = "title: S\nlang: de\ncallouts:\n  theorem: {title: Theorem}\n"
    root = put_bare(tmp_path / "site", {"blogsmith.yaml": settings, "content/posts/a.md": POST})
    build(root)
    text = (root / "public/posts/a/index.html").read_text("utf-8")
    # its label, its name for readers of the page by ear, and a reference
    assert text.count("Theorem 1") == 3
    assert "Satz" not in text


def test_a_reference_is_in_the_language_of_the_page_that_refers(tmp_path: Path) -> None:
    other = "---\ntitle: O\nlang: fr\n---\n{@a#thm-a} et {@a#eq-x}\n"
    files = {"blogsmith.yaml": "title: S\nlang: de\n", "content/posts/b.md": other}
    files["content/posts/a.md"] = POST + "\n$$x \\label{eq:x}$$\n"
    root = put_bare(tmp_path / "site", files)
    assert build(root).ok
    assert ">Théorème 1 de <em>T</em></a> et " in (
        text := (root / "public/posts/b/index.html").read_text("utf-8")
    )
    assert ">Équation (1) de <em>T</em></a>" in text


# a whole page


def test_the_line_under_an_output() -> None:
    result = CellResult("ok", date="2026-03-05", seconds=0.0001)
    html = provenance(result, 7, "auto", language("de"))
    assert 'Aufgezeichnet am <time datetime="2026-03-05">5. März 2026</time>' in html
    assert "Startwert 7" in html
    assert "unter 1\xa0ms" in html.replace("1 ms", "1\xa0ms")


def test_tables_of_cells() -> None:
    html = clean_html("<table><tr><td>a</table>", "Ausgabe: x", None, language("de")).html
    assert 'aria-label="Tabelle, Ausgabe: x"' in html
